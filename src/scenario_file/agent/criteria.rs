//! The sections `success_criteria`, what must hold for a run to pass, and `limits`, what ends it as failed.

use std::time::Duration;

use super::section::Agent;
use crate::scenario_file::decode::{
    At, Count, Decode, Positive, Timeout, Times, Word, one_key, section, wrong_kind,
};
use crate::scenario_file::evaluators::EvaluatorSection;
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};

/// Something that must hold for a run to pass.
#[derive(Debug, Clone, schemars::JsonSchema)]
#[schemars(untagged)]
pub(in crate::scenario_file) enum CriterionSection {
    /// This text appears in what a server answered, in what the agent said or in the full name of a tool that was called; case does not matter. A recording that does not have it shows that it is prose: it is not checked then.
    Text(At<Word>),
    /// A condition.
    Condition(ConditionCriterion),
    /// An evaluator, which tells its `type`.
    Evaluator(Box<EvaluatorSection>),
}

impl Decode for CriterionSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(_) => At::decode(node, findings).map(Self::Text),
            Content::Map(_) if node.get("type").is_some() => {
                Box::decode(node, findings).map(Self::Evaluator)
            }
            Content::Map(_) => ConditionCriterion::decode(node, findings).map(Self::Condition),
            _ => wrong_kind(node, "text or a map with one condition", findings),
        }
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        if let Self::Evaluator(it) = self {
            it.templates(visit);
        }
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        if let Self::Evaluator(it) = self {
            it.marked(visit);
        }
    }
}

one_key! {
    /// A condition that a run must meet.
    ConditionCriterion {
        /// This text must appear there, whatever was recorded.
        "text" => Text(Word),
        /// This tool was called.
        "tool_called" => ToolCalled(At<Word>),
        /// This tool was not called.
        "tool_never_called" => ToolNeverCalled(At<Word>),
        /// A server under `upstreams` was called with this tool.
        "upstream_called" => UpstreamCalled(At<UpstreamCalledSection>),
        /// None of these headers, which the agent's side sends, reached a server under `upstreams` with the same value; case does not matter.
        "never_forwarded" => NeverForwarded(At<Vec<At<Word>>>),
    }
}

section! {
    /// A call that a server behind the ones under test got, or did not get.
    UpstreamCalledSection {
        /// The name of the server under `upstreams`.
        server: At<Word>,
        /// The name of its tool.
        tool: At<Word>,
        /// How often it was called, exactly; 0 says never, and at least once is enough unless given.
        times: Option<Times>,
    }
}

impl CriterionSection {
    /// The tool of the agent's servers that it names, as written.
    pub(in crate::scenario_file) fn tool(&self) -> Option<(Mark, &str)> {
        match self {
            Self::Condition(
                ConditionCriterion::ToolCalled(tool) | ConditionCriterion::ToolNeverCalled(tool),
            ) => Some((tool.at, &tool.0)),
            Self::Text(_)
            | Self::Evaluator(_)
            | Self::Condition(
                ConditionCriterion::Text(_)
                | ConditionCriterion::UpstreamCalled(_)
                | ConditionCriterion::NeverForwarded(_),
            ) => None,
        }
    }

    /// A plain text.
    pub(in crate::scenario_file) fn text(&self) -> Option<&At<Word>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Condition(_) | Self::Evaluator(_) => None,
        }
    }

    /// An evaluator.
    pub(in crate::scenario_file) fn evaluator(&self) -> Option<&EvaluatorSection> {
        match self {
            Self::Evaluator(it) => Some(it),
            Self::Text(_) | Self::Condition(_) => None,
        }
    }

    /// A call that an upstream got.
    pub(in crate::scenario_file) fn upstream_called(&self) -> Option<&At<UpstreamCalledSection>> {
        match self {
            Self::Condition(ConditionCriterion::UpstreamCalled(call)) => Some(call),
            Self::Text(_) | Self::Condition(_) | Self::Evaluator(_) => None,
        }
    }

    /// The headers that no upstream may get.
    pub(in crate::scenario_file) fn never_forwarded(&self) -> Option<&At<Vec<At<Word>>>> {
        match self {
            Self::Condition(ConditionCriterion::NeverForwarded(headers)) => Some(headers),
            Self::Text(_) | Self::Condition(_) | Self::Evaluator(_) => None,
        }
    }

    /// Whether it decides anything where there is no recording.
    pub(in crate::scenario_file) fn is_checked(&self) -> bool {
        match self {
            Self::Text(text) => !is_prose(&text.0),
            Self::Condition(_) => true,
            Self::Evaluator(it) => it.gates(),
        }
    }

    /// The criterion; `None` for an evaluator.
    pub(in crate::scenario_file) fn criterion(&self) -> Option<Criterion> {
        let condition = match self {
            Self::Text(text) => return Some(Criterion::Text(text.0.clone())),
            Self::Condition(condition) => condition,
            Self::Evaluator(_) => return None,
        };
        Some(match condition {
            ConditionCriterion::Text(text) => Criterion::Says(text.0.clone()),
            ConditionCriterion::ToolCalled(tool) => Criterion::ToolCalled(tool.0.clone()),
            ConditionCriterion::ToolNeverCalled(tool) => Criterion::ToolNeverCalled(tool.0.clone()),
            ConditionCriterion::UpstreamCalled(call) => Criterion::UpstreamCalled {
                server: call.server.0.clone(),
                tool: call.tool.0.clone(),
                times: call.times.map(|it| it.0),
            },
            ConditionCriterion::NeverForwarded(headers) => {
                Criterion::NeverForwarded(headers.iter().map(|it| it.0.clone()).collect())
            }
        })
    }
}

