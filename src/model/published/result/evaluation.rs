//! Findings of evaluators, in the published result.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::{apart, fixed};
use crate::{Evaluation, EvaluationStatus, Found, Role};

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

impl EvaluationSummary {
    /// Whether the score itself is too low, whatever each of them comes to.
    pub fn is_below(&self) -> bool {
        let both = self.score.zip(self.threshold);
        !self.passed && both.is_some_and(|(score, threshold)| score < threshold)
    }
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
