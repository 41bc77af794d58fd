//! Problems that stand in the way of a run or a verdict, and the tries that they cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::usage::TotalUse;
use crate::{Status, Trouble};

/// A try at a scenario that could not be run or judged, so that another one was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Retried {
    pub status: Status,
    /// What stood in the way: `transport`, `rate_limit` or `timeout`.
    pub trouble: Trouble,
    /// The same in a sentence.
    pub reason: String,
    /// Wall time in milliseconds; `null` when nothing ran.
    pub duration_ms: Option<f64>,
    /// What models took for it, judges included; absent where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TotalUse>,
}

/// Something that stood in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// Last lines of a server's stderr and the like.
    pub details: Vec<String>,
    /// What records the baseline that is missing; absent where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Box<RecordCommand>>,
    /// The line of the scenario's file that it is about, such as that of an evaluator; absent where it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// The options of the command `record` that make one baseline, and no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordCommand {
    /// The scenario's file; absent where its name is enough.
    pub file: Option<String>,
    /// The row of a data set, as a word of an expression.
    pub row: Option<String>,
    /// What else is said, each word by itself.
    pub options: Vec<String>,
}

impl Problem {
    /// One of one message, without hint and details.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            details: Vec::new(),
            record: None,
            line: None,
        }
    }

    /// The same, with what to try.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}
