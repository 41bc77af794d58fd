//! Calls that were made again and again while something was waited for.

use std::collections::HashSet;

use crate::values::mask;
use crate::values::same::{self, View};
use model::trajectory::{Outcome, ToolCall};

/// An answer that a poll was given while it waited, and that was none of those it was given while the baseline was recorded: one of those,
/// and this one. Numbers may count up or down while something is waited for.
pub(super) fn other_try<'a>(
    recorded: &[&'a ToolCall],
    now: &[&'a ToolCall],
) -> Option<(&'a ToolCall, &'a ToolCall)> {
    let first = recorded.first()?;
    let known: HashSet<(bool, String)> = recorded.iter().map(|it| without_numbers(it)).collect();
    let other = now
        .iter()
        .find(|it| !known.contains(&without_numbers(it)))?;
    Some((first, other))
}

/// What an answer says, apart from what varies by nature and from its numbers.
fn without_numbers(call: &ToolCall) -> (bool, String) {
    let said = match &call.outcome {
        Outcome::Answer(answer) => match &answer.structured_content {
            Some(structured) => structured.to_string(),
            None => answer.text(),
        },
        Outcome::Failure(failure) => failure.message.clone(),
    };
    let words = mask::text(&said).replace(|it: char| it.is_ascii_digit(), "");
    (call.outcome.is_failure(), words)
}

/// What an answer says, apart from what varies by nature.
pub(crate) fn view(call: &ToolCall) -> (bool, Vec<u64>) {
    let hash = |it| same::hash(it, View::Masked);
    match &call.outcome {
        Outcome::Answer(answer) => {
            let content = answer.content.iter().map(hash);
            let structured = answer.structured_content.iter().map(hash);
            (
                call.outcome.is_failure(),
                content.chain(structured).collect(),
            )
        }
        Outcome::Failure(failure) => (true, vec![hash(&failure.message.clone().into())]),
    }
}
