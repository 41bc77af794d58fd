//! A completed run against what was accepted: the comparison, the scenario's criteria, the status.

use std::sync::Arc;

use crate::evaluate::check_criteria;
use crate::model::rules::Rules;
use crate::model::scenario::Scenario;
use crate::model::suite::{Check, ScenarioResult, Status};
use crate::model::trajectory::Trajectory;
use crate::score;

/// Scores a run against the accepted trajectories and completes its result; `None` when nothing is accepted.
///
/// Without the scenario at hand, only the comparison counts.
pub(super) fn judge(
    result: ScenarioResult,
    scenario: Option<&Scenario>,
    accepted: &[Trajectory],
    current: Arc<Trajectory>,
    rules: &Rules,
) -> Option<ScenarioResult> {
    let comparison = score::compare_variants(accepted, &current, rules)?;
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
        if baseline
            .scenario_hash
            .as_ref()
            .is_some_and(|it| *it != scenario.hash)
        {
            notes.push("the scenario has changed since its baseline was recorded".to_owned());
        }
    }
    let passed = comparison.verdict.passed && checks.iter().all(|it| it.passed);
    Some(ScenarioResult {
        status: if passed {
            Status::Passed
        } else {
            Status::Failed
        },
        duration_ms: current.duration_ms,
        checks,
        comparison: Some(comparison),
        baseline: Some(Arc::new(baseline.clone())),
        current: Some(current),
        notes,
        ..result
    })
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
