//! A server that sends all its messages on one stream, behind the gateway: each session of the agent gets a process of its own, as a client
//! that starts the server itself would, or an event stream of its own. Requests without a session, as MCP has them since 2026-07-28, share one
//! process.
//!
//! Towards the agent: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use futures_util::future::{BoxFuture, join_all};
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::call_tap::{CallTap, Exchange};
use super::front::{Answer, SESSION_ID, bad_gateway, header_text, unreadable};
use super::piped::{LATE, LEFT, NoReply, Piped, Reading, over_stream};
use super::place::{error, within};
use super::proxy::outcome_text;
use crate::http_server::{
    EVENT_STREAM, JSON, Refusal, accepts, event, is_json, read_body, respond, stream_response,
};
use crate::mcp::era;
use crate::mcp::http::LONGEST_BODY;
use crate::mcp::legacy::{self, Inbox, Outbox};
use crate::mcp::link::LONGEST_PROBE;
use crate::mcp::request::outcome;
use crate::mcp::session::{Listing, METHOD_NOT_FOUND};
use crate::mcp::target::no_answer;
use crate::mcp::transport_error::root;
use crate::mcp::wire::{Message, Reply, read};
use crate::model::{Catalogue, FailureKind, Object, Outcome, ServerCatalogue, Tool};
use crate::process::ChildCommand;
use crate::protocol;
use crate::run::ready::SessionCheck;
use crate::run::{Called, SetupError, Tools, Unlisted};
use crate::scenario_file::servers::Protocol;

/// After how long without a message a comment is sent to keep the connection open: less than the usual timeouts of HTTP clients.
const QUIET: Duration = Duration::from_secs(15);

/// What is begun for each session.
pub(super) enum Source {
    /// A child process.
    Child(ChildCommand),
    /// A session over the older HTTP with SSE.
    Sse { url: String, headers: HeaderMap },
}

/// A server that is started, or asked for a stream, for each session.
pub(super) struct Launcher {
    source: Source,
    connect_timeout: Duration,
    tool_timeout: Duration,
    tap: Arc<CallTap>,
    sessions: Mutex<HashMap<String, Arc<Piped>>>,
    stop: CancellationToken,
    /// Makes sure of each session.
    session_check: Option<Arc<dyn SessionCheck>>,
    /// The process that is asked without sessions, once it was started.
    stateless: tokio::sync::Mutex<Option<Arc<Piped>>>,
    /// Nobody is to speak without sessions, or the server has turned out not to.
    has_no_stateless: AtomicBool,
}

impl Launcher {
    pub(super) fn new(
        source: Source,
        (connect_timeout, tool_timeout): (Duration, Duration),
        (tap, protocol): (Arc<CallTap>, Option<Protocol>),
        stop: CancellationToken,
        session_check: Option<Arc<dyn SessionCheck>>,
    ) -> Self {
        let is_legacy = matches!(protocol, Some(Protocol::Legacy | Protocol::OnlyLegacy));
        let has_no_stateless = is_legacy || matches!(source, Source::Sse { .. });
        Self {
            stateless: tokio::sync::Mutex::default(),
            has_no_stateless: AtomicBool::new(has_no_stateless),
            source,
            connect_timeout,
            tool_timeout,
            tap,
            sessions: Mutex::default(),
            stop,
            session_check,
        }
    }

