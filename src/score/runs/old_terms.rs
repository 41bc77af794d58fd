//! A recording in the terms of the one before it: what varies anyway has the value that it had there, wherever it stands.

use std::collections::HashMap;

use serde_json::Value;

use crate::ids::binding::{full_paths, leaves};
use crate::ids::id_translation::IdTranslation;
use crate::text::times::is_time;
use crate::values::path::covers_path;
use model::comparison::{Comparison, Pair, Row};
use model::trajectory::{Answer, ToolCall, Trajectory};

/// What the values of a new recording are called in the accepted one, which has these calls: the ids and, with `times`, the times that differ
/// without being a difference.
pub(super) fn old_terms(
    accepted: &Trajectory,
    recorded: &Trajectory,
    comparison: &Comparison,
    times: bool,
) -> IdTranslation {
    let (before, now): (Vec<&ToolCall>, Vec<&ToolCall>) =
        (accepted.calls().collect(), recorded.calls().collect());
    let answer = |calls: &[&'_ ToolCall], number: usize| {
        let call = calls.get(number.wrapping_sub(1))?;
        call.outcome.answer().cloned()
    };
    let mut values = Vec::new();
    for row in &comparison.rows {
        let Row::Pair(pair) = row else { continue };
        if let (Some(was), Some(is)) = (answer(&before, pair.baseline), answer(&now, pair.current))
        {
            values.extend(other_values(&was, &is, pair));
        }
    }
    let is_time = |it: &Value| it.as_str().is_some_and(is_time);
    values.retain(|(_, is)| times || !is_time(is));
    IdTranslation::new(values.iter().map(|(was, is)| (was, is)))
}

/// The values of two answers, the old one first, that differ without being a difference.
fn other_values(was: &Answer, is: &Answer, pair: &Pair) -> Vec<(Value, Value)> {
    let before: HashMap<String, Value> = (leaves(was).into_iter())
        .map(|it| (it.path, it.value))
        .collect();
    let differs = |path: &str| {
        let differences = || pair.response.differences.iter();
        let mut places = full_paths(is, path).into_iter();
        places.any(|place| differences().any(|it| covers_path(&it.path, &place)))
    };
    let mut values = Vec::new();
    for leaf in leaves(is) {
        let Some(was) = before.get(&leaf.path).filter(|was| **was != leaf.value) else {
            continue;
        };
        if differs(&leaf.path) {
            continue;
        }
        match (was.as_str(), leaf.value.as_str()) {
            (Some(was), Some(is)) if is.contains(char::is_whitespace) => {
                let words = [was, is].map(|it| it.split_whitespace().collect::<Vec<_>>());
                if words[0].len() == words[1].len() {
                    let words = words[0].iter().zip(&words[1]);
                    values.extend(words.map(|(was, is)| (Value::from(*was), Value::from(*is))));
                }
            }
            _ => values.push((was.clone(), leaf.value)),
        }
    }
    values
}
