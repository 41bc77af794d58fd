//! The messages of a server: those on its event stream, and those with which it answers a POST.

use std::collections::VecDeque;

use reqwest::Response;
use tokio::sync::mpsc;

use crate::mcp::events::Events;
use crate::mcp::http::LONGEST_BODY;
use crate::mcp::request::root;

/// What arrives, in the order in which it does.
pub(in crate::mcp) struct Inbox {
    stream: Response,
    events: Events,
    /// Events that have arrived: their names and their data.
    arrived: VecDeque<(Vec<u8>, Vec<u8>)>,
    /// What came in answer to a POST.
    aside: mpsc::UnboundedReceiver<Vec<u8>>,
}

impl Inbox {
    pub(super) fn new(stream: Response, aside: mpsc::UnboundedReceiver<Vec<u8>>) -> Self {
        Self {
            stream,
            events: Events::default(),
            arrived: VecDeque::new(),
            aside,
        }
    }

    /// The data of the first event, which must be the one with the endpoint.
    ///
    /// # Errors
    ///
    /// What came in place of it, or why nothing did.
    pub(super) async fn endpoint(&mut self) -> Result<Vec<u8>, String> {
        while self.arrived.is_empty() {
            read(&mut self.stream, &mut self.events, &mut self.arrived).await?;
        }
        match self.arrived.pop_front() {
            Some((name, data)) if name == b"endpoint" => Ok(data),
            other => {
                let name = other.map(|(name, _)| name).unwrap_or_default();
                let name = String::from_utf8_lossy(&name).into_owned();
                Err(match name.as_str() {
                    "" => "its first event is a message".to_owned(),
                    name => format!("its first event is `{}`", crate::text::beginning(name, 40)),
                })
            }
        }
    }

    /// The next message. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// Why none will come any more, in words that follow the name of the server.
    pub(in crate::mcp) async fn next(&mut self) -> Result<Vec<u8>, String> {
        loop {
            while let Some((name, data)) = self.arrived.pop_front() {
                // Servers send events of other names to keep the stream open.
                if matches!(name.as_slice(), b"" | b"message") {
                    return Ok(data);
                }
            }
            tokio::select! {
                biased;
                Some(message) = self.aside.recv() => return Ok(message),
                read = read(&mut self.stream, &mut self.events, &mut self.arrived) => read?,
            }
        }
    }
}

/// Reads the next piece of the stream. May be dropped and called again.
async fn read(
    stream: &mut Response,
    events: &mut Events,
    arrived: &mut VecDeque<(Vec<u8>, Vec<u8>)>,
) -> Result<(), String> {
    match stream.chunk().await {
        Ok(Some(piece)) => {
            events.read(&piece, LONGEST_BODY, |name, data| {
                arrived.push_back((name.to_vec(), data.to_vec()));
            });
            if events.is_lost() {
                return Err(format!("sent an event of more than {LONGEST_BODY} bytes"));
            }
            Ok(())
        }
        Ok(None) => Err("ended its event stream".to_owned()),
        Err(error) => Err(format!("broke off its event stream: {}", root(&error))),
    }
}
