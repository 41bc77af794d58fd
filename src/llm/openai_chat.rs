//! OpenAI Chat Completions, which gateways and local servers speak, too: <https://platform.openai.com/docs/api-reference/chat>.

use serde_json::{Value, json};

use super::message::{
    Call, Finish, Message, OUTPUT_NAME, OfferedTool, Request, Response, ToolResult,
    object_arguments, own_id, text,
};
use super::wire::{BEARER, NameRule, Vendor, Wire};
use crate::model::usage::Usage;
use crate::scenario_file::agent::ToolChoice;

pub(crate) struct ChatCompletions;

impl Wire for ChatCompletions {
    fn vendor(&self) -> &'static Vendor {
        &OPENAI
    }

    fn endpoint(&self) -> &'static str {
        "chat/completions"
    }

    fn body(&self, request: &Request<'_>, at_home: bool) -> Value {
        let settings = request.settings;
        let mut body = json!({ "model": settings.model });
        if let Some(temperature) = request.temperature() {
            body["temperature"] = temperature;
        }
        if let Some(most) = settings.max_tokens {
            // The vendor's newer models refuse the older name; other servers know no other.
            let name = if at_home {
                "max_completion_tokens"
            } else {
                "max_tokens"
            };
            body[name] = json!(most);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter();
            body["tools"] = tools
                .map(|it| json!({ "type": "function", "function": function(it) }))
                .collect();
            if let Some(choice) = request.tool_choice {
                body["tool_choice"] = tool_choice(
                    choice,
                    |name| json!({ "type": "function", "function": { "name": name } }),
                );
            }
        }
        if let Some(schema) = request.output {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": { "name": OUTPUT_NAME, "schema": schema, "strict": true },
            });
        }
        let system = settings.system.iter();
        let system = system.map(|it| json!({ "role": "system", "content": it }));
        body["messages"] = system
            .chain(request.history.iter().flat_map(messages))
            .collect();
        request.completed(body)
    }

    fn read(&self, body: &Value) -> Result<Response, String> {
        let choice = body.pointer("/choices/0").ok_or("it has no `choices`")?;
        let message = choice
            .get("message")
            .filter(|it| it.is_object())
            .ok_or("its choice has no `message`")?;
        let mut said = json!({ "role": "assistant", "content": message["content"] });
        let mut wanted = message["tool_calls"].clone();
        let mut calls = Vec::new();
        for call in wanted.as_array_mut().into_iter().flatten() {
            let arguments = object_arguments(&call["function"]["arguments"]);
            if arguments.is_err() {
                // Servers that read what they are given back would stumble.
                call["function"]["arguments"] = json!("{}");
            }
            let id = own_id(call, "id", &calls);
            calls.push(Call {
                id: Some(id),
                name: text(&call["function"], "name").unwrap_or_default(),
                arguments,
            });
        }
        if !calls.is_empty() {
            said["tool_calls"] = wanted;
            // Models that think aloud before a call want their thoughts back with it.
            if let Some(thoughts) = message.get("reasoning_content").filter(|it| !it.is_null()) {
                said["reasoning_content"] = thoughts.clone();
            }
        }
        let refusal = text(message, "refusal").filter(|it| !it.is_empty());
        if refusal.is_some() && said["content"].is_null() {
            said["content"] = json!(refusal);
        }
        let stop_reason = text(choice, "finish_reason");
        let spoken = text(message, "content").filter(|it| !it.is_empty());
        Ok(Response {
            model: text(body, "model"),
            texts: spoken.into_iter().chain(refusal.clone()).collect(),
            said,
            calls,
            finish: match stop_reason.as_deref() {
                _ if refusal.is_some() => Finish::Refused,
                Some("length") => Finish::MaxTokens,
                Some("content_filter") => Finish::Filtered,
                _ => Finish::Done,
            },
            stop_reason,
            usage: usage(&body["usage"], ["prompt_tokens", "completion_tokens"]),
        })
    }
}

fn messages(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({ "role": "user", "content": text })],
        Message::Assistant(said) => vec![said.clone()],
        Message::Results(results) => {
            let mut messages: Vec<Value> = results.iter().map(result).collect();
            // Answers of tools hold nothing but text here, so pictures come from the user.
            let images = results.iter().flat_map(ToolResult::images);
            let images: Vec<Value> = images
                .map(|(mime_type, data)| {
                    let url = format!("data:{mime_type};base64,{data}");
                    json!({ "type": "image_url", "image_url": { "url": url } })
                })
                .collect();
            if !images.is_empty() {
                messages.push(json!({ "role": "user", "content": images }));
            }
            messages
        }
    }
}

fn result(result: &ToolResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.id, "content": result.text() })
}

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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ChatCompletions;
    use crate::llm::message::Request;
    use crate::llm::wire::Wire;
    use crate::scenario_file::agent::ModelAgent;
    use crate::scenario_file::agent::ModelApi;

    #[test]
    fn the_bound_of_an_answer_has_the_name_each_server_knows() {
        let settings = ModelAgent {
            max_tokens: Some(5),
            ..ModelAgent::new(ModelApi::OpenAiChat, "m")
        };
        let request = Request {
            settings: &settings,
            tools: &[],
            tool_choice: None,
            history: &[],
            output: None,
        };
        let at_home = ChatCompletions.body(&request, true);
        assert_eq!(at_home["max_completion_tokens"], 5);
        assert_eq!(at_home.get("max_tokens"), None);
        let elsewhere = ChatCompletions.body(&request, false);
        assert_eq!(elsewhere["max_tokens"], 5);
    }

    #[test]
    fn what_has_no_place_in_the_next_request_is_left_out() {
        let message = json!({
            "role": "assistant", "content": null, "annotations": [], "audio": null, "reasoning_content": "hm",
            "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "t", "arguments": "{" } }],
        });
        let body = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
        let response = ChatCompletions.read(&body).unwrap();
        let mut expected =
            json!({ "role": "assistant", "content": null, "reasoning_content": "hm" });
        expected["tool_calls"] = message["tool_calls"].clone();
        expected["tool_calls"][0]["function"]["arguments"] = json!("{}");
        assert_eq!(response.said, expected);
        assert!(response.calls[0].arguments.is_err());
        assert_eq!(response.usage.total(), None);
        assert!(ChatCompletions.read(&Value::Null).is_err());
    }
}
