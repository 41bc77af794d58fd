//! Replaces a recorded value by a live one.

use serde_json::Value;

use crate::values::embedded::embedded;
use crate::values::number;
use model::Object;
use model::binding::Binding;
use model::digits;

use super::place::steps;
use super::within::{occurrences, replaced, text_of};

/// The argument a JSON pointer names.
pub(crate) fn value_at<'a>(arguments: &'a Object, path: &str) -> Option<&'a Value> {
    let steps = steps(path);
    let (first, rest) = steps.split_first()?;
    rest.iter()
        .try_fold(arguments.get(first)?, |value, step| match value {
            Value::Object(members) => members.get(step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
}

pub(crate) fn value_at_mut<'a>(arguments: &'a mut Object, path: &str) -> Option<&'a mut Value> {
    let steps = steps(path);
    let (first, rest) = steps.split_first()?;
    rest.iter()
        .try_fold(arguments.get_mut(first)?, |value, step| match value {
            Value::Object(members) => members.get_mut(step),
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        })
}

/// Puts a value into the arguments in place of the recorded one that is bound there. `false` when they do not hold that one.
///
/// A text stays a text and a number, where it can, a number; a part of a text is replaced wherever it stands in it.
pub fn fill(arguments: &mut Object, binding: &Binding, live: &Value) -> bool {
    let Some(argument) = value_at_mut(arguments, &binding.path) else {
        return false;
    };
    let (Some(recorded), Some(by)) = (text_of(&binding.value), text_of(live)) else {
        return false;
    };
    if text_of(argument).is_some_and(|it| it == recorded) {
        *argument = match argument {
            Value::String(_) if digits::of(argument).is_none() => by.into(),
            _ => number::of_text(&by).unwrap_or_else(|| live.clone()),
        };
        return true;
    }
    let Value::String(text) = argument else {
        return false;
    };
    let by = if embedded(text).is_some() {
        escaped(&by)
    } else {
        by
    };
    let filled = replaced(text, &recorded, &by);
    let found = filled.is_some();
    if let Some(filled) = filled {
        *text = filled;
    }
    found
}

/// A text as it stands within quotes in JSON.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Whether an argument is a value, or is a text that holds it.
pub(super) fn is_filled_with(argument: &Value, value: &Value) -> bool {
    let (Some(argument), Some(value)) = (text_of(argument), text_of(value)) else {
        return false;
    };
    argument == value || occurrences(&argument, &value).next().is_some()
}
