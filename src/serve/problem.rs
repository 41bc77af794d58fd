//! Replies that say why not.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::wire::reply::{ErrorReply, Misfit};
use crate::http_server::Refusal;
use crate::redact;

/// Why a request is not fulfilled.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    message: String,
    findings: Vec<Misfit>,
    /// After how many seconds the same may succeed.
    retry_after: Option<u32>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            findings: Vec::new(),
            retry_after: None,
        }
    }

    /// The request is malformed here.
    pub(super) fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::malformed(vec![Misfit {
            path: path.into(),
            message,
        }])
    }

    /// The request is malformed in these places.
    pub(super) fn malformed(findings: Vec<Misfit>) -> Self {
        let message = match findings.as_slice() {
            [only] => only.message.clone(),
            several => format!("the request is malformed in {} places", several.len()),
        };
        Self {
            findings,
            ..Self::new(StatusCode::BAD_REQUEST, message)
        }
    }

    /// Whoever started the server does not allow that.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// The same of what is at this place in the request.
    pub(super) fn forbidden_at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::FORBIDDEN,
            ..Self::at(path, message)
        }
    }

    pub(super) fn unknown(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// A fault of ours.
    pub(super) fn ours(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// There is no room now.
    pub(super) fn full() -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "as many runs wait as may: try again later",
            )
        }
    }

    /// The server is about to end.
    pub(super) fn ending() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is ending")
    }

    /// The same that begins the places of its findings with another.
    #[must_use]
    pub(super) fn below(mut self, path: &str) -> Self {
        for it in &mut self.findings {
            it.path.insert_str(0, path);
        }
        self
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn into_reply(self) -> ErrorReply {
        let clean = |text: String| redact::environment().text(&text).into_inner();
        ErrorReply {
            error: clean(self.message),
            findings: (self.findings.into_iter())
                .map(|it| Misfit {
                    path: it.path,
                    message: clean(it.message),
                })
                .collect(),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(it: Refusal) -> Self {
        Self::new(it.status, it.message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status, self.retry_after);
        let mut response = (status, Json(self.into_reply())).into_response();
        if let Some(seconds) = retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
