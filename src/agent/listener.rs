//! Records a session that a person or a program has with the servers through an MCP client of their own.

use tokio_util::sync::CancellationToken;

use crate::run::{Agent, Conversation, Driving, Endpoint, SetupError, Stop};

/// Called with the addresses of the servers once they can be reached.
pub type Announce = Box<dyn FnMut(&[Endpoint]) + Send>;

/// An agent that makes no calls itself: it records a session until that is declared done.
pub struct Listener {
    /// What it is about.
    intent: Option<String>,
    announce: Announce,
    done: CancellationToken,
    notes: Vec<String>,
}

impl Listener {
    /// Records from when `announce` has been called until `done` is cancelled.
    pub fn new(intent: Option<String>, announce: Announce, done: CancellationToken) -> Self {
        Self {
            intent,
            announce,
            done,
            notes: Vec::new(),
        }
    }

    async fn listen(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        if let Some(intent) = &self.intent {
            conversation.user(intent);
        }
        (self.announce)(conversation.endpoints());
        loop {
            tokio::select! {
                event = conversation.next_call_event() => match event {
                    Ok(()) => {}
                    // A session that has lost its server can be followed by another one.
                    Err(Stop::Error(SetupError {
                        message, details, ..
                    })) => {
                        conversation.go_on();
                        self.notes.push([vec![message], details].concat().join("; "));
                    }
                    Err(stop) => return Err(stop),
                },
                () = self.done.cancelled() => return Ok(()),
            }
        }
    }
}

impl Agent for Listener {
    fn drive<'a>(&'a mut self, conversation: &'a mut Conversation<'_>) -> Driving<'a> {
        Box::pin(self.listen(conversation))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