section! {
    /// What ends a run as failed.
    #[expect(clippy::struct_field_names, reason = "the keys are called so")]
    LimitsSection => Limits(Copy, Default) {
        /// How many tokens all requests to the model may take together, in and out.
        max_total_tokens: Option<At<Count>> as Option<u64>,
        /// How many requests to the model there may be; for an agent without one, how many tool calls.
        max_steps: Option<Count> as Option<u32>,
        /// How long the run may take.
        max_duration: Option<Timeout> as Option<Duration>,
        /// What the requests to the model may cost together, in the currency of `agent.price`.
        max_cost: Option<At<Positive>> as Option<f64>,
    }
}

impl LimitsSection {
    /// Says so when one of the limits cannot be kept for want of a price, or because nobody knows what the agent uses.
    pub(in crate::scenario_file) fn check(&self, agent: Option<&Agent>, findings: &mut Findings) {
        let command = agent.and_then(Agent::command);
        if command.is_some_and(|it| !it.format.reports_usage()) {
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
            && !command.is_some_and(|it| it.format.reports_cost())
        {
            let message = "`max_cost` cannot be kept: what the model costs is unknown";
            findings.error(cost.at, message, Some("give `price` under `agent`"));
        }
    }
}

/// Something that must hold for a run to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Criterion {
    /// A plain text. Where it appears in what a server answered, in what the agent said or in the full name of a tool that was called –
    /// case does not matter –, it must appear from then on. Where it does not, it may be prose, and is not checked.
    Text(String),
    /// This text must appear there, whatever was recorded.
    Says(String),
    /// This tool was called.
    ToolCalled(String),
    /// This tool was not called.
    ToolNeverCalled(String),
    /// A server behind the ones under test was called with this tool.
    UpstreamCalled {
        server: String,
        tool: String,
        /// Exactly so often; at least once unless given.
        times: Option<u32>,
    },
    /// No server behind the ones under test got one of these headers as the agent's side had sent it. Their case does not matter.
    NeverForwarded(Vec<String>),
}

/// A plain text of more words than this may be prose, which only a recording can show.
const WORDS: usize = 3;

/// Whether a plain text is so long that it may describe what is wanted, and be no text to look for.
pub fn is_prose(text: &str) -> bool {
    text.split_whitespace().count() > WORDS
}

impl Criterion {
    /// Whether something is to be there, a text or a call, that a run which went worse may lack.
    pub fn asks_for_more(&self) -> bool {
        match self {
            Self::Text(_) | Self::Says(_) | Self::ToolCalled(_) => true,
            Self::UpstreamCalled { times, .. } => *times != Some(0),
            Self::ToolNeverCalled(_) | Self::NeverForwarded(_) => false,
        }
    }

    /// The text that is to be said, where it asks for one.
    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Says(text) => Some(text),
            _ => None,
        }
    }

    /// The criterion as the scenario file says it.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Says(text) => format!("text: {text}"),
            Self::ToolCalled(tool) => format!("tool_called: {tool}"),
            Self::ToolNeverCalled(tool) => format!("tool_never_called: {tool}"),
            Self::UpstreamCalled {
                server,
                tool,
                times,
            } => {
                let times = times.map_or_else(String::new, |it| format!(", times: {it}"));
                format!("upstream_called: {{ server: {server}, tool: {tool}{times} }}")
            }
            Self::NeverForwarded(headers) => format!("never_forwarded: [{}]", headers.join(", ")),
        }
    }
}
