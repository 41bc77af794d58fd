//! Expectations of a scenario, met or not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One expectation of the scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The expectation, as the scenario says it.
    pub name: String,
    /// The line of the scenario's file that says it; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub passed: bool,
    /// It was not checked and decides nothing, because nothing shows that it can be met; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// The call of the run that it is about; absent where it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// It asks for something that is to be there, a text or a call; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_for_more: bool,
    /// What it asks for, where the name says less; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// What was found instead, or why it was not checked; empty when passed.
    pub message: String,
}

/// What an expectation asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// That this text is said.
    Text(String),
    /// That the answer to an expected call holds this, as JSON.
    Answer(String),
    /// That a call of the tool with this full name succeeds.
    Success(String),
}

/// What became of an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Passed,
    Failed,
    /// It decides nothing, because nothing shows that it can be met.
    Unchecked,
}

impl Check {
    /// One that came out so; `message` says what was found instead.
    pub fn new(name: impl Into<String>, state: CheckState, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            line: None,
            passed: state == CheckState::Passed,
            unchecked: state == CheckState::Unchecked,
            call: None,
            asks_for_more: false,
            asked: None,
            message: message.into(),
        }
    }

    /// Whether it speaks against the run.
    pub fn fails(&self) -> bool {
        !self.passed && !self.unchecked
    }
}

impl CheckState {
    /// Of what is checked.
    pub fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}
