//! Which calls of a run stand for which of its baseline, before the two are compared.

use std::collections::HashMap;

use crate::model::rules::Rules;
use crate::model::trajectory::Trajectory;
use crate::score::work::Work;

use super::call::Call;
use super::calls::Calls;

/// Which calls of the run stand for which of the baseline, before any value is known to stand for another.
pub(in crate::score) struct Partners {
    of: HashMap<usize, Vec<usize>>,
}

impl Partners {
    /// Equal requests in a row are taken together, so that a poll stands for a poll however often it asked.
    pub(in crate::score) fn new(
        baseline: &Trajectory,
        current: &Trajectory,
        rules: &Rules,
        work: &Work<'_>,
    ) -> Self {
        let calls = Calls::in_runs(baseline, current, rules, work);
        let tools = |calls: &[Call<'_>]| calls.iter().map(|it| it.tool).collect::<Vec<_>>();
        let pairs = if tools(&calls.baseline) == tools(&calls.current) {
            (0..calls.baseline.len()).map(|it| (it, it)).collect()
        } else {
            calls.align()
        };
        let mut of = HashMap::new();
        for (b, c) in pairs {
            let (b, c) = (&calls.baseline[b], &calls.current[c]);
            let partners: Vec<usize> = (c.number + 1 - c.attempts()..=c.number).collect();
            for number in b.number + 1 - b.attempts()..=b.number {
                of.insert(number, partners.clone());
            }
        }
        Self { of }
    }

    /// By the number of the baseline's call; the last of them has the answer that counts.
    pub(in crate::score) fn calls(&self, baseline: usize) -> &[usize] {
        self.of.get(&baseline).map_or(&[], Vec::as_slice)
    }
}
