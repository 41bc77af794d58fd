//! One session with a server that sends all its messages on one stream, as a child process or over the older HTTP with SSE: passes each of
//! them on to the request it belongs to.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::sync::{Notify, OnceCell, mpsc};
use tokio_util::sync::CancellationToken;

use super::again::Asker;
use super::call_tap::{CallTap, Exchange};
use super::place::{GATEWAY_ERROR, error};
use super::proxy::outcome_text;
use crate::lines::{Line, Lines};
use crate::mcp::child::{LONGEST_LINE, too_long};
use crate::mcp::era;
use crate::mcp::legacy::{Inbox, Outbox};
use crate::mcp::mend::mended;
use crate::mcp::request::{CLOSED, LOST_SESSION, outcome};
use crate::mcp::session::METHOD_NOT_FOUND;
use crate::mcp::target::{no_answer, setup_error};
use crate::mcp::transport_error::{LegacyError, is_unreachable, root};
use crate::mcp::wire::{self, Message, NOT_UTF8, Reply, Wire, key, read as read_message};
use crate::model::{FailureKind, Outcome};
use crate::process::{Child, ChildCommand, Stdin};
use crate::run::SetupError;

/// How many messages may wait to be fetched; more are dropped, except for answers.
const WAITING_MESSAGES: usize = 1024;

/// Why a request is cancelled.
pub(super) const LATE: &str = "no answer in time";
pub(super) const LEFT: &str = "the client has gone";

/// How long it may take until it is known how a process ended: longer than it is waited for.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A process, or an event stream, and the requests that wait for its messages.
pub(super) struct Piped {
    pub(super) id: String,
    /// Keeps what is no message.
    pub(super) wire: Wire,
    pub(super) tap: Arc<CallTap>,
    lines: mpsc::UnboundedSender<String>,
    /// The process, where there is one.
    child: Mutex<Option<Child>>,
    traffic: Mutex<Traffic>,
    /// Notifies the reader of messages that belong to no request.
    news: Notify,
    has_answered: AtomicBool,
    /// It is not known yet whether it speaks the revision without sessions in which it is asked: that it ends is no loss.
    pub(super) is_probed: AtomicBool,
    /// What its first client said of itself in each request, where it is spoken to without sessions.
    pub(super) meta: Option<Value>,
    /// We end it.
    pub(super) closing: CancellationToken,
    /// It has ended, and it is known how.
    over: CancellationToken,
    /// Whether it has proven to be ready, once that was tried.
    pub(super) proven: OnceCell<Result<(), String>>,
}

#[derive(Default)]
struct Traffic {
    asking: Vec<Asked>,
    /// What belongs to no request, and was not fetched yet.
    unasked: VecDeque<String>,
    /// Ends the one that listens to that.
    listener: Option<CancellationToken>,
    /// Why nothing more will come, once that is so.
    end: Option<SetupError>,
}

/// Why a request of our own has no answer.
pub(super) enum NoReply {
    Late,
    Unreadable,
    /// The process has ended.
    Gone,
}

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Something that the client wants to know.
    Client,
    /// Notifications, which say that they belong to it.
    Listening,
    /// Something that the gateway itself wants to know: only its answer belongs to it.
    Us,
}

/// A request without an answer yet.
struct Asked {
    id: Value,
    progress_token: Option<String>,
    of: Of,
    out: mpsc::Sender<(String, bool)>,
}

/// Receives what comes for one request: messages, and whether they are its answer.
pub(super) struct Reading(mpsc::Receiver<(String, bool)>);

impl Reading {
    /// `None` when there will be no answer. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Option<(String, bool)> {
        self.0.recv().await
    }
}

