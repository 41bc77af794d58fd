//! Results of a run's evaluators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ruling::Judge;

/// What came of one evaluator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// What it is called.
    pub name: String,
    /// Its type, as scenario files spell it.
    #[serde(rename = "type")]
    pub kind: String,
    pub role: Role,
    /// What its score counts for among the gating ones.
    pub weight: f64,
    pub status: EvaluationStatus,
    /// From 0 to 1; `null` where nothing was judged.
    pub score: Option<f64>,
    /// What was found, or why nothing was judged.
    pub message: String,
    /// More of that, a line each; absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// The line of the scenario's file that says it; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// `FILE:LINE` where another file says it, such as `_defaults.yaml`; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_in: Option<String>,
    /// What tells it from another one of the same name; absent where it can look at a stored run as well as at a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// What models said of the run, asked by this evaluator or by those within it; absent where none was asked, or where one was asked about several evaluators at once and it stands with the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<Judge>,
    /// It was skipped because the run was stored: what it looks at is not there any more.
    #[serde(skip)]
    pub is_gone: bool,
}

/// How an evaluator came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationStatus {
    Passed,
    Failed,
    /// There was nothing that it could judge.
    Skipped,
    /// It could not judge.
    Error,
}

/// What came of all evaluators together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overall {
    /// The mean of the gating ones' scores by their weights; `None` where none was judged.
    pub score: Option<f64>,
    /// What it must be at least; `None` where that is not said.
    pub threshold: Option<f64>,
    pub gate: Gate,
}

/// What evaluators say of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Passes,
    Fails,
    /// Nothing speaks against it, and something could not be judged.
    Incomplete,
}

impl Evaluation {
    /// Whether the run fails for it.
    pub fn fails(&self) -> bool {
        self.role == Role::Gating && self.status == EvaluationStatus::Failed
    }
}

impl EvaluationStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Error => "error",
        }
    }

    /// A sign that tells it without colour.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Passed => "✓",
            Self::Failed => "✗",
            Self::Skipped => "?",
            Self::Error => "!",
        }
    }
}

/// Whether a run fails for an evaluator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "EvaluatorRole", rename_all = "snake_case")]
pub enum Role {
    /// It does.
    #[default]
    Gating,
    /// What it finds is only shown.
    Advisory,
}

impl Role {
    /// As scenario files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gating => "gating",
            Self::Advisory => "advisory",
        }
    }
}
