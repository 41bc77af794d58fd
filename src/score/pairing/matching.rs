//! The ways to match calls: which pair, before and after ids are known, what the score is taken over, and what must hold besides.
//!
//! `exact`, `in_order` and `any_order` are those of Google ADK's trajectory evaluator: 1 if the expected calls were made
//! with equal arguments, else 0; the last two allow others, and expecting nothing always holds. `strict`, `unordered`,
//! `subset` and `superset` are those of `LangChain`'s agentevals, but graded: calls are assigned one to one with the best
//! total similarity, where agentevals takes the first equal call it meets. What must hold about the numbers of calls
//! is as there: the same number, none beyond the expected, or none missing. No calls at all are a subset of anything, and
//! anything is a superset of none.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::RangeInclusive;

use crate::lists::align::Pairs;
use crate::lists::assign;
use crate::values::number;
use crate::work::Work;
use model::reason::{Reason, ReasonKind, Why};
use model::rules::{Match, Rules};
use model::{Row, Trajectory};

use super::call::{Call, asked};
use super::calls::Calls;

/// What a way of matching makes of two sides.
pub(crate) struct Matched {
    pub(crate) pairs: Pairs,
    /// Equal reads that are out of order, besides.
    pub(crate) moved: Pairs,
    /// The number of calls the score is the mean over.
    pub(crate) counted: usize,
    /// Whether calls without a partner may be there: in the baseline, in the run.
    pub(crate) may_miss: bool,
    pub(crate) may_add: bool,
    /// For modes that are all or nothing, whether they hold.
    pub(crate) all_or_nothing: Option<bool>,
    /// Whether the numbers of calls may differ without a penalty of their own.
    pub(crate) any_count: bool,
}

pub(crate) fn matched(calls: &Calls<'_>, mode: Match) -> Matched {
    let graded = |pairs: Pairs, counted: usize| Matched {
        pairs,
        moved: Pairs::new(),
        counted,
        may_miss: false,
        may_add: false,
        all_or_nothing: None,
        any_count: false,
    };
    let (n, m) = (calls.baseline.len(), calls.current.len());
    match mode {
        Match::Similar => {
            let (pairs, moved) = calls.with_moved(calls.align());
            Matched {
                moved,
                ..graded(pairs, calls.longer())
            }
        }
        Match::Strict => graded(positional(calls), calls.longer()),
        Match::Unordered => graded(assigned(calls), calls.longer()),
        Match::Subset => Matched {
            may_miss: true,
            any_count: true,
            ..graded(assigned(calls), m)
        },
        Match::Superset => Matched {
            may_add: true,
            any_count: true,
            ..graded(assigned(calls), n)
        },
        Match::Exact => {
            let holds = n == m && (0..n).all(|it| calls.equal_requests(it, it));
            binary(graded(positional(calls), calls.longer()), holds)
        }
        Match::InOrder => {
            let pairs = in_order(calls);
            let holds = pairs.len() == n;
            let pairs = if holds { pairs } else { calls.align() };
            let it = Matched {
                may_add: true,
                ..graded(pairs, n)
            };
            binary(it, holds)
        }
        Match::AnyOrder => {
            let pairs = any_order(calls);
            let holds = pairs.len() == n;
            let pairs = if holds { pairs } else { assigned(calls) };
            let it = Matched {
                may_add: true,
                ..graded(pairs, n)
            };
            binary(it, holds)
        }
    }
}

fn binary(graded: Matched, holds: bool) -> Matched {
    Matched {
        all_or_nothing: Some(holds),
        any_count: true,
        ..graded
    }
}

/// First with first, second with second, where they call the same tool.
pub(crate) fn positional(calls: &Calls<'_>) -> Pairs {
    let shorter = calls.baseline.len().min(calls.current.len());
    (0..shorter)
        .filter(|&it| calls.same_tool(it, it))
        .map(|it| (it, it))
        .collect()
}

/// The expected calls in order, each with the first equal call after the one before.
fn in_order(calls: &Calls<'_>) -> Pairs {
    let mut expected = 0;
    let mut pairs = Pairs::new();
    for current in 0..calls.current.len() {
        if expected < calls.baseline.len() && calls.equal_requests(expected, current) {
            pairs.push((expected, current));
            expected += 1;
        }
    }
    pairs
}

/// Expected calls with equal ones, each of which is used once; as many as possible.
fn any_order(calls: &Calls<'_>) -> Pairs {
    let equal = |b: usize, c: usize| if calls.equal_requests(b, c) { 1.0 } else { 0.0 };
    let mut pairs: Pairs = (by_tool(calls))
        .flat_map(|(expected, current)| assign::assign(expected, current, equal))
        .filter(|&(b, c)| calls.equal_requests(b, c))
        .collect();
    pairs.sort_unstable();
    pairs
}

/// The one-to-one assignment with the highest total request similarity. Calls of different tools never pair, so each
/// tool is assigned on its own.
fn assigned(calls: &Calls<'_>) -> Pairs {
    let mut pairs: Pairs = (by_tool(calls))
        .flat_map(|(expected, current)| {
            assign::assign(expected, current, |b, c| calls.request(b, c))
        })
        .collect();
    pairs.sort_unstable();
    pairs
}

/// The positions of the calls of each tool, on both sides.
fn by_tool(calls: &Calls<'_>) -> impl Iterator<Item = (assign::Keyed, assign::Keyed)> {
    let mut tools: BTreeMap<u64, (assign::Keyed, assign::Keyed)> = BTreeMap::new();
    for (at, call) in calls.baseline.iter().enumerate() {
        tools.entry(call.tool).or_default().0.push((at, call.key));
    }
    for (at, call) in calls.current.iter().enumerate() {
        tools.entry(call.tool).or_default().1.push((at, call.key));
    }
    tools.into_values()
}

