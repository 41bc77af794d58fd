//! The recording gateway: an endpoint on this machine for each server of a run, which passes everything on to the real server and records
//! the tool calls. So the calls of any agent that speaks MCP are recorded, whatever the agent prints of them.
//!
//! | file | what happens there |
//! |---|---|
//! | `call_tap` | recognises tool calls and finds their answers, and which tools are listed to the agent |
//! | `again` | reads are asked again, where recording wants that |
//! | `front` | HTTP with agents |
//! | `place` | where the gateway is reached, and by whom alone; its own errors, and how long it waits |
//! | `passed_on` | headers that arrive behind a server and were sent to it |
//! | `proxy` | servers that speak HTTP |
//! | `launcher` | servers that are child processes or speak the older HTTP with SSE, and requests of the gateway's own to them |
//! | `piped` | a session with one of these |

mod again;
mod call_tap;
mod front;
mod launcher;
mod passed_on;
mod piped;
mod place;
mod proxy;

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::any;
use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::again::Again;
use self::call_tap::CallTap;
use self::launcher::{Launcher, Source};
use self::place::{GATEWAY_ERROR, error};
use self::proxy::Proxy;
use crate::http_server::{self, JSON, Refusal, from_own_pages, is_secret, respond, same_site};
use crate::mcp::session::connect;
use crate::mcp::target::{Launch, OnProgress, Target, setup_error, with_token};
use crate::mcp::wire::Wire;
use crate::model::Catalogue;
use crate::run::ready::SessionCheck;
use crate::run::{self, AskAgain, CallRecorder, Endpoint, Listed, SetupError, Tools};
use crate::scenario_file::servers::HttpStyle;

pub use self::passed_on::SentHeaders;
pub use self::place::{From as GatewayFrom, GatewayPlace};

