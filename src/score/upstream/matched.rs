//! Matching the upstream calls of two runs.
//!
//! Calls of one tool that arrived at the same moment are paired, equal ones first. What is left over is looked for at other moments.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::lists::align::unpaired;
use crate::lists::assign::pair_off;
use crate::lists::edits;
use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use crate::values::same;

/// When a call arrived, and what it was passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// The group of the agent's moments; `None` for any time, as its tool is called irregularly.
    pub(crate) group: Option<usize>,
    /// Whether both sides have the moment, so that its partner may have arrived at another one.
    pub(crate) may_move: bool,
    /// Equal for calls that were passed the same headers.
    pub(crate) headers: u64,
}

/// Where the call of the run stands that belongs to one of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Same,
    /// At the same moment, in another order among the calls of its server, or even among its effects.
    Reordered {
        among_effects: bool,
    },
    /// At another moment.
    Elsewhere,
}

/// Two calls that belong together, by their positions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partners {
    pub(crate) b: usize,
    pub(crate) c: usize,
    pub(crate) place: Place,
}

/// What was paired, and what was not, by positions in ascending order; pairs by those of the baseline.
pub(crate) struct Matched {
    pub(crate) pairs: Vec<Partners>,
    pub(crate) missing: Vec<usize>,
    pub(crate) extra: Vec<usize>,
}

/// Positions of calls on each side.
type Sides = (Vec<usize>, Vec<usize>);

/// Pairs the calls of both sides, given when each arrived.
pub(crate) fn matched(calls: &Calls<'_>, b: &[Arrival], c: &[Arrival]) -> Matched {
    let mut open: BTreeMap<(Option<usize>, u64), Sides> = BTreeMap::new();
    for (at, call) in calls.baseline.iter().enumerate() {
        open.entry((b[at].group, call.tool)).or_default().0.push(at);
    }
    for (at, call) in calls.current.iter().enumerate() {
        open.entry((c[at].group, call.tool)).or_default().1.push(at);
    }
    let all = (calls.baseline.len() + calls.current.len()).max(1);
    let for_each = calls.cells() / all;
    let mut pairs = Vec::new();
    for (mut of_b, mut of_c) in open.into_values() {
        let with_headers = |call: &Call<'_>, headers: u64| same::hash_of((call.key, headers));
        let same = pair_off(
            &mut of_b,
            &mut of_c,
            |at| with_headers(&calls.baseline[at], b[at].headers),
            |at| with_headers(&calls.current[at], c[at].headers),
        );
        let equal = equal_requests(calls, &mut of_b, &mut of_c);
        let alike = all_of(calls, &of_b, &of_c, for_each * (of_b.len() + of_c.len()));
        pairs.extend(same.into_iter().chain(equal).chain(alike));
    }
    pairs.sort_unstable();
    let elsewhere = elsewhere(calls, &pairs, b, c);
    let reordered = reordered(calls, &pairs, b);
    let in_place = pairs.into_iter().map(|(b, c)| {
        let among_effects = reordered.get(&b).copied();
        let place = among_effects.map_or(Place::Same, |among_effects| Place::Reordered {
            among_effects,
        });
        Partners { b, c, place }
    });
    let elsewhere = elsewhere.into_iter().map(|(b, c)| Partners {
        b,
        c,
        place: Place::Elsewhere,
    });
    let mut pairs: Vec<Partners> = in_place.chain(elsewhere).collect();
    pairs.sort_unstable_by_key(|it| it.b);
    let (missing, extra) = alone(calls, pairs.iter().map(|it| (it.b, it.c)));
    Matched {
        pairs,
        missing,
        extra,
    }
}

/// The positions on each side that are in no pair.
fn alone(calls: &Calls<'_>, pairs: impl Iterator<Item = (usize, usize)>) -> Sides {
    let mut of_b = vec![false; calls.baseline.len()];
    let mut of_c = vec![false; calls.current.len()];
    for (b, c) in pairs {
        of_b[b] = true;
        of_c[c] = true;
    }
    let without = |is_paired: Vec<bool>| -> Vec<usize> {
        let all = is_paired.into_iter().enumerate();
        all.filter(|(_, is_paired)| !is_paired)
            .map(|(at, _)| at)
            .collect()
    };
    (without(of_b), without(of_c))
}

fn equal_requests(
    calls: &Calls<'_>,
    b: &mut Vec<usize>,
    c: &mut Vec<usize>,
) -> Vec<(usize, usize)> {
    pair_off(
        b,
        c,
        |at| calls.baseline[at].key,
        |at| calls.current[at].key,
    )
}

/// As many pairs of calls of one tool as there can be: those that are most alike in order, and of the others the first with the first. At
/// most so many similarities are asked for.
fn all_of(calls: &Calls<'_>, b: &[usize], c: &[usize], most: usize) -> Vec<(usize, usize)> {
    let mut pairs = calls.align_some(b, c, most);
    let paired: (HashSet<usize>, HashSet<usize>) = pairs.iter().copied().unzip();
    let left = b.iter().filter(|at| !paired.0.contains(at));
    let right = c.iter().filter(|at| !paired.1.contains(at));
    let others: Vec<(usize, usize)> = left.copied().zip(right.copied()).collect();
    pairs.extend(others);
    pairs
}

/// Equal calls among those without a partner, which arrived at another moment.
fn elsewhere(
    calls: &Calls<'_>,
    pairs: &[(usize, usize)],
    b: &[Arrival],
    c: &[Arrival],
) -> Vec<(usize, usize)> {
    let (mut missing, mut extra) = alone(calls, pairs.iter().copied());
    missing.retain(|at| b[*at].may_move);
    extra.retain(|at| c[*at].may_move);
    equal_requests(calls, &mut missing, &mut extra)
}

/// The pairs of equal calls that are out of order among those of their server at their moment, by positions in the baseline, with whether they are out of
/// the order of its effects.
fn reordered(calls: &Calls<'_>, pairs: &[(usize, usize)], b: &[Arrival]) -> HashMap<usize, bool> {
    let mut found = HashMap::new();
    let mut of_server: BTreeMap<(usize, &str), Vec<(usize, usize)>> = BTreeMap::new();
    for &(at, c) in pairs {
        let is_equal = calls.baseline[at].key == calls.current[c].key;
        if let Some(group) = b[at].group.filter(|_| is_equal) {
            let server = calls.baseline[at].named().server;
            of_server.entry((group, server)).or_default().push((at, c));
        }
    }
    let reads = |it: &Call<'_>| it.reads;
    for pairs in of_server.into_values() {
        let is_effect =
            |(b, c): &&(usize, usize)| !(reads(&calls.baseline[*b]) && reads(&calls.current[*c]));
        let effects: Vec<(usize, usize)> = pairs.iter().filter(is_effect).copied().collect();
        found.extend(crossing(&effects).into_iter().map(|it| (it, true)));
        let kept: Vec<(usize, usize)> = (pairs.iter())
            .filter(|it| !found.contains_key(&it.0))
            .copied()
            .collect();
        found.extend(crossing(&kept).into_iter().map(|it| (it, false)));
    }
    found
}

/// The pairs, by the first position of each, that have to be taken out so that the others are in the same order on both sides.
fn crossing(pairs: &[(usize, usize)]) -> Vec<usize> {
    let in_b: Vec<u64> = pairs.iter().map(|it| it.1 as u64).collect();
    let mut in_c = in_b.clone();
    in_c.sort_unstable();
    let kept = edits::common(&in_b, &in_c);
    let (alone, _) = unpaired(&kept, in_b.len(), in_c.len());
    alone.into_iter().map(|at| pairs[at].0).collect()
}
