//! The calls of a run that did not come out as they are meant to, whatever the run is compared with.

use crate::evaluate::wrong_outcomes;
use crate::model::comparison::ExecutionStatus;
use crate::model::scenario::Scenario;
use crate::model::trajectory::{Ending, FailureKind, Outcome, Trajectory};
use crate::score;
use crate::text::shorten;

/// How much of what a server said is shown, in characters.
pub(crate) const SAID_CHARS: usize = 200;

/// The calls that did not come out as they are meant to.
///
/// An error that a tool answers to a model is no reason, because models try again. That all calls failed, or that a call got no answer at
/// all, is one.
pub(crate) fn failing_calls(
    scenario: &Scenario,
    trajectory: &Trajectory,
    replayed: Option<&Trajectory>,
) -> Vec<String> {
    let wrong = if scenario.agent.decides() {
        unanswered(trajectory)
    } else {
        let wrong = wrong_outcomes(scenario, trajectory, replayed);
        wrong.iter().map(ToString::to_string).collect()
    };
    let mut reasons = Vec::new();
    let all_failed = score::status(trajectory, &scenario.scoring) == ExecutionStatus::Failed;
    if let Ending::Blocked { message } = &trajectory.ending {
        reasons.push(message.clone());
    } else if all_failed && (!wrong.is_empty() || scenario.agent.decides()) {
        reasons.push("every call failed".to_owned());
    }
    reasons.extend(wrong);
    reasons
}

/// The calls of an agent that decides for itself that had no answer, or, where all failed, all of them.
fn unanswered(trajectory: &Trajectory) -> Vec<String> {
    let all = trajectory.calls().all(|it| it.outcome.is_failure());
    let calls = trajectory.calls().enumerate();
    let failed = calls.filter(|(_, call)| {
        // A call that could not be sent is the model's mistake, and the model got an error for it.
        let is_unanswered = matches!(
            &call.outcome,
            Outcome::Failure(it) if !matches!(it.kind, FailureKind::Rpc | FailureKind::NotSent)
        );
        is_unanswered || all
    });
    failed
        .map(|(index, call)| {
            let said = said(&call.outcome);
            format!("call {} of `{}`: {said}", index + 1, call.full_name())
        })
        .collect()
}

fn said(outcome: &Outcome) -> String {
    let text = match outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(failure) => failure.message.clone(),
    };
    shorten(&text, SAID_CHARS).into_owned()
}
