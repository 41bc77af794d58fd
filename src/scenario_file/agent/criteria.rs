//! The `success_criteria` section: what must hold for a run to pass.

use crate::model::scenario::{Criterion, is_prose};
use crate::scenario_file::decode::values::Word;
use crate::scenario_file::decode::{At, one_key, shapes};
use crate::scenario_file::yaml::source::Mark;

shapes! {
    /// Something that must hold for a run to pass.
    CriterionSection, "text or a map with one condition" {
        /// This text appears in what a server answered, in what the agent said or in the full name of a tool that was called; case does not matter. A recording that does not have it shows that it is prose: it is not checked then.
        Text => Text(At<Word>),
        /// A condition.
        Map => Condition(ConditionCriterion),
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
    }
}

impl CriterionSection {
    /// The tool it names, as written.
    pub(in crate::scenario_file) fn tool(&self) -> Option<(Mark, &str)> {
        match self {
            Self::Text(_) | Self::Condition(ConditionCriterion::Text(_)) => None,
            Self::Condition(
                ConditionCriterion::ToolCalled(tool) | ConditionCriterion::ToolNeverCalled(tool),
            ) => Some((tool.at, &tool.0)),
        }
    }

    /// A plain text.
    pub(in crate::scenario_file) fn text(&self) -> Option<&At<Word>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Condition(_) => None,
        }
    }

    /// Whether it decides anything where there is no recording.
    pub(in crate::scenario_file) fn is_checked(&self) -> bool {
        self.text().is_none_or(|it| !is_prose(&it.0))
    }

    pub(in crate::scenario_file) fn criterion(&self) -> Criterion {
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
