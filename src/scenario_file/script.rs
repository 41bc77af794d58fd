//! Who asks and what is expected: `agent`, `expected_trajectory` and `success_criteria`.

use schemars::JsonSchema;

use crate::model::Object;
use crate::model::agent::ModelApi;
use crate::model::scenario::{Criterion, ExpectedCall, ScriptedCall, is_prose};

use super::command_agent::FormatWord;
use super::decode::{At, Decode, choice, only_entry, section, wrong_kind};
use super::model_agent::{
    self, ApiWord, Headers, PriceSection, TemperatureSection, ToolChoiceSection,
};
use super::node::{Content, Node};
use super::replaying::{BindingSection, PaceWord};
use super::source::{Findings, Mark};
use super::values::{Count, Timeout, Word};

choice! {
    /// Who asks: `scripted` plays listed calls, `replay` those of the accepted baseline; `anthropic`, `openai` and `ollama` are models
    /// behind the APIs of these names; `command` is a program with an MCP client of its own.
    AgentWord for AgentKind {
        "scripted" => AgentKind::Scripted,
        "replay" => AgentKind::Replay,
        "anthropic" => AgentKind::Model(ModelApi::Anthropic),
        "openai" => AgentKind::Model(ModelApi::OpenAiChat),
        "ollama" => AgentKind::Model(ModelApi::Ollama),
        "command" => AgentKind::Command,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentKind {
    Scripted,
    Replay,
    /// `openai` stands for its first API.
    Model(ModelApi),
    Command,
}

section! {
    /// Who asks.
    AgentSection, checked by model_agent::check {
        /// The kind of agent; `scripted` unless given.
        kind: Option<At<AgentWord>>,
        /// The calls a scripted agent plays; those of `expected_trajectory` unless given.
        calls: Option<At<Vec<CallSection>>>,
        /// When a replay makes the next call; `fast` unless given.
        pace: Option<PaceWord>,
        /// How long a replay asks again for the recorded final answer of a poll; 30s unless given, and no longer than half of the scenario's timeout.
        poll_timeout: Option<At<Timeout>>,
        /// What calls of the baseline take from earlier answers, in place of what was found when recording.
        bindings: Option<Vec<BindingSection>>,
        /// The model, as its API names it; for a command, what `${model}` stands for. `${NAME}` stands for an environment variable, here and in `base_url` and `extra_headers`.
        model: Option<At<Word>>,
        /// Which of OpenAI's APIs is spoken; `chat` unless given.
        api: Option<At<ApiWord>>,
        /// Where the API is, with or without `/v1`; the vendor's own address unless given.
        base_url: Option<At<Word>>,
        /// The environment variable that holds the key: `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` unless given, and none where `base_url` is not the vendor's.
        api_key_env: Option<At<Word>>,
        /// The system prompt.
        system: Option<At<String>>,
        /// How much chance the model is allowed; 0 unless given. With `null` none is sent, for models that take none.
        temperature: Option<At<TemperatureSection>>,
        /// How many tokens one answer of the model may have.
        max_tokens: Option<At<Count>>,
        /// How many requests to the model there may be; 50 unless given.
        max_steps: Option<At<Count>>,
        /// Whether the model has to call tools.
        tool_choice: Option<At<ToolChoiceSection>>,
        /// How long the model may take for one answer; 120s unless given. For a command, how long it may take for all of its work.
        timeout: Option<At<Timeout>>,
        /// How long one tool call may take; overrides that of the scenario.
        tool_timeout: Option<At<Timeout>>,
        /// How many characters of a tool's answer the model is shown; all unless given.
        max_result_chars: Option<At<Count>>,
        /// Headers sent with every request to the model.
        extra_headers: Option<Headers>,
        /// Members added to the body of every request to the model, in place of those of the same name; `null` takes one out.
        extra_body: Option<At<Object>>,
        /// What the model costs. Claude Code reckons it in US dollars where this is left out.
        price: Option<At<PriceSection>>,
        /// The program of an agent that is a command, and its arguments. `${prompt}` stands for what the user wants, `${mcp_config}` for the path of the file that says where the servers are (for Codex, for what it says), `${model}` for the model, and other names for environment variables. Without `${prompt}`, the prompt comes on stdin. A relative path with a `/` belongs to this file's folder. May be left out for an agent whose `format` has a usual command line.
        command: Option<At<Vec<At<String>>>>,
        /// What the command prints; `generic` unless given.
        format: Option<At<FormatWord>>,
        /// The folder the command works in, relative to this file; an empty one, made for the run, unless given. Gemini CLI takes no other.
        cwd: Option<At<Word>>,
        /// Environment variables for the command, besides the few it inherits and those of its `format`'s vendor.
        env: Option<Headers>,
    }
}

section! {
    /// One call of a script.
    CallSection {
        /// `mcp__<server>__<tool>`, or the tool's bare name where only one server has it.
        tool: At<Word>,
        /// The arguments; `{{calls.0.json:/id}}` stands for a part of an earlier answer.
        args: Option<Object>,
        /// Whether the run ends when the call fails; the name of the operation decides unless given.
        critical: Option<bool>,
        /// The call is meant to fail.
        is_error: Option<bool>,
    }
}

section! {
    /// One call that is expected of a run.
    ExpectedSection {
        /// What the call is for, in a word.
        action: Option<String>,
        /// `mcp__<server>__<tool>`, or the tool's bare name where only one server has it.
        tool: At<Word>,
        /// The arguments that are expected.
        args: Option<Object>,
        /// Remarks for the reader.
        notes: Option<String>,
        /// The call is meant to fail.
        is_error: Option<bool>,
        /// Whether the run ends when the call fails; the name of the operation decides unless given.
        critical: Option<bool>,
    }
}

/// Something that must hold for a run to pass.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub(super) enum CriterionSection {
    /// This text appears in what a server answered, in what the agent said or in the full name of a tool that was called; case does not matter. A recording that does not have it shows that it is prose: it is not checked then.
    Text(At<Word>),
    /// A condition.
    Condition(ConditionCriterion),
}

#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(super) enum ConditionCriterion {
    /// This text must appear there, whatever was recorded.
    Text(Word),
    /// This tool was called.
    ToolCalled(At<Word>),
    /// This tool was not called.
    ToolNeverCalled(At<Word>),
}

