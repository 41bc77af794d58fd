//! Ollama's own chat API: <https://docs.ollama.com/api/chat>.

use serde_json::{Value, json};

use super::message::{
    Call, Finish, Message, Request, Response, ToolResult, object_arguments, text,
};
use super::openai_chat::function;
use super::wire::{BEARER, NameRule, Vendor, Wire};
use crate::model::usage::Usage;

pub(crate) struct Chat;

static OLLAMA: Vendor = Vendor {
    home: "http://localhost:11434",
    version: None,
    key_env: None,
    key_header: BEARER,
    headers: &[],
    names: NameRule::Any,
};

impl Wire for Chat {
    fn vendor(&self) -> &'static Vendor {
        &OLLAMA
    }

    fn endpoint(&self) -> &'static str {
        "api/chat"
    }

    fn body(&self, request: &Request<'_>, _: bool) -> Value {
        let settings = request.settings;
        let mut body = json!({ "model": settings.model, "stream": false });
        let options = [
            ("temperature", request.temperature()),
            ("num_predict", settings.max_tokens.map(|it| json!(it))),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                body["options"][name] = value;
            }
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter();
            body["tools"] = tools
                .map(|it| json!({ "type": "function", "function": function(it) }))
                .collect();
        }
        if let Some(schema) = request.output {
            body["format"] = schema.clone();
        }
        let system = settings.system.iter();
        let system = system.map(|it| json!({ "role": "system", "content": it }));
        body["messages"] = system
            .chain(request.history.iter().flat_map(messages))
            .collect();
        request.completed(body)
    }

    fn read(&self, body: &Value) -> Result<Response, String> {
        let message = body
            .get("message")
            .filter(|it| it.is_object())
            .ok_or("it has no `message`")?;
        let mut said = message.clone();
        let mut calls = Vec::new();
        let wanted = said.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in wanted.into_iter().flatten() {
            let arguments = object_arguments(&call["function"]["arguments"]);
            if arguments.is_err() {
                call["function"]["arguments"] = json!({});
            }
            calls.push(Call {
                id: text(call, "id"),
                name: text(&call["function"], "name").unwrap_or_default(),
                arguments,
            });
        }
        let stop_reason = text(body, "done_reason");
        let tokens = |name: &str| body.get(name).and_then(Value::as_u64);
        Ok(Response {
            model: text(body, "model"),
            texts: text(message, "content")
                .filter(|it| !it.is_empty())
                .into_iter()
                .collect(),
            said,
            calls,
            finish: match stop_reason.as_deref() {
                Some("length") => Finish::MaxTokens,
                _ => Finish::Done,
            },
            stop_reason,
            usage: Usage {
                input: tokens("prompt_eval_count"),
                output: tokens("eval_count"),
                ..Usage::default()
            },
        })
    }
}

fn messages(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({ "role": "user", "content": text })],
        Message::Assistant(said) => vec![said.clone()],
        Message::Results(results) => results.iter().map(result).collect(),
    }
}

fn result(result: &ToolResult) -> Value {
    let mut message = json!({ "role": "tool", "tool_name": result.name, "content": result.text() });
    if let Some(id) = &result.id {
        message["tool_call_id"] = json!(id);
    }
    let images: Vec<&str> = result.images().map(|(_, data)| data).collect();
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}
