//! A mock server as its fronts see it: messages of clients in, deliveries out.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::mock::call_log::CallLog;
use crate::mock::core::Core;
use crate::mock::exchange::{Announcement, Event, Exchange};
use crate::mock::faults::{Delivery, deliver};
use crate::mock::session::Client;
use crate::mock::wire::{self, Id, Incoming};
use crate::model::interactions::{HttpResponses, MockTool};

/// The most sessions kept; the one that was silent for longest makes room for a new one.
const MAX_SESSIONS: usize = 1000;
/// The most messages kept for a client that does not fetch them; the oldest make room.
const MAX_WAITING: usize = 1000;
/// How long a client may take to answer a request of ours.
const ASK_TIMEOUT: Duration = Duration::from_secs(300);

/// A mock server and its clients.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) core: Mutex<Core>,
    sessions: Mutex<Sessions>,
    calls: Mutex<CallLog>,
}

#[derive(Debug, Default)]
struct Sessions {
    by_id: HashMap<String, Arc<Session>>,
    /// Counts uses, to know who was silent for longest.
    uses: u64,
}

/// One client and what is under way with it.
#[derive(Debug, Default)]
pub(super) struct Session {
    client: Mutex<Client>,
    last_use: AtomicU64,
    /// Messages that belong to no request.
    pub(super) outbox: Outbox,
    /// Our requests that wait for the client's answer.
    asked: Mutex<HashMap<u64, oneshot::Sender<Result<Value, Value>>>>,
    last_number: AtomicU64,
    /// The client's requests that are being answered.
    running: Mutex<HashMap<Id, CancellationToken>>,
    /// Cancelled when another stream fetches what lies in the outbox.
    stream: Mutex<CancellationToken>,
    /// Cancelled when the session has ended.
    pub(super) ended: CancellationToken,
}

/// Messages that wait to be fetched.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<VecDeque<String>>,
    arrived: Notify,
}

/// What to do about a message of a client.
#[derive(Debug)]
pub(super) enum Received {
    /// Nothing goes back.
    Nothing,
    /// The message is none: this error goes back.
    Refused(String),
    /// This goes back at once.
    Now(Delivery),
    /// Something goes back in time.
    Later(Running),
}

/// What goes back over time.
#[derive(Debug)]
pub(super) enum Outgoing {
    Message(String),
    Last(Delivery),
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Running {
    service: Arc<Service>,
    session: Arc<Session>,
    exchange: Exchange,
    event: Event,
    cancelled: CancellationToken,
}

impl Service {
    pub(super) fn new(core: Core) -> Arc<Self> {
        Arc::new(Self {
            core: Mutex::new(core),
            sessions: Mutex::default(),
            calls: Mutex::default(),
        })
    }

    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        lock(&self.core)
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, CallLog> {
        lock(&self.calls)
    }

    /// Adds a tool, or replaces the one of the same name.
    pub(super) fn put_tool(&self, tool: MockTool) -> Result<(), String> {
        self.core().tools.put(tool)?;
        self.announce(&Announcement::ListChanged("tools"));
        Ok(())
    }

    /// Removes a tool; false when there is none of the name.
    pub(super) fn remove_tool(&self, name: &str) -> bool {
        let removed = self.core().tools.remove(name);
        if removed {
            self.announce(&Announcement::ListChanged("tools"));
        }
        removed
    }

    pub(super) fn clear_tools(&self) {
        self.core().tools.clear();
        self.announce(&Announcement::ListChanged("tools"));
    }

    /// Forgets calls, state and used-up responses.
    pub(super) fn reset(&self) {
        self.core().reset();
        self.calls().clear();
    }

    /// How answers to HTTP requests are sent.
    pub(super) fn responds_with(&self) -> HttpResponses {
        self.core().declared.http_responses
    }

    /// A new session under an id that nobody uses.
    pub(super) fn open(&self, id: &str) -> Arc<Session> {
        let session = Arc::new(Session::default());
        let mut sessions = lock(&self.sessions);
        if sessions.by_id.len() >= MAX_SESSIONS {
            let silent = sessions.by_id.iter();
            let silent = silent.min_by_key(|(_, it)| it.last_use.load(Ordering::Relaxed));
            if let Some(silent) = silent.map(|(id, _)| id.clone())
                && let Some(session) = sessions.by_id.remove(&silent)
            {
                session.ended.cancel();
            }
        }
        sessions.touch(&session);
        sessions.by_id.insert(id.to_owned(), Arc::clone(&session));
        session
    }

    pub(super) fn session(&self, id: &str) -> Option<Arc<Session>> {
        let mut sessions = lock(&self.sessions);
        let session = sessions.by_id.get(id).cloned()?;
        sessions.touch(&session);
        Some(session)
    }

    /// Ends a session; false when there is none of the id.
    pub(super) fn close(&self, id: &str) -> bool {
        let session = lock(&self.sessions).by_id.remove(id);
        if let Some(session) = &session {
            session.ended.cancel();
        }
        session.is_some()
    }

    /// Tells news to all clients it concerns.
    pub(super) fn announce(&self, news: &Announcement) {
        let message = news.message();
        for session in lock(&self.sessions).by_id.values() {
            if news.concerns(&lock(&session.client)) {
                session.outbox.put(message.clone());
            }
        }
    }

