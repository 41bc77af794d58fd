//! An answer part by part, and the arguments of a call.
//!
//! Final responses of runs, for the cells of a matrix.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use super::excerpt::Excerpt;
use crate::bytes;
use crate::diff::grouped;
use model::published::result::{Parameter, Row, Scenario};
use model::text::{line, shorten};
use model::{Answer, Failure, Object, Outcome, Step, Trajectory};

/// How many parts of one answer stand for themselves; those beyond are one part together.
const PARTS: usize = 100;
/// The longest text that is tried as JSON, in bytes.
const LONGEST_JSON: usize = 16_000_000;

/// One part of an answer.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// What it is: `text`, `text (JSON)`, `image`.
    pub(super) label: String,
    /// Where it stands in the answer, step by step.
    pub(super) place: Vec<String>,
    pub(super) content: Content<'a>,
}

/// What a part holds.
#[derive(Debug, PartialEq)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    /// A value, and the text it came as, where it did.
    Json(Cow<'a, Value>, Option<&'a str>),
    /// Base64 of a picture of this type.
    Picture(&'static str, &'a str),
    /// Other binary data as base64, and what there is to say of it.
    Binary(&'a str, String),
}

/// The types of pictures that a browser shows and that can hold no program.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl<'a> Part<'a> {
    fn new(label: impl Into<String>, place: &[&str], content: Content<'a>) -> Self {
        Self {
            label: label.into(),
            place: place.iter().map(|it| (*it).to_owned()).collect(),
            content,
        }
    }

    /// A value that is no answer: arguments.
    pub(super) fn value(label: &str, value: Value) -> Self {
        Self::new(label, &[], Content::Json(Cow::Owned(value), None))
    }

    /// A text that is no answer: headers.
    pub(super) fn text(label: &str, text: String) -> Self {
        Self::new(label, &[], Content::Text(Cow::Owned(text)))
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.content, Content::Text(text) if text.trim().is_empty())
    }

    /// How long it is, in words.
    pub(super) fn length(&self) -> String {
        match &self.content {
            Content::Text(text) => length(text),
            Content::Json(_, Some(text)) => bytes::words(text.len()),
            Content::Json(value, None) => bytes::words(value.to_string().len()),
            Content::Picture(kind, data) => format!("{kind}, {}", bytes::words(decoded(data))),
            Content::Binary(_, words) => words.clone(),
        }
    }
}

/// The parts of an outcome.
pub(super) fn parts(outcome: &Outcome) -> Vec<Part<'_>> {
    match outcome {
        Outcome::Answer(answer) => answer_parts(answer),
        Outcome::Failure(failure) => failure_parts(failure),
    }
}

fn answer_parts(answer: &Answer) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let (blocks, more) = answer.content.split_at(answer.content.len().min(PARTS));
    for (index, block) in blocks.iter().enumerate() {
        let text = block.get("text").and_then(Value::as_str);
        let repeats = text.is_some_and(|it| {
            answer.structured_content.is_some()
                && it.len() <= LONGEST_JSON
                && serde_json::from_str::<Value>(it).ok() == answer.structured_content
        });
        // Servers repeat structured content as text for older clients; seeing it once is enough.
        if !repeats {
            parts.push(block_part(index, block));
        }
    }
    if !more.is_empty() {
        let lines = more.iter().map(|block| {
            let text = block.get("text").and_then(Value::as_str);
            text.map_or_else(|| block.to_string().into(), Cow::Borrowed)
        });
        let lines: Vec<Cow<'_, str>> = lines.collect();
        let label = format!("{} more blocks", grouped(more.len()));
        parts.push(Part::text(&label, lines.join("\n")));
    }
    if let Some(structured) = &answer.structured_content {
        let content = Content::Json(Cow::Borrowed(structured), None);
        parts.push(Part::new(
            "structured content",
            &["structuredContent"],
            content,
        ));
    }
    if parts.is_empty() {
        parts.push(Part::new("empty answer", &[], Content::Text("".into())));
    }
    if let Some(asked) = answer.asked() {
        let kinds: Vec<&str> = asked.keys().map(String::as_str).collect();
        let label = format!("asked its client: {}", kinds.join(", "));
        parts.insert(0, Part::value(&label, asked.clone().into()));
    }
    parts
}

fn failure_parts(failure: &Failure) -> Vec<Part<'_>> {
    let text = match failure.code {
        Some(code) => Cow::Owned(format!("{code}: {}", failure.message)),
        None => Cow::Borrowed(failure.message.as_str()),
    };
    let mut parts = vec![Part::new("failure", &[], Content::Text(text))];
    if let Some(data) = &failure.data {
        parts.push(Part::new(
            "error data",
            &[],
            Content::Json(Cow::Borrowed(data), None),
        ));
    }
    parts
}

