//! The results of measuring scanners, as they are written to `report.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::status::Status;
use crate::number::{apart, is_at_most};
use crate::text::plural;

/// The whole document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub format_version: u32,
    pub mcp_eval: String,
    /// When it was made, RFC 3339.
    pub made_at: String,
    pub status: Status,
    pub security: Security,
    /// Where data and system come from, by name.
    pub stamps: BTreeMap<String, String>,
    pub notes: Vec<String>,
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Security {
    pub corpus_version: Option<String>,
    pub gate: SecurityGate,
    pub per_detector: Vec<DetectorReport>,
    /// Detectors joined: flagged by any of them, by all of them.
    pub joined: Vec<DetectorReport>,
    /// Pairs of detectors.
    pub compared: Vec<Comparison>,
    pub runs_averaged: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGate {
    pub fpr_ceiling: f64,
    pub recall_floor: f64,
    pub passed: bool,
}

/// One detector. Numbers that are not known are `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectorReport {
    pub detector: String,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
    pub fpr: f64,
    pub fpr_std: f64,
    pub tp: usize,
    pub fp: usize,
    pub tn: usize,
    #[serde(rename = "fn")]
    pub fn_: usize,
    pub runs: usize,
    /// Whether it passes the gate.
    pub gate: bool,
    /// Of which rates that the gate is about nothing is known, in sentences: it does not pass then, and has failed only where another rate does.
    #[serde(default)]
    pub not_measured: Vec<String>,
    /// How many scans may end without a verdict.
    #[serde(default)]
    pub allowed_errors: usize,
    /// Entries that not all runs judge alike.
    #[serde(default)]
    pub unsteady: Vec<String>,
    /// Wilson's 95 % intervals of what the runs come to on average.
    pub precision_interval: Option<[f64; 2]>,
    pub recall_interval: Option<[f64; 2]>,
    pub fpr_interval: Option<[f64; 2]>,
    /// Why the corpus is too small for the gate to be sure, in sentences.
    pub too_small: Vec<String>,
    /// How many entries were flagged of how many, by label and category.
    pub categories: Vec<CategoryReport>,
    /// Malicious entries that were not flagged.
    pub missed: Vec<String>,
    /// Benign entries that were.
    pub false_alarms: Vec<String>,
    /// Of a vulnerable tool and its safe twin, how often both are right.
    pub pairs: Option<Pairs>,
    /// Where verdicts have scores.
    pub scores: Option<Scores>,
    /// Scans that did not come to an end, over all runs.
    pub errors: Vec<ScanError>,
}

impl Security {
    /// Whether nothing can be said of a gate, and no other has failed.
    pub fn is_unknown(&self) -> bool {
        let all = || self.per_detector.iter();
        let is_unknown = |it: &DetectorReport| it.is_unknown(&self.gate);
        all().any(is_unknown) && all().all(|it| it.gate || is_unknown(it))
    }
}

impl DetectorReport {
    /// Recall and false positive rate, so that none that misses the bound of a gate looks as if it kept it.
    pub fn shown(&self, gate: &SecurityGate) -> [String; 2] {
        let [recall, _] = apart(self.recall, gate.recall_floor, 3);
        let [fpr, _] = apart(self.fpr, gate.fpr_ceiling, 3);
        [recall, fpr]
    }

    /// Which rates miss their bounds, in sentences.
    pub fn why_failed(&self, gate: &SecurityGate) -> Vec<String> {
        let [recall, fpr] = self.shown(gate);
        let [misses_recall, misses_fpr] = self.misses(gate);
        let mut sentences = Vec::new();
        if misses_recall {
            let floor = gate.recall_floor;
            sentences.push(format!("Recall is {recall}, and must be {floor} at least."));
        }
        if misses_fpr {
            let ceiling = gate.fpr_ceiling;
            sentences.push(format!("The FPR is {fpr}, and may be {ceiling} at most."));
        }
        sentences
    }

    /// Whether recall and false positive rate miss their bounds. One that is not measured does not.
    fn misses(&self, gate: &SecurityGate) -> [bool; 2] {
        [
            self.tp + self.fn_ > 0 && !is_at_most(gate.recall_floor, self.recall),
            self.fp + self.tn > 0 && !is_at_most(self.fpr, gate.fpr_ceiling),
        ]
    }

    /// Whether nothing can be said of the gate: a rate is not measured, and no other misses its bound.
    pub fn is_unknown(&self, gate: &SecurityGate) -> bool {
        !self.not_measured.is_empty() && self.misses(gate) == [false; 2]
    }

    /// What became of the gate, in a word.
    pub fn verdict(&self, gate: &SecurityGate) -> &'static str {
        match (self.gate, self.is_unknown(gate)) {
            (true, _) => "passed",
            (false, true) => "not measured",
            (false, false) => "failed",
        }
    }

    /// The scans that came to no end, by what became of them: `2 scans without a verdict: 1 error, 1 timeout`; empty where all did.
    pub fn unfinished(&self) -> String {
        if self.errors.is_empty() {
            return String::new();
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for it in &self.errors {
            *counts.entry(&it.status).or_default() += 1;
        }
        let counts: Vec<String> = counts
            .iter()
            .map(|(status, count)| format!("{count} {status}"))
            .collect();
        let scans = plural(self.errors.len(), "scan");
        let allowed = match self.allowed_errors {
            0 => String::new(),
            most => format!(", and {most} may be"),
        };
        format!("{scans} without a verdict: {}{allowed}", counts.join(", "))
    }

    /// Whether scans that came to no end are a reason for which the gate fails.
    pub fn has_too_many_errors(&self) -> bool {
        self.errors.len() > self.allowed_errors
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CategoryReport {
    pub category: String,
    pub malicious: bool,
    pub flagged: usize,
    pub of: usize,
    /// Wilson's 95 % interval of the share that is flagged.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pairs {
    pub right: usize,
    pub of: usize,
    /// The pairs that are not, by the id of their malicious entry.
    pub wrong: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// The area under the ROC curve.
    pub auc: Option<f64>,
    pub recall_at_fpr_1: f64,
    pub recall_at_fpr_5: f64,
    /// False positive rate and recall at every threshold, from the strictest.
    pub roc: Vec<[f64; 2]>,
    /// Recall and precision at every threshold.
    pub pr: Vec<[f64; 2]>,
    /// The precision that the rates give where so many of all tools are malicious, by that share.
    pub precision_at_prevalence: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScanError {
    pub id: String,
    pub status: String,
    pub reason: String,
}

/// Two detectors over the same entries, by the exact test of `McNemar`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub first: String,
    pub second: String,
    /// Entries that only one of them got right.
    pub only_first: usize,
    pub only_second: usize,
    pub p: f64,
}
