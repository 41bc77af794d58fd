//! The mock over Streamable HTTP, at `/mcp` and `/`.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>

mod admin;
mod body;
mod endpoint;
mod legacy;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::any;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::admin::ReadTool;
pub(super) use self::body::cut;
use crate::http_server;
use crate::mock::Ended;
use crate::mock::service::{Service, lock};

/// What the HTTP front allows.
#[derive(Debug, Clone, Copy)]
pub struct HttpOptions {
    /// The longest body of a request, in bytes.
    pub max_body: usize,
    /// Clients may name the server by any host: it is reached under names it cannot know.
    pub any_host: bool,
    /// The routes at `/__mock/` are there; reads the tools that are added through them.
    pub admin: Option<ReadTool>,
    /// The older transport is there, too, at `/sse` and `/messages`.
    pub legacy_sse: bool,
}

/// The most a request may hold unless said otherwise: 4 MiB.
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

/// What every request needs.
#[derive(Clone)]
struct Front {
    service: Arc<Service>,
    options: HttpOptions,
    /// Set when a fault ends the process.
    exit: Arc<Mutex<Option<u8>>>,
    stop: CancellationToken,
    /// Of the older transport.
    streams: legacy::Streams,
}

impl Front {
    /// Ends the server for the sake of a fault.
    fn exit(&self, code: u8) {
        *lock(&self.exit) = Some(code);
        self.stop.cancel();
    }
}

/// Answers until `stop` is cancelled or a fault ends the server; connections are dropped then.
pub(super) async fn serve(
    service: Arc<Service>,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) -> io::Result<Ended> {
    let front = Front {
        service,
        options,
        exit: Arc::default(),
        stop: stop.clone(),
        streams: legacy::Streams::default(),
    };
    let exit = Arc::clone(&front.exit);
    let mut router = Router::new()
        .route("/mcp", any(endpoint::handle))
        .route("/", any(endpoint::handle));
    if options.admin.is_some() {
        router = router.merge(admin::routes(&front));
    }
    if options.legacy_sse {
        router = router.merge(legacy::routes());
    }
    let router = router.with_state(front);
    http_server::serve(listener, router, &stop).await?;
    let code = lock(&exit).take();
    Ok(code.map_or(Ended::Closed, Ended::Exit))
}

/// The address clients are told: that of this machine where the server listens everywhere.
pub fn url(address: SocketAddr) -> String {
    let mut address = address;
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}/mcp")
}
