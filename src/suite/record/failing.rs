//! Reasons against keeping a run: its deviations from what its scenario expects, and answers that look like errors.

use std::sync::Arc;

use crate::evaluate::{self, Basis, Checked, check_criteria, lists_tools, no_call};
use crate::model::{
    Check, Evaluation, Overall, Problem, Redacted, ScenarioResult, Status, Trajectory,
};
use crate::report::deviations::deviations;
use crate::scenario_file::Scenario;
use crate::score;
use crate::suite::evaluating;
use crate::suite::judge::{SAID_CHARS, failing_calls, impossible_criteria};
use crate::suite::outcome::result;
use crate::suite::patience::{Patience, Stopped};
use crate::text::shorten;

/// What a recorded run is checked for.
#[derive(Default)]
pub(crate) struct RunChecks {
    /// The success criteria, whether no call is made where none is expected, and whether there are tools where they are all there is.
    pub(crate) checks: Vec<Check>,
    /// What the evaluators come to together.
    pub(crate) evaluation: Option<Overall>,
    /// Why the run should not become a baseline unseen; empty where nothing speaks against it.
    pub(crate) failing: Vec<String>,
}

/// Looks at a run that is to become the baseline.
///
/// # Errors
///
/// A [`Problem`] where a criterion of the scenario cannot be judged at all, or an evaluator could not judge a run that nothing speaks
/// against.
pub(crate) fn check_run(
    scenario: &Scenario,
    trajectory: &Trajectory,
    replayed: Option<&Trajectory>,
    evaluations: &[Evaluation],
) -> Result<RunChecks, Problem> {
    let Checked {
        mut checks,
        impossible,
    } = check_criteria(scenario, trajectory, Basis::Recording);
    if let Some(problem) = impossible_criteria(&impossible) {
        return Err(problem);
    }
    checks.extend(no_call(scenario, trajectory));
    checks.extend(lists_tools(scenario, trajectory));
    let evaluation = evaluate::overall(evaluations, scenario.evaluation_threshold);
    let mut failing = failing_calls(scenario, trajectory, replayed);
    failing.extend(evaluating::reasons(evaluations, evaluation));
    failing.extend(unmet(&checks));
    if let Some(problem) = evaluating::unjudged(evaluations, evaluation)
        && failing.is_empty()
    {
        return Err(problem);
    }
    Ok(RunChecks {
        checks,
        evaluation,
        failing,
    })
}

/// The result of a run of which it cannot be determined whether it should be kept.
pub(crate) fn cannot_be_judged(
    scenario: &Scenario,
    trajectory: &Redacted<Trajectory>,
    problem: Problem,
) -> ScenarioResult {
    result(scenario, Status::Error).with(|it| {
        it.problem = Some(problem);
        it.duration_ms = trajectory.duration_ms;
        it.current = Some(Arc::new(trajectory.clone()));
    })
}

/// The reason that expectations are not met; `None` where all are.
pub(crate) fn unmet(checks: &[Check]) -> Option<String> {
    let unmet = checks.iter().filter(|it| it.fails()).count();
    let what = plural(unmet, "expectation is", "expectations are");
    (unmet > 0).then(|| format!("{what} not met"))
}

/// Answers that look like errors although the servers say that they are fine, in words; `None` where none does.
pub(crate) fn looks_like_errors(scenario: &Scenario, trajectory: &Trajectory) -> Option<String> {
    let calls = trajectory.calls().enumerate();
    let errors: Vec<String> = calls
        .filter_map(|(index, call)| {
            let said = score::in_band_error(&call.outcome, &scenario.scoring)?;
            let said = shorten(&said, SAID_CHARS);
            Some(format!(
                "call {} of `{}`: {said}",
                index + 1,
                call.full_name()
            ))
        })
        .collect();
    let first = errors.first()?;
    let answers = trajectory
        .calls()
        .filter(|it| !it.outcome.is_failure())
        .count();
    let looks = if errors.len() == 1 {
        "looks like an error"
    } else {
        "look like errors"
    };
    let more = match errors.len() {
        1 => String::new(),
        count => format!("; and {} more", count - 1),
    };
    Some(format!(
        "{} of {} {looks}, although the servers say that they are fine: {first}{more}",
        errors.len(),
        plural(answers, "answer", "answers"),
    ))
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How the calls of a run deviate from the scenario's expected trajectory.
///
/// # Errors
///
/// Why they were not compared to the end.
pub(crate) fn from_expectation(
    scenario: &Scenario,
    trajectory: &Trajectory,
    patience: &Patience,
) -> Result<Vec<String>, Stopped> {
    let compared = patience.spend_on(|is_unwanted| {
        score::compare_with_expectation(
            &scenario.expectation(),
            trajectory,
            &scenario.scoring,
            is_unwanted,
        )
    })?;
    let Some((expectation, comparison)) = compared else {
        return Ok(Vec::new());
    };
    let deviations = deviations(&comparison, &expectation, trajectory).into_iter();
    Ok(deviations
        .map(|it| format!("deviates from the expected trajectory: {it}"))
        .collect())
}
