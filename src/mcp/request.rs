//! One request and what came back: the result as it came over the wire, or why there is none.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

use rmcp::model::ClientRequest;
use rmcp::service::{PeerRequestOptions, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Value, json};

use crate::digits;
use crate::mcp::answering::Connection;
use crate::mcp::era;
use crate::mcp::transport_error::{LegacyError, causes, is_closed, is_unreachable, root};
use crate::mcp::wire::{Reply, Wire};
use crate::model::{Answer, Digits, Failure, FailureKind, Outcome};
use crate::text::beginning;

/// The end of messages about a connection that was closed: how the process ended is added behind it.
pub(super) const CLOSED: &str = "closed the connection";

/// A server over HTTP does not know the session any more that it has begun.
pub(super) const LOST_SESSION: &str =
    "has lost the session: it answered HTTP 404 to the session id that it gave";

/// Why a request has no result.
pub(super) enum Refused {
    /// A JSON-RPC error object.
    Error(Value),
    Invalid(String),
    /// The server wanted to know something from its client that nobody answers.
    Unanswered(String),
    Timeout,
    /// The connection is gone.
    Gone(String),
    /// Nobody took the connection, so that nothing was asked.
    Unreachable(String),
    /// The server does not know the session any more, and so has not executed the request.
    LostSession,
    /// This exchange failed; the next one may work.
    Exchange(String),
    /// The server is too busy, says so with this HTTP status, and asks to be asked again after so many seconds.
    Busy(u16, f64),
}

/// Sends a request and returns the result exactly as it came over the wire, long integers as [`digits`] marks them.
pub(super) async fn request_raw(
    service: &Connection,
    wire: &Wire,
    request: ClientRequest,
    timeout: Duration,
) -> Result<Value, Refused> {
    let options = PeerRequestOptions::with_timeout(timeout);
    let sent = tokio::time::timeout(
        timeout,
        service.peer().send_cancellable_request(request, options),
    )
    .await;
    let handle = match sent {
        Ok(Ok(handle)) => handle,
        Ok(Err(error)) => return Err(refused(error)),
        Err(_) => return Err(Refused::Timeout),
    };
    let id = serde_json::to_value(&handle.id).unwrap_or(Value::Null);
    // The wire first: it has the answer before rmcp has interpreted it, and also the answers rmcp cannot make sense of and would
    // silently wait past.
    let answer = wire.answer(&id);
    tokio::pin!(answer);
    let reply = tokio::select! {
        biased;
        reply = &mut answer => reply,
        response = handle.await_response() => match response {
            Err(error) => return Err(refused(error)),
            // It has come over the wire meanwhile. What rmcp has made of it lacks what rmcp does not know.
            Ok(_) => match tokio::time::timeout(timeout, answer).await {
                Ok(reply) => reply,
                Err(_) => return Err(Refused::Timeout),
            },
        },
    };
    match reply {
        Reply::Result(result) => Ok(result),
        Reply::Error(error) => Err(Refused::Error(error)),
        Reply::Invalid(problem) => Err(Refused::Invalid(problem)),
    }
}

fn refused(error: ServiceError) -> Refused {
    match error {
        ServiceError::McpError(error) => {
            Refused::Error(serde_json::to_value(error).unwrap_or(Value::Null))
        }
        ServiceError::TransportClosed => Refused::Gone(CLOSED.to_owned()),
        ServiceError::TransportSend(error) if is_closed(error.error.as_ref()) => {
            Refused::Gone(CLOSED.to_owned())
        }
        ServiceError::TransportSend(error) if is_expired(error.error.as_ref()) => {
            Refused::LostSession
        }
        ServiceError::TransportSend(error) if let Some(busy) = busy(error.error.as_ref()) => busy,
        ServiceError::TransportSend(error) => {
            let unreachable = is_unreachable(error.error.as_ref());
            let problem = root(error.error.as_ref());
            if unreachable {
                Refused::Unreachable(format!("cannot be reached: {problem}"))
            } else {
                Refused::Exchange(problem)
            }
        }
        ServiceError::Timeout { .. } => Refused::Timeout,
        _ => Refused::Exchange("the request was given up before its answer came".to_owned()),
    }
}

