//! Records the tool calls of one server as they pass through the gateway: from the request to the answer with its id.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::HeaderMap;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::again::{Again, Asker, Read};
use super::passed_on::SentHeaders;
use super::place::{GATEWAY_ERROR, error};
use crate::digits;
use crate::json;
use crate::mcp::era::{self, Opened};
use crate::mcp::request::outcome;
use crate::mcp::target::setup_error;
use crate::mcp::wire::{Message, Reply, Wire, key, read_bytes};
use crate::model::{ClientAnswer, FailureKind, Header, Object, Outcome, PassedOn};
use crate::run::{CallRecorder, PendingCall, SetupError};

/// The calls of one server.
#[derive(Debug)]
pub(super) struct CallTap {
    pub(super) server: String,
    recorder: CallRecorder,
    exchanges: AtomicU64,
    waiting: Mutex<Vec<Waiting>>,
    /// Calls that the server has answered with questions, until they are made again with the answers.
    in_rounds: Mutex<Vec<Waiting>>,
    /// What the server has asked a client that has not answered yet, by session and id.
    asked: Mutex<HashMap<(String, String), ClientAnswer>>,
    listings: Mutex<Listings>,
    /// What is asked again, and knows what only reads.
    again: Option<Arc<Again>>,
    /// The headers that are looked for among those that arrive.
    sent: Option<SentHeaders>,
}

/// A call without an answer yet.
#[derive(Debug)]
struct Waiting {
    exchange: u64,
    session: String,
    /// The request's id, as ids compare.
    id: String,
    pending: PendingCall,
    /// It only reads, and may be asked again.
    read: Option<Read>,
    /// What the server has asked the client meanwhile.
    asked: Vec<ClientAnswer>,
    /// What it asks, in the revision where calls are repeated with the answers.
    repeatable: Option<Repeatable>,
}

/// A call that a server may answer with questions.
#[derive(Debug)]
struct Repeatable {
    /// The call, without what is another one each time it is made.
    call: Value,
    /// What the server wants to know, by the keys of its questions.
    requests: Object,
}

impl Repeatable {
    /// `None` for a call of the older revisions.
    fn of(request: &Value) -> Option<Self> {
        era::said(request)?;
        let params = &request["params"];
        Some(Self {
            call: json!([params["name"], params["arguments"]]),
            requests: Object::new(),
        })
    }
}

/// One request over HTTP with the calls in it. When it is dropped, they are recorded as disconnected.
#[derive(Debug)]
pub(super) struct Exchange {
    tap: Arc<CallTap>,
    number: u64,
    pub(super) session: String,
    /// The ids of all its requests, tool calls or not.
    pub(super) ids: Vec<Value>,
    /// The answers may still come over another stream.
    may_come_later: bool,
}

impl CallTap {
    pub(super) fn new(
        server: &str,
        recorder: CallRecorder,
        again: Option<Arc<Again>>,
        sent: Option<SentHeaders>,
    ) -> Arc<Self> {
        Arc::new(Self {
            server: server.to_owned(),
            recorder,
            exchanges: AtomicU64::new(0),
            waiting: Mutex::default(),
            in_rounds: Mutex::default(),
            asked: Mutex::default(),
            listings: Mutex::default(),
            again,
            sent,
        })
    }

