//! The gateway's own requests to a server that speaks HTTP.

use std::time::Duration;

use axum::http::HeaderMap;
use futures_util::StreamExt;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::time::Instant;

use super::deadline::within;
use crate::http_server::{EVENT_STREAM, JSON};
use crate::mcp::events::Events;
use crate::mcp::http::{Head, LONGEST_BODY};
use crate::mcp::problem::no_answer;
use crate::mcp::request::{outcome, root};
use crate::mcp::wire::{Message, Wire, key, read_bytes};
use crate::model::trajectory::{FailureKind, Outcome};

/// Asks with these headers, and waits for the answer at most as long as for any call. `None` where it may come by another way, or the
/// server asks back first, which only a client can answer.
pub(super) async fn ask(
    (client, url): (&Client, &str),
    headers: HeaderMap,
    request: &Value,
    tool_timeout: Duration,
) -> Option<Outcome> {
    let asking = async {
        let asked = client
            .post(url)
            .headers(headers)
            .header(CONTENT_TYPE, JSON)
            .body(request.to_string())
            .send();
        match asked.await {
            Ok(response) => answer(response, &request["id"]).await,
            Err(error) => Some(Outcome::failed(FailureKind::Transport, root(&error))),
        }
    };
    let answered = within(Some(Instant::now() + tool_timeout), asking).await;
    answered.unwrap_or_else(|| Some(no_answer(tool_timeout, &Wire::default())))
}

async fn answer(response: Response, id: &Value) -> Option<Outcome> {
    let head = Head::of(&response);
    let is_stream = head.status.is_success() && head.kind.starts_with(EVENT_STREAM);
    let mut pieces = Box::pin(response.bytes_stream());
    let mut body = Vec::new();
    let mut events = Events::default();
    let mut found = Found::Nothing;
    while let Some(piece) = pieces.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => return Some(Outcome::failed(FailureKind::Transport, root(&error))),
        };
        if is_stream {
            events.read(&piece, LONGEST_BODY, |_, data| found.look(data, id));
        } else {
            body.extend_from_slice(&piece);
        }
        match found {
            Found::Answer(outcome) => return Some(*outcome),
            Found::Question => return None,
            Found::Nothing if body.len() > LONGEST_BODY => {
                let why = format!("an answer of more than {LONGEST_BODY} bytes");
                return Some(Outcome::failed(FailureKind::Transport, why));
            }
            Found::Nothing => {}
        }
    }
    if is_stream {
        let why = "the stream ended without an answer".to_owned();
        return (!events.has_ids).then(|| Outcome::failed(FailureKind::Disconnected, why));
    }
    let text = String::from_utf8_lossy(&body);
    if head.is_json() {
        found.look(&body, id);
    }
    match found {
        Found::Answer(outcome) => Some(*outcome),
        _ => Some(Outcome::failed(
            FailureKind::Transport,
            head.describe(&text),
        )),
    }
}

/// What has come of a request so far.
enum Found {
    Nothing,
    Answer(Box<Outcome>),
    /// The server asks something itself.
    Question,
}

impl Found {
    fn look(&mut self, bytes: &[u8], id: &Value) {
        match read_bytes(bytes) {
            _ if !matches!(self, Self::Nothing) => {}
            Message::Reply { id: of, reply } if key(&of) == key(id) => {
                *self = Self::Answer(Box::new(outcome(reply)));
            }
            Message::Request { id: Some(_), .. } => *self = Self::Question,
            _ => {}
        }
    }
}
