//! The revision 2026-07-28 of MCP, in which every request speaks for itself: names, error codes, and the headers that repeat a body.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/basic> for `_meta` and the codes,
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http> for the headers.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The revision itself.
pub use crate::model::STATELESS;
/// Revisions that begin with a handshake, the latest last.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// How clients and servers begin to talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With a handshake, after which a session is known: [`LEGACY`].
    Legacy,
    /// With any request, each of which says what there is to know: [`STATELESS`].
    Stateless,
}

/// Key of a request's `_meta`: the revision it is written in.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The revision that a request says it is written in, by its parameters; `None` of one that belongs to a session.
pub fn revision(params: &Value) -> Option<&Value> {
    params.get("_meta")?.get(META_VERSION)
}

/// Key of a request's `_meta`: what the client can do, as far as this request is concerned.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Key of a request's `_meta`: the least severe log level that is wanted; nothing is logged without it.
pub const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Key of a result's `_meta`: the name and version of the server.
pub const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// Key of a notification's `_meta`: the id of the request that subscribed to it.
pub const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Headers differ from the body that they repeat, or are missing.
pub const HEADER_MISMATCH: i64 = -32020;
/// The client has not declared a capability that the request needs.
pub const MISSING_CAPABILITY: i64 = -32021;
/// The request is written in a revision that the server does not speak.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The HTTP status of a request that is refused with this code.
pub fn status(code: i64) -> u16 {
    const METHOD_NOT_FOUND: i64 = -32601;
    const INTERNAL_ERROR: i64 = -32603;
    match code {
        METHOD_NOT_FOUND => 404,
        INTERNAL_ERROR => 500,
        _ => 400,
    }
}

/// Header that repeats [`META_VERSION`].
pub const VERSION_HEADER: &str = "mcp-protocol-version";
/// Header that repeats the method.
pub const METHOD_HEADER: &str = "mcp-method";
/// Header that repeats what [`named_by`] names.
pub const NAME_HEADER: &str = "mcp-name";
/// Beginning of the headers that repeat arguments of a tool.
const PARAM_HEADER: &str = "mcp-param-";

/// The member of a method's parameters that [`NAME_HEADER`] repeats.
pub fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// An argument of a tool that a header repeats.
#[derive(Debug, PartialEq, Eq)]
pub struct Mirrored {
    /// The header, in lower case.
    pub header: String,
    /// The names that lead to the argument, as a JSON pointer.
    pub pointer: String,
}

/// The arguments of a tool that headers repeat, by its input schema: the properties with `x-mcp-header` that properties alone lead to.
pub fn mirrored(input_schema: &Value) -> Vec<Mirrored> {
    let mut found = Vec::new();
    let mut schemas = vec![(String::new(), input_schema)];
    while let Some((above, schema)) = schemas.pop() {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let pointer = format!("{above}/{}", name.replace('~', "~0").replace('/', "~1"));
            if let Some(name) = property.get("x-mcp-header").and_then(Value::as_str) {
                found.push(Mirrored {
                    header: format!("{PARAM_HEADER}{}", name.to_ascii_lowercase()),
                    pointer: pointer.clone(),
                });
            }
            schemas.push((pointer, property));
        }
    }
    found
}

const ENCODED_START: &str = "=?base64?";
const ENCODED_END: &str = "?=";

/// A text as the value of a header: in Base64 where a header cannot hold it.
pub fn encode_header(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(is_printable)
        && text.trim_matches([' ', '\t']) == text
        && encoded(text).is_none();
    if is_plain {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!(
        "{ENCODED_START}{}{ENCODED_END}",
        STANDARD.encode(text)
    ))
}

/// The text that the value of a header means; `None` where it means none.
pub fn decode_header(value: &[u8]) -> Option<String> {
    let value = plain_header(value)?;
    match encoded(value) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

/// The value of a header that is never encoded; `None` where it holds what no header may.
pub fn plain_header(value: &[u8]) -> Option<&str> {
    let is_plain = value.iter().copied().all(is_printable);
    std::str::from_utf8(value).ok().filter(|_| is_plain)
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~')
}

fn encoded(value: &str) -> Option<&str> {
    value.strip_prefix(ENCODED_START)?.strip_suffix(ENCODED_END)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Mirrored, decode_header, encode_header, mirrored};

    /// The examples of the specification, and their like.
    #[test]
    fn texts_that_fit_no_header_are_encoded() {
        let cases = [
            ("us-west1", "us-west1"),
            ("", ""),
            ("a \t b", "a \t b"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
        ];
        for (text, header) in cases {
            assert_eq!(encode_header(text), header);
            assert_eq!(decode_header(header.as_bytes()).as_deref(), Some(text));
        }
        for value in [
            "=?base64?SGVsbG8?=",
            "=?base64?S*Vs?=",
            "=?base64?/w==?=",
            "a\u{7f}",
            "é",
        ] {
            assert_eq!(decode_header(value.as_bytes()), None, "{value}");
        }
    }

    #[test]
    fn only_properties_lead_to_arguments_that_headers_repeat() {
        let schema = json!({
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "a/b": { "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
                "list": { "items": { "properties": { "x": { "x-mcp-header": "X" } } } },
            },
            "oneOf": [{ "properties": { "y": { "x-mcp-header": "Y" } } }],
        });
        let mirrored_at = |header: &str, pointer: &str| Mirrored {
            header: header.to_owned(),
            pointer: pointer.to_owned(),
        };
        let expected = [
            mirrored_at("mcp-param-region", "/region"),
            mirrored_at("mcp-param-n", "/a~1b/n"),
        ];
        assert_eq!(mirrored(&schema), expected);
    }
}