    /// A client sends these messages: one, or a batch. Its tool calls are under way from here on, which is not before all that is being
    /// asked again is answered: a call could change those answers, and they could hold it up. `asker` asks in the same session.
    ///
    /// # Errors
    ///
    /// What to answer when no further call may be made.
    pub(super) async fn sent(
        self: &Arc<Self>,
        session: &str,
        (headers, body): (&HeaderMap, &[u8]),
        asker: impl FnOnce() -> Asker,
    ) -> Result<Exchange, String> {
        let mut exchange = Exchange {
            tap: Arc::clone(self),
            number: self.exchanges.fetch_add(1, Ordering::Relaxed),
            session: session.to_owned(),
            ids: Vec::new(),
            may_come_later: false,
        };
        let passed_on = self.sent.as_ref().map(|it| it.among(headers));
        let passed_on = passed_on.unwrap_or_default();
        let mut has_call = false;
        let body = std::str::from_utf8(body).map(digits::parse);
        let Ok(Ok(body)) = body else {
            self.arrived(passed_on);
            return Ok(exchange);
        };
        let messages = match &body {
            Value::Array(messages) => messages.as_slice(),
            one => std::slice::from_ref(one),
        };
        let is_call = |it: &Value| it.get("method").is_some_and(|it| it == "tools/call");
        let asker = match &self.again {
            Some(again) if messages.iter().any(is_call) => {
                again.finish_before_call().await;
                Some((again, asker()))
            }
            _ => None,
        };
        for message in messages {
            self.client_says(session, message);
            let (Some(method), Some(id)) = (message.get("method"), message.get("id")) else {
                continue;
            };
            exchange.ids.push(id.clone());
            if method == "tools/list" {
                self.listings.lock().asked(session, exchange.number, id);
            }
            if method != "tools/call" {
                continue;
            }
            if let Some(waiting) = self.goes_on(message) {
                has_call = true;
                self.waiting.lock().push(Waiting {
                    exchange: exchange.number,
                    session: session.to_owned(),
                    id: key(id),
                    ..waiting
                });
                continue;
            }
            let tool = message.pointer("/params/name").and_then(Value::as_str);
            let arguments = match message.pointer("/params/arguments") {
                Some(Value::Object(arguments)) => arguments.clone(),
                _ => Object::new(),
            };
            let pending = self
                .recorder
                .begin(&self.server, tool.unwrap_or_default(), arguments)
                .ok_or_else(|| {
                    exchange.refusal("`limits.max_steps`: no further tool call may be made")
                })?;
            has_call = true;
            let pending = pending.with_headers(passed_on.clone());
            let mut waiting = self.waiting.lock();
            let read = asker.as_ref().and_then(|(again, asker)| {
                let amid_effects = waiting.iter().any(|it| it.read.is_none());
                again.begins((&self.server, message), Arc::clone(asker), amid_effects)
            });
            waiting.push(Waiting {
                exchange: exchange.number,
                session: session.to_owned(),
                id: key(id),
                pending,
                read,
                asked: Vec::new(),
                repeatable: Repeatable::of(message),
            });
        }
        if !has_call {
            self.arrived(passed_on);
        }
        Ok(exchange)
    }

    /// The call that this one makes again with what the server wanted to know; what the client has answered is kept.
    fn goes_on(&self, message: &Value) -> Option<Waiting> {
        let params = &message["params"];
        let answers = params.get("inputResponses").and_then(Value::as_object);
        if answers.is_none() && params.get("requestState").is_none() {
            return None;
        }
        let again = Repeatable::of(message)?;
        let mut in_rounds = self.in_rounds.lock();
        let is_it = |it: &Waiting| (it.repeatable.as_ref()).is_some_and(|it| it.call == again.call);
        let place = in_rounds.iter().position(is_it)?;
        let waiting = in_rounds.remove(place);
        drop(in_rounds);
        let requests = waiting.repeatable.iter().flat_map(|it| &it.requests);
        for (name, request) in requests {
            let Some(result) = answers.and_then(|it| it.get(name)) else {
                continue;
            };
            let answer = ClientAnswer {
                method: request["method"].as_str().unwrap_or_default().to_owned(),
                params: request["params"].clone(),
                result: Some(result.clone()),
                error: None,
            };
            self.recorder
                .client(&self.server, |it| it.answers.push(answer));
        }
        Some(Waiting {
            repeatable: Some(again),
            ..waiting
        })
    }

    /// The server wants to know something before it answers a call: it waits until it is made again.
    fn asks_first(&self, mut waiting: Waiting, requests: Object) {
        for request in requests.values() {
            let method = request["method"].as_str().unwrap_or_default();
            let asked = ClientAnswer::awaited(method, request["params"].clone());
            waiting.asked.extend(asked);
        }
        // The client would be asked twice.
        waiting.read = None;
        if let Some(repeatable) = &mut waiting.repeatable {
            repeatable.requests = requests;
        }
        self.in_rounds.lock().push(waiting);
    }

    /// The calls end that the client has not made again with what the server wanted to know.
    pub(super) fn end_rounds(&self) {
        for waiting in self.in_rounds.lock().drain(..) {
            let kind = waiting.asked.last().map_or("something", ClientAnswer::kind);
            let why = format!("asked for {kind}, and the client did not call again");
            let outcome = Outcome::failed(FailureKind::InvalidResponse, why);
            drop(waiting.pending.end(outcome));
        }
    }

