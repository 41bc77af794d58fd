//! Calls of the two sides paired and scored, and the rows of the comparison.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::model::comparison::{self, Pair, RequestScore, Row};
use crate::model::rules::{Responses, Rules};
use crate::model::trajectory::Trajectory;

use super::align::{self, Pairs};
use super::arguments::ArgumentRules;
use super::calls::{self, Call};
use super::json::Context;
use super::path::Pattern;
use super::polls::Polled;
use super::response;
use super::same;
use super::terms::Terms;
use super::work::Work;

/// How much work the alignment of calls may be: this, and so many times looking at all their arguments.
const BUDGET: usize = 1 << 16;
const TIMES: usize = 8;

/// A response this similar makes a differently worded read the same read.
const SAME_ANSWER: f64 = 0.9;

/// The two sides of a comparison, prepared.
pub(super) struct Sides<'a> {
    pub(super) baseline: Vec<Call<'a>>,
    pub(super) current: Vec<Call<'a>>,
    pub(super) rules: ArgumentRules<'a>,
    work: &'a Work<'a>,
    responses: Responses,
    ignore: Vec<Pattern>,
    /// For each baseline call, by its number, what recording learned, if it did.
    learned: HashMap<usize, Vec<Pattern>>,
    /// For baseline calls, by their numbers, the places where another value stands for the recorded one.
    sources: HashMap<usize, Vec<Pattern>>,
}

impl<'a> Sides<'a> {
    /// The sides as they are compared: polls are one call each, and the run speaks in the baseline's `terms`, if it has any.
    pub(super) fn new(
        baseline: &'a Trajectory,
        current: &'a Trajectory,
        terms: Option<&'a Terms>,
        rules: &'a Rules,
        work: &'a Work<'a>,
    ) -> Self {
        let made = terms.map_or(current, |it| &it.current);
        let polled = Polled::new(baseline, made, rules);
        let mut sides = Self::of(baseline, made, current, (rules, work), |key| {
            polled.is_try(key)
        });
        let sources = terms.into_iter().flat_map(|it| &it.sources);
        sides.sources = sources
            .map(|(call, paths)| (*call, patterns(paths)))
            .collect();
        sides
    }

    /// The sides as they came, every request that is made several times in a row taken as one call.
    pub(super) fn in_runs(
        baseline: &'a Trajectory,
        current: &'a Trajectory,
        rules: &'a Rules,
        work: &'a Work<'a>,
    ) -> Self {
        Self::of(baseline, current, current, (rules, work), |_| true)
    }

    fn of(
        baseline: &'a Trajectory,
        current: &'a Trajectory,
        said: &'a Trajectory,
        (rules, work): (&'a Rules, &'a Work<'a>),
        is_try: impl Fn(u64) -> bool,
    ) -> Self {
        let volatile = baseline.volatile.iter();
        Self {
            baseline: calls::calls(baseline, baseline, &current.catalogue, rules, &is_try),
            current: calls::calls(current, said, &baseline.catalogue, rules, &is_try),
            rules: ArgumentRules::new(&rules.arguments, work),
            work,
            responses: rules.responses,
            ignore: patterns(&rules.ignore),
            learned: volatile.map(|it| (it.call, patterns(&it.paths))).collect(),
            sources: HashMap::new(),
        }
    }

    /// The baseline's call of this number.
    pub(super) fn before(&self, number: usize) -> &Call<'a> {
        numbered(&self.baseline, number)
    }

