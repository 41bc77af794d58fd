//! Reasons why a run could not be made or judged, where another try may well succeed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a run could not be made or judged, where another try may well go otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// A server, or the API of a model, could not be reached, or went away.
    Transport,
    /// The API of a model has asked to be left alone for a while.
    RateLimit,
    /// The run did not end in time.
    Timeout,
}

impl Trouble {
    pub fn name(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::RateLimit => "rate_limit",
            Self::Timeout => "timeout",
        }
    }
}

/// Why a model has given no answer, or none that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unanswered {
    pub message: String,
    pub details: Vec<String>,
    /// What stood in the way, where asking again later may well go otherwise.
    pub trouble: Option<Trouble>,
}

impl Unanswered {
    /// Asking again would change nothing.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: Vec::new(),
            trouble: None,
        }
    }
}