fn block_part(index: usize, block: &Value) -> Part<'_> {
    let index = index.to_string();
    let at = ["content", index.as_str()];
    let member = |key: &str| block.get(key).and_then(Value::as_str);
    let json = |label: &str| Part::new(label, &at, Content::Json(Cow::Borrowed(block), None));
    match member("type") {
        Some("text") => text_part("text", &at, "text", member("text").unwrap_or_default()),
        Some(kind @ ("image" | "audio")) => {
            binary(kind.to_owned(), &at, member("mimeType"), member("data"))
        }
        Some("resource_link") => json("resource link"),
        Some("resource") => resource_part(&at, block.get("resource").unwrap_or(&Value::Null)),
        _ => json("content of an unknown type"),
    }
}

fn resource_part<'a>(at: &[&str; 2], resource: &'a Value) -> Part<'a> {
    let member = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri = member("uri").unwrap_or("without URI");
    match (member("text"), member("blob")) {
        (Some(text), _) => text_part(&format!("resource {uri}"), at, "resource/text", text),
        (None, blob) => binary(format!("resource {uri}"), at, member("mimeType"), blob),
    }
}

fn text_part<'a>(label: &str, at: &[&str; 2], step: &str, text: &'a str) -> Part<'a> {
    let place = |last: &str| -> Vec<String> {
        let steps = last.split('/').map(str::to_owned);
        at.iter().map(|it| (*it).to_owned()).chain(steps).collect()
    };
    let may_be_json = text.len() <= LONGEST_JSON && text.trim_start().starts_with(['{', '[']);
    let value = may_be_json.then(|| serde_json::from_str::<Value>(text).ok());
    match value.flatten() {
        Some(value) => Part {
            label: format!("{label} (JSON)"),
            place: place(&step.replace("text", "json")),
            content: Content::Json(Cow::Owned(value), Some(text)),
        },
        None => Part {
            label: label.to_owned(),
            place: place(step),
            content: Content::Text(Cow::Borrowed(text)),
        },
    }
}

fn binary<'a>(
    label: String,
    at: &[&str; 2],
    mime: Option<&str>,
    base64: Option<&'a str>,
) -> Part<'a> {
    let data = base64.unwrap_or_default();
    let picture = PICTURES.iter().find(|it| mime == Some(**it));
    let content = match picture {
        Some(kind) if is_base64(data) => Content::Picture(kind, data),
        _ => {
            let kind = mime.unwrap_or("unknown type");
            Content::Binary(data, format!("{kind}, {}", bytes::words(decoded(data))))
        }
    };
    Part::new(label, at, content)
}

fn is_base64(data: &str) -> bool {
    let of_base64 = |it: u8| it.is_ascii_alphanumeric() || b"+/=".contains(&it);
    !data.is_empty() && data.bytes().all(of_base64)
}

/// How many bytes stand in base64.
fn decoded(data: &str) -> usize {
    let padding = data.bytes().rev().take_while(|it| *it == b'=').count();
    (data.len() / 4 * 3).saturating_sub(padding)
}

fn length(text: &str) -> String {
    match text.lines().count() {
        0 => "empty".to_owned(),
        1 => bytes::words(text.len()),
        lines => format!("{} lines, {}", grouped(lines), bytes::words(text.len())),
    }
}

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

/// Final responses, by the ids of scenarios.
pub type Responses = HashMap<String, String>;

/// The longest final response that a cell shows; the scenario's page has all of it.
const RESPONSE_CHARS: usize = 2000;

/// Keeps the final response of a run in a cell of a matrix: what the agent said last, or where it made calls alone, what the last of them
/// returned.
pub fn keep_response(responses: &mut Responses, scenario: &Scenario, run: Option<&Trajectory>) {
    let Some(run) = run.filter(|_| scenario.cell.is_some()) else {
        return;
    };
    let said = run.steps.iter().rev().find_map(|it| match it {
        Step::Assistant { text } => Some(text.clone()),
        Step::User { .. } | Step::ToolCall(_) => None,
    });
    let returned = || Some(run.calls().last()?.outcome.said());
    if let Some(response) = said.filter(|it| !it.trim().is_empty()).or_else(returned) {
        let shown = shorten(&response, RESPONSE_CHARS).into_owned();
        responses.insert(scenario.id.clone(), shown);
    }
}
