//! Pages with their headers, none of which waits longer than somebody does.

use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY,
    SET_COOKIE,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use crate::redact;
use crate::report::html::{self, dashboard};
use crate::serve::sessions::Visitor;
use crate::serve::{Problem, Server};
use crate::store::database::DatabaseError;

/// What all policies say.
const COMMON: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/// What the dashboard's own pages may do: nothing but our style sheet and our script, which hears what happens.
static OWN: LazyLock<String> = LazyLock::new(|| {
    let (style, script) = (dashboard::style_hash(), dashboard::script_hash());
    format!(
        "{COMMON}; form-action 'self'; connect-src 'self'; img-src data:; style-src '{style}'; script-src '{script}'"
    )
});

/// What pages of the report may do: as they say themselves, which place bars by attributes.
static REPORT: LazyLock<String> = LazyLock::new(|| {
    let scripts = html::script_hashes().map(|it| format!("'{it}'")).join(" ");
    format!(
        "{COMMON}; form-action 'self'; img-src data:; style-src 'unsafe-inline'; script-src {scripts}"
    )
});

const HTML: &str = "text/html; charset=utf-8";

/// A page of the dashboard itself.
pub(super) fn own_page(status: StatusCode, html: String) -> Response {
    reply(status, HTML, &OWN, html.into())
}

/// A page of the report.
pub(super) fn report_page(html: String) -> Response {
    reply(StatusCode::OK, HTML, &REPORT, html.into())
}

/// A file that a page leads to, as text.
pub(super) fn file(content: Vec<u8>) -> Response {
    let policy = format!("{COMMON}; sandbox");
    reply(
        StatusCode::OK,
        "text/plain; charset=utf-8",
        &policy,
        content.into(),
    )
}

fn reply(status: StatusCode, kind: &'static str, policy: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    private(response)
}

/// Nobody keeps it, and nobody else learns of it.
fn private(mut response: Response) -> Response {
    let headers: [(HeaderName, &'static str); 2] = [
        (CACHE_CONTROL, "no-store"),
        // With `no-referrer`, browsers would not say of a form that it is ours.
        (REFERRER_POLICY, "same-origin"),
    ];
    for (name, value) in headers {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Leads to another page of ours; with a cookie, where one is to be set.
pub(super) fn elsewhere(path: &str, cookie: Option<&str>) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    if let Ok(path) = HeaderValue::from_str(path) {
        headers.insert(LOCATION, path);
    }
    if let Some(cookie) = cookie.and_then(|it| HeaderValue::from_str(it).ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    private(response)
}

/// The page that says why not.
pub(super) fn refused(server: &Server, visitor: &Visitor, problem: Problem) -> Response {
    let status = problem.status();
    let reply = problem.into_reply();
    let title = match status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => "Not now",
        _ => "That did not work",
    };
    let said = server.sessions.said(visitor);
    let findings: Vec<String> = (reply.findings.into_iter())
        .map(|it| it.message)
        .filter(|it| *it != reply.error)
        .collect();
    let frame = frame(visitor, said.as_deref());
    let page = dashboard::problem(frame, title, &sentence(&reply.error), &findings);
    own_page(status, page)
}

/// What all pages have in common for somebody.
pub(super) fn frame<'a>(visitor: &'a Visitor, said: Option<&'a str>) -> dashboard::Frame<'a> {
    dashboard::Frame {
        csrf: &visitor.csrf,
        signed_in: visitor.is_signed_in(),
        said,
    }
}

/// A message as a sentence.
pub(super) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let text: String = first.chain(letters).collect();
    if text.ends_with(['.', '!', '?']) {
        text
    } else {
        format!("{text}.")
    }
}

/// How long a page waits for what it shows.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the database answers.
///
/// # Errors
///
/// Why it does not, in a sentence.
pub(super) async fn answered<T>(
    asked: impl Future<Output = Result<T, DatabaseError>>,
) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(redact::environment().text(&error.to_string()).into_inner()),
        Err(_) => Err(format!(
            "The results database has not answered within {} seconds.",
            PATIENCE.as_secs()
        )),
    }
}

/// What comes of work on files.
///
/// # Errors
///
/// That it took too long, in a sentence; it goes on without anybody waiting.
pub(super) async fn read<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(_)) => Err("Reading files failed: this is a bug.".to_owned()),
        Err(_) => Err(format!(
            "The files could not be read within {} seconds.",
            PATIENCE.as_secs()
        )),
    }
}
