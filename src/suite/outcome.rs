//! What is told of a scenario that has no verdict, and what all results have in common.

use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult, Status};

/// The result of a scenario whose run ended in a panic: a fault of ours, and no reason to lose the others.
pub(crate) fn broken(scenario: &Scenario) -> ScenarioResult {
    ScenarioResult {
        problem: Some(Problem {
            message: "mcp-eval itself failed on this scenario".to_owned(),
            hint: Some("this is a bug: please report it with what was printed above".to_owned()),
            details: Vec::new(),
        }),
        ..result(scenario, Status::Error)
    }
}

/// What every result says of its scenario.
pub(crate) fn result(scenario: &Scenario, status: Status) -> ScenarioResult {
    let path = scenario.path.display().to_string();
    ScenarioResult {
        description: scenario.description.clone(),
        user_intent: scenario.user_intent.clone(),
        tags: scenario.tags.clone(),
        ..ScenarioResult::new(&scenario.id, &scenario.name, path, status)
    }
}

/// Nobody needs to look at it.
pub(crate) fn is_fine(result: &ScenarioResult) -> bool {
    matches!(
        result.status,
        Status::Passed | Status::Recorded | Status::Skipped
    )
}

pub(crate) fn not_run(scenario: &Scenario, status: Status, why: String) -> ScenarioResult {
    ScenarioResult {
        problem: Some(problem(why)),
        ..result(scenario, status)
    }
}

/// A problem that says it all in one sentence.
pub(crate) fn problem(message: impl Into<String>) -> Problem {
    Problem {
        message: message.into(),
        hint: None,
        details: Vec::new(),
    }
}

pub(crate) fn was_interrupted(result: &ScenarioResult) -> bool {
    result.status == Status::Interrupted
}
