//! The published form of what a model was asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::usage::{self, Usage};
use crate::published::attempt::Attempt;

/// One request to the agent's model, with every attempt it took.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct ModelRequest {
    /// How many of the steps came before it.
    after_steps: usize,
    /// The model that answered, as the API names it, or null.
    model: Option<String>,
    /// Why the model stopped, in the API's own word, or null.
    stop_reason: Option<String>,
    usage: TokenUsage,
    /// What it cost, in the currency of the scenario's price, or null.
    cost: Option<f64>,
    attempts: Vec<Attempt>,
}

/// Tokens, each counted once; null where the API does not tell.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(
    clippy::struct_field_names,
    reason = "the members are called as elsewhere"
)]
pub(super) struct TokenUsage {
    /// Tokens of the request that were neither read from a cache nor written to one.
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

impl From<&usage::ModelRequest> for ModelRequest {
    fn from(it: &usage::ModelRequest) -> Self {
        Self {
            after_steps: it.after_steps,
            model: it.model.clone(),
            stop_reason: it.stop_reason.clone(),
            usage: TokenUsage {
                input_tokens: it.usage.input,
                output_tokens: it.usage.output,
                cache_read_tokens: it.usage.cache_read,
                cache_write_tokens: it.usage.cache_write,
            },
            cost: it.cost,
            attempts: it.attempts.iter().map(Into::into).collect(),
        }
    }
}

impl From<ModelRequest> for usage::ModelRequest {
    fn from(it: ModelRequest) -> Self {
        Self {
            after_steps: it.after_steps,
            model: it.model,
            stop_reason: it.stop_reason,
            usage: Usage {
                input: it.usage.input_tokens,
                output: it.usage.output_tokens,
                cache_read: it.usage.cache_read_tokens,
                cache_write: it.usage.cache_write_tokens,
            },
            cost: it.cost,
            attempts: it.attempts.into_iter().map(Into::into).collect(),
        }
    }
}
