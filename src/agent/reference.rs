//! References of a script into earlier answers: `{{calls.0.json:/id}}`, `{{calls.0.text}}` and `{{calls.0.text:key=(\w+)}}`.
//!
//! `calls.N` is the N-th call of the script, counted from 0. `json:` takes a JSON Pointer (RFC 6901) into the answer's structured
//! content or, without it, into its text parsed as JSON; `text:` a regular expression, whose first group, or else all it matches, is meant. An argument that is one reference and nothing else takes the value with its
//! type; inside a longer text it is written out. What a variable's value says is a text, whatever it looks like.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::model::Object;
use crate::model::scenario::FilledText;
use crate::model::trajectory::{Answer, Outcome, Trajectory};
use crate::text::beginning;

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{\s*calls\.(\d+)\.(?:json:([^}]*?)|text(?::([^}]*?))?)\s*\}\}")
        .expect("a valid pattern")
});

/// Fills in all references of a value.
///
/// # Errors
///
/// A sentence naming the first reference that leads nowhere.
pub(super) fn fill(
    value: &mut Value,
    filled: &[FilledText],
    answers: &[Option<Answer>],
) -> Result<(), String> {
    fill_at(value, &mut String::new(), filled, answers)
}

/// The same for a value at this place in the arguments.
fn fill_at(
    value: &mut Value,
    at: &mut String,
    filled: &[FilledText],
    answers: &[Option<Answer>],
) -> Result<(), String> {
    let mut step = |name: &str, value: &mut Value| {
        let length = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let done = fill_at(value, at, filled, answers);
        at.truncate(length);
        done
    };
    match value {
        Value::String(text) => {
            let of_variables = filled.iter().find(|it| it.at == *at);
            let of_variables = of_variables.map_or(&[][..], |it| &it.values);
            if let Some(filled) = fill_text(text, of_variables, answers)? {
                *value = filled;
            }
            Ok(())
        }
        Value::Array(items) => {
            let mut items = items.iter_mut().enumerate();
            items.try_for_each(|(index, it)| step(&index.to_string(), it))
        }
        Value::Object(members) => members.iter_mut().try_for_each(|(name, it)| step(name, it)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Fills in the references of expected arguments with what the calls of a run were answered; those that lead nowhere stay as they are.
pub fn fill_references(
    arguments: &mut Object,
    of_variables: &[FilledText],
    trajectory: &Trajectory,
) {
    let answers: Vec<Option<Answer>> = trajectory
        .calls()
        .map(|call| match &call.outcome {
            Outcome::Answer(answer) => Some(answer.clone()),
            Outcome::Failure(_) => None,
        })
        .collect();
    for (name, argument) in arguments.iter_mut() {
        let mut filled = argument.clone();
        let mut at = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        if fill_at(&mut filled, &mut at, of_variables, &answers).is_ok() {
            *argument = filled;
        }
    }
}

fn fill_text(
    text: &str,
    of_variables: &[Range<usize>],
    answers: &[Option<Answer>],
) -> Result<Option<Value>, String> {
    let references: Vec<_> = between(text, of_variables)
        .flat_map(|(start, piece)| REFERENCE.captures_iter(piece).map(move |it| (start, it)))
        .collect();
    let Some((_, first)) = references.first() else {
        return Ok(None);
    };
    if first[0].len() == text.len() {
        return look_up(first, answers).map(Some);
    }
    let mut filled = String::new();
    let mut rest = 0;
    for (start, reference) in &references {
        let whole = reference.get(0).expect("group 0 always matches");
        filled.push_str(&text[rest..start + whole.start()]);
        match look_up(reference, answers)? {
            Value::String(text) => filled.push_str(&text),
            other => filled.push_str(&other.to_string()),
        }
        rest = start + whole.end();
    }
    filled.push_str(&text[rest..]);
    Ok(Some(Value::String(filled)))
}

/// The pieces of a text that are not within these ranges, each with where it begins.
fn between<'t>(text: &'t str, ranges: &[Range<usize>]) -> impl Iterator<Item = (usize, &'t str)> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|it| it.end));
    let ends = ranges.iter().map(|it| it.start).chain([text.len()]);
    starts
        .zip(ends)
        .filter_map(|(start, end)| Some((start, text.get(start..end)?)))
}

fn look_up(reference: &Captures<'_>, answers: &[Option<Answer>]) -> Result<Value, String> {
    let whole = &reference[0];
    let answer = reference[1]
        .parse()
        .ok()
        .and_then(|index: usize| answers.get(index))
        .ok_or_else(|| {
            format!(
                "{whole} refers to a call that has not been made yet (calls are counted from 0)"
            )
        })?
        .as_ref()
        .ok_or_else(|| format!("{whole} refers to a call that got no answer"))?;
    if let Some(pattern) = reference.get(3) {
        return found_in(&answer.text(), pattern.as_str(), whole);
    }
    let Some(pointer) = reference.get(2) else {
        return Ok(Value::String(answer.text()));
    };
    let parsed;
    let json = if let Some(structured) = &answer.structured_content {
        structured
    } else {
        let text = answer.text();
        parsed = serde_json::from_str(&text).map_err(|_| {
            format!(
                "{whole} refers to an answer that is not JSON: {}",
                excerpt(&text)
            )
        })?;
        &parsed
    };
    json.pointer(pointer.as_str()).cloned().ok_or_else(|| {
        format!(
            "{whole} finds nothing in the answer {}",
            excerpt(&json.to_string())
        )
    })
}

/// What a pattern finds in the text of an answer: its first group, or without one, all of it.
fn found_in(text: &str, pattern: &str, whole: &str) -> Result<Value, String> {
    let pattern =
        Regex::new(pattern).map_err(|_| format!("{whole} holds no regular expression"))?;
    let found = pattern
        .captures(text)
        .ok_or_else(|| format!("{whole} finds nothing in the answer {}", excerpt(text)))?;
    let found = found.get(1).or(found.get(0));
    Ok(Value::from(found.map_or("", |it| it.as_str())))
}

fn excerpt(text: &str) -> String {
    format!("`{}`", beginning(text, 120))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fill;
    use crate::model::scenario::FilledText;
    use crate::model::trajectory::Answer;

    #[test]
    fn values_of_variables_are_no_references() {
        let answers = [Some(Answer {
            content: vec![json!({ "type": "text", "text": "said" })],
            ..Answer::default()
        })];
        let text = "{{calls.0.text}}{{calls.0.text}}-{{calls.0.text}}";
        let one = |values| {
            let at = "/a~1b/0".to_owned();
            let mut value = json!({ "a/b": [text], "other": text });
            fill(&mut value, &[FilledText { at, values }], &answers).unwrap();
            assert_eq!(value["other"], "saidsaid-said");
            value["a/b"][0].as_str().unwrap().to_owned()
        };
        assert_eq!(
            one(vec![0..16, 33..49]),
            "{{calls.0.text}}said-{{calls.0.text}}"
        );
        assert_eq!(
            one(vec![16..32, 33..49]),
            "said{{calls.0.text}}-{{calls.0.text}}"
        );
        assert_eq!(one(std::iter::once(0..49).collect()), text);
    }

    #[test]
    fn references_are_filled_in() {
        let text = |text: &str| Answer {
            content: vec![json!({ "type": "text", "text": text })],
            ..Answer::default()
        };
        let answers = [
            Some(text(r#"{"id": 7, "tags": ["a/b"]}"#)),
            Some(text("plain")),
            None,
            Some(Answer {
                structured_content: Some(json!({ "id": "s" })),
                ..text(r#"{"id": "t"}"#)
            }),
        ];
        let cases = [
            (json!("{{calls.0.json:/id}}"), Ok(json!(7))),
            (json!("{{ calls.0.json:/tags/0 }}"), Ok(json!("a/b"))),
            (
                json!({ "a": ["id-{{calls.0.json:/id}}-{{calls.1.text}}"] }),
                Ok(json!({ "a": ["id-7-plain"] })),
            ),
            (json!("{{calls.3.json:/id}}"), Ok(json!("s"))),
            (json!("{{calls.1.text:l(.)}}"), Ok(json!("a"))),
            (json!("{{calls.1.text:[il]n}}"), Ok(json!("in"))),
            (
                json!("{{calls.1.text:nothing}}"),
                Err("finds nothing in the answer `plain`"),
            ),
            (json!("no reference"), Ok(json!("no reference"))),
            (
                json!("{{calls.0.json:/nope}}"),
                Err("finds nothing in the answer"),
            ),
            (json!("{{calls.1.json:/id}}"), Err("is not JSON: `plain`")),
            (json!("{{calls.2.text}}"), Err("got no answer")),
            (json!("{{calls.9.text}}"), Err("has not been made yet")),
        ];
        for (mut value, expected) in cases {
            let shown = value.to_string();
            match (fill(&mut value, &[], &answers), expected) {
                (Ok(()), Ok(expected)) => assert_eq!(value, expected, "{shown}"),
                (Err(problem), Err(part)) => assert!(problem.contains(part), "{shown}: {problem}"),
                (got, expected) => panic!("{shown}: {got:?} instead of {expected:?}"),
            }
        }
    }
}
