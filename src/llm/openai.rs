//! What the two formats of OpenAI have in common.

use serde_json::{Value, json};

use super::message::OfferedTool;
use super::names::NameRule;
use crate::model::agent::{ModelAgent, Temperature, ToolChoice};

pub(super) const HOME: &str = "https://api.openai.com";
pub(super) const VERSION: &str = "v1";
pub(super) const KEY_ENV: &str = "OPENAI_API_KEY";
pub(super) const NAMES: NameRule = NameRule::Plain(64);

/// Says in a body how freely the model chooses its words, where the scenario says so.
pub(super) fn put_temperature(body: &mut Value, settings: &ModelAgent) {
    match settings.temperature {
        Temperature::Lowest => body["temperature"] = json!(0),
        Temperature::Value(value) => body["temperature"] = json!(value),
        Temperature::Unset => {}
    }
}

/// Which tools the model may or must call; `named` says how one is meant.
pub(super) fn tool_choice(choice: &ToolChoice, named: impl FnOnce(&str) -> Value) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => named(name),
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
