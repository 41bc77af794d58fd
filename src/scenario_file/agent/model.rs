//! An agent that thinks: the parts of the `agent` section that say how a model is asked.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Object;
use crate::model::usage::Price;
use crate::scenario_file::decode::{
    Amount, At, Count, Decode, Field, Given, NO_HINT, Named, Plain, Template, Timeout, Word,
    choice, choose, held, number, only_entry, schema, section,
};
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

choice! {
    /// Which of OpenAI's APIs is spoken: `chat` (Chat Completions, which other servers speak, too) or `responses`.
    ApiWord for ModelApi {
        "chat" => ModelApi::OpenAiChat,
        "responses" => ModelApi::OpenAiResponses,
    }
}

section! {
    /// What is said of an agent behind one of several APIs.
    ApiKeys {
        /// Which of OpenAI's APIs is spoken; `chat` unless given.
        api: Option<ApiWord>,
    }
}

section! {
    /// What is said of a model whose API can make it call tools.
    ToolChoiceKeys {
        /// Whether the model has to call tools.
        tool_choice: Option<ToolChoiceSection>,
    }
}

section! {
    /// What is said of an agent with a model.
    ModelKeys => ModelAgent, with default, checked by check {
        /// The model, as its API names it. `${NAME}` is an environment variable, here and in `base_url` and `extra_headers`.
        model: Field<Template<Word>> as String,
        /// Where the API is, with or without `/v1`; the vendor's own address unless given.
        base_url: Option<Template<Word>> as Option<String>,
        /// The environment variable that holds the key: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` unless given, and none where `base_url` is not the vendor's.
        api_key_env: Option<Word> as Option<String>,
        /// The system prompt.
        system: Option<String> as Option<String>,
        /// How much chance the model is allowed; 0 unless given. With `null` none is sent, for models that take none.
        temperature: Option<TemperatureSection> as Temperature = Temperature::default(),
        /// How many tokens one answer of the model may have.
        max_tokens: Option<Count> as Option<u32>,
        /// How many requests to the model there may be; 50 unless given.
        max_steps: Option<Count> as u32 = MAX_STEPS,
        /// How long the model may take for one answer; 120s unless given.
        timeout: Option<Timeout> as Duration = TIMEOUT,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<Timeout> as Option<Duration>,
        /// How many characters of a tool's answer the model is shown; all unless given.
        max_result_chars: Option<Count> as Option<usize>,
        /// Headers sent with every request to the model.
        extra_headers: Option<Named<Given>> as Vec<(String, String)> = Vec::new(),
        /// Members added to the body of every request to the model, in place of those of the same name; `null` takes one out.
        extra_body: Option<At<Object>> as Object = Object::new(),
        /// What the model costs.
        price: Option<PriceSection> as Option<Price>,
    } and {
        /// The API that is spoken.
        api: ModelApi = ModelApi::Anthropic,
        /// The key itself, where whoever asks has brought it along; no file holds one.
        api_key: Option<ApiKey> = None,
        /// Whether the model has to call tools.
        tool_choice: Option<ToolChoice> = None,
    }
}

fn check(agent: &ModelKeys, _: Mark, findings: &mut Findings) {
    check_body(agent.extra_body.as_ref(), findings);
}

/// Says of members of requests that answers are taken as a whole.
pub(in crate::scenario_file) fn check_body(body: Option<&At<Object>>, findings: &mut Findings) {
    if let Some(body) = body
        && body.get("stream") == Some(&Value::Bool(true))
    {
        let message = "`stream` cannot be asked for: answers are taken as a whole";
        findings.error(body.at, message, NO_HINT);
    }
}

impl ModelKeys {
    /// How the model is asked; `None` where the section does not say which.
    pub(in crate::scenario_file) fn agent(
        &self,
        api: ModelApi,
        tool_choice: Option<&ToolChoiceKeys>,
        findings: &Findings,
    ) -> Option<ModelAgent> {
        self.model.given()?;
        Some(ModelAgent {
            api,
            tool_choice: tool_choice.and_then(|it| it.tool_choice.plain(findings)),
            ..self.plain(findings)
        })
    }
}

section! {
    /// What a million tokens cost, in a currency of your choice.
    PriceSection for Price {
        /// Of what the model is sent.
        input: Amount as f64,
        /// Of what the model says.
        output: Amount as f64,
        /// Of what the model is sent and reads from a cache; as `input` unless given.
        cache_read: Option<Amount> as Option<f64>,
        /// Of what the model is sent and writes to a cache; as `input` unless given.
        cache_write: Option<Amount> as Option<f64>,
    }
}

/// A temperature, or `null` for none.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) struct TemperatureSection(pub(in crate::scenario_file) Temperature);

impl Decode for TemperatureSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let fits = |it| (0.0..=2.0).contains(&it);
        let value = number(node, "a number from 0 to 2, or null", fits, findings)?;
        Some(Self(Temperature::Value(value)))
    }

    fn of_null() -> Option<Self> {
        Some(Self(Temperature::Unset))
    }
}

held!(
    TemperatureSection as Temperature,
    ToolChoiceSection as ToolChoice
);

schema!(TemperatureSection, {"type": ["number", "null"], "minimum": 0, "maximum": 2});

/// Whether the model has to call tools.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct ToolChoiceSection(pub(in crate::scenario_file) ToolChoice);

impl Decode for ToolChoiceSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if matches!(node.content, Content::Map(_)) {
            let (_, tool) = only_entry(node, &["tool"], findings)?;
            let Word(name) = Word::decode(tool, findings)?;
            return Some(Self(ToolChoice::Tool(name)));
        }
        let word = choose(node, &["auto", "none", "required"], findings)?;
        Some(Self(match word {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            _ => ToolChoice::Required,
        }))
    }
}

schema!(ToolChoiceSection as "ToolChoice", {
    "description": "Whether the model has to call tools: `required` and a tool's name count for the first answer to each message of the user.",
    "anyOf": [
        { "type": "string", "enum": ["auto", "none", "required"] },
        {
            "type": "object",
            "properties": { "tool": { "type": "string", "description": "This tool." } },
            "required": ["tool"],
            "additionalProperties": false,
        },
    ],
});

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
            ..Self::default()
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
