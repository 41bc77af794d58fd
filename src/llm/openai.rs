//! What the two formats of OpenAI have in common.

use serde_json::{Value, json};

use super::message::OfferedTool;
use super::names::NameRule;
use super::wire::{BEARER, Vendor};
use crate::model::agent::ToolChoice;
use crate::model::usage::Usage;

pub(super) static OPENAI: Vendor = Vendor {
    home: "https://api.openai.com",
    version: Some("v1"),
    key_env: Some("OPENAI_API_KEY"),
    key_header: BEARER,
    headers: &[],
    names: NameRule::Plain(64),
};

/// Which tools the model may or must call; `named` says how one is meant.
pub(super) fn tool_choice(choice: &ToolChoice, named: impl FnOnce(&str) -> Value) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => named(name),
    }
}

/// The tokens that a message says it took, under the two names that its format has for them.
pub(super) fn usage(usage: &Value, [input, output]: [&str; 2]) -> Usage {
    let tokens = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let cached = tokens(&format!("/{input}_details/cached_tokens"));
    let asked = tokens(&format!("/{input}"));
    Usage {
        input: asked.map(|it| it.saturating_sub(cached.unwrap_or(0))),
        output: tokens(&format!("/{output}")),
        cache_read: cached,
        cache_write: None,
    }
}

/// A tool as OpenAI and Ollama have it.
pub(super) fn function(tool: &OfferedTool) -> Value {
    let mut function = json!({ "name": tool.name });
    if let Some(description) = &tool.description {
        function["description"] = json!(description);
    }
    function["parameters"] = tool.input_schema.clone();
    function
}
