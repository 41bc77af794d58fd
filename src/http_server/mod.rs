//! The shared parts of our own HTTP servers: who is let in, how many connections, reading bodies, writing answers.

mod connections;
mod guard;

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::http::{Response, StatusCode};
use bytes::BytesMut;
use futures_util::StreamExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::connections::{MOST, SILENCE, accept};
pub use self::guard::{
    Refusal, accepts, from_own_pages, host_is_known, is_json, is_secret, same_site, shows_token,
    unguessable,
};

pub const JSON: &str = "application/json";
pub const EVENT_STREAM: &str = "text/event-stream";

/// How long the last answers may take to be sent.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// How long a client may take to send the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// How many times as long as it may be a body is that is taken to its end.
const TOO_LONG: usize = 8;

/// Answers until `stop` is cancelled. Answers that are under way then go on for as long as their handlers do.
pub async fn serve(listener: TcpListener, router: Router, stop: &CancellationToken) {
    accept(listener, router, stop, (MOST, SILENCE)).await;
}

/// Answers until `stop` is cancelled; answers that are under way then go on until `ending` is over, and are sent.
pub async fn serve_until(
    listener: TcpListener,
    router: Router,
    stop: &CancellationToken,
    ending: impl Future<Output = ()>,
) {
    let serving = async {
        let places = accept(listener, router, stop, (MOST, SILENCE)).await;
        // All are free once nothing is under way.
        let _all = places.acquire_many(MOST.into()).await;
    };
    let mut serving = std::pin::pin!(serving);
    let mut ending = std::pin::pin!(ending);
    tokio::select! {
        () = &mut serving => ending.await,
        () = &mut ending => {
            let _ = tokio::time::timeout(LAST_ANSWERS, serving).await;
        }
    }
}

/// The whole body of a request.
///
/// # Errors
///
/// When it is longer than `max_body` bytes, or too slow.
pub async fn read_body(body: Body, max_body: usize) -> Result<Bytes, Refusal> {
    let refuse = |status, message: String| Refusal { status, message };
    let read = tokio::time::timeout(BODY_TIMEOUT, bytes(body, max_body)).await;
    let read = read.map_err(|_| {
        let message = "the body did not come in time";
        refuse(StatusCode::REQUEST_TIMEOUT, message.to_owned())
    })?;
    read.map_err(|_| {
        let message = format!("the body is longer than {max_body} bytes, or it broke off");
        refuse(StatusCode::PAYLOAD_TOO_LARGE, message)
    })
}

/// The bytes of a body, unless they are more than `max_body`. What is too long is taken to its end, as far as that is not far away: who is
/// still sending would not hear the answer.
async fn bytes(body: Body, max_body: usize) -> Result<Bytes, axum::Error> {
    let mut parts = body.into_data_stream();
    let mut read = BytesMut::new();
    let mut length = 0;
    while let Some(part) = parts.next().await {
        let part = part?;
        length += part.len();
        if length <= max_body {
            read.extend_from_slice(&part);
        } else if length > max_body.saturating_mul(TOO_LONG) {
            break;
        }
    }
    if length > max_body {
        return Err(axum::Error::new("too long"));
    }
    Ok(read.freeze())
}

/// A response of this type.
pub fn respond(status: StatusCode, kind: Option<&'static str>, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Some(kind) = kind {
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    response
}

/// A response that is a stream of events.
pub fn stream_response(body: Body) -> Response<Body> {
    let mut response = respond(StatusCode::OK, Some(EVENT_STREAM), body);
    let headers = response.headers_mut();
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    // A proxy in between passes events on as they come.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A message as an event of a stream.
pub fn event(message: &str) -> String {
    let mut event = String::with_capacity(message.len() + 24);
    event.push_str("event: message\n");
    // A line break within a message, which only a declared raw text can have, begins another line of data.
    for line in message.split('\n') {
        event.push_str("data: ");
        event.push_str(line);
        event.push('\n');
    }
    event.push('\n');
    event
}
