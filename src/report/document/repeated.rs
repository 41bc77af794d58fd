//! Several runs of one scenario, as they are published.

use crate::model::points::finite;
use crate::model::repeated::{Attempt, Interval, OfRuns, Repeated, Spread, Tally};
use crate::model::usage::TotalUse;
use crate::published::result::{
    BaselineRateV1, IntervalV1, OfRunsV1, RateDifferenceV1, RepeatedV1, RunV1, SpreadV1, TallyV1,
};

pub(super) fn repeated(it: &Repeated) -> RepeatedV1 {
    let usage = it.attempts.iter().filter_map(|it| it.usage);
    RepeatedV1 {
        runs: it.attempts.len(),
        passed: it.tally.passed,
        failed: it.tally.runs - it.tally.passed,
        incomplete: it.incomplete(),
        pass_rate: it.tally.pass_rate(),
        interval: it.interval.map(interval),
        pass_threshold: it.pass_threshold,
        flaky: it.is_flaky(),
        reason: it.reason.clone(),
        score: it.score.map(spread),
        duration_ms: it.duration_ms.map(spread),
        pass_at_k: it.pass_at_k.iter().map(of_runs).collect(),
        pass_hat_k: it.pass_hat_k.iter().map(of_runs).collect(),
        shown: it.shown,
        attempts: it.attempts.iter().map(attempt).collect(),
        usage: usage.reduce(TotalUse::and).map(Into::into),
        baseline: it.baseline.map(|tally| BaselineRateV1 {
            tally: tally.into(),
            interval: it.baseline_interval.map(interval),
        }),
        difference: it.difference.map(|it| RateDifferenceV1 {
            value: it.value,
            low: it.interval.low,
            high: it.interval.high,
            significant: it.is_significant(),
        }),
    }
}

fn attempt(it: &Attempt) -> RunV1 {
    RunV1 {
        status: it.status.into(),
        score: it.score.and_then(finite),
        duration_ms: it.duration_ms.and_then(finite),
        reason: it.reason.clone(),
        changes: it.changes,
        file: None,
    }
}

fn interval(it: Interval) -> IntervalV1 {
    IntervalV1 {
        low: it.low,
        high: it.high,
        confidence: 0.95,
    }
}

fn spread(it: Spread) -> SpreadV1 {
    SpreadV1 {
        mean: it.mean,
        standard_deviation: it.standard_deviation,
        min: it.min,
        max: it.max,
    }
}

fn of_runs(it: &OfRuns) -> OfRunsV1 {
    OfRunsV1 {
        k: it.k,
        chance: it.chance,
    }
}

impl From<Tally> for TallyV1 {
    fn from(it: Tally) -> Self {
        Self {
            runs: it.runs,
            passed: it.passed,
            pass_rate: it.pass_rate(),
        }
    }
}
