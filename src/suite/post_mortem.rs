//! Runs whose container or server has ended meanwhile.

use crate::model::{Ending, Failure, FailureKind, Outcome, ToolCall, Trajectory, Trouble};

/// Gives a run another ending; what it ended with before is kept as details.
pub(crate) fn end_as(trajectory: &mut Trajectory, ending: &Ending) {
    let message = trajectory.ending.reason().map(str::to_owned);
    let mut before: Vec<String> = message.into_iter().collect();
    if let Ending::Error { details, .. } = &trajectory.ending {
        before.extend_from_slice(details);
    }
    trajectory.ending = ending.clone();
    if let Ending::Error { details, .. } = &mut trajectory.ending {
        details.splice(0..0, before);
    }
}

/// Whether every call reached a server that said something.
pub(crate) fn all_answered(trajectory: &Trajectory) -> bool {
    trajectory.calls().all(|it| match &it.outcome {
        Outcome::Answer(_) => true,
        Outcome::Failure(failure) => match failure.kind {
            FailureKind::Rpc | FailureKind::InvalidResponse | FailureKind::NotSent => true,
            FailureKind::Timeout | FailureKind::Disconnected | FailureKind::Transport => false,
        },
    })
}

/// Whether a call found nobody there.
pub(crate) fn lost_connection(trajectory: &Trajectory) -> bool {
    trajectory.calls().any(is_lost)
}

fn is_lost(call: &ToolCall) -> bool {
    let lost = [FailureKind::Disconnected, FailureKind::Transport];
    failure(call).is_some_and(|it| lost.contains(&it.kind))
}

fn failure(call: &ToolCall) -> Option<&Failure> {
    match &call.outcome {
        Outcome::Answer(_) => None,
        Outcome::Failure(failure) => Some(failure),
    }
}

/// Lets a run be judged whose server died in a call that the accepted run shows answered: it has failed that call. Returns what the server
/// said last.
///
/// A server that somebody else runs, and that cannot be reached from one call to the next, may be as well as before; `has_ended` where it is
/// known that it has ended.
pub(crate) fn blame(
    trajectory: &mut Trajectory,
    accepted: Option<&Trajectory>,
    has_ended: bool,
) -> Vec<String> {
    let Ending::Error {
        message,
        details,
        trouble: Some(Trouble::Transport),
    } = &trajectory.ending
    else {
        return Vec::new();
    };
    let calls: Vec<(usize, &ToolCall)> = (1..).zip(trajectory.calls()).collect();
    let mut latest_first = calls.iter().rev();
    let server = latest_first.find_map(|(_, it)| is_lost(it).then_some(&it.server));
    let of_server = calls.iter().rev().filter(|(_, it)| {
        Some(&it.server) == server && failure(it).is_none_or(|it| it.kind != FailureKind::NotSent)
    });
    let lost: Vec<_> = of_server.take_while(|(_, it)| is_lost(it)).collect();
    let Some((number, died_in)) = lost.last() else {
        return Vec::new();
    };
    let in_call = failure(died_in).is_some_and(|it| it.kind == FailureKind::Disconnected);
    let answered = accepted.and_then(|it| it.counterpart(*number, died_in));
    let was_answered = answered.is_some_and(|it| {
        failure(it)
            .is_none_or(|it| matches!(it.kind, FailureKind::Rpc | FailureKind::InvalidResponse))
    });
    if !was_answered || !(in_call || has_ended || lost.len() > 1) {
        return Vec::new();
    }
    let message = message.clone();
    let details = details.clone();
    trajectory.ending = Ending::Blocked { message };
    details
}
