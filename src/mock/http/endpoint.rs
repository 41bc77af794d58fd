//! The MCP endpoint: POST sends a message, GET opens the stream of messages that belong to no request, DELETE ends a session.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use futures_util::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::mirrored;
use crate::http_server::{
    EVENT_STREAM, JSON, Refusal, accepts, event, is_json, read_body, respond, same_site,
    stream_response,
};
use crate::mock::exchange::Delivery;
use crate::mock::receive::{Outgoing, Received};
use crate::mock::service::{Service, Session};
use crate::mock::wire::{self, INVALID_REQUEST, Id, Incoming};
use crate::protocol::{self, Era};
use crate::scenario_file::mock::{HttpResponses, MockTool};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(protocol::VERSION_HEADER);

pub(super) async fn handle(State(front): State<Front>, request: Request) -> Response<Body> {
    let has_sessions = front.service.core().speaks(Era::Legacy);
    let answered = match *request.method() {
        Method::POST => post(&front, request).await,
        Method::GET if has_sessions => get(&front, request.headers()),
        Method::DELETE if has_sessions => delete(&front, request.headers()),
        _ => return not_allowed(has_sessions),
    };
    answered.unwrap_or_else(|refusal| refused(&refusal))
}

fn not_allowed(has_sessions: bool) -> Response<Body> {
    let allowed = if has_sessions {
        "GET, POST, DELETE"
    } else {
        "POST"
    };
    let message = format!("the endpoint takes {allowed}");
    let mut response = refused(&Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

async fn post(front: &Front, request: Request) -> Result<Response<Body>, Refusal> {
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    same_site(&headers, front.options.any_host)?;
    is_json(&headers)?;
    accepts(&headers, &[JSON, EVENT_STREAM])?;
    let bytes = read_body(body, front.options.max_body).await?;
    let message = Incoming::read(&bytes);
    let service = &front.service;
    let method = match &message {
        Incoming::Request { method, .. } => method.as_str(),
        _ => "",
    };
    let mut new_session = None;
    let session = if let Incoming::Request { id, method, params } = &message
        && service
            .core()
            .is_stateless(method, params, is_marked(&headers))
    {
        if let Err(problem) = mirrored::check(service, &headers, method, params) {
            let error = wire::error(protocol::HEADER_MISMATCH, &problem);
            let reply = wire::error_reply(id, &error);
            return Ok(respond(StatusCode::BAD_REQUEST, Some(JSON), reply.into()));
        }
        Arc::new(Session::of_one_request())
    } else if method == "initialize" {
        let id = Uuid::new_v4().to_string();
        let session = service.open(&id);
        new_session = Some(id);
        session
    } else {
        check_version(service, &headers, method)?;
        // Requests without a session are answered too, so that the mock can be tried without a handshake.
        known_session(front, &headers)?.unwrap_or_default()
    };
    let mut response = match service.handle(&session, message) {
        Received::Nothing => respond(StatusCode::ACCEPTED, None, Body::empty()),
        Received::Refused(reply) => respond(StatusCode::BAD_REQUEST, Some(JSON), reply.into()),
        Received::Now(delivery) => deliver(front, delivery).await,
        Received::Later(running) => {
            let (out, mut outgoing) = mpsc::channel(16);
            tokio::spawn(running.drive(out));
            match outgoing.recv().await {
                // The request was cancelled, so there is no answer.
                None => respond(StatusCode::ACCEPTED, None, Body::empty()),
                Some(Outgoing::Last(delivery)) => deliver(front, delivery).await,
                Some(first) => stream_response(events(front.clone(), first, outgoing)),
            }
        }
    };
    if let Some(id) = new_session.and_then(|it| HeaderValue::try_from(it).ok()) {
        response.headers_mut().insert(SESSION_ID, id);
    }
    Ok(response)
}

fn get(front: &Front, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
    same_site(headers, front.options.any_host)?;
    accepts(headers, &[EVENT_STREAM])?;
    check_version(&front.service, headers, "")?;
    let session = known_session(front, headers)?.ok_or_else(no_session)?;
    let taken_over = session.take_over();
    let messages = stream::unfold(session, async |session| {
        let message = session.outbox.next().await;
        Some((message, session))
    });
    let messages = messages.take_until(taken_over.cancelled_owned());
    Ok(stream_response(endless(messages)))
}

fn delete(front: &Front, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
    same_site(headers, front.options.any_host)?;
    let id = session_id(headers).ok_or_else(no_session)?;
    if !front.service.close(id) {
        return Err(unknown_session());
    }
    Ok(respond(StatusCode::NO_CONTENT, None, Body::empty()))
}

/// Whether the headers say that the request is one of the revision without sessions.
fn is_marked(headers: &HeaderMap) -> bool {
    headers
        .get(PROTOCOL_VERSION)
        .is_some_and(|it| it == protocol::STATELESS)
}

/// The revision a client speaks after its handshake is one that the server knows. A server of the older revisions answers discovery as an
/// unknown method.
fn check_version(service: &Service, headers: &HeaderMap, method: &str) -> Result<(), Refusal> {
    let Some(version) = headers.get(PROTOCOL_VERSION) else {
        return Ok(());
    };
    let known = service.core().versions();
    if known.iter().any(|it| version == *it) || method == "server/discover" {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::BAD_REQUEST,
        format!(
            "the protocol version `{}` is none of {}",
            String::from_utf8_lossy(version.as_bytes()),
            known.join(", ")
        ),
    ))
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(SESSION_ID)
        .map(|it| it.to_str().unwrap_or_default())
}

/// The session a request names; `None` when it names none.
fn known_session(front: &Front, headers: &HeaderMap) -> Result<Option<Arc<Session>>, Refusal> {
    let Some(id) = session_id(headers) else {
        return Ok(None);
    };
    let session = front.service.session(id).ok_or_else(unknown_session)?;
    Ok(Some(session))
}

pub(super) fn unknown_session() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is no such session")
}

