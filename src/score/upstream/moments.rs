//! The calls of the agent as the moments at which calls arrived behind the server under test.

use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use model::ToolCall;
use model::reason::call_name;

use super::passed_on::PassedOn;

/// Calls whose times overlap by no more milliseconds were made one after the other: their times are rounded.
const ROUNDED: f64 = 1.0;

/// One call of the agent, on one side or on both; or the time before the first.
pub(crate) struct Moment<'c, 'a> {
    before: Option<&'c Call<'a>>,
    now: Option<&'c Call<'a>>,
    /// The first of the moments that cannot be distinguished from this one, because calls were made at the same time.
    group: usize,
}

/// All moments of both sides.
pub(crate) struct Moments<'c, 'a> {
    all: Vec<Moment<'c, 'a>>,
    /// By the numbers of the agent's calls.
    of_baseline: Vec<usize>,
    of_current: Vec<usize>,
    /// Whether the agent asked the same on both sides, by group.
    asks_the_same: Vec<bool>,
}

impl<'c, 'a> Moments<'c, 'a> {
    /// The moments of these calls, given which of them are partners: numbers in the baseline and in the run.
    pub(crate) fn new(
        calls: &'c Calls<'a>,
        partners: impl Iterator<Item = (Option<usize>, Option<usize>)>,
    ) -> Self {
        let numbers = |calls: &[Call<'_>]| calls.last().map_or(0, |it| it.number);
        let mut of_baseline = vec![0; numbers(&calls.baseline) + 1];
        let mut of_current = vec![0; numbers(&calls.current) + 1];
        let mut all = vec![Moment {
            before: None,
            now: None,
            group: 0,
        }];
        for (baseline, current) in partners {
            let at = all.len();
            let before = baseline.map(|it| calls.before(it));
            let now = current.map(|it| calls.now(it));
            for (call, of) in [(before, &mut of_baseline), (now, &mut of_current)] {
                for number in call.into_iter().flat_map(numbers_of) {
                    of[number] = at;
                }
            }
            all.push(Moment {
                before,
                now,
                group: at,
            });
        }
        join_simultaneous(&mut all, &calls.baseline, &of_baseline);
        join_simultaneous(&mut all, &calls.current, &of_current);
        let mut asks_the_same = vec![true; all.len()];
        for at in 1..all.len() {
            let group = first_of(&all, at);
            all[at].group = group;
            asks_the_same[group] &= all[at].asks_the_same();
        }
        Self {
            all,
            of_baseline,
            of_current,
            asks_the_same,
        }
    }

    /// The moment of a call of the baseline's agent. One that is none counts as before the first.
    pub(crate) fn before(&self, cause: Option<usize>) -> usize {
        let known = cause.and_then(|it| self.of_baseline.get(it));
        known.copied().unwrap_or(0)
    }

    /// The moment of a call of the run's agent.
    pub(crate) fn now(&self, cause: Option<usize>) -> usize {
        let known = cause.and_then(|it| self.of_current.get(it));
        known.copied().unwrap_or(0)
    }

    pub(crate) fn moment(&self, at: usize) -> &Moment<'c, 'a> {
        &self.all[at]
    }

    /// Whether the agent's calls that may have caused something at this moment ask the same on both sides, ids aside.
    pub(crate) fn asks_the_same(&self, at: usize) -> bool {
        self.asks_the_same[self.all[at].group]
    }
}

impl<'c, 'a> Moment<'c, 'a> {
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    /// The numbers of the agent's call on each side.
    pub(super) fn numbers(&self) -> (Option<usize>, Option<usize>) {
        (
            self.before.map(|it| it.number),
            self.now.map(|it| it.number),
        )
    }

    /// The agent's call on each side, where both have it.
    pub(super) fn pair(&self) -> Option<(&'c Call<'a>, &'c Call<'a>)> {
        self.before.zip(self.now)
    }

    /// What the agent asked otherwise.
    pub(crate) fn passed_on(&self) -> PassedOn<'a> {
        let pair = self.pair();
        pair.map_or_else(PassedOn::default, |(b, c)| PassedOn::new(b, c))
    }

    /// The agent's call; `None` before the first.
    pub(super) fn call(&self) -> Option<&'a ToolCall> {
        self.before.or(self.now).map(|it| it.made)
    }

    /// Whether both sides have the moment.
    pub(crate) fn is_on_both_sides(&self) -> bool {
        self.before.is_some() == self.now.is_some()
    }

    /// Whether the agent asked again and again, and not as often on one side as on the other.
    pub(super) fn is_poll(&self) -> bool {
        self.pair()
            .is_some_and(|(before, now)| before.attempts() != now.attempts())
    }

    /// Whether the agent's call failed, and did not in the baseline.
    pub(super) fn fails_now(&self) -> bool {
        self.pair()
            .is_some_and(|(before, now)| now.failed() && !before.failed())
    }

    /// ``call 3 (now 4) `search` ``; `None` before the first.
    pub(super) fn name(&self) -> Option<String> {
        call_name(self.numbers(), &self.call()?.tool)
    }

    fn asks_the_same(&self) -> bool {
        self.pair()
            .is_some_and(|(before, now)| before.key == now.key)
    }
}

/// The numbers of a call and of the tries before it.
fn numbers_of(call: &Call<'_>) -> std::ops::RangeInclusive<usize> {
    call.number + 1 - call.attempts()..=call.number
}

/// Joins the moments of calls that were made while others were still waited for: what arrived then may be the doing of either.
fn join_simultaneous(all: &mut [Moment<'_, '_>], calls: &[Call<'_>], of: &[usize]) {
    let mut longest: Option<(f64, usize)> = None;
    for call in calls {
        let (Some(start), Some(duration)) = (call.made.start_ms, call.made.duration_ms) else {
            continue;
        };
        let at = of[call.number];
        if let Some((end, other)) = longest
            && start + ROUNDED < end
        {
            let (one, two) = (first_of(all, at), first_of(all, other));
            all[one.max(two)].group = one.min(two);
        }
        if longest.is_none_or(|(end, _)| end < start + duration) {
            longest = Some((start + duration, at));
        }
    }
}

/// The first moment of a group.
fn first_of(all: &[Moment<'_, '_>], mut at: usize) -> usize {
    while all[at].group != at {
        at = all[at].group;
    }
    at
}
