//! The calls of a session, as its scenario expects them from now on.

use serde_json::{Value, json};

use crate::agent::Answers;
use crate::model::Object;
use crate::model::binding::{Binding, Source};
use crate::model::redacted::Redacted;
use crate::model::trajectory::{FailureKind, Outcome, Step, Trajectory};
use crate::scenario_file::SessionCall;

/// The calls that a run is expected to make: what was taken from an earlier answer is taken from there again.
pub(super) fn calls(trajectory: &Trajectory) -> Vec<SessionCall> {
    let answers = Answers::of(trajectory, None);
    let mut bindings = trajectory.bindings.as_slice();
    let calls = trajectory.calls().enumerate();
    let calls = calls.map(|(index, call)| {
        let later = bindings.partition_point(|it| it.call <= index + 1);
        let of_call = &bindings[..later];
        bindings = &bindings[later..];
        SessionCall {
            tool: call.full_name(),
            arguments: (of_call.iter()).fold(call.arguments.clone(), |arguments, binding| {
                with_reference(&arguments, binding, &answers).unwrap_or(arguments)
            }),
            is_error: call.outcome.is_failure(),
        }
    });
    calls.collect()
}

/// The arguments with a reference in place of what is bound; `None` where a reference cannot say that.
fn with_reference(arguments: &Object, binding: &Binding, answers: &Answers<'_>) -> Option<Object> {
    let Source { call, path } = &binding.from;
    let reference = format!("{{{{calls.{}.json:{path}}}}}", call - 1);
    let mut referring = Value::Object(arguments.clone());
    let argument = referring.pointer_mut(&binding.path)?;
    *argument = match (&*argument, &binding.value) {
        (it, bound) if it == bound => json!(reference),
        (Value::String(text), Value::String(part)) => json!(text.replacen(part, &reference, 1)),
        _ => return None,
    };
    let Value::Object(referring) = referring else {
        return None;
    };
    let filled = |arguments: &Object| {
        let mut filled = arguments.clone();
        answers.fill_references(&mut filled, &[]);
        filled
    };
    (filled(&referring) == filled(arguments)).then_some(referring)
}

/// Takes out calls that the server did not answer, and what they caused behind it: asked again, they would hold up everybody. Says which.
pub(super) fn leave_out_unanswered(trajectory: &mut Redacted<Trajectory>) -> Vec<String> {
    let mut left_out = Vec::new();
    trajectory.refine(|it| {
        // How many scored calls there are so far, among those that stay.
        let mut stayed = 0;
        let upstream = &mut it.upstream;
        it.steps.retain(|step| {
            let Step::ToolCall(call) = step else {
                return true;
            };
            let is_scored = call.server.is_some();
            let failure = match &call.outcome {
                Outcome::Failure(failure) if failure.kind != FailureKind::Rpc => failure,
                Outcome::Failure(_) | Outcome::Answer(_) => {
                    stayed += usize::from(is_scored);
                    return true;
                }
            };
            left_out.push(format!(
                "left out, because it was not answered: `{}`: {}",
                call.full_name(),
                failure.message
            ));
            if let Some(lane) = upstream.as_mut().filter(|_| is_scored) {
                lane.leave_out(stayed + 1);
            }
            false
        });
    });
    left_out
}
