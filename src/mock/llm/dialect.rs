//! One wire format: from an API's requests to what they ask, and from what is answered to the API's responses.

use std::fmt::Write as _;

use axum::http::HeaderMap;
use serde_json::Value;

use crate::scenario_file::mock::{LlmAnswer, LlmError};

/// What a request asks, independent of the wire format.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Asked {
    pub(super) model: Option<String>,
    pub(super) system: Option<String>,
    /// The latest message of the user.
    pub(super) user: Option<String>,
    /// The tools on offer, by name; one in a namespace is called `<namespace>__<name>`.
    pub(super) tools: Vec<String>,
    /// The namespaces that tools are offered in, where the API has such.
    pub(super) namespaces: Vec<String>,
    /// The texts of the tool results the request ends with.
    pub(super) tool_results: Vec<String>,
    /// How many messages of the model the request holds.
    pub(super) turns: usize,
}

/// A wire format.
pub(super) trait Dialect: Send + Sync {
    /// Refuses requests that the API itself would refuse.
    ///
    /// # Errors
    ///
    /// The message of the API.
    fn check(&self, headers: &HeaderMap, body: &Value) -> Result<(), String>;

    fn asked(&self, body: &Value) -> Asked;

    /// A whole answer to what was asked; `number` makes its ids differ from those of others.
    fn answer(&self, answer: &LlmAnswer, asked: &Asked, number: u64) -> Value;

    /// The same answer as a stream, and its content type.
    fn stream(&self, answer: &Value) -> (String, &'static str);

    fn error(&self, error: &LlmError) -> Value;
}

/// What is asked by a body of `messages` with roles and of `tools` that are functions, as Chat Completions and Ollama have them.
pub(super) fn asked_in_messages(body: &Value) -> Asked {
    let messages = list(body, "messages");
    let last = |role: &str| {
        let last = messages.iter().rfind(|it| it["role"] == role);
        last.map(|it| content_text(&it["content"]))
    };
    let spoken = messages.iter().rposition(|it| it["role"] == "assistant");
    let results = messages[spoken.map_or(0, |it| it + 1)..].iter();
    Asked {
        model: body["model"].as_str().map(str::to_owned),
        system: last("system").or_else(|| last("developer")),
        user: last("user"),
        tools: list(body, "tools")
            .iter()
            .filter_map(|it| it.pointer("/function/name")?.as_str().map(str::to_owned))
            .collect(),
        namespaces: Vec::new(),
        tool_results: results
            .filter(|it| it["role"] == "tool")
            .map(|it| content_text(&it["content"]))
            .collect(),
        turns: messages
            .iter()
            .filter(|it| it["role"] == "assistant")
            .count(),
    }
}

/// The text of content that is a text, or a list of parts that have some.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|it| it["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// The elements of a member that is a list.
pub(super) fn list<'v>(body: &'v Value, name: &str) -> &'v [Value] {
    body.get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Fails when a tool's name is one that the APIs refuse.
pub(super) fn check_names<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    for name in names {
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            return Err(format!(
                "invalid tool name '{name}': must match ^[a-zA-Z0-9_-]{{1,64}}$"
            ));
        }
    }
    Ok(())
}

/// Fails when a call of the model has no result, or a result no call.
pub(super) fn check_pairs(calls: &[&str], results: &[&str]) -> Result<(), String> {
    let without = |these: &[&str], those: &[&str]| {
        let lacking = these.iter().find(|it| !those.contains(it));
        lacking.map(|it| (*it).to_owned())
    };
    if let Some(id) = without(calls, results) {
        return Err(format!("no tool result was given for the call '{id}'"));
    }
    match without(results, calls) {
        Some(id) => Err(format!("the tool result '{id}' belongs to no call")),
        None => Ok(()),
    }
}

/// A value that a member must have.
pub(super) fn required(body: &Value, name: &str) -> Result<(), String> {
    if body.get(name).is_none_or(Value::is_null) {
        return Err(format!("{name}: field required"));
    }
    Ok(())
}

/// The events of a stream, each with its data and, where the API names events, its name.
pub(super) fn events(events: &[(Option<&str>, Value)]) -> String {
    let mut text = String::new();
    for (name, data) in events {
        if let Some(name) = name {
            let _ = writeln!(text, "event: {name}");
        }
        let _ = write!(text, "data: {data}\n\n");
    }
    text
}
