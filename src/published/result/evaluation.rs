//! What evaluators found, in the published result.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TotalUse;
use crate::model::evaluation::EvaluationStatus;
use crate::model::evaluator::Role;
use crate::model::number::{apart, fixed};
use crate::model::pending::Found;

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
}

/// What a model said of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judge {
    /// The model, as it was asked for.
    pub model: String,
    /// How sure it says it is, from 0 to 1; `null` where it does not say, or there is no verdict.
    pub confidence: Option<f64>,
    /// Its reasons; `null` where there is no verdict.
    pub reasoning: Option<String>,
    /// The score of each dimension of a rubric; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dimension_scores: Vec<DimensionScore>,
    /// How far the calls are the expected ones, from 0 to 1; `null` where nobody says which were expected.
    pub tool_accuracy: Option<f64>,
    /// What could be done better; absent where it says nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// The score of each vote; `null` for one without a verdict.
    pub votes: Vec<Option<f64>>,
    /// How far the highest vote is above the lowest; `null` where fewer than two have a score.
    pub spread: Option<f64>,
    /// How many votes were taken from the cache.
    pub cached_votes: usize,
    /// What asking it took now.
    pub usage: TotalUse,
}

/// The score of a dimension of a rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DimensionScore {
    pub name: String,
    /// From 0 to 1.
    pub score: f64,
}

/// What the gating evaluators come to together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvaluationSummary {
    /// The mean of their scores by their weights, of those that were judged; `null` where none was.
    pub score: Option<f64>,
    /// What it must be at least; `null` where that is not said.
    pub threshold: Option<f64>,
    /// Whether none of them failed, all could judge, and the score reaches the threshold.
    pub passed: bool,
}

/// As it is kept with a run.
impl From<Evaluation> for Found {
    fn from(it: Evaluation) -> Self {
        Self {
            evaluator: it.name,
            definition: it.definition,
            status: it.status,
            score: it.score,
            message: it.message,
        }
    }
}

impl Evaluation {
    /// Whether the run fails for it.
    pub fn fails(&self) -> bool {
        self.gates() && self.status == EvaluationStatus::Failed
    }

    pub fn gates(&self) -> bool {
        self.role == Role::Gating
    }

    /// Whether there is something to say of it besides that it passed.
    pub fn is_worth_a_look(&self) -> bool {
        self.status != EvaluationStatus::Passed
    }

    /// `failed, advisory`.
    pub fn state(&self) -> String {
        let advisory = if self.gates() { "" } else { ", advisory" };
        format!("{}{advisory}", self.status.name())
    }
}

impl Evaluation {
    /// Where it stands, in brackets to be added to what is said of it: nothing where that is the scenario's own file.
    pub fn place(&self) -> String {
        let said_in = self.said_in.as_ref();
        said_in.map_or_else(String::new, |it| format!(" ({it})"))
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "evaluator `{}` {}", self.name, self.state())?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        f.write_str(&self.place())
    }
}

impl EvaluationSummary {
    /// `evaluation score 0.83 of at least 0.8`; `None` where nothing was judged.
    pub fn words(&self) -> Option<String> {
        let score = self.score?;
        Some(match self.threshold {
            Some(threshold) => {
                let [score, _] = apart(score, threshold, 2);
                format!("evaluation score {score} of at least {threshold}")
            }
            None => format!("evaluation score {}", fixed(score, 2)),
        })
    }

    /// Why it does not pass although no evaluator fails by itself.
    pub fn shortfall(&self) -> Option<String> {
        let (score, threshold) = (self.score?, self.threshold?);
        (!self.passed && score < threshold).then(|| {
            let [score, _] = apart(score, threshold, 2);
            format!("the evaluation score is {score}, below {threshold}")
        })
    }
}
