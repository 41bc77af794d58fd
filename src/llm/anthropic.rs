//! Anthropic Messages: <https://platform.claude.com/docs/en/api/messages>.

use serde_json::{Value, json};

use super::message::{
    Call, Finish, Message, Part, Request, Response, ToolResult, object_arguments, own_id, text,
};
use super::wire::{NameRule, Vendor, Wire};
use crate::model::usage::Usage;
use crate::scenario_file::agent::ToolChoice;

pub(crate) struct Messages;

static ANTHROPIC: Vendor = Vendor {
    home: "https://api.anthropic.com",
    version: Some("v1"),
    key_env: Some("ANTHROPIC_API_KEY"),
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    names: NameRule::Plain(64),
};

/// The API takes no request without a bound.
const MAX_TOKENS: u32 = 4096;

impl Wire for Messages {
    fn vendor(&self) -> &'static Vendor {
        &ANTHROPIC
    }

    fn endpoint(&self) -> &'static str {
        "messages"
    }

    fn body(&self, request: &Request<'_>, _: bool) -> Value {
        let settings = request.settings;
        let mut body = json!({
            "model": settings.model,
            "max_tokens": settings.max_tokens.unwrap_or(MAX_TOKENS),
        });
        if let Some(temperature) = request.temperature() {
            body["temperature"] = temperature;
        }
        if let Some(system) = &settings.system {
            body["system"] = json!(system);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|it| {
                let mut tool = json!({ "name": it.name });
                if let Some(description) = &it.description {
                    tool["description"] = json!(description);
                }
                tool["input_schema"] = it.input_schema.clone();
                tool
            });
            body["tools"] = tools.collect();
            if let Some(choice) = request.tool_choice {
                body["tool_choice"] = match choice {
                    ToolChoice::Auto => json!({ "type": "auto" }),
                    ToolChoice::None => json!({ "type": "none" }),
                    ToolChoice::Required => json!({ "type": "any" }),
                    ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
                };
            }
        }
        body["messages"] = request.history.iter().filter_map(message).collect();
        request.completed(body)
    }

    fn read(&self, body: &Value) -> Result<Response, String> {
        let content = body
            .get("content")
            .and_then(Value::as_array)
            .ok_or("it has no `content`")?;
        let mut said = content.clone();
        let mut texts = Vec::new();
        let mut calls = Vec::new();
        for block in &mut said {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => texts.extend(text(block, "text")),
                Some("tool_use") => {
                    let arguments = object_arguments(&block["input"]);
                    // The API takes back nothing but objects.
                    if !block["input"].is_object() {
                        block["input"] = json!({});
                    }
                    let id = own_id(block, "id", &calls);
                    calls.push(Call {
                        id: Some(id),
                        name: text(block, "name").unwrap_or_default(),
                        arguments,
                    });
                }
                _ => {}
            }
        }
        // Nor does it take back a text of nothing.
        said.retain(|it| it["type"] != "text" || it["text"] != "");
        let stop_reason = text(body, "stop_reason");
        Ok(Response {
            model: text(body, "model"),
            said: Value::Array(said),
            texts,
            calls,
            finish: match stop_reason.as_deref() {
                Some("max_tokens") => Finish::MaxTokens,
                Some("refusal") => Finish::Refused,
                Some("model_context_window_exceeded") => Finish::ContextFull,
                Some("pause_turn") => Finish::Paused,
                _ => Finish::Done,
            },
            stop_reason,
            usage: usage(&body["usage"]),
        })
    }
}

/// The tokens that a message says it took.
pub fn usage(usage: &Value) -> Usage {
    let tokens = |name: &str| usage.get(name).and_then(Value::as_u64);
    Usage {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_write: tokens("cache_creation_input_tokens"),
    }
}

fn message(message: &Message) -> Option<Value> {
    match message {
        Message::User(text) => Some(json!({ "role": "user", "content": text })),
        Message::Assistant(said) => {
            let is_empty = said.as_array().is_some_and(Vec::is_empty);
            (!is_empty).then(|| json!({ "role": "assistant", "content": said }))
        }
        Message::Results(results) => {
            let results: Vec<Value> = results.iter().map(result).collect();
            Some(json!({ "role": "user", "content": results }))
        }
    }
}

fn result(result: &ToolResult) -> Value {
    let content = result.parts.iter().map(|it| match it {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image { mime_type, data } => json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime_type, "data": data },
        }),
    });
    let content: Vec<Value> = content.filter(|it| it["text"] != "").collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.id });
    if !content.is_empty() {
        block["content"] = Value::Array(content);
    }
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}
