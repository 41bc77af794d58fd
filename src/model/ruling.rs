//! The ruling of a judge on a run.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::{apart, tidy};
use crate::usage::{TotalUse, cost_words};
use crate::{Trouble, Unanswered};

/// One vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub passed: bool,
    /// 0 to 1; by a rubric, the mean of the dimensions' scores by weight.
    pub score: f64,
    pub confidence: Option<f64>,
    pub reasoning: String,
    /// The score of each dimension of a rubric.
    pub dimensions: Vec<DimensionScore>,
    /// How far the calls are those that were expected; `None` where nobody says which, or the judge does not.
    pub tool_accuracy: Option<f64>,
    pub suggestions: Vec<String>,
}

/// What came of asking a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// The verdict that counts: of the votes on the majority's side, the one whose score does. Or why there is none.
    pub verdict: Result<Verdict, Unanswered>,
    /// Each vote: its score, or why it is none.
    pub votes: Vec<Result<f64, String>>,
    pub took: TotalUse,
    /// How many votes were taken from the cache.
    pub cached: usize,
    /// The model, as it was asked for.
    pub model: String,
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
    /// Why there is no verdict, where asking again later may well go otherwise; of no interest once that is stored.
    #[serde(skip)]
    pub trouble: Option<Trouble>,
}

/// The score of a dimension of a rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DimensionScore {
    pub name: String,
    /// From 0 to 1.
    pub score: f64,
}

/// The form in which it stands beside the findings of an evaluator.
impl From<&Ruling> for Judge {
    fn from(ruling: &Ruling) -> Self {
        let verdict = ruling.verdict.as_ref().ok();
        let dimensions = verdict.iter().flat_map(|it| &it.dimensions);
        Self {
            model: ruling.model.clone(),
            confidence: verdict.and_then(|it| it.confidence),
            reasoning: verdict.map(|it| it.reasoning.clone()),
            dimension_scores: dimensions.cloned().collect(),
            tool_accuracy: verdict.and_then(|it| it.tool_accuracy),
            suggestions: verdict.map_or_else(Vec::new, |it| it.suggestions.clone()),
            votes: ruling.votes.iter().map(|it| it.clone().ok()).collect(),
            spread: ruling.spread().map(|(lowest, highest)| highest - lowest),
            cached_votes: ruling.cached,
            usage: ruling.took,
            trouble: ruling.verdict.as_ref().err().and_then(|it| it.trouble),
        }
    }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A share and the bound that it is held against, as percentages that are alike only where these are.
pub fn percents_apart(share: f64, bound: f64) -> [String; 2] {
    apart(share * 100.0, bound * 100.0, 1).map(|it| it + "%")
}

/// `LLM judge score: 86.5%`, with as many digits as tell it from the threshold.
pub fn score_words(score: f64, threshold: f64) -> String {
    let [score, _] = percents_apart(score, threshold);
    format!("LLM judge score: {score}")
}

impl Ruling {
    /// What came of it, in a line.
    pub fn message(&self, threshold: f64) -> String {
        match &self.verdict {
            Ok(verdict) => score_words(verdict.score, threshold) + self.cached_words(),
            Err(unruled) => unruled.message.clone(),
        }
    }

    /// What goes behind its score where votes were taken from the cache.
    pub fn cached_words(&self) -> &'static str {
        if self.cached > 0 { " (cached)" } else { "" }
    }

    /// The lowest and the highest score of the votes; `None` where fewer than two have one.
    pub fn spread(&self) -> Option<(f64, f64)> {
        let scores: Vec<f64> = self.votes.iter().filter_map(|it| it.clone().ok()).collect();
        let lowest = scores.iter().copied().reduce(f64::min)?;
        let highest = scores.iter().copied().reduce(f64::max)?;
        (scores.len() > 1).then_some((lowest, highest))
    }

    /// How many votes there are on each side of a threshold.
    pub fn sides(&self, threshold: f64) -> (usize, usize) {
        let scores = || self.votes.iter().filter_map(|it| it.as_ref().ok());
        let passed = scores().filter(|it| **it >= threshold).count();
        (passed, scores().count() - passed)
    }

    /// What is behind it, a line each.
    pub fn details(&self, threshold: f64) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.verdict {
            Ok(verdict) => {
                if !verdict.passed {
                    let [_, threshold] = percents_apart(verdict.score, threshold);
                    lines.push(format!("below the threshold of {threshold}"));
                }
                lines.push(format!("reasoning: {}", verdict.reasoning));
                let scores = verdict.dimensions.iter();
                lines.extend(scores.map(|it| format!("{}: {}", it.name, percent(it.score))));
                let shares = [
                    ("tool accuracy", verdict.tool_accuracy),
                    ("confidence", verdict.confidence),
                ];
                let shares = shares
                    .into_iter()
                    .filter_map(|(name, it)| Some((name, it?)));
                lines.extend(shares.map(|(name, it)| format!("{name}: {}", percent(it))));
                let suggestions = verdict.suggestions.iter();
                lines.extend(suggestions.map(|it| format!("suggestion: {it}")));
            }
            Err(unruled) => lines.extend(unruled.details.clone()),
        }
        if let Some((lowest, highest)) = self.spread() {
            let (passed, failed) = self.sides(threshold);
            let silent = self.votes.len() - passed - failed;
            let silent = match silent {
                0 => String::new(),
                more => format!(", {more} without a verdict"),
            };
            let tie = if passed == failed {
                " – a tie, which does not pass; the lower score counts"
            } else {
                ""
            };
            let [lowest, _] = percents_apart(lowest, threshold);
            let [highest, _] = percents_apart(highest, threshold);
            lines.push(format!(
                "votes: {passed} passed, {failed} failed{silent}{tie}; scores from {lowest} to {highest}"
            ));
        }
        lines.push(self.took_words());
        lines
    }

    /// Who was asked, and what that took.
    pub fn took_words(&self) -> String {
        let TotalUse {
            tokens,
            cost,
            requests,
            attempts,
        } = self.took;
        let mut said = format!("asked {}", self.model);
        if requests == 0 && self.cached > 0 {
            said.push_str(" earlier: the answer is from the cache");
            return said;
        }
        let noun = if requests == 1 { "request" } else { "requests" };
        let _ = write!(said, ": {requests} {noun}");
        if attempts > requests {
            let _ = write!(said, " in {attempts} attempts");
        }
        let _ = match tokens.total_tokens {
            Some(tokens) => write!(said, ", {tokens} tokens"),
            None => write!(said, ", tokens unknown"),
        };
        let _ = match cost {
            Some(cost) => write!(said, ", cost {}", cost_words(tidy(cost))),
            None => write!(said, ", cost unknown"),
        };
        if self.cached > 0 {
            let _ = write!(said, "; {} of the votes are from the cache", self.cached);
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn scores_have_one_decimal_place() {
        assert_eq!(percent(0.865), "86.5%");
        assert_eq!(percent(1.0), "100.0%");
    }
}
