//! What became of a call, as it is stored: one level deep, with one word for how it went.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::model::call::{Answer, Failure, Outcome};
use crate::model::call_status::CallStatus;
use crate::model::{Digits, Object};

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
pub(super) struct StoredOutcome<'a> {
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