impl Piped {
    /// Starts the server.
    ///
    /// # Errors
    ///
    /// Why that fails.
    pub(super) fn start(
        command: &ChildCommand,
        id: String,
        meta: Option<Value>,
        tap: Arc<CallTap>,
    ) -> Result<Arc<Self>, String> {
        let (child, stdin, stdout) = Child::start(command).map_err(|error| {
            let what = command.program.to_string_lossy();
            let why = format!("cannot be started: `{what}`: {error}");
            tap.lose(&why)
        })?;
        let (piped, to_write) = Self::new(id, meta, tap, Some(child));
        tokio::spawn(write(stdin, to_write, piped.closing.clone()));
        tokio::spawn(read(stdout, Arc::clone(&piped)));
        Ok(piped)
    }

    /// A session over what the caller reads and writes; `child` is the process, where there is one. What is to be written comes out of the
    /// receiver.
    pub(super) fn new(
        id: String,
        meta: Option<Value>,
        tap: Arc<CallTap>,
        child: Option<Child>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<String>) {
        let (lines, to_write) = mpsc::unbounded_channel();
        let piped = Arc::new(Self {
            id,
            wire: Wire::default(),
            tap,
            lines,
            child: Mutex::new(child),
            traffic: Mutex::default(),
            news: Notify::new(),
            has_answered: AtomicBool::new(false),
            is_probed: AtomicBool::new(meta.is_some()),
            meta,
            closing: CancellationToken::new(),
            over: CancellationToken::new(),
            proven: OnceCell::new(),
        });
        (piped, to_write)
    }

    /// Sends the server a message.
    pub(super) fn write(&self, message: &str) {
        // Line breaks can only stand between the parts of a message, where a space does as well.
        let mut line = message.trim().replace(['\n', '\r'], " ");
        line.push('\n');
        // Fails when the process is gone, which those learn who wait for an answer.
        let _ = self.lines.send(line);
    }

    /// From here on, what answers a request is kept for it.
    pub(super) fn expect(&self, request: &Value, exchange: &Exchange) -> Reading {
        let progress_token = request.pointer("/params/_meta/progressToken").map(key);
        let id = exchange.ids.first().cloned().unwrap_or_default();
        let of = match request["method"].as_str() {
            Some("subscriptions/listen") => Of::Listening,
            _ => Of::Client,
        };
        self.expect_reply(id, progress_token, of)
    }

    fn expect_reply(&self, id: Value, progress_token: Option<String>, of: Of) -> Reading {
        let (out, reading) = mpsc::channel(WAITING_MESSAGES);
        let mut traffic = self.traffic.lock();
        traffic.asking.retain(|it| !it.out.is_closed());
        if traffic.end.is_none() {
            traffic.asking.push(Asked {
                id,
                progress_token,
                of,
                out,
            });
        }
        Reading(reading)
    }

    /// What sends requests of the gateway's own in this session.
    pub(super) fn asker(self: &Arc<Self>, tool_timeout: Duration) -> Asker {
        let piped = Arc::downgrade(self);
        Arc::new(move |request| {
            let piped = piped.upgrade();
            Box::pin(async move { piped?.answer(&request, tool_timeout).await })
        })
    }

    async fn answer(&self, request: &Value, tool_timeout: Duration) -> Option<Outcome> {
        match self.ask(request, tool_timeout).await {
            Ok(reply) => Some(outcome(reply)),
            Err(NoReply::Unreadable) => None,
            Err(NoReply::Gone) => Some(Outcome::failed(
                FailureKind::Disconnected,
                CLOSED.to_owned(),
            )),
            Err(NoReply::Late) => Some(no_answer(tool_timeout, &self.wire)),
        }
    }

    /// How the process has ended, once nothing more comes from it.
    pub(super) async fn end_of_process(&self) -> SetupError {
        let _ = tokio::time::timeout(END_TIMEOUT, self.over.cancelled()).await;
        let end = self.traffic.lock().end.clone();
        end.unwrap_or_else(|| self.problem(CLOSED, Vec::new()))
    }

