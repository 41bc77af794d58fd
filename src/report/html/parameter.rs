//! The arguments of a call as a table: name, expected, got, similarity, method.

use serde_json::{Map, Value};

use crate::method;
use model::published::result::Parameter;

use super::answer::pretty;
use super::excerpt::Excerpt;
use model::points::score;

/// One row of the table.
#[derive(Debug)]
pub(super) struct ParameterView {
    pub(super) name: String,
    /// `None` where that side left the argument out.
    pub(super) expected: Option<Excerpt>,
    pub(super) got: Option<Excerpt>,
    /// As text; empty for a call that is shown alone.
    pub(super) similarity: String,
    pub(super) method: String,
    pub(super) differs: bool,
}

/// The rows for a pair of requests, those that differ first.
pub(super) fn compared(parameters: &[Parameter]) -> Vec<ParameterView> {
    let mut views: Vec<ParameterView> = parameters.iter().map(view).collect();
    views.sort_by_key(|it| !it.differs);
    views
}

/// The rows for a call that is shown alone.
pub(super) fn recorded(arguments: &Map<String, Value>) -> Vec<ParameterView> {
    let view = |(name, value): (&String, &Value)| ParameterView {
        name: name.clone(),
        expected: None,
        got: Some(Excerpt::plain(&text(value), None)),
        similarity: String::new(),
        method: String::new(),
        differs: false,
    };
    arguments.iter().map(view).collect()
}

fn view(parameter: &Parameter) -> ParameterView {
    let differs = parameter.similarity.is_some_and(|it| it < 1.0 - 1e-9);
    let expected = parameter.expected.as_ref().map(text);
    let got = parameter.got.as_ref().map(text);
    let shown = |own: &Option<String>, other: &Option<String>| {
        let own = own.as_ref()?;
        // A value that the other side does not have is marked as a whole.
        let other = other.as_deref().unwrap_or_default();
        Some(if differs {
            Excerpt::against(own, other, None)
        } else {
            Excerpt::plain(own, None)
        })
    };
    ParameterView {
        name: parameter.name.clone(),
        expected: shown(&expected, &got),
        got: shown(&got, &expected),
        similarity: match parameter.similarity {
            Some(similarity) => score(similarity),
            None => "not counted".to_owned(),
        },
        method: method::words(&parameter.method).to_owned(),
        differs,
    }
}

/// A value as JSON, so that the text `10` and the number 10 look different.
fn text(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 3 || items.iter().any(is_nested) => pretty(value),
        Value::Object(_) => pretty(value),
        _ => value.to_string(),
    }
}

fn is_nested(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}
