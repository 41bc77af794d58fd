//! HTTP between an agent and the gateway, whatever server is behind it.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Response, StatusCode};

use serde_json::Value;

use super::call_tap::Exchange;
use super::place::{INVALID_REQUEST, PARSE_ERROR, error};
use crate::http_server::{JSON, Refusal, respond};
use crate::json;

/// The most messages of a batch.
const LONGEST_BATCH: usize = 1000;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// A response, or why the request is refused.
pub(super) type Answer = Result<Response<Body>, Refusal>;

/// The server behind us gives no answer.
pub(super) fn bad_gateway(exchange: &Exchange, why: &str) -> Response<Body> {
    let refusal = exchange.refusal(why);
    respond(StatusCode::BAD_GATEWAY, Some(JSON), refusal.into())
}

/// The answer to a body that is neither a message nor a batch; `None` where it is.
pub(super) fn unreadable(body: &[u8]) -> Option<Response<Body>> {
    let (id, code, why) = misread(body)?;
    let error = error(&id, code, &why).to_string();
    Some(respond(StatusCode::BAD_REQUEST, Some(JSON), error.into()))
}

/// The id of a request, where there is one, the code and what is wrong.
fn misread(body: &[u8]) -> Option<(Value, i64, String)> {
    // Counted before it is read, which would take its memory.
    let extent = json::extent(body);
    let is_batch = body.trim_ascii_start().starts_with(b"[");
    if extent.values > json::VALUES || is_batch && !(1..=LONGEST_BATCH).contains(&extent.items) {
        let why = format!("a batch has 1 to {LONGEST_BATCH} messages, and a body 1,000,000 values");
        return Some((Value::Null, INVALID_REQUEST, why));
    }
    let body = match serde_json::from_slice(body) {
        Ok(Value::Array(messages)) => messages,
        Ok(message) => vec![message],
        Err(error) => {
            let why = format!("the body is not valid JSON ({})", json::place(&error));
            return Some((Value::Null, PARSE_ERROR, why));
        }
    };
    let is_message = |it: &Value| {
        let answers = it.get("result").or(it.get("error"));
        it["jsonrpc"] == "2.0" && it.get("method").map_or(answers.is_some(), Value::is_string)
    };
    let wrong = body.iter().find(|it| !is_message(it))?;
    let id = Some(&wrong["id"]).filter(|it| it.is_string() || it.is_number());
    let why = "the body is not a JSON-RPC message: it needs `jsonrpc: \"2.0\"`, and a text as its `method`";
    Some((
        id.cloned().unwrap_or_default(),
        INVALID_REQUEST,
        why.to_owned(),
    ))
}

pub(super) fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    let value = headers.get(name).and_then(|it| it.to_str().ok());
    value.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LONGEST_BATCH, misread};
    use crate::json::VALUES;

    #[test]
    fn bodies_that_are_no_messages_are_recognized() {
        let one = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
        let batch = |messages: usize| format!("[{}]", vec![one; messages].join(","));
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        for right in [one, answer, &batch(1), &batch(LONGEST_BATCH)] {
            assert_eq!(misread(right.as_bytes()), None);
        }
        let many = format!("[{}0]", "0,".repeat(VALUES));
        for (wrong, id, said) in [
            ("", json!(null), "it breaks off"),
            (r#"{"id": 1, "#, json!(null), "it breaks off"),
            ("{} x", json!(null), "column 4"),
            ("7", json!(null), "needs `jsonrpc"),
            ("[]", json!(null), "1 to 1000 messages"),
            ("[[1]]", json!(null), "needs `jsonrpc"),
            (r#"{"id":1,"method":"x"}"#, json!(1), "needs `jsonrpc"),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":5}"#,
                json!("a"),
                "text as its `method`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":[],"params":{}}"#,
                json!(null),
                "text as its `method`",
            ),
            (&batch(LONGEST_BATCH + 1), json!(null), "1 to 1000 messages"),
            (&many, json!(null), "1,000,000 values"),
        ] {
            let (found, _, why) = misread(wrong.as_bytes()).unwrap();
            assert!(found == id && why.contains(said), "{found} {why}");
        }
    }
}
