//! What the HTTP front allows, and what every request to it needs.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::mock::running::Outgoing;
use crate::mock::service::Service;
use crate::model::interactions::MockTool;

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
