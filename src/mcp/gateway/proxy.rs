//! A server that speaks HTTP, behind the gateway: everything is passed on as it is, in both directions.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::again::Asker;
use super::call_tap::{CallTap, Exchange};
use super::front::{Answer, SESSION_ID, bad_gateway, header_text, unreadable};
use super::place::within;
use crate::http_client;
use crate::http_server::{EVENT_STREAM, JSON, event, read_body, respond};
use crate::mcp::events::Events;
use crate::mcp::http::{Head, LONGEST_BODY, busy};
use crate::mcp::request::{LOST_SESSION, outcome, too_busy};
use crate::mcp::target::{no_answer, with_token};
use crate::mcp::transport_error::{is_unreachable, root};
use crate::mcp::wire::{Message, NOT_UTF8, Wire, key, read_bytes};
use crate::model::{FailureKind, Outcome};

/// Headers that belong to one connection and not to the message, and those that would be about us and not about the server.
const OURS: [HeaderName; 10] = [
    CONNECTION,
    CONTENT_LENGTH,
    HOST,
    ORIGIN,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    // What passes by must be readable.
    ACCEPT_ENCODING,
    HeaderName::from_static("keep-alive"),
];

/// A server that is asked over HTTP.
pub(super) struct Proxy {
    url: String,
    client: Client,
    /// Those of the scenario, which win over the agent's own.
    headers: HeaderMap,
    tool_timeout: Duration,
    tap: Arc<CallTap>,
    stop: CancellationToken,
    /// Those that the server has begun, and that nobody has ended.
    sessions: Mutex<HashSet<String>>,
}

impl Proxy {
    pub(super) fn new(
        url: &str,
        headers: &[(String, String)],
        bearer_token: Option<&str>,
        (connect_timeout, tool_timeout): (Duration, Duration),
        tap: Arc<CallTap>,
        stop: CancellationToken,
    ) -> Result<Self, String> {
        let headers = with_token(headers, bearer_token)?;
        let client = http_client::within_origin(url, connect_timeout)
            .no_gzip()
            .build()
            .map_err(|error| format!("has no HTTP client: {}", root(&error)))?;
        Ok(Self {
            url: url.to_owned(),
            client,
            headers,
            tool_timeout,
            tap,
            stop,
            sessions: Mutex::default(),
        })
    }

    /// Passes a request on, and its response back.
    pub(super) async fn forward(&self, request: Request) -> Answer {
        let (parts, body) = request.into_parts();
        let body = read_body(body, LONGEST_BODY).await?;
        let session = header_text(&parts.headers, &SESSION_ID).to_owned();
        let headers = self.passed_on(parts.headers.clone());
        let method = parts.method.clone();
        if let Some(refusal) = unreadable(&body).filter(|_| method == Method::POST) {
            return Ok(refusal);
        }
        if method == Method::DELETE {
            self.tap.wait_until_idle().await;
        }
        let asker = || self.asker(headers.clone());
        let exchange = match self
            .tap
            .sent(&session, (&parts.headers, &body), asker)
            .await
        {
            Ok(exchange) => exchange,
            Err(refusal) => return Ok(respond(StatusCode::OK, Some(JSON), refusal.into())),
        };
        let deadline = exchange.waits().then(|| Instant::now() + self.tool_timeout);
        let response = loop {
            let answering = self
                .client
                .request(parts.method.clone(), &self.url)
                .headers(headers.clone())
                .body(body.clone())
                .send();
            let response = match within(deadline, answering).await {
                None => return Ok(self.too_late(&exchange)),
                Some(Err(error)) => return Ok(self.unasked(&exchange, &error)),
                Some(Ok(response)) => response,
            };
            // With 429 it has not looked at the call. After any other only reads are made again.
            match busy(&response).zip(deadline) {
                Some(((status, pause), end))
                    if pause < end - Instant::now() && (status == 429 || exchange.only_reads()) =>
                {
                    tokio::time::sleep(pause).await;
                }
                _ => break response,
            }
        };
        let (status, kind) = (response.status(), Head::of(&response).kind);
        self.note_session(&session, &method, &response);
        let mut head = response.headers().clone();
        for name in &OURS {
            head.remove(name);
        }
        let body = if kind.starts_with(EVENT_STREAM) {
            self.streamed(exchange, response, deadline)
        } else if exchange.waits() {
            match self.whole(&exchange, response, deadline).await {
                Ok(bytes) => Body::from(bytes),
                Err(answer) => return Ok(answer),
            }
        } else {
            let stop = self.stop.clone();
            let pieces = response.bytes_stream();
            Body::from_stream(pieces.take_until(stop.cancelled_owned()))
        };
        let mut answer = respond(status, None, body);
        *answer.headers_mut() = head;
        Ok(answer)
    }

