//! What is going on, while it goes on: a bar on a terminal, lines elsewhere, and each failure as it happens.

mod scenario;
mod suite;

use std::sync::Arc;

pub(super) use scenario::ScenarioProgress;
pub(super) use suite::SuiteProgress;

use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::suite::ScenarioResult;
use crate::suite::{self as scenarios, ScenarioObserver};

/// Shows the progress of a suite.
pub(super) struct SuiteObserver(pub(super) Arc<SuiteProgress>);

impl scenarios::Observer for SuiteObserver {
    fn begins(&self, scenario: &Scenario) -> Arc<dyn ScenarioObserver> {
        self.0.begins(scenario);
        Arc::new(ScenarioProgress::new(&self.0, scenario))
    }

    fn finished(&self, result: &Redacted<ScenarioResult>) {
        self.0.finished(result);
    }

    fn ended(&self) {
        self.0.ended();
    }
}
