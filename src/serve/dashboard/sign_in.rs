//! Sessions begin and end.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;

use super::reply::{elsewhere, own_page};
use super::visitor::{Sent, fields};
use crate::http_server::is_secret;
use crate::report::html::dashboard;
use crate::serve::server::Server;

/// `POST /session`: the token, once.
pub(super) async fn post(State(server): State<Arc<Server>>, request: Request) -> Response {
    let Some(token) = &server.options.token else {
        return elsewhere("/", None);
    };
    let shown = fields(request).await;
    let is_right = shown.is_ok_and(|it| is_secret(it.token.trim(), token));
    if !is_right {
        return again("That is not the token of this server.");
    }
    begun(server.sessions.begin().ok())
}

/// `GET /sign-in/{code}`: the link that was printed when the server was started.
pub(super) async fn by_code(
    State(server): State<Arc<Server>>,
    method: Method,
    Path(code): Path<String>,
) -> Response {
    if method == Method::HEAD {
        // Whoever only looks whether a page is there signs nobody in.
        return own_page(StatusCode::OK, dashboard::sign_in(None));
    }
    if server.options.token.is_none() {
        return elsewhere("/", None);
    }
    match server.sessions.begin_by(&code) {
        Ok(None) => again(
            "The link signs in once, and this one has been used or is that of another server. The token signs in.",
        ),
        Ok(Some(cookie)) => begun(Some(cookie)),
        Err(_) => begun(None),
    }
}

/// The address of a form is no page: somebody has loaded anew what came of one.
pub(super) async fn first_page() -> Response {
    elsewhere("/", None)
}

/// `POST /sign-out`.
pub(super) async fn end(State(server): State<Arc<Server>>, sent: Sent) -> Response {
    let cookie = server.sessions.end(&sent.visitor);
    elsewhere("/", Some(&cookie))
}

fn begun(cookie: Option<String>) -> Response {
    match cookie {
        Some(cookie) => elsewhere("/", Some(&cookie)),
        None => again("No session can be begun, because the system has no randomness to give."),
    }
}

fn again(problem: &str) -> Response {
    let page = dashboard::sign_in(Some(problem));
    own_page(StatusCode::UNAUTHORIZED, page)
}