    /// Remembers the sessions that the server has begun. One that it does not know any more has taken all that was done in it away: no
    /// verdict can come of such a run.
    fn note_session(&self, session: &str, method: &Method, response: &Response) {
        let mut sessions = self.sessions.lock();
        let begun = header_text(response.headers(), &SESSION_ID);
        if !begun.is_empty() {
            sessions.insert(begun.to_owned());
        }
        if *method == Method::DELETE {
            sessions.remove(session);
            return;
        }
        // Servers without a stream of their own may answer GET so.
        let is_gone = response.status() == StatusCode::NOT_FOUND && *method == Method::POST;
        if is_gone && sessions.remove(session) {
            self.tap.lose(LOST_SESSION);
        }
    }

    /// What sends requests of the gateway's own, with these headers, which name the session.
    fn asker(&self, mut headers: HeaderMap) -> Asker {
        headers.remove(CONTENT_TYPE);
        let (client, url, tool_timeout) =
            (self.client.clone(), self.url.clone(), self.tool_timeout);
        Arc::new(move |request| {
            let (client, url, headers) = (client.clone(), url.clone(), headers.clone());
            Box::pin(async move { ask((&client, &url), headers, &request, tool_timeout).await })
        })
    }

    fn passed_on(&self, mut headers: HeaderMap) -> HeaderMap {
        for name in &OURS {
            headers.remove(name);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        headers
    }

    /// A response in one piece. It is recorded before the agent gets it, so that the run of an agent that ends at once has it.
    async fn whole(
        &self,
        exchange: &Exchange,
        response: Response,
        deadline: Option<Instant>,
    ) -> Result<Bytes, axum::response::Response> {
        let (head, busy) = (Head::of(&response), busy(&response));
        let mut pieces = Box::pin(response.bytes_stream());
        let mut body = Vec::new();
        let broken = loop {
            match within(deadline, pieces.next()).await {
                None => return Err(self.too_late(exchange)),
                Some(None) => break None,
                Some(Some(Err(error))) => break Some(root(&error)),
                Some(Some(Ok(piece))) => body.extend_from_slice(&piece),
            }
            if body.len() > LONGEST_BODY {
                break Some(format!("an answer of more than {LONGEST_BODY} bytes"));
            }
        };
        if let Some(why) = broken {
            exchange.end(&Outcome::failed(FailureKind::Transport, why.clone()));
            return Err(bad_gateway(exchange, &why));
        }
        let text = String::from_utf8_lossy(&body);
        if head.is_json() && busy.is_none() {
            exchange.observe(&body);
            if std::str::from_utf8(&body).is_err() {
                return Err(bad_gateway(exchange, NOT_UTF8));
            }
        }
        // Calls that are still unanswered end with a description of the response.
        exchange.end(&match busy {
            Some((status, pause)) => too_busy(status, pause.as_secs_f64()),
            None => Outcome::failed(FailureKind::Transport, head.describe(&text)),
        });
        Ok(body.into())
    }

    /// A stream of events, recorded as it passes.
    fn streamed(&self, exchange: Exchange, response: Response, deadline: Option<Instant>) -> Body {
        let passing = Passing {
            exchange,
            events: Events::default(),
            tool_timeout: self.tool_timeout,
            is_over: false,
        };
        let pieces = Box::pin(response.bytes_stream());
        let passed = stream::unfold(
            (passing, pieces),
            move |(mut passing, mut pieces)| async move {
                if passing.is_over {
                    return None;
                }
                let deadline = deadline.filter(|_| passing.exchange.waits());
                let piece = match within(deadline, pieces.next()).await {
                    None => Ok(passing.too_late()),
                    Some(Some(Ok(piece))) => {
                        passing.listen(&piece);
                        Ok(piece)
                    }
                    Some(end) => {
                        passing.ended();
                        Err(end?.err()?)
                    }
                };
                Some((piece, (passing, pieces)))
            },
        );
        Body::from_stream(passed.take_until(self.stop.clone().cancelled_owned()))
    }

    fn too_late(&self, exchange: &Exchange) -> axum::response::Response {
        let outcome = no_answer(self.tool_timeout, &Wire::default());
        exchange.end(&outcome);
        let refusal = exchange.refusal(&outcome_text(&outcome));
        respond(StatusCode::OK, Some(JSON), refusal.into())
    }

    fn unasked(&self, exchange: &Exchange, error: &reqwest::Error) -> axum::response::Response {
        let mut why = root(error);
        if is_unreachable(error) {
            why = format!("cannot be reached: {why}");
            self.tap.lose(&why);
        }
        exchange.end(&Outcome::failed(FailureKind::Transport, why.clone()));
        bad_gateway(exchange, &why)
    }
}

/// A stream of events on its way.
struct Passing {
    exchange: Exchange,
    events: Events,
    tool_timeout: Duration,
    is_over: bool,
}

impl Passing {
    fn listen(&mut self, piece: &[u8]) {
        let exchange = &self.exchange;
        let found = |_: &[u8], data: &[u8]| exchange.observe(data);
        self.events.read(piece, LONGEST_BODY, found);
        if self.events.has_ids && !self.exchange.session.is_empty() {
            self.exchange.may_come_later();
        }
    }

