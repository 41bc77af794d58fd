//! Who watches while scenarios run.

use std::sync::Arc;

use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status};
use crate::run::{self, Progress};

/// Is told how a suite goes on.
pub trait Observer: Send + Sync {
    /// A scenario begins; what is returned is told of its runs.
    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver>;

    /// A scenario has its result.
    fn finished(&self, result: &ScenarioResult);

    /// All scenarios have.
    fn ended(&self);
}

/// Is told how one scenario goes on.
pub trait ScenarioObserver: run::Observer {
    /// Who is told of one of several attempts at it, from 1.
    fn attempt(&self, number: u16, of: u16) -> Arc<dyn ScenarioObserver>;

    /// An attempt has ended.
    fn attempted(&self, number: u16, of: u16, status: Status);
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn begins(&self, _: &Scenario) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self)
    }

    fn finished(&self, _: &ScenarioResult) {}

    fn ended(&self) {}
}

impl run::Observer for Silent {
    fn progress(&self, _: Progress<'_>) {}
}

impl ScenarioObserver for Silent {
    fn attempt(&self, _: u16, _: u16) -> Arc<dyn ScenarioObserver> {
        Arc::new(Self)
    }

    fn attempted(&self, _: u16, _: u16, _: Status) {}
}
