//! A run against its baseline in the published result, every number with the rule that led to it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Row;
use crate::label::labelled;
use crate::points;
use crate::reason;
use crate::reason::{Grouped, Reason, ReasonKind};
use crate::{Band, Change, ChangeKind, Drift, ExecutionStatus, Loss, Scores, SlowerCall, Upstream};

/// A baseline and a run, side by side. Calls are numbered from 1 among the scored calls of their own side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub passed: bool,
    pub scores: Scores,
    pub band: Band,
    /// What to do about it, as the band advises.
    pub advice: String,
    pub baseline_status: ExecutionStatus,
    pub current_status: ExecutionStatus,
    /// The run went better than its baseline did; never scored up.
    pub improved: bool,
    /// Which accepted variant the run was scored against, where there are several (1 is the main one).
    pub variant: usize,
    /// Why it failed, a condition each; empty when passed.
    pub reasons: Vec<Reason>,
    /// What a reader should know although it does not fail the gate.
    pub warnings: Vec<Reason>,
    /// The calls of both sides in order, paired where they match.
    pub rows: Vec<Row>,
    /// Where the points between 1 and the overall score went; they add up to the difference.
    pub losses: Vec<Loss>,
    /// What changed in the tools the servers offer.
    pub drift: Vec<Drift>,
    /// Calls that took much longer than in the baseline.
    pub slower: Vec<SlowerCall>,
    /// Whatever differs between the two sides, in the order of the calls, whether it fails the gate or not; empty where nothing does.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// What the servers behind the one under test heard; absent where nobody listened there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
}

impl Comparison {
    /// Why it failed, each cause once.
    pub fn grouped(&self) -> Vec<Grouped<'_>> {
        reason::grouped(&self.reasons, &self.changes)
    }

    /// Whether the changes, or those of the catalogue, say already what a warning does.
    pub fn mentions(&self, warning: &Reason) -> bool {
        let kind = match warning.kind {
            ReasonKind::Drift => return !self.drift.is_empty(),
            ReasonKind::Slower => ChangeKind::Slower,
            ReasonKind::Tokens => ChangeKind::Tokens,
            _ => return false,
        };
        self.changes.iter().any(|it| it.kind == kind)
    }
}

impl fmt::Display for Loss {
    /// `0.333 lost at call 3 of `tool`, arguments/key: expected "a", got "b" (text)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lost", points::points(self.points))?;
        if let (Some(number), Some(tool)) = (self.current.or(self.baseline), &self.tool) {
            let tool = labelled(tool, self.label.as_deref());
            write!(f, " at call {number} of `{tool}`")?;
        }
        if let Some(path) = &self.path {
            write!(f, ", {path}")?;
        }
        match (&self.expected, &self.got) {
            (Some(expected), Some(got)) => write!(f, ": expected {expected}, got {got}")?,
            (Some(expected), None) => write!(f, ": expected {expected}, got nothing")?,
            (None, Some(got)) => write!(f, ": not expected, got {got}")?,
            (None, None) => {}
        }
        write!(f, " ({})", self.rule())
    }
}