impl Decode for CriterionSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(_) => Decode::decode(node, findings).map(Self::Text),
            Content::Map(_) => {
                let known = ["text", "tool_called", "tool_never_called"];
                let (key, value) = only_entry(node, &known, findings)?;
                Some(Self::Condition(match key {
                    "text" => ConditionCriterion::Text(Decode::decode(value, findings)?),
                    "tool_called" => {
                        ConditionCriterion::ToolCalled(Decode::decode(value, findings)?)
                    }
                    _ => ConditionCriterion::ToolNeverCalled(Decode::decode(value, findings)?),
                }))
            }
            _ => {
                wrong_kind(node, "text or a map with one condition", findings);
                None
            }
        }
    }
}

impl CriterionSection {
    /// The tool it names, as written.
    pub(super) fn tool(&self) -> Option<(Mark, &str)> {
        match self {
            Self::Text(_) | Self::Condition(ConditionCriterion::Text(_)) => None,
            Self::Condition(
                ConditionCriterion::ToolCalled(tool) | ConditionCriterion::ToolNeverCalled(tool),
            ) => Some((tool.at, &tool.0)),
        }
    }

    /// A plain text.
    pub(super) fn text(&self) -> Option<&At<Word>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Condition(_) => None,
        }
    }

    /// Whether it decides anything where there is no recording.
    pub(super) fn is_checked(&self) -> bool {
        self.text().is_none_or(|it| !is_prose(&it.0))
    }

    pub(super) fn criterion(&self) -> Criterion {
        match self {
            Self::Text(text) => Criterion::Text(text.0.clone()),
            Self::Condition(ConditionCriterion::Text(text)) => Criterion::Says(text.0.clone()),
            Self::Condition(ConditionCriterion::ToolCalled(tool)) => {
                Criterion::ToolCalled(tool.0.clone())
            }
            Self::Condition(ConditionCriterion::ToolNeverCalled(tool)) => {
                Criterion::ToolNeverCalled(tool.0.clone())
            }
        }
    }
}

impl CallSection {
    pub(super) fn call(&self) -> ScriptedCall {
        ScriptedCall {
            tool: self.tool.0.clone(),
            arguments: self.args.clone().unwrap_or_default(),
            critical: unless_meant(self.critical, self.is_error),
            is_error: self.is_error.unwrap_or(false),
        }
    }
}

/// Whether a call's failure ends the run. One that is meant to fail ends nothing by failing, unless the scenario says so.
fn unless_meant(critical: Option<bool>, is_error: Option<bool>) -> Option<bool> {
    critical.or(is_error.filter(|it| *it).map(|_| false))
}

impl ExpectedSection {
    pub(super) fn expected(&self) -> ExpectedCall {
        ExpectedCall {
            action: self.action.clone(),
            tool: self.tool.0.clone(),
            arguments: self.args.clone().unwrap_or_default(),
            notes: self.notes.clone(),
            is_error: self.is_error.unwrap_or(false),
            critical: self.critical,
        }
    }

    /// The call as a script plays it.
    pub(super) fn call(&self) -> ScriptedCall {
        ScriptedCall {
            tool: self.tool.0.clone(),
            arguments: self.args.clone().unwrap_or_default(),
            critical: unless_meant(self.critical, self.is_error),
            is_error: self.is_error.unwrap_or(false),
        }
    }
}