/// Whether the server does not know the session any more.
fn is_expired(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|it| {
        matches!(
            it.downcast_ref(),
            Some(StreamableHttpError::<reqwest::Error>::SessionExpired)
        ) || matches!(it.downcast_ref(), Some(LegacyError::SessionLost(_)))
    })
}

/// That the server is too busy and asks to be asked again.
fn busy(error: &(dyn Error + 'static)) -> Option<Refused> {
    causes(error).find_map(|it| match it.downcast_ref()? {
        StreamableHttpError::<reqwest::Error>::HttpStatus(it) => {
            let seconds = it.retry_after.as_ref()?.parse().ok()?;
            Some(Refused::Busy(it.status, seconds))
        }
        _ => None,
    })
}

/// The outcome of a call for which the server is too busy.
pub(super) fn too_busy(status: u16, seconds: f64) -> Outcome {
    Outcome::Failure(Failure {
        kind: FailureKind::Transport,
        message: Refused::Busy(status, seconds).describe(),
        code: None,
        data: Some(json!({ "status": status, "retry_after": seconds })),
    })
}

impl Refused {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Error(error) => read_error(error).message,
            Self::Invalid(problem)
            | Self::Unanswered(problem)
            | Self::Exchange(problem)
            | Self::Gone(problem)
            | Self::Unreachable(problem) => problem.clone(),
            Self::LostSession => LOST_SESSION.to_owned(),
            Self::Busy(status, seconds) => {
                format!("too busy: HTTP {status}, and it asks to be asked again after {seconds} s")
            }
            Self::Timeout => "no answer in time".to_owned(),
        }
    }
}

fn read_error(error: &Value) -> Failure {
    let mut error = error.clone();
    digits::take(&mut error);
    // Some say only what went wrong.
    let message = error.get("message").unwrap_or(&error);
    let message = message.as_str().unwrap_or("without a message");
    Failure {
        kind: FailureKind::Rpc,
        message: message.to_owned(),
        code: error.get("code").and_then(Value::as_i64),
        data: error.get("data").filter(|it| !it.is_null()).cloned(),
    }
}

/// What a reply to `tools/call` means.
pub(super) fn outcome(reply: Reply) -> Outcome {
    let invalid = |problem| {
        let message = format!("no valid tool result: {problem}");
        Outcome::failed(FailureKind::InvalidResponse, message)
    };
    match reply {
        Reply::Result(result) => read_answer(result).map_or_else(invalid, Outcome::Answer),
        Reply::Error(error) => Outcome::Failure(read_error(&error)),
        Reply::Invalid(problem) => invalid(problem),
    }
}

/// Reads a `CallToolResult`, keeping what it does not know.
fn read_answer(result: Value) -> Result<Answer, String> {
    let mut other = match era::without_envelope(result) {
        Value::Object(other) => other,
        wrong => {
            return Err(format!(
                "the result is not an object: {}",
                excerpt(&wrong.to_string())
            ));
        }
    };
    let is_error = match other.remove("isError") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_error)) => is_error,
        Some(wrong) => {
            return Err(format!(
                "`isError` is not a boolean: {}",
                excerpt(&wrong.to_string())
            ));
        }
    };
    let mut structured_content = other.remove("structuredContent").filter(|it| !it.is_null());
    let digits = (structured_content.as_mut()).map_or_else(Digits::new, digits::take);
    digits::take_from(&mut other);
    let content = match other.remove("content") {
        Some(Value::Array(content)) => content,
        // Structured answers without text were common before the specification asked for both.
        None if structured_content.is_some() => Vec::new(),
        None => {
            return Err(format!(
                "`content` is missing: {}",
                excerpt(&Value::Object(other).to_string())
            ));
        }
        Some(wrong) => {
            return Err(format!(
                "`content` is not a list: {}",
                excerpt(&wrong.to_string())
            ));
        }
    };
    if let Some(wrong) = content
        .iter()
        .find(|it| !it.get("type").is_some_and(Value::is_string))
    {
        return Err(format!(
            "a content block has no type: {}",
            excerpt(&wrong.to_string())
        ));
    }
    Ok(Answer {
        is_error,
        content,
        structured_content,
        digits,
        other,
        breach: None,
    })
}

pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    beginning(text, 200)
}
