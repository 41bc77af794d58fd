//! The sign test: which of two ways is better, by the results of both in the same scenarios.
//!
//! The sign test leaves out the scenarios in which both came to the same, and asks of the others how likely it is that one side wins so
//! many of them where neither is better: W. J. Dixon and A. M. Mood, "The statistical sign test", JASA 41 (1946), 557–566. The interval that
//! belongs to it is the exact one of a share: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
//! case of the binomial", Biometrika 26 (1934), 404–413. It lies above one half exactly where the two-sided test rejects.

use crate::values::number::count;
use model::Interval;

/// How many scenarios one of two ways is better in, and how many the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signs {
    pub better: usize,
    pub worse: usize,
}

impl Signs {
    fn all(self) -> usize {
        self.better + self.worse
    }

    /// The chance, 0 to 1, that the scenarios fall at least as unevenly where neither way is better; 1 where there are none.
    pub fn p_value(self) -> f64 {
        let most = self.better.max(self.worse);
        (2.0 * at_least(most, self.all(), 0.5)).min(1.0)
    }

    /// Where the share of scenarios lies that the first way is better in, of those that tell the two apart, at this confidence (0 to 1);
    /// `None` without any.
    pub fn interval(self, confidence: f64) -> Option<Interval> {
        let (better, all) = (self.better, self.all());
        if all == 0 {
            return None;
        }
        let tail = (1.0 - confidence) / 2.0;
        let low = match better {
            0 => 0.0,
            _ => crossing(|share| at_least(better, all, share) < tail),
        };
        let high = match self.worse {
            0 => 1.0,
            worse => 1.0 - crossing(|share| at_least(worse, all, share) < tail),
        };
        Some(Interval {
            low,
            high,
            confidence,
        })
    }
}

/// The chance that of `all` events of this chance at least `least` happen.
fn at_least(least: usize, all: usize, chance: f64) -> f64 {
    if least == 0 || chance >= 1.0 {
        return 1.0;
    }
    if chance <= 0.0 {
        return 0.0;
    }
    // In logarithms, because the factors of a thousand events leave the range of a number.
    let (yes, no) = (chance.ln(), (1.0 - chance).ln());
    let mut ways = 0.0;
    let mut sum = 0.0;
    for happened in 0..=all {
        if happened > 0 {
            ways += (count(all - happened + 1) / count(happened)).ln();
        }
        if happened >= least {
            sum += (ways + count(happened) * yes + count(all - happened) * no).exp();
        }
    }
    sum.min(1.0)
}

/// Where, between 0 and 1, a condition that holds from 0 on ceases to hold.
fn crossing(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    // Sixty halvings use up the digits of a number.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::Signs;

    #[test]
    fn chances_are_those_of_a_fair_coin() {
        let cases = [
            (0, 0, 1.0),
            (1, 0, 1.0),
            (5, 0, 0.0625),
            (6, 0, 0.031_25),
            (0, 6, 0.031_25),
            (3, 3, 1.0),
            (9, 1, 0.021_484_375),
        ];
        for (better, worse, expected) in cases {
            let found = Signs { better, worse }.p_value();
            assert!((found - expected).abs() < 1e-9, "{better}:{worse} {found}");
        }
        // 2,000 to 0 is no number that is none.
        let many = Signs {
            better: 2000,
            worse: 0,
        };
        assert!((0.0..1e-300).contains(&many.p_value()));
    }

    #[test]
    fn intervals_are_the_exact_ones() {
        // Of 20 events none: up to 1 - 0.025^(1/20).
        for (better, worse, low, high) in [(8, 2, 0.4439, 0.9748), (0, 20, 0.0, 0.1684)] {
            let found = Signs { better, worse }.interval(0.95).unwrap();
            let close = (found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5;
            assert!(close, "{found:?}");
        }
        assert_eq!(Signs::default().interval(0.95), None);
    }

    #[test]
    fn an_interval_is_above_one_half_where_the_test_rejects() {
        for better in 0..40 {
            for worse in 0..40 {
                let signs = Signs { better, worse };
                let above = signs.interval(0.95).is_some_and(|it| it.low > 0.5);
                let rejects = signs.p_value() < 0.05 && better > worse;
                assert_eq!(above, rejects, "{signs:?}");
            }
        }
    }
}
