//! A server that is a child process, behind the gateway: each session of the agent gets a process of its own, as a client that starts
//! the server itself would.
//!
//! Towards the agent: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::call_tap::{CallTap, Exchange};
use super::deadline::within;
use super::error::error;
use super::front::{Answer, SESSION_ID, bad_gateway, header_text};
use super::own::{Own, not_ready};
use super::piped::{Piped, Reading};
use super::proxy::said;
use crate::http_server::{
    EVENT_STREAM, JSON, Refusal, accepts, event, is_json, read_body, respond, stream_response,
};
use crate::mcp::http::LONGEST_BODY;
use crate::mcp::session::{METHOD_NOT_FOUND, no_answer};
use crate::mcp::wire::{Message, read};
use crate::process::ChildCommand;
use crate::run::ready::Vouch;

/// How long a client hears nothing before it is told that we are still there: less than what HTTP clients put up with.
const QUIET: Duration = Duration::from_secs(15);

/// A server that is started for each session.
pub(super) struct Launcher {
    command: ChildCommand,
    connect_timeout: Duration,
    tool_timeout: Duration,
    tap: Arc<CallTap>,
    sessions: Mutex<HashMap<String, Arc<Piped>>>,
    stop: CancellationToken,
    /// Makes sure of each session.
    vouch: Option<Arc<dyn Vouch>>,
}

impl Launcher {
    pub(super) fn new(
        command: ChildCommand,
        (connect_timeout, tool_timeout): (Duration, Duration),
        tap: Arc<CallTap>,
        stop: CancellationToken,
        vouch: Option<Arc<dyn Vouch>>,
    ) -> Self {
        Self {
            command,
            connect_timeout,
            tool_timeout,
            tap,
            sessions: Mutex::default(),
            stop,
            vouch,
        }
    }

