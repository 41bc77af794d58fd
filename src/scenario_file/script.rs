//! Who asks and what is expected: `agent`, `expected_trajectory` and `success_criteria`.

use schemars::JsonSchema;

use crate::model::Object;
use crate::model::scenario::{Criterion, ExpectedCall, ScriptedCall};

use super::decode::{At, Decode, choice, only_entry, section, wrong_kind};
use super::node::{Content, Node};
use super::replaying::{BindingSection, PaceWord};
use super::source::{Findings, Mark};
use super::values::{Timeout, Word};

choice! {
    /// Who asks: `scripted` plays listed calls, `replay` those of the accepted baseline.
    AgentWord for AgentKind {
        "scripted" => AgentKind::Scripted,
        "replay" => AgentKind::Replay,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentKind {
    Scripted,
    Replay,
}

section! {
    /// Who asks.
    AgentSection {
        /// The kind of agent; `scripted` unless given.
        kind: Option<AgentWord>,
        /// The calls a scripted agent plays; those of `expected_trajectory` unless given.
        calls: Option<At<Vec<CallSection>>>,
        /// When a replay makes the next call; `fast` unless given.
        pace: Option<PaceWord>,
        /// How long a replay asks again for the recorded final answer of a poll; 30s unless given, and no longer than half of the scenario's timeout.
        poll_timeout: Option<At<Timeout>>,
        /// What calls of the baseline take from earlier answers, in place of what was found when recording.
        bindings: Option<Vec<BindingSection>>,
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
    /// This text appears in a message, a tool's name, an argument or an answer; case does not matter.
    Text(Word),
    /// A condition on the calls.
    Calls(CallsCriterion),
}

#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(super) enum CallsCriterion {
    /// This tool was called.
    ToolCalled(At<Word>),
    /// This tool was not called.
    ToolNeverCalled(At<Word>),
}

impl Decode for CriterionSection {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(_) => Word::decode(node, findings).map(Self::Text),
            Content::Map(_) => {
                let known = ["tool_called", "tool_never_called"];
                let (key, value) = only_entry(node, &known, findings)?;
                let tool = Decode::decode(value, findings)?;
                Some(Self::Calls(match key {
                    "tool_called" => CallsCriterion::ToolCalled(tool),
                    _ => CallsCriterion::ToolNeverCalled(tool),
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
            Self::Text(_) => None,
            Self::Calls(
                CallsCriterion::ToolCalled(tool) | CallsCriterion::ToolNeverCalled(tool),
            ) => Some((tool.at, &tool.0)),
        }
    }

    pub(super) fn criterion(&self) -> Criterion {
        match self {
            Self::Text(text) => Criterion::Text(text.0.clone()),
            Self::Calls(CallsCriterion::ToolCalled(tool)) => Criterion::ToolCalled(tool.0.clone()),
            Self::Calls(CallsCriterion::ToolNeverCalled(tool)) => {
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
            critical: self.critical,
        }
    }
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
            // A call that is meant to fail ends nothing by failing, unless the scenario says so.
            critical: self
                .critical
                .or(self.is_error.filter(|it| *it).map(|_| false)),
        }
    }
}
