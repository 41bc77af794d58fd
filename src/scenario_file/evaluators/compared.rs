//! Parts that evaluators of several kinds share: the texts and values that are compared, the answers that are meant, and both in titles.

use serde_json::Value;

/// Answers of a run: by tool, by number, or all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerOf {
    /// Of this tool alone: its full name, or the bare one.
    pub tool: Option<String>,
    /// Of this call alone, counted from 1 among those of the tool, or among all where none is named.
    pub call: Option<usize>,
}

impl AnswerOf {
    /// The tool, where one is named.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// In words that follow `the answer`.
    pub fn words(&self) -> String {
        match (&self.tool, self.call) {
            (None, None) => String::new(),
            (None, Some(call)) => format!(" to call {call}"),
            (Some(tool), None) => format!(" of \"{tool}\""),
            (Some(tool), Some(call)) => format!(" to call {call} of \"{tool}\""),
        }
    }
}

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
