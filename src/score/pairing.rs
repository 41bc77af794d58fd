//! Calls of the two sides paired and scored, and the rows of the comparison.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde_json::Value;

use crate::model::comparison::{self, Pair, RequestScore, ResponseScore, Row};
use crate::model::learned::Learned;
use crate::model::rules::{Responses, Rules};
use crate::model::trajectory::{ToolCall, Trajectory};

use super::align::{self, Pairs};
use super::arguments::ArgumentRules;
use super::calls::{self, Call};
use super::clock::Clock;
use super::effect;
use super::embedded::Documents;
use super::json::Context;
use super::number;
use super::path::Pattern;
use super::polls::{self, Polled};
use super::response::{self, Response};
use super::same;
use super::stable::Known;
use super::terms::Terms;
use super::varying::Tree;
use super::work::Work;

/// How much work the alignment of calls may be: this, and so many times looking at all their arguments.
const BUDGET: usize = 1 << 16;
const TIMES: usize = 8;

/// Similarities this close to a limit count as reaching it.
const TOLERANCE: f64 = 1e-9;

/// What an equal read counts that was made in another place.
const MOVED: f64 = 0.8;

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
    /// For baseline calls, by their numbers, what recording learned of their answers.
    learned: HashMap<usize, &'a Learned>,
    /// For baseline calls, by their numbers, the places where another value stands for the recorded one.
    sources: HashMap<usize, Vec<Pattern>>,
    /// Recorded ids and what the run's servers have given in their place.
    given: Vec<(Value, Value)>,
    baseline_run: &'a Trajectory,
    current_run: &'a Trajectory,
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
        sides.given = terms.map_or_else(Vec::new, |it| it.given.clone());
        let sources = terms.into_iter().flat_map(|it| &it.sources);
        sides.sources = sources
            .map(|(call, paths)| (*call, patterns(paths)))
            .collect();
        sides
    }

    /// The same, each call on its own, polls or not.
    pub(super) fn unfolded(
        baseline: &'a Trajectory,
        current: &'a Trajectory,
        terms: Option<&'a Terms>,
        rules: &'a Rules,
        work: &'a Work<'a>,
    ) -> Self {
        let made = terms.map_or(current, |it| &it.current);
        Self::of(baseline, made, current, (rules, work), |_| false)
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
        Self {
            baseline: calls::calls(baseline, baseline, &current.catalogue, rules, &is_try),
            current: calls::calls(current, said, &baseline.catalogue, rules, &is_try),
            rules: ArgumentRules::new(&rules.arguments, work),
            work,
            responses: rules.responses,
            ignore: patterns(&rules.ignore),
            learned: baseline.learned.iter().map(|it| (it.call, it)).collect(),
            sources: HashMap::new(),
            given: Vec::new(),
            baseline_run: baseline,
            current_run: current,
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

    /// What a poll was answered while it waited, where that was nothing the baseline's was answered: one of those, and that.
    pub(super) fn other_try(&self, baseline: usize, current: usize) -> Option<(String, String)> {
        let (b, c) = (self.before(baseline), self.now(current));
        let said = |it: &ToolCall| {
            Response {
                outcome: &it.outcome,
                breach: None,
                in_band: None,
            }
            .summary()
        };
        polls::other_try(&b.tries, &c.tries).map(|(b, c)| (said(b), said(c)))
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
    pub(super) fn pair(&self, b: usize, c: usize, moved: bool) -> Pair {
        let (baseline, current) = (&self.baseline[b], &self.current[c]);
        let asks_the_same = baseline.key == current.key && current.key == current.said_key;
        let both_read = baseline.reads && current.reads;
        let mut request = if asks_the_same && self.rules.are_none() {
            RequestScore::equal()
        } else {
            self.rules.score(baseline.request(), current.request())
        };
        if !both_read && !asks_the_same {
            let clock = self.clock(baseline, current);
            request.differences = effect::differences(baseline, current, &self.rules, &clock);
        }
        let echoes = if baseline.key == current.said_key {
            Vec::new()
        } else {
            response::echoes(&baseline.made.arguments, &current.said.arguments)
        };
        let response = self.response(baseline, current, request.similarity, &echoes);
        if moved {
            request.similarity = MOVED;
        }
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
            moved,
            takes: self.takes(baseline),
            unseen: self.unseen(baseline),
            polled: (baseline.attempts() > 1 || current.attempts() > 1).then_some(
                comparison::Polled {
                    baseline: baseline.attempts(),
                    current: current.attempts(),
                },
            ),
        }
    }

    /// How often the answer to a call of the baseline was heard.
    fn takes(&self, baseline: &Call<'_>) -> usize {
        self.learned.get(&baseline.number).map_or(1, |it| it.takes)
    }

    /// The places of a baseline's answer that are not looked at, because every take had something else there.
    fn unseen(&self, baseline: &Call<'_>) -> Vec<String> {
        let learned = self
            .learned
            .get(&baseline.number)
            .filter(|it| it.is_stable());
        let varies = learned.into_iter().flat_map(|it| &it.varies);
        varies
            .filter(|it| it.is_unseen())
            .map(|it| it.path.clone())
            .collect()
    }

    /// When the two calls were made.
    fn clock(&self, baseline: &Call<'_>, current: &Call<'_>) -> Clock {
        Clock::new(
            (self.baseline_run, baseline.made),
            (self.current_run, current.made),
        )
    }

    /// Did the server answer the same?
    fn response(
        &self,
        baseline: &Call<'a>,
        current: &Call<'a>,
        request: f64,
        echoes: &[(&Value, &Value)],
    ) -> ResponseScore {
        if response::is_unchanged(baseline.plain_response(), current.plain_response()) {
            return ResponseScore {
                similarity: 1.0,
                contract_changes: Vec::new(),
                differences: Vec::new(),
            };
        }
        let learned = self.learned.get(&baseline.number);
        let sources = self
            .sources
            .get(&baseline.number)
            .map_or(&[][..], Vec::as_slice);
        // What was heard of an answer holds for the answer to the same request alone.
        let must_hold = matches!(self.responses, Responses::Stable | Responses::Exact)
            && request >= 1.0 - TOLERANCE;
        let held = learned.filter(|it| must_hold && it.is_stable());
        let places: Vec<String> = learned
            .into_iter()
            .flat_map(|it| it.paths())
            .map(str::to_owned)
            .collect();
        let volatile: Vec<Pattern> = patterns(&places)
            .into_iter()
            .chain(sources.iter().cloned())
            .collect();
        let documents = Documents::default();
        let context = Context {
            ignore: &self.ignore,
            volatile: &volatile,
            learned: learned.is_some_and(|it| !it.is_stable()),
            echoes,
            mode: self.responses,
            work: self.work,
            documents: &documents,
        };
        let varies = Tree::new(held.map_or(&[], |it| &it.varies));
        let known = held.map(|it| Known {
            learned: it,
            varies: &varies,
            clock: self.clock(baseline, current),
            ignore: &self.ignore,
            sources,
            given: &self.given,
            exact: self.responses == Responses::Exact,
            work: self.work,
            documents: &documents,
        });
        response::compare(baseline.response(), current.response(), context, known)
    }

    /// The calls of both sides in order, given which pair, and which of these pairs are out of order; the pairs are scored here.
    pub(super) fn rows(&self, pairs: &Pairs, moved: &Pairs) -> Vec<Row> {
        let mut partner = vec![None; self.baseline.len()];
        let mut is_paired = vec![false; self.current.len()];
        for (&(b, c), is_moved) in
            (pairs.iter().map(|it| (it, false))).chain(moved.iter().map(|it| (it, true)))
        {
            partner[b] = Some((c, is_moved));
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
        for (b, partner) in partner.iter().enumerate() {
            match *partner {
                Some((c, is_moved)) => {
                    if !is_moved {
                        extras(&mut rows, next..c.max(next));
                        next = next.max(c + 1);
                    }
                    rows.push(Row::Pair(Box::new(self.pair(b, c, is_moved))));
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

    /// Equal reads that stand in another order on the two sides: out of the pairs of an alignment, those that stay in order, and those that
    /// are out of it. Reads that were paired with others only for want of their own find them again.
    pub(super) fn with_moved(&self, pairs: Pairs) -> (Pairs, Pairs) {
        let pairs = self.with_all_effects(pairs);
        let mut partner: BTreeMap<usize, usize> = pairs.iter().copied().collect();
        let is_exact = |b: usize, c: usize| self.baseline[b].key == self.current[c].key;
        let taken: HashSet<usize> = (pairs
            .iter()
            .filter(|(b, c)| is_exact(*b, *c) || !self.reads(*b, *c)))
        .map(|it| it.1)
        .collect();
        let mut free: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (c, call) in self.current.iter().enumerate() {
            if call.reads && !taken.contains(&c) {
                free.entry(call.key).or_default().push_back(c);
            }
        }
        let mut found = Pairs::new();
        for (b, call) in self.baseline.iter().enumerate() {
            let is_settled = partner.get(&b).is_some_and(|c| taken.contains(c));
            if call.reads
                && !is_settled
                && let Some(c) = free.get_mut(&call.key).and_then(VecDeque::pop_front)
            {
                found.push((b, c));
            }
        }
        if found.is_empty() {
            return (pairs, found);
        }
        let of_found: (HashSet<usize>, HashSet<usize>) = found.iter().copied().unzip();
        let given_up: HashSet<(usize, usize)> = (pairs.iter().copied())
            .filter(|(b, c)| {
                !is_exact(*b, *c) && (of_found.0.contains(b) || of_found.1.contains(c))
            })
            .collect();
        let lost: f64 = given_up.iter().map(|(b, c)| self.request(*b, *c)).sum();
        if MOVED * number::count(found.len()) <= lost {
            // The pairs as they are have more in common; only what is left over finds its own.
            let used: HashSet<usize> = pairs.iter().map(|it| it.1).collect();
            found.retain(|(b, c)| !partner.contains_key(b) && !used.contains(c));
        } else {
            partner.retain(|b, c| !given_up.contains(&(*b, *c)));
        }
        let mut moved = Pairs::new();
        for (b, c) in found {
            let before = partner.range(..b).next_back();
            let after = partner.range(b..).next();
            if before.is_none_or(|it| *it.1 < c) && after.is_none_or(|it| *it.1 > c) {
                partner.insert(b, c);
            } else {
                moved.push((b, c));
            }
        }
        (partner.into_iter().collect(), moved)
    }

    /// The same pairs, but where an effect that both sides made has no partner of its own for the sake of reads, those give way to it: reads
    /// find each other again in whatever order, effects do not.
    fn with_all_effects(&self, pairs: Pairs) -> Pairs {
        let made_again = |pairs: &Pairs| -> (HashSet<usize>, HashSet<usize>) {
            let exact = |(b, c): &&(usize, usize)| {
                !self.baseline[*b].reads && self.baseline[*b].key == self.current[*c].key
            };
            pairs.iter().filter(exact).copied().unzip()
        };
        let again = made_again(&pairs);
        let others = |calls: &[Call<'_>], again: &HashSet<usize>| -> HashSet<u64> {
            let effects = calls.iter().enumerate().filter(|(_, it)| !it.reads);
            effects
                .filter(|(at, _)| !again.contains(at))
                .map(|(_, it)| it.key)
                .collect()
        };
        if others(&self.baseline, &again.0).is_disjoint(&others(&self.current, &again.1)) {
            return pairs;
        }
        let effects = |calls: &[Call<'_>]| -> (Vec<usize>, Vec<u64>) {
            let effects = calls.iter().enumerate().filter(|(_, it)| !it.reads);
            effects.map(|(at, it)| (at, it.key)).unzip()
        };
        let ((b, b_keys), (c, c_keys)) = (effects(&self.baseline), effects(&self.current));
        let of_effects: Pairs = align::align(
            &b_keys,
            &c_keys,
            self.cells(),
            |i, j| self.same_tool(b[i], c[j]),
            |i, j| self.request(b[i], c[j]),
        )
        .into_iter()
        .map(|(i, j)| (b[i], c[j]))
        .collect();
        if made_again(&of_effects).0.len() <= again.0.len() {
            return pairs;
        }
        let crosses_none = |(b, c): &(usize, usize)| {
            of_effects.partition_point(|it| it.0 < *b) == of_effects.partition_point(|it| it.1 < *c)
        };
        let reads = pairs.into_iter().filter(|(b, c)| self.reads(*b, *c));
        let mut kept: Pairs = reads.filter(crosses_none).collect();
        kept.extend(&of_effects);
        kept.sort_unstable();
        kept
    }

    fn reads(&self, b: usize, c: usize) -> bool {
        self.baseline[b].reads && self.current[c].reads
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
    if both_read && response >= SAME_ANSWER - TOLERANCE {
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
