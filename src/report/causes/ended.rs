//! Runs that ended early: the calls they never made are nobody's doing, and follow from what ended the run.

use model::published::ending::EndingKind;
use model::published::result::{Call, Scenario};
use model::reason::{Reason, ReasonKind};
use model::{CallStatus, CauseCall, Change, RowKind, What};

/// The end of a run that a failed call brought about.
#[derive(Debug)]
pub(super) struct Ended {
    /// The number of the run's last call.
    pub(super) last: usize,
    /// The number of the baseline's last call that the run has made, too.
    last_pair: usize,
    /// Why it ended, where it says so itself.
    pub(super) why: Option<String>,
}

impl Ended {
    /// `None` where the run went on to its end, or nothing was compared.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let (current, comparison) = (scenario.current.as_ref()?, scenario.comparison.as_ref()?);
        let pairs = || comparison.rows.iter().filter(|it| it.kind == RowKind::Pair);
        let number = |call: &Option<Call>| call.as_ref().map(|it| it.number);
        let is_blocked = current.ending == EndingKind::Blocked;
        let failed = |call: &Option<Call>| {
            let outcome = call.as_ref().and_then(|it| it.outcome);
            outcome.is_some_and(CallStatus::is_failure)
        };
        // An agent may give up by itself after a call that has failed now.
        let gave_up = || {
            let mut last = pairs().filter(|it| number(&it.current) == Some(current.calls));
            last.any(|it| failed(&it.current) && !failed(&it.baseline))
        };
        (is_blocked || gave_up()).then(|| Self {
            last: current.calls,
            last_pair: pairs()
                .filter_map(|it| number(&it.baseline))
                .max()
                .unwrap_or(0),
            why: current.ending_message.clone().filter(|_| is_blocked),
        })
    }

    /// Whether the run had ended before it came to this call.
    pub(super) fn is_before(&self, call: CauseCall) -> bool {
        call.current.is_none() && call.baseline.is_some_and(|it| it > self.last_pair)
    }

    /// The same of a call that a reason says was not made.
    pub(super) fn explains(&self, reason: &Reason) -> bool {
        let call = CauseCall::new(reason.baseline, reason.current);
        let kinds = [ReasonKind::EffectChange, ReasonKind::Expectation];
        kinds.contains(&reason.kind) && self.is_before(call)
    }
}

/// The call that a change says was not made; what is expected has a number of its own.
pub(super) fn not_made(change: &Change) -> CauseCall {
    let expected = match change.what {
        What::Expected(number) => Some(number),
        _ => None,
    };
    CauseCall::new(change.baseline.or(expected), change.current)
}
