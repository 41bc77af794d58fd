//! The contents of the results database, as queries return them and as the test server reports them.
//!
//! Numbers that are not known are `None`, never 0. Times are RFC 3339 in UTC. All of it was free of secrets when it was written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::number::fixed;
use crate::published::history::HistoryResult;
use crate::{Evaluation, Status};

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

impl ResultEntry {
    /// The score with two places; empty where nothing was compared.
    pub fn score_words(&self) -> String {
        self.score.map_or_else(String::new, |it| fixed(it, 2))
    }
}

/// A result with all that is kept of it: its document in the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultDetail {
    pub result: ResultEntry,
    /// The same among those before and after it.
    pub history: HistoryResult,
    /// The scenario's file, as the user named it.
    pub path: String,
    pub evaluators: Vec<Evaluation>,
    /// Those of the attempt that is shown, in order.
    pub tool_calls: Vec<ToolCallRow>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallRow {
    /// Its number in the run, counted from 1.
    pub number: u64,
    /// `None` for an agent's own tools.
    pub server: Option<String>,
    pub tool: String,
    /// `ok`, `error` or what else trajectories call an outcome.
    pub status: String,
    pub duration_ms: Option<f64>,
    /// Bytes of the answer as JSON.
    pub answer_bytes: usize,
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
