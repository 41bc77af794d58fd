//! The mock over Streamable HTTP, at `/mcp` and `/`.
//!
//! Protocol: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>

mod admin;
mod endpoint;
mod legacy;
mod mirrored;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::any;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::endpoint::{Front, Streams};
use super::service::{Ended, Service};
use crate::http_server::{self};

pub(super) use self::endpoint::cut;
pub use self::endpoint::{Admin, HttpOptions, MAX_BODY, ReadTool, RemoteAdmin};

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
        streams: Streams::default(),
    };
    let exit = Arc::clone(&front.exit);
    let mut router = Router::new()
        .route("/mcp", any(endpoint::handle))
        .route("/", any(endpoint::handle));
    if front.options.admin.is_some() {
        router = router.merge(admin::routes(&front));
    }
    if front.options.legacy_sse {
        router = router.merge(legacy::routes());
    }
    let router = router.with_state(front);
    http_server::serve(listener, router, &stop).await;
    let code = exit.lock().take();
    Ok(code.map_or(Ended::Closed, Ended::Exit))
}

/// The address for clients; a server that listens on all addresses is reached at the one of this machine.
pub fn url(address: SocketAddr) -> String {
    let mut address = address;
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}/mcp")
}
