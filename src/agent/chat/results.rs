//! Results of calls and schemas of arguments in the form that models take.

use serde_json::{Value, json};

use crate::llm::message::Part;
use crate::model::{Failure, FailureKind, Object, Outcome};

/// The pictures that all APIs take.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The parts of an outcome, with at most this many characters of text.
pub(super) fn parts(outcome: &Outcome, most: Option<usize>) -> Vec<Part> {
    let mut parts = match outcome {
        Outcome::Answer(answer) => {
            let mut parts: Vec<Part> = answer.content.iter().map(part).collect();
            if let (true, Some(structured)) = (parts.is_empty(), &answer.structured_content) {
                parts.push(Part::Text(structured.to_string()));
            }
            parts
        }
        Outcome::Failure(failure) => vec![Part::Text(failure_text(failure))],
    };
    if let Some(most) = most {
        shorten(&mut parts, most);
    }
    parts
}

fn part(block: &Value) -> Part {
    let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
    let known = match text(block, "type").as_deref() {
        Some("text") => text(block, "text").map(Part::Text),
        Some("image" | "audio") => text(block, "data").zip(text(block, "mimeType")).map(binary),
        Some("resource") => block.get("resource").and_then(|it| {
            let mime_type = text(it, "mimeType").unwrap_or_default();
            let blob = text(it, "blob").map(|data| binary((data, mime_type)));
            text(it, "text").map(Part::Text).or(blob)
        }),
        _ => None,
    };
    // A block that is not understood is passed on as JSON.
    known.unwrap_or_else(|| Part::Text(block.to_string()))
}

fn binary((data, mime_type): (String, String)) -> Part {
    if IMAGES.contains(&mime_type.as_str()) {
        return Part::Image { mime_type, data };
    }
    let kind = if mime_type.is_empty() {
        "unknown type"
    } else {
        &mime_type
    };
    Part::Text(format!(
        "[{} characters of Base64, not shown: {kind}]",
        data.len()
    ))
}

fn failure_text(failure: &Failure) -> String {
    let code = failure.code.map(|it| format!(" {it}")).unwrap_or_default();
    let words = match failure.kind {
        FailureKind::NotSent => "The call was not made",
        kind => kind.words(),
    };
    match &failure.data {
        Some(data) => format!("{words}{code}: {} {data}", failure.message),
        None => format!("{words}{code}: {}", failure.message),
    }
}

/// Keeps the first characters of all texts together, and says so.
fn shorten(parts: &mut Vec<Part>, most: usize) {
    let length = |it: &Part| match it {
        Part::Text(text) => text.chars().count(),
        Part::Image { .. } => 0,
    };
    let all: usize = parts.iter().map(length).sum();
    if all <= most {
        return;
    }
    let mut left = most;
    for part in parts.iter_mut() {
        if let Part::Text(text) = part {
            let kept: String = text.chars().take(left).collect();
            left -= kept.chars().count();
            *text = kept;
        }
    }
    parts.retain(|it| !matches!(it, Part::Text(text) if text.is_empty()));
    parts.push(Part::Text(format!(
        "[cut: {most} of {all} characters are shown]"
    )));
}

/// What vendors refuse at the top of a schema, with the whole request.
const BRANCHES: [&str; 6] = ["anyOf", "oneOf", "allOf", "not", "enum", "if"];

/// A tool's schema as a model is offered it, and what was taken off its top. The parameters of all branches are offered; those of all that
/// must hold stay required.
pub(super) fn offered(served: Option<&Value>) -> (Value, Vec<&'static str>) {
    let Some(Value::Object(schema)) = served else {
        return (json!({ "type": "object", "properties": {} }), Vec::new());
    };
    let mut offered = schema.clone();
    let mut taken_off = Vec::new();
    for name in BRANCHES {
        let Some(branches) = offered.shift_remove(name) else {
            continue;
        };
        taken_off.push(name);
        for branch in branches.as_array().into_iter().flatten() {
            add(&mut offered, &branch["properties"]);
            let required = branch["required"].as_array().filter(|_| name == "allOf");
            if let Some(all) = required {
                let own = offered.entry("required").or_insert(json!([]));
                if let Some(own) = own.as_array_mut() {
                    let new: Vec<Value> =
                        all.iter().filter(|it| !own.contains(it)).cloned().collect();
                    own.extend(new);
                }
            }
        }
    }
    if !taken_off.is_empty() {
        for name in ["then", "else"] {
            if let Some(branch) = offered.shift_remove(name) {
                add(&mut offered, &branch["properties"]);
            }
        }
        offered.insert("type".to_owned(), json!("object"));
    }
    (Value::Object(offered), taken_off)
}

