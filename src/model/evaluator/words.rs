//! What evaluators are called where nobody has named them.

use serde_json::Value;

/// The longest text or value in a title, in characters.
const SHOWN: usize = 60;

/// A text in a title.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text))
}

/// A value in a title.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
