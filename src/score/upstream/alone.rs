//! Calls behind the server without a partner, counted: how often a tool was called at a moment, and how often it was before.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::pairing::call::Call;
use crate::pairing::calls::Calls;

use super::matched::Arrival;

/// The calls of one tool at one moment, of which there are more on one side than on the other.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// The moments, by their group; `None` for a tool that is called irregularly.
    pub(super) group: Option<usize>,
    /// Whether they change something.
    pub(super) effect: bool,
    /// How often it was called on each side.
    pub(super) before: usize,
    pub(super) now: usize,
    /// The calls without a partner, by their positions, each with the position of its row.
    pub(super) missing: Vec<(usize, usize)>,
    pub(super) extra: Vec<(usize, usize)>,
    /// Whether each of those was made on the other side, too, only not as often.
    pub(super) is_known: bool,
}

/// What is counted together: the group of moments, the tool, and whether its calls change something.
type Kind = (Option<usize>, u64, bool);

/// The calls without a partner.
pub(super) struct Alone<'s, 'a> {
    calls: &'s Calls<'a>,
    arrivals: (&'s [Arrival], &'s [Arrival]),
    found: BTreeMap<Kind, Counted>,
}

impl<'s, 'a> Alone<'s, 'a> {
    pub(super) fn new(calls: &'s Calls<'a>, arrivals: (&'s [Arrival], &'s [Arrival])) -> Self {
        Self {
            calls,
            arrivals,
            found: BTreeMap::new(),
        }
    }

    pub(super) fn missing(&mut self, b: usize, row: usize) {
        let kind = kind(&self.calls.baseline[b], self.arrivals.0[b]);
        self.found.entry(kind).or_default().missing.push((b, row));
    }

    pub(super) fn extra(&mut self, c: usize, row: usize) {
        let kind = kind(&self.calls.current[c], self.arrivals.1[c]);
        self.found.entry(kind).or_default().extra.push((c, row));
    }

    /// In the order of the moments.
    pub(super) fn counted(self) -> Vec<Counted> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let before = Tally::new(&self.calls.baseline, self.arrivals.0);
        let now = Tally::new(&self.calls.current, self.arrivals.1);
        let counted = self.found.into_iter().map(|(kind, it)| {
            let is_missing = |(b, _): &(usize, usize)| now.has(kind, &self.calls.baseline[*b]);
            let is_extra = |(c, _): &(usize, usize)| before.has(kind, &self.calls.current[*c]);
            Counted {
                group: kind.0,
                effect: kind.2,
                before: before.count(kind),
                now: now.count(kind),
                is_known: it.missing.iter().all(is_missing) && it.extra.iter().all(is_extra),
                ..it
            }
        });
        counted.collect()
    }
}

/// What one side called.
struct Tally {
    counts: HashMap<Kind, usize>,
    requests: HashSet<(Kind, u64)>,
}

impl Tally {
    fn new(calls: &[Call<'_>], arrivals: &[Arrival]) -> Self {
        let mut counts = HashMap::new();
        let mut requests = HashSet::new();
        for (call, arrival) in calls.iter().zip(arrivals) {
            let kind = kind(call, *arrival);
            *counts.entry(kind).or_default() += 1;
            requests.insert((kind, call.key));
        }
        Self { counts, requests }
    }

    fn count(&self, kind: Kind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    fn has(&self, kind: Kind, call: &Call<'_>) -> bool {
        self.requests.contains(&(kind, call.key))
    }
}

fn kind(call: &Call<'_>, arrival: Arrival) -> Kind {
    (arrival.group, call.tool, !call.reads)
}
