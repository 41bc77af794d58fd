//! What a model was asked and what it took, in the published result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::tidy;
use crate::usage::{Attempt, ModelRequest, Tokens, TotalUse, total_cost, total_usage};

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
    pub fn of(requests: &[ModelRequest]) -> Option<Self> {
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
