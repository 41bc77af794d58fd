//! What one take left behind for a later one.

use std::collections::HashMap;

use serde_json::Value;

use crate::digits;
use crate::model::placeholder;
use crate::model::rules::Rules;
use crate::model::trajectory::{Outcome, ToolCall, Trajectory};
use crate::score::pairing::call::only_reads;
use crate::score::text::excerpt;
use crate::score::values::embedded::embedded;
use crate::score::values::number;
use crate::score::values::same::DEPTH;

use super::takes::Take;

/// Shorter texts and smaller numbers are too common to show where they come from.
const DISTINCTIVE_LENGTH: usize = 3;
const DISTINCTIVE_NUMBER: f64 = 100.0;

/// Something that an effect of one take made, and that a read of a later take found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehind {
    /// The number of the read.
    pub call: usize,
    pub tool: String,
    /// The effect of the earlier take.
    pub effect: String,
    /// What it left, shortened.
    pub value: String,
}

/// Distinctive values, and how often each occurs.
type Values = HashMap<String, usize>;

/// What a later take found that an effect of an earlier one had made: a value of the effect's arguments or of its answer that the same answer
/// of the earlier take did not hold, or not as often.
pub(super) fn left_behind(
    first: &Trajectory,
    calls: &[(usize, &ToolCall)],
    others: &[Take<'_>],
    rules: &Rules,
) -> Option<LeftBehind> {
    let reads = |call: &ToolCall| only_reads(call, &first.catalogue, rules);
    let made: Vec<(&ToolCall, Values)> = (calls.iter())
        .filter(|(_, call)| !reads(call))
        .map(|(_, call)| {
            let mut values = Values::new();
            call.arguments
                .values()
                .for_each(|it| distinctive(it, DEPTH, &mut values));
            of_outcome(&call.outcome, &mut values);
            (*call, values)
        })
        .collect();
    if made.is_empty() {
        return None;
    }
    for (at, (number, call)) in calls.iter().enumerate() {
        let mut before = Values::new();
        of_outcome(&call.outcome, &mut before);
        let mut asked = Values::new();
        for it in call.arguments.values() {
            distinctive(it, DEPTH, &mut asked);
        }
        for take in others {
            // The answer as it was, because a value that is bound differs in each take and is not left behind.
            let Some((_, later)) = take.said.get(at).filter(|(_, it)| it.tool == call.tool) else {
                continue;
            };
            let mut found = Values::new();
            of_outcome(&later.outcome, &mut found);
            // Values of the call's own arguments may be repeated in its answer.
            let is_fresh = |(value, count): &(&String, &usize)| {
                before.get(*value) < Some(count)
                    && !asked.contains_key(*value)
                    && !placeholder::holds(value)
            };
            let mut fresh: Vec<&String> = found.iter().filter(is_fresh).map(|it| it.0).collect();
            fresh.sort_unstable();
            let source = fresh.into_iter().find_map(|value| {
                let effect = made.iter().find(|(_, values)| values.contains_key(value))?;
                Some((value, effect.0))
            });
            if let Some((value, effect)) = source {
                return Some(LeftBehind {
                    call: *number,
                    tool: call.full_name(),
                    effect: effect.full_name(),
                    value: excerpt::of_text(value),
                });
            }
        }
    }
    None
}

fn of_outcome(outcome: &Outcome, values: &mut Values) {
    if let Outcome::Answer(answer) = outcome {
        let all = answer.content.iter().chain(&answer.structured_content);
        all.for_each(|it| distinctive(it, DEPTH, values));
    }
}

/// Adds to `values` what a value contains that is not likely to be there by chance.
fn distinctive(value: &Value, depth: usize, values: &mut Values) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    if let Some(digits) = digits::of(value) {
        *values.entry(digits.to_owned()).or_default() += 1;
        return;
    }
    match value {
        Value::String(text) => match embedded(text) {
            Some(json) => distinctive(&json, depth, values),
            None if text.chars().count() >= DISTINCTIVE_LENGTH => {
                *values.entry(text.clone()).or_default() += 1;
                // In prose, what an effect made is found by its name.
                let words =
                    text.split(|it: char| !it.is_alphanumeric() && !matches!(it, '-' | '_' | '.'));
                for name in
                    words.filter(|it| it.chars().count() >= DISTINCTIVE_LENGTH && *it != text)
                {
                    *values.entry(name.to_owned()).or_default() += 1;
                }
            }
            None => {}
        },
        Value::Number(it) if number::float(it).abs() >= DISTINCTIVE_NUMBER => {
            *values.entry(it.to_string()).or_default() += 1;
        }
        Value::Array(items) => items.iter().for_each(|it| distinctive(it, depth, values)),
        Value::Object(members) => members
            .values()
            .for_each(|it| distinctive(it, depth, values)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
