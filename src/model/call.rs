//! One tool call and what became of it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::outcome::StoredOutcome;
use crate::model::{Digits, Object};

/// A tool call with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Call", expecting = "struct Call")]
pub struct ToolCall {
    /// The server, or null for a tool that is not an MCP tool.
    pub server: Option<String>,
    pub tool: String,
    pub arguments: Object,
    /// The digits of numbers in the arguments that 64 bits cannot hold, by JSON pointer.
    #[serde(default, skip_serializing_if = "Digits::is_empty")]
    pub digits: Digits,
    pub outcome: Outcome,
    /// What the same request was answered when recording asked it again right after, in order; never stored, only learned from.
    #[serde(skip)]
    pub again: Vec<Outcome>,
    /// Offset from the start of the run in milliseconds, or null.
    pub start_ms: Option<f64>,
    /// Time to the outcome in milliseconds, or null.
    pub duration_ms: Option<f64>,
}

/// What became of a tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "StoredOutcome<'static>")]
pub enum Outcome {
    /// The server answered; its answer may itself report an error.
    Answer(Answer),
    /// There was no usable answer.
    Failure(Failure),
}

/// A `CallToolResult` as it came over the wire.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The tool says it failed (`isError`).
    pub is_error: bool,
    /// Content blocks as served.
    pub content: Vec<Value>,
    /// `structuredContent` as served.
    pub structured_content: Option<Value>,
    /// The digits of numbers in `structured_content` that 64 bits cannot hold.
    pub digits: Digits,
    /// Members of the result that have no field of their own here, `_meta` among them.
    pub other: Object,
    /// How `structuredContent` breaks the tool's own `outputSchema`; such an answer counts as an error.
    pub breach: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub kind: FailureKind,
    /// One sentence for people, without secrets.
    pub message: String,
    /// The JSON-RPC error code, for [`FailureKind::Rpc`].
    pub code: Option<i64>,
    /// The JSON-RPC error data, for [`FailureKind::Rpc`]; for [`FailureKind::NotSent`], what was said for `arguments`, or the numbers of the
    /// calls whose answers it `needs`; for [`FailureKind::Transport`], the `status` with which a server asks to be asked again `retry_after`
    /// so many seconds.
    pub data: Option<Value>,
}

/// The ways a call can end without a usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The server returned a JSON-RPC error.
    Rpc,
    /// No answer within the tool timeout.
    Timeout,
    /// The connection ended before the answer came.
    Disconnected,
    /// An answer came that is no `CallToolResult`.
    InvalidResponse,
    /// The HTTP exchange failed.
    Transport,
    /// What the agent asked for is no call that could be made.
    NotSent,
}

impl ToolCall {
    /// Whether it makes the same request as another.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        self.server == other.server && self.tool == other.tool && self.arguments == other.arguments
    }

    /// The name agents address the tool by: `mcp__<server>__<tool>`, or the bare name of a tool that is not an MCP tool.
    pub fn full_name(&self) -> String {
        match &self.server {
            Some(server) => format!("mcp__{server}__{}", self.tool),
            None => self.tool.clone(),
        }
    }
}

impl Outcome {
    /// Whether the call failed, be it by the tool's own word or for want of an answer.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Answer(answer) => answer.is_error || answer.breach.is_some(),
            Self::Failure(_) => true,
        }
    }

    /// With which HTTP status the server asks to be asked again, and after how long: it was too busy for the call.
    pub fn asks_to_wait(&self) -> Option<(u16, Duration)> {
        let Self::Failure(Failure {
            kind: FailureKind::Transport,
            data: Some(data),
            ..
        }) = self
        else {
            return None;
        };
        let status = u16::try_from(data.get("status")?.as_u64()?).ok()?;
        let pause = Duration::try_from_secs_f64(data.get("retry_after")?.as_f64()?).ok()?;
        Some((status, pause))
    }
}

impl FailureKind {
    /// The kind in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Rpc => "JSON-RPC error",
            Self::Timeout => "no answer in time",
            Self::Disconnected => "the connection ended",
            Self::InvalidResponse => "not a tool result",
            Self::Transport => "HTTP failure",
            Self::NotSent => "not sent",
        }
    }
}

impl Answer {
    /// The text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n")
    }
}