/// Adds the parameters that a schema does not have yet.
fn add(schema: &mut Object, more: &Value) {
    let Some(more) = more.as_object() else {
        return;
    };
    let own = schema.entry("properties").or_insert(json!({}));
    if let Some(own) = own.as_object_mut() {
        for (name, it) in more {
            own.entry(name.as_str()).or_insert_with(|| it.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Part, offered, parts};
    use crate::model::{Answer, Outcome};

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[test]
    fn every_kind_of_block_reaches_the_model() {
        let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
        let answer = Outcome::Answer(Answer {
            content: vec![
                json!({ "type": "text", "text": "hello" }),
                json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" }),
                json!({ "type": "image", "data": "aGk=", "mimeType": "image/tiff" }),
                json!({ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" }),
                json!({ "type": "resource", "resource": { "uri": "a", "text": "inside" } }),
                json!({ "type": "resource", "resource": { "uri": "a", "blob": "aGk=" } }),
                link.clone(),
            ],
            ..Answer::default()
        });
        assert_eq!(
            parts(&answer, None),
            [
                text("hello"),
                Part::Image {
                    mime_type: "image/png".to_owned(),
                    data: "aGk=".to_owned()
                },
                text("[4 characters of Base64, not shown: image/tiff]"),
                text("[4 characters of Base64, not shown: audio/wav]"),
                text("inside"),
                text("[4 characters of Base64, not shown: unknown type]"),
                text(&link.to_string()),
            ]
        );
        let structured = Outcome::Answer(Answer {
            structured_content: Some(json!({ "a": 1 })),
            ..Answer::default()
        });
        assert_eq!(parts(&structured, None), [text(r#"{"a":1}"#)]);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let answer = Outcome::Answer(Answer {
            content: vec![
                json!({ "type": "text", "text": "äöü" }),
                json!({ "type": "text", "text": "abcdef" }),
                json!({ "type": "text", "text": "gone" }),
            ],
            ..Answer::default()
        });
        assert_eq!(
            parts(&answer, Some(5)),
            [
                text("äöü"),
                text("ab"),
                text("[cut: 5 of 13 characters are shown]")
            ]
        );
        assert_eq!(parts(&answer, Some(13)).len(), 3);
    }

    #[test]
    fn branches_on_top_become_parameters() {
        let cases = [
            (
                json!({ "type": "object", "properties": { "a": { "anyOf": [{}] } } }),
                json!({ "type": "object", "properties": { "a": { "anyOf": [{}] } } }),
                0,
            ),
            (
                json!({
                    "properties": { "a": { "type": "string" } },
                    "anyOf": [
                        { "properties": { "a": {}, "b": {} }, "required": ["b"] },
                        { "properties": { "c": {} }, "required": ["c"] },
                    ],
                }),
                json!({ "properties": { "a": { "type": "string" }, "b": {}, "c": {} }, "type": "object" }),
                1,
            ),
            (
                json!({ "required": ["a"], "allOf": [{ "properties": { "b": {} }, "required": ["b", "a"] }] }),
                json!({ "required": ["a", "b"], "properties": { "b": {} }, "type": "object" }),
                1,
            ),
            (
                json!({ "if": {}, "then": { "properties": { "a": {} } }, "else": {}, "not": {} }),
                json!({ "properties": { "a": {} }, "type": "object" }),
                2,
            ),
        ];
        for (served, expected, taken_off) in cases {
            let (found, off) = offered(Some(&served));
            assert_eq!((&found, off.len()), (&expected, taken_off), "{served}");
        }
        let empty: [Option<&Value>; 2] = [None, Some(&json!([]))];
        for it in empty {
            assert_eq!(offered(it).0, json!({ "type": "object", "properties": {} }));
        }
    }
}
