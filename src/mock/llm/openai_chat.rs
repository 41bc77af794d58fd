//! OpenAI Chat Completions: <https://platform.openai.com/docs/api-reference/chat>.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::dialect::{
    Asked, Dialect, asked_in_messages, check_names, check_pairs, events, list, required,
};
use crate::model::usage::Usage;
use crate::scenario_file::mock::{LlmAnswer, LlmError, LlmStop};

pub(super) struct ChatCompletions;

impl Dialect for ChatCompletions {
    fn check(&self, _: &HeaderMap, body: &Value) -> Result<(), String> {
        for name in ["model", "messages"] {
            required(body, name)?;
        }
        let messages = list(body, "messages");
        if messages.is_empty() {
            return Err("Invalid 'messages': empty array".to_owned());
        }
        let names = list(body, "tools").iter();
        check_names(names.filter_map(|it| it.pointer("/function/name")?.as_str()))?;
        for (index, message) in messages.iter().enumerate() {
            if message["role"] != "assistant" {
                continue;
            }
            let calls = list(message, "tool_calls").iter();
            let calls: Vec<&str> = calls.filter_map(|it| it["id"].as_str()).collect();
            let results = messages[index + 1..].iter();
            let results = results.take_while(|it| it["role"] == "tool");
            let results: Vec<&str> = results
                .filter_map(|it| it["tool_call_id"].as_str())
                .collect();
            check_pairs(&calls, &results)?;
        }
        Ok(())
    }

    fn asked(&self, body: &Value) -> Asked {
        asked_in_messages(body)
    }

    fn answer(&self, answer: &LlmAnswer, asked: &Asked, number: u64) -> Value {
        let calls = answer.tool_calls.iter().enumerate().map(|(index, it)| {
            json!({
                "id": format!("call_{number:04}_{index}"),
                "type": "function",
                "function": { "name": it.name, "arguments": it.arguments.text() },
            })
        });
        let calls: Vec<Value> = calls.collect();
        let refused = answer.stop == LlmStop::Refusal;
        let (content, refusal) = if refused {
            (Value::Null, json!(answer.text))
        } else {
            (json!(answer.text), Value::Null)
        };
        let mut message = json!({ "role": "assistant", "content": content, "refusal": refusal, "annotations": [] });
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        let finish_reason = match answer.stop {
            LlmStop::MaxTokens => "length",
            LlmStop::ContentFilter => "content_filter",
            LlmStop::Done if !answer.tool_calls.is_empty() => "tool_calls",
            LlmStop::Done | LlmStop::Refusal => "stop",
        };
        json!({
            "id": format!("chatcmpl-{number:04}"),
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": asked.model,
            "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason }],
            "usage": usage(&answer.usage),
        })
    }

    fn stream(&self, answer: &Value) -> (String, &'static str) {
        let mut chunk = answer.clone();
        chunk["object"] = json!("chat.completion.chunk");
        chunk["usage"] = Value::Null;
        let choice = &answer["choices"][0];
        let mut delta = choice["message"].clone();
        for (index, call) in delta["tool_calls"]
            .as_array_mut()
            .into_iter()
            .flatten()
            .enumerate()
        {
            call["index"] = json!(index);
        }
        let mut first = chunk.clone();
        first["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
        let mut last = chunk.clone();
        last["choices"] =
            json!([{ "index": 0, "delta": {}, "finish_reason": choice["finish_reason"] }]);
        let mut used = chunk;
        used["choices"] = json!([]);
        used["usage"] = answer["usage"].clone();
        let mut text = events(&[(None, first), (None, last), (None, used)]);
        text.push_str("data: [DONE]\n\n");
        (text, "text/event-stream")
    }

    fn error(&self, error: &LlmError) -> Value {
        openai_error(error)
    }
}

/// An error as both of OpenAI's APIs have it.
pub(super) fn openai_error(error: &LlmError) -> Value {
    let (kind, usual) = match error.status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("rate_limit_error", Some("rate_limit_exceeded")),
        500..=599 => ("server_error", None),
        _ => ("invalid_request_error", None),
    };
    let code = error.code.as_deref().or(usual);
    json!({ "error": { "message": error.message, "type": kind, "param": null, "code": code } })
}

fn usage(usage: &Usage) -> Value {
    if usage.total().is_none() {
        return Value::Null;
    }
    let input = usage.input.unwrap_or(0) + usage.cache_read.unwrap_or(0);
    let output = usage.output.unwrap_or(0);
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read.unwrap_or(0) },
        "completion_tokens_details": { "reasoning_tokens": 0 },
    })
}
