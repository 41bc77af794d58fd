//! OpenAI Responses: <https://platform.openai.com/docs/api-reference/responses>.

use serde_json::{Value, json};

use super::message::{
    Call, Finish, Message, OUTPUT_NAME, Part, Request, Response, ToolResult, object_arguments,
    own_id, text,
};
use super::openai_chat;
use super::wire::{Vendor, Wire};

pub(crate) struct Responses;

impl Wire for Responses {
    fn vendor(&self) -> &'static Vendor {
        &openai_chat::OPENAI
    }

    fn endpoint(&self) -> &'static str {
        "responses"
    }

    fn body(&self, request: &Request<'_>, _: bool) -> Value {
        let settings = request.settings;
        let mut body = json!({ "model": settings.model });
        if let Some(system) = &settings.system {
            body["instructions"] = json!(system);
        }
        if let Some(temperature) = request.temperature() {
            body["temperature"] = temperature;
        }
        if let Some(most) = settings.max_tokens {
            body["max_output_tokens"] = json!(most);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|it| {
                let mut tool = json!({ "type": "function" });
                if let (Value::Object(tool), Value::Object(function)) =
                    (&mut tool, openai_chat::function(it))
                {
                    tool.extend(function);
                }
                // By default, this API refuses schemas that leave anything open, and most do.
                tool["strict"] = json!(false);
                tool
            });
            body["tools"] = tools.collect();
            if let Some(choice) = request.tool_choice {
                body["tool_choice"] = openai_chat::tool_choice(
                    choice,
                    |name| json!({ "type": "function", "name": name }),
                );
            }
        }
        if let Some(schema) = request.output {
            body["text"] = json!({ "format": {
                "type": "json_schema", "name": OUTPUT_NAME, "schema": schema, "strict": true,
            } });
        }
        body["input"] = request.history.iter().flat_map(items).collect();
        request.completed(body)
    }

    fn read(&self, body: &Value) -> Result<Response, String> {
        if body["status"] == "failed" {
            let why = body.pointer("/error/message").and_then(Value::as_str);
            return Err(format!("it failed: {}", why.unwrap_or("no reason given")));
        }
        let mut said = body
            .get("output")
            .and_then(Value::as_array)
            .ok_or("it has no `output`")?
            .clone();
        let mut texts = Vec::new();
        let mut calls = Vec::new();
        let mut refused = false;
        for item in &mut said {
            match item.get("type").and_then(Value::as_str) {
                Some("message") => {
                    for part in item["content"].as_array().into_iter().flatten() {
                        texts.extend(text(part, "text"));
                        texts.extend(text(part, "refusal"));
                        refused |= part["type"] == "refusal";
                    }
                }
                Some("function_call") => {
                    let arguments = object_arguments(&item["arguments"]);
                    if arguments.is_err() {
                        item["arguments"] = json!("{}");
                    }
                    let id = own_id(item, "call_id", &calls);
                    calls.push(Call {
                        id: Some(id),
                        name: text(item, "name").unwrap_or_default(),
                        arguments,
                    });
                }
                _ => {}
            }
        }
        let reason = body.pointer("/incomplete_details/reason");
        let reason = reason.and_then(Value::as_str).map(str::to_owned);
        Ok(Response {
            model: text(body, "model"),
            said: Value::Array(said),
            texts,
            calls,
            finish: match reason.as_deref() {
                _ if refused => Finish::Refused,
                Some("max_output_tokens") => Finish::MaxTokens,
                Some("content_filter") => Finish::Filtered,
                _ => Finish::Done,
            },
            stop_reason: reason.or_else(|| text(body, "status")),
            usage: openai_chat::usage(&body["usage"], ["input_tokens", "output_tokens"]),
        })
    }
}

fn items(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({ "role": "user", "content": text })],
        Message::Assistant(said) => said.as_array().cloned().unwrap_or_default(),
        Message::Results(results) => results.iter().map(result).collect(),
    }
}

fn result(result: &ToolResult) -> Value {
    let output = if result.images().next().is_none() {
        json!(result.text())
    } else {
        let parts = result.parts.iter().map(|it| match it {
            Part::Text(text) => json!({ "type": "input_text", "text": text }),
            Part::Image { mime_type, data } => json!({
                "type": "input_image",
                "image_url": format!("data:{mime_type};base64,{data}"),
            }),
        });
        parts.collect()
    };
    json!({ "type": "function_call_output", "call_id": result.id, "output": output })
}
