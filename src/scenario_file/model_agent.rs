//! An agent that thinks: the parts of the `agent` section that say how a model is asked, and the `limits` section.

use crate::model::agent::{Limits, ModelAgent, ModelApi, Price, Temperature, ToolChoice};
use crate::model::scenario::Agent;

use super::decode::{At, Decode, NO_HINT, Named, choice, choose, only_entry, section};
use super::expand;
use super::node::{Content, Node};
use super::script::{AgentKind, AgentSection};
use super::source::{Findings, Mark};
use super::values::{Amount, Count, Positive, Timeout, Word, number};

choice! {
    /// Which of OpenAI's APIs is spoken: `chat` (Chat Completions, which other servers speak, too) or `responses`.
    ApiWord for ModelApi {
        "chat" => ModelApi::OpenAiChat,
        "responses" => ModelApi::OpenAiResponses,
    }
}

section! {
    /// What a million tokens cost, in a currency of your choice.
    PriceSection {
        /// Of what the model is sent.
        input: Amount,
        /// Of what the model says.
        output: Amount,
        /// Of what the model is sent and reads from a cache; as `input` unless given.
        cache_read: Option<Amount>,
        /// Of what the model is sent and writes to a cache; as `input` unless given.
        cache_write: Option<Amount>,
    }
}

section! {
    /// What ends a run as failed.
    #[expect(clippy::struct_field_names, reason = "the keys are called so")]
    LimitsSection {
        /// How many tokens all requests to the model may take together, in and out.
        max_total_tokens: Option<At<Count>>,
        /// How many requests to the model there may be; for an agent without one, how many tool calls.
        max_steps: Option<Count>,
        /// How long the run may take.
        max_duration: Option<Timeout>,
        /// What the requests to the model may cost together, in the currency of `agent.price`.
        max_cost: Option<At<Positive>>,
    }
}

/// A temperature, or `null` for none.
#[derive(Debug, Clone, Copy)]
pub(super) struct TemperatureSection(Temperature);

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

impl schemars::JsonSchema for TemperatureSection {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Temperature".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": ["number", "null"], "minimum": 0, "maximum": 2})
    }
}

/// Whether the model has to call tools.
#[derive(Debug, Clone)]
pub(super) struct ToolChoiceSection(ToolChoice);

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

impl schemars::JsonSchema for ToolChoiceSection {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ToolChoice".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
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
        })
    }
}

impl AgentSection {
    /// How the model is asked; `None`, after saying so, where the scenario does not say which.
    pub(super) fn model_agent(&self, api: ModelApi, findings: &mut Findings) -> Option<ModelAgent> {
        let Some(model) = &self.model else {
            let message = "missing key `model`, which this kind of agent needs";
            let at = self.kind.as_ref().map(At::mark)?;
            findings.error(at, message, Some("name it as the API does"));
            return None;
        };
        let defaults = ModelAgent::new(api, &model.0);
        let headers = self.extra_headers.iter().flat_map(|it| &it.0);
        let whole = |it: &At<Count>| usize::try_from(it.value.0).unwrap_or(usize::MAX);
        Some(ModelAgent {
            api: self.api.as_ref().map_or(api, |it| it.0),
            base_url: self.base_url.as_ref().map(|it| it.0.clone()),
            api_key_env: self.api_key_env.as_ref().map(|it| it.0.clone()),
            system: self.system.as_ref().map(|it| it.value.clone()),
            temperature: self
                .temperature
                .as_ref()
                .map_or(defaults.temperature, |it| it.0),
            max_tokens: self.max_tokens.as_ref().map(|it| it.0),
            max_steps: self
                .max_steps
                .as_ref()
                .map_or(defaults.max_steps, |it| it.0),
            tool_choice: self.tool_choice.as_ref().map(|it| it.0.clone()),
            timeout: self.timeout.as_ref().map_or(defaults.timeout, |it| it.0),
            tool_timeout: self.tool_timeout.as_ref().map(|it| it.0),
            max_result_chars: self.max_result_chars.as_ref().map(whole),
            extra_headers: headers
                .map(|(name, value)| (name.value.clone(), value.value.clone()))
                .collect(),
            extra_body: self
                .extra_body
                .as_ref()
                .map(|it| it.value.clone())
                .unwrap_or_default(),
            price: self.price.as_ref().map(|it| it.price()),
            ..defaults
        })
    }

