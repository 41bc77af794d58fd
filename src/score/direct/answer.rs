//! Changes to an answer on its way through a proxy.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::place::change;
use super::text::text;
use crate::values::same::same;
use model::call::{Answer, Outcome};
use model::digits;

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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::findings;
    use model::call::{Answer, Failure, FailureKind, Outcome};
    use model::digits;

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
}
