//! JSON-RPC errors of the gateway's own.

use serde_json::{Value, json};

/// The code of errors that the gateway itself answers with, from the range that JSON-RPC leaves to implementations.
pub(super) const GATEWAY_ERROR: i64 = -32000;

/// The codes of JSON-RPC for what is no JSON, and for what is no message.
pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;

/// A JSON-RPC error of the gateway's own.
pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}