    /// The keys that only mean something for an agent with a model.
    fn model_keys(&self) -> [(&'static str, Option<Mark>); 14] {
        [
            ("model", self.model.as_ref().map(At::mark)),
            ("base_url", self.base_url.as_ref().map(At::mark)),
            ("api_key_env", self.api_key_env.as_ref().map(At::mark)),
            ("system", self.system.as_ref().map(At::mark)),
            ("temperature", self.temperature.as_ref().map(At::mark)),
            ("max_tokens", self.max_tokens.as_ref().map(At::mark)),
            ("max_steps", self.max_steps.as_ref().map(At::mark)),
            ("timeout", self.timeout.as_ref().map(At::mark)),
            ("tool_timeout", self.tool_timeout.as_ref().map(At::mark)),
            (
                "max_result_chars",
                self.max_result_chars.as_ref().map(At::mark),
            ),
            ("extra_headers", self.extra_headers.as_ref().map(At::mark)),
            ("extra_body", self.extra_body.as_ref().map(At::mark)),
            ("price", self.price.as_ref().map(At::mark)),
            ("tool_choice", self.tool_choice.as_ref().map(At::mark)),
        ]
    }
}

/// Keys of a model that a program takes, too.
const OF_BOTH: [&str; 4] = ["model", "timeout", "tool_timeout", "price"];

/// Keys that do not go with the kind of agent, and references that cannot be read. Keys from a file of defaults may be meant for
/// another scenario.
pub(super) fn check(agent: &AgentSection, at: Mark, findings: &mut Findings) {
    let kind = agent.kind.as_ref().map(|it| it.0);
    let mut refuse = |key: &str, given: Option<Mark>, hint: Option<&str>| {
        if let Some(given) = given.filter(|it| it.source == at.source) {
            let message = format!("`{key}` means nothing for this kind of agent");
            findings.error(given, message, hint);
        }
    };
    let is_command = kind == Some(AgentKind::Command);
    if !matches!(kind, Some(AgentKind::Model(_))) {
        let hint = "it takes `kind: anthropic`, `openai` or `ollama`";
        for (key, given) in agent.model_keys() {
            if !(is_command && OF_BOTH.contains(&key)) {
                refuse(key, given, Some(hint));
            }
        }
    }
    if !is_command {
        for (key, given) in agent.command_keys() {
            refuse(key, given, Some("it takes `kind: command`"));
        }
    }
    if kind != Some(AgentKind::Model(ModelApi::OpenAiChat)) {
        let given = agent.api.as_ref().map(At::mark);
        refuse("api", given, Some("it takes `kind: openai`"));
    }
    if kind == Some(AgentKind::Model(ModelApi::Ollama)) {
        let given = agent.tool_choice.as_ref().map(At::mark);
        refuse("tool_choice", given, NO_HINT);
    }
    if is_command {
        agent.check_command(findings);
    }
    if let Some(body) = &agent.extra_body
        && body.get("stream") == Some(&serde_json::Value::Bool(true))
    {
        let message = "`stream` cannot be asked for: answers are taken as a whole";
        findings.error(body.at, message, NO_HINT);
    }
    let headers = agent.extra_headers.iter().flat_map(|it| &it.0);
    let headers = headers.map(|(_, it)| (it.at, it.as_str()));
    let words = [&agent.base_url, &agent.model].into_iter().flatten();
    let words = words.map(|it| (it.at, it.0.as_str()));
    for (at, text) in words.chain(headers) {
        if let Err(problem) = expand::check(text) {
            findings.error(at, problem.message, problem.hint);
        }
    }
}

impl PriceSection {
    pub(super) fn price(&self) -> Price {
        Price {
            input: self.input.0,
            output: self.output.0,
            cache_read: self.cache_read.map(|it| it.0),
            cache_write: self.cache_write.map(|it| it.0),
        }
    }
}

impl LimitsSection {
    /// The limits; says so when one of them cannot be kept for want of a price, or because nobody knows what the agent uses.
    pub(super) fn limits(&self, agent: Option<&Agent>, findings: &mut Findings) -> Limits {
        let command = agent.and_then(Agent::command);
        if command.is_some_and(|it| !it.format.tells_usage()) {
            let tokens = self.max_total_tokens.as_ref().map(At::mark);
            let cost = self.max_cost.as_ref().map(At::mark);
            for (key, given) in [("max_total_tokens", tokens), ("max_cost", cost)] {
                if let Some(at) = given {
                    let message =
                        format!("`{key}` cannot be kept: what this agent uses is unknown");
                    findings.error(at, message, Some("keep `max_steps` or `max_duration`"));
                }
            }
        } else if let (Some(cost), Some(agent)) = (&self.max_cost, agent)
            && agent.decides()
            && agent.price().is_none()
            && !command.is_some_and(|it| it.format.tells_cost())
        {
            let message = "`max_cost` cannot be kept: what the model costs is unknown";
            findings.error(cost.at, message, Some("give `price` under `agent`"));
        }
        Limits {
            max_total_tokens: self.max_total_tokens.as_ref().map(|it| u64::from(it.0)),
            max_steps: self.max_steps.map(|it| it.0),
            max_duration: self.max_duration.map(|it| it.0),
            max_cost: self.max_cost.as_ref().map(|it| it.0),
        }
    }
}

/// Headers by name.
pub(super) type Headers = At<Named<At<String>>>;
