//! What the comparison of two responses found, in bounded memory.

use crate::values::number::{ALMOST, count};
use model::response::{Difference, Edit, ResponseScore, Steady};

/// The most differences of one response that are kept one by one; the smaller ones beyond are summed up in one.
const DIFFERENCES: usize = 100;

/// The similarity that a response with any broken place is capped at.
pub(super) const CAP: f64 = 0.5;

/// Differences as they are met.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Difference>,
    /// Differences beyond the kept ones, and those of them that break something.
    more: usize,
    more_breaking: usize,
    more_loss: f64,
    /// Of the smallest kept difference, whether it breaks something, and its loss. Smaller differences are not kept.
    least: Option<(bool, f64)>,
}

impl Findings {
    /// Counts a difference that would not be kept; false where it may be kept and has to be noted.
    pub(super) fn pass_over(&mut self, loss: f64, breaks: bool) -> bool {
        if self.least.is_none_or(|least| (breaks, loss) > least) {
            return false;
        }
        self.leave_out(loss, breaks);
        true
    }

    fn leave_out(&mut self, loss: f64, breaks: bool) {
        self.more += 1;
        self.more_breaking += usize::from(breaks);
        self.more_loss += loss;
    }

    pub(super) fn note(&mut self, difference: Difference) {
        self.kept.push(difference);
        if self.kept.len() >= 4 * DIFFERENCES {
            self.keep_the_largest();
        }
    }

    fn keep_the_largest(&mut self) {
        // A stable sort, so that of equal losses the first stay.
        self.kept.sort_by(|a, b| {
            let breaks = b.breaks.is_some().cmp(&a.breaks.is_some());
            breaks.then(b.loss.total_cmp(&a.loss))
        });
        for it in self.kept.split_off(DIFFERENCES.min(self.kept.len())) {
            self.leave_out(it.loss, it.breaks.is_some());
        }
        self.least = self.kept.last().map(|it| (it.breaks.is_some(), it.loss));
    }

    /// Takes the similarity as it is, and spreads what it lost evenly: over what broke where anything did, else over all differences.
    pub(super) fn finish_evenly(mut self, similarity: f64) -> ResponseScore {
        let is_broken = self.kept.iter().any(|it| it.breaks.is_some());
        let mut costly: Vec<&mut Difference> = (self.kept.iter_mut())
            .filter(|it| it.breaks.is_some() || !is_broken)
            .collect();
        let more = if is_broken {
            self.more_breaking
        } else {
            self.more
        };
        let each = (1.0 - similarity) / count((costly.len() + more).max(1));
        for it in &mut costly {
            it.loss = each;
        }
        self.more_loss = each * count(more);
        self.finish(similarity)
    }

    /// Caps the similarity if anything broke, and spreads what the cap costs over what did.
    pub(super) fn finish(mut self, similarity: f64) -> ResponseScore {
        if self.kept.len() > DIFFERENCES {
            self.keep_the_largest();
        }
        let broken = self.kept.iter().filter(|it| it.breaks.is_some()).count();
        let capped = if broken > 0 {
            similarity.min(CAP)
        } else if self.kept.is_empty() {
            similarity
        } else {
            // A small difference must not be lost in rounding.
            similarity.min(ALMOST)
        };
        let extra = (similarity - capped) / count(broken.max(1));
        for it in self.kept.iter_mut().filter(|it| it.breaks.is_some()) {
            it.loss += extra;
        }
        if self.more > 0 {
            let edit = Edit::Rest {
                count: self.more,
                breaking: self.more_breaking,
            };
            self.kept.push(Difference {
                breaks: (self.more_breaking > 0).then_some(Steady::Unknown),
                similarity: 0.0,
                loss: self.more_loss,
                ..Difference::shown(String::new(), edit)
            });
        }
        ResponseScore {
            similarity: capped,
            differences: self.kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Findings;
    use model::response::{Difference, Edit, Steady};

    #[test]
    fn what_is_lost_is_spread_over_changes_and_not_over_additions() {
        let mut findings = Findings::default();
        findings.note(Difference {
            breaks: Some(Steady::Unknown),
            ..Difference::shown("/changed".to_owned(), Edit::Changed)
        });
        for number in 0..1000 {
            if !findings.pass_over(0.0, false) {
                findings.note(Difference::shown(format!("/{number}"), Edit::Changed));
            }
        }
        let score = findings.finish_evenly(0.4);
        let changed = score.differences.iter().find(|it| it.path == "/changed");
        assert_eq!(changed.map(|it| it.loss), Some(0.6));
        let lost: f64 = score.differences.iter().map(|it| it.loss).sum();
        assert!((lost - 0.6).abs() < 1e-9, "{lost}");
    }
}
