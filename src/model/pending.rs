//! A run that waits for somebody to accept it.

use serde::{Deserialize, Serialize};

use crate::repeated::Tally;
use crate::{EvaluationStatus, Redacted, Trajectory};

/// A run that failed, or changed something, and that nobody has accepted yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingRun {
    /// As it becomes the baseline, with what is known to vary.
    pub trajectory: Redacted<Trajectory>,
    pub origin: Origin,
    /// What evaluators found that need more than the run: nobody can ask them again once what lay around it is gone.
    pub found: Redacted<Vec<Found>>,
}

/// What an evaluator found while a run still stood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What the evaluator is called.
    pub evaluator: String,
    /// What tells it from another one of that name; `None` where an older version has not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    pub status: EvaluationStatus,
    pub score: Option<f64>,
    pub message: String,
}

/// Where a pending run comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The id of the run, which names its report.
    pub run: String,
    /// Which of the accepted trajectories it was compared with, the main one being 1.
    pub variant: usize,
    /// The SHA-256 of that one, in hexadecimal.
    #[serde(rename = "compared_with")]
    pub fingerprint: String,
    /// How many of the runs passed that it is one of, where there were several.
    #[serde(default, rename = "attempts", skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
}
