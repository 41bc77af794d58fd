//! A mock server and its clients: their sessions, changes from outside, and notifications to all of them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::{Notify, broadcast, oneshot};
use tokio_util::sync::CancellationToken;

use crate::mock::call_log::CallLog;
use crate::mock::core::Core;
use crate::mock::state::{Announcement, Client};
use crate::mock::wire::Id;
use crate::protocol::{self, Mirrored};
use crate::scenario_file::mock::{HttpResponses, MockTool};

/// The most sessions kept; a new one replaces the one that was not used for longest.
const MAX_SESSIONS: usize = 1000;

/// A mock server and its clients.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) core: Mutex<Core>,
    sessions: Mutex<Sessions>,
    calls: Mutex<CallLog>,
    news: broadcast::Sender<Announcement>,
}

#[derive(Debug, Default)]
struct Sessions {
    by_id: HashMap<String, Arc<Session>>,
    /// Counts uses, to find the session that was not used for longest.
    uses: u64,
}

impl Service {
    pub(super) fn new(core: Core) -> Arc<Self> {
        Arc::new(Self {
            core: Mutex::new(core),
            sessions: Mutex::default(),
            calls: Mutex::default(),
            news: broadcast::Sender::new(MAX_WAITING),
        })
    }

    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock()
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, CallLog> {
        self.calls.lock()
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

    /// Forgets the calls so far, and puts state, responses and hidden tools back as they were declared.
    pub(super) fn reset(&self) {
        let changed = self.core().reset();
        self.calls().clear();
        if changed {
            self.announce(&Announcement::ListChanged("tools"));
        }
    }

    /// How answers to HTTP requests are sent.
    pub(super) fn responds_with(&self) -> HttpResponses {
        self.core().declared.http_responses
    }

    /// The arguments of a tool that headers repeat; none where there is no such tool.
    pub(super) fn mirrored_by(&self, tool: &str) -> Vec<Mirrored> {
        let mut core = self.core();
        let schema = core.tools.find(tool).and_then(|it| it.tool.input_schema());
        schema.map(protocol::mirrored).unwrap_or_default()
    }

    /// A new session under an id that is not in use.
    pub(super) fn open(&self, id: &str) -> Arc<Session> {
        let session = Arc::new(Session::default());
        let mut sessions = self.sessions.lock();
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
        let mut sessions = self.sessions.lock();
        let session = sessions.by_id.get(id).cloned()?;
        sessions.touch(&session);
        Some(session)
    }

    /// Ends a session; false when there is none of the id.
    pub(super) fn close(&self, id: &str) -> bool {
        let session = self.sessions.lock().by_id.remove(id);
        if let Some(session) = &session {
            session.ended.cancel();
        }
        session.is_some()
    }

    /// All notifications from now on that belong to no request.
    pub(super) fn news(&self) -> broadcast::Receiver<Announcement> {
        self.news.subscribe()
    }

    /// Sends a notification to all clients it concerns.
    pub(super) fn announce(&self, news: &Announcement) {
        // Fails when nobody listens.
        let _ = self.news.send(news.clone());
        let message = news.message(None);
        for session in self.sessions.lock().by_id.values() {
            if news.concerns(&session.client.lock()) {
                session.outbox.put(message.clone());
            }
        }
    }
}

impl Sessions {
    fn touch(&mut self, session: &Session) {
        self.uses += 1;
        session.last_use.store(self.uses, Ordering::Relaxed);
    }
}

/// The most messages kept for a client that does not fetch them; the oldest are dropped.
const MAX_WAITING: usize = 1000;

/// One client and what is under way with it.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) client: Mutex<Client>,
    /// It stands for a single request, whose headers say that it is one of the revision 2026-07-28.
    pub(super) is_stateless: bool,
    pub(super) last_use: AtomicU64,
    /// Messages that belong to no request.
    pub(super) outbox: Outbox,
    /// Our requests that wait for the client's answer.
    pub(super) asked: Mutex<HashMap<u64, oneshot::Sender<Result<Value, Value>>>>,
    pub(super) last_number: AtomicU64,
    /// The client's requests that are being answered.
    pub(super) running: Mutex<HashMap<Id, CancellationToken>>,
    /// Cancelled when another stream fetches what lies in the outbox.
    stream: Mutex<CancellationToken>,
    /// Cancelled when the client has said its last.
    pub(super) closing: CancellationToken,
    /// Cancelled when the session has ended.
    pub(super) ended: CancellationToken,
}

/// Messages that wait to be fetched.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<VecDeque<String>>,
    arrived: Notify,
}

impl Session {
    /// A stand-in for the session that a request of the revision 2026-07-28 does not have.
    pub(super) fn of_one_request() -> Self {
        Self {
            is_stateless: true,
            ..Self::default()
        }
    }

    /// Makes the caller the one reader of the outbox. The token is cancelled when another reader takes over, or the session
    /// ends.
    pub(super) fn take_over(&self) -> CancellationToken {
        let ours = self.ended.child_token();
        std::mem::replace(&mut *self.stream.lock(), ours.clone()).cancel();
        ours
    }

    /// Cancels the request that a `notifications/cancelled` names, if it is being answered.
    pub(super) fn cancel(&self, params: &Value) {
        let Some(id) = params.get("requestId").and_then(Id::of) else {
            return;
        };
        if let Some(running) = self.running.lock().get(&id) {
            running.cancel();
        }
    }
}

impl Outbox {
    pub(super) fn put(&self, message: String) {
        let mut waiting = self.waiting.lock();
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
            if let Some(message) = self.waiting.lock().pop_front() {
                return message;
            }
            self.arrived.notified().await;
        }
    }
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client disconnected, or the server was stopped.
    Closed,
    /// A fault wants the process to end with this code.
    Exit(u8),
}
