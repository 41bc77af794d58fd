//! Statistics of repeated runs: proportions with their confidence intervals, and the spread of values.
//!
//! Sources of the formulas:
//!
//! - [`newcombe`]: R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven methods",
//!   Statistics in Medicine 17 (1998), 873–890; method 10, of Wilson intervals without a correction for continuity.
//! - [`pass_at_k`]: M. Chen and others, "Evaluating large language models trained on code", arXiv 2107.03374 (2021), equation 1.
//! - [`pass_hat_k`]: S. Yao and others, "τ-bench: a benchmark for tool-agent-user interaction in real-world domains", arXiv 2406.12045
//!   (2024), section 3.

use crate::values::number::count;
use model::Interval;
use model::repeated::{Spread, Tally};

/// The most runs that [`runs_to_distinguish`] considers.
const MOST_RUNS: usize = 10_000;

/// Where the share that passes lies with a confidence of 95 %, by Wilson's score interval; `None` without runs.
pub fn wilson(tally: Tally) -> Option<Interval> {
    (tally.runs > 0).then(|| of_share(count(tally.passed), count(tally.runs)))
}

/// Where the mean of shares lies with a confidence of 95 %, each 0 to 1 and one observation; `None` without any. Wilson's interval of as many
/// observations that are 0 or 1 and have the same mean: these spread at least as much, so it is never too narrow.
pub fn of_shares(shares: &[f64]) -> Option<Interval> {
    let sum: f64 = shares.iter().sum();
    (!shares.is_empty()).then(|| of_share(sum, count(shares.len())))
}

/// Where the difference `now - before` of two shares lies with a confidence of 95 %, by Newcombe's method 10; `None` where a side has no
/// runs.
pub fn newcombe(now: Tally, before: Tally) -> Option<Interval> {
    let known = now.runs > 0 && before.runs > 0;
    known.then(|| {
        hybrid(
            (count(now.passed), count(now.runs)),
            (count(before.passed), count(before.runs)),
        )
    })
}

/// About how many runs on each side it would take for a drop from one share to another to be significant, at the shares found;
/// `None` where there is no drop, or where more than 10 000 would be needed.
pub fn runs_to_distinguish(now: Tally, before: Tally) -> Option<usize> {
    let (now, before) = (now.pass_rate()?, before.pass_rate()?);
    if now >= before {
        return None;
    }
    let tells = |runs: usize| {
        let runs = count(runs);
        hybrid((now * runs, runs), (before * runs, runs)).high < 0.0
    };
    // A binary search is right, because the interval narrows with the number of runs.
    let all: Vec<usize> = (2..=MOST_RUNS).collect();
    all.get(all.partition_point(|runs| !tells(*runs))).copied()
}

/// The chance that at least one of `k` runs passes, estimated without bias from `runs` of which some passed: `1 - C(n-c,k) / C(n,k)`.
/// `None` where there are fewer than `k` runs, or `k` is 0.
pub fn pass_at_k(tally: Tally, k: usize) -> Option<f64> {
    // One minus the chance that all of them fail.
    all_of_k(tally.runs.saturating_sub(tally.passed), tally.runs, k).map(|it| 1.0 - it)
}

/// The chance that all of `k` runs pass, estimated without bias from `runs` of which some passed: `C(c,k) / C(n,k)`. `None` where there are
/// fewer than `k` runs, or `k` is 0.
pub fn pass_hat_k(tally: Tally, k: usize) -> Option<f64> {
    all_of_k(tally.passed, tally.runs, k)
}

/// `C(of,k) / C(all,k)` as a product of fractions, none of which leaves 0 to 1.
fn all_of_k(of: usize, all: usize, k: usize) -> Option<f64> {
    if k == 0 || k > all {
        return None;
    }
    let factor = |it: usize| count(of.saturating_sub(it)) / count(all - it);
    Some((0..k).map(factor).product())
}

/// How values spread; `None` without any. Values must be finite.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let number = count(values.len());
    let min = values.iter().copied().reduce(f64::min)?;
    let max = values.iter().copied().reduce(f64::max)?;
    // Rounding must not lead out of the range of the values.
    let mean = (values.iter().sum::<f64>() / number).clamp(min, max);
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    Some(Spread {
        mean,
        standard_deviation: (values.len() > 1).then(|| (squares / (number - 1.0)).sqrt()),
        min,
        max,
    })
}

/// Wilson's interval for `passed` of `runs`, which need not be whole.
fn of_share(passed: f64, runs: f64) -> Interval {
    Interval::wilson(passed, runs).holding(passed / runs)
}

/// Newcombe's interval for the difference of two shares, each given as passed and runs.
fn hybrid(now: (f64, f64), before: (f64, f64)) -> Interval {
    let (a, b) = (now.0 / now.1, before.0 / before.1);
    let (of_a, of_b) = (of_share(now.0, now.1), of_share(before.0, before.1));
    let difference = a - b;
    Interval::of_95(
        (difference - (a - of_a.low).hypot(of_b.high - b)).max(-1.0),
        (difference + (of_a.high - a).hypot(b - of_b.low)).min(1.0),
    )
}
