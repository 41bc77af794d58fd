//! How a call went, in a word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::call::{FailureKind, Outcome};

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
