//! What several runs of one scenario came to, in the published result.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OfRuns, Spread, Status, TotalUse};
use crate::model::number::signed;
use crate::model::repeated::{Tally, percent};

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
    pub attempts: Vec<Run>,
    /// What the models used in all runs; `null` without one.
    pub usage: Option<TotalUse>,
    /// How often the recorded version reproduced its baseline; `null` where that was recorded once.
    pub baseline: Option<BaselineRate>,
    /// What became of the pass rate; `null` without a baseline that was recorded several times.
    pub difference: Option<RateDifference>,
}

/// One of several runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
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

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// How sure that is: 0.95.
    pub confidence: f64,
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

impl Repeated {
    /// For people: `passed 7 of 10 (70 %, 40–89 %) · score 0.91 ± 0.05 (0.82–0.97) · flaky`.
    pub fn words(&self) -> String {
        let judged = self.passed + self.failed;
        if judged == 0 {
            return format!("no verdict in {} runs", self.runs);
        }
        let mut words = vec![format!(
            "passed {} of {judged}{}",
            self.passed,
            self.rate_words()
        )];
        if self.incomplete > 0 {
            words.push(format!("{} without a verdict", self.incomplete));
        }
        words.extend(self.score.map(|it| format!("score {}", it.words())));
        words.extend(self.flaky.then(|| "flaky".to_owned()));
        words.join(" · ")
    }

    /// The pass rate with its interval, in brackets after a blank; empty where there is no verdict.
    fn rate_words(&self) -> String {
        match (self.pass_rate, self.interval) {
            (Some(rate), Some(interval)) => {
                format!(" ({}, {})", percent(rate), interval.words())
            }
            _ => String::new(),
        }
    }

    /// Which attempt is shown, for people: `attempt 3 of 10, failed`.
    pub fn shown_words(&self) -> Option<String> {
        let shown = self.attempts.get(self.shown.checked_sub(1)?)?;
        let (number, status) = (self.shown, shown.status.name());
        Some(format!("attempt {number} of {}, {status}", self.runs))
    }

    /// What the runs say of several in a row: `pass@1 70 %, pass@2 93 %`, and `pass^1 70 %, pass^2 47 %`.
    pub fn chances_words(&self) -> [String; 2] {
        let chances_of = |name: &str, chances: &[OfRuns]| {
            let each = chances.iter();
            let each = each.map(|it| format!("{name}{} {}", it.k, percent(it.chance)));
            each.collect::<Vec<_>>().join(", ")
        };
        [
            chances_of("pass@", &self.pass_at_k),
            chances_of("pass^", &self.pass_hat_k),
        ]
    }

    /// What became of the pass rate: `baseline recorded 10 times, 9 passed (90 %) · difference -20 points (-51 to +18), not significant`.
    pub fn baseline_words(&self) -> Option<String> {
        let baseline = self.baseline?;
        let mut words = format!("baseline {}", baseline.tally.words());
        if let Some(it) = &self.difference {
            let points = |it: f64| signed(it * 100.0, 0);
            let significant = if it.significant { "" } else { "not " };
            let _ = write!(
                words,
                " · difference {} points ({} to {}), {significant}significant",
                points(it.value),
                points(it.low),
                points(it.high)
            );
        }
        Some(words)
    }
}

impl PassRate {
    /// For people: `recorded 10 times, 9 passed (90 %)`.
    pub fn words(&self) -> String {
        let tally = Tally {
            runs: self.runs,
            passed: self.passed,
        };
        let rate = self.pass_rate.map(|it| format!(" ({})", percent(it)));
        format!("{}{}", tally.recorded_words(), rate.unwrap_or_default())
    }
}

impl Interval {
    /// For people, of shares: `40–89 %`.
    pub fn words(&self) -> String {
        let low = percent(self.low);
        format!("{}–{}", low.trim_end_matches(" %"), percent(self.high))
    }
}
