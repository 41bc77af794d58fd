//! Checking an answer against what is expected of it.

use serde_json::Value;

use crate::model::json_path::{JsonPath, Part};
use crate::model::{Answer, FailureKind, Outcome};
use crate::scenario_file::servers::{AtPath, Expected};
use crate::text::beginning;

/// How much of a found value is shown, in characters.
const SHOWN: usize = 80;

/// Whether a call was answered as expected.
///
/// # Errors
///
/// What is missing, in a fragment.
pub fn of_call(expected: &Expected, outcome: &Outcome) -> Result<(), String> {
    let answer = match outcome {
        Outcome::Answer(answer) => answer,
        Outcome::Failure(failure) => {
            let is_meant = expected.is_error && failure.kind == FailureKind::Rpc;
            let message = &failure.message;
            return match &expected.text {
                _ if !is_meant => Err(format!("{}: {message}", failure.kind.words())),
                None if expected.at.is_none() => Ok(()),
                Some(text) if expected.at.is_none() && message.contains(text) => Ok(()),
                _ => Err(format!("another error than the one expected: {message}")),
            };
        }
    };
    match (answer.is_error, expected.is_error) {
        (true, false) => return Err("it answers with an error".to_owned()),
        (false, true) => return Err("it answers, and an error is expected".to_owned()),
        _ => {}
    }
    let mut texts = vec![answer.text()];
    texts.extend(answer.structured_content.as_ref().map(Value::to_string));
    holds(expected, &texts, &documents(answer))
}

/// The same of the body of a page.
pub(super) fn of_page(expected: &Expected, body: &str) -> Result<(), String> {
    let document = serde_json::from_str(body).ok();
    holds(expected, &[body.to_owned()], document.as_slice())
}

/// What an answer says, for people.
pub(super) fn message(answer: &Answer) -> String {
    match (&answer.structured_content, answer.text()) {
        (Some(structured), text) if text.is_empty() => structured.to_string(),
        (_, text) if !text.is_empty() => text,
        _ => Value::from(answer.content.clone()).to_string(),
    }
}

/// The JSON of an answer: its structured content, and its text where that is JSON – all of it, or a block of it.
fn documents(answer: &Answer) -> Vec<Value> {
    let mut documents: Vec<Value> = answer.structured_content.iter().cloned().collect();
    if let Ok(whole) = serde_json::from_str(&answer.text()) {
        documents.push(whole);
    } else {
        let blocks = answer.content.iter();
        let texts = blocks.filter_map(|it| it.get("text").and_then(Value::as_str));
        documents.extend(texts.filter_map(|it| serde_json::from_str::<Value>(it).ok()));
    }
    documents
}

fn holds(expected: &Expected, texts: &[String], documents: &[Value]) -> Result<(), String> {
    if let Some(wanted) = &expected.text
        && !texts.iter().any(|it| it.contains(wanted.as_str()))
    {
        return Err(format!("the answer does not hold `{wanted}`"));
    }
    let Some((path, wanted)) = &expected.at else {
        return Ok(());
    };
    if documents.is_empty() && *wanted != AtPath::Exists(false) {
        return Err("the answer is not JSON".to_owned());
    }
    let found: Vec<&Value> = documents.iter().flat_map(|it| path.find(it)).collect();
    let is_there = found.iter().any(|it| !it.is_null());
    match wanted {
        AtPath::Equals(wanted) if found.iter().any(|it| equal(it, wanted)) => Ok(()),
        AtPath::Equals(wanted) => Err(match found.first() {
            Some(first) => format!(
                "{path} is {}, and {} is expected",
                excerpt(first),
                excerpt(wanted)
            ),
            None => format!("there is nothing at {path}"),
        }),
        AtPath::Exists(wanted) if *wanted == is_there => Ok(()),
        AtPath::Exists(true) => Err(format!("there is nothing at {path}")),
        AtPath::Exists(false) => Err(format!("there still is something at {path}")),
        AtPath::MinItems(least) => {
            let counts = documents.iter().map(|it| items(path, it));
            let count = counts.max().unwrap_or_default();
            match count {
                _ if count >= *least => Ok(()),
                0 => Err(format!("{path} has no items")),
                _ => Err(format!("{path} has {count} of at least {least} items")),
            }
        }
    }
}

/// How many items there are at a path: in the longest of the lists it leads to, or where it names the items themselves, of those.
fn items(path: &JsonPath, document: &Value) -> usize {
    let found = path.find(document);
    if path.parts().last() == Some(&Part::Any) {
        return found.iter().filter(|it| !it.is_null()).count();
    }
    let lengths = found.iter().map(|it| match it {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    });
    let longest = lengths.max().unwrap_or_default();
    let is_list = |it: &&Value| it.is_array() || it.is_object();
    if path.is_pattern() && !found.iter().any(is_list) {
        return found.iter().filter(|it| !it.is_null()).count();
    }
    longest
}

