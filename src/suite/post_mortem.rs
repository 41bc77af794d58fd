//! What becomes of a run whose container or server has ended meanwhile.

use crate::model::trajectory::{Ending, FailureKind, Outcome, Trajectory};

/// Gives a run another ending; what it ended with before is kept as details.
pub(crate) fn end_as(trajectory: &mut Trajectory, ending: &Ending) {
    let before = match &trajectory.ending {
        Ending::Error {
            message, details, ..
        } => {
            let details = details.iter().cloned();
            std::iter::once(message.clone()).chain(details).collect()
        }
        Ending::Blocked { message }
        | Ending::LimitReached { message }
        | Ending::TimedOut { message } => vec![message.clone()],
        Ending::Completed | Ending::Interrupted => Vec::new(),
    };
    trajectory.ending = match ending {
        Ending::Error {
            message,
            details,
            trouble,
        } => Ending::Error {
            trouble: *trouble,
            message: message.clone(),
            details: before.into_iter().chain(details.iter().cloned()).collect(),
        },
        other => other.clone(),
    };
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
    let lost = [FailureKind::Disconnected, FailureKind::Transport];
    trajectory
        .calls()
        .any(|it| matches!(&it.outcome, Outcome::Failure(failure) if lost.contains(&failure.kind)))
}
