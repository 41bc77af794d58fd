//! Models that act, and models that judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an agent is told that is told nothing else.
pub const SYSTEM: &str = "You are an AI assistant that can call tools.";

/// The APIs that models are asked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    Anthropic,
    /// Any server that speaks as OpenAI's Chat Completions do.
    Openai,
    Ollama,
}

/// The model that makes the calls.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentConfig {
    pub provider: Provider,
    #[schemars(length(min = 1, max = 500))]
    pub model: String,
    /// Where the API is, with or without `/v1`; the vendor's own address unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^https?://[^\\s/]"), length(max = 4096))]
    pub base_url: Option<String>,
    /// The key; used for this request, and never kept, logged or sent back. Without it, the vendor's own address is asked with the key in the
    /// server's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10000))]
    pub api_key: Option<String>,
    /// What it is told before the prompt; unless given: You are an AI assistant that can call tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// How often it may be asked; 50 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_steps: Option<u32>,
    /// How many tokens one answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_tokens: Option<u32>,
}

/// The model that judges.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeConfig {
    pub provider: Provider,
    #[schemars(length(min = 1, max = 500))]
    pub model: String,
    /// Where the API is, with or without `/v1`; the vendor's own address unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^https?://[^\\s/]"), length(max = 4096))]
    pub base_url: Option<String>,
    /// The key; used for this request, and never kept, logged or sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10000))]
    pub api_key: Option<String>,
    /// What must hold, a sentence each; that the agent did what the prompt asks for unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub criteria: Vec<String>,
    /// The lowest score that passes; 0.7 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
}

impl std::fmt::Debug for AgentConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentConfig")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for JudgeConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JudgeConfig")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
