//! Calls that an agent makes by itself, heard as they pass by.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::digits;
use crate::model::trajectory::{Failure, FailureKind, Outcome};
use crate::model::{Digits, Object};
use crate::run::stop::SetupError;

/// Where an agent with an MCP client of its own reaches a server of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The name the scenario gives the server.
    pub server: String,
    /// Speaks Streamable HTTP.
    pub url: String,
}

/// All calls that were heard, in the order they began. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct CallRecorder {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    heard: Mutex<Recorded>,
    news: Notify,
}

/// What has been heard so far.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) calls: Vec<RecordedCall>,
    /// Beginnings and ends in the order they were heard, by the places of their calls.
    pub(super) events: Vec<(usize, Event)>,
    /// A server that cannot be used any more.
    pub(super) lost: Option<SetupError>,
    /// How many calls may be made.
    most: Option<usize>,
    /// A call was refused, because no more of them may be made.
    pub(super) is_full: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Begun,
    Ended,
}

/// A call that was heard.
#[derive(Debug)]
pub(super) struct RecordedCall {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) arguments: Object,
    /// Of integers in the arguments that are too long for 64 bits.
    pub(super) digits: Digits,
    pub(super) begun: Instant,
    /// What became of it, and how long that took; `None` while it is under way.
    pub(super) end: Option<(Outcome, Duration)>,
    /// What the same request was answered when it was asked again.
    pub(super) again: Vec<Outcome>,
}

/// A call under way. Dropped without an end, nobody waits for its answer any more.
#[derive(Debug)]
pub struct PendingCall {
    recorder: CallRecorder,
    place: usize,
}

/// A call that has ended.
#[derive(Debug)]
pub struct Heard {
    recorder: CallRecorder,
    place: usize,
}

impl Heard {
    /// What the same request was answered when it was asked again.
    pub fn again(self, outcomes: Vec<Outcome>) {
        self.recorder.lock().calls[self.place].again = outcomes;
    }
}

impl CallRecorder {
    /// A call begins, long integers in its arguments as [`digits`] marks them; `None` when it must not be made, because as many as the run may make have been made.
    pub fn begin(&self, server: &str, tool: &str, mut arguments: Object) -> Option<PendingCall> {
        let digits = digits::take_from(&mut arguments);
        let mut heard = self.lock();
        let place = heard.calls.len();
        if heard.most.is_some_and(|it| place >= it) {
            heard.is_full = true;
            drop(heard);
            self.shared.news.notify_waiters();
            return None;
        }
        heard.calls.push(RecordedCall {
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments,
            digits,
            begun: Instant::now(),
            end: None,
            again: Vec::new(),
        });
        heard.events.push((place, Event::Begun));
        drop(heard);
        self.shared.news.notify_waiters();
        Some(PendingCall {
            recorder: self.clone(),
            place,
        })
    }

    /// A server cannot be used any more; only the first is kept.
    pub fn lost(&self, problem: SetupError) {
        self.lock().lost.get_or_insert(problem);
        self.shared.news.notify_waiters();
    }

    /// Lets so many calls be made and no more.
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
                let heard = self.lock();
                if heard.events.len() > seen || heard.lost.is_some() || heard.is_full {
                    return;
                }
            }
            news.await;
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.shared.heard.lock()
    }
}

impl PendingCall {
    /// The call has ended.
    pub fn end(self, outcome: Outcome) -> Heard {
        self.note(outcome);
        Heard {
            recorder: self.recorder.clone(),
            place: self.place,
        }
    }

    fn note(&self, outcome: Outcome) {
        let mut heard = self.recorder.lock();
        let call = &mut heard.calls[self.place];
        if call.end.is_some() {
            return;
        }
        call.end = Some((outcome, call.begun.elapsed()));
        heard.events.push((self.place, Event::Ended));
        drop(heard);
        self.recorder.shared.news.notify_waiters();
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.note(Outcome::Failure(Failure {
            kind: FailureKind::Disconnected,
            message: "the agent went away before the answer came".to_owned(),
            code: None,
            data: None,
        }));
    }
}
