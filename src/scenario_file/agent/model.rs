//! An agent that thinks: the parts of the `agent` section that say how a model is asked.

use serde_json::Value;

use crate::model::Object;
use crate::model::agent::{ModelAgent, ModelApi, Temperature, ToolChoice};
use crate::model::usage::Price;

use crate::scenario_file::decode::template::{Given, Template};
use crate::scenario_file::decode::values::{Amount, Count, Timeout, Word, number};
use crate::scenario_file::decode::{
    At, Decode, Field, NO_HINT, Named, Plain, choice, choose, only_entry, schema, section,
};
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};

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
    ModelKeys, checked by check {
        /// The model, as its API names it. `${NAME}` is an environment variable, here and in `base_url` and `extra_headers`.
        model: Field<Template<Word>>,
        /// Where the API is, with or without `/v1`; the vendor's own address unless given.
        base_url: Option<Template<Word>>,
        /// The environment variable that holds the key: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` unless given, and none where `base_url` is not the vendor's.
        api_key_env: Option<Word>,
        /// The system prompt.
        system: Option<String>,
        /// How much chance the model is allowed; 0 unless given. With `null` none is sent, for models that take none.
        temperature: Option<TemperatureSection>,
        /// How many tokens one answer of the model may have.
        max_tokens: Option<Count>,
        /// How many requests to the model there may be; 50 unless given.
        max_steps: Option<Count>,
        /// How long the model may take for one answer; 120s unless given.
        timeout: Option<Timeout>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<Timeout>,
        /// How many characters of a tool's answer the model is shown; all unless given.
        max_result_chars: Option<Count>,
        /// Headers sent with every request to the model.
        extra_headers: Option<Named<Given>>,
        /// Members added to the body of every request to the model, in place of those of the same name; `null` takes one out.
        extra_body: Option<At<Object>>,
        /// What the model costs.
        price: Option<PriceSection>,
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
        let defaults = ModelAgent::new(api, &self.model.given()?.0);
        let tool_choice = tool_choice.and_then(|it| it.tool_choice.as_ref());
        Some(ModelAgent {
            base_url: self.base_url.plain(findings),
            api_key_env: self.api_key_env.plain(findings),
            system: self.system.clone(),
            temperature: self.temperature.map_or(defaults.temperature, |it| it.0),
            max_tokens: self.max_tokens.plain(findings),
            max_steps: self.max_steps.map_or(defaults.max_steps, |it| it.0),
            tool_choice: tool_choice.map(|it| it.0.clone()),
            timeout: self.timeout.map_or(defaults.timeout, |it| it.0),
            tool_timeout: self.tool_timeout.plain(findings),
            max_result_chars: self.max_result_chars.plain(findings),
            extra_headers: self.extra_headers.plain(findings).unwrap_or_default(),
            extra_body: self.extra_body.plain(findings).unwrap_or_default(),
            price: self.price.plain(findings),
            ..defaults
        })
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

impl Plain<Price> for PriceSection {
    fn plain(&self, findings: &Findings) -> Price {
        Price {
            input: self.input.plain(findings),
            output: self.output.plain(findings),
            cache_read: self.cache_read.plain(findings),
            cache_write: self.cache_write.plain(findings),
        }
    }
}
