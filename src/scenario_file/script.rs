//! What is played and what is expected: the calls of a script, `expected_trajectory` and `success_criteria`.

use schemars::JsonSchema;

use crate::model::Object;
use crate::model::scenario::{Criterion, ExpectedCall, ScriptedCall, is_prose};

use super::decode::{At, Decode, only_entry, section, wrong_kind};
use super::node::{Content, Node};
use super::source::{Findings, Mark};
use super::values::Word;

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
