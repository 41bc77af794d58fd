//! The MCP endpoint: POST sends a message, GET opens the stream of messages that belong to no request, DELETE ends a session.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::body;
use super::front::Front;
use crate::http_server::{
    EVENT_STREAM, JSON, Refusal, accepts, is_json, read_body, respond, same_site, stream_response,
};
use crate::mock::core::PROTOCOL_VERSIONS;
use crate::mock::faults::Delivery;
use crate::mock::receive::Received;
use crate::mock::running::Outgoing;
use crate::mock::session::Session;
use crate::mock::wire::{self, INVALID_REQUEST, Id, Incoming};
use crate::model::interactions::HttpResponses;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

pub(super) async fn handle(State(front): State<Front>, request: Request) -> Response<Body> {
    let answered = match *request.method() {
        Method::POST => post(&front, request).await,
        Method::GET => get(&front, request.headers()),
        Method::DELETE => delete(&front, request.headers()),
        _ => Err(Refusal {
            status: StatusCode::METHOD_NOT_ALLOWED,
            message: "the endpoint takes POST, GET and DELETE".to_owned(),
        }),
    };
    answered.unwrap_or_else(|refusal| refused(&refusal))
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
    let session = if method == "initialize" {
        let id = Uuid::new_v4().to_string();
        let session = service.open(&id);
        new_session = Some(id);
        session
    } else {
        check_version(&headers, method)?;
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
                Some(first) => stream_response(body::events(front.clone(), first, outgoing)),
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
    check_version(headers, "")?;
    let session = known_session(front, headers)?.ok_or_else(no_session)?;
    let taken_over = session.take_over();
    let messages = stream::unfold(session, async |session| {
        let message = session.outbox.next().await;
        Some((message, session))
    });
    let messages = messages.take_until(taken_over.cancelled_owned());
    Ok(stream_response(body::endless(messages)))
}

fn delete(front: &Front, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
    same_site(headers, front.options.any_host)?;
    let id = session_id(headers).ok_or_else(no_session)?;
    if !front.service.close(id) {
        return Err(unknown_session());
    }
    Ok(respond(StatusCode::NO_CONTENT, None, Body::empty()))
}

/// The revision a client speaks after its handshake is one we know. Unknown methods pass, so that they are answered as unknown.
fn check_version(headers: &HeaderMap, method: &str) -> Result<(), Refusal> {
    let Some(version) = headers.get(PROTOCOL_VERSION) else {
        return Ok(());
    };
    let is_known = PROTOCOL_VERSIONS.iter().any(|it| version == *it);
    if is_known || method == "server/discover" {
        return Ok(());
    }
    Err(Refusal {
        status: StatusCode::BAD_REQUEST,
        message: format!(
            "the protocol version `{}` is none of {}",
            String::from_utf8_lossy(version.as_bytes()),
            PROTOCOL_VERSIONS.join(", ")
        ),
    })
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
    Refusal {
        status: StatusCode::NOT_FOUND,
        message: "there is no such session".to_owned(),
    }
}

fn no_session() -> Refusal {
    Refusal {
        status: StatusCode::BAD_REQUEST,
        message: "the request needs the header Mcp-Session-Id".to_owned(),
    }
}

/// A response with an answer.
async fn deliver(front: &Front, delivery: Delivery) -> Response<Body> {
    let always_streams = front.service.responds_with() == HttpResponses::EventStream;
    let ok = |body| respond(StatusCode::OK, Some(JSON), body);
    let events = |delivery| {
        stream_response(Body::from_stream(body::in_events(
            Outgoing::Last(delivery),
            front,
        )))
    };
    match delivery {
        Delivery::Exit(code) => {
            front.exit(code);
            std::future::pending().await
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
        } => ok(Body::from_stream(body::slow(message, bytes, every))),
        Delivery::Cut(text) => ok(Body::from_stream(body::cut(text))),
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
    let mut response = respond(refusal.status, Some(JSON), reply.into());
    if refusal.status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = HeaderValue::from_static("GET, POST, DELETE");
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}
