//! What several runs of one scenario came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::interval::Interval;
use crate::model::number::fixed;
use crate::model::status::Status;
use crate::model::usage::TotalUse;

/// How often a recorded version reproduced its trajectory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// How many runs were made, at least 1.
    #[schemars(range(min = 1))]
    pub runs: usize,
    /// How many of them were, by the scenario's rules, as good as the one that is kept.
    pub passed: usize,
}

/// Several runs of one scenario, and what they say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeated {
    /// In the order they were made.
    pub attempts: Vec<Attempt>,
    /// The attempt that the scenario's result shows, counted from 1.
    pub shown: usize,
    /// The attempts that have a verdict.
    pub tally: Tally,
    /// Where the share that passes lies, with a confidence of 95 %; `None` without any verdict.
    pub interval: Option<Interval>,
    /// The lowest share that passes the gate, 0 to 1; `None` where there is no gate.
    pub pass_threshold: Option<f64>,
    /// Of the attempts that have a score.
    pub score: Option<Spread>,
    /// Milliseconds, of the attempts that have a verdict.
    pub duration_ms: Option<Spread>,
    /// For numbers of runs, in ascending order, the chance that at least one passes.
    pub pass_at_k: Vec<OfRuns>,
    /// For numbers of runs, in ascending order, the chance that all pass.
    pub pass_hat_k: Vec<OfRuns>,
    /// How often the recorded version reproduced its baseline, where that was recorded several times.
    pub baseline: Option<Tally>,
    /// Where the share lay that passed then.
    pub baseline_interval: Option<Interval>,
    /// What became of the share that passes since then.
    pub difference: Option<Difference>,
    /// What led to the status, where not simply all attempts passed.
    pub reason: Option<String>,
}

/// One of several runs of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub status: Status,
    /// The overall score; `None` where nothing was compared.
    pub score: Option<f64>,
    /// Wall time in milliseconds; `None` when nothing ran.
    pub duration_ms: Option<f64>,
    /// The first thing that speaks against it; `None` when it passed.
    pub reason: Option<String>,
    /// How many things differ from the baseline.
    pub changes: usize,
    /// What its model used; `None` without one.
    pub usage: Option<TotalUse>,
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

/// What became of the share that passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The share now less that of the baseline, -1 to 1.
    pub value: f64,
    /// Where it lies, with a confidence of 95 %.
    pub interval: Interval,
}

impl Tally {
    /// The share that passed; `None` without runs.
    pub fn pass_rate(self) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "nobody makes so many runs that a double could not count them"
        )]
        (self.runs > 0).then(|| self.passed as f64 / self.runs as f64)
    }
}

impl Tally {
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
    /// Attempts with the same input have different verdicts.
    pub fn is_flaky(&self) -> bool {
        0 < self.tally.passed && self.tally.passed < self.tally.runs
    }

    /// How long all attempts took together, in milliseconds; `None` where none ran.
    pub fn total_duration(&self) -> Option<f64> {
        let durations = self.attempts.iter().filter_map(|it| it.duration_ms);
        durations.reduce(|a, b| a + b)
    }

    /// Attempts that could not be run or judged.
    pub fn incomplete(&self) -> usize {
        self.attempts.len() - self.tally.runs
    }
}

impl Difference {
    /// Whether the share has dropped by more than chance explains.
    pub fn is_significant_drop(&self) -> bool {
        self.interval.high < 0.0
    }

    /// Whether chance alone does not explain the difference, be it a drop or a rise.
    pub fn is_significant(&self) -> bool {
        self.is_significant_drop() || self.interval.low > 0.0
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
