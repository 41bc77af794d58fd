//! The events of everything that runs: as they come, and the last of those that have been.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use crate::json;
use crate::model::Redacted;

/// How many events can be had again.
const KEPT: usize = 10_000;

/// How many are sent at once at most.
const PIECE: usize = 256;

/// All events, with a number each. Their ids begin with what tells this server from an earlier one.
pub(super) struct Events {
    kept: Mutex<Kept>,
    /// The number of the next event.
    next: watch::Sender<u64>,
    server: String,
}

#[derive(Default)]
struct Kept {
    events: VecDeque<Arc<str>>,
    /// The number of the first of them.
    first: u64,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            next: watch::channel(0).0,
            server: format!("{:x}", Timestamp::now().as_microsecond()),
        }
    }
}

impl Events {
    /// Tells of every event that comes from now on.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.next.subscribe()
    }

    /// Tells those who listen.
    pub(super) fn tell(&self, kind: &str, data: &Redacted<Value>) {
        let mut kept = self.kept.lock();
        let number = kept.first + kept.events.len() as u64;
        let id = format!("{}-{number}", self.server);
        kept.events.push_back(written(kind, &id, data).into());
        if kept.events.len() > KEPT {
            kept.events.pop_front();
            kept.first += 1;
        }
        self.next.send_replace(number + 1);
    }

    /// The number of the event that comes behind this id; `None` where nobody knows it any more.
    pub(super) fn behind(&self, id: &str) -> Option<u64> {
        let number = id.strip_prefix(&self.server)?.strip_prefix('-')?;
        let next = number.parse::<u64>().ok()?.checked_add(1)?;
        let kept = self.kept.lock();
        let end = kept.first + kept.events.len() as u64;
        (kept.first..=end).contains(&next).then_some(next)
    }

    /// The id of the last event; `None` before the first.
    pub(super) fn last_id(&self) -> Option<String> {
        let (_, next) = self.ends();
        let number = next.checked_sub(1)?;
        Some(format!("{}-{number}", self.server))
    }

    /// The number of the oldest event that is kept, and of the next one.
    pub(super) fn ends(&self) -> (u64, u64) {
        let kept = self.kept.lock();
        (kept.first, kept.first + kept.events.len() as u64)
    }

    /// Some of the events from this number on, and the number behind them; those that are gone are passed over.
    pub(super) fn from(&self, number: u64) -> (String, u64) {
        let kept = self.kept.lock();
        let begin = number.max(kept.first);
        let skip = usize::try_from(begin - kept.first).unwrap_or(usize::MAX);
        let piece: Vec<&str> = (kept.events.iter().skip(skip).take(PIECE))
            .map(|it| &**it)
            .collect();
        let behind = begin + piece.len() as u64;
        (piece.concat(), behind)
    }
}

/// An event as the stream has it.
fn written(kind: &str, id: &str, data: &Value) -> String {
    // A JSON text has no line breaks of its own.
    let data = json::escaped(data.to_string());
    format!("id: {id}\nevent: {kind}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Events, KEPT, PIECE};
    use crate::redact::Redactor;

    #[test]
    fn the_last_events_can_be_had_again_and_older_ids_are_unknown() {
        let events = Events::default();
        let redactor = Redactor::default();
        for number in 0..KEPT + 10 {
            events.tell("step", &redactor.value(json!({ "number": number })));
        }
        let id = |number: usize| format!("{}-{number}", events.server);
        assert_eq!(events.ends(), (10, KEPT as u64 + 10));
        // Behind the event before the oldest that is kept, nothing is lost.
        assert_eq!(events.behind(&id(9)), Some(10));
        assert_eq!(events.behind(&id(8)), None);
        assert_eq!(events.behind(&id(KEPT + 9)), Some(KEPT as u64 + 10));
        assert_eq!(events.behind(&id(KEPT + 10)), None);
        for unknown in ["", "1", "another-1", &format!("{}-x", events.server)] {
            assert_eq!(events.behind(unknown), None, "{unknown}");
        }
        let (piece, behind) = events.from(0);
        assert!(piece.starts_with(&format!(
            "id: {}\nevent: step\ndata: {{\"number\":10}}\n\n",
            id(10)
        )));
        assert_eq!(behind, 10 + PIECE as u64);
    }
}