fn no_session() -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        "the request needs the header Mcp-Session-Id",
    )
}

/// A response with an answer.
async fn deliver(front: &Front, delivery: Delivery) -> Response<Body> {
    let always_streams = front.service.responds_with() == HttpResponses::EventStream;
    let ok = |body| respond(StatusCode::OK, Some(JSON), body);
    let events = |delivery| {
        stream_response(Body::from_stream(in_events(
            Outgoing::Last(delivery),
            front,
        )))
    };
    match delivery {
        Delivery::Exit(code) => {
            front.exit(code);
            std::future::pending().await
        }
        Delivery::Refused { status, reply } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
            respond(status, Some(JSON), reply.into())
        }
        Delivery::Status {
            status,
            headers,
            body,
            ..
        } => status_response(status, &headers, body),
        // Several messages fit only in an event stream.
        Delivery::Messages(messages) if always_streams || messages.len() > 1 => {
            events(Delivery::Messages(messages))
        }
        delivery if always_streams => events(delivery),
        Delivery::Messages(messages) => ok(messages.concat().into()),
        Delivery::Broken(text) => ok(text.into()),
        Delivery::Empty => ok(Body::empty()),
        Delivery::Never => std::future::pending().await,
        Delivery::Slow {
            message,
            bytes,
            every,
        } => ok(Body::from_stream(slow(message, bytes, every))),
        Delivery::Cut(text) => ok(Body::from_stream(cut(text))),
    }
}

pub(super) fn status_response(
    status: u16,
    headers: &[(String, String)],
    body: String,
) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = respond(status, Some("text/plain; charset=utf-8"), body.into());
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

pub(super) fn refused(refusal: &Refusal) -> Response<Body> {
    let error = wire::error(INVALID_REQUEST, &refusal.message);
    let reply = wire::error_reply(&Id::null(), &error);
    respond(refusal.status, Some(JSON), reply.into())
}

/// The messages of an exchange as an event stream, to its end.
pub(super) fn events(front: Front, first: Outgoing, rest: mpsc::Receiver<Outgoing>) -> Body {
    let outgoing = stream::iter([first]).chain(stream::unfold(rest, async |mut rest| {
        rest.recv().await.map(|it| (it, rest))
    }));
    Body::from_stream(outgoing.flat_map(move |it| in_events(it, &front)))
}

type Chunks = stream::BoxStream<'static, io::Result<Bytes>>;

