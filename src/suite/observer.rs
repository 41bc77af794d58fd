//! The traits by which the progress of running scenarios is reported.

use std::sync::Arc;

use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status};
use crate::run::{self, Progress};

/// Receives the progress of a suite.
pub trait Observer: Send + Sync {
    /// The runs are kept under this id.
    fn kept_as(&self, _run: &str) {}

    /// A scenario begins. Returns the observer that receives the progress of its runs.
    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver>;

    /// A scenario has its result.
    fn finished(&self, _result: &Redacted<ScenarioResult>) {}

    /// All scenarios have their results.
    fn ended(&self) {}
}

/// Receives the progress of one scenario.
pub trait ScenarioObserver: run::Observer {
    /// The observer of one of several attempts at it; `number` counts from 1.
    fn attempt(&self, number: u16, of: u16) -> Arc<dyn ScenarioObserver>;

    /// An attempt has ended.
    fn attempted(&self, _number: u16, _of: u16, _status: Status) {}

    /// What came of it is known, but for what is found out by running it once more.
    fn judged(&self, _result: &Redacted<ScenarioResult>) {}
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn begins(&self, _: &Scenario) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self)
    }
}

impl run::Observer for Silent {
    fn progress(&self, _: Progress<'_>) {}
}

impl ScenarioObserver for Silent {
    fn attempt(&self, _: u16, _: u16) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self)
    }
}
