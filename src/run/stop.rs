//! Why a run ends before its agent is done.

use crate::model::trouble::Trouble;

/// Why an agent has to stop before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A critical call failed.
    Blocked { message: String },
    /// A limit of the scenario was reached.
    LimitReached { message: String },
    /// The run cannot go on, for a reason that is no verdict on the servers' answers.
    Error(SetupError),
}

/// Why a run could not be set up or carried on. Such a run gets no verdict on the system under test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SetupError {
    pub message: String,
    /// Last lines of a server's stderr and the like.
    pub details: Vec<String>,
    /// What stood in the way, where another try may well go otherwise.
    pub trouble: Option<Trouble>,
}

impl SetupError {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: Vec::new(),
            trouble: None,
        }
    }
}

impl Stop {
    /// The limit of this name was reached; `reached` says how.
    pub(super) fn at_limit(name: &str, reached: &str) -> Self {
        Self::LimitReached {
            message: format!("`{name}` ended the run: {reached}"),
        }
    }
}