/// Whether a row breaks a mode that is all or nothing, or a mode's demand on the numbers of calls.
pub(crate) fn offends(calls: &Calls<'_>, matched: &Matched, row: &Row) -> bool {
    match row {
        Row::Pair(pair) => matched.all_or_nothing.is_some() && !calls.equal_pair(pair),
        Row::Missing { .. } => !matched.may_miss,
        Row::Extra { .. } => !matched.may_add,
    }
}

/// Why a mode does not hold, where it is not a matter of degree: one reason, naming the first call that breaks it.
pub(crate) fn unmatched(
    calls: &Calls<'_>,
    mode: Match,
    matched: &Matched,
    rows: &[Row],
) -> Option<Reason> {
    let demand = match mode {
        Match::Similar => return None,
        Match::Exact => "the same calls in the same order, and no others",
        Match::InOrder => "the expected calls in order",
        Match::AnyOrder => "the expected calls in any order",
        Match::Strict => "the same number of calls, the same tools in the same order",
        Match::Unordered => "the same number of calls of the same tools",
        Match::Subset => "no call beyond the expected ones",
        Match::Superset => "at least the expected calls",
    };
    if matched.all_or_nothing == Some(true) {
        return None;
    }
    let offending = rows.iter().find(|it| offends(calls, matched, it));
    if matched.all_or_nothing.is_none() && offending.is_none() {
        return None;
    }
    let (baseline, current) = offending.map_or((None, None), Row::calls);
    let why = Why::Unfit {
        demand: demand.to_owned(),
        of_expected: false,
    };
    Some(Reason {
        baseline,
        current,
        expected: baseline.map(|it| asked(calls.before(it).made)),
        got: current.map(|it| asked(calls.now(it).said)),
        ..Reason::new(ReasonKind::Match, why)
    })
}

/// What an equal read counts that was made in another place.
pub(crate) const MOVED: f64 = 0.8;

impl Calls<'_> {
    /// Equal reads that stand in another order on the two sides: out of the pairs of an alignment, those that stay in order, and those that
    /// are out of it. Reads that were paired with different ones only because their equal one was out of order are paired with it.
    fn with_moved(&self, pairs: Pairs) -> (Pairs, Pairs) {
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
            let is_paired = partner.get(&b).is_some_and(|c| taken.contains(c));
            if call.reads
                && !is_paired
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
            // The existing pairs are more similar in total, so only unpaired calls are paired with their equal ones.
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

    /// The same pairs, except that pairs of reads are dissolved where they keep equal effects from being paired: reads can be paired again
    /// out of order, effects cannot.
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
        let effects = |calls: &[Call<'_>]| -> Vec<usize> {
            let effects = calls.iter().enumerate().filter(|(_, it)| !it.reads);
            effects.map(|(at, _)| at).collect()
        };
        let (b, c) = (effects(&self.baseline), effects(&self.current));
        let of_effects = self.align_some(&b, &c, self.cells());
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

/// Which calls of the run stand for which of the baseline, before any value is known to stand for another.
pub(crate) struct Partners {
    of: HashMap<usize, Standing>,
}

/// Which of several equal requests in a row stand for one of as many, or of another number.
#[derive(Clone)]
struct Standing {
    /// The one at the same place among them.
    own: usize,
    last: usize,
    /// All that may have asked what it asked.
    all: RangeInclusive<usize>,
}

impl Partners {
    /// Equal requests in a row are taken together, so that a poll stands for a poll however often it asked.
    pub(crate) fn new(
        baseline: &Trajectory,
        current: &Trajectory,
        rules: &Rules,
        work: &Work<'_>,
    ) -> Self {
        let calls = Calls::new(baseline, current, current, (rules, work), |_| true);
        let tools = |calls: &[Call<'_>]| calls.iter().map(|it| it.tool).collect::<Vec<_>>();
        let pairs = if tools(&calls.baseline) == tools(&calls.current) {
            (0..calls.baseline.len()).map(|it| (it, it)).collect()
        } else {
            calls.align()
        };
        let mut of = HashMap::new();
        for (b, c) in pairs {
            let (b, c) = (&calls.baseline[b], &calls.current[c]);
            let partners = c.number + 1 - c.attempts()..=c.number;
            for (at, number) in (b.number + 1 - b.attempts()..=b.number).enumerate() {
                let own = partners.clone().nth(at).unwrap_or(c.number);
                let are_as_many = b.attempts() == c.attempts();
                let all = if are_as_many {
                    own..=own
                } else {
                    partners.clone()
                };
                let last = c.number;
                of.insert(number, Standing { own, last, all });
            }
        }
        Self { of }
    }

    /// By the number of the baseline's call: all that may have asked what it asked.
    pub(crate) fn calls(&self, baseline: usize) -> RangeInclusive<usize> {
        let known = self.of.get(&baseline).map(|it| it.all.clone());
        known.unwrap_or(RangeInclusive::new(1, 0))
    }

    /// Those whose answer may stand for that of the baseline's call: the one at the same place among equal requests in a row, because each of
    /// them may have made something of its own; then the last, which has the answer that a poll waited for.
    pub(crate) fn answering(&self, baseline: usize) -> impl Iterator<Item = usize> {
        let known = self.of.get(&baseline).into_iter();
        known.flat_map(|it| [it.own, it.last])
    }
}