    /// The stream has ended or broken off. Unless the client can take it up again, the calls in it have no answer.
    fn ended(&mut self) {
        self.is_over = true;
        if !self.events.has_ids {
            let why = "the stream ended without an answer".to_owned();
            self.exchange
                .end(&Outcome::failed(FailureKind::Disconnected, why));
        }
    }

    fn too_late(&mut self) -> Bytes {
        self.is_over = true;
        let outcome = no_answer(self.tool_timeout, &Wire::default());
        self.exchange.end(&outcome);
        event(&self.exchange.refusal(&outcome_text(&outcome))).into()
    }
}

pub(super) fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failure(failure) => failure.message.clone(),
        Outcome::Answer(answer) => answer.text(),
    }
}

/// Asks with these headers, and waits for the answer at most as long as for any call. `None` where it may come by another way, or the
/// server asks back first, which only a client can answer.
pub(super) async fn ask(
    (client, url): (&Client, &str),
    headers: HeaderMap,
    request: &Value,
    tool_timeout: Duration,
) -> Option<Outcome> {
    let asking = async {
        let asked = client
            .post(url)
            .headers(headers)
            .header(CONTENT_TYPE, JSON)
            .body(request.to_string())
            .send();
        match asked.await {
            Ok(response) => answer(response, &request["id"]).await,
            Err(error) => Some(Outcome::failed(FailureKind::Transport, root(&error))),
        }
    };
    let answered = within(Some(Instant::now() + tool_timeout), asking).await;
    answered.unwrap_or_else(|| Some(no_answer(tool_timeout, &Wire::default())))
}

async fn answer(response: Response, id: &Value) -> Option<Outcome> {
    let head = Head::of(&response);
    let is_stream = head.status.is_success() && head.kind.starts_with(EVENT_STREAM);
    let mut pieces = Box::pin(response.bytes_stream());
    let mut body = Vec::new();
    let mut events = Events::default();
    let mut found = Found::Nothing;
    while let Some(piece) = pieces.next().await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => return Some(Outcome::failed(FailureKind::Transport, root(&error))),
        };
        if is_stream {
            events.read(&piece, LONGEST_BODY, |_, data| found.look(data, id));
        } else {
            body.extend_from_slice(&piece);
        }
        match found {
            Found::Answer(outcome) => return Some(*outcome),
            Found::Question => return None,
            Found::Nothing if body.len() > LONGEST_BODY => {
                let why = format!("an answer of more than {LONGEST_BODY} bytes");
                return Some(Outcome::failed(FailureKind::Transport, why));
            }
            Found::Nothing => {}
        }
    }
    if is_stream {
        let why = "the stream ended without an answer".to_owned();
        return (!events.has_ids).then(|| Outcome::failed(FailureKind::Disconnected, why));
    }
    let text = String::from_utf8_lossy(&body);
    if head.is_json() {
        found.look(&body, id);
    }
    match found {
        Found::Answer(outcome) => Some(*outcome),
        _ => Some(Outcome::failed(
            FailureKind::Transport,
            head.describe(&text),
        )),
    }
}

/// What has come of a request so far.
enum Found {
    Nothing,
    Answer(Box<Outcome>),
    /// The server asks something itself.
    Question,
}

impl Found {
    fn look(&mut self, bytes: &[u8], id: &Value) {
        match read_bytes(bytes) {
            _ if !matches!(self, Self::Nothing) => {}
            Message::Reply { id: of, reply } if key(&of) == key(id) => {
                *self = Self::Answer(Box::new(outcome(reply)));
            }
            Message::Request { id: Some(_), .. } => *self = Self::Question,
            _ => {}
        }
    }
}
