//! A run against its baseline in the published result, every number with the rule that led to it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Change, ChangeKind, Row, Upstream};
use crate::model::label::labelled;
use crate::model::points;
use crate::text::shorten;
use crate::text::word_diff::around_difference;

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
    /// Why it failed, one per cause, with what follows from it beneath; empty when passed.
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
    pub slower: Vec<Slower>,
    /// Whatever differs between the two sides, in the order of the calls, whether it fails the gate or not; empty where nothing does.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// What the servers behind the one under test heard; absent where nobody listened there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
}

/// The numbers of a comparison, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// The score the gate looks at: `calls * status_factor - count_penalty`, at least 0.
    pub overall: f64,
    /// Argument similarity alone, over the longer of the two sides.
    pub trajectory: f64,
    /// Mean of the call scores, over the longer of the two sides.
    pub calls: f64,
    /// What the mean is multiplied by because the run went worse as a whole.
    pub status_factor: f64,
    /// What is taken off because the numbers of calls differ by more than 2.
    pub count_penalty: f64,
    /// The lowest overall score that passes.
    pub threshold: f64,
}

/// The overall score in a word; at most `acceptable` of what failed, and `degraded` where an answer or an effect changed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// Below 0.3.
    Broken,
    /// From 0.3.
    Degraded,
    /// From 0.6.
    Acceptable,
    /// From 0.8.
    Good,
}

/// How the calls of one run went, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// A critical call failed and the run ended early.
    Blocked,
    /// Every call failed.
    Failed,
    /// Some calls failed.
    Partial,
    /// No call failed.
    Success,
}

/// A place where points were lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    pub points: f64,
    /// The number of the call concerned in the baseline.
    pub baseline: Option<usize>,
    /// The number of the call concerned in the run.
    pub current: Option<usize>,
    /// The tool's full name, where a call is concerned.
    pub tool: Option<String>,
    /// What the call is for, where its tool only passes calls on; absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The argument or the path into the response, such as `arguments/query` or `response/content/0/text`.
    pub path: Option<String>,
    pub expected: Option<String>,
    pub got: Option<String>,
    /// The rule that took the points, in words.
    pub rule: String,
}

/// What changed in one tool the servers offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    pub server: String,
    pub tool: String,
    /// What changed, in words.
    pub what: String,
    /// A call that the baseline recorded would be refused now.
    pub breaking: bool,
    /// The baseline calls this tool.
    pub used: bool,
    /// The numbers of the baseline's calls that would be refused now.
    #[serde(default)]
    pub refused: Vec<usize>,
    /// Where in the tool it is, such as `description` or `inputSchema/properties/limit`; empty for the tool as a whole.
    #[serde(default)]
    pub path: String,
    /// What was there, shortened around the difference; `null` where there was nothing.
    #[serde(default)]
    pub was: Option<String>,
    /// What is there now; `null` where there is nothing.
    #[serde(default)]
    pub now: Option<String>,
}

/// A call that took much longer than in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slower {
    /// The number of the call in the baseline.
    pub baseline: usize,
    /// The number of the call in the run.
    pub current: usize,
    pub baseline_ms: Option<f64>,
    pub current_ms: Option<f64>,
}

/// One condition that failed or is worth a warning, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    pub kind: ReasonKind,
    /// The number of the call concerned in the baseline.
    pub baseline: Option<usize>,
    /// The number of the call concerned in the run.
    pub current: Option<usize>,
    /// The line of the scenario's file that says to make, or to expect, the call concerned; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The whole sentence, tool included.
    pub text: String,
    pub expected: Option<String>,
    pub got: Option<String>,
    /// What explains it, where the tool catalogue does.
    pub cause: Option<String>,
    /// What else failed because of this; none of them has such itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<Self>,
}

/// Which condition failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// The overall score is below the threshold.
    Threshold,
    /// The same question got another answer.
    ServerRegression,
    /// An effect differs, is missing or is new.
    EffectChange,
    /// The tool catalogue changed in a way that breaks clients.
    Drift,
    /// A call became slower.
    Slower,
    /// The model used many more tokens.
    Tokens,
    /// A match mode that is all or nothing does not hold.
    Match,
    /// An expectation of the scenario is not met.
    Expectation,
    /// Something changed, and nothing may.
    Strict,
    /// The same call of the agent became other calls behind the server under test.
    Upstream,
}

/// The longest expected or got value in a sentence; the document holds what there is.
const VALUE_CHARS: usize = 160;

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        let short = |text: &str| shorten(text, VALUE_CHARS).into_owned();
        match (&self.expected, &self.got) {
            (Some(expected), Some(got)) => {
                let [expected, got] = around_difference(expected, got, VALUE_CHARS);
                write!(f, ": expected {expected}, got {got}")?;
            }
            (Some(expected), None) => write!(f, ": expected {}, got nothing", short(expected))?,
            (None, Some(got)) => write!(f, ": got {}", short(got))?,
            (None, None) => {}
        }
        match &self.cause {
            Some(cause) => write!(f, " ({cause})"),
            None => Ok(()),
        }
    }
}

impl Reason {
    /// The sentence, and how much follows from it.
    pub fn headline(&self) -> String {
        match self.follows.len() {
            0 => self.to_string(),
            1 => format!("{self}, and one more follows from it"),
            more => format!("{self}, and {more} more follow from it"),
        }
    }
}

impl Comparison {
    /// Whether the changes say already what a warning does.
    pub fn mentions(&self, warning: &Reason) -> bool {
        let kind = match warning.kind {
            ReasonKind::Drift => ChangeKind::Drift,
            ReasonKind::Slower => ChangeKind::Slower,
            ReasonKind::Tokens => ChangeKind::Tokens,
            _ => return false,
        };
        self.changes.iter().any(|it| it.kind == kind)
    }
}

impl Band {
    /// The band as the document spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Acceptable => "acceptable",
            Self::Degraded => "degraded",
            Self::Broken => "broken",
        }
    }
}

impl ExecutionStatus {
    /// The status as the document spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
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
        write!(f, " ({})", self.rule)
    }
}