    /// Sends a request of our own, between those of the agent, and waits for its answer.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(super) async fn ask(&self, request: &Value, limit: Duration) -> Result<Reply, NoReply> {
        let mut reading = self.expect_reply(request["id"].clone(), None, Of::Us);
        self.write(&request.to_string());
        match tokio::time::timeout(limit, reading.next()).await {
            Ok(Some((text, _))) => match wire::read(&text) {
                Message::Reply { reply, .. } => Ok(reply),
                Message::Request { .. } | Message::Noise => Err(NoReply::Unreadable),
            },
            Ok(None) => Err(NoReply::Gone),
            Err(_) => {
                self.cancel(std::slice::from_ref(&request["id"]), LATE);
                Err(NoReply::Late)
            }
        }
    }

    /// Tells the server that the request is cancelled.
    pub(super) fn cancel(&self, ids: &[Value], why: &str) {
        for id in ids {
            let params = json!({ "requestId": id, "reason": why });
            let method = "notifications/cancelled";
            let cancelled = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            self.write(&cancelled.to_string());
        }
    }

    /// Registers a new reader of the messages that belong to no request. Its token is cancelled when the next one is registered.
    pub(super) fn listen(&self) -> CancellationToken {
        let token = CancellationToken::new();
        let before = self.traffic.lock().listener.replace(token.clone());
        if let Some(before) = before {
            before.cancel();
        }
        token
    }

    /// The next message that belongs to no request; `None` when none will come. May be dropped and called again.
    pub(super) async fn unasked(&self) -> Option<String> {
        loop {
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            {
                let mut traffic = self.traffic.lock();
                if let Some(message) = traffic.unasked.pop_front() {
                    return Some(message);
                }
                if traffic.end.is_some() {
                    return None;
                }
            }
            news.await;
        }
    }

    /// Why a request has no answer, once the process has ended. If it was a tool call, that is the end of the run.
    pub(super) async fn ended(&self, exchange: &Exchange) -> String {
        let end = self.end_of_process().await;
        if exchange.waits() {
            exchange.end(&Outcome::failed(
                FailureKind::Disconnected,
                end.message.clone(),
            ));
            self.tap.lost(end.clone());
        }
        end.message
    }

    /// The server has not answered `initialize` in time.
    pub(super) fn not_ready(&self, connect_timeout: Duration) -> String {
        let child = self.child.lock();
        let said = child.as_ref().map(Child::stderr).unwrap_or_default();
        let why = format!(
            "did not get ready within {connect_timeout:?} (`connect_timeout` changes that)"
        );
        let problem = self.problem(&why, said);
        self.tap.lost(problem.clone());
        problem.message
    }

    /// Ends the process as a client does that closes its stdin.
    pub(super) async fn end(&self) {
        self.closing.cancel();
        let child = self.child.lock().take();
        if let Some(child) = child {
            child.end().await;
        }
    }

    /// Ends the process at once.
    pub(super) fn kill(&self) {
        self.closing.cancel();
        drop(self.child.lock().take());
    }

    /// Passes a message of the server on to the request it belongs to.
    pub(super) fn arrived(&self, text: &str) {
        let meant = mended(text, &|| wire::only(self.open()));
        let text = &*meant.text;
        match self.tap.observe(&self.id, None, text.as_bytes()) {
            Message::Noise => {
                self.wire.noise(text);
                if let Some((id, why)) = wire::lost(text, &self.open()) {
                    self.unsent(&id, &Outcome::failed(FailureKind::InvalidResponse, why));
                }
            }
            Message::Reply { id, .. } => {
                self.answered(&id, text.to_owned());
            }
            Message::Request { method, id } => {
                let message: Value = if method.starts_with("notifications/") {
                    serde_json::from_str(text).unwrap_or_default()
                } else {
                    Value::Null
                };
                let listening = era::subscription(&message).map(key);
                let progress = (method == "notifications/progress")
                    .then(|| message.pointer("/params/progressToken").map(key))
                    .flatten();
                let mut traffic = self.traffic.lock();
                // A message that names no request most likely belongs to the latest one.
                let open = traffic.asking.iter().filter(|it| !it.out.is_closed());
                let is_about_ours =
                    open.clone().next().is_some() && open.clone().all(|it| it.of == Of::Us);
                if let Some(id) = id.filter(|_| is_about_ours) {
                    drop(traffic);
                    let refusal = error(&id, METHOD_NOT_FOUND, "there is no client to ask");
                    return self.write(&refusal.to_string());
                }
                let mut open = open.filter(|it| it.of != Of::Us);
                let asked = match (&listening, &progress) {
                    (Some(id), _) => open.find(|it| key(&it.id) == *id),
                    (None, Some(token)) => {
                        open.find(|it| it.progress_token.as_ref() == Some(token))
                    }
                    (None, None) => open.rfind(|it| it.of == Of::Client),
                };
                if let Some(asked) = asked {
                    if asked.out.capacity() > 1 {
                        let _ = asked.out.try_send((text.to_owned(), false));
                    }
                    return;
                }
                if traffic.unasked.len() == WAITING_MESSAGES {
                    traffic.unasked.pop_front();
                }
                traffic.unasked.push_back(text.to_owned());
                drop(traffic);
                self.news.notify_waiters();
            }
        }
    }

    /// Passes a message on that is no text: of an answer, only that it is none.
    pub(super) fn arrived_broken(&self, line: &[u8]) {
        self.wire.noise(&String::from_utf8_lossy(line));
        if let Message::Reply { id, .. } = self.tap.observe(&self.id, None, line) {
            self.answered(&id, error(&id, GATEWAY_ERROR, NOT_UTF8).to_string());
        }
    }

    /// Passes an answer on to whoever asked.
    fn answered(&self, id: &Value, text: String) {
        self.has_answered.store(true, Ordering::Relaxed);
        let id = key(id);
        let mut traffic = self.traffic.lock();
        let place = traffic.asking.iter().position(|it| key(&it.id) == id);
        if let Some(place) = place {
            let asked = traffic.asking.swap_remove(place);
            // There is room: the last place is kept for the answer. The receiver may be gone.
            let _ = asked.out.try_send((text, true));
        }
    }

    /// The ids of the requests whose answers have not come.
    fn open(&self) -> Vec<Value> {
        let traffic = self.traffic.lock();
        let open = traffic.asking.iter().filter(|it| !it.out.is_closed());
        open.map(|it| it.id.clone()).collect()
    }

    /// A message with this id could not be sent, or its answer cannot be read.
    pub(super) fn unsent(&self, id: &Value, outcome: &Outcome) {
        self.tap.fail(&self.id, id, outcome);
        let why = outcome_text(outcome);
        self.answered(id, error(id, GATEWAY_ERROR, &why).to_string());
    }

    /// The server says nothing more; `why` says how its event stream ended, where it had one.
    pub(super) async fn gone(&self, why: Option<String>) {
        let child = self.child.lock().take();
        let (why, details) = match (child, why) {
            _ if self.closing.is_cancelled() => {
                ("was ended with its session".to_owned(), Vec::new())
            }
            (Some(mut child), _) => {
                let end = child.describe_end().await;
                (format!("{CLOSED}: it {end}"), child.stderr())
            }
            (None, Some(why)) => (format!("{CLOSED}: it {why}"), Vec::new()),
            (None, None) => ("was ended with its session".to_owned(), Vec::new()),
        };
        let problem = self.problem(&why, details);
        let why = Outcome::failed(FailureKind::Disconnected, why);
        let was_asked = self.tap.end_session(&self.id, &why);
        let is_probed = self.is_probed.load(Ordering::Relaxed);
        let is_missed = (was_asked || !self.has_answered.load(Ordering::Relaxed)) && !is_probed;
        if is_missed && !self.closing.is_cancelled() {
            self.tap.lost(problem.clone());
        }
        let mut traffic = self.traffic.lock();
        traffic.end = Some(problem);
        traffic.asking.clear();
        drop(traffic);
        self.over.cancel();
        self.news.notify_waiters();
    }

    pub(super) fn problem(&self, why: &str, details: Vec<String>) -> SetupError {
        setup_error(&self.tap.server, why, &self.wire, details)
    }
}

