//! Several runs of one scenario, as they are published.

use crate::model::interval::Interval;
use crate::model::points::finite;
use crate::model::repeated::{Attempt, Repeated, Tally};
use crate::model::usage::TotalUse;
use crate::published::result;

pub(super) fn repeated(it: &Repeated) -> result::Repeated {
    let usage = it.attempts.iter().filter_map(|it| it.usage);
    result::Repeated {
        runs: it.attempts.len(),
        passed: it.tally.passed,
        failed: it.tally.runs - it.tally.passed,
        incomplete: it.incomplete(),
        pass_rate: it.tally.pass_rate(),
        interval: it.interval.map(interval),
        pass_threshold: it.pass_threshold,
        flaky: it.is_flaky(),
        reason: it.reason.clone(),
        score: it.score,
        duration_ms: it.duration_ms,
        pass_at_k: it.pass_at_k.clone(),
        pass_hat_k: it.pass_hat_k.clone(),
        shown: it.shown,
        attempts: it.attempts.iter().map(attempt).collect(),
        usage: usage.reduce(TotalUse::and),
        baseline: it.baseline.map(|tally| result::BaselineRate {
            tally: tally.into(),
            interval: it.baseline_interval.map(interval),
        }),
        difference: it.difference.map(|it| result::RateDifference {
            value: it.value,
            low: it.interval.low,
            high: it.interval.high,
            significant: it.is_significant(),
        }),
    }
}

fn attempt(it: &Attempt) -> result::Run {
    result::Run {
        status: it.status,
        score: it.score.and_then(finite),
        duration_ms: it.duration_ms.and_then(finite),
        reason: it.reason.clone(),
        changes: it.changes,
        file: None,
    }
}

fn interval(it: Interval) -> result::Interval {
    result::Interval {
        low: it.low,
        high: it.high,
        confidence: 0.95,
    }
}

impl From<Tally> for result::PassRate {
    fn from(it: Tally) -> Self {
        Self {
            runs: it.runs,
            passed: it.passed,
            pass_rate: it.pass_rate(),
        }
    }
}
