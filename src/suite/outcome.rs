//! The results of scenarios that have no verdict, and what all results have in common.

use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult, Status};
use crate::store::StoreError;

impl From<&StoreError> for Problem {
    fn from(error: &StoreError) -> Self {
        Self {
            hint: error.hint().map(str::to_owned),
            ..Self::new(error.to_string())
        }
    }
}

/// The result of a scenario whose run panicked. That is a bug of this program; the other scenarios keep their results.
pub(crate) fn broken(scenario: &Scenario) -> ScenarioResult {
    ScenarioResult {
        problem: Some(
            Problem::new("mcp-eval itself failed on this scenario")
                .hint("this is a bug: please report it with what was printed above"),
        ),
        ..result(scenario, Status::Error)
    }
}

/// What every result says of its scenario.
pub(crate) fn result(scenario: &Scenario, status: Status) -> ScenarioResult {
    let path = scenario.path.display().to_string();
    ScenarioResult {
        description: scenario.description.clone(),
        user_intent: scenario.user_intent.clone(),
        row_of: scenario.row_of.clone(),
        cell: scenario.cell.clone(),
        tags: scenario.tags.clone(),
        labels: scenario.labels.clone(),
        places: scenario.places.clone(),
        ..ScenarioResult::new(&scenario.id, &scenario.name, path, status)
    }
}

/// Whether a result needs no attention.
pub(crate) fn is_fine(result: &ScenarioResult) -> bool {
    result.status.is_fine() || result.status == Status::Skipped
}

pub(crate) fn not_run(scenario: &Scenario, status: Status, why: String) -> ScenarioResult {
    ScenarioResult {
        problem: Some(Problem::new(why)),
        ..result(scenario, status)
    }
}
