//! Trajectories with the digits of long integers in their places, as comparing and learning need them.

use std::borrow::Cow;

use model::digits;
use model::{Digits, Outcome, Step, ToolCall, Trajectory};

/// Two sides of a comparison. Where only one of them kept digits, the other may have had as many: neither has them then.
pub(crate) fn both<'t>(
    baseline: &'t Trajectory,
    current: &'t Trajectory,
) -> (Cow<'t, Trajectory>, Cow<'t, Trajectory>) {
    if has_digits(baseline) && has_digits(current) {
        (exact(baseline), exact(current))
    } else {
        (Cow::Borrowed(baseline), Cow::Borrowed(current))
    }
}

/// The trajectory with its digits in their places.
pub(crate) fn exact(trajectory: &Trajectory) -> Cow<'_, Trajectory> {
    if !has_digits(trajectory) {
        return Cow::Borrowed(trajectory);
    }
    let mut trajectory = trajectory.clone();
    for step in &mut trajectory.steps {
        let Step::ToolCall(call) = step else { continue };
        digits::put_into(&mut call.arguments, &digits::integers(&call.digits));
        for outcome in std::iter::once(&mut call.outcome).chain(&mut call.again) {
            if let Outcome::Answer(answer) = outcome
                && let Some(structured) = &mut answer.structured_content
            {
                digits::put(structured, &digits::integers(&answer.digits));
            }
        }
    }
    Cow::Owned(trajectory)
}

fn has_digits(trajectory: &Trajectory) -> bool {
    let of_call = |call: &ToolCall| {
        let mut outcomes = std::iter::once(&call.outcome).chain(&call.again);
        let has_any = |digits: &Digits| !digits::integers(digits).is_empty();
        let in_answer = |it: &Outcome| matches!(it, Outcome::Answer(it) if has_any(&it.digits));
        has_any(&call.digits) || outcomes.any(in_answer)
    };
    trajectory.calls().any(of_call)
}
