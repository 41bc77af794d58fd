//! A completed run against what was accepted: the comparison, the scenario's criteria, the status.

use std::sync::Arc;

use crate::cli::patience::Patience;
use crate::cli::replay;
use crate::evaluate::check_criteria;
use crate::model::experiment::ExperimentChange;
use crate::model::rules::Rules;
use crate::model::scenario::Scenario;
use crate::model::suite::{Check, Problem, ScenarioResult, Status};
use crate::model::trajectory::Trajectory;
use crate::score;

/// Scores a run against the accepted trajectories and completes its result; `None` when nothing is accepted.
///
/// Without the scenario at hand, only the comparison counts. Runs that are not the same experiment are compared, and have a verdict only if
/// that is allowed. A comparison that was stopped has none.
pub(super) fn judge(
    result: ScenarioResult,
    scenario: Option<&Scenario>,
    accepted: &[Trajectory],
    current: Arc<Trajectory>,
    (rules, patience): (&Rules, &Patience),
    allow_changed: bool,
) -> Option<ScenarioResult> {
    let compared = patience.spend_on(|is_unwanted| {
        score::compare_variants_until(accepted, &current, rules, is_unwanted)
    });
    let mut comparison = match compared {
        Ok(comparison) => comparison?,
        Err(stopped) => return Some(stopped.result(result, &current)),
    };
    let baseline = accepted.get(comparison.variant.checked_sub(1)?)?;
    let mut notes = result.notes;
    if baseline.scenario != result.id {
        notes.push(format!(
            "the baseline is one of another scenario: `{}`",
            baseline.scenario
        ));
    }
    let mut checks = Vec::new();
    if let Some(scenario) = scenario {
        checks = criteria(scenario, baseline, &current, &mut notes);
    }
    let passed = comparison.verdict.passed && checks.iter().all(|it| it.passed);
    if !passed {
        comparison.band = comparison.band.of_failed(false);
    }
    let experiment_changes = score::experiment_changes(baseline, &current);
    let gates = allow_changed || experiment_changes.is_empty();
    Some(ScenarioResult {
        status: match (gates, passed) {
            (false, _) => Status::Error,
            (true, true) => Status::Passed,
            (true, false) => Status::Failed,
        },
        problem: (!gates).then(|| other_experiment(scenario, &experiment_changes)),
        experiment_changes,
        duration_ms: current.duration_ms,
        checks,
        comparison: Some(comparison),
        baseline: Some(Arc::new(baseline.clone())),
        current: Some(current),
        notes,
        ..result
    })
}

/// Why a comparison with another experiment has no verdict, and what to do.
fn other_experiment(scenario: Option<&Scenario>, changes: &[ExperimentChange]) -> Problem {
    let record = scenario.map_or_else(|| "mcp-eval record".to_owned(), replay::record_command);
    let is_asked_otherwise = changes.iter().any(|it| *it != ExperimentChange::Scenario);
    let options = if is_asked_otherwise {
        " with the same --agent and --model"
    } else {
        ""
    };
    Problem {
        message: "no verdict, because the baseline is of another experiment".to_owned(),
        hint: Some(format!(
            "`--allow-changed` gates all the same; `{record}`{options} accepts the experiment as it is now"
        )),
        details: Vec::new(),
    }
}

/// The scenario's success criteria. One that the accepted baseline does not meet either was accepted as it is: it is only noted.
fn criteria(
    scenario: &Scenario,
    baseline: &Trajectory,
    current: &Trajectory,
    notes: &mut Vec<String>,
) -> Vec<Check> {
    let accepted = check_criteria(scenario, baseline);
    let mut checks = Vec::new();
    for (now, then) in check_criteria(scenario, current).into_iter().zip(accepted) {
        if now.passed || then.passed {
            checks.push(now);
        } else {
            notes.push(format!(
                "success criterion `{}` is met neither by the baseline nor now",
                now.name
            ));
        }
    }
    checks
}