/// A delivery as a part of an event stream. The status was sent before, so a fault cannot change it here.
pub(super) fn in_events(outgoing: Outgoing, front: &Front) -> Chunks {
    let delivery = match outgoing {
        Outgoing::Message(message) => return whole(event(&message)).boxed(),
        Outgoing::Last(delivery) => delivery,
    };
    match delivery {
        Delivery::Messages(messages) => {
            whole(messages.iter().map(|it| event(it)).collect()).boxed()
        }
        Delivery::Broken(text) | Delivery::Refused { reply: text, .. } => {
            whole(event(&text)).boxed()
        }
        Delivery::Empty => whole(event("")).boxed(),
        Delivery::Status { .. } => stream::empty().boxed(),
        Delivery::Exit(code) => {
            front.exit(code);
            stream::pending().boxed()
        }
        Delivery::Never => stream::pending().boxed(),
        Delivery::Slow {
            message,
            bytes,
            every,
        } => slow(event(&message), bytes, every).boxed(),
        Delivery::Cut(text) => cut(format!("event: message\ndata: {text}")).boxed(),
    }
}

/// One piece of a body.
pub(super) fn whole(text: String) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::iter([Ok(Bytes::from(text))])
}

/// A few bytes at a time.
pub(super) fn slow(
    text: String,
    bytes: usize,
    every: Duration,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let text = Bytes::from(text);
    stream::unfold(text, move |mut text| async move {
        if text.is_empty() {
            return None;
        }
        tokio::time::sleep(every).await;
        let chunk = text.split_to(bytes.clamp(1, text.len()));
        Some((Ok(chunk), text))
    })
}

/// A piece of a body, after which the connection ends.
pub(in crate::mock) fn cut(text: String) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let pause = async {
        // Without the pause, the connection ends before the piece is sent.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(io::Error::other("the fault that was asked for"))
    };
    whole(text).chain(stream::once(pause))
}

/// An event stream that stays open and sends messages as they occur.
pub(super) fn endless(messages: impl Stream<Item = String> + Send + 'static) -> Body {
    Body::from_stream(messages.map(|it| Ok::<_, Infallible>(event(&it))))
}

/// What the HTTP front allows.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The longest body of a request, in bytes.
    pub max_body: usize,
    /// Accepts any host name in requests, because the server may be reached under names it does not know.
    pub any_host: bool,
    /// Enables the routes at `/__mock/`.
    pub admin: Option<Admin>,
    /// Also enables the older transport, at `/sse` and `/messages`.
    pub legacy_sse: bool,
}

/// The routes that control the server.
#[derive(Debug, Clone)]
pub struct Admin {
    /// Reads the tools that are added through them.
    pub read_tool: ReadTool,
    /// What clients have to show where other machines reach the server.
    pub remote: Option<RemoteAdmin>,
}

/// What clients of the control have to show.
#[derive(Debug, Clone)]
pub struct RemoteAdmin {
    /// In the header `Authorization`, after `Bearer`.
    pub token: String,
    /// The hosts, besides this machine's own, by which they may call it.
    pub hosts: Vec<String>,
}

/// The default of [`HttpOptions::max_body`]: 4 MiB.
pub const MAX_BODY: usize = 4 * 1024 * 1024;

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            max_body: MAX_BODY,
            any_host: false,
            admin: None,
            legacy_sse: false,
        }
    }
}

/// Reads a tool as a declaration would hold it; the error is for people.
pub type ReadTool = fn(&str) -> Result<MockTool, String>;

/// Where the answers of each session of the older transport go.
pub(super) type Streams = Arc<Mutex<HashMap<String, mpsc::Sender<Outgoing>>>>;

/// What every request needs.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) service: Arc<Service>,
    pub(super) options: HttpOptions,
    /// Set when a fault ends the process.
    pub(super) exit: Arc<Mutex<Option<u8>>>,
    pub(super) stop: CancellationToken,
    /// Of the older transport.
    pub(super) streams: Streams,
}

impl Front {
    /// Ends the server, as a fault demands.
    pub(super) fn exit(&self, code: u8) {
        *self.exit.lock() = Some(code);
        self.stop.cancel();
    }
}