    /// Keeps what a client says that it can do, which revision it wants, and what it answers when it was asked.
    fn client_says(&self, session: &str, message: &Value) {
        if let Some(meta) = era::said(message) {
            let (revision, can) = era::client(meta);
            self.recorder.client(&self.server, |it| {
                if let Some(can) = can {
                    it.capabilities.clone_from(can);
                }
                if let Some(revision) = revision {
                    it.speaks(revision);
                }
            });
        }
        if message.get("method").is_some_and(|it| it == "initialize") {
            let can = message.pointer("/params/capabilities");
            if let Some(can) = can.and_then(Value::as_object) {
                self.recorder
                    .client(&self.server, |it| it.capabilities.clone_from(can));
            }
        }
        let Some(id) = message
            .get("id")
            .filter(|_| message.get("method").is_none())
        else {
            return;
        };
        let asked = self.asked.lock().remove(&(session.to_owned(), key(id)));
        if let Some(asked) = asked {
            let answer = ClientAnswer {
                result: message.get("result").cloned(),
                error: message.get("error").cloned(),
                ..asked
            };
            self.recorder
                .client(&self.server, |it| it.answers.push(answer));
        }
    }

    /// Keeps what the server asks a client.
    fn server_asks(&self, session: &str, exchange: Option<u64>, bytes: &[u8]) {
        let Ok(mut message) = serde_json::from_slice::<Value>(bytes) else {
            return;
        };
        let (Some(Value::String(method)), Some(id)) =
            (message.get("method").cloned(), message.get("id"))
        else {
            return;
        };
        let place = (session.to_owned(), key(id));
        let asked = ClientAnswer::awaited(&method, message["params"].take());
        // A call during which the server asks the client something is not asked again: the client would be asked twice.
        for it in self.waiting.lock().iter_mut() {
            if exchange == Some(it.exchange) || (it.session == session && !session.is_empty()) {
                it.read = None;
                it.asked.extend(asked.clone());
            }
        }
        self.asked.lock().extend(asked.map(|it| (place, it)));
    }

    /// These headers were passed on with a request in which there is no call.
    fn arrived(&self, headers: Vec<Header>) {
        for Header { name, value } in headers {
            let server = self.server.clone();
            self.recorder.passed_on(PassedOn {
                server,
                name,
                value,
            });
        }
    }

    /// The server sends a message in this session; says what it is.
    pub(super) fn observe(&self, session: &str, exchange: Option<u64>, bytes: &[u8]) -> Message {
        let message = read_bytes(bytes);
        if let Message::Reply {
            id,
            reply: Reply::Result(page),
        } = &message
        {
            self.listings.lock().answered(session, exchange, id, page);
        }
        if let Message::Reply {
            reply: Reply::Result(result),
            ..
        } = &message
            && let (Some(revision), true) = (
                result.get("protocolVersion").and_then(Value::as_str),
                result.get("capabilities").is_some(),
            )
        {
            self.recorder.client(&self.server, |it| it.speaks(revision));
        }
        if let Message::Reply { id, reply } = &message
            && let Some(waiting) = self.take(session, exchange, &key(id))
        {
            let outcome = match reply.clone() {
                Reply::Result(result) if waiting.repeatable.is_some() => {
                    match era::opened(result) {
                        Opened::Asks { requests, .. } => {
                            self.asks_first(waiting, requests);
                            return message;
                        }
                        Opened::Unusable(why) => outcome(Reply::Invalid(why)),
                        Opened::Complete(result) => outcome(Reply::Result(result)),
                    }
                }
                reply => outcome(reply),
            };
            let outcome = outcome.having_asked(waiting.asked);
            match (&self.again, waiting.read) {
                (Some(again), Some(read)) => {
                    let ended = waiting.pending.end(outcome.clone());
                    again.ask(read, outcome, ended);
                }
                _ => drop(waiting.pending.end(outcome)),
            }
        } else if let Message::Request { id: Some(_), .. } = &message {
            self.server_asks(session, exchange, bytes);
        } else if matches!(message, Message::Noise)
            && json::extent(bytes).values <= json::VALUES
            && let Ok(Value::Array(batch)) = serde_json::from_slice(bytes)
        {
            for one in batch {
                self.observe(session, exchange, one.to_string().as_bytes());
            }
        }
        message
    }

    /// The names of all tools that the server has listed, sorted.
    pub(super) fn listed(&self) -> Vec<String> {
        self.listings.lock().names()
    }

    /// Waits until all that is asked again is answered.
    pub(super) async fn wait_until_idle(&self) {
        if let Some(again) = &self.again {
            again.wait_until_idle().await;
        }
    }

    /// The server cannot be used any more; returns why, as it is told.
    pub(super) fn lose(&self, why: &str) -> String {
        let problem = setup_error(&self.server, why, &Wire::default(), Vec::new());
        self.lost(problem.clone());
        problem.message
    }

    /// The same of what is a whole error by itself.
    pub(super) fn lost(&self, problem: SetupError) {
        self.recorder.lost(problem);
    }

    /// The calls of a session end without an answer; says whether there were any.
    pub(super) fn end_session(&self, session: &str, why: &Outcome) -> bool {
        self.end_where(|it| it.session == session, why)
    }

