//! Records the calls that an agent makes by itself, through the gateway.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::digits;
use crate::model::{Client, Digits, FailureKind, Header, Object, Outcome, PassedOn};
use crate::run::limits::SetupError;

/// Where an agent with an MCP client of its own reaches a server of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The name the scenario gives the server.
    pub server: String,
    /// Speaks Streamable HTTP.
    pub url: String,
}

/// All recorded calls, in the order they began. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct CallRecorder {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    recorded: Mutex<Recorded>,
    news: Notify,
}

/// What has been recorded so far.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) calls: Vec<RecordedCall>,
    /// Beginnings and ends in the order they happened, by the indices of their calls.
    pub(super) events: Vec<(usize, Event)>,
    /// A server that cannot be used any more.
    pub(super) lost: Option<SetupError>,
    /// How many calls may be made.
    most: Option<usize>,
    /// A call was refused, because no more of them may be made.
    pub(super) is_full: bool,
    /// Headers that arrived with anything else than a call, where they are looked for.
    pub(super) passed_on: BTreeSet<PassedOn>,
    /// The clients of each server's sessions, as one.
    clients: BTreeMap<String, Client>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Begun,
    Ended,
}

/// A recorded call.
#[derive(Debug)]
pub(super) struct RecordedCall {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) arguments: Object,
    /// Of numbers in the arguments that 64 bits cannot hold.
    pub(super) digits: Digits,
    pub(super) begun: Instant,
    /// Its outcome, and how long that took; `None` while it is under way.
    pub(super) end: Option<(Outcome, Duration)>,
    /// What the same request was answered when it was asked again.
    pub(super) again: Vec<Outcome>,
    /// From when to when it was asked again; `None` where it was not.
    pub(super) asked: Option<(Instant, Instant)>,
    /// Headers that were passed on with it, where they are looked for: names in lower case, sorted.
    pub(super) headers: Vec<Header>,
}

/// A call under way. Dropped without an end, it is recorded as disconnected.
#[derive(Debug)]
pub struct PendingCall {
    recorder: CallRecorder,
    index: usize,
}

/// A call that has ended.
#[derive(Debug)]
pub struct EndedCall {
    recorder: CallRecorder,
    index: usize,
}

impl EndedCall {
    /// What the same request was answered when it was asked again, `since` this moment.
    pub fn again(self, outcomes: Vec<Outcome>, since: Instant) {
        let mut recorded = self.recorder.lock();
        let call = &mut recorded.calls[self.index];
        call.again = outcomes;
        call.asked = Some((since, Instant::now()));
    }
}

impl CallRecorder {
    /// A call begins, long integers in its arguments as [`digits`] marks them; `None` when it must not be made, because as many as the run
    /// may make have been made.
    pub fn begin(&self, server: &str, tool: &str, mut arguments: Object) -> Option<PendingCall> {
        let digits = digits::take_from(&mut arguments);
        let mut recorded = self.lock();
        let index = recorded.calls.len();
        if recorded.most.is_some_and(|it| index >= it) {
            recorded.is_full = true;
            drop(recorded);
            self.shared.news.notify_waiters();
            return None;
        }
        recorded.calls.push(RecordedCall {
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments,
            digits,
            begun: Instant::now(),
            end: None,
            again: Vec::new(),
            asked: None,
            headers: Vec::new(),
        });
        recorded.events.push((index, Event::Begun));
        drop(recorded);
        self.shared.news.notify_waiters();
        Some(PendingCall {
            recorder: self.clone(),
            index,
        })
    }

    /// A server cannot be used any more; only the first is kept.
    pub fn lost(&self, problem: SetupError) {
        self.lock().lost.get_or_insert(problem);
        self.shared.news.notify_waiters();
    }

    /// A header arrived with something that is no call.
    pub fn passed_on(&self, header: PassedOn) {
        self.lock().passed_on.insert(header);
    }

    /// More is known of the client of a server.
    pub fn client(&self, server: &str, learn: impl FnOnce(&mut Client)) {
        learn(self.lock().clients.entry(server.to_owned()).or_default());
    }

    /// What is known of the client of a server.
    pub(super) fn client_of(&self, server: &str) -> Option<Client> {
        self.lock().clients.get(server).cloned()
    }

    /// From when to when calls were asked again.
    pub(super) fn asked_again(&self) -> Vec<(Instant, Instant)> {
        let recorded = self.lock();
        recorded.calls.iter().filter_map(|it| it.asked).collect()
    }

    /// Waits until every call so far has ended, at most this long.
    pub(super) async fn wait_until_idle(&self, patience: Duration) {
        let waiting = async {
            loop {
                let news = self.shared.news.notified();
                tokio::pin!(news);
                news.as_mut().enable();
                if self.lock().calls.iter().all(|it| it.end.is_some()) {
                    return;
                }
                news.await;
            }
        };
        let _ = tokio::time::timeout(patience, waiting).await;
    }

    /// Limits how many calls may be made.
    pub(super) fn allow(&self, most: usize) {
        self.lock().most = Some(most);
    }

    /// Waits until more has happened than `seen` events, a server is lost, or a call was refused.
    pub(super) async fn news(&self, seen: usize) {
        loop {
            let news = self.shared.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            {
                let recorded = self.lock();
                if recorded.events.len() > seen || recorded.lost.is_some() || recorded.is_full {
                    return;
                }
            }
            news.await;
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.shared.recorded.lock()
    }
}

impl PendingCall {
    /// These headers were passed on with it: names in lower case, sorted.
    #[must_use]
    pub fn with_headers(self, headers: Vec<Header>) -> Self {
        self.recorder.lock().calls[self.index].headers = headers;
        self
    }

    /// The call has ended.
    pub fn end(self, outcome: Outcome) -> EndedCall {
        self.note(outcome);
        EndedCall {
            recorder: self.recorder.clone(),
            index: self.index,
        }
    }

    fn note(&self, outcome: Outcome) {
        let mut recorded = self.recorder.lock();
        let call = &mut recorded.calls[self.index];
        if call.end.is_some() {
            return;
        }
        call.end = Some((outcome, call.begun.elapsed()));
        recorded.events.push((self.index, Event::Ended));
        drop(recorded);
        self.recorder.shared.news.notify_waiters();
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.note(Outcome::failed(
            FailureKind::Disconnected,
            "the agent went away before the answer came",
        ));
    }
}
