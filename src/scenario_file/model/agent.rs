//! An agent that thinks: a language model behind an API.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Object;
use crate::model::usage::Price;

/// How a model is reached and asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAgent {
    pub api: ModelApi,
    /// The model's name, as the API knows it.
    pub model: String,
    /// Where the API is, with or without `/v1`; the vendor's own address unless given.
    pub base_url: Option<String>,
    /// The key itself, where whoever asks has brought it along; no file holds one.
    pub api_key: Option<ApiKey>,
    /// The environment variable that holds the key; the vendor's usual one at the vendor's own address, none elsewhere.
    pub api_key_env: Option<String>,
    /// The system prompt.
    pub system: Option<String>,
    pub temperature: Temperature,
    /// The most tokens one answer of the model may have.
    pub max_tokens: Option<u32>,
    /// The most requests a run may make.
    pub max_steps: u32,
    pub tool_choice: Option<ToolChoice>,
    /// For the answer to one request.
    pub timeout: Duration,
    /// For the answer to one tool call, in place of the scenario's.
    pub tool_timeout: Option<Duration>,
    /// How many characters of a tool's answer the model is shown; all unless given. The record keeps all.
    pub max_result_chars: Option<usize>,
    /// Headers sent along, with `${…}` not yet filled in.
    pub extra_headers: Vec<(String, String)>,
    /// Members that are added to the body of each request, or replace those there.
    pub extra_body: Object,
    pub price: Option<Price>,
}

/// A key for an API. It is held in memory alone, and shown nowhere.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey(pub String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// The wire formats spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelApi {
    /// Messages.
    Anthropic,
    /// Chat Completions, which many other servers speak, too.
    OpenAiChat,
    OpenAiResponses,
    /// `/api/chat`.
    Ollama,
}

/// How much chance the model is allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Temperature {
    /// 0, the least.
    #[default]
    Lowest,
    /// Whatever the API does when nobody says anything: some models take no other.
    Unset,
    Value(f64),
}

/// Whether the model has to call tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    /// This tool, by the name agents use.
    Tool(String),
}

/// What an agent prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommandFormat {
    /// Its final answer.
    #[default]
    Generic,
    /// The events of Claude Code.
    Claude,
    /// The events of Codex.
    Codex,
    /// The events of Gemini CLI.
    Gemini,
}

impl CommandFormat {
    /// As scenario files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Whether its output reports what its model used.
    pub fn reports_usage(self) -> bool {
        self != Self::Generic
    }

    /// Whether its output reports what that cost.
    pub fn reports_cost(self) -> bool {
        self == Self::Claude
    }

    /// Whether there is a command line to start it with when the scenario gives none.
    pub fn has_command(self) -> bool {
        self != Self::Generic
    }

    /// Whether it looks for its MCP configuration in the folder it works in, and nowhere else.
    pub fn is_configured_by_folder(self) -> bool {
        self == Self::Gemini
    }
}

/// How many requests a run may make unless the scenario says otherwise.
pub const MAX_STEPS: u32 = 50;
/// How long one answer of a model may take unless the scenario says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(120);

impl ModelAgent {
    /// Settings that say nothing but which model of which API is asked.
    pub fn new(api: ModelApi, model: &str) -> Self {
        Self {
            api,
            model: model.to_owned(),
            base_url: None,
            api_key: None,
            api_key_env: None,
            system: None,
            temperature: Temperature::default(),
            max_tokens: None,
            max_steps: MAX_STEPS,
            tool_choice: None,
            timeout: TIMEOUT,
            tool_timeout: None,
            max_result_chars: None,
            extra_headers: Vec::new(),
            extra_body: Object::new(),
            price: None,
        }
    }
}

/// The names that stand for what a run gives an agent that is a program.
pub const PROMPT: &str = "prompt";
pub const MCP_CONFIG: &str = "mcp_config";
pub const MODEL: &str = "model";

impl ModelApi {
    /// The kind of agent, as scenario files spell it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat | Self::OpenAiResponses => "openai",
            Self::Ollama => "ollama",
        }
    }
}

pub use crate::scenario_file::agent::criteria::Limits;
pub use crate::scenario_file::agent::section::CommandAgent;
