//! The ways to match calls: which pair, what the score is taken over, and what must hold besides.
//!
//! `exact`, `in_order` and `any_order` are those of Google ADK's trajectory evaluator: 1 if the expected calls were made
//! with equal arguments, else 0; the last two allow others, and expecting nothing always holds. `strict`, `unordered`,
//! `subset` and `superset` are those of `LangChain`'s agentevals, but graded: calls are assigned one to one with the best
//! total similarity, where agentevals takes the first equal call it meets. What must hold about the numbers of calls
//! is as there: the same number, none beyond the expected, or none missing. No calls at all are a subset of anything, and
//! anything is a superset of none.

use std::collections::BTreeMap;

use crate::lists::align::Pairs;
use crate::lists::assign;
use model::comparison::Row;
use model::reason::{Reason, ReasonKind, Why};
use model::rules::Match;

use super::call::asked;
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
    let (baseline, current) = match offending {
        Some(Row::Pair(pair)) => (Some(pair.baseline), Some(pair.current)),
        Some(Row::Missing { baseline, .. }) => (Some(*baseline), None),
        Some(Row::Extra { current, .. }) => (None, Some(*current)),
        None => (None, None),
    };
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
