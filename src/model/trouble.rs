//! Why a run could not be made or judged, where another try may well go otherwise.

use crate::model::trajectory::{Ending, Trajectory};

/// Why a run could not be made or judged, where another try may well go otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// A server, or the API of a model, could not be reached, or went away.
    Transport,
    /// The API of a model has asked to be left alone for a while.
    RateLimit,
    /// The run did not end in time.
    Timeout,
}

/// What APIs answer that are asked too often, or by too many.
const TOO_MANY: [u16; 2] = [429, 529];

impl Trouble {
    pub fn name(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::RateLimit => "rate_limit",
            Self::Timeout => "timeout",
        }
    }

    /// What a run ended with; `None` where it is judged, and for all that another try would not change.
    pub fn of(trajectory: &Trajectory) -> Option<Self> {
        match &trajectory.ending {
            Ending::TimedOut { .. } => Some(Self::Timeout),
            Ending::Error { trouble, .. } => trouble.or_else(|| Self::of_the_model(trajectory)),
            Ending::Completed
            | Ending::Blocked { .. }
            | Ending::LimitReached { .. }
            | Ending::Interrupted => None,
        }
    }

    /// What the last request to the model met with, which was not answered.
    fn of_the_model(trajectory: &Trajectory) -> Option<Self> {
        let last = trajectory.requests.last()?.attempts.last()?;
        last.problem.as_ref()?;
        match last.status {
            Some(status) if TOO_MANY.contains(&status) => Some(Self::RateLimit),
            Some(408 | 500..) | None => Some(Self::Transport),
            Some(_) => None,
        }
    }
}
