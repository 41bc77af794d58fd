//! The ending of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Ending;

/// How a run ended. Only `completed` and `blocked` runs are ever scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndingKind {
    /// The agent did all it meant to.
    Completed,
    /// A critical call failed, and the run ended early for it.
    Blocked,
    /// A limit of the scenario was reached.
    LimitReached,
    /// The scenario's timeout passed.
    TimedOut,
    /// Somebody asked the program to stop.
    Interrupted,
    /// The run could not be set up or carried on.
    Error,
}

impl EndingKind {
    /// The ending in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked by a failed critical call",
            Self::LimitReached => "ended by a limit",
            Self::TimedOut => "stopped by its timeout",
            Self::Interrupted => "interrupted",
            Self::Error => "ended by an error",
        }
    }
}

impl From<&Ending> for EndingKind {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Completed => Self::Completed,
            Ending::Blocked { .. } => Self::Blocked,
            Ending::LimitReached { .. } => Self::LimitReached,
            Ending::TimedOut { .. } => Self::TimedOut,
            Ending::Interrupted => Self::Interrupted,
            Ending::Error { .. } => Self::Error,
        }
    }
}