    /// The run's call of this number.
    pub(super) fn now(&self, number: usize) -> &Call<'a> {
        numbered(&self.current, number)
    }

    /// The longer of the two sides.
    pub(super) fn longer(&self) -> usize {
        self.baseline.len().max(self.current.len())
    }

    pub(super) fn same_tool(&self, b: usize, c: usize) -> bool {
        self.baseline[b].tool == self.current[c].tool
    }

    /// Did the agent ask for the same thing? Calls of different tools did not.
    pub(super) fn request(&self, b: usize, c: usize) -> f64 {
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
    pub(super) fn equal_pair(&self, pair: &Pair) -> bool {
        let (b, c) = (self.before(pair.baseline), self.now(pair.current));
        b.tool == c.tool && self.rules.are_equal(b.request(), c.request())
    }

    /// The order-preserving pairing with the highest total request similarity.
    pub(super) fn align(&self) -> Pairs {
        let keys = |calls: &[Call<'_>]| calls.iter().map(|it| it.key).collect::<Vec<_>>();
        align::align(
            &keys(&self.baseline),
            &keys(&self.current),
            self.cells(),
            |b, c| self.same_tool(b, c),
            |b, c| self.request(b, c),
        )
    }

    /// How many pairs of calls may be compared to find out which belong together.
    fn cells(&self) -> usize {
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

    /// Scores one pair.
    pub(super) fn pair(&self, b: usize, c: usize) -> Pair {
        let (baseline, current) = (&self.baseline[b], &self.current[c]);
        let asks_the_same = baseline.key == current.key && current.key == current.said_key;
        let request = if asks_the_same && self.rules.are_none() {
            RequestScore::equal()
        } else {
            self.rules.score(baseline.request(), current.request())
        };
        let echoes = if baseline.key == current.said_key {
            Vec::new()
        } else {
            response::echoes(&baseline.made.arguments, &current.said.arguments)
        };
        let learned = self.learned.get(&baseline.number);
        let sources = self.sources.get(&baseline.number);
        let volatile: Cow<'_, [Pattern]> = match (learned, sources) {
            (Some(learned), Some(sources)) => learned.iter().chain(sources).cloned().collect(),
            (one, other) => one.or(other).map_or(&[][..], Vec::as_slice).into(),
        };
        let context = Context {
            ignore: &self.ignore,
            volatile: &volatile,
            learned: learned.is_some(),
            echoes: &echoes,
            mode: self.responses,
            work: self.work,
        };
        let response = response::compare(baseline.response(), current.response(), context);
        let both_read = baseline.reads && current.reads;
        // Answers that are not looked at, or only at their shape, are no evidence that two reads are the same.
        let compared = matches!(
            self.responses,
            Responses::Stable | Responses::Similar | Responses::Exact
        );
        let same_read = both_read && compared;
        let call = call_score(request.similarity, response.similarity, same_read);
        Pair {
            baseline: baseline.number,
            current: current.number,
            effect: !both_read,
            request,
            response,
            call,
            bound: Vec::new(),
            takes: 1,
            unseen: Vec::new(),
            polled: (baseline.attempts > 1 || current.attempts > 1).then_some(comparison::Polled {
                baseline: baseline.attempts,
                current: current.attempts,
            }),
        }
    }

    /// The calls of both sides in order, given which pair; the pairs are scored here.
    pub(super) fn rows(&self, pairs: &Pairs) -> Vec<Row> {
        let mut partner = vec![None; self.baseline.len()];
        let mut is_paired = vec![false; self.current.len()];
        for &(b, c) in pairs {
            partner[b] = Some(c);
            is_paired[c] = true;
        }
        let mut rows = Vec::with_capacity(self.longer());
        let mut next = 0;
        let extras = |rows: &mut Vec<Row>, range: std::ops::Range<usize>| {
            for c in range.filter(|&c| !is_paired[c]) {
                rows.push(Row::Extra {
                    current: self.current[c].number,
                    effect: !self.current[c].reads,
                });
            }
        };
        for (b, c) in partner.iter().enumerate() {
            match c {
                Some(c) => {
                    extras(&mut rows, next..(*c).max(next));
                    next = next.max(c + 1);
                    rows.push(Row::Pair(Box::new(self.pair(b, *c))));
                }
                None => rows.push(Row::Missing {
                    baseline: self.baseline[b].number,
                    effect: !self.baseline[b].reads,
                }),
            }
        }
        extras(&mut rows, next..self.current.len());
        rows
    }
}

pub(super) fn patterns(paths: &[String]) -> Vec<Pattern> {
    paths
        .iter()
        .filter_map(|it| Pattern::parse(it).ok())
        .collect()
}

/// The call of a number that is one of a side's.
fn numbered<'s, 'a>(calls: &'s [Call<'a>], number: usize) -> &'s Call<'a> {
    // Without polls, a call stands where its number says.
    match calls.get(number - 1) {
        Some(call) if call.number == number => call,
        _ => &calls[calls.partition_point(|it| it.number < number)],
    }
}

/// What counts of the request: a differently worded read that returned the same thing is the same read.
fn effective_request(request: f64, response: f64, both_read: bool) -> f64 {
    if both_read && response >= SAME_ANSWER - 1e-9 {
        request.max(0.9 * response)
    } else {
        request
    }
}

/// Both questions together: how much a changed answer counts grows with how equal the questions were.
fn call_score(request: f64, response: f64, both_read: bool) -> f64 {
    let asked = effective_request(request, response, both_read);
    (asked * (1.0 - request * (1.0 - response))).clamp(0.0, 1.0)
}
