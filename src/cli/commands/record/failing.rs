//! What speaks against keeping a run, and how it deviates from what its scenario expects.

use crate::cli::patience::{Patience, Stopped};
use crate::model::comparison::ExecutionStatus;
use crate::model::rules::Responses;
use crate::model::scenario::Scenario;
use crate::model::suite::Check;
use crate::model::trajectory::{Ending, FailureKind, Outcome, Trajectory};
use crate::report::deviations::deviations;
use crate::score;
use crate::text::shorten;

/// Why a run should not become a baseline unseen. That a tool answers with an error may well be meant; that no call succeeds, or that
/// there is no answer at all, hardly.
pub(super) fn why_failing(
    scenario: &Scenario,
    trajectory: &Trajectory,
    checks: &[Check],
) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Ending::Blocked { message } = &trajectory.ending {
        reasons.push(message.clone());
    } else if score::status(trajectory, &scenario.scoring) == ExecutionStatus::Failed
        && !scenario.expected_trajectory.iter().any(|it| it.is_error)
    {
        reasons.push("every call failed".to_owned());
    }
    let all = !reasons.is_empty();
    for (index, call) in trajectory.calls().enumerate() {
        // What a model asked for and could not be sent is the model's affair, and it was told.
        let unanswered = matches!(
            &call.outcome,
            Outcome::Failure(it) if !matches!(it.kind, FailureKind::Rpc | FailureKind::NotSent)
        );
        if unanswered || (all && call.outcome.is_failure()) {
            reasons.push(format!(
                "call {} of `{}`: {}",
                index + 1,
                call.full_name(),
                said(&call.outcome)
            ));
        }
    }
    let unmet = checks.iter().filter(|it| !it.passed).count();
    if unmet > 0 {
        reasons.push(format!(
            "{} not met",
            plural(unmet, "success criterion is", "success criteria are")
        ));
    }
    reasons
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn said(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(failure) => failure.message.clone(),
    };
    shorten(&text, 200).into_owned()
}

/// How the calls of a run deviate from the scenario's expected trajectory.
///
/// # Errors
///
/// Why they were not compared to the end.
pub(super) fn from_expectation(
    scenario: &Scenario,
    trajectory: &Trajectory,
    patience: &Patience,
) -> Result<Vec<String>, Stopped> {
    if scenario.expected_trajectory.is_empty() {
        return Ok(Vec::new());
    }
    let mut rules = scenario.scoring.clone();
    rules.responses = Responses::Ignore;
    let expectation = score::expectation(scenario, trajectory);
    let comparison = patience.spend_on(|is_unwanted| {
        score::compare_until(&expectation, trajectory, &rules, is_unwanted)
    })?;
    let deviations = deviations(&comparison, &expectation, trajectory).into_iter();
    Ok(deviations
        .map(|it| format!("deviates from the expected trajectory: {it}"))
        .collect())
}
