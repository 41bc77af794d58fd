//! An agent that thinks: the parts of the `agent` section that say how a model is asked, and the `limits` section.

use crate::model::agent::{Limits, ModelApi, Price, Temperature, ToolChoice};
use crate::model::scenario::Agent;

use super::decode::{At, Decode, Named, choice, choose, only_entry, section};
use super::node::{Content, Node};
use super::source::Findings;
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
pub(super) struct TemperatureSection(pub(super) Temperature);

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
pub(super) struct ToolChoiceSection(pub(super) ToolChoice);

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
