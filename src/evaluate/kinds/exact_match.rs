//! Comparisons of an answer, or of the agent's last words, with a value.

use serde_json::Value;

use super::answers;
use crate::evaluate::finding::Finding;
use crate::evaluate::subject::Subject;
use crate::evaluate::tools::call_name;
use crate::model::json_path::JsonPath;
use crate::model::placeholder;
use crate::scenario_file::evaluators::{ExactMatch, Likeness};
use crate::score::same;
use crate::text::shorten;

/// How much of a value is shown, in characters.
const SHOWN: usize = 200;

/// How many differences are listed.
const DIFFERENCES: usize = 20;

pub(in crate::evaluate) fn look(it: &ExactMatch, subject: Subject<'_>) -> Finding {
    let run = subject.trajectory;
    let (name, text, forms) = match &it.answer {
        None => match answers::of(run) {
            Ok(text) => {
                let documents = answers::document(text).into_iter().collect();
                ("final_text".to_owned(), text.to_owned(), vec![documents])
            }
            Err(why) => return Finding::skipped(why),
        },
        Some(of) => {
            let Some(call) = answers::selected(run, of).pop() else {
                return Finding::failed(format!("there is no answer{}", of.words()));
            };
            (
                format!("the answer to {}", call_name(call)),
                answers::text(&call.1.outcome),
                answers::both_forms(&call.1.outcome).to_vec(),
            )
        }
    };
    let path = it.path.as_ref().map(JsonPath::to_string);
    let path = path.unwrap_or_default();
    let readings = readings(it, text, forms);
    let Some(first) = readings.first() else {
        return Finding::failed(format!("{name} has nothing at {path}"));
    };
    let right = readings
        .iter()
        .find(|places| places.iter().all(|found| holds(it, found)));
    if let Some(right) = right {
        return Finding::passed(match right.len() {
            1 => format!("{name} is as expected"),
            places => format!("{name} is as expected at each of {places} places"),
        });
    }
    let is_of_secret = placeholder::holds_any(&it.value);
    if subject.hides_secrets()
        && !is_of_secret
        && readings.iter().flatten().any(placeholder::holds_any)
    {
        return Finding::hidden();
    }
    // Where there is JSON, the place that differs in it tells most.
    let wrong = first.iter().position(|found| !holds(it, found));
    let wrong = wrong.unwrap_or_default();
    let name = match first.len() {
        0 | 1 => name,
        places => format!("{name}, place {} of {places} at {path}", wrong + 1),
    };
    let found = first.get(wrong).unwrap_or(&Value::Null);
    let mut differences = Vec::new();
    if it.likeness == Likeness::Exact {
        differences.push(difference("", &it.value, Some(found)));
    } else {
        let is_partial = it.likeness == Likeness::Partial;
        tell(&it.value, found, is_partial, "", &mut differences);
    }
    let mut differences = differences.into_iter();
    let first = differences.next().unwrap_or_default();
    Finding::failed(format!("{name}: {first}")).with(differences)
}

/// The ways to read what is compared, one of which must be as expected: of an answer its JSON and its text. Where a path leads to several
/// places in one, all of these must be.
fn readings(it: &ExactMatch, text: String, forms: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    if let Some(path) = &it.path {
        let found = forms.iter().map(|documents| {
            let places = documents.iter().flat_map(|it| path.find(it));
            places.cloned().collect()
        });
        return found.filter(|it: &Vec<Value>| !it.is_empty()).collect();
    }
    let text = vec![Value::String(text)];
    let documents = forms.into_iter().flatten().map(|it| vec![it]);
    if it.likeness == Likeness::Exact || it.value.is_string() {
        return std::iter::once(text).chain(documents).collect();
    }
    documents.chain([text]).collect()
}

fn holds(it: &ExactMatch, found: &Value) -> bool {
    match it.likeness {
        Likeness::Exact => written(found) == written(&it.value),
        Likeness::Deep => same(&it.value, found),
        Likeness::Partial => has(&it.value, found),
    }
}

