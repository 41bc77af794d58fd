//! One tool call and what became of it.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{ClientAnswer, Digits, Object};

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
    /// When the run began that it was made in; absent where that is the run of the stamp. A baseline has calls of several runs where some were
    /// accepted later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub began: Option<Timestamp>,
    /// Offset from the start of the run in milliseconds, or null.
    pub start_ms: Option<f64>,
    /// Time to the outcome in milliseconds, or null.
    pub duration_ms: Option<f64>,
}

/// The member of an answer's `_meta` in which it is kept what the server asked its client before it answered: the parameters, by number
/// and kind, as in `1 elicitation`.
pub const ASKED: &str = "asked_its_client";

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
    /// A call that was made once, at a time that nobody knows.
    pub fn new(server: Option<String>, tool: String, arguments: Object, outcome: Outcome) -> Self {
        Self {
            server,
            tool,
            arguments,
            digits: Digits::new(),
            outcome,
            again: Vec::new(),
            began: None,
            start_ms: None,
            duration_ms: None,
        }
    }

    /// Whether it makes the same request as another.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        self.server == other.server && self.tool == other.tool && self.arguments == other.arguments
    }

    /// The name agents address the tool by: `mcp__<server>__<tool>`, or the bare name of a tool that is not an MCP tool.
    pub fn full_name(&self) -> String {
        full_name(self.server.as_deref(), &self.tool)
    }
}

/// `mcp__<server>__<tool>`; only the tool's name where no server is known.
pub fn full_name(server: Option<&str>, tool: &str) -> String {
    match server {
        Some(server) => format!("mcp__{server}__{tool}"),
        None => tool.to_owned(),
    }
}

impl Outcome {
    /// No usable answer; `message` is one sentence for people, without secrets.
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failure(Failure {
            kind,
            message: message.into(),
            code: None,
            data: None,
        })
    }

    /// What the server answered, be it an error of the tool's own; `None` where it gave no answer.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Failure(_) => None,
        }
    }

    /// The text of the answer, or what is said of the failure.
    pub fn said(&self) -> String {
        match self {
            Self::Answer(answer) => answer.text(),
            Self::Failure(failure) => failure.message.clone(),
        }
    }

    /// The same with what the server asked its client meanwhile, whatever that answered. A call that has no answer has no place for it.
    #[must_use]
    pub fn having_asked(mut self, asked: Vec<ClientAnswer>) -> Self {
        if let Self::Answer(answer) = &mut self
            && answer.other.get("_meta").is_none_or(Value::is_object)
        {
            for (number, it) in (1..).zip(asked) {
                let meta = answer.other.entry("_meta").or_insert_with(|| json!({}));
                let name = format!("{number} {}", it.kind());
                meta[ASKED][name] = it.params;
            }
        }
        self
    }

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
    /// What the server asked its client before it answered, as [`ASKED`] says.
    pub fn asked(&self) -> Option<&Object> {
        self.other.get("_meta")?.get(ASKED)?.as_object()
    }

    /// The text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// What became of a tool call.
///
/// Results of earlier programs spell two of them otherwise; those spellings are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The server answered, and the tool did not say that it failed.
    #[serde(alias = "answer")]
    Ok,
    /// The tool answered that it failed (`isError`).
    ToolError,
    /// The server returned a JSON-RPC error.
    RpcError,
    /// No answer within the tool timeout.
    Timeout,
    /// The connection ended before the answer came.
    Disconnected,
    /// An answer came that is no tool result.
    InvalidResponse,
    /// `structuredContent` breaks the tool's own `outputSchema`.
    InvalidStructuredContent,
    /// The HTTP exchange failed.
    #[serde(alias = "transport")]
    TransportError,
    /// What the agent asked for is no call that could be made.
    NotSent,
}

impl CallStatus {
    /// The status in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ok => "answered",
            Self::ToolError => "tool error",
            Self::RpcError => "JSON-RPC error",
            Self::Timeout => "no answer in time",
            Self::Disconnected => "connection ended",
            Self::InvalidResponse => "invalid response",
            Self::InvalidStructuredContent => "invalid structured content",
            Self::TransportError => "HTTP exchange failed",
            Self::NotSent => "not sent",
        }
    }

    pub fn is_failure(self) -> bool {
        self != Self::Ok
    }

    /// The kind of failure; `None` where the server gave an answer, be it good or bad.
    pub(crate) fn failure(self) -> Option<FailureKind> {
        match self {
            Self::Ok | Self::ToolError | Self::InvalidStructuredContent => None,
            Self::RpcError => Some(FailureKind::Rpc),
            Self::Timeout => Some(FailureKind::Timeout),
            Self::Disconnected => Some(FailureKind::Disconnected),
            Self::InvalidResponse => Some(FailureKind::InvalidResponse),
            Self::TransportError => Some(FailureKind::Transport),
            Self::NotSent => Some(FailureKind::NotSent),
        }
    }
}

