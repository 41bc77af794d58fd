//! The calls of both sides, which belong together in order, and those made again while something was waited for.

use crate::lists::align::{self, Pairs};
use crate::request::arguments::ArgumentRules;
use crate::response::outcome::Response;
use crate::values::same::View;
use crate::values::{mask, same};
use crate::work::Work;
use model::rules::Rules;
use model::{Outcome, Pair, ToolCall, Trajectory};

use super::call::{self, Call};
use std::collections::HashSet;

/// How much work the alignment of calls may be: this many steps, and this many times the weight of all arguments.
const BUDGET: usize = 1 << 16;
const TIMES: usize = 8;

/// The scored calls of both sides, and the rules by which their arguments are compared.
pub(crate) struct Calls<'a> {
    pub(crate) baseline: Vec<Call<'a>>,
    pub(crate) current: Vec<Call<'a>>,
    pub(crate) rules: ArgumentRules<'a>,
}

impl<'a> Calls<'a> {
    /// `said` is the run in its own words. Of equal requests in a row, those for whose key `is_try` is true are one call with the
    /// one after them.
    pub(crate) fn new(
        baseline: &'a Trajectory,
        current: &'a Trajectory,
        said: &'a Trajectory,
        (rules, work): (&'a Rules, &'a Work<'a>),
        is_try: impl Fn(u64) -> bool,
    ) -> Self {
        Self {
            baseline: call::scored(baseline, baseline, &current.catalogue, rules, &is_try),
            current: call::scored(current, said, &baseline.catalogue, rules, &is_try),
            rules: ArgumentRules::new(&rules.arguments, work),
        }
    }

    /// The baseline's call of this number.
    pub(crate) fn before(&self, number: usize) -> &Call<'a> {
        numbered(&self.baseline, number)
    }

    /// The run's call of this number.
    pub(crate) fn now(&self, number: usize) -> &Call<'a> {
        numbered(&self.current, number)
    }

    /// An answer to a try of a poll that none of the baseline's tries had, behind one of the baseline's; `None` where there is none.
    pub(crate) fn other_try(&self, baseline: usize, current: usize) -> Option<(String, String)> {
        let (b, c) = (self.before(baseline), self.now(current));
        let said = |it: &ToolCall| {
            Response {
                outcome: &it.outcome,
                breach: None,
                in_band: None,
                is_unknown_tool: false,
                asks_first: false,
            }
            .summary()
        };
        other_try(&b.tries, &c.tries).map(|(b, c)| (said(b), said(c)))
    }

    /// The longer of the two sides.
    pub(crate) fn longer(&self) -> usize {
        self.baseline.len().max(self.current.len())
    }

    pub(super) fn same_tool(&self, b: usize, c: usize) -> bool {
        self.baseline[b].tool == self.current[c].tool
    }

    /// The similarity of two requests, 0 to 1; 0 for calls of different tools.
    pub(crate) fn request(&self, b: usize, c: usize) -> f64 {
        if !self.same_tool(b, c) {
            return 0.0;
        }
        let (b, c) = (&self.baseline[b], &self.current[c]);
        self.rules.similarity(b.request(), c.request())
    }

    /// Whether two requests are equal without any grading.
    pub(super) fn equal_requests(&self, b: usize, c: usize) -> bool {
        let (b, c) = (&self.baseline[b], &self.current[c]);
        b.tool == c.tool && self.rules.are_equal(b.request(), c.request())
    }

    /// The same for a pair that was scored.
    pub(crate) fn equal_pair(&self, pair: &Pair) -> bool {
        let (b, c) = (self.before(pair.baseline), self.now(pair.current));
        b.tool == c.tool && self.rules.are_equal(b.request(), c.request())
    }

    /// The order-preserving pairing with the highest total request similarity.
    pub(crate) fn align(&self) -> Pairs {
        let keys = |calls: &[Call<'_>]| calls.iter().map(|it| it.key).collect::<Vec<_>>();
        align::align(
            &keys(&self.baseline),
            &keys(&self.current),
            self.cells(),
            |b, c| self.same_tool(b, c),
            |b, c| self.request(b, c),
        )
    }

    /// The same of some calls of each side, given by their positions, with this many similarities asked for at most.
    pub(crate) fn align_some(&self, b: &[usize], c: &[usize], cells: usize) -> Pairs {
        let keys = |calls: &[Call<'_>], some: &[usize]| -> Vec<u64> {
            some.iter().map(|at| calls[*at].key).collect()
        };
        let pairs = align::align(
            &keys(&self.baseline, b),
            &keys(&self.current, c),
            cells,
            |i, j| self.same_tool(b[i], c[j]),
            |i, j| self.request(b[i], c[j]),
        );
        pairs.into_iter().map(|(i, j)| (b[i], c[j])).collect()
    }

    /// How many pairs of calls may be compared to find out which belong together.
    pub(crate) fn cells(&self) -> usize {
        let calls = self.baseline.len() + self.current.len();
        TIMES * calls + BUDGET / self.typical_weight()
    }

    /// How many values a request has, on average over a sample.
    fn typical_weight(&self) -> usize {
        let calls = self.baseline.iter().chain(&self.current);
        let sample = calls.step_by(self.longer() / 64 + 1);
        let (mut total, mut taken) = (0, 0);
        for call in sample {
            let values = call.made.arguments.values();
            total += values.map(|it| same::weight(it, BUDGET)).sum::<usize>();
            taken += 1;
        }
        (total / taken.max(1)).max(1)
    }
}

/// The call of a number that is one of a side's.
fn numbered<'s, 'a>(calls: &'s [Call<'a>], number: usize) -> &'s Call<'a> {
    // Without polls, the position of a call follows from its number.
    match calls.get(number - 1) {
        Some(call) if call.number == number => call,
        _ => &calls[calls.partition_point(|it| it.number < number)],
    }
}

/// An answer that a poll was given while it waited, and that was none of those it was given while the baseline was recorded: one of those,
/// and this one. Numbers may count up or down while something is waited for.
pub(super) fn other_try<'a>(
    recorded: &[&'a ToolCall],
    now: &[&'a ToolCall],
) -> Option<(&'a ToolCall, &'a ToolCall)> {
    let first = recorded.first()?;
    let known: HashSet<(bool, String)> = recorded.iter().map(|it| without_numbers(it)).collect();
    let other = now
        .iter()
        .find(|it| !known.contains(&without_numbers(it)))?;
    Some((first, other))
}

/// What an answer says, apart from what varies by nature and from its numbers.
fn without_numbers(call: &ToolCall) -> (bool, String) {
    let said = match &call.outcome {
        Outcome::Answer(answer) => match &answer.structured_content {
            Some(structured) => structured.to_string(),
            None => answer.text(),
        },
        Outcome::Failure(failure) => failure.message.clone(),
    };
    let words = mask::text(&said).replace(|it: char| it.is_ascii_digit(), "");
    (call.outcome.is_failure(), words)
}

/// What an answer says, apart from what varies by nature.
pub(crate) fn view(call: &ToolCall) -> (bool, Vec<u64>) {
    let hash = |it| same::hash(it, View::Masked);
    match &call.outcome {
        Outcome::Answer(answer) => {
            let content = answer.content.iter().map(hash);
            let structured = answer.structured_content.iter().map(hash);
            (
                call.outcome.is_failure(),
                content.chain(structured).collect(),
            )
        }
        Outcome::Failure(failure) => (true, vec![hash(&failure.message.clone().into())]),
    }
}