    /// Speaks HTTP with the agent and lines with the process of its session.
    pub(super) async fn speak(&self, request: Request) -> Answer {
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request.headers()),
            Method::DELETE => self.delete(request.headers()).await,
            _ => Err(Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "the endpoint takes POST, GET and DELETE",
            )),
        }
    }

    async fn post(&self, request: Request) -> Answer {
        let (parts, body) = request.into_parts();
        is_json(&parts.headers)?;
        accepts(&parts.headers, &[JSON, EVENT_STREAM])?;
        let body = read_body(body, LONGEST_BODY).await?;
        if let Some(refusal) = unreadable(&body) {
            return Ok(refusal);
        }
        let text = std::str::from_utf8(&body).map_err(|_| bad("the body is not UTF-8"))?;
        let method = match read(text) {
            Message::Noise => return Err(bad("the body is not a single JSON-RPC message")),
            Message::Reply { .. } => None,
            Message::Request { method, id } => Some((method, id.is_some())),
        };
        let named = header_text(&parts.headers, &SESSION_ID);
        let name = method.as_ref().map(|(method, _)| method.as_str());
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        let meta = era::said(&message);
        let has_none = self.has_no_stateless.load(Ordering::Relaxed);
        let discovers = name == Some("server/discover") && named.is_empty();
        let (piped, is_new) = match (name, meta) {
            (Some("initialize"), _) => (self.start(None).await?, true),
            (Some(_), Some(meta)) if !has_none => (self.stateless(meta).await?, false),
            // Clients of the newer revision find out so that they are to begin a session.
            _ if discovers => return Ok(no_discovery(&message)),
            _ => (self.session(named)?, false),
        };
        let is_stateless = piped.meta.is_some();
        if is_stateless && discovers && piped.is_probed.load(Ordering::Relaxed) {
            return self.discover(piped, &parts.headers, &message, text).await;
        }
        let is_asked = method.as_ref().is_some_and(|(_, is_request)| *is_request);
        if is_asked && !is_new {
            self.proven(&piped).await?;
        }
        let asker = || piped.asker(self.tool_timeout);
        let exchange = match self
            .tap
            .sent(&piped.id, (&parts.headers, &body), asker)
            .await
        {
            Ok(exchange) => exchange,
            Err(refusal) => return Ok(respond(StatusCode::OK, Some(JSON), refusal.into())),
        };
        if !method.is_some_and(|(_, is_request)| is_request) {
            piped.write(text);
            return Ok(respond(StatusCode::ACCEPTED, None, Body::empty()));
        }
        let limit = match (is_new, exchange.waits()) {
            (true, _) => Some(self.connect_timeout),
            (false, true) => Some(self.tool_timeout),
            (false, false) => None,
        };
        let reading = piped.expect(&message, &exchange);
        piped.write(text);
        let asking = Asking {
            piped: Arc::clone(&piped),
            exchange,
            reading,
            deadline: limit.map(|it| Instant::now() + it),
            connect_timeout: is_new.then_some(self.connect_timeout),
            tool_timeout: self.tool_timeout,
            is_stateless,
            is_over: false,
        };
        let mut response = self.answer(asking).await;
        if is_new {
            if response.status().is_success()
                && let Ok(id) = HeaderValue::try_from(&piped.id)
            {
                response.headers_mut().insert(SESSION_ID, id);
            } else {
                self.forget(&piped.id);
                piped.kill();
            }
        }
        Ok(response)
    }

    /// The process that is asked without sessions; `meta` is what the client says of itself.
    async fn stateless(&self, meta: &Value) -> Result<Arc<Piped>, Refusal> {
        let mut stateless = self.stateless.lock().await;
        if let Some(piped) = &*stateless {
            return Ok(Arc::clone(piped));
        }
        let piped = self.start(Some(meta.clone())).await?;
        Ok(Arc::clone(stateless.insert(piped)))
    }

    /// Asks a process for the first time whether it speaks without sessions. One that does not, whether it says so, ends or is silent, is
    /// ended, and its clients are told to begin a session.
    async fn discover(
        &self,
        piped: Arc<Piped>,
        headers: &HeaderMap,
        request: &Value,
        text: &str,
    ) -> Answer {
        let asker = || piped.asker(self.tool_timeout);
        let body = text.as_bytes();
        let Ok(exchange) = self.tap.sent(&piped.id, (headers, body), asker).await else {
            return Ok(no_discovery(request));
        };
        let mut reading = piped.expect(request, &exchange);
        piped.write(text);
        let answered = async {
            loop {
                match reading.next().await {
                    Some((text, true)) => break Some(text),
                    Some((_, false)) => {}
                    None => break None,
                }
            }
        };
        let limit = LONGEST_PROBE.min(self.connect_timeout / 2);
        let answered = tokio::time::timeout(limit, answered).await.ok().flatten();
        if let Some(text) = answered
            && let Message::Reply { reply, .. } = read(&text)
        {
            let is_newer = match &reply {
                Reply::Result(_) => true,
                Reply::Error(error) => error["code"].as_i64().is_some_and(era::is_code),
                Reply::Invalid(_) => false,
            };
            if is_newer {
                piped.is_probed.store(false, Ordering::Relaxed);
                return Ok(respond(status(&text), Some(JSON), text.into()));
            }
        }
        self.has_no_stateless.store(true, Ordering::Relaxed);
        self.stateless.lock().await.take();
        self.forget(&piped.id);
        piped.end().await;
        Ok(no_discovery(request))
    }

    /// Waits until the process of a session is ready, before the agent asks it anything.
    async fn proven(&self, piped: &Arc<Piped>) -> Result<(), Refusal> {
        let Some(session_check) = &self.session_check else {
            return Ok(());
        };
        let proving = async {
            let own = Own::new(Arc::clone(piped), &self.tap.server, self.tool_timeout);
            let checked = session_check.check(&self.tap.server, Box::new(own)).await;
            checked.map_err(|problem| {
                let problem = not_ready(problem);
                self.tap.lost(problem.clone());
                problem.message
            })
        };
        let proven = piped.proven.get_or_init(|| proving);
        let proven = self.stop.run_until_cancelled(proven).await.cloned();
        let ended = || Err("the run has ended".to_owned());
        proven
            .unwrap_or_else(ended)
            .map_err(|message| Refusal::new(StatusCode::BAD_GATEWAY, message))
    }

    /// The answer as JSON where nothing comes before it, else as a stream of events.
    async fn answer(&self, mut asking: Asking) -> axum::response::Response {
        let first = asking.next().await;
        match first {
            Next::Answer(answer) => {
                let status = if asking.is_stateless {
                    status(&answer)
                } else {
                    StatusCode::OK
                };
                respond(status, Some(JSON), answer.into())
            }
            Next::Gone(why) => bad_gateway(&asking.exchange, &why),
            Next::Message(_) | Next::Quiet => {
                let rest = stream::unfold(asking, |mut asking| async move {
                    if asking.is_over {
                        return None;
                    }
                    let next = asking.next().await;
                    Some((next, asking))
                });
                let events = stream::once(async { first }).chain(rest).map(|it| {
                    Ok::<_, std::convert::Infallible>(Bytes::from(match it {
                        Next::Answer(text) | Next::Message(text) => event(&text),
                        Next::Quiet => ": still there\n\n".to_owned(),
                        Next::Gone(_) => String::new(),
                    }))
                });
                let stop = self.stop.clone();
                stream_response(Body::from_stream(events.take_until(stop.cancelled_owned())))
            }
        }
    }

    fn get(&self, headers: &HeaderMap) -> Answer {
        accepts(headers, &[EVENT_STREAM])?;
        let piped = self.session(header_text(headers, &SESSION_ID))?;
        let taken_over = piped.listen();
        let messages = stream::unfold(piped, |piped| async move {
            let message = tokio::time::timeout(QUIET, piped.unasked()).await;
            let piece = match message {
                Ok(Some(message)) => event(&message),
                Ok(None) => return None,
                Err(_) => ": still there\n\n".to_owned(),
            };
            Some((Ok::<_, std::convert::Infallible>(Bytes::from(piece)), piped))
        });
        let stop = self.stop.clone();
        let messages = messages
            .take_until(taken_over.cancelled_owned())
            .take_until(stop.cancelled_owned());
        Ok(stream_response(Body::from_stream(messages)))
    }

    async fn delete(&self, headers: &HeaderMap) -> Answer {
        let piped = self.session(header_text(headers, &SESSION_ID))?;
        self.tap.wait_until_idle().await;
        self.forget(&piped.id);
        piped.end().await;
        Ok(respond(StatusCode::NO_CONTENT, None, Body::empty()))
    }

    /// Starts the server, or asks it for a stream, for a new session, or to be asked without any by a client that says this of itself.
    async fn start(&self, meta: Option<Value>) -> Result<Arc<Piped>, Refusal> {
        let id = Uuid::new_v4().to_string();
        let tap = Arc::clone(&self.tap);
        let piped = match &self.source {
            Source::Child(command) => Piped::start(command, id, meta, tap),
            Source::Sse { url, headers } => match self.open(url, headers).await {
                Ok(ends) => Ok(over_stream(ends, id, tap)),
                Err(why) => Err(self.tap.lose(&why)),
            },
        };
        let piped = piped.map_err(|message| Refusal::new(StatusCode::BAD_GATEWAY, message))?;
        self.sessions
            .lock()
            .insert(piped.id.clone(), Arc::clone(&piped));
        Ok(piped)
    }

    async fn open(&self, url: &str, headers: &HeaderMap) -> Result<(Outbox, Inbox), String> {
        let (connect, tool) = (self.connect_timeout, self.tool_timeout);
        let opening = legacy::open(url, headers, connect, legacy::taking(connect, tool));
        match tokio::time::timeout(connect, opening).await {
            Ok(Ok(ends)) => Ok(ends),
            Ok(Err(error)) => Err(format!("opens no session: {}", root(&error))),
            Err(_) => Err(format!("opened no session within {connect:?}")),
        }
    }

    fn session(&self, id: &str) -> Result<Arc<Piped>, Refusal> {
        if id.is_empty() {
            return Err(bad("the request needs the header Mcp-Session-Id"));
        }
        self.sessions
            .lock()
            .get(id)
            .cloned()
            .ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "there is no such session"))
    }

    fn forget(&self, id: &str) {
        self.sessions.lock().remove(id);
    }

    /// Ends the processes of all sessions.
    pub(super) async fn close(&self) {
        let sessions: Vec<_> = self
            .sessions
            .lock()
            .drain()
            .map(|(_, piped)| piped)
            .collect();
        join_all(sessions.iter().map(|it| it.end())).await;
    }

    /// The same at once, without asking them to leave.
    pub(super) fn kill(&self) {
        for (_, piped) in self.sessions.lock().drain() {
            piped.kill();
        }
    }
}

