//! How a run ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::trajectory::Ending;

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

/// The kind, what happened where the run did not just complete, and the last lines of a server's stderr and the like.
pub(crate) fn parts(ending: &Ending) -> (EndingKind, Option<&str>, &[String]) {
    match ending {
        Ending::Completed => (EndingKind::Completed, None, &[]),
        Ending::Blocked { message } => (EndingKind::Blocked, Some(message), &[]),
        Ending::LimitReached { message } => (EndingKind::LimitReached, Some(message), &[]),
        Ending::TimedOut { message } => (EndingKind::TimedOut, Some(message), &[]),
        Ending::Interrupted => (EndingKind::Interrupted, None, &[]),
        Ending::Error {
            message, details, ..
        } => (EndingKind::Error, Some(message), details),
    }
}

/// The ending of these parts.
pub(crate) fn of_parts(kind: EndingKind, message: Option<String>, details: Vec<String>) -> Ending {
    let message = message.unwrap_or_default();
    match kind {
        EndingKind::Completed => Ending::Completed,
        EndingKind::Blocked => Ending::Blocked { message },
        EndingKind::LimitReached => Ending::LimitReached { message },
        EndingKind::TimedOut => Ending::TimedOut { message },
        EndingKind::Interrupted => Ending::Interrupted,
        EndingKind::Error => Ending::Error {
            message,
            details,
            trouble: None,
        },
    }
}
