//! How much the figures of a measurement say.
//!
//! Sources of the formulas:
//!
//! - [`bootstrap`]: B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13, the percentile interval.
//! - [`randomisation`]: M. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance tests for information retrieval
//!   evaluation", CIKM 2007; with the correction of B. Phipson and G. Smyth (2010) for drawn permutations.
//! - [`holm`]: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979), 65–70.
//! - [`mcnemar`]: Q. `McNemar`, Psychometrika 12 (1947), 153–157, in its exact form.
//!
//! What is drawn is drawn from a seed of our own, so that the same data give the same numbers.

use crate::model::interval::Interval;
pub(super) use crate::model::number::count;

/// An interval as it is written.
pub fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

/// The mean; 0 of nothing. The sum goes from the first value to the last: any other order may end in another last digit.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let mut sum = 0.0;
    for value in values {
        sum += value;
    }
    sum / count(values.len())
}

/// The standard deviation of a whole population; 0 of nothing.
pub fn population_deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: Vec<f64> = values
        .iter()
        .map(|it| (it - middle) * (it - middle))
        .collect();
    mean(&squares).sqrt()
}

/// Where a share lies, of which `hits` of `of` were seen; `None` of nothing.
pub fn wilson(hits: usize, of: usize) -> Option<Interval> {
    (of > 0).then(|| Interval::wilson(count(hits), count(of)))
}

/// The same of what several runs came to on average.
pub(super) fn wilson_of(hits: f64, of: f64) -> Option<Interval> {
    (of > 0.0).then(|| Interval::wilson(hits, of))
}

/// How many cases it takes, none of them a hit, for [`wilson`]'s upper end to be no higher than `ceiling`; `None` where no number is enough.
pub fn cases_below(ceiling: f64) -> Option<usize> {
    least(|of| wilson(0, of).is_some_and(|it| it.high <= ceiling))
}

/// How many cases it takes, all of them hits, for [`wilson`]'s lower end to be no lower than `floor`; `None` where no number is enough.
pub fn cases_above(floor: f64) -> Option<usize> {
    least(|of| wilson(of, of).is_some_and(|it| it.low >= floor))
}

/// The least number up to a million for which something holds that goes on holding.
fn least(holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, 1_000_000);
    if !holds(high) {
        return None;
    }
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Numbers that look random and are the same every time: `splitmix64`.
#[derive(Debug, Clone)]
struct Draws(u64);

impl Draws {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * (end as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }
}

/// What everything is drawn from.
const SEED: u64 = 2026;

/// How many samples are drawn at most, and at least, for an interval.
const MOST_SAMPLES: usize = 10_000;
const FEWEST_SAMPLES: usize = 1_000;
/// About how many values are drawn for one interval.
const DRAWN: usize = 2_000_000;

/// Where the mean lies, by drawing as many values again, with replacement, many times; `None` of nothing.
pub fn bootstrap(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let here = mean(values);
    let samples = (DRAWN / n).clamp(FEWEST_SAMPLES, MOST_SAMPLES);
    let mut draws = Draws::new(SEED);
    let mut averages: Vec<f64> = (0..samples)
        .map(|_| {
            let mut sum = 0.0;
            for _ in 0..n {
                sum += values[draws.below(n)];
            }
            sum / count(n)
        })
        .collect();
    averages.sort_unstable_by(f64::total_cmp);
    // The same number of samples is left out on both sides.
    let out = samples / 40;
    Some(Interval::of_95(
        averages[out].min(here),
        averages[samples - 1 - out].max(here),
    ))
}

/// How likely it is that a difference at least as large comes about by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Randomised {
    /// Two-sided.
    pub p: f64,
    /// Every assignment was tried, none drawn.
    pub is_exact: bool,
}

/// The most differences of which every assignment of signs is tried.
const MOST_EXACT: usize = 20;
/// How many assignments are drawn of more.
const FLIPS: usize = 100_000;

/// The paired randomisation test of the differences of two runs over the same queries: were the runs alike, each difference would be as likely
/// with the other sign. Differences of zero have none and are left out.
pub fn randomisation(differences: &[f64]) -> Randomised {
    let differing: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|it| *it != 0.0)
        .collect();
    let sum = |values: &[f64]| values.iter().fold(0.0, |sum: f64, it| sum + it);
    let size: f64 = sum(&differing.iter().map(|it| it.abs()).collect::<Vec<_>>());
    // Sums that are equal may differ in their last digits, by the order of their parts.
    let bound = sum(&differing).abs() - size * 1e-12;
    if differing.len() <= MOST_EXACT {
        let reached = count_reaching(&differing, 0.0, bound);
        let all = 1_usize << differing.len();
        return Randomised {
            p: count(reached) / count(all),
            is_exact: true,
        };
    }
    let mut draws = Draws::new(SEED);
    let mut reached = 0;
    for _ in 0..FLIPS {
        let mut flipped = 0.0;
        for part in differing.chunks(64) {
            let mut signs = draws.next();
            for it in part {
                flipped += if signs & 1 == 0 { *it } else { -*it };
                signs >>= 1;
            }
        }
        if f64::abs(flipped) >= bound {
            reached += 1;
        }
    }
    Randomised {
        p: count(reached + 1) / count(FLIPS + 1),
        is_exact: false,
    }
}

/// How many assignments of signs to these values add to a sum at least as far from 0 as `bound`.
fn count_reaching(values: &[f64], sum: f64, bound: f64) -> usize {
    match values.split_first() {
        None => usize::from(sum.abs() >= bound),
        Some((first, rest)) => {
            count_reaching(rest, sum + first, bound) + count_reaching(rest, sum - first, bound)
        }
    }
}

/// The same probabilities where several are looked at together, in the order given: each is raised so far that the chance of taking any
/// of them wrongly for a difference stays what it was for one.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut adjusted = vec![0.0; probabilities.len()];
    let mut highest: f64 = 0.0;
    for (at, index) in order.into_iter().enumerate() {
        let raised = probabilities[index] * count(probabilities.len() - at);
        highest = highest.max(raised.min(1.0));
        adjusted[index] = highest;
    }
    adjusted
}

/// How likely it is that two detectors that are equally good differ at least so much: `only_first` cases only the first got right,
/// `only_second` only the second. Two-sided and exact.
pub fn mcnemar(only_first: usize, only_second: usize) -> f64 {
    let all = only_first + only_second;
    let fewer = only_first.min(only_second);
    // The logarithm of each binomial coefficient by the one before it: of many cases, 0.5^n itself is too small for a float.
    let mut ways: f64 = 0.0;
    let half = count(all) * 0.5_f64.ln();
    let mut sum = 0.0;
    for at in 0..=fewer {
        if at > 0 {
            ways += (count(all - at + 1) / count(at)).ln();
        }
        sum += (ways + half).exp();
    }
    (2.0 * sum).min(1.0)
}

/// The value below which, or at which, the share `of` of the values lies, by nearest rank; `None` of nothing.
pub fn quantile(values: &[f64], of: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (of * count(sorted.len())).ceil();
    let at = (0..sorted.len()).find(|it| count(it + 1) >= rank)?;
    sorted.get(at).copied()
}
