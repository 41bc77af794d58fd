//! One round of a command that runs scenarios: its only one, or with `--watch` one of many.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::cli::args::SelectArgs;
use crate::cli::select::{self, Purpose, Selected};
use crate::cli::{Console, Failure, runtime};
use crate::model::{NotRun, Status, SuiteResult};

/// One round of a command that runs scenarios.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The scenarios it is about, by id; `None` for those that the command line picks.
    only: Option<BTreeSet<String>>,
    /// What ends it; `None` where a signal does.
    stop: Option<CancellationToken>,
    outcome: Mutex<Option<Outcome>>,
}

/// What came of the scenarios of a round, by id.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) passed: BTreeSet<String>,
    /// Those that have not passed, or were left out because another has not.
    pub(super) failed: BTreeSet<String>,
    /// Those that were to run when the round was stopped.
    pub(super) unfinished: BTreeSet<String>,
}

impl Round {
    /// A round that others can stop.
    pub(super) fn new(only: Option<BTreeSet<String>>) -> Self {
        Self {
            only,
            stop: Some(CancellationToken::new()),
            outcome: Mutex::default(),
        }
    }

    pub(super) fn only(&self) -> Option<&BTreeSet<String>> {
        self.only.as_ref()
    }

    /// Whether it is one of many.
    pub(super) fn is_watched(&self) -> bool {
        self.stop.is_some()
    }

    /// The scenarios of this round.
    ///
    /// # Errors
    ///
    /// As [`select::select`].
    pub(super) fn select(
        &self,
        args: &SelectArgs,
        purpose: Purpose<'_>,
        console: Console,
    ) -> Result<Selected, Failure> {
        let Some(only) = &self.only else {
            return select::select(args, purpose, console);
        };
        let mut selected = select::select(&args.whatever_came_of_them(), purpose, console)?;
        if let Selected::Scenarios(chosen) = &mut selected {
            chosen.scenarios.retain(|it| only.contains(&it.id));
        }
        Ok(selected)
    }

    /// What interrupts it. Needs a running runtime.
    pub(super) fn interrupt(&self) -> CancellationToken {
        self.stop.clone().unwrap_or_else(runtime::interruption)
    }

    /// Stops it, as a signal would.
    pub(super) fn stop(&self) {
        if let Some(stop) = &self.stop {
            stop.cancel();
        }
    }

    /// Notes what came of it.
    pub(super) fn note(&self, suite: &SuiteResult) {
        let mut outcome = Outcome::default();
        for scenario in &suite.scenarios {
            let not_started = scenario.not_run.is_some_and(NotRun::is_not_started);
            let ids = match scenario.status {
                Status::Interrupted => &mut outcome.unfinished,
                Status::Skipped if !not_started => &mut outcome.passed,
                Status::Passed | Status::Recorded => &mut outcome.passed,
                _ => &mut outcome.failed,
            };
            ids.insert(scenario.id.clone());
        }
        *self.outcome.lock() = Some(outcome);
    }

    /// What came of it; `None` where it has not begun.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        self.outcome.lock().take()
    }
}
