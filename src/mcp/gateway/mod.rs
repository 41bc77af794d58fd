//! The recording gateway: an endpoint on this machine for each server of a run, which passes everything on to the real server and hears
//! the tool calls. So any agent that speaks MCP can be watched at work, whatever it tells of it.
//!
//! | file | what happens there |
//! |---|---|
//! | `call_tap` | calls are told from everything else, and their answers found |
//! | `again`, `asking` | reads are asked again, where recording wants that |
//! | `front`, `error`, `deadline` | how the gateway itself speaks with agents, and how long it waits |
//! | `proxy`, `events` | servers that speak HTTP |
//! | `launcher`, `piped` | servers that are child processes, and their sessions |
//! | `own` | what we ask in these sessions ourselves |

mod again;
mod asking;
mod call_tap;
mod deadline;
mod error;
mod events;
mod front;
mod launcher;
mod own;
mod piped;
mod proxy;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{Response, StatusCode};
use axum::routing::any;
use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::again::Again;
use self::call_tap::CallTap;
use self::error::{GATEWAY_ERROR, error};
use self::launcher::Launcher;
use self::proxy::Proxy;
use crate::http_server::{self, JSON, Refusal, respond, same_site};
use crate::mcp::session::setup_error;
use crate::mcp::target::{Launch, Target, Tell};
use crate::mcp::tools::connect;
use crate::mcp::wire::Wire;
use crate::model::catalogue::Catalogue;
use crate::run::ready::Vouch;
use crate::run::{self, AskAgain, CallRecorder, Endpoint, SetupError, Tools};

/// One server behind the gateway.
enum Behind {
    Http(Proxy),
    Child(Launcher),
}

/// The servers of a run behind endpoints on this machine. Dropping it ends what was started.
struct Gateway {
    catalogue: Arc<Catalogue>,
    endpoints: Vec<Endpoint>,
    recorder: CallRecorder,
    taps: Vec<Arc<CallTap>>,
    servers: Servers,
    stop: CancellationToken,
}

type Servers = Arc<HashMap<String, Behind>>;

/// Puts a gateway in front of servers: at `port`, or at a free port. Their catalogues are read first, in sessions of our own that end
/// before anybody else's begin: in those that are given, where there are some already. With those comes who makes sure that the process
/// of each later session is ready, too. What it is to `ask_again` it asks by itself.
///
/// # Errors
///
/// What one of the servers failed with, or why the port cannot be had.
pub async fn open(
    targets: &[Target],
    known: Option<(Box<dyn Tools>, Arc<dyn Vouch>)>,
    port: Option<u16>,
    ask_again: Option<AskAgain>,
    tell: Tell<'_>,
) -> Result<Box<dyn run::Gateway>, SetupError> {
    let (tools, vouch) = match known {
        Some((tools, vouch)) => (tools, Some(vouch)),
        None => (connect(targets, tell).await?, None),
    };
    let catalogue = Arc::new(tools.catalogue().clone());
    tools.close().await;
    let port = port.unwrap_or_default();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener
        .map_err(|error| SetupError::new(format!("cannot listen on port {port}: {error}")))?;
    let address = listener.local_addr();
    let address = address.map_err(|error| SetupError::new(format!("has no address: {error}")))?;

    let stop = CancellationToken::new();
    let recorder = CallRecorder::default();
    let mut servers = HashMap::new();
    let mut endpoints = Vec::new();
    let mut taps = Vec::new();
    for target in targets {
        let again = ask_again
            .clone()
            .map(|it| Again::new(it, Arc::clone(&catalogue), stop.clone()));
        let tap = CallTap::new(&target.name, recorder.clone(), again);
        taps.push(Arc::clone(&tap));
        let behind = behind(target, tap, &stop, vouch.clone())
            .map_err(|why| setup_error(&target.name, &why, &Wire::default(), Vec::new()))?;
        servers.insert(target.name.clone(), behind);
        endpoints.push(Endpoint {
            server: target.name.clone(),
            url: format!("http://{address}/{}/mcp", percent_encoded(&target.name)),
        });
    }
    let servers = Arc::new(servers);
    let router = Router::new()
        .route("/{server}/mcp", any(pass))
        .with_state(Arc::clone(&servers));
    let until = stop.clone();
    tokio::spawn(async move { http_server::serve(listener, router, &until).await });
    Ok(Box::new(Gateway {
        catalogue,
        endpoints,
        recorder,
        taps,
        servers,
        stop,
    }))
}

fn behind(
    target: &Target,
    tap: Arc<CallTap>,
    stop: &CancellationToken,
    vouch: Option<Arc<dyn Vouch>>,
) -> Result<Behind, String> {
    let timeouts = (target.connect_timeout, target.tool_timeout);
    Ok(match &target.launch {
        Launch::Http {
            url,
            headers,
            bearer_token,
        } => {
            let token = bearer_token.as_deref();
            let stop = stop.clone();
            Behind::Http(Proxy::new(url, headers, token, timeouts, tap, stop)?)
        }
        Launch::Child(command) => {
            let command = command.clone();
            Behind::Child(Launcher::new(command, timeouts, tap, stop.clone(), vouch))
        }
    })
}

async fn pass(
    State(servers): State<Servers>,
    Path(server): Path<String>,
    request: Request,
) -> Response<Body> {
    let answered = match (same_site(request.headers(), false), servers.get(&server)) {
        (Err(refusal), _) => Err(refusal),
        (Ok(()), None) => Err(Refusal {
            status: StatusCode::NOT_FOUND,
            message: format!("there is no server `{server}`"),
        }),
        (Ok(()), Some(Behind::Http(proxy))) => proxy.forward(request).await,
        (Ok(()), Some(Behind::Child(launcher))) => launcher.speak(request).await,
    };
    answered.unwrap_or_else(|Refusal { status, message }| {
        respond(
            status,
            Some(JSON),
            error(&Value::Null, GATEWAY_ERROR, &message)
                .to_string()
                .into(),
        )
    })
}

impl run::Gateway for Gateway {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    fn recorder(&self) -> &CallRecorder {
        &self.recorder
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            join_all(self.taps.iter().map(|it| it.settled())).await;
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.stop.cancel();
            let closing = self.servers.values().filter_map(|it| match it {
                Behind::Child(launcher) => Some(launcher.close()),
                Behind::Http(_) => None,
            });
            join_all(closing).await;
        })
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.cancel();
        for behind in self.servers.values() {
            if let Behind::Child(launcher) = behind {
                launcher.kill();
            }
        }
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