/// One server behind the gateway.
enum Behind {
    Http(Proxy),
    Streams(Launcher),
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

/// What every request needs.
#[derive(Clone)]
struct Front {
    servers: Servers,
    /// The first segment of the paths that lead to them.
    secret: Arc<str>,
    port: u16,
    /// It is reached by other names than this machine's own.
    any_host: bool,
}

/// Puts a gateway in front of servers, at this place. Their catalogues are read first, in sessions of our own that end
/// before those of the agent begin; where such sessions exist already, `known` passes them, with the check that the process of each later
/// session is ready, too. What it is to `ask_again` it asks by itself.
///
/// # Errors
///
/// What one of the servers failed with, or why the port cannot be had.
pub async fn open(
    targets: &[Target],
    known: Option<(Box<dyn Tools>, Arc<dyn SessionCheck>)>,
    place: GatewayPlace,
    ask_again: Option<AskAgain>,
    on_progress: OnProgress<'_>,
) -> Result<Box<dyn run::Gateway>, SetupError> {
    let (tools, session_check) = match known {
        Some((tools, session_check)) => (tools, Some(session_check)),
        None => (connect(targets, on_progress).await?, None),
    };
    let asks = Asks {
        tools,
        session_check,
        ask_again,
        sent: None,
    };
    let listener = place.listener().await?;
    stand(targets, asks, (place, listener)).await
}

/// Puts a gateway between a server that is asked and those behind it, at this place, where the former finds them. Their catalogues are read
/// first. Headers that the agent's side has `sent` to the former, and that arrive here, are recorded.
///
/// # Errors
///
/// As [`open`].
pub async fn open_behind(
    targets: &[Target],
    (place, listener): (GatewayPlace, TcpListener),
    sent: SentHeaders,
    on_progress: OnProgress<'_>,
) -> Result<Box<dyn run::Gateway>, SetupError> {
    let asks = Asks {
        tools: connect(targets, on_progress).await?,
        session_check: None,
        ask_again: None,
        sent: Some(sent),
    };
    stand(targets, asks, (place, listener)).await
}

/// What a gateway knows of its servers, and asks them.
struct Asks {
    tools: Box<dyn Tools>,
    session_check: Option<Arc<dyn SessionCheck>>,
    ask_again: Option<AskAgain>,
    sent: Option<SentHeaders>,
}

async fn stand(
    targets: &[Target],
    asks: Asks,
    (place, listener): (GatewayPlace, TcpListener),
) -> Result<Box<dyn run::Gateway>, SetupError> {
    let catalogue = Arc::new(asks.tools.catalogue().clone());
    asks.tools.close().await;
    let address = listener.local_addr();
    let address = address.map_err(|error| SetupError::new(format!("has no address: {error}")))?;

    let stop = CancellationToken::new();
    let recorder = CallRecorder::default();
    let mut servers = HashMap::new();
    let mut endpoints = Vec::new();
    let mut taps = Vec::new();
    for target in targets {
        let again = asks.ask_again.clone();
        let again = again.map(|it| Again::new(it, Arc::clone(&catalogue), stop.clone()));
        let tap = CallTap::new(&target.name, recorder.clone(), again, asks.sent.clone());
        taps.push(Arc::clone(&tap));
        let behind = behind(target, &tap, &stop, asks.session_check.clone())
            .map_err(|why| setup_error(&target.name, &why, &Wire::default(), Vec::new()))?;
        servers.insert(target.name.clone(), behind);
        endpoints.push(Endpoint {
            server: target.name.clone(),
            url: place.url(address.port(), &target.name),
        });
    }
    let servers = Arc::new(servers);
    let front = Front {
        servers: Arc::clone(&servers),
        any_host: place.from != GatewayFrom::Here,
        secret: place.secret.into(),
        port: address.port(),
    };
    let router = Router::new()
        .route("/{secret}/{server}/mcp", any(pass))
        .fallback(nowhere)
        .with_state(front);
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
    tap: &Arc<CallTap>,
    stop: &CancellationToken,
    session_check: Option<Arc<dyn SessionCheck>>,
) -> Result<Behind, String> {
    let timeouts = (target.connect_timeout, target.tool_timeout);
    let launcher = |source, session_check| {
        let with = (tap.clone(), target.protocol);
        let launcher = Launcher::new(source, timeouts, with, stop.clone(), session_check);
        Behind::Streams(launcher)
    };
    Ok(match &target.launch {
        Launch::Http {
            style,
            url,
            headers,
            bearer_token,
        } => {
            let token = bearer_token.as_deref();
            if *style == HttpStyle::Sse || target.observed.is_legacy() {
                let headers = with_token(headers, token)?;
                let url = url.clone();
                // It was proven ready in sessions of our own.
                launcher(Source::Sse { url, headers }, None)
            } else {
                let (tap, stop) = (tap.clone(), stop.clone());
                Behind::Http(Proxy::new(url, headers, token, timeouts, tap, stop)?)
            }
        }
        Launch::Child(command) => launcher(Source::Child(command.clone()), session_check),
    })
}

async fn pass(
    State(front): State<Front>,
    Path((secret, server)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let behind = front.servers.get(&server);
    let behind = behind.filter(|_| is_secret(&secret, &front.secret));
    let answered = match (let_in(&front, request.headers()), behind) {
        (Err(refusal), _) => Err(refusal),
        (Ok(()), None) => Err(nothing_here()),
        (Ok(()), Some(Behind::Http(proxy))) => proxy.forward(request).await,
        (Ok(()), Some(Behind::Streams(launcher))) => launcher.speak(request).await,
    };
    answered.unwrap_or_else(refused)
}

/// Every path that leads to no server.
async fn nowhere(State(front): State<Front>, request: Request) -> Response<Body> {
    let refusal = let_in(&front, request.headers()).err();
    refused(refusal.unwrap_or_else(nothing_here))
}

fn let_in(front: &Front, headers: &HeaderMap) -> Result<(), Refusal> {
    same_site(headers, front.any_host)?;
    from_own_pages(headers, front.port)
}

/// The same for everybody who does not know the address, so that nothing can be learned by trying.
fn nothing_here() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is nothing here")
}

fn refused(Refusal { status, message }: Refusal) -> Response<Body> {
    let error = error(&Value::Null, GATEWAY_ERROR, &message);
    respond(status, Some(JSON), error.to_string().into())
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

    fn listed(&self) -> Vec<Listed> {
        let listed = self.taps.iter().map(|it| Listed {
            server: it.server.clone(),
            tools: it.listed(),
        });
        listed.collect()
    }

    fn wait_for_repeats(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.taps.iter().for_each(|it| it.end_rounds());
            join_all(self.taps.iter().map(|it| it.wait_until_idle())).await;
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.stop.cancel();
            let closing = self.servers.values().filter_map(|it| match it {
                Behind::Streams(launcher) => Some(launcher.close()),
                Behind::Http(_) => None,
            });
            join_all(closing).await;
            self.taps.iter().for_each(|it| it.end_rounds());
        })
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.cancel();
        for behind in self.servers.values() {
            if let Behind::Streams(launcher) = behind {
                launcher.kill();
            }
        }
    }
}