/// A request on its way to its answer.
struct Asking {
    piped: Arc<Piped>,
    exchange: Exchange,
    reading: Reading,
    deadline: Option<Instant>,
    /// For the answer to `initialize`.
    connect_timeout: Option<Duration>,
    tool_timeout: Duration,
    is_stateless: bool,
    is_over: bool,
}

impl Drop for Asking {
    /// Without sessions, a client that goes away has cancelled its request.
    fn drop(&mut self) {
        if self.is_stateless && !self.is_over {
            self.piped.cancel(&self.exchange.ids, LEFT);
        }
    }
}

/// The status of an answer in the newer revision, which gives it by the code of an error.
fn status(answer: &str) -> StatusCode {
    // Long results are not read for it.
    let members = serde_json::from_str::<BTreeMap<&str, &RawValue>>(answer);
    let error = members.ok().and_then(|it| it.get("error").copied());
    let error = error.and_then(|it| serde_json::from_str::<Value>(it.get()).ok());
    let code = error.and_then(|it| it["code"].as_i64());
    // What a tool or its arguments are refused for is an answer as any other.
    let code = code.filter(|it| *it == METHOD_NOT_FOUND || era::is_code(*it));
    code.map_or(StatusCode::OK, |it| {
        StatusCode::from_u16(protocol::status(it)).unwrap_or(StatusCode::BAD_REQUEST)
    })
}

