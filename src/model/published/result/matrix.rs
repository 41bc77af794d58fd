//! The cells of a matrix in the published result, side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Interval, Setting};

/// The cells of a matrix side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// In the order of their names.
    pub cells: Vec<MatrixCell>,
    /// The cell that passes most, counted from 0, beside each of the others; empty where only one cell has a verdict, or several pass most.
    pub pairs: Vec<MatrixPair>,
    /// The place in `cells`, counted from 0, of the one that is better than every other by more than chance explains; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// Who is better, or why nobody can tell, in a sentence.
    pub sentence: String,
}

/// All scenarios in one cell together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCell {
    pub settings: Vec<Setting>,
    /// How many scenarios were to run in it; skipped ones do not count.
    pub scenarios: usize,
    /// How many of them passed, or were recorded.
    pub succeeded: usize,
    pub failed: usize,
    /// How many have no verdict.
    pub without_verdict: usize,
    /// The share that passes, 0 to 1, of the scenarios with a verdict, each with the same weight however often it was run; `null` without any.
    pub pass_rate: Option<f64>,
    /// Where that share lies: Wilson's interval, of as many observations as there are scenarios.
    pub interval: Option<Interval>,
    /// The mean of the scores of the comparison with baselines, of the scenarios that have one.
    pub score: Option<f64>,
    /// The mean wall time of one run, in milliseconds.
    pub duration_ms: Option<f64>,
    /// What all requests to models have cost together; `null` where there were none, or nobody knows.
    pub cost: Option<f64>,
    /// How many tokens all requests to models took together; `null` where there were none, or nobody knows.
    pub tokens: Option<u64>,
}

/// The cell that passes most beside another, scenario by scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixPair {
    /// Their places in `cells`, counted from 0.
    pub best: usize,
    pub other: usize,
    /// In how many scenarios a larger share of runs passes in the best one, in how many a smaller one, and in how many the same.
    pub better: usize,
    pub worse: usize,
    pub equal: usize,
    /// How likely the scenarios fall at least as unevenly where neither is better: the two-sided sign test (Dixon and Mood, 1946).
    pub p_value: f64,
    /// Where the share of scenarios lies that the best one is better in, of those that tell the two apart (Clopper and Pearson, 1934), with
    /// the error shared among all pairs; absent where no scenario does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl MatrixCell {
    /// `model=a, agent=replay`.
    pub fn name(&self) -> String {
        let settings = self.settings.iter();
        let words = settings.map(|it| format!("{}={}", it.name, it.value));
        words.collect::<Vec<_>>().join(", ")
    }
}
