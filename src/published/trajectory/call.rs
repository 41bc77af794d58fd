//! A call and what became of it, as trajectories say it.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::trajectory::{self, Answer, Failure, ToolCall};
use crate::model::{Digits, Object};
use crate::published::call::CallStatus;

/// A tool call with its outcome.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Call<'a> {
    /// The server, or null for a tool that is not an MCP tool.
    pub(super) server: Option<Cow<'a, str>>,
    pub(super) tool: Cow<'a, str>,
    pub(super) arguments: Cow<'a, Object>,
    /// The digits of numbers in the arguments that 64 bits cannot hold, by JSON pointer.
    #[serde(default, skip_serializing_if = "no_digits")]
    pub(super) digits: Cow<'a, Digits>,
    pub(super) outcome: Outcome<'a>,
    /// Offset from the start of the run in milliseconds, or null.
    pub(super) start_ms: Option<f64>,
    /// Time to the outcome in milliseconds, or null.
    pub(super) duration_ms: Option<f64>,
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
pub(super) struct Outcome<'a> {
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
pub(super) struct CallError<'a> {
    message: Cow<'a, str>,
    /// JSON-RPC error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    /// JSON-RPC error data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Cow<'a, Value>>,
}

/// Nor does any of these calls, which are called so.
pub(super) fn check_call_durations<'c>(
    calls: impl Iterator<Item = &'c Call<'c>>,
    name: &str,
) -> Result<(), String> {
    let is_negative = |it: &f64| *it < 0.0;
    let wrong = (1..)
        .zip(calls)
        .find_map(|(number, it)| Some((number, it.duration_ms.filter(is_negative)?)));
    match wrong {
        Some((number, it)) => Err(format!(
            "the `duration_ms` of {name} {number} is {it}, and no call takes less than 0 ms"
        )),
        None => Ok(()),
    }
}

/// Which calls there are, for a number that is none of them: `its calls are 1 to 3`.
pub(super) fn there_are(calls: usize) -> String {
    match calls {
        0 => "it has no calls".to_owned(),
        1 => "its only call is 1".to_owned(),
        last => format!("its calls are 1 to {last}"),
    }
}

impl<'a> From<&'a ToolCall> for Call<'a> {
    fn from(it: &'a ToolCall) -> Self {
        Self {
            server: it.server.as_deref().map(Into::into),
            tool: (&it.tool).into(),
            arguments: Cow::Borrowed(&it.arguments),
            digits: Cow::Borrowed(&it.digits),
            outcome: (&it.outcome).into(),
            start_ms: it.start_ms,
            duration_ms: it.duration_ms,
        }
    }
}

impl From<Call<'_>> for ToolCall {
    fn from(it: Call<'_>) -> Self {
        Self {
            server: it.server.map(Cow::into_owned),
            tool: it.tool.into_owned(),
            arguments: it.arguments.into_owned(),
            digits: it.digits.into_owned(),
            outcome: it.outcome.into(),
            again: Vec::new(),
            start_ms: it.start_ms,
            duration_ms: it.duration_ms,
        }
    }
}

impl<'a> From<&'a trajectory::Outcome> for Outcome<'a> {
    fn from(it: &'a trajectory::Outcome) -> Self {
        let status = it.into();
        match it {
            trajectory::Outcome::Answer(answer) => Self {
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
            trajectory::Outcome::Failure(failure) => Self {
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

impl From<Outcome<'_>> for trajectory::Outcome {
    fn from(it: Outcome<'_>) -> Self {
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
