//! What became of a call, and a place in its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::binding;
use crate::model::trajectory::{FailureKind, Outcome};

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

/// A place in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The call that was answered, counted from 1 among the scored calls of its trajectory; in a comparison, of the baseline.
    pub call: usize,
    /// JSON pointer into the structured content or the text as JSON; from `/content` or `/structuredContent` on a path into the answer.
    pub path: String,
}

impl From<&binding::Source> for Source {
    fn from(it: &binding::Source) -> Self {
        Self {
            call: it.call,
            path: it.path.clone(),
        }
    }
}

impl From<Source> for binding::Source {
    fn from(it: Source) -> Self {
        Self {
            call: it.call,
            path: it.path,
        }
    }
}

/// Places in the answer to one call that vary by nature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolatilePlaces {
    /// The number of the call, counted from 1 among the scored calls.
    pub call: usize,
    /// Paths into the response, such as `/content/0/json/servers/3/id`.
    pub paths: Vec<String>,
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
