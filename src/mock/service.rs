//! A mock server as its fronts see it: messages of clients in, deliveries out.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::mock::call_log::CallLog;
use crate::mock::core::Core;
use crate::mock::exchange::Event;
use crate::mock::faults::{Delivery, deliver};
use crate::mock::news::Announcement;
use crate::mock::running::Running;
use crate::mock::session::Session;
use crate::mock::wire::{self, Id, Incoming, SERVER_ERROR};
use crate::model::interactions::{HttpResponses, MockTool};

/// The most sessions kept; the one that was silent for longest makes room for a new one.
const MAX_SESSIONS: usize = 1000;

/// The most requests of one client that are being answered at once.
const MAX_RUNNING: usize = 1000;

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
        let mut running = lock(&session.running);
        if running.len() >= MAX_RUNNING {
            let error = wire::error(SERVER_ERROR, "too many requests are under way");
            return Received::Now(deliver(
                &exchange.id,
                wire::error_reply(&exchange.id, &error),
                None,
            ));
        }
        running.insert(exchange.id.clone(), cancelled.clone());
        drop(running);
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

/// A lock whose holder has panicked still guards usable data: all changes under our locks are made in one step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
