//! `GET /live`: the stream of events, and what runs now whenever that changes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde_json::{Value, json};

use super::home::under_way;
use crate::http_server::stream_response;
use crate::json;
use crate::serve::listen::{Since, event_stream, idle, last_event_id};
use crate::serve::server::Server;
use crate::serve::sessions::Visitor;

/// How long changes are gathered.
const GATHER: Duration = Duration::from_millis(150);

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    /// The id of the last event that the page is not behind.
    after: String,
}

pub(super) async fn get(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let since = match last_event_id(&headers) {
        Some(id) => Since::Event(id),
        None if asked.after.is_empty() => Since::Ever,
        None => Since::Event(&asked.after),
    };
    let events = event_stream(&server, since);
    let both = stream::select(events, changes(&server));
    // Who has signed out sees nothing more.
    let both = both.take_until(Box::pin(server.sessions.over(&visitor)));
    let pieces = both.map(|it| Ok::<_, Infallible>(Bytes::from(it)));
    stream_response(Body::from_stream(pieces))
}

/// What runs now, whenever that changes.
fn changes(server: &Arc<Server>) -> impl Stream<Item = String> + use<> {
    let mut news = server.board.changes();
    news.mark_changed();
    let watched = Arc::clone(server);
    let changes = stream::unfold((watched, news), async |(server, mut news)| {
        news.changed().await.ok()?;
        tokio::time::sleep(GATHER).await;
        news.borrow_and_update();
        let data = json::escaped(now(&server).to_string());
        Some((format!("event: now\ndata: {data}\n\n"), (server, news)))
    });
    changes.take_until(Box::pin(idle(server)))
}

fn now(server: &Server) -> Value {
    let (running, waits) = under_way(server);
    let lines = running.iter().map(|it| {
        json!({ "key": it.key, "name": it.name, "command": it.command, "doing": it.doing, "forMs": it.for_ms })
    });
    json!({
        "state": waits.state(running.len()),
        "running": lines.collect::<Vec<_>>(),
        "waiting": waits.words(),
    })
}
