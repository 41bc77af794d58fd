//! A live value found in an answer, and put in the place of a recorded one.

use serde_json::Value;

use crate::values::embedded::embedded;
use crate::values::number;
use crate::values::path::value_at_mut;
use model::digits;
use model::{Answer, Binding, Object};

use super::extract;
use super::extract::{occurrences, replaced, text_of};
use super::place::{self, at};

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

/// Words that stand where a value is missing.
const MISSING: [&str; 4] = ["undefined", "null", "None", "NaN"];
/// One character this often in a row is no id.
const REPEATED: usize = 8;

/// The value a live answer has where the recorded answer has the bound one; `None` when there is no text and no number there, or one that
/// stands for a missing value.
pub fn resolve(binding: &Binding, recorded: &Answer, live: &Answer) -> Option<Value> {
    let was = at(recorded, &binding.from.path)?;
    let now = place::in_other(recorded, live, &binding.from.path)?;
    let (was, now_text) = (text_of(&was)?, text_of(&now)?);
    let bound = text_of(&binding.value)?;
    if was == bound {
        return (!is_missing(&now_text)).then_some(now);
    }
    let piece = extract::extract(&was, &bound, &now_text);
    piece.filter(|it| !is_missing(it)).map(Value::from)
}

/// Whether a text stands for a missing value: nothing, `undefined`, a UUID of zeros.
fn is_missing(text: &str) -> bool {
    let mut signs = text.chars().filter(|it| *it != '-');
    let first = signs.next();
    let is_one = text.len() >= REPEATED && signs.all(|it| Some(it) == first);
    is_one || text.trim().is_empty() || MISSING.contains(&text)
}
