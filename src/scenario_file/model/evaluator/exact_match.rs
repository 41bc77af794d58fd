//! A comparison of an answer, or of the agent's last words, with a value.

use serde_json::Value;

use super::compared::{AnswerOf, value};
use crate::model::json_path::JsonPath;

/// An answer, or the agent's last words, is compared with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactMatch {
    /// The answer; `None` for the agent's last words.
    pub answer: Option<AnswerOf>,
    /// The place in it that is compared; all of it unless given.
    pub path: Option<JsonPath>,
    pub value: Value,
    pub likeness: Likeness,
}

/// How like two values must be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Likeness {
    /// The same text, character for character.
    Exact,
    /// The same JSON: the order of keys does not matter, and `1` is `1.0`.
    #[default]
    Deep,
    /// All that is expected is there; more may be.
    Partial,
}

impl ExactMatch {
    pub(super) fn words(&self) -> String {
        let what = match &self.answer {
            Some(of) => format!("the answer{}", of.words()),
            None => "final_text".to_owned(),
        };
        let at = (self.path.as_ref()).map_or_else(String::new, |it| format!(" at {it}"));
        let verb = match self.likeness {
            Likeness::Exact => "is exactly",
            Likeness::Deep => "is",
            Likeness::Partial => "has",
        };
        format!("{what}{at} {verb} {}", value(&self.value))
    }
}
