//! The gateway as agents see it: its address, errors of its own, and deadlines.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::http_server::unguessable;
use crate::run::SetupError;

/// Where a gateway is reached. Whoever reaches it asks the servers with the keys of the scenario, so its address has a part that is
/// only given to those who need it: the agent through its configuration, or the person whose session is recorded.
#[derive(Debug, Clone)]
pub struct GatewayPlace {
    /// Who reaches it.
    pub from: From,
    /// A free one unless given.
    pub port: Option<u16>,
    /// The first segment of every path; nobody guesses it, and it is to be shown to nobody else.
    pub secret: String,
}

/// Who reaches a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// Programs on this machine.
    Here,
    /// Containers, for which this machine has a name or an address of its own; it listens at another one where that is none of the
    /// machine's.
    Containers { host: String, listen: IpAddr },
}

impl GatewayPlace {
    /// A place on this machine that nobody knows yet.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub fn new(port: Option<u16>) -> Result<Self, SetupError> {
        let secret = unguessable().map_err(|error| {
            SetupError::new(format!("the gateway cannot have a secret address: {error}"))
        })?;
        let from = From::Here;
        Ok(Self { from, port, secret })
    }

    /// Listens there. Nobody is answered until the gateway stands.
    ///
    /// # Errors
    ///
    /// Why the port cannot be had.
    pub(super) async fn listener(&self) -> Result<TcpListener, SetupError> {
        let listen = match &self.from {
            From::Here => Ipv4Addr::LOCALHOST.into(),
            From::Containers { listen, .. } => *listen,
        };
        let port = self.port.unwrap_or_default();
        let listener = TcpListener::bind((listen, port)).await;
        listener.map_err(|error| SetupError::new(format!("cannot listen on port {port}: {error}")))
    }

    /// The host in its addresses.
    pub fn host(&self) -> String {
        match &self.from {
            From::Here => Ipv4Addr::LOCALHOST.to_string(),
            From::Containers { host, .. } => host.clone(),
        }
    }

    /// Where the server of this name is reached, once the port is known.
    pub fn url(&self, port: u16, server: &str) -> String {
        let (host, secret) = (self.host(), &self.secret);
        format!(
            "http://{host}:{port}/{secret}/{}/mcp",
            percent_encoded(server)
        )
    }
}

/// A name as a segment of a path (RFC 3986, section 2.3).
fn percent_encoded(name: &str) -> String {
    name.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

/// The code of errors that the gateway itself answers with, from the range that JSON-RPC leaves to implementations.
pub(super) const GATEWAY_ERROR: i64 = -32000;

/// The codes of JSON-RPC for what is no JSON, and for what is no message.
pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;

/// A JSON-RPC error of the gateway's own.
pub(super) fn error(id: &Value, code: i64, message: &str) -> Value {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Waits until the deadline, where there is one; `None` when it passed.
pub(super) async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Option<F::Output> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}
