//! Measurements, which are scenarios without a conversation: of a tool search, or of scanners of tool descriptions.

use std::path::PathBuf;
use std::time::Duration;

use jiff::civil::Date;
use serde_json::Value;

/// What is measured, and what must come of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Measurement {
    /// Does a tool search find the right tools?
    Retrieval(Box<Retrieval>),
    /// Do scanners of tool descriptions catch what they should, and that alone?
    Security(Box<Security>),
}

/// A tool search, asked by labelled queries.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieval {
    /// The file of the tools.
    pub corpus: PathBuf,
    /// The file of the labelled queries.
    pub golden: PathBuf,
    /// How the search is asked, as it is declared.
    pub search: Value,
    /// What the search is called that has no name of its own.
    pub search_name: String,
    /// Where a search over HTTP is, with `${…}` not yet filled in; `None` for where the first server over HTTP is, or the usual place.
    pub base_url: Option<String>,
    /// The key that it is asked with, with `${…}` not yet filled in; `None` for the usual one.
    pub api_key: Option<String>,
    /// How often every query is asked, at least once.
    pub runs: u16,
    /// How long it is waited at most until the live catalogue is complete and stays so; `None` for not at all.
    pub wait: Option<Duration>,
    pub gates: SearchGates,
    /// The file that the figures are held against; `None` for what was accepted of the scenario.
    pub baseline: Option<PathBuf>,
}

/// What must hold of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchGates {
    /// How much lower than the baseline's recall@5 may be; else what the baseline says, else 0.05.
    pub tolerance: Option<f64>,
    /// What recall@5 must be at least, whatever it was before.
    pub recall_floor: Option<f64>,
    /// How many queries may have a lower recall@5 than in the baseline.
    pub max_lost: Option<usize>,
    pub allow_lost: Vec<AllowedLoss>,
    /// Whether it is measured although the live catalogue differs from the corpus.
    pub allow_drift: bool,
}

/// A query that may be lost until a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedLoss {
    pub id: String,
    pub reason: String,
    /// The last day on which it may.
    pub until: Date,
}

/// What scanners said.
#[derive(Debug, Clone, PartialEq)]
pub struct Security {
    /// The files of what they said, each of one run.
    pub verdicts: Vec<PathBuf>,
    /// The form of these, where it is not recognised.
    pub form: Option<VerdictForm>,
    /// The file of the labelled entries; without one, the labels in the verdicts count.
    pub corpus: Option<PathBuf>,
    pub demands: Demands,
}

/// What is asked of scanners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demands {
    /// The most of what is benign that may be flagged, 0 to 1.
    pub fpr_ceiling: f64,
    /// The least of what is malicious that must be flagged, 0 to 1.
    pub recall_floor: f64,
    /// How many scans of a detector may end in something else than a verdict.
    pub allow_errors: usize,
    /// The share of malicious tools for which a precision is reported.
    pub prevalence: Option<f64>,
}

/// What the gates of scanners are unless somebody says otherwise.
pub const FPR_CEILING: f64 = 0.10;
pub const RECALL_FLOOR: f64 = 0.80;

/// Searches that are known by name, the usual one first.
pub const SEARCHES: [&str; 5] = [
    "mcpproxy-rest",
    "mcpproxy",
    "toolhive",
    "docker-find",
    "fastmcp",
];

/// A form in which scanners say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictForm {
    /// The verdicts of the original tool.
    V1,
    /// The same with more: a status, scores.
    V2,
    /// The raw output of Cisco's MCP scanner.
    Cisco,
    /// The JSON of mcp-scan.
    McpScan,
    Sarif,
}

impl Demands {
    /// Why nothing that is demanded can fail, in a sentence; `None` where something can.
    pub fn idle(&self) -> Option<&'static str> {
        let is_idle = self.fpr_ceiling >= 1.0 && self.recall_floor <= 0.0;
        is_idle.then_some("the gate cannot fail: the FPR may be 1, and recall must be 0 at least")
    }
}

impl Measurement {
    /// The kind, as scenario files spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Retrieval(_) => "retrieval",
            Self::Security(_) => "security",
        }
    }

    /// Whether what is accepted of it is held against what comes of it.
    pub fn has_baseline(&self) -> bool {
        matches!(self, Self::Retrieval(it) if it.baseline.is_none())
    }
}
