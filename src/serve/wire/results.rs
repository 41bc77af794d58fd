//! Results that were kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::published::result::Status;

/// Which results are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResultQuery {
    /// The name of the test case or scenario, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The run of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The id of the scenario, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// No result that is older (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub since: Option<String>,
    /// How many at most; 100 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// How many of the latest are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub offset: Option<u32>,
}

/// Which runs are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageQuery {
    /// How many at most; 100 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// How many of the latest are passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub offset: Option<u32>,
}

/// Some of the results that were asked for, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultList {
    pub results: Vec<ResultEntry>,
    /// How many there are in all.
    pub total: u64,
    pub limit: u32,
    pub offset: u32,
}

/// A result, without its calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultEntry {
    pub result_id: String,
    pub run_id: String,
    /// The command that came to it: `run`, `compare`, `record` or `bisect`.
    pub command: String,
    /// The id that the results of the same test case or scenario have in common.
    pub scenario: String,
    pub name: String,
    pub prompt: Option<String>,
    pub tags: Vec<String>,
    pub status: Status,
    pub success: bool,
    /// The first thing that speaks against it.
    pub reason: Option<String>,
    /// `passed`, `confidence`, `reasoning`, `toolAccuracy` and `suggestions`; what is not known is `null`.
    pub verdict: Value,
    pub expected_tools: Vec<String>,
    pub actual_tools: Vec<String>,
    /// 0 to 1; `null` where nothing was compared.
    pub score: Option<f64>,
    /// In milliseconds; `null` where nothing ran.
    pub duration: Option<f64>,
    /// When it was there (RFC 3339).
    pub timestamp: String,
    pub agent: Option<String>,
    pub model: Option<String>,
    /// It passed on a later try, or its runs did not agree.
    pub flaky: bool,
    /// What models took, judges included; `null` where it is not known.
    pub total_tokens: Option<u64>,
    pub cost: Option<f64>,
}

/// Some of the runs, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    pub runs: Vec<RunEntry>,
    /// How many there are in all.
    pub total: u64,
    pub limit: u32,
    pub offset: u32,
}

/// A run of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunEntry {
    pub run_id: String,
    pub command: String,
    /// `running`, `completed` or `interrupted`; one that was killed stays `running` until the next command or server in its folder.
    pub status: String,
    pub started_at: String,
    pub completed_at: Option<String>,
    /// In milliseconds.
    pub duration: Option<f64>,
    pub exit_code: Option<u8>,
    /// How many scenarios were to run, and how they came out.
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
    pub inconclusive: u64,
    /// Errors, timeouts and interruptions.
    pub errors: u64,
    pub skipped: u64,
    pub recorded: u64,
    /// The commit of the repository that the command was started in.
    pub commit: Option<String>,
    pub branch: Option<String>,
}

/// All results in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    pub runs: u64,
    pub results: u64,
    pub scenarios: u64,
    pub tool_calls: u64,
    pub passed: u64,
    pub failed: u64,
    pub inconclusive: u64,
    /// Errors, timeouts and interruptions.
    pub errors: u64,
    pub recorded: u64,
    /// Of those that have a verdict, 0 to 1; `null` where none has.
    pub pass_rate: Option<f64>,
    /// In milliseconds; `null` where none is known.
    pub mean_duration: Option<f64>,
    /// Of the results whose cost is known; `null` where none is.
    pub known_cost: Option<f64>,
    pub first_at: Option<String>,
    pub last_at: Option<String>,
}