    /// Speaks HTTP with the agent and lines with the process of its session.
    pub(super) async fn speak(&self, request: Request) -> Answer {
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request.headers()),
            Method::DELETE => self.delete(request.headers()).await,
            _ => Err(Refusal {
                status: StatusCode::METHOD_NOT_ALLOWED,
                message: "the endpoint takes POST, GET and DELETE".to_owned(),
            }),
        }
    }

    async fn post(&self, request: Request) -> Answer {
        let (parts, body) = request.into_parts();
        is_json(&parts.headers)?;
        accepts(&parts.headers, &[JSON, EVENT_STREAM])?;
        let body = read_body(body, LONGEST_BODY).await?;
        let text = std::str::from_utf8(&body).map_err(|_| bad("the body is no UTF-8"))?;
        let method = match read(text) {
            Message::Noise => return Err(bad("the body is no single JSON-RPC message")),
            Message::Reply { .. } => None,
            Message::Said { method, id } => Some((method, id.is_some())),
        };
        let named = header_text(&parts.headers, &SESSION_ID);
        let (piped, is_new) = match method.as_ref().map(|(method, _)| method.as_str()) {
            Some("initialize") => (self.start()?, true),
            // Clients of newer revisions ask whether it goes without a handshake first. A process has one session, so it does not.
            Some("server/discover") if named.is_empty() => {
                let request: Value = serde_json::from_str(text).unwrap_or_default();
                let refusal = error(&request["id"], METHOD_NOT_FOUND, "there is no such method");
                return Ok(respond(
                    StatusCode::OK,
                    Some(JSON),
                    refusal.to_string().into(),
                ));
            }
            _ => (self.session(named)?, false),
        };
        let is_asked = method.as_ref().is_some_and(|(_, is_request)| *is_request);
        if is_asked && !is_new {
            self.proven(&piped).await?;
        }
        let asker = || piped.asker(self.tool_timeout);
        let exchange = match self.tap.sent(&piped.id, &body, asker).await {
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
        let reading = piped.expect(text, &exchange);
        piped.write(text);
        let asking = Asking {
            piped: Arc::clone(&piped),
            exchange,
            reading,
            deadline: limit.map(|it| Instant::now() + it),
            connect_timeout: is_new.then_some(self.connect_timeout),
            tool_timeout: self.tool_timeout,
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

    /// Waits until the process of a session is ready, before the agent asks it anything.
    async fn proven(&self, piped: &Arc<Piped>) -> Result<(), Refusal> {
        let Some(vouch) = &self.vouch else {
            return Ok(());
        };
        let proving = async {
            let own = Own::new(Arc::clone(piped), &self.tap.server, self.tool_timeout);
            let vouched = vouch.vouch(&self.tap.server, Box::new(own)).await;
            vouched.map_err(|problem| {
                let problem = not_ready(problem);
                self.tap.lost(problem.clone());
                problem.message
            })
        };
        let proven = tokio::select! {
            proven = piped.proven.get_or_init(|| proving) => proven.clone(),
            () = self.stop.cancelled() => Err("the run has ended".to_owned()),
        };
        proven.map_err(|message| Refusal {
            status: StatusCode::BAD_GATEWAY,
            message,
        })
    }

    /// The answer as JSON where nothing comes before it, else as a stream of events.
    async fn answer(&self, mut asking: Asking) -> axum::response::Response {
        let first = asking.next().await;
        match first {
            Heard::Answer(answer) => respond(StatusCode::OK, Some(JSON), answer.into()),
            Heard::Gone(why) => bad_gateway(&asking.exchange, &why),
            Heard::Said(_) | Heard::Quiet => {
                let rest = stream::unfold(asking, |mut asking| async move {
                    if asking.is_over {
                        return None;
                    }
                    let next = asking.next().await;
                    Some((next, asking))
                });
                let events = stream::once(async { first }).chain(rest).map(|it| {
                    Ok::<_, std::convert::Infallible>(Bytes::from(match it {
                        Heard::Answer(text) | Heard::Said(text) => event(&text),
                        Heard::Quiet => ": still there\n\n".to_owned(),
                        Heard::Gone(_) => String::new(),
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
        self.tap.settled().await;
        self.forget(&piped.id);
        piped.end().await;
        Ok(respond(StatusCode::NO_CONTENT, None, Body::empty()))
    }

    /// Starts the server for a new session.
    fn start(&self) -> Result<Arc<Piped>, Refusal> {
        let id = Uuid::new_v4().to_string();
        let piped = Piped::start(&self.command, id, Arc::clone(&self.tap));
        let piped = piped.map_err(|message| Refusal {
            status: StatusCode::BAD_GATEWAY,
            message,
        })?;
        self.sessions
            .lock()
            .insert(piped.id.clone(), Arc::clone(&piped));
        Ok(piped)
    }

    fn session(&self, id: &str) -> Result<Arc<Piped>, Refusal> {
        if id.is_empty() {
            return Err(bad("the request needs the header Mcp-Session-Id"));
        }
        self.sessions
            .lock()
            .get(id)
            .cloned()
            .ok_or_else(|| Refusal {
                status: StatusCode::NOT_FOUND,
                message: "there is no such session".to_owned(),
            })
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
    is_over: bool,
}

/// What comes next on the way to an answer.
enum Heard {
    Answer(String),
    /// Something before it.
    Said(String),
    /// Nothing for a while.
    Quiet,
    /// There will be no answer.
    Gone(String),
}

impl Asking {
    async fn next(&mut self) -> Heard {
        let quiet = Instant::now() + QUIET;
        let until = self.deadline.map_or(quiet, |it| it.min(quiet));
        match within(Some(until), self.reading.next()).await {
            Some(Some((text, true))) => {
                self.is_over = true;
                Heard::Answer(text)
            }
            Some(Some((text, false))) => Heard::Said(text),
            Some(None) => {
                self.is_over = true;
                let why = self.piped.ended(&self.exchange).await;
                Heard::Answer(self.exchange.refusal(&why))
            }
            None if self.deadline.is_some_and(|it| it <= Instant::now()) => {
                self.is_over = true;
                if let Some(connect_timeout) = self.connect_timeout {
                    return Heard::Gone(self.piped.not_ready(connect_timeout));
                }
                let outcome = no_answer(self.tool_timeout, &self.piped.wire);
                self.exchange.end(&outcome);
                self.piped.cancel(&self.exchange.ids);
                Heard::Answer(self.exchange.refusal(&said(&outcome)))
            }
            None => Heard::Quiet,
        }
    }
}

fn bad(message: &str) -> Refusal {
    Refusal {
        status: StatusCode::BAD_REQUEST,
        message: message.to_owned(),
    }
}
