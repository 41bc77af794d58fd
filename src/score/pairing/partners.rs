//! Which calls of a run stand for which of its baseline, before the two are compared.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::work::Work;
use model::rules::Rules;
use model::trajectory::Trajectory;

use super::call::Call;
use super::calls::Calls;

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
