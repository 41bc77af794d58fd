//! Anthropic Messages: <https://platform.claude.com/docs/en/api/messages>.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::dialect::{
    Asked, Dialect, check_names, check_pairs, content_text, events, list, required,
};
use crate::scenario_file::mock::{LlmAnswer, LlmError, LlmStop};

pub(super) struct Messages;

impl Dialect for Messages {
    fn check(&self, headers: &HeaderMap, body: &Value) -> Result<(), String> {
        if !headers.contains_key("anthropic-version") {
            return Err("anthropic-version: header is required".to_owned());
        }
        for name in ["model", "max_tokens", "messages"] {
            required(body, name)?;
        }
        if list(body, "messages").is_empty() {
            return Err("messages: at least one message is required".to_owned());
        }
        check_names(
            list(body, "tools")
                .iter()
                .filter_map(|it| it["name"].as_str()),
        )?;
        let messages = list(body, "messages");
        for (index, message) in messages.iter().enumerate() {
            let ids = |message: Option<&Value>, kind: &str, name: &str| -> Vec<String> {
                let blocks = message.map_or(&[][..], |it| list(it, "content"));
                let fitting = blocks.iter().filter(|it| it["type"] == kind);
                fitting
                    .filter_map(|it| it[name].as_str().map(str::to_owned))
                    .collect()
            };
            for block in list(message, "content") {
                if block["type"] == "text" && block["text"].as_str().is_none_or(str::is_empty) {
                    return Err(format!(
                        "messages.{index}: text content blocks must be non-empty"
                    ));
                }
                if block["type"] == "tool_use" && !block["input"].is_object() {
                    return Err(format!(
                        "messages.{index}: tool_use.input: Input should be a valid dictionary"
                    ));
                }
            }
            if message["role"] == "assistant" {
                let calls = ids(Some(message), "tool_use", "id");
                let results = ids(messages.get(index + 1), "tool_result", "tool_use_id");
                let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
                let results: Vec<&str> = results.iter().map(String::as_str).collect();
                check_pairs(&calls, &results)?;
            }
        }
        Ok(())
    }

    fn asked(&self, body: &Value) -> Asked {
        let messages = list(body, "messages");
        // A system message may follow the results, so they are found by the last message of the model.
        let spoken = messages.iter().rposition(|it| it["role"] == "assistant");
        let latest = messages[spoken.map_or(0, |it| it + 1)..].iter();
        let results = latest.flat_map(|it| list(it, "content"));
        let results = results.filter(|it| it["type"] == "tool_result");
        let said = |it: &&Value| {
            it["role"] == "user"
                && !list(it, "content")
                    .iter()
                    .any(|it| it["type"] == "tool_result")
        };
        Asked {
            model: body["model"].as_str().map(str::to_owned),
            system: body.get("system").map(content_text),
            user: messages
                .iter()
                .rfind(said)
                .map(|it| content_text(&it["content"])),
            tools: list(body, "tools")
                .iter()
                .filter_map(|it| it["name"].as_str().map(str::to_owned))
                .collect(),
            namespaces: Vec::new(),
            tool_results: results.map(|it| content_text(&it["content"])).collect(),
            turns: messages
                .iter()
                .filter(|it| it["role"] == "assistant")
                .count(),
        }
    }

    fn answer(&self, answer: &LlmAnswer, asked: &Asked, number: u64) -> Value {
        let text = answer.text.iter();
        let text = text.map(|it| json!({ "type": "text", "text": it }));
        let calls = answer.tool_calls.iter().enumerate().map(|(index, it)| {
            json!({
                "type": "tool_use",
                "id": format!("toolu_{number:04}_{index}"),
                "name": it.name,
                "input": it.arguments.value(),
            })
        });
        let content: Vec<Value> = text.chain(calls).collect();
        let stop_reason = match answer.stop {
            LlmStop::MaxTokens => "max_tokens",
            LlmStop::Refusal | LlmStop::ContentFilter => "refusal",
            LlmStop::Done if answer.tool_calls.is_empty() => "end_turn",
            LlmStop::Done => "tool_use",
        };
        json!({
            "id": format!("msg_{number:04}"),
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": null,
            "usage": {
                "input_tokens": answer.usage.input,
                "cache_creation_input_tokens": answer.usage.cache_write,
                "cache_read_input_tokens": answer.usage.cache_read,
                "output_tokens": answer.usage.output,
            },
        })
    }

    fn stream(&self, answer: &Value) -> (String, &'static str) {
        let mut start = answer.clone();
        start["content"] = json!([]);
        start["stop_reason"] = Value::Null;
        let named = |data: Value| {
            let name = data["type"].as_str().unwrap_or_default().to_owned();
            (name, data)
        };
        let mut stream = vec![named(json!({ "type": "message_start", "message": start }))];
        for (index, block) in list(answer, "content").iter().enumerate() {
            let mut empty = block.clone();
            let delta = if block["type"] == "text" {
                empty["text"] = json!("");
                json!({ "type": "text_delta", "text": block["text"] })
            } else {
                empty["input"] = json!({});
                json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
            };
            stream.extend([
                named(json!({ "type": "content_block_start", "index": index, "content_block": empty })),
                named(json!({ "type": "content_block_delta", "index": index, "delta": delta })),
                named(json!({ "type": "content_block_stop", "index": index })),
            ]);
        }
        stream.push(named(json!({
            "type": "message_delta",
            "delta": { "stop_reason": answer["stop_reason"], "stop_sequence": null },
            "usage": { "output_tokens": answer["usage"]["output_tokens"] },
        })));
        stream.push(named(json!({ "type": "message_stop" })));
        let stream: Vec<(Option<&str>, Value)> = stream
            .iter()
            .map(|(name, data)| (Some(name.as_str()), data.clone()))
            .collect();
        (events(&stream), "text/event-stream")
    }

    fn error(&self, error: &LlmError) -> Value {
        let usual = match error.status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            504 => "timeout_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        let kind = error.code.as_deref().unwrap_or(usual);
        json!({ "type": "error", "error": { "type": kind, "message": error.message }, "request_id": "req_0001" })
    }
}