    /// Takes a message as it came over the wire.
    pub(super) fn receive(self: &Arc<Self>, session: &Arc<Session>, bytes: &[u8]) -> Received {
        self.handle(session, Incoming::read(bytes))
    }

    /// Takes a message.
    pub(super) fn handle(self: &Arc<Self>, session: &Arc<Session>, message: Incoming) -> Received {
        match message {
            Incoming::Invalid { reply } => Received::Refused(reply),
            Incoming::Answer { number, outcome } => {
                let asked = number.and_then(|it| lock(&session.asked).remove(&it));
                if let Some(asked) = asked {
                    // Nobody waits for the answer when the request was cancelled.
                    let _ = asked.send(outcome);
                }
                Received::Nothing
            }
            Incoming::Notification { method, params } => {
                if method == "notifications/cancelled" {
                    session.cancel(&params);
                }
                Received::Nothing
            }
            Incoming::Request { id, method, params } => self.request(session, id, &method, &params),
        }
    }

    fn request(
        self: &Arc<Self>,
        session: &Arc<Session>,
        id: Id,
        method: &str,
        params: &Value,
    ) -> Received {
        let (exchange, event) = {
            let mut core = self.core();
            let mut client = lock(&session.client);
            let (mut exchange, called) = core.begin(&mut client, id, method, params);
            if let Some(called) = called {
                self.calls().record(&core.name, called);
            }
            let event = core.advance(&client, &mut exchange, None);
            (exchange, event)
        };
        let event = match event {
            Event::Answer { id, reply, fault } => {
                return Received::Now(deliver(&id, reply, fault));
            }
            event => event,
        };
        let cancelled = session.ended.child_token();
        lock(&session.running).insert(exchange.id.clone(), cancelled.clone());
        Received::Later(Running {
            service: Arc::clone(self),
            session: Arc::clone(session),
            exchange,
            event,
            cancelled,
        })
    }
}

impl Sessions {
    fn touch(&mut self, session: &Session) {
        self.uses += 1;
        session.last_use.store(self.uses, Ordering::Relaxed);
    }
}

impl Session {
    /// Begins to fetch from the outbox in place of whoever did. The token is cancelled when somebody else takes over, or the session
    /// ends.
    pub(super) fn take_over(&self) -> CancellationToken {
        let ours = self.ended.child_token();
        std::mem::replace(&mut *lock(&self.stream), ours.clone()).cancel();
        ours
    }

    fn cancel(&self, params: &Value) {
        let Some(id) = params.get("requestId").and_then(Id::of) else {
            return;
        };
        if let Some(running) = lock(&self.running).get(&id) {
            running.cancel();
        }
    }
}

impl Outbox {
    pub(super) fn put(&self, message: String) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(message);
        drop(waiting);
        self.arrived.notify_one();
    }

    /// The next message, once there is one.
    pub(super) async fn next(&self) -> String {
        loop {
            if let Some(message) = lock(&self.waiting).pop_front() {
                return message;
            }
            self.arrived.notified().await;
        }
    }
}

impl Running {
    /// Plays the exchange to its end. It ends early, without an answer, when it is cancelled or nobody listens any more.
    pub(super) async fn drive(mut self, out: mpsc::Sender<Outgoing>) {
        let cancelled = self.cancelled.clone();
        tokio::select! {
            () = self.play(&out) => {}
            () = cancelled.cancelled() => {}
            () = out.closed() => {}
        }
        lock(&self.session.running).remove(&self.exchange.id);
    }

    async fn play(&mut self, out: &mpsc::Sender<Outgoing>) {
        loop {
            let placeholder = Event::Wait(Duration::ZERO);
            let answer = match std::mem::replace(&mut self.event, placeholder) {
                Event::Wait(wait) => {
                    tokio::time::sleep(wait).await;
                    None
                }
                Event::Message(message) => {
                    let _ = out.send(Outgoing::Message(message)).await;
                    None
                }
                Event::Announce(news) => {
                    self.service.announce(&news);
                    None
                }
                Event::Ask { method, params } => Some(self.ask(out, method, &params).await),
                Event::Answer { id, reply, fault } => {
                    let _ = out.send(Outgoing::Last(deliver(&id, reply, fault))).await;
                    return;
                }
            };
            let mut core = self.service.core();
            let client = lock(&self.session.client);
            self.event = core.advance(&client, &mut self.exchange, answer);
        }
    }

    async fn ask(
        &self,
        out: &mpsc::Sender<Outgoing>,
        method: &str,
        params: &Value,
    ) -> Result<Value, Value> {
        let number = self.session.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        let (answered, answer) = oneshot::channel();
        lock(&self.session.asked).insert(number, answered);
        let _ = out
            .send(Outgoing::Message(wire::request(number, method, params)))
            .await;
        let answer = tokio::time::timeout(ASK_TIMEOUT, answer).await;
        lock(&self.session.asked).remove(&number);
        let no_answer = || Err(wire::error(wire::SERVER_ERROR, "no answer came"));
        answer.ok().and_then(Result::ok).unwrap_or_else(no_answer)
    }
}

/// A lock whose holder has panicked still guards usable data: all changes under our locks are made in one step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
