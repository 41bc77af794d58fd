//! Applies faults to replies: turns a correct reply into what is delivered.

use std::time::Duration;

use serde_json::{Value, json};

use crate::mock::wire::{self, Id, SERVER_ERROR};
use crate::model::interactions::Fault;

/// A reply on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Delivery {
    /// These messages, one after the other.
    Messages(Vec<String>),
    /// This text, which is no message.
    Broken(String),
    /// Nothing, in the place of a message.
    Empty,
    /// An HTTP status; `error` is what stands for it where there is none.
    Status {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
        error: String,
    },
    Never,
    /// The message, this many bytes at a time.
    Slow {
        message: String,
        bytes: usize,
        every: Duration,
    },
    /// The first part of the message; then the connection ends.
    Cut(String),
    /// The process ends with this code.
    Exit(u8),
}

/// What is delivered in place of a reply.
pub(super) fn deliver(id: &Id, reply: String, fault: Option<Fault>) -> Delivery {
    let Some(fault) = fault else {
        return Delivery::Messages(vec![reply]);
    };
    let result = |result: &Value| Delivery::Messages(vec![wire::result_reply(id, result)]);
    match fault {
        Fault::HttpStatus {
            status,
            headers,
            body,
        } => {
            let error = wire::error(SERVER_ERROR, &format!("HTTP status {status}"));
            let error = wire::error_reply(id, &error);
            Delivery::Status {
                status,
                headers,
                body,
                error,
            }
        }
        Fault::InvalidJson => Delivery::Broken(half(&reply).to_owned()),
        Fault::EmptyBody => Delivery::Empty,
        Fault::Hang => Delivery::Never,
        Fault::SlowBytes { bytes, every } => Delivery::Slow {
            message: reply,
            bytes,
            every,
        },
        Fault::Disconnect => Delivery::Cut(half(&reply).to_owned()),
        Fault::WrongId => Delivery::Messages(vec![reply.replacen(
            &format!("\"id\":{}", id.as_json()),
            &format!("\"id\":{}", id.other().as_json()),
            1,
        )]),
        Fault::DuplicateReply => Delivery::Messages(vec![reply.clone(), reply]),
        Fault::Oversized(bytes) => {
            result(&json!({ "content": [{ "type": "text", "text": "x".repeat(bytes) }] }))
        }
        Fault::Exit(code) => Delivery::Exit(code),
        Fault::Vanish => Delivery::Messages(vec![reply]),
        Fault::ContentNotAList => result(&json!({ "content": "a text where a list belongs" })),
        Fault::BadItem => result(&json!({ "content": [
            { "type": "text", "text": "a good block" },
            { "type": "no-such-type", "payload": 1 },
            { "type": "text", "text": "another good block" },
        ] })),
        Fault::InvalidBase64 => result(&json!({ "content": [
            { "type": "image", "data": "*** this is not Base64 ***", "mimeType": "image/png" },
        ] })),
    }
}

/// The first half of a text, cut between characters.
fn half(text: &str) -> &str {
    let middle = text.len() / 2;
    let cut = (0..=middle).rev().find(|it| text.is_char_boundary(*it));
    &text[..cut.unwrap_or(0)]
}