/// Writes lines to the process until its session ends.
async fn write(
    mut stdin: Stdin,
    mut lines: mpsc::UnboundedReceiver<String>,
    closing: CancellationToken,
) {
    let writing = async {
        while let Some(line) = lines.recv().await {
            if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
                return;
            }
        }
    };
    closing.run_until_cancelled(writing).await;
}

/// Reads the process's stdout until it ends.
async fn read(stdout: impl AsyncRead + Unpin, piped: Arc<Piped>) {
    let mut lines = Lines::new(stdout, LONGEST_LINE);
    while let Ok(Some(line)) = lines.next().await {
        match line {
            Line::Whole(line) => match std::str::from_utf8(&line) {
                Ok(text) => piped.arrived(text.trim_end_matches('\r')),
                Err(_) => piped.arrived_broken(&line),
            },
            Line::TooLong => {
                piped.wire.noise(&too_long());
                if let Some(id) = wire::only(piped.open()) {
                    let why = format!("the answer is {}", too_long());
                    piped.unsent(&id, &Outcome::failed(FailureKind::InvalidResponse, why));
                }
            }
        }
    }
    piped.gone(None).await;
}

/// Takes over a session that is open.
pub(super) fn over_stream(
    (outbox, inbox): (Outbox, Inbox),
    id: String,
    tap: Arc<CallTap>,
) -> Arc<Piped> {
    let (piped, to_post) = Piped::new(id, None, tap, None);
    tokio::spawn(post(outbox, to_post, Arc::clone(&piped)));
    tokio::spawn(read_stream(inbox, Arc::clone(&piped)));
    piped
}

