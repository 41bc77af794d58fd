//! Models that act, and models that judge.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::agent::{ApiKey, Temperature, ToolChoice};

/// The system prompt of an agent that is given none.
pub const SYSTEM: &str = "You are an AI assistant that can call tools.";

/// The APIs that models are asked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    Anthropic,
    /// Any server that speaks as OpenAI's Chat Completions do.
    Openai,
    Ollama,
    /// As `openai`, at an address that has to be given.
    Custom,
}

/// A model, and how it is asked. Which members there are, the schema says of those that hold it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("allOf" = [{
    "if": { "properties": { "provider": { "const": "custom" } } },
    "then": { "properties": { "baseUrl": { "type": "string" } }, "required": ["baseUrl"] }
}]))]
pub struct ModelConfig {
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
    #[schemars(with = "Option<String>", length(min = 1, max = 10000))]
    pub api_key: Option<ApiKey>,
    /// What an agent is told before the prompt; unless given: You are an AI assistant that can call tools. What a judge is told besides what all
    /// judges are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// How much chance the model is allowed; with `null` what its API has. Unless given, 0 for an agent, and `null` for a judge.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<f64>", range(min = 0.0, max = 2.0))]
    pub temperature: Option<Temperature>,
    /// How many tokens one answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_tokens: Option<u32>,
}

/// The model that makes the calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields, extend(
    "if" = { "properties": { "provider": { "const": "ollama" } } },
    "then" = { "properties": { "toolChoice": { "enum": ["auto", null] } } }
))]
pub struct AgentConfig {
    #[serde(flatten)]
    pub model: ModelConfig,
    /// How often it may be asked; 50 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub max_steps: Option<u32>,
    /// Whether it has to call tools: `required` and `tool`, which names one, count for its first answer. Ollama has `auto` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
}

/// The model that judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct JudgeConfig {
    #[serde(flatten)]
    pub model: ModelConfig,
    /// What must hold, a sentence each; that the agent did what the prompt asks for unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub criteria: Vec<String>,
    /// The lowest score that passes; 0.7 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: Option<f64>,
}

/// A temperature that is there, be it `null`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Temperature>, D::Error> {
    let given: Option<f64> = Option::deserialize(deserializer)?;
    Ok(Some(given.map_or(Temperature::Unset, Temperature::Value)))
}
