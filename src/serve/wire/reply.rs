//! Replies: what came of a run or of several, or why nothing did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::case::RunRequest;
use crate::model::Status;

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

/// Why a request is not fulfilled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorReply {
    /// In a sentence.
    pub error: String,
    /// What is wrong in the request, place by place; empty where it is not malformed.
    #[serde(default)]
    pub findings: Vec<Misfit>,
}

/// Something that is wrong in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Misfit {
    /// Where: a JSON Pointer (RFC 6901) into the body, or the name of a parameter.
    pub path: String,
    pub message: String,
}
