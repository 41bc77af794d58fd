//! What came of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::published::result::Status;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunReply {
    /// What was asked for, without secrets.
    pub test_case: Value,
    /// In their order.
    pub tool_calls: Vec<ToolCall>,
    pub verdict: Verdict,
    /// Wall time in milliseconds; `null` where nothing ran.
    pub duration: Option<f64>,
    /// All expected tools were called, no evaluator that gates failed, and the judge, where there is one, passed.
    pub success: bool,
    /// When the run began (RFC 3339).
    pub timestamp: String,
    /// By which it is found under `/api/test/results`.
    pub result_id: String,
    /// The run of the program, by which files and results of one request belong together.
    pub run_id: String,
    /// The id that the results of the same test case have in common.
    pub scenario: String,
    pub status: Status,
    /// Why the run could not be made or judged; absent where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    pub tool_name: String,
    /// The server that was asked; `unknown` where none has the tool.
    pub server_id: String,
    /// The arguments; `null` where they are not kept any more.
    pub parameters: Value,
    /// What was answered: `content`, and `structuredContent` where there is some; `null` where nothing was.
    pub response: Value,
    /// In milliseconds; `null` where it is not known.
    pub execution_time_ms: Option<f64>,
    pub success: bool,
    /// Why it failed; `null` where it did not.
    pub error: Option<String>,
    /// When it was made (RFC 3339); `null` where that is not known.
    pub timestamp: Option<String>,
}

/// What is thought of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    pub passed: bool,
    /// 0 to 1: what the judge says, 1 where nobody was asked, 0 where the run could not be made or judged; `null` where a judge does not say.
    pub confidence: Option<f64>,
    pub reasoning: String,
    /// The share of the expected tools that were called, 0 to 1; 1 where none is expected, and `null` where nobody knows any more.
    pub tool_accuracy: Option<f64>,
    #[serde(default)]
    pub suggestions: Vec<String>,
}
