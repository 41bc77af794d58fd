//! JSON-RPC 2.0 as it stands on the wire: what a message is, and how replies are written.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL_ERROR: i64 = -32603;
pub(super) const RESOURCE_NOT_FOUND: i64 = -32002;
/// The error code that stands for an HTTP status over stdio.
pub(super) const SERVER_ERROR: i64 = -32000;

/// The id of a request as its JSON text, so that numbers of any size are returned unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Id(String);

impl Id {
    const NULL: &str = "null";

    pub(super) fn null() -> Self {
        Self(Self::NULL.to_owned())
    }

    /// The id as JSON.
    pub(super) fn as_json(&self) -> &str {
        &self.0
    }

    /// An id that differs from this one.
    pub(super) fn other(&self) -> Self {
        Self(json!(format!("not-{}", self.0.trim_matches('"'))).to_string())
    }

    /// The id that a value of a message is.
    pub(super) fn of(value: &Value) -> Option<Self> {
        (value.is_string() || value.is_number()).then(|| Self(value.to_string()))
    }

    /// Only texts and numbers are ids. The protocol does not allow `null`.
    fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let is_id = text.starts_with(|it: char| it == '"' || it == '-' || it.is_ascii_digit());
        is_id.then(|| Self(text.to_owned()))
    }
}

/// A message of the client.
#[derive(Debug)]
pub(super) enum Incoming {
    Request {
        id: Id,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The answer to a request of ours, by the number we gave it; `None` for a number we never gave.
    Answer {
        number: Option<u64>,
        outcome: Result<Value, Value>,
    },
    /// Something else: the error to reply with.
    Invalid {
        reply: String,
    },
}

impl Incoming {
    /// Reads a message as it came over the wire.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let Ok(raw) = serde_json::from_slice::<&RawValue>(bytes) else {
            return Self::invalid(&Id::null(), PARSE_ERROR, "the message is not JSON");
        };
        let Ok(members) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(raw.get())
        else {
            let message = "the message is not a JSON object; batches are not taken";
            return Self::invalid(&Id::null(), INVALID_REQUEST, message);
        };
        let text = |key| members.get(key).and_then(|it| text(it));
        let id = members.get("id").map(|it| Id::read(it));
        let known_id = id.clone().flatten().unwrap_or_else(Id::null);
        let refused = |message| Self::invalid(&known_id, INVALID_REQUEST, message);
        if text("jsonrpc").as_deref() != Some("2.0") {
            return refused("`jsonrpc` is not \"2.0\"");
        }
        if !members.contains_key("method")
            && let Some(outcome) = outcome(&members)
        {
            let number = known_id.as_json().parse().ok();
            return Self::Answer { number, outcome };
        }
        let Some(method) = text("method") else {
            return refused("the message names no `method`");
        };
        let params = match members.get("params").map(|it| value(it)) {
            None => Value::Null,
            Some(Some(params)) => params,
            Some(None) => {
                let message = "`params` nest too deeply, or hold a number that is too large";
                return Self::invalid(&known_id, INVALID_PARAMS, message);
            }
        };
        match id {
            None => Self::Notification { method, params },
            Some(None) => refused("the `id` is neither text nor a number"),
            Some(Some(id)) => Self::Request { id, method, params },
        }
    }

    fn invalid(id: &Id, code: i64, message: &str) -> Self {
        let reply = error_reply(id, &error(code, message));
        Self::Invalid { reply }
    }
}

/// The result or error of an answer.
fn outcome(members: &HashMap<Cow<'_, str>, &RawValue>) -> Option<Result<Value, Value>> {
    let member = |key| members.get(key).map(|it| value(it).unwrap_or_default());
    member("result").map(Ok).or(member("error").map(Err))
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn value(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(raw.get()).ok()
}

/// A JSON-RPC error object.
pub(super) fn error(code: i64, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

/// A reply with a result, as text.
pub(super) fn result_reply(id: &Id, result: &Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
        id.as_json()
    )
}

/// A reply with an error, as text.
pub(super) fn error_reply(id: &Id, error: &Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#,
        id.as_json()
    )
}

/// A notification, as text.
pub(super) fn notification(method: &str, params: &Value) -> String {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message.to_string()
}

/// A request of ours, as text.
pub(super) fn request(number: u64, method: &str, params: &Value) -> String {
    let mut message = json!({ "jsonrpc": "2.0", "id": number, "method": method });
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message.to_string()
}
