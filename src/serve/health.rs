//! The health of the server, what it has at hand, and the stream of its events.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::{self, Stream};
use serde_json::Value;

use super::wire::{Connection, Connections, Health, Status};
use super::{Problem, Server};
use crate::http_server::{EVENT_STREAM, accepts, stream_response};
use crate::model::scenario::{HttpStyle, Transport};
use crate::redact;

/// `GET /api/test/health`.
pub(super) async fn get(State(server): State<Arc<Server>>) -> Json<Health> {
    Json(Health {
        testing: true,
        connections: server.options.servers.len(),
        database: server.has_database().await,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// `GET /api/test/status`.
pub(super) async fn status(State(server): State<Arc<Server>>) -> Json<Status> {
    let (running, queued) = server.queue.state();
    let options = &server.options;
    Json(Status {
        testing: true,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        running,
        queued,
        max_concurrent: server.queue.concurrent(),
        queue: options.bounds.queue,
        uptime: server.started.elapsed().as_secs_f64() * 1000.0,
        ending: server.done.is_cancelled(),
        allow_programs: options.allowed.programs,
        allow_write: options.allowed.write,
    })
}

/// `GET /api/test/connections`.
pub(super) async fn connections(State(server): State<Arc<Server>>) -> Json<Connections> {
    let clean = |text: &str| redact::environment().text(text).into_inner();
    let connections = server.options.servers.iter().map(|it| {
        let (kind, target) = match &it.transport {
            Transport::Stdio(it) => ("stdio", it.command.as_str()),
            Transport::Http {
                style: HttpStyle::Streamable,
                url,
                ..
            } => ("http", url.as_str()),
            Transport::Http {
                style: HttpStyle::Sse,
                url,
                ..
            } => ("sse", url.as_str()),
            Transport::Mock | Transport::Recorded { .. } => ("stdio", "mcp-eval mock"),
        };
        Connection {
            server_id: clean(&it.name),
            kind: kind.to_owned(),
            target: clean(target),
        }
    });
    Json(Connections {
        connections: connections.collect(),
    })
}

/// `GET /api/test/openapi.json`.
pub(super) async fn open_api(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(server.open_api.clone())
}

/// After how long without an event a comment is sent to keep the connection open.
const QUIET: Duration = Duration::from_secs(15);

/// `GET /api/test/events`.
pub(super) async fn events(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    accepts(&headers, &[EVENT_STREAM])?;
    let since = last_event_id(&headers).map_or(Since::Now, Since::Event);
    let pieces = event_stream(&server, since);
    let pieces = pieces.map(|it| Ok::<_, std::convert::Infallible>(Bytes::from(it)));
    Ok(stream_response(Body::from_stream(pieces)))
}

/// The id of the event that a client has received last.
pub(super) fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    let last = headers.get("last-event-id")?;
    Some(last.to_str().unwrap_or_default())
}

/// From when on events are sent.
#[derive(Clone, Copy)]
pub(super) enum Since<'a> {
    Now,
    /// All that are kept.
    Ever,
    /// Behind the one of this id.
    Event(&'a str),
}

/// The events, until the server has ended.
pub(super) fn event_stream(
    server: &Arc<Server>,
    since: Since<'_>,
) -> impl Stream<Item = String> + use<> {
    let events = &server.events;
    let (oldest, end) = events.ends();
    let (begin, first) = match since {
        Since::Now => (end, ": listening\n\n".to_owned()),
        Since::Ever => (oldest, ": listening\n\n".to_owned()),
        Since::Event(id) => match events.behind(id) {
            Some(next) => (next, ": listening\n\n".to_owned()),
            // What came behind it is lost in part, so whoever asks has to look anew.
            None => (oldest, "event: reset\ndata: {}\n\n".to_owned()),
        },
    };
    let news = events.news();
    let watched = Arc::clone(server);
    let rest = stream::unfold((watched, news, begin), async |(server, mut news, at)| {
        let (piece, behind) = loop {
            news.borrow_and_update();
            let (piece, behind) = server.events.from(at);
            if !piece.is_empty() {
                break (piece, behind);
            }
            match tokio::time::timeout(QUIET, news.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => break (": still there\n\n".to_owned(), behind),
            }
        };
        Some((piece, (server, news, behind)))
    });
    // What runs to its end within the grace is reported, too.
    let idle = idle(server);
    stream::iter([first]).chain(rest).take_until(Box::pin(idle))
}

/// Is over when the server ends and nothing runs any more.
pub(super) fn idle(server: &Arc<Server>) -> impl Future<Output = ()> + use<> {
    let server = Arc::clone(server);
    async move {
        server.done.cancelled().await;
        server.idle().await;
    }
}
