//! What a model was asked and what it took, in the published result.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::number::tidy;
use crate::model::usage::Attempt;
use crate::model::usage::{self, Usage, cost_words, total_cost, total_usage};

/// What the agent's model used in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelUse {
    /// All requests together.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// What all requests cost, in the currency of the scenario's price, or as the agent reckons; `null` where nobody knows.
    pub cost: Option<f64>,
    /// The requests, in order.
    pub requests: Vec<RequestUse>,
}

/// What models used in several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalUse {
    /// All requests of all runs together.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// What all requests cost, in the currency of the scenario's price; `null` where that of one is unknown.
    pub cost: Option<f64>,
    /// How many requests were made.
    pub requests: usize,
    /// How many attempts they took.
    pub attempts: usize,
}

/// Tokens, each counted once; `null` where the API does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Tokens of requests that were neither read from a cache nor written to one.
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cache_read_tokens: Option<u64>,
    pub cache_write_tokens: Option<u64>,
    /// The sum of those that are known.
    pub total_tokens: Option<u64>,
}

/// One request to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestUse {
    /// How many steps of the trajectory came before it.
    pub after_steps: usize,
    /// The model that answered, as the API names it.
    pub model: Option<String>,
    /// Why the model stopped, in the API's own word.
    pub stop_reason: Option<String>,
    #[serde(flatten)]
    pub tokens: Tokens,
    pub cost: Option<f64>,
    pub attempts: Vec<Attempt>,
}

impl ModelUse {
    /// The use of these requests; `None` where there are none.
    pub(crate) fn of(requests: &[usage::ModelRequest]) -> Option<Self> {
        Some(Self {
            tokens: total_usage(requests)?.into(),
            cost: total_cost(requests).map(tidy),
            requests: requests
                .iter()
                .map(|it| RequestUse {
                    after_steps: it.after_steps,
                    model: it.model.clone(),
                    stop_reason: it.stop_reason.clone(),
                    tokens: it.usage.into(),
                    cost: it.cost.map(tidy),
                    attempts: it.attempts.clone(),
                })
                .collect(),
        })
    }

    /// For people: `2 requests, 1234 tokens in, 56 out, cost 0.0045`.
    pub fn words(&self) -> String {
        TotalUse::from(self).words()
    }
}

impl From<&ModelUse> for TotalUse {
    fn from(it: &ModelUse) -> Self {
        Self {
            tokens: it.tokens,
            cost: it.cost,
            requests: it.requests.len(),
            attempts: it.requests.iter().map(|it| it.attempts.len()).sum(),
        }
    }
}

impl TotalUse {
    /// Several uses as one; `None` where there are none. The cost is known where each is.
    pub fn sum(uses: impl Iterator<Item = Self>) -> Option<Self> {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (one, other) => one.or(other),
        };
        uses.reduce(|a, b| Self {
            tokens: Tokens {
                input_tokens: add(a.tokens.input_tokens, b.tokens.input_tokens),
                output_tokens: add(a.tokens.output_tokens, b.tokens.output_tokens),
                cache_read_tokens: add(a.tokens.cache_read_tokens, b.tokens.cache_read_tokens),
                cache_write_tokens: add(a.tokens.cache_write_tokens, b.tokens.cache_write_tokens),
                total_tokens: add(a.tokens.total_tokens, b.tokens.total_tokens),
            },
            cost: a.cost.zip(b.cost).map(|(a, b)| tidy(a + b)),
            requests: a.requests + b.requests,
            attempts: a.attempts + b.attempts,
        })
    }

    /// For people: `2 requests, 1234 tokens in, 56 out, cost 0.0045`.
    pub fn words(&self) -> String {
        let count = self.requests;
        let noun = if count == 1 { "request" } else { "requests" };
        let again = match self.attempts.saturating_sub(count) {
            0 => String::new(),
            1 => " (1 more attempt)".to_owned(),
            again => format!(" ({again} more attempts)"),
        };
        let mut words = format!("{count} {noun}{again}, {}", self.tokens.words());
        if let Some(cost) = self.cost {
            let _ = write!(words, ", cost {}", cost_words(cost));
        }
        words
    }
}

impl Tokens {
    /// For people: `1234 tokens in, 56 out, 200 from cache`.
    pub fn words(&self) -> String {
        let number = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |it| it.to_string());
        let mut words = format!(
            "{} tokens in, {} out",
            number(self.input_tokens),
            number(self.output_tokens)
        );
        for (tokens, how) in [
            (self.cache_read_tokens, "from cache"),
            (self.cache_write_tokens, "to cache"),
        ] {
            if let Some(tokens) = tokens.filter(|it| *it > 0) {
                let _ = write!(words, ", {tokens} {how}");
            }
        }
        words
    }
}

impl From<usage::TotalUse> for TotalUse {
    fn from(it: usage::TotalUse) -> Self {
        Self {
            tokens: it.usage.into(),
            cost: it.cost,
            requests: it.requests,
            attempts: it.attempts,
        }
    }
}

impl From<Usage> for Tokens {
    fn from(it: Usage) -> Self {
        Self {
            input_tokens: it.input,
            output_tokens: it.output,
            cache_read_tokens: it.cache_read,
            cache_write_tokens: it.cache_write,
            total_tokens: it.total(),
        }
    }
}
