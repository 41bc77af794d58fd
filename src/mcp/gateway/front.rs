//! What passes between an agent and the gateway over HTTP, whatever server is behind it.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Response, StatusCode};

use super::call_tap::Exchange;
use crate::http_server::{JSON, Refusal, respond};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// A response, or why the request is refused.
pub(super) type Answer = Result<Response<Body>, Refusal>;

/// The server behind us gives no answer.
pub(super) fn bad_gateway(exchange: &Exchange, why: &str) -> Response<Body> {
    let refusal = exchange.refusal(why);
    respond(StatusCode::BAD_GATEWAY, Some(JSON), refusal.into())
}

pub(super) fn header_text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    let value = headers.get(name).and_then(|it| it.to_str().ok());
    value.unwrap_or_default()
}
