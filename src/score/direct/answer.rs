//! Changes to an answer on its way through a proxy.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::text::excerpt;
use crate::values::embedded::embedded;
use crate::values::same::same;
use model::digits;
use model::{Answer, Outcome};

/// What became of an outcome on its way, a sentence each; empty where it was passed on as it was.
pub(super) fn findings(was: &Outcome, now: &Outcome) -> Vec<String> {
    match (was, now) {
        (Outcome::Answer(was), Outcome::Answer(now)) => answer(was, now),
        (Outcome::Answer(was), Outcome::Failure(it)) => {
            let what = if was.is_error {
                "what the tool said of its error was lost"
            } else {
                "the answer was lost"
            };
            vec![format!("{what}: {}", it.message)]
        }
        (Outcome::Failure(it), Outcome::Answer(now)) if !now.is_error => {
            vec![format!("an error became a success: {}", it.message)]
        }
        (Outcome::Failure(_), _) => Vec::new(),
    }
}

fn answer(was: &Answer, now: &Answer) -> Vec<String> {
    let mut findings = Vec::new();
    match (was.is_error, now.is_error) {
        (true, false) => findings.push("an error became a success".to_owned()),
        (false, true) => findings.push("a success became an error".to_owned()),
        _ => {}
    }
    findings.extend(text(&was.text(), &now.text()));
    let name = "structuredContent";
    match (structured(was), structured(now)) {
        (Some(_), None) => findings.push(format!("`{name}` was lost")),
        (Some(was), Some(now)) => findings.extend(change(name, &was, &now)),
        _ => {}
    }
    findings.extend(blocks(was, now));
    let lost = was.other.keys().filter(|it| !now.other.contains_key(*it));
    findings.extend(lost.map(|it| format!("`{it}` was lost")));
    findings
}

/// The structured content with its long integers digit for digit.
fn structured(answer: &Answer) -> Option<Cow<'_, Value>> {
    let structured = answer.structured_content.as_ref()?;
    Some(digits::filled(
        structured,
        &digits::integers(&answer.digits),
    ))
}

/// What became of the blocks that are no text, such as images.
fn blocks(was: &Answer, now: &Answer) -> Vec<String> {
    let (was, now) = (by_kind(was), by_kind(now));
    let findings = was.iter().filter_map(|(kind, blocks)| {
        let count = blocks.len();
        let kept = now.get(kind).map_or(&[][..], Vec::as_slice);
        let lost = count.saturating_sub(kept.len());
        if lost > 0 {
            return Some(format!("{lost} of {count} `{kind}` blocks were lost"));
        }
        let changed = blocks.iter().zip(kept).filter(|(a, b)| !same(a, b)).count();
        (changed > 0).then(|| format!("{changed} of {count} `{kind}` blocks were changed"))
    });
    findings.collect()
}

/// The blocks that are no text, by their kind.
fn by_kind(answer: &Answer) -> BTreeMap<&str, Vec<&Value>> {
    let mut blocks: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for block in &answer.content {
        let kind = block.get("type").and_then(Value::as_str);
        if let Some(kind) = kind.filter(|it| *it != "text") {
            blocks.entry(kind).or_default().push(block);
        }
    }
    blocks
}

/// How many characters of its own a proxy may add where it cuts an answer, such as how to read on.
const NOTICE: usize = 400;

/// How much of what arrived must be the beginning of what was sent for the rest to have been cut, and not reworded: a fifth.
const KEPT: usize = 5;

/// What became of a text; `None` where it was passed on as it was.
pub(super) fn text(was: &str, now: &str) -> Option<String> {
    if was == now {
        return None;
    }
    let (before, after) = (was.chars().count(), now.chars().count());
    if was.is_empty() {
        return Some(format!(
            "{after} characters were added to an answer without text"
        ));
    }
    if now.is_empty() {
        return Some(format!("all {before} characters of the text were lost"));
    }
    if now.contains(was) {
        return Some(format!(
            "{} characters were put around the text",
            after - before
        ));
    }
    // As a text within JSON.
    let quoted = Value::from(was).to_string();
    if now.contains(&quoted[1..quoted.len() - 1]) {
        return Some(format!(
            "the text was wrapped in JSON, {after} characters for {before}"
        ));
    }
    let (document, written) = (embedded(was), embedded(now));
    if document.zip(written).is_some_and(|(a, b)| same(&a, &b)) {
        return Some(format!(
            "the same JSON was written otherwise, {after} characters for {before}"
        ));
    }
    let begins = was.chars().zip(now.chars());
    let kept = begins.take_while(|(a, b)| a == b).count();
    if after < before && after <= kept + NOTICE && kept * KEPT >= after {
        let added = after - kept;
        let notice = if added == 0 {
            String::new()
        } else {
            format!(", and {added} of the proxy's own added")
        };
        return Some(format!("cut after {kept} of {before} characters{notice}"));
    }
    let (was, now) = excerpt::of_texts(was, now);
    Some(format!("reworded: {was} became {now}"))
}

