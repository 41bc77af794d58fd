//! Requests to run something: test cases, their servers, their models.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::scenario_file::agent::{ApiKey, Temperature, ToolChoice};

/// Something an agent is asked to do, and the tools that it is expected to call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestCase {
    #[schemars(length(min = 1, max = 500))]
    pub name: String,
    /// What the user says.
    #[schemars(length(min = 1))]
    pub prompt: String,
    /// The tools that must be called, in any order, by their names or as `mcp__SERVER__TOOL`; others may be called, too.
    #[serde(default)]
    #[schemars(length(max = 1000), inner(length(min = 1, max = 500)))]
    pub expected_tools: Vec<String>,
    /// The servers of the agent; those of `--mcp-config` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub server_configs: Option<Vec<ServerConfig>>,
    /// Who makes the calls; who was named at the server's start unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AgentConfig")]
    pub agent_config: Option<AgentConfig>,
    /// Who judges besides; the judge of `--judge`, if there is one, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JudgeConfig")]
    pub judge_config: Option<JudgeConfig>,
    /// How long the run may take, in milliseconds; no longer than the server allows, and that unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout: Option<u64>,
}

/// A test case by itself, within `testCase`, or a scenario: a served one, or the text of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunRequest {
    Case(CaseRequest),
    Scenario(ScenarioRequest),
    Yaml(YamlRequest),
    Bare(TestCase),
}

/// A test case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseRequest {
    pub test_case: TestCase,
}

/// A scenario of the folder that is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScenarioRequest {
    /// Its file below that folder, or its id; of a data set, the id of one row.
    #[schemars(length(min = 1, max = 4096))]
    pub scenario: String,
    /// Who makes the calls, in place of the scenario's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AgentConfig")]
    pub agent_config: Option<AgentConfig>,
    /// How long the run may take, in milliseconds; the scenario's own bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout: Option<u64>,
}

/// The text of a scenario file that lies nowhere: files that it names are looked for in the folder that is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct YamlRequest {
    /// `${…}` in it stands for itself.
    #[schemars(length(min = 1))]
    pub yaml: String,
    /// Who makes the calls, in place of the scenario's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AgentConfig")]
    pub agent_config: Option<AgentConfig>,
    /// How long the run may take, in milliseconds; the scenario's own bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout: Option<u64>,
}

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

/// What names of servers are like.
const NAME: &str = "^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$";

/// How a server is reached.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum ServerConfig {
    /// A program that is started for the run and speaks MCP on its standard streams. The server must allow programs.
    Stdio {
        /// What it is called; `server` unless given, with a number where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = NAME), length(max = 64))]
        name: Option<String>,
        #[schemars(length(min = 1, max = 4096))]
        command: String,
        #[serde(default)]
        #[schemars(length(max = 1000))]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// A server over Streamable HTTP, or over the older HTTP with SSE where it speaks no other.
    Http {
        /// What it is called; `server` unless given, with a number where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = NAME), length(max = 64))]
        name: Option<String>,
        #[schemars(regex(pattern = "^https?://[^\\s/]"), length(max = 4096))]
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// A server over the older HTTP with SSE.
    Sse {
        /// What it is called; `server` unless given, with a number where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = NAME), length(max = 64))]
        name: Option<String>,
        #[schemars(regex(pattern = "^https?://[^\\s/]"), length(max = 4096))]
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// The types there are.
pub const TYPES: [&str; 3] = ["stdio", "http", "sse"];

impl ServerConfig {
    pub fn name(&self) -> Option<&str> {
        let (Self::Stdio { name, .. } | Self::Http { name, .. } | Self::Sse { name, .. }) = self;
        name.as_deref()
    }
}

/// Without what may hold secrets.
impl std::fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerConfig")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
