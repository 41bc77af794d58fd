//! Texts that a run must hold, or must not.

use super::compared::quoted;
use crate::model::redacted::ShownText;

/// A text is looked for in what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEvaluator {
    pub within: TextSource,
    pub wanted: TextMatch,
    pub any_case: bool,
    /// How often it must be there; at least once where neither is given.
    pub at_least: Option<u32>,
    pub at_most: Option<u32>,
    /// The run passes if it is not so.
    pub negated: bool,
}

/// What a text is looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSource {
    /// The agent's last words.
    FinalText,
    /// What the servers answered.
    Answers,
    /// All that was said: by the user and the agent, to the tools and by them.
    Transcript,
    /// What the servers wrote for their operators: the stderr of programs, the output of containers and of what was started.
    Log,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextMatch {
    Contains(String),
    /// The whole text is this one; spaces around it do not count.
    Equals(String),
    Regex(String),
    StartsWith(String),
}

impl TextSource {
    /// As scenario files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FinalText => "final_text",
            Self::Answers => "answers",
            Self::Transcript => "transcript",
            Self::Log => "log",
        }
    }
}

impl TextMatch {
    /// The text itself.
    pub fn text(&self) -> &str {
        match self {
            Self::Contains(text)
            | Self::Equals(text)
            | Self::Regex(text)
            | Self::StartsWith(text) => text,
        }
    }

    /// `contains`, as in a sentence.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Contains(_) => "contains",
            Self::Equals(_) => "equals",
            Self::Regex(_) => "matches",
            Self::StartsWith(_) => "starts with",
        }
    }

    pub(super) fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        match self {
            Self::Regex(pattern) => visit(ShownText::Name(pattern)),
            Self::Contains(text) | Self::Equals(text) | Self::StartsWith(text) => {
                visit(ShownText::Words(text));
            }
        }
    }

    /// The verb with what is looked for.
    pub fn words(&self) -> String {
        format!("{} {}", self.verb(), quoted(self.text()))
    }
}

impl TextEvaluator {
    /// How often it must be there at least.
    pub fn least(&self) -> u32 {
        let usual = u32::from(self.at_most.is_none());
        self.at_least.unwrap_or(usual)
    }

    pub(super) fn words(&self) -> String {
        let not = if self.negated { "not: " } else { "" };
        let times = match (self.at_least, self.at_most) {
            (None, None) => String::new(),
            (Some(least), None) => format!(", at least {least} times"),
            (None, Some(most)) => format!(", at most {most} times"),
            (Some(least), Some(most)) => format!(", {least} to {most} times"),
        };
        format!("{not}{} {}{times}", self.within.name(), self.wanted.words())
    }
}