impl From<&Outcome> for CallStatus {
    fn from(it: &Outcome) -> Self {
        match it {
            Outcome::Answer(answer) => match (&answer.breach, answer.is_error) {
                (Some(_), _) => Self::InvalidStructuredContent,
                (None, true) => Self::ToolError,
                (None, false) => Self::Ok,
            },
            Outcome::Failure(failure) => match failure.kind {
                FailureKind::Rpc => Self::RpcError,
                FailureKind::Timeout => Self::Timeout,
                FailureKind::Disconnected => Self::Disconnected,
                FailureKind::InvalidResponse => Self::InvalidResponse,
                FailureKind::Transport => Self::TransportError,
                FailureKind::NotSent => Self::NotSent,
            },
        }
    }
}

#[expect(clippy::ptr_arg, reason = "serde asks for it so")]
fn no_digits(digits: &Cow<'_, Digits>) -> bool {
    digits.is_empty()
}

#[expect(clippy::ptr_arg, reason = "serde asks for it so")]
fn no_members(members: &Cow<'_, Object>) -> bool {
    members.is_empty()
}

/// What became of a call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Outcome", expecting = "struct Outcome")]
struct StoredOutcome<'a> {
    status: CallStatus,
    /// Content blocks as served; absent without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'a, [Value]>>,
    /// `structuredContent` as served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured_content: Option<Cow<'a, Value>>,
    /// The digits of numbers in `structured_content` that 64 bits cannot hold, by JSON pointer.
    #[serde(default, skip_serializing_if = "no_digits")]
    digits: Cow<'a, Digits>,
    /// Other members of the result, as served.
    #[serde(default, skip_serializing_if = "no_members")]
    other: Cow<'a, Object>,
    /// Why there is no usable answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<CallError<'a>>,
}

/// Why there is no usable answer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct CallError<'a> {
    message: Cow<'a, str>,
    /// JSON-RPC error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    /// JSON-RPC error data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Cow<'a, Value>>,
}

impl<'a> From<&'a Outcome> for StoredOutcome<'a> {
    fn from(it: &'a Outcome) -> Self {
        let status = it.into();
        match it {
            Outcome::Answer(answer) => Self {
                status,
                content: Some(Cow::Borrowed(&answer.content)),
                structured_content: answer.structured_content.as_ref().map(Cow::Borrowed),
                digits: Cow::Borrowed(&answer.digits),
                other: Cow::Borrowed(&answer.other),
                error: answer.breach.as_deref().map(|message| CallError {
                    message: message.into(),
                    code: None,
                    data: None,
                }),
            },
            Outcome::Failure(failure) => Self {
                status,
                content: None,
                structured_content: None,
                digits: Cow::Owned(Digits::new()),
                other: Cow::Owned(Object::new()),
                error: Some(CallError {
                    message: (&failure.message).into(),
                    code: failure.code,
                    data: failure.data.as_ref().map(Cow::Borrowed),
                }),
            },
        }
    }
}

impl From<StoredOutcome<'_>> for Outcome {
    fn from(it: StoredOutcome<'_>) -> Self {
        let (message, code, data) = it
            .error
            .map(|it| {
                (
                    it.message.into_owned(),
                    it.code,
                    it.data.map(Cow::into_owned),
                )
            })
            .unwrap_or_default();
        match it.status.failure() {
            Some(kind) => Self::Failure(Failure {
                kind,
                message,
                code,
                data,
            }),
            None => Self::Answer(Answer {
                is_error: it.status == CallStatus::ToolError,
                content: it.content.unwrap_or_default().into_owned(),
                structured_content: it.structured_content.map(Cow::into_owned),
                digits: it.digits.into_owned(),
                other: it.other.into_owned(),
                breach: (it.status == CallStatus::InvalidStructuredContent).then_some(message),
            }),
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        StoredOutcome::from(self).serialize(to)
    }
}

impl JsonSchema for Outcome {
    fn schema_name() -> Cow<'static, str> {
        StoredOutcome::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        StoredOutcome::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::CallStatus;

    #[test]
    fn earlier_spellings_are_read_and_one_is_written() {
        for (read, written) in [
            ("answer", "ok"),
            ("ok", "ok"),
            ("transport", "transport_error"),
            ("transport_error", "transport_error"),
            ("tool_error", "tool_error"),
        ] {
            let status: CallStatus = serde_json::from_value(read.into()).expect("it is known");
            assert_eq!(serde_json::to_value(status).expect("it is plain"), written);
        }
    }
}