/// The answer to a client that asks whether it can go on without sessions, and is to begin one.
fn no_discovery(request: &Value) -> axum::response::Response {
    let refusal = error(&request["id"], METHOD_NOT_FOUND, "there is no such method");
    respond(StatusCode::OK, Some(JSON), refusal.to_string().into())
}

/// What comes next on the way to an answer.
enum Next {
    Answer(String),
    /// A message before the answer.
    Message(String),
    /// Nothing for a while.
    Quiet,
    /// There will be no answer.
    Gone(String),
}

impl Asking {
    async fn next(&mut self) -> Next {
        let quiet = Instant::now() + QUIET;
        let until = self.deadline.map_or(quiet, |it| it.min(quiet));
        match within(Some(until), self.reading.next()).await {
            Some(Some((text, true))) => {
                self.is_over = true;
                self.piped.is_probed.store(false, Ordering::Relaxed);
                Next::Answer(text)
            }
            Some(Some((text, false))) => Next::Message(text),
            Some(None) => {
                self.is_over = true;
                let why = self.piped.ended(&self.exchange).await;
                Next::Answer(self.exchange.refusal(&why))
            }
            None if self.deadline.is_some_and(|it| it <= Instant::now()) => {
                self.is_over = true;
                if let Some(connect_timeout) = self.connect_timeout {
                    return Next::Gone(self.piped.not_ready(connect_timeout));
                }
                let outcome = no_answer(self.tool_timeout, &self.piped.wire);
                self.exchange.end(&outcome);
                self.piped.cancel(&self.exchange.ids, LATE);
                Next::Answer(self.exchange.refusal(&outcome_text(&outcome)))
            }
            None => Next::Quiet,
        }
    }
}

