//! The errors of transports: their causes, and those of the older transport.

use std::error::Error;
use std::time::Duration;

use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Whether the server did not even take the connection.
pub(super) fn is_unreachable(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|it| {
        it.downcast_ref::<reqwest::Error>()
            .is_some_and(reqwest::Error::is_connect)
    })
}

/// Whether nothing listens at the server's address.
pub(super) fn is_refused(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|it| {
        it.downcast_ref::<std::io::Error>()
            .is_some_and(|it| it.kind() == std::io::ErrorKind::ConnectionRefused)
    })
}

/// What went wrong, without the layers it went through: of an HTTP client's error the cause at its root.
pub(super) fn root(error: &(dyn Error + 'static)) -> String {
    let streamable = causes(error).find_map(|it| it.downcast_ref());
    if let Some(why) = streamable.and_then(in_words) {
        return why;
    }
    let is_http = causes(error).any(<dyn Error>::is::<reqwest::Error>);
    let cause = if is_http { causes(error).last() } else { None };
    cause.unwrap_or(error).to_string()
}

/// What rmcp says of an exchange, in our words; `None` of an error of the HTTP client.
fn in_words(error: &StreamableHttpError<reqwest::Error>) -> Option<String> {
    match error {
        StreamableHttpError::Client(_) => None,
        StreamableHttpError::UnexpectedServerResponse(why) => Some(why.to_string()),
        StreamableHttpError::Deserialize(_) => Some("the answer is not an MCP message".to_owned()),
        other => Some(other.to_string()),
    }
}

/// An error and its causes, outermost first.
pub(super) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

/// rmcp wraps the HTTP client's error without naming it as its source.
fn cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::Client(client)) => Some(client),
        _ => error.source(),
    }
}

/// Whether the other side had closed its end.
pub(super) fn is_closed(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    let streamable = error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    matches!(
        streamable,
        Some(StreamableHttpError::TransportChannelClosed)
    ) || (error.downcast_ref::<std::io::Error>())
        .is_some_and(|it| it.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Why it cannot be spoken to, or does not take a message.
#[derive(Debug, thiserror::Error)]
pub(super) enum LegacyError {
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
