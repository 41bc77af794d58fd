//! One attempt at a request to a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::usage;

/// One attempt at a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Milliseconds from the start of the run.
    pub start_ms: f64,
    pub duration_ms: f64,
    /// The HTTP status; `null` when no response came, or an agent that asks by itself does not tell.
    pub status: Option<u16>,
    /// Why it gave no answer; `null` when it did.
    pub problem: Option<String>,
}

impl From<&usage::Attempt> for Attempt {
    fn from(it: &usage::Attempt) -> Self {
        Self {
            start_ms: it.start_ms,
            duration_ms: it.duration_ms,
            status: it.status,
            problem: it.problem.clone(),
        }
    }
}

impl From<Attempt> for usage::Attempt {
    fn from(it: Attempt) -> Self {
        Self {
            start_ms: it.start_ms,
            duration_ms: it.duration_ms,
            status: it.status,
            problem: it.problem,
        }
    }
}
