//! How well a detector tells malicious from benign.

use super::statistics::{count, mean, population_deviation};
pub use crate::model::measurement::Demands;
use crate::model::number::is_at_most;

/// What became of the entries of a corpus, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Malicious, and flagged.
    pub true_positives: usize,
    /// Benign, and flagged.
    pub false_positives: usize,
    /// Benign, and not flagged.
    pub true_negatives: usize,
    /// Malicious, and not flagged.
    pub false_negatives: usize,
}

impl Counts {
    /// The counts of entries, each with whether it is malicious and whether it was flagged.
    pub fn of(entries: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for entry in entries {
            let counted = match entry {
                (true, true) => &mut counts.true_positives,
                (true, false) => &mut counts.false_negatives,
                (false, true) => &mut counts.false_positives,
                (false, false) => &mut counts.true_negatives,
            };
            *counted += 1;
        }
        counts
    }

    pub fn malicious(&self) -> usize {
        self.true_positives + self.false_negatives
    }

    pub fn benign(&self) -> usize {
        self.false_positives + self.true_negatives
    }

    /// The rates, each 0 where nothing could count for it.
    pub fn rates(&self) -> Rates {
        let precision = ratio(
            self.true_positives,
            self.true_positives + self.false_positives,
        );
        let recall = ratio(self.true_positives, self.malicious());
        let both = precision + recall;
        Rates {
            precision,
            recall,
            f1: if both > 0.0 {
                2.0 * precision * recall / both
            } else {
                0.0
            },
            fpr: ratio(self.false_positives, self.benign()),
        }
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        count(part) / count(whole)
    }
}

/// Rates, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Of what was flagged, how much is malicious.
    pub precision: f64,
    /// Of what is malicious, how much was flagged.
    pub recall: f64,
    pub f1: f64,
    /// Of what is benign, how much was flagged.
    pub fpr: f64,
}

/// A detector over all its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Detection {
    /// The means over the runs.
    pub rates: Rates,
    /// How far the false positive rate spreads over the runs.
    pub fpr_deviation: f64,
    /// The means over the runs, without their fractions.
    pub counts: Counts,
    pub runs: usize,
}

impl Detection {
    pub fn over(runs: &[Counts]) -> Self {
        let rates: Vec<Rates> = runs.iter().map(Counts::rates).collect();
        let of = |rate: fn(&Rates) -> f64| rates.iter().map(rate).collect::<Vec<f64>>();
        let whole = |counted: fn(&Counts) -> usize| {
            let sum: usize = runs.iter().map(counted).sum();
            sum / runs.len().max(1)
        };
        let fprs = of(|it| it.fpr);
        Self {
            rates: Rates {
                precision: mean(&of(|it| it.precision)),
                recall: mean(&of(|it| it.recall)),
                f1: mean(&of(|it| it.f1)),
                fpr: mean(&fprs),
            },
            fpr_deviation: population_deviation(&fprs),
            counts: Counts {
                true_positives: whole(|it| it.true_positives),
                false_positives: whole(|it| it.false_positives),
                true_negatives: whole(|it| it.true_negatives),
                false_negatives: whole(|it| it.false_negatives),
            },
            runs: runs.len(),
        }
    }

    /// Whether it raises few enough false alarms, and misses little enough.
    pub fn passes(&self, fpr_ceiling: f64, recall_floor: f64) -> bool {
        // Means of several runs have specks of arithmetic.
        is_at_most(self.rates.fpr, fpr_ceiling) && is_at_most(recall_floor, self.rates.recall)
    }
}
