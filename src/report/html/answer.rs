//! The outcome of a call, as a page shows it.

use serde_json::Value;

use crate::model::Object;
use crate::model::trajectory::{Answer, Failure, Outcome};
use crate::report::bytes;

use super::excerpt::Excerpt;

/// One call on one side.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) outcome: &'static str,
    pub(super) failed: bool,
    pub(super) duration: Option<String>,
    pub(super) parts: Vec<PartView>,
    /// In place of the parts, where the answer is not at hand.
    pub(super) remark: Option<String>,
}

/// The longest text that is tried as JSON, in bytes; of a longer one only the beginning is shown, as it came.
const LONGEST_JSON: usize = 1_000_000;

/// One piece of an answer before it is laid beside the other side's.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// What it is: `text`, `text (JSON)`, `image`.
    label: String,
    /// Its original length, in words; empty where the text says so itself.
    length: String,
    text: String,
}

impl Part {
    fn new(label: impl Into<String>, text: String) -> Self {
        Self {
            label: label.into(),
            length: length(&text),
            text,
        }
    }

    fn json(label: impl Into<String>, value: &Value) -> Self {
        Self::new(label, pretty(value))
    }

    /// A remark in place of binary data: `image/png, 12.3 KB`.
    fn binary(label: impl Into<String>, mime: Option<&str>, base64: Option<&str>) -> Self {
        let data = base64.unwrap_or_default();
        let padding = data.bytes().rev().take_while(|it| *it == b'=').count();
        let bytes = (data.len() / 4 * 3).saturating_sub(padding);
        Self {
            label: label.into(),
            length: String::new(),
            text: format!(
                "{}, {}",
                mime.unwrap_or("unknown type"),
                bytes::words(bytes)
            ),
        }
    }
}

/// One piece of an answer, ready to show.
#[derive(Debug)]
pub(super) struct PartView {
    pub(super) label: String,
    /// How long it is, in words.
    pub(super) length: String,
    pub(super) excerpt: Excerpt,
}

/// The parts of an outcome. With `other`, what that one does not have is marked.
pub(super) fn parts(
    outcome: &Outcome,
    other: Option<&Outcome>,
    whole: Option<&str>,
) -> Vec<PartView> {
    let others = other.map(outcome_parts).unwrap_or_default();
    outcome_parts(outcome)
        .into_iter()
        .enumerate()
        .map(|(index, part)| {
            // A part is compared with the part at the same index, unless that is of another kind: then everything would be marked.
            let counterpart = others.get(index).filter(|it| it.label == part.label);
            let excerpt = match counterpart {
                Some(counterpart) => Excerpt::against(&part.text, &counterpart.text, whole),
                None => Excerpt::plain(&part.text, whole),
            };
            view(part, excerpt)
        })
        .collect()
}

/// The arguments of a call that has nothing beside it.
pub(super) fn arguments(arguments: &Object) -> PartView {
    plain(Part::json("arguments", &Value::Object(arguments.clone())))
}

/// Headers that came with a call, one in a line.
pub(super) fn headers(headers: &[(String, String)]) -> PartView {
    let lines = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    plain(Part::new(
        "passed-on headers",
        lines.collect::<Vec<_>>().join("\n"),
    ))
}

fn plain(part: Part) -> PartView {
    let excerpt = Excerpt::plain(&part.text, None);
    view(part, excerpt)
}

fn view(part: Part, excerpt: Excerpt) -> PartView {
    PartView {
        label: part.label,
        length: part.length,
        excerpt,
    }
}

fn length(text: &str) -> String {
    match text.lines().count() {
        0 => "empty".to_owned(),
        1 => bytes::words(text.len()),
        lines => format!("{lines} lines, {}", bytes::words(text.len())),
    }
}

fn outcome_parts(outcome: &Outcome) -> Vec<Part> {
    match outcome {
        Outcome::Answer(answer) => answer_parts(answer),
        Outcome::Failure(failure) => failure_parts(failure),
    }
}

fn answer_parts(answer: &Answer) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for block in &answer.content {
        let text = block.get("text").and_then(Value::as_str);
        let repeats = text.is_some_and(|it| {
            answer.structured_content.is_some()
                && it.len() <= LONGEST_JSON
                && serde_json::from_str::<Value>(it).ok() == answer.structured_content
        });
        // Servers repeat structured content as text for older clients; seeing it once is enough.
        if !repeats {
            parts.push(block_part(block));
        }
    }
    if let Some(structured) = &answer.structured_content {
        parts.push(Part::json("structured content", structured));
    }
    if parts.is_empty() {
        parts.push(Part::new("empty answer", String::new()));
    }
    parts
}

fn failure_parts(failure: &Failure) -> Vec<Part> {
    let mut text = failure.message.clone();
    if let Some(code) = failure.code {
        text = format!("{code}: {text}");
    }
    let mut parts = vec![Part::new("failure", text)];
    if let Some(data) = &failure.data {
        parts.push(Part::json("error data", data));
    }
    parts
}

fn block_part(block: &Value) -> Part {
    let member = |key: &str| block.get(key).and_then(Value::as_str);
    match member("type") {
        Some("text") => text_part("text", member("text").unwrap_or_default()),
        Some(kind @ ("image" | "audio")) => Part::binary(kind, member("mimeType"), member("data")),
        Some("resource_link") => Part::json("resource link", block),
        Some("resource") => resource_part(block.get("resource").unwrap_or(&Value::Null)),
        _ => Part::json("content of an unknown type", block),
    }
}

fn resource_part(resource: &Value) -> Part {
    let member = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri = member("uri").unwrap_or("without URI");
    match (member("text"), member("blob")) {
        (Some(text), _) => text_part(&format!("resource {uri}"), text),
        (None, blob) => Part::binary(format!("resource {uri}"), member("mimeType"), blob),
    }
}

fn text_part(label: &str, text: &str) -> Part {
    let starts_like_json = text.trim_start().starts_with(['{', '[']);
    if starts_like_json
        && text.len() <= LONGEST_JSON
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        return Part {
            label: format!("{label} (JSON)"),
            length: bytes::words(text.len()),
            text: pretty(&value),
        };
    }
    Part::new(label, text.to_owned())
}

/// A value as indented JSON.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|error| error.to_string())
}
