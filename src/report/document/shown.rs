//! What is shown of calls: how they ended, and values to a depth.

use serde_json::{Map, Value};

use model::call::CallStatus;
use model::text::shorten;
use model::trajectory::Outcome;

/// The longest failure text kept in the document; the trajectory holds the whole.
const ERROR_CHARS: usize = 500;

/// How deep a value may be nested in the document. JSON readers commonly stop at 128 levels, the document's own
/// levels included; what lies deeper is replaced by a remark, so that one deeply nested argument does not make
/// the whole document unreadable. The trajectory holds the whole.
pub(super) const VALUE_DEPTH: usize = 64;

pub(super) fn outcome(outcome: &Outcome) -> (CallStatus, Option<String>) {
    let error = match outcome {
        Outcome::Answer(answer) if answer.is_error => Some(answer.text()),
        Outcome::Answer(answer) => answer.breach.clone(),
        Outcome::Failure(failure) => Some(failure.message.clone()),
    };
    let error = error.map(|it| shorten(&it, ERROR_CHARS).into_owned());
    (outcome.into(), error)
}

/// The value down to a depth, and a remark in place of what lies deeper.
pub(super) fn shallow(value: &Value, depth: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => "(nested too deep to show)".into(),
        Value::Array(items) => items.iter().map(|it| shallow(it, depth - 1)).collect(),
        Value::Object(members) => Value::Object(shallow_object(members, depth - 1)),
        leaf => leaf.clone(),
    }
}

pub(super) fn shallow_object(members: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    members
        .iter()
        .map(|(key, value)| (key.clone(), shallow(value, depth)))
        .collect()
}
