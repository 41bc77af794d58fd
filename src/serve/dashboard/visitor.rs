//! Visitors of the dashboard, their sessions, and what forms must bring.

use std::sync::Arc;
use std::time::Duration;

use axum::Form;
use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde::Deserialize;

use super::reply::{elsewhere, own_page, refused};
use crate::http_server::is_secret;
use crate::report::html::dashboard;
use crate::serve::sessions::Visitor;
use crate::serve::{Problem, Server};

/// How long a browser may take to send a form.
const PATIENCE: Duration = Duration::from_secs(10);

impl FromRequestParts<Arc<Server>> for Visitor {
    type Rejection = Response;

    /// Whoever is not known is asked for the token.
    async fn from_request_parts(
        parts: &mut Parts,
        server: &Arc<Server>,
    ) -> Result<Self, Self::Rejection> {
        let visitor = server.sessions.visitor(&parts.headers);
        visitor.ok_or_else(|| own_page(StatusCode::UNAUTHORIZED, dashboard::sign_in(None)))
    }
}

/// What forms bring.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Fields {
    csrf: String,
    /// Of the form that signs in.
    pub(super) token: String,
    /// The id of a scenario.
    pub(super) scenario: String,
    /// What is to be done with it.
    pub(super) command: String,
    pub(super) decision: String,
    /// The run that was looked at.
    pub(super) run: String,
    /// There where a run is accepted although it failed by itself.
    pub(super) allow_failing: Option<String>,
}

/// A form of one of our own pages, and whoever sent it.
pub(super) struct Sent {
    pub(super) visitor: Visitor,
    pub(super) fields: Fields,
}

impl FromRequest<Arc<Server>> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, Self::Rejection> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, server).await?;
        let fields = fields(Request::from_parts(parts, body)).await;
        let refuse = |problem| refused(server, &visitor, problem);
        let fields = fields.map_err(refuse)?;
        if !is_secret(&fields.csrf, &visitor.csrf) {
            return Err(refuse(Problem::forbidden(
                "The form is not one of this session: load the page again, and send it once more.",
            )));
        }
        Ok(Self { visitor, fields })
    }
}

/// What a form brings, whoever sent it.
///
/// # Errors
///
/// When it is none, or does not come in time.
pub(super) async fn fields(request: Request) -> Result<Fields, Problem> {
    let read = tokio::time::timeout(PATIENCE, Form::<Fields>::from_request(request, &()));
    match read.await {
        Ok(Ok(Form(fields))) => Ok(fields),
        Ok(Err(_)) => Err(Problem::at("", "The form cannot be read.")),
        Err(_) => {
            let message = "The form did not come in time.";
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, message))
        }
    }
}

/// `POST /session`: the token, once.
pub(super) async fn sign_in(State(server): State<Arc<Server>>, request: Request) -> Response {
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
