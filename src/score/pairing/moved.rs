//! Equal calls that are out of order: pairs that are dissolved so that equal reads and effects can be paired.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::lists::align::Pairs;
use crate::values::number;

use super::call::Call;
use super::calls::Calls;

/// What an equal read counts that was made in another place.
pub(crate) const MOVED: f64 = 0.8;

impl Calls<'_> {
    /// Equal reads that stand in another order on the two sides: out of the pairs of an alignment, those that stay in order, and those that
    /// are out of it. Reads that were paired with different ones only because their equal one was out of order are paired with it.
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