    /// The call with this id has not reached the server.
    pub(super) fn fail(&self, session: &str, id: &Value, why: &Outcome) {
        let id = key(id);
        self.end_where(|it| it.session == session && it.id == id, why);
    }

    fn end_where(&self, ends: impl Fn(&Waiting) -> bool, why: &Outcome) -> bool {
        let mut waiting = self.waiting.lock();
        let (ended, rest): (Vec<_>, _) = waiting.drain(..).partition(ends);
        *waiting = rest;
        drop(waiting);
        let any = !ended.is_empty();
        for it in ended {
            it.pending.end(why.clone());
        }
        any
    }

    /// Ids need only be unique within a session, and where there are no sessions, within an exchange.
    fn take(&self, session: &str, exchange: Option<u64>, id: &str) -> Option<Waiting> {
        let mut waiting = self.waiting.lock();
        let of_exchange =
            |it: &Waiting| it.id == id && exchange.is_some_and(|number| number == it.exchange);
        let of_session = |it: &Waiting| it.id == id && it.session == session && !session.is_empty();
        let place = waiting.iter().position(of_exchange);
        let place = place.or_else(|| waiting.iter().position(of_session))?;
        Some(waiting.swap_remove(place))
    }
}

impl Exchange {
    /// The server sends a message in answer to this request.
    pub(super) fn observe(&self, bytes: &[u8]) {
        self.tap.observe(&self.session, Some(self.number), bytes);
    }

    /// Whether a tool call of it waits for its answer.
    pub(super) fn waits(&self) -> bool {
        let waiting = self.tap.waiting.lock();
        waiting.iter().any(|it| it.exchange == self.number)
    }

    /// Whether all calls of it that wait are known to be reads.
    pub(super) fn only_reads(&self) -> bool {
        let waiting = self.tap.waiting.lock();
        (waiting.iter().filter(|it| it.exchange == self.number)).all(|it| it.read.is_some())
    }

    /// Its calls end without an answer.
    pub(super) fn end(&self, why: &Outcome) {
        self.tap.end_where(|it| it.exchange == self.number, why);
    }

    /// Answers that have not come when it is over may come over another stream.
    pub(super) fn may_come_later(&mut self) {
        self.may_come_later = true;
    }

    /// An answer of the gateway's own: a JSON-RPC error to each request.
    pub(super) fn refusal(&self, why: &str) -> String {
        let error = |id: &Value| error(id, GATEWAY_ERROR, why);
        match self.ids.as_slice() {
            [] => error(&Value::Null).to_string(),
            [id] => error(id).to_string(),
            several => several.iter().map(error).collect::<Value>().to_string(),
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.may_come_later {
            let mut waiting = self.tap.waiting.lock();
            let (gone, rest): (Vec<_>, _) =
                waiting.drain(..).partition(|it| it.exchange == self.number);
            *waiting = rest;
            drop(waiting);
            drop(gone);
        }
    }
}

/// How many lists may be awaited, and how many names are kept: whoever asks for more, or lists more, is not followed.
const MOST_AWAITED: usize = 1000;
const MOST_NAMES: usize = 10_000;

/// The lists that were asked for, and the names in those that came.
#[derive(Debug, Default)]
pub(super) struct Listings {
    /// By session, or exchange where there are no sessions, and the request's id as ids compare.
    awaited: HashSet<(String, String)>,
    names: BTreeSet<String>,
}

impl Listings {
    /// A page is asked for.
    pub(super) fn asked(&mut self, session: &str, exchange: u64, id: &Value) {
        if self.awaited.len() < MOST_AWAITED {
            self.awaited.insert((place(session, exchange), key(id)));
        }
    }

    /// Something is answered: maybe a page.
    pub(super) fn answered(
        &mut self,
        session: &str,
        exchange: Option<u64>,
        id: &Value,
        page: &Value,
    ) {
        if self.awaited.is_empty() {
            return;
        }
        let place = place(session, exchange.unwrap_or_default());
        if !self.awaited.remove(&(place, key(id))) {
            return;
        }
        let tools = page["tools"].as_array().into_iter().flatten();
        let left = MOST_NAMES.saturating_sub(self.names.len());
        let names = tools.filter_map(|it| it["name"].as_str()).take(left);
        self.names.extend(names.map(str::to_owned));
    }

    /// All names, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.iter().cloned().collect()
    }
}

/// Ids need only be unique within a session, and where there are no sessions, within an exchange.
fn place(session: &str, exchange: u64) -> String {
    if session.is_empty() {
        format!("exchange {exchange}")
    } else {
        format!("session {session}")
    }
}
