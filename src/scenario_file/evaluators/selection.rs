//! Which answers an evaluator means.

use crate::model::evaluator::AnswerOf;
use crate::scenario_file::decode::At;
use crate::scenario_file::decode::values::{Count, Word};

/// The answers of a tool, or of one call.
pub(super) fn answer_of(tool: Option<&At<Word>>, call: Option<&At<Count>>) -> AnswerOf {
    AnswerOf {
        tool: tool.map(|it| it.0.clone()),
        call: call.map(|it| it.value.0 as usize),
    }
}
