//! The texts, answers and commands of evaluators, and exact matches.

use serde_json::Value;

use crate::Object;
use crate::hook::Hook;
use crate::json_path::JsonPath;

/// A text or value of an evaluator that is compared with what a run holds, and so must be without secrets as that is.
#[derive(Debug)]
pub enum EvaluatorText<'a> {
    Words(&'a mut String),
    /// A regular expression.
    Pattern(&'a mut String),
    Value(&'a mut Value),
    Object(&'a mut Object),
}

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

/// A program of the author's that is given the run and says whether it is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEvaluator {
    pub run: Hook,
}

impl CommandEvaluator {
    /// The program's name, without its folder.
    pub fn program(&self) -> &str {
        let program = self.run.command.first().map_or("", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }

    pub(super) fn words(&self) -> String {
        format!("the command {}", quoted(self.program()))
    }
}
