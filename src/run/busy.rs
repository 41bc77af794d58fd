//! Servers that are too busy for a call and ask to be asked again: HTTP 429 and 503 with `Retry-After`.
//!
//! They are waited for. Where that is in vain, nothing is known of what they would answer, so that the run is no basis for a verdict.

use std::time::Duration;

use super::again::AskAgain;
use crate::model::{Catalogue, ToolCall, Trajectory, Trouble};
use crate::run::limits::SetupError;
use crate::scenario_file::agent::ScriptedCall;

/// The status of a server that has not looked at the request. Any other may have executed it.
const TOO_MANY_REQUESTS: u16 = 429;

/// How long busy servers are waited for, and where that they are is what is expected.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// For one call in all.
    pub limit: Duration,
    /// Knows which calls only read.
    pub reads: &'a AskAgain,
    pub accepted: Option<&'a Trajectory>,
    pub script: &'a [ScriptedCall],
}

impl Patience<'_> {
    /// How long to wait before a call with this number is made again that was begun so long ago; `None` where its outcome stays.
    pub(super) fn pause(
        &self,
        number: usize,
        call: &ToolCall,
        catalogue: &Catalogue,
        elapsed: Duration,
    ) -> Option<(u16, Duration)> {
        let (status, pause) = call.outcome.asks_to_wait()?;
        let may = status == TOO_MANY_REQUESTS || self.reads.only_reads(call, catalogue);
        let goes =
            may && pause < self.limit.saturating_sub(elapsed) && !self.is_expected(number, call);
        goes.then_some((status, pause))
    }

    /// Whether the accepted run was answered so, or, without one, the script means the call to fail.
    fn is_expected(&self, number: usize, call: &ToolCall) -> bool {
        let status = |it: &ToolCall| it.outcome.asks_to_wait().map(|it| it.0);
        match self.accepted {
            Some(accepted) => {
                let then = accepted.counterpart(number, call);
                then.is_some_and(|it| status(it) == status(call))
            }
            None => (self.script.get(number.wrapping_sub(1))).is_some_and(|it| it.is_error),
        }
    }

    /// That a server was too busy for a call, where it was not meant to be.
    pub(super) fn in_vain<'c>(
        &self,
        calls: impl Iterator<Item = &'c ToolCall>,
    ) -> Option<SetupError> {
        let mut busy = (1..).zip(calls).filter(|(number, it)| {
            it.outcome.asks_to_wait().is_some() && !self.is_expected(*number, it)
        });
        let (number, call) = busy.next()?;
        let (status, pause) = call.outcome.asks_to_wait()?;
        Some(SetupError {
            message: format!(
                "call {number} of `{}`: the server was too busy: HTTP {status}, and it asks to wait {pause:?}",
                call.full_name()
            ),
            details: Vec::new(),
            trouble: Some(Trouble::RateLimit),
        })
    }
}