/// How deep the place is looked for.
const DEPTH: usize = 8;

/// What became of a value of this name, at the first place in it that differs: `` `structuredContent/total` was changed: 12 became 13 ``.
/// `None` where both are the same.
pub(super) fn change(name: &str, was: &Value, now: &Value) -> Option<String> {
    if same(was, now) {
        return None;
    }
    let mut place = name.to_owned();
    let (mut was, mut now) = (was, now);
    for _ in 0..DEPTH {
        let Some((step, before, after)) = first_difference(was, now) else {
            break;
        };
        place.push('/');
        place.push_str(&step);
        match (before, after) {
            (Some(before), Some(after)) => (was, now) = (before, after),
            (Some(_), None) => return Some(format!("`{place}` was lost")),
            (None, it) => {
                let added = it.map(excerpt::of).unwrap_or_default();
                return Some(format!("`{place}` was added: {added}"));
            }
        }
    }
    if let (Some(before), Some(after)) = (was.as_str(), now.as_str())
        && !before.is_empty()
        && after.contains(before)
    {
        return Some(format!("`{place}` got more text"));
    }
    let (was, now) = excerpt::of_values(was, now);
    Some(format!("`{place}` was changed: {was} became {now}"))
}

/// The first member in which two objects, or two lists, differ, with what it is in each.
fn first_difference<'v>(
    was: &'v Value,
    now: &'v Value,
) -> Option<(String, Option<&'v Value>, Option<&'v Value>)> {
    let differs = |a: Option<&Value>, b: Option<&Value>| !a.zip(b).is_some_and(|(a, b)| same(a, b));
    match (was, now) {
        (Value::Object(was), Value::Object(now)) => {
            let kept = was.iter().map(|(key, it)| (key, Some(it), now.get(key)));
            let added = now.iter().filter(|(key, _)| !was.contains_key(*key));
            let mut members = kept.chain(added.map(|(key, it)| (key, None, Some(it))));
            let (key, a, b) = members.find(|(_, a, b)| differs(*a, *b))?;
            Some((key.clone(), a, b))
        }
        (Value::Array(was), Value::Array(now)) => {
            let longest = was.len().max(now.len());
            let mut members = (0..longest).map(|at| (at, was.get(at), now.get(at)));
            let (at, a, b) = members.find(|(_, a, b)| differs(*a, *b))?;
            Some((at.to_string(), a, b))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::change;
    use super::text;
    use serde_json::{Value, json};

    use super::findings;
    use model::digits;
    use model::{Answer, Failure, FailureKind, Outcome};

    fn answer(text: &str) -> Answer {
        Answer {
            content: vec![json!({ "type": "text", "text": text })],
            ..Answer::default()
        }
    }

    #[test]
    fn what_became_of_an_outcome_is_reported() {
        let failed = Answer {
            is_error: true,
            ..answer("no such file")
        };
        let lost = Failure {
            kind: FailureKind::Timeout,
            message: "no answer within 60s".to_owned(),
            code: None,
            data: None,
        };
        let structured = |it: Value| Answer {
            structured_content: Some(it),
            ..answer("1")
        };
        let long = |digits: &str| {
            let mut it = digits::parse(&format!(r#"{{"id":{digits}}}"#)).unwrap_or_default();
            let digits = digits::take(&mut it);
            Answer {
                digits,
                ..structured(it)
            }
        };
        let pictured = |data: &str| {
            let image = json!({ "type": "image", "data": data });
            Answer {
                content: vec![image.clone(), image],
                ..Answer::default()
            }
        };
        let cases = [
            (
                Outcome::Answer(failed.clone()),
                Outcome::Answer(answer("no such file")),
                vec!["an error became a success"],
            ),
            (
                Outcome::Answer(answer("done")),
                Outcome::Answer(Answer {
                    is_error: true,
                    ..answer("done")
                }),
                vec!["a success became an error"],
            ),
            (
                Outcome::Answer(answer("done")),
                Outcome::Failure(lost.clone()),
                vec!["the answer was lost: no answer within 60s"],
            ),
            (
                Outcome::Failure(lost.clone()),
                Outcome::Answer(answer("")),
                vec!["an error became a success: no answer within 60s"],
            ),
            (
                Outcome::Failure(lost.clone()),
                Outcome::Answer(failed.clone()),
                vec![],
            ),
            (
                Outcome::Answer(structured(json!({ "a": 1 }))),
                Outcome::Answer(answer("1")),
                vec!["`structuredContent` was lost"],
            ),
            (
                Outcome::Answer(structured(json!({ "a": 1 }))),
                Outcome::Answer(structured(json!({ "a": 2 }))),
                vec!["`structuredContent/a` was changed: 1 became 2"],
            ),
            (
                Outcome::Answer(structured(json!({ "a": 1.0, "b": 2 }))),
                Outcome::Answer(structured(json!({ "b": 2, "a": 1 }))),
                vec![],
            ),
            (
                Outcome::Answer(long("123456789012345678901")),
                Outcome::Answer(long("123456789012345678902")),
                vec![
                    "`structuredContent/id` was changed: 123456789012345678901 became 123456789012345678902",
                ],
            ),
            (
                Outcome::Answer(Answer {
                    other: json!({ "_meta": {} })
                        .as_object()
                        .cloned()
                        .unwrap_or_default(),
                    ..answer("done")
                }),
                Outcome::Answer(answer("done")),
                vec!["`_meta` was lost"],
            ),
            (
                Outcome::Answer(failed.clone()),
                Outcome::Failure(lost.clone()),
                vec!["what the tool said of its error was lost: no answer within 60s"],
            ),
            (
                Outcome::Answer(pictured("cat")),
                Outcome::Answer(pictured("dog")),
                vec!["2 of 2 `image` blocks were changed"],
            ),
            (
                Outcome::Answer(pictured("cat")),
                Outcome::Answer(Answer::default()),
                vec!["2 of 2 `image` blocks were lost"],
            ),
        ];
        for (was, now, expected) in cases {
            let found = findings(&was, &now);
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        }
    }

    #[test]
    fn what_became_of_a_text_is_distinguished() {
        let long = "abcdefghij".repeat(20);
        let cases = [
            (long.clone(), long.clone(), None),
            (
                long.clone(),
                long[..50].to_owned(),
                Some("cut after 50 of 200 characters"),
            ),
            (
                long.clone(),
                format!("{}… read on", &long[..50]),
                Some("cut after 50 of 200 characters, and 9 of the proxy's own added"),
            ),
            (
                "now".to_owned(),
                "Result: now".to_owned(),
                Some("8 characters were put around the text"),
            ),
            (
                "say \"hi\"".to_owned(),
                json!({ "text": "say \"hi\"" }).to_string(),
                Some("the text was wrapped in JSON, 21 characters for 8"),
            ),
            (
                r#"{"a":1,"b":[2]}"#.to_owned(),
                r#"{ "b": [2.0], "a": 1 }"#.to_owned(),
                Some("the same JSON was written otherwise, 22 characters for 15"),
            ),
            (
                "12 of 12".to_owned(),
                "12 of 13".to_owned(),
                Some("reworded: "),
            ),
            (
                "no".to_owned(),
                String::new(),
                Some("all 2 characters of the text were lost"),
            ),
            (
                String::new(),
                "yes".to_owned(),
                Some("3 characters were added to an answer without text"),
            ),
        ];
        for (was, now, expected) in cases {
            let found = text(&was, &now);
            match (&found, expected) {
                (Some(found), Some(expected)) => assert!(found.starts_with(expected), "{found}"),
                _ => assert_eq!(found.as_deref(), expected),
            }
        }
    }

    #[test]
    fn a_change_names_the_place_where_it_is() {
        let cases = [
            (
                json!({ "a": 1, "b": "x" }),
                json!({ "b": "x", "a": 1.0 }),
                None,
            ),
            (json!(1), json!([]), Some("`v` was changed: 1 became []")),
            (
                json!({ "a": [1, { "b": "old" }] }),
                json!({ "a": [1, { "b": "new" }] }),
                Some(r#"`v/a/1/b` was changed: "old" became "new""#),
            ),
            (json!([1, 2]), json!([1]), Some("`v/1` was lost")),
            (
                json!({ "a": 1 }),
                json!({ "a": 1, "b": [2] }),
                Some("`v/b` was added: [2]"),
            ),
            (
                json!({ "a": "Reads" }),
                json!({ "a": "Reads (files)" }),
                Some("`v/a` got more text"),
            ),
        ];
        for (was, now, expected) in cases {
            assert_eq!(change("v", &was, &now).as_deref(), expected, "{was} {now}");
        }
    }

    #[test]
    fn a_deep_place_is_named_as_far_as_it_is_looked_for() {
        let deep = |it: Value| (0..300).fold(it, |inner, _| Value::Array(vec![inner]));
        let sentence = change("v", &deep(json!(1)), &deep(json!(2))).unwrap_or_default();
        assert!(
            sentence.starts_with("`v/0/0/0/0/0/0/0/0` was changed: …[[["),
            "{sentence}"
        );
        // What is alike on both sides is cut, so that what differs is seen.
        assert!(
            sentence.contains("[1]") && sentence.contains("[2]"),
            "{sentence}"
        );
    }
}