fn bad(message: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, message)
}

/// A session of an agent, as we use it.
pub(super) struct Own {
    piped: Arc<Piped>,
    catalogue: Catalogue,
    tool_timeout: Duration,
    number: AtomicU64,
}

impl Own {
    pub(super) fn new(piped: Arc<Piped>, server: &str, tool_timeout: Duration) -> Self {
        let server = ServerCatalogue {
            server: server.to_owned(),
            ..ServerCatalogue::default()
        };
        Self {
            piped,
            catalogue: Catalogue {
                servers: vec![server],
                ..Catalogue::default()
            },
            tool_timeout,
            number: AtomicU64::new(0),
        }
    }

    async fn ask(&self, method: &str, params: Value, limit: Duration) -> Result<Reply, NoReply> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        // An id that no client thinks of.
        let id = format!("mcp-eval-ready-{number}");
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        if let Some(meta) = &self.piped.meta {
            request["params"]["_meta"] = meta.clone();
        }
        self.piped.ask(&request, limit).await
    }

    async fn tools(&self, limit: Duration) -> Result<Vec<Tool>, Unlisted> {
        let mut listing = Listing::default();
        let mut params = json!({});
        loop {
            let not_yet = |why: &str| Unlisted::NotYet(format!("did not list its tools: {why}"));
            let page = match self.ask("tools/list", params, limit).await {
                Ok(Reply::Result(page)) => page,
                Ok(Reply::Error(error)) if error["code"] == METHOD_NOT_FOUND => break,
                Ok(Reply::Error(error)) => {
                    return Err(not_yet(error["message"].as_str().unwrap_or_default()));
                }
                Ok(Reply::Invalid(why)) => return Err(not_yet(&why)),
                Err(NoReply::Late) => return Err(not_yet("no answer in time")),
                Err(NoReply::Unreadable) => return Err(not_yet("an answer that cannot be read")),
                Err(NoReply::Gone) => {
                    return Err(Unlisted::Lost(self.piped.end_of_process().await));
                }
            };
            match listing.page(page).map_err(Unlisted::NotYet)? {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        Ok(listing.into_tools())
    }
}

impl Tools for Own {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        tool: &'a str,
        arguments: &'a Object,
    ) -> BoxFuture<'a, Called> {
        Box::pin(async move {
            let params = json!({ "name": tool, "arguments": arguments });
            let (outcome, lost) = match self.ask("tools/call", params, self.tool_timeout).await {
                Ok(reply) => (outcome(reply), None),
                Err(NoReply::Late) => (no_answer(self.tool_timeout, &self.piped.wire), None),
                Err(NoReply::Unreadable) => {
                    let why = "an answer that cannot be read".to_owned();
                    (Outcome::failed(FailureKind::InvalidResponse, why), None)
                }
                Err(NoReply::Gone) => {
                    let problem = self.piped.end_of_process().await;
                    let message = problem.message.clone();
                    (
                        Outcome::failed(FailureKind::Disconnected, message),
                        Some(problem),
                    )
                }
            };
            Called { outcome, lost }
        })
    }

    fn list_again(&self, limit: Duration) -> BoxFuture<'_, Result<Catalogue, Unlisted>> {
        Box::pin(async move {
            let mut catalogue = self.catalogue.clone();
            let tools = self.tools(limit).await?;
            for server in &mut catalogue.servers {
                server.tools.clone_from(&tools);
            }
            Ok(catalogue)
        })
    }

    /// The session goes on.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Why a session was not begun with, for the run.
pub(super) fn not_ready(problem: SetupError) -> SetupError {
    SetupError {
        message: format!("{}, in the session of the agent", problem.message),
        ..problem
    }
}
