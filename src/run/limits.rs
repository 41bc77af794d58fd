//! The limits of runs: the time of one, what all of one command may cost together, and why a run ends early.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::model::Trouble;
use crate::model::usage::costs_apart;

/// Money for the models of a whole command, or for some of them, in the currency of their prices.
#[derive(Debug)]
pub struct Budget {
    /// `None` where only what it is a share of is bounded.
    limit: Option<f64>,
    /// The option of the command line that sets the limit.
    option: &'static str,
    spent: Mutex<f64>,
    /// What is spent here is spent there, too.
    share_of: Option<Arc<Self>>,
}

impl Budget {
    /// The budget of a command.
    pub fn new(limit: f64) -> Self {
        Self {
            limit: Some(limit),
            option: "--budget",
            spent: Mutex::default(),
            share_of: None,
        }
    }

    /// What judges may spend: at most so much, and of a whole where there is one. `None` where nothing bounds it.
    pub fn of_judges(limit: Option<f64>, whole: Option<Arc<Self>>) -> Option<Self> {
        (limit.is_some() || whole.is_some()).then(|| Self {
            limit,
            option: "--judge-budget",
            spent: Mutex::default(),
            share_of: whole,
        })
    }

    /// Why nothing more may be spent; `None` while something is left.
    pub fn exhausted(&self) -> Option<String> {
        let spent = *self.spent.lock();
        let own = self.limit.filter(|limit| spent >= *limit).map(|limit| {
            let [spent, _] = costs_apart(spent, limit);
            format!(
                "the budget is spent: {spent} of {limit} (`{}`)",
                self.option
            )
        });
        own.or_else(|| self.share_of.as_ref()?.exhausted())
    }

    /// Whether more may be spent.
    ///
    /// # Errors
    ///
    /// That the budget is used up.
    pub fn check(&self) -> Result<(), SetupError> {
        self.exhausted()
            .map_or(Ok(()), |why| Err(SetupError::new(why)))
    }

    /// Counts an expense.
    ///
    /// # Errors
    ///
    /// That the budget cannot be kept, because nobody knows what was spent.
    pub fn spend(&self, cost: Option<f64>) -> Result<(), SetupError> {
        let Some(cost) = cost else {
            let option = self.limit.map_or("--budget", |_| self.option);
            let why = format!("`{option}` cannot be kept: what the model's answer cost is unknown");
            return Err(SetupError::new(why));
        };
        *self.spent.lock() += cost;
        self.share_of
            .as_ref()
            .map_or(Ok(()), |whole| whole.spend(Some(cost)))
    }
}

/// A run cannot go on without the money for it.
impl From<SetupError> for Stop {
    fn from(error: SetupError) -> Self {
        Self::Error(error)
    }
}

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

/// Why an agent has to stop before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A critical call failed.
    Blocked { message: String },
    /// A limit of the scenario was reached.
    LimitReached { message: String },
    /// The run cannot go on, for a reason that is no verdict on the servers' answers.
    Error(SetupError),
}

/// Why a run could not be set up or carried on. Such a run gets no verdict on the system under test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SetupError {
    pub message: String,
    /// Last lines of a server's stderr and the like.
    pub details: Vec<String>,
    /// What stood in the way, where another try may well go otherwise.
    pub trouble: Option<Trouble>,
}

impl SetupError {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: Vec::new(),
            trouble: None,
        }
    }
}

impl Stop {
    /// The limit of this name was reached; `reached` says how.
    pub(super) fn at_limit(name: &str, reached: &str) -> Self {
        Self::LimitReached {
            message: format!("`{name}` ended the run: {reached}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::run::limits::Budget;

    #[test]
    fn what_judges_spend_is_spent_of_the_whole() {
        let whole = Arc::new(Budget::new(1.0));
        let judges = Budget::of_judges(Some(0.5), Some(Arc::clone(&whole))).unwrap();
        judges.spend(Some(0.4)).unwrap();
        assert_eq!(judges.exhausted(), None);
        judges.spend(Some(0.1)).unwrap();
        let why = judges.exhausted().unwrap();
        assert_eq!(why, "the budget is spent: 0.5000 of 0.5 (`--judge-budget`)");
        assert_eq!(whole.exhausted(), None);
        whole.spend(Some(0.5)).unwrap();
        assert!(whole.exhausted().unwrap().contains("(`--budget`)"));
        let unbounded = Budget::of_judges(None, Some(Arc::clone(&whole))).unwrap();
        assert!(unbounded.exhausted().unwrap().contains("(`--budget`)"));
        assert!(
            unbounded
                .spend(None)
                .unwrap_err()
                .message
                .contains("`--budget`")
        );
        assert!(Budget::of_judges(None, None).is_none());
    }
}
