//! What can go wrong with a server of the older transport.

use std::time::Duration;

/// Why it cannot be spoken to, or does not take a message.
#[derive(Debug, thiserror::Error)]
pub(in crate::mcp) enum LegacyError {
    #[error("{0}")]
    Http(#[source] reqwest::Error),
    /// A response that takes no message, or is no stream.
    #[error("{0}")]
    Answer(String),
    /// The endpoint does not know the session: what was sent was not executed.
    #[error("{0}")]
    SessionLost(String),
    #[error("its event stream names no endpoint: {0}")]
    NoEndpoint(String),
    #[error("it wants messages at {0}, which is another server")]
    Elsewhere(String),
    #[error("the message was not taken within {0:?}")]
    Late(Duration),
    #[error("the message cannot be written: {0}")]
    Unwritable(#[source] serde_json::Error),
}

impl From<reqwest::Error> for LegacyError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}
