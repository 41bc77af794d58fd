//! The health of the server, and what it has at hand.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;

use super::Server;
use super::wire::{Connection, Connections, Health, Status};
use crate::redact;
use crate::scenario_file::servers::{HttpStyle, Transport};

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
