//! The requests that a stand-in for the API of a language model expects, and its answers: the `llm_interactions` section.

use std::time::Duration;

use serde_json::Value;

use super::response::ArgumentCondition;
use crate::model::Object;
use crate::model::usage::Usage;

/// The member of an answer's body in which the stand-in says which interaction of its script comes next, counted from 1; absent behind the last.
pub const NEXT: &str = "x_next_interaction";

/// One request and what is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmInteraction {
    pub expect: LlmExpectation,
    pub reply: LlmReply,
    /// How long the answer takes.
    pub delay: Option<Duration>,
    /// How many requests it answers; only what is no answer of the model can answer several.
    pub times: u32,
}

/// What a request must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LlmExpectation {
    pub model: Option<ArgumentCondition>,
    pub system: Option<ArgumentCondition>,
    /// The latest message of the user.
    pub user: Option<ArgumentCondition>,
    /// Tools that must be on offer, among others.
    pub tools: Vec<String>,
    /// The texts of the tool results the request ends with, in order; all of them.
    pub tool_results: Option<Vec<ArgumentCondition>>,
    /// Conditions on members of the body, by JSON pointer.
    pub body: Vec<(String, ArgumentCondition)>,
    /// Conditions on headers, by name.
    pub headers: Vec<(String, ArgumentCondition)>,
}

/// What goes back.
#[derive(Debug, Clone, PartialEq)]
pub enum LlmReply {
    Answer(LlmAnswer),
    /// An error as the API words it.
    Error(LlmError),
    /// The connection ends in the middle of an answer.
    Cut,
    /// There is no answer, ever.
    Hang,
    /// The answer breaks off, and nothing says so.
    InvalidJson,
}

/// What the model says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LlmAnswer {
    pub text: Option<String>,
    pub tool_calls: Vec<LlmToolCall>,
    pub stop: LlmStop,
    pub usage: Usage,
}

/// A call the model asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmToolCall {
    pub name: String,
    /// An object; or a text, where the model is to say what is none.
    pub arguments: LlmArguments,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LlmArguments {
    Object(Object),
    /// To the letter, where the API has arguments as text; as JSON text where it does not.
    Text(String),
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LlmStop {
    /// It is done, or wants its calls to be made.
    #[default]
    Done,
    MaxTokens,
    Refusal,
    ContentFilter,
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmError {
    pub status: u16,
    /// The API's word for it; one that goes with the status unless given.
    pub code: Option<String>,
    pub message: String,
    /// Seconds.
    pub retry_after: Option<f64>,
}

impl LlmInteraction {
    /// Whether the client has got what it asked for.
    pub fn is_answer(&self) -> bool {
        matches!(self.reply, LlmReply::Answer(_))
    }
}

impl LlmArguments {
    /// The arguments as a text.
    pub fn text(&self) -> String {
        match self {
            Self::Object(object) => Value::Object(object.clone()).to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The arguments as a value.
    pub fn value(&self) -> Value {
        match self {
            Self::Object(object) => Value::Object(object.clone()),
            Self::Text(text) => Value::String(text.clone()),
        }
    }
}
