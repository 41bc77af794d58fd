//! The older transport of two endpoints: GET `/sse` opens a stream, and POST `/messages` brings messages, whose answers come on the
//! stream.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use std::collections::HashMap;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::{get, post};
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::endpoint::{self, Front, refused, status_response, unknown_session};
use crate::http_server::{
    EVENT_STREAM, Refusal, accepts, is_json, read_body, respond, same_site, stream_response,
};
use crate::mock::exchange::Delivery;
use crate::mock::receive::{Outgoing, Received};

pub(super) fn routes() -> Router<Front> {
    Router::new()
        .route("/sse", get(open))
        .route("/messages", post(message))
}

/// Ends a session with its stream.
struct Open {
    front: Front,
    id: String,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.front.service.close(&self.id);
        self.front.streams.lock().remove(&self.id);
    }
}

async fn open(State(front): State<Front>, headers: HeaderMap) -> Response<Body> {
    let let_in = same_site(&headers, front.options.any_host)
        .and_then(|()| accepts(&headers, &[EVENT_STREAM]));
    if let Err(refusal) = let_in {
        return refused(&refusal);
    }
    let id = Uuid::new_v4().to_string();
    let session = front.service.open(&id);
    let (out, answers) = mpsc::channel(64);
    front.streams.lock().insert(id.clone(), out);
    let endpoint = format!("event: endpoint\ndata: /messages?sessionId={id}\n\n");
    let ended = session.ended.clone();
    let open = Open { front, id };
    let news = stream::unfold(session, async |session| {
        let message = session.outbox.next().await;
        Some((Outgoing::Message(message), session))
    });
    let answers = stream::unfold(answers, async |mut answers| {
        answers.recv().await.map(|it| (it, answers))
    });
    let events = stream::select(news.boxed(), answers.boxed()).flat_map(move |it| match it {
        Outgoing::Last(Delivery::Never) => stream::empty().boxed(),
        it => endpoint::in_events(it, &open.front),
    });
    let events = endpoint::whole(endpoint).chain(events.take_until(ended.cancelled_owned()));
    stream_response(Body::from_stream(events))
}

async fn message(
    State(front): State<Front>,
    Query(query): Query<HashMap<String, String>>,
    request: Request,
) -> Response<Body> {
    match take(&front, &query, request).await {
        Ok(response) => response,
        Err(refusal) => refused(&refusal),
    }
}

async fn take(
    front: &Front,
    query: &HashMap<String, String>,
    request: Request,
) -> Result<Response<Body>, Refusal> {
    let (parts, body) = request.into_parts();
    same_site(&parts.headers, front.options.any_host)?;
    is_json(&parts.headers)?;
    let id = query.get("sessionId").map_or("", String::as_str);
    let session = front.service.session(id);
    let out = front.streams.lock().get(id).cloned();
    let (Some(session), Some(out)) = (session, out) else {
        return Err(unknown_session());
    };
    let bytes = read_body(body, front.options.max_body).await?;
    let accepted = respond(StatusCode::ACCEPTED, None, Body::empty());
    match front.service.receive(&session, &bytes) {
        Received::Nothing => {}
        Received::Now(Delivery::Status {
            status,
            headers,
            body,
            ..
        }) => {
            return Ok(status_response(status, &headers, body));
        }
        Received::Refused(reply) => {
            // Fails when the client has gone.
            let _ = out.send(Outgoing::Message(reply)).await;
        }
        Received::Now(delivery) => {
            let _ = out.send(Outgoing::Last(delivery)).await;
        }
        Received::Later(running) => {
            tokio::spawn(running.drive(out));
        }
    }
    Ok(accepted)
}