/// A text as it is, any other value as JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether all of a value is in another: members of objects by name; each element of a list has one of its own, in the same order.
pub(super) fn has(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .all(|(key, wanted)| found.get(key).is_some_and(|found| has(wanted, found))),
        (Value::Array(wanted), Value::Array(found)) => {
            let mut left = found.iter();
            wanted
                .iter()
                .all(|wanted| left.any(|found| has(wanted, found)))
        }
        _ => same(wanted, found),
    }
}

/// Where two values differ that should be the same JSON, each place in a sentence.
pub(super) fn differences(wanted: &Value, found: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    tell(wanted, found, false, "", &mut lines);
    lines
}

/// Where two values differ, each place in a sentence.
fn tell(wanted: &Value, found: &Value, is_partial: bool, at: &str, lines: &mut Vec<String>) {
    if lines.len() >= DIFFERENCES {
        return;
    }
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, wanted) in wanted {
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                match found.get(key) {
                    Some(found) => tell(wanted, found, is_partial, &at, lines),
                    None => lines.push(difference(&at, wanted, None)),
                }
            }
            let more = found.keys().filter(|it| !wanted.contains_key(*it));
            for key in more.take(DIFFERENCES).filter(|_| !is_partial) {
                lines.push(format!("{at}/{key} is not expected"));
            }
        }
        (Value::Array(wanted), Value::Array(found)) if !is_partial => {
            for (index, (wanted, found)) in wanted.iter().zip(found).enumerate() {
                tell(wanted, found, is_partial, &format!("{at}/{index}"), lines);
            }
            if wanted.len() != found.len() {
                let place = if at.is_empty() { "the list" } else { at };
                let (expected, got) = (wanted.len(), found.len());
                let noun = if got == 1 { "element" } else { "elements" };
                let verb = if expected == 1 { "is" } else { "are" };
                lines.push(format!(
                    "{place} has {got} {noun}, and {expected} {verb} expected"
                ));
            }
        }
        (wanted, found) => {
            let holds = if is_partial {
                has(wanted, found)
            } else {
                same(wanted, found)
            };
            if !holds {
                lines.push(difference(at, wanted, Some(found)));
            }
        }
    }
}

fn difference(at: &str, wanted: &Value, found: Option<&Value>) -> String {
    let place = if at.is_empty() { "it" } else { at };
    let shown = |value: &Value| shorten(&value.to_string(), SHOWN).into_owned();
    match found {
        Some(found) => format!(
            "{place} is {}, and {} is expected",
            shown(found),
            shown(wanted)
        ),
        None => format!("{place} is missing, and {} is expected", shown(wanted)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{has, tell};

    #[test]
    fn parts_are_found_in_order_and_numbers_by_value() {
        let found = json!({ "a": [1, { "b": 2.0, "c": 3 }, 4], "d": null });
        for (wanted, holds) in [
            (json!({}), true),
            (json!({ "a": [1, 4] }), true),
            (json!({ "a": [4, 1] }), false),
            (json!({ "a": [1, 1] }), false),
            (json!({ "a": [{ "b": 2 }] }), true),
            (json!({ "a": [1.0] }), true),
            (json!({ "d": null }), true),
            (json!({ "e": null }), false),
            (json!([]), false),
        ] {
            assert_eq!(has(&wanted, &found), holds, "{wanted}");
        }
    }

    #[test]
    fn every_place_that_differs_is_listed_once() {
        let mut lines = Vec::new();
        let (wanted, found) = (
            json!({ "a": 1, "b": [1, 2], "c": 3 }),
            json!({ "a": 2, "b": [1], "d": 4 }),
        );
        tell(&wanted, &found, false, "", &mut lines);
        assert_eq!(
            lines,
            [
                "/a is 2, and 1 is expected",
                "/b has 1 element, and 2 are expected",
                "/c is missing, and 3 is expected",
                "/d is not expected"
            ]
        );
    }
}
