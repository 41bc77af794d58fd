//! Several runs at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::case::RunRequest;
use super::reply::RunReply;
use crate::published::result::Status;

/// Several test cases and scenarios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchRequest {
    #[schemars(length(min = 1))]
    pub test_cases: Vec<RunRequest>,
    /// Whether they run beside each other, as many as the server allows, or how many at most; one after another unless given. Of those that use
    /// what outlives a run, one runs at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
    /// Whether none is begun any more once one has not passed.
    #[serde(default)]
    pub fail_fast: bool,
}

/// How many run beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Parallel {
    /// As many as the server allows, or one.
    Any(bool),
    AtMost(#[schemars(range(min = 1, max = 256))] u16),
}

/// What came of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchReply {
    /// In the order of the request.
    pub results: Vec<RunReply>,
    pub summary: Summary,
}

/// What they came to together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All of them: those that passed, failed, and were skipped.
    pub total: usize,
    pub passed: usize,
    /// Those that did not pass, whatever stood in the way.
    pub failed: usize,
    /// Those that were not begun, because of `failFast` or because they are disabled.
    #[serde(default)]
    pub skipped: usize,
    /// Of all together, in milliseconds.
    pub duration: f64,
}

impl Summary {
    pub fn of(results: &[RunReply], duration: f64) -> Self {
        let passed = results.iter().filter(|it| it.success).count();
        let skipped = results.iter().filter(|it| it.status == Status::Skipped);
        let skipped = skipped.count();
        Self {
            total: results.len(),
            passed,
            failed: results.len() - passed - skipped,
            skipped,
            duration,
        }
    }
}
