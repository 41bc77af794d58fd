//! The main commands: record, compare, review.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::published::result::ResultDocument;

/// Which scenarios are recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordRequest {
    /// Their ids, or their files below the folder that is served; all unless given.
    #[serde(default)]
    #[schemars(length(max = 10000), inner(length(min = 1, max = 4096)))]
    pub scenarios: Vec<String>,
    /// How often each is played to learn what varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub takes: Option<u16>,
    /// Whether runs that failed are recorded, too.
    #[serde(default)]
    pub allow_failing: bool,
}

/// Which scenarios are compared with their baselines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompareRequest {
    /// Their ids, or their files below the folder that is served; all unless given.
    #[serde(default)]
    #[schemars(length(max = 10000), inner(length(min = 1, max = 4096)))]
    pub scenarios: Vec<String>,
    /// The lowest score that passes; each scenario's own unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
    /// Whether every change fails.
    #[serde(default)]
    pub strict: bool,
    /// How often each is run; once unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub repeat: Option<u16>,
    /// Whether none is begun any more once one has not passed.
    #[serde(default)]
    pub fail_fast: bool,
    /// Whether runs that failed or changed something are kept for review. The server must allow writing.
    #[serde(default)]
    pub pending: bool,
}

/// What is decided on runs that wait for review; nothing where only those are asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewRequest {
    /// The ids of scenarios whose pending run becomes the baseline.
    #[serde(default)]
    #[schemars(length(max = 10000), inner(length(min = 1, max = 4096)))]
    pub accept: Vec<String>,
    /// The ids of scenarios whose pending run is let go of.
    #[serde(default)]
    #[schemars(length(max = 10000), inner(length(min = 1, max = 4096)))]
    pub reject: Vec<String>,
    /// Whether what is accepted is kept beside what is there.
    #[serde(default)]
    pub variant: bool,
    /// Whether a run is accepted although it failed by itself.
    #[serde(default)]
    pub allow_failing: bool,
}

/// What was decided, and what waits by now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewReply {
    pub accepted: Vec<Accepted>,
    /// Ids of scenarios.
    pub rejected: Vec<String>,
    pub pending: Vec<PendingReply>,
}

/// A run that became a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    pub scenario: String,
    /// The file of the baseline.
    pub file: String,
}

/// A run that waits for review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingReply {
    pub scenario: String,
    pub run_id: String,
    /// Why accepting it needs more than a yes: baseline or scenario have changed since. `null` where they have not.
    pub moved: Option<String>,
    /// What failed in it by itself.
    pub failing: Vec<String>,
    /// The run beside what it was compared with, as the command line's result has it.
    pub result: ResultDocument,
}
