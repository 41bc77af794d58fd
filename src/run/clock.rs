//! The time of a run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The longest pause between two checks of whether the time goes on.
const LOOK: Duration = Duration::from_millis(10);

/// Measures the time of a run from its start, and stands still during what is no part of it. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    started: Instant,
    stood: Arc<Mutex<Stood>>,
}

#[derive(Debug, Default)]
struct Stood {
    /// When it has stood still, from when to when, one after another.
    before: Vec<(Instant, Instant)>,
    /// Since when it stands still now.
    since: Option<Instant>,
}

impl Stood {
    /// How long it has stood still up to this moment.
    fn until(&self, moment: Instant) -> Duration {
        let now = self.since.map(|since| (since, moment));
        let stood = self.before.iter().copied().chain(now);
        stood
            .map(|(from, to)| to.min(moment).saturating_duration_since(from))
            .sum()
    }
}

/// While this lives, the clock stands still.
#[derive(Debug)]
pub(super) struct Standstill<'a>(&'a Clock);

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            stood: Arc::default(),
        }
    }

    /// How much of the run's time has passed.
    pub(super) fn elapsed(&self) -> Duration {
        self.at(Instant::now())
    }

    /// The run's time at a moment.
    pub(super) fn at(&self, moment: Instant) -> Duration {
        let passed = moment.saturating_duration_since(self.started);
        passed.saturating_sub(self.stood.lock().until(moment))
    }

    /// Whether a moment was before the run's start.
    pub(super) fn is_before(&self, moment: Instant) -> bool {
        moment < self.started
    }

    /// Stops the clock. At most one [`Standstill`] may exist at a time.
    pub(super) fn stand_still(&self) -> Standstill<'_> {
        self.stood.lock().since.get_or_insert_with(Instant::now);
        Standstill(self)
    }

    /// Waits until so much of the run's time has passed.
    pub(super) async fn reaches(&self, limit: Duration) {
        loop {
            let left = limit.saturating_sub(self.elapsed());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.max(LOOK)).await;
        }
    }
}

impl Drop for Standstill<'_> {
    fn drop(&mut self) {
        let mut stood = self.0.stood.lock();
        let since = stood.since.take();
        stood.before.extend(since.map(|it| (it, Instant::now())));
    }
}