/// Whether two values are the same, numbers by value.
fn equal(a: &Value, b: &Value) -> bool {
    let is_float = |it: &Value| it.as_i64().is_none() && it.as_u64().is_none();
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) if is_float(a) || is_float(b) => (x - y).abs() < f64::EPSILON,
        _ => a == b,
    }
}

fn excerpt(value: &Value) -> String {
    format!("`{}`", beginning(&value.to_string(), SHOWN))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::of_call;
    use crate::model::json_path::JsonPath;
    use crate::model::{Answer, FailureKind, Outcome};
    use crate::scenario_file::servers::AtPath;
    use crate::scenario_file::servers::Expected;

    fn expected(is_error: bool, text: Option<&str>, at: Option<(&str, AtPath)>) -> Expected {
        Expected {
            is_error,
            text: text.map(str::to_owned),
            at: at.map(|(path, at)| (JsonPath::parse(path).unwrap(), at)),
        }
    }

    fn text(text: &str, is_error: bool) -> Outcome {
        Outcome::Answer(Answer {
            is_error,
            content: vec![json!({ "type": "text", "text": text })],
            ..Answer::default()
        })
    }

    fn structured(value: Value) -> Outcome {
        Outcome::Answer(Answer {
            structured_content: Some(value),
            ..Answer::default()
        })
    }

    #[test]
    fn answers_hold_what_is_expected_or_say_what_is_missing() {
        use AtPath::{Equals, Exists, MinItems};
        let rpc = |kind| Outcome::failed(kind, "still connecting");
        let list = text(
            r#"{"tools": [{"name": "a"}, {"name": "b"}], "n": 2, "none": null}"#,
            false,
        );
        let at = |path, it| expected(false, None, Some((path, it)));
        let cases = [
            (expected(false, None, None), text("", false), ""),
            (
                expected(false, None, None),
                text("no", true),
                "it answers with an error",
            ),
            (
                expected(false, Some("no"), None),
                text("no", true),
                "it answers with an error",
            ),
            (expected(true, Some("no"), None), text("no", true), ""),
            (
                expected(true, None, None),
                text("yes", false),
                "an error is expected",
            ),
            (
                expected(true, Some("connecting"), None),
                rpc(FailureKind::Rpc),
                "",
            ),
            (
                expected(true, Some("gone"), None),
                rpc(FailureKind::Rpc),
                "another error",
            ),
            (
                expected(true, None, None),
                rpc(FailureKind::Timeout),
                "no answer in time",
            ),
            (
                expected(false, None, None),
                rpc(FailureKind::Rpc),
                "still connecting",
            ),
            (expected(false, Some("tools"), None), list.clone(), ""),
            (
                expected(false, Some("else"), None),
                list.clone(),
                "does not hold `else`",
            ),
            (
                expected(false, Some("deep"), None),
                structured(json!({ "a": "deep" })),
                "",
            ),
            (at("/tools", MinItems(2)), list.clone(), ""),
            (
                at("/tools", MinItems(3)),
                list.clone(),
                "has 2 of at least 3 items",
            ),
            (at("/none", MinItems(1)), list.clone(), "has no items"),
            (at("/n", MinItems(1)), list.clone(), "has no items"),
            (at("$.tools[*]", MinItems(2)), list.clone(), ""),
            (at("$.tools[*].name", MinItems(3)), list.clone(), "has 2 of"),
            (at("$.tools[*].name", Equals(json!("b"))), list.clone(), ""),
            (at("/n", Equals(json!(2.0))), list.clone(), ""),
            (
                at("/n", Equals(json!(3))),
                list.clone(),
                "/n is `2`, and `3` is expected",
            ),
            (at("/none", Equals(Value::Null)), list.clone(), ""),
            (at("/none", Exists(true)), list.clone(), "nothing at /none"),
            (at("/none", Exists(false)), list.clone(), ""),
            (
                at("/tools/0", Exists(false)),
                list,
                "there still is something",
            ),
            (
                at("/a", Exists(true)),
                text("plain", false),
                "the answer is not JSON",
            ),
            (at("/a", Exists(true)), structured(json!({ "a": 0 })), ""),
        ];
        for (expected, outcome, problem) in cases {
            match of_call(&expected, &outcome) {
                Ok(()) => assert_eq!(problem, "", "{expected:?}"),
                Err(message) => assert!(
                    !problem.is_empty() && message.contains(problem),
                    "{expected:?}: {message}"
                ),
            }
        }
    }
}