/// Sends messages until the session ends. Requests are sent beside each other, because a server may keep a POST until it has the answer;
/// what has no answer is taken before anything else is sent.
async fn post(outbox: Outbox, mut lines: mpsc::UnboundedReceiver<String>, piped: Arc<Piped>) {
    let closing = piped.closing.clone();
    let posting = async {
        while let Some(line) = lines.recv().await {
            let message = read_message(&line);
            let sending = send(outbox.clone(), line, piped.clone(), message.clone());
            if matches!(message, Message::Request { id: Some(_), .. }) {
                tokio::spawn(closing.clone().run_until_cancelled_owned(sending));
            } else {
                sending.await;
            }
        }
    };
    closing.run_until_cancelled(posting).await;
}

/// Sends one message. A request that cannot be sent is answered with the reason.
async fn send(outbox: Outbox, line: String, piped: Arc<Piped>, message: Message) {
    let Err(error) = outbox.begin().send(line.into_bytes()).await else {
        return;
    };
    let (kind, why) = match &error {
        LegacyError::SessionLost(_) => (FailureKind::Disconnected, LOST_SESSION.to_owned()),
        error if is_unreachable(error) => {
            let why = format!("cannot be reached: {}", root(error));
            (FailureKind::Disconnected, why)
        }
        error => (FailureKind::Transport, root(error)),
    };
    if kind == FailureKind::Disconnected {
        piped.tap.lost(piped.problem(&why, Vec::new()));
    }
    if let Message::Request { id: Some(id), .. } = &message {
        piped.unsent(id, &Outcome::failed(kind, why));
    } else {
        piped.wire.noise(&why);
    }
}

/// Reads the event stream until it, or the session, ends.
async fn read_stream(mut inbox: Inbox, piped: Arc<Piped>) {
    let closing = piped.closing.clone();
    let why = loop {
        let Some(next) = closing.run_until_cancelled(inbox.next()).await else {
            break None;
        };
        match next {
            Ok(message) => match std::str::from_utf8(&message) {
                Ok(text) => piped.arrived(text),
                Err(_) => piped.arrived_broken(&message),
            },
            Err(why) => break Some(why),
        }
    };
    drop(inbox);
    piped.gone(why).await;
}
