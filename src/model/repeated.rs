//! The combined result of several runs of one scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::{fixed, share};
use crate::usage::TotalUse;
use crate::{Interval, Status};

/// How often a recorded version reproduced its trajectory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// How many runs were made, at least 1.
    #[schemars(range(min = 1))]
    pub runs: usize,
    /// How many of them were, by the scenario's rules, as good as the one that is kept.
    pub passed: usize,
}

/// Several runs of one scenario, made with `--repeat`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeated {
    /// How many runs were made: as many as were asked for, unless the command was interrupted.
    pub runs: usize,
    pub passed: usize,
    pub failed: usize,
    /// How many could not be run or judged.
    pub incomplete: usize,
    /// `passed / (passed + failed)`; `null` where there is no verdict.
    pub pass_rate: Option<f64>,
    /// Where the rate lies: Wilson's score interval; `null` where there is no verdict.
    pub interval: Option<Interval>,
    /// The lowest rate that passes the gate, 0 to 1; `null` for `record`, which has no gate.
    pub pass_threshold: Option<f64>,
    /// Verdicts differ.
    pub flaky: bool,
    /// What led to the status, in words; `null` where there is nothing to add to the numbers.
    pub reason: Option<String>,
    /// The overall score, in the runs that have one; for `record`, against the run that is kept.
    pub score: Option<Spread>,
    /// Wall time in milliseconds, of the runs that have a verdict.
    pub duration_ms: Option<Spread>,
    /// The estimated chance that at least one of `k` runs passes: 1 - C(n-c,k) / C(n,k) for c passed of n. For every `k` up to 10, some
    /// larger ones, and n.
    pub pass_at_k: Vec<OfRuns>,
    /// The estimated chance that all of `k` runs pass: C(c,k) / C(n,k). For the same `k`.
    pub pass_hat_k: Vec<OfRuns>,
    /// The number of the run that the scenario's `current`, `comparison`, `checks` and `in_words` are about, counted from 1. For `record`
    /// the one that is kept; else the failed one with the lowest score, or where none failed, the passed one with the lowest.
    pub shown: usize,
    /// The runs, in the order they were made.
    pub attempts: Vec<Attempt>,
    /// What the models used in all runs; `null` without one.
    pub usage: Option<TotalUse>,
    /// How often the recorded version reproduced its baseline; `null` where that was recorded once.
    pub baseline: Option<BaselineRate>,
    /// What became of the pass rate; `null` without a baseline that was recorded several times.
    pub difference: Option<RateDifference>,
}

/// One of several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Run", expecting = "struct Run")]
pub struct Attempt {
    pub status: Status,
    /// The overall score; `null` where nothing was compared.
    pub score: Option<f64>,
    /// Wall time in milliseconds; `null` when nothing ran.
    pub duration_ms: Option<f64>,
    /// The first thing that speaks against it; `null` when it passed.
    pub reason: Option<String>,
    /// How many things differ from the baseline.
    #[serde(default)]
    pub changes: usize,
    /// Where its trajectory is stored, relative to this document; `null` when it was not stored.
    pub file: Option<String>,
    /// What its model used; `None` without one. The result has the sum of all.
    #[serde(skip)]
    pub usage: Option<TotalUse>,
}

/// How many of some runs passed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassRate {
    pub runs: usize,
    pub passed: usize,
    /// `passed / runs`.
    pub pass_rate: Option<f64>,
}

/// How often a recorded version reproduced its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineRate {
    #[serde(flatten)]
    pub tally: PassRate,
    /// Where the rate lay: Wilson's score interval.
    pub interval: Option<Interval>,
}

/// The pass rate now less that of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateDifference {
    /// -1 to 1; below 0 where fewer pass now.
    pub value: f64,
    /// The lower end of Newcombe's interval (95 %, method 10 of 1998).
    pub low: f64,
    pub high: f64,
    /// Chance alone does not explain it: 0 is not in the interval.
    pub significant: bool,
}

/// How values spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    pub mean: f64,
    /// That of a sample, divided by n - 1; `null` for a single value.
    pub standard_deviation: Option<f64>,
    pub min: f64,
    pub max: f64,
}

/// A chance that depends on how many runs are made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfRuns {
    pub k: usize,
    /// 0 to 1.
    pub chance: f64,
}

impl Tally {
    /// The share that passed; `None` without runs.
    pub fn pass_rate(self) -> Option<f64> {
        share(self.passed, self.runs)
    }

    /// How a baseline was recorded, for people: `recorded 10 times, 9 passed`.
    pub fn recorded_words(self) -> String {
        let times = match self.runs {
            1 => "once".to_owned(),
            runs => format!("{runs} times"),
        };
        format!("recorded {times}, {} passed", self.passed)
    }
}

impl Repeated {
    /// The attempts that have a verdict.
    pub fn tally(&self) -> Tally {
        Tally {
            runs: self.passed + self.failed,
            passed: self.passed,
        }
    }

    /// How long all attempts took together, in milliseconds; `None` where none ran.
    pub fn total_duration(&self) -> Option<f64> {
        let durations = self.attempts.iter().filter_map(|it| it.duration_ms);
        durations.reduce(|a, b| a + b)
    }
}

impl From<Tally> for PassRate {
    fn from(it: Tally) -> Self {
        Self {
            runs: it.runs,
            passed: it.passed,
            pass_rate: it.pass_rate(),
        }
    }
}

impl RateDifference {
    /// What chance alone does not explain is significant, be it a drop or a rise.
    pub fn new(value: f64, interval: Interval) -> Self {
        Self {
            value,
            low: interval.low,
            high: interval.high,
            significant: interval.high < 0.0 || interval.low > 0.0,
        }
    }
}

impl Spread {
    /// For people: `0.91 ± 0.05 (0.82–0.97)`.
    pub fn words(&self) -> String {
        let deviation = self
            .standard_deviation
            .map(|it| format!(" ± {}", fixed(it, 2)));
        format!(
            "{}{} ({}–{})",
            fixed(self.mean, 2),
            deviation.unwrap_or_default(),
            fixed(self.min, 2),
            fixed(self.max, 2)
        )
    }
}
/// A share for people: `70 %`, but never `100 %` for less than all or `0 %` for more than none.
pub fn percent(share: f64) -> String {
    let digits = (0..4).find(|digits| {
        let text = format!("{:.digits$}", share.abs() * 100.0);
        let is_end = text.parse().is_ok_and(|it: f64| it <= 0.0 || it >= 100.0);
        !is_end || share.abs() <= 0.0 || share.abs() >= 1.0
    });
    format!("{} %", fixed(share * 100.0, digits.unwrap_or(4)))
}
