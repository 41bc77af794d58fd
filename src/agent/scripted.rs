//! Plays listed calls.

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::agent::reference;
use crate::model::scenario::ScriptedCall;
use crate::model::trajectory::{Answer, Outcome};
use crate::run::{Agent, Conversation, SetupError, Stop};

/// An agent that makes the calls of a script, in order, whatever comes back.
pub struct Scripted {
    /// What the user says.
    messages: Vec<String>,
    calls: Vec<ScriptedCall>,
    /// The answers so far; `None` where a call had no answer.
    answers: Vec<Option<Answer>>,
}

impl Scripted {
    /// An agent that plays these calls after the user has said what they want, all of it.
    pub fn new(messages: Vec<String>, calls: Vec<ScriptedCall>) -> Self {
        Self {
            messages,
            calls,
            answers: Vec::new(),
        }
    }

    async fn play(&mut self, conversation: &mut Conversation<'_>) -> Result<(), Stop> {
        for message in &self.messages {
            conversation.user(message);
        }
        for (index, scripted) in self.calls.iter().enumerate() {
            let number = index + 1;
            let mut arguments = Value::Object(scripted.arguments.clone());
            reference::fill(&mut arguments, &self.answers).map_err(|problem| {
                Stop::Error(SetupError::new(format!(
                    "call {number} of `{}`: {problem}",
                    scripted.tool
                )))
            })?;
            let Value::Object(arguments) = arguments else {
                unreachable!("filling in references keeps an object an object")
            };
            let call = conversation.call(&scripted.tool, arguments).await?;
            let failed = call.outcome.is_failure();
            if failed && scripted.is_critical() {
                return Err(Stop::Blocked {
                    message: format!(
                        "call {number} of `{}` is critical and failed",
                        scripted.tool
                    ),
                });
            }
            self.answers.push(match &call.outcome {
                Outcome::Answer(answer) => Some(answer.clone()),
                Outcome::Failure(_) => None,
            });
        }
        Ok(())
    }
}

impl Agent for Scripted {
    fn drive<'a>(
        &'a mut self,
        conversation: &'a mut Conversation<'_>,
    ) -> BoxFuture<'a, Result<(), Stop>> {
        Box::pin(self.play(conversation))
    }
}
