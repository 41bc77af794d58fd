//! Access to the server. A page in a browser must reach us neither by a name that leads to this machine, nor from another site, and nobody may who
//! does not know the token.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, HOST,
    ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::{Problem, Server, dashboard, routes};
use crate::http_server::{host_is_known, shows_token};

/// Lets a request pass, or says why not.
pub(super) async fn guard(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = match site(&server, request.headers()) {
        Ok(origin) => origin,
        Err(problem) => return problem.into_response(),
    };
    let mut response = if request.method() == Method::OPTIONS && origin.is_some() {
        preflight()
    } else if let Err(problem) = known(&server, &request) {
        problem.into_response()
    } else {
        let answering = AssertUnwindSafe(next.run(request)).catch_unwind();
        let broken = "the server itself failed on this request: this is a bug";
        let answer = answering.await;
        answer.unwrap_or_else(|_| Problem::ours(broken).into_response())
    };
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(VARY, HeaderValue::from_name(ORIGIN));
    }
    response
}

/// The request comes from no page but our own, or one of an origin that is allowed: that one is returned.
fn site(server: &Server, headers: &HeaderMap) -> Result<Option<HeaderValue>, Problem> {
    let allowed = &server.options.allowed;
    if !allowed.any_host {
        host_is_known(headers, &[])?;
    }
    let refused = || {
        Err(Problem::forbidden(
            "requests from pages of others are not allowed",
        ))
    };
    let Some(origin) = headers.get(ORIGIN) else {
        // Browsers say so where a page of another site asks in a way that needs no origin.
        return match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
            None | Some(b"same-origin" | b"none") => Ok(None),
            Some(_) => refused(),
        };
    };
    let Ok(text) = origin.to_str() else {
        return refused();
    };
    if allowed.origins.iter().any(|it| it == text) {
        return Ok(Some(origin.clone()));
    }
    let host = headers.get(HOST).and_then(|it| it.to_str().ok());
    let own = host.is_some_and(|it| text == format!("http://{it}"));
    if own { Ok(None) } else { refused() }
}

/// The request shows the token, where that is wanted.
fn known(server: &Server, request: &Request) -> Result<(), Problem> {
    let Some(token) = &server.options.token else {
        return Ok(());
    };
    let path = request.uri().path();
    if routes::is_open(request.method(), path) || dashboard::is_page(path) {
        return Ok(());
    }
    Ok(shows_token(request.headers(), token)?)
}

/// What a browser asks before a page of another origin may send a request.
fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PUT, DELETE"),
    );
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, last-event-id"),
    );
    response
}
