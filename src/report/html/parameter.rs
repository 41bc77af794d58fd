//! What a call was asked with: in its heading, those arguments that differ, and the others as JSON.

use serde_json::Value;

use model::Object;
use model::published::result::{Parameter, Row};
use model::text::{line, shorten};

use super::excerpt::Excerpt;

/// The longest value in the heading of a call, and how much they take together.
const VALUE: usize = 24;
const VALUES: usize = 80;

/// The arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// The values, as the heading has them: `"Bonn", 7`.
    pub(super) short: String,
    /// Those that are the same on both sides, as JSON in one line, and how many they are.
    pub(super) equal: Option<Excerpt>,
    pub(super) equal_count: usize,
}

impl Arguments {
    /// Those of both sides of a row, or of its only one, which its answer stands with.
    pub(super) fn of_row(row: &Row) -> Self {
        if let Some(arguments) = &row.arguments {
            return Self {
                short: short(arguments.values()),
                ..Self::default()
            };
        }
        let parameters = || row.request.iter().flat_map(|it| &it.parameters);
        let equal = parameters().filter(|it| !differs(it));
        let value = |it: &Parameter| it.got.clone().or_else(|| it.expected.clone());
        let equal = equal.filter_map(|it| Some((it.name.clone(), value(it)?)));
        Self {
            short: short(parameters().filter_map(|it| it.got.as_ref())),
            ..Self::recorded(&equal.collect())
        }
    }

    /// Those of a call that was compared with nothing.
    pub(super) fn recorded(arguments: &Object) -> Self {
        let json = || serde_json::to_string(arguments).unwrap_or_else(|error| error.to_string());
        Self {
            short: short(arguments.values()),
            equal: (!arguments.is_empty()).then(|| Excerpt::plain(&json(), None)),
            equal_count: arguments.len(),
        }
    }
}

/// The arguments with another value on the other side, as either side has them; `None` where there are none.
pub(super) fn differing(row: &Row) -> Option<[Object; 2]> {
    let parameters = row.request.iter().flat_map(|it| &it.parameters);
    let differing: Vec<&Parameter> = parameters.filter(|it| differs(it)).collect();
    let side = |of: fn(&Parameter) -> &Option<Value>| -> Object {
        let values = differing.iter();
        let values = values.filter_map(|it| Some((it.name.clone(), of(it).clone()?)));
        values.collect()
    };
    (!differing.is_empty()).then(|| [side(|it| &it.expected), side(|it| &it.got)])
}

/// Whether the two sides have other values, but for those that each got from its own server.
fn differs(parameter: &Parameter) -> bool {
    parameter.method != "bound" && parameter.expected != parameter.got
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
