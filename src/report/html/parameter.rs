//! The arguments of a call: those that differ in a table, the others as JSON.

use serde_json::{Map, Value};

use crate::method;
use model::comparison::Bound;
use model::published::result::{Parameter, Row};
use model::text::{line, shorten};

use super::answer::pretty;
use super::excerpt::Excerpt;

/// The longest value in the heading of a call, and how much they take together.
const VALUE: usize = 24;
const VALUES: usize = 80;

/// A handed-on value that is at least so long is known again within a longer text.
const TELLING: usize = 4;

/// What a call was asked with.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// The values, as the heading has them: `"Bonn", 7`.
    pub(super) short: String,
    /// Those with another value on the other side.
    pub(super) differing: Vec<ParameterView>,
    /// The others as JSON in one line, and how many they are.
    pub(super) equal: Option<Excerpt>,
    pub(super) equal_count: usize,
}

/// An argument with another value on the other side.
#[derive(Debug)]
pub(super) struct ParameterView {
    pub(super) name: String,
    /// `None` where that side left the argument out.
    pub(super) expected: Option<Excerpt>,
    pub(super) got: Option<Excerpt>,
    /// Why it counts as equal all the same; `None` where it does not.
    pub(super) excused: Option<String>,
}

impl Arguments {
    /// Those of both sides of a row, or of its only one.
    pub(super) fn of_row(row: &Row) -> Self {
        if let Some(arguments) = &row.arguments {
            return Self {
                short: short(arguments.values()),
                ..Self::default()
            };
        }
        let parameters = || row.request.iter().flat_map(|it| &it.parameters);
        let (differing, equal): (Vec<&Parameter>, Vec<&Parameter>) =
            parameters().partition(|it| differs(it));
        let mut differing: Vec<ParameterView> = differing
            .into_iter()
            .map(|it| view(it, &row.bound))
            .collect();
        differing.sort_by_key(|it| it.excused.is_some());
        let value = |it: &Parameter| it.got.clone().or_else(|| it.expected.clone());
        let equal = equal.into_iter();
        let equal: Map<String, Value> = equal
            .filter_map(|it| Some((it.name.clone(), value(it)?)))
            .collect();
        Self {
            short: short(parameters().filter_map(|it| it.got.as_ref())),
            differing,
            ..Self::equal(&equal)
        }
    }

    /// Those of a call that was compared with nothing.
    pub(super) fn recorded(arguments: &Map<String, Value>) -> Self {
        Self {
            short: short(arguments.values()),
            ..Self::equal(arguments)
        }
    }

    fn equal(arguments: &Map<String, Value>) -> Self {
        let json = || serde_json::to_string(arguments).unwrap_or_else(|error| error.to_string());
        Self {
            equal: (!arguments.is_empty()).then(|| Excerpt::plain(&json(), None)),
            equal_count: arguments.len(),
            ..Self::default()
        }
    }
}

/// The beginnings of values, in one line.
fn short<'v>(values: impl Iterator<Item = &'v Value>) -> String {
    let mut all = String::new();
    for value in values {
        if all.len() > VALUES {
            all.push_str(", …");
            break;
        }
        if !all.is_empty() {
            all.push_str(", ");
        }
        all.push_str(&shorten(&value.to_string(), VALUE));
    }
    line(&all).into_owned()
}

/// Whether the two sides have other values, but for those that each got from its own server.
fn differs(parameter: &Parameter) -> bool {
    parameter.method != "bound" && parameter.expected != parameter.got
}

fn view(parameter: &Parameter, bound: &[Bound]) -> ParameterView {
    let counts = parameter.similarity.is_some_and(|it| it < 1.0 - 1e-9);
    let expected = parameter.expected.as_ref().map(text);
    let got = parameter.got.as_ref().map(text);
    let shown = |own: &Option<String>, other: &Option<String>, handed: Vec<[String; 2]>| {
        // A value that the other side does not have is marked as a whole.
        let mut other = other.clone().unwrap_or_default();
        for [there, here] in handed {
            other = other.replace(&there, &here);
        }
        let own = own.as_deref()?;
        Some(if counts {
            Excerpt::against(own, &other, None)
        } else {
            Excerpt::plain(own, None)
        })
    };
    let handed = || bound.iter().filter_map(handed_on);
    let back = handed().map(|[was, now]| [now, was]).collect();
    ParameterView {
        name: parameter.name.clone(),
        expected: shown(&expected, &got, back),
        got: shown(&got, &expected, handed().collect()),
        excused: (!counts).then(|| method::words(&parameter.method).to_owned()),
    }
}

/// The two values of something handed on from an earlier response, as they are found in JSON; `None` where they are too short to be known.
fn handed_on(bound: &Bound) -> Option<[String; 2]> {
    let now = bound.current.as_ref()?;
    let text = |it: &Value| match it {
        Value::String(text) if text.chars().nth(TELLING - 1).is_some() => text.clone(),
        _ => it.to_string(),
    };
    let both = [text(&bound.baseline), text(now)];
    both.iter().all(|it| it.len() >= TELLING).then_some(both)
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
