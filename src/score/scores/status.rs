//! The status of a run as a whole, and the penalty for one worse than its baseline's.

use crate::response::breach::Schemas;
use crate::response::in_band::Signs;
use model::rules::Rules;
use model::{Catalogue, Ending, ExecutionStatus, ToolCall, Trajectory};

/// How the scored calls of a run went, as a whole.
pub fn status(trajectory: &Trajectory, rules: &Rules) -> ExecutionStatus {
    let signs = Signs::new(&rules.errors);
    let mut schemas = Schemas::new(&trajectory.catalogue);
    let failed: Vec<bool> = (trajectory.calls())
        .map(|call| {
            call.outcome.is_failure()
                || schemas.breach(call).is_some()
                || signs.error(&call.outcome).is_some()
        })
        .collect();
    of_calls(&trajectory.ending, &failed)
}

/// Why a call that was just made counts as failed, in words; `None` for a good one.
pub fn call_failure(call: &ToolCall, catalogue: &Catalogue, rules: &Rules) -> Option<String> {
    if call.outcome.is_failure() {
        return Some(call.outcome.said());
    }
    let breach = Schemas::new(catalogue).breach(call);
    breach.or_else(|| Signs::new(&rules.errors).error(&call.outcome))
}

/// The same, where it is known which calls failed.
pub(crate) fn of_calls(ending: &Ending, failed: &[bool]) -> ExecutionStatus {
    let failures = failed.iter().filter(|it| **it).count();
    if matches!(ending, Ending::Blocked { .. }) {
        ExecutionStatus::Blocked
    } else if failures == 0 {
        ExecutionStatus::Success
    } else if failures == failed.len() {
        ExecutionStatus::Failed
    } else {
        ExecutionStatus::Partial
    }
}

/// What the overall score is multiplied by.
pub(crate) fn factor(baseline: ExecutionStatus, current: ExecutionStatus) -> f64 {
    use ExecutionStatus::{Blocked, Failed, Partial, Success};
    match (baseline, current) {
        (Success, Partial) => 0.8,
        (Success, Failed) => 0.5,
        (Success, Blocked) => 0.0,
        (Partial, Failed) => 0.6,
        (Partial, Blocked) => 0.1,
        (Failed, Blocked) => 0.3,
        (Success, Success)
        | (Partial, Success | Partial)
        | (Failed, Success | Partial | Failed)
        | (Blocked, _) => 1.0,
    }
}

/// What is taken off when the numbers of calls differ by more than 2.
pub(crate) fn count_penalty(baseline: usize, current: usize) -> f64 {
    if baseline.abs_diff(current) > 2 {
        0.1
    } else {
        0.0
    }
}
