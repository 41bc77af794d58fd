//! Ollama's own chat API: <https://docs.ollama.com/api/chat>.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::dialect::{Asked, Dialect, asked_in_messages, required};
use crate::scenario_file::mock::{LlmAnswer, LlmError, LlmStop};

pub(super) struct Chat;

impl Dialect for Chat {
    fn check(&self, _: &HeaderMap, body: &Value) -> Result<(), String> {
        required(body, "model")
    }

    fn asked(&self, body: &Value) -> Asked {
        asked_in_messages(body)
    }

    fn answer(&self, answer: &LlmAnswer, asked: &Asked, number: u64) -> Value {
        let calls = answer.tool_calls.iter().enumerate().map(|(index, it)| {
            json!({
                "id": format!("call_{number:04}_{index}"),
                "function": { "index": index, "name": it.name, "arguments": it.arguments.value() },
            })
        });
        let calls: Vec<Value> = calls.collect();
        let text = answer.text.as_deref().unwrap_or_default();
        let mut message = json!({ "role": "assistant", "content": text });
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        let mut body = json!({
            "model": asked.model,
            "created_at": "2026-01-01T00:00:00.000000Z",
            "message": message,
            "done": true,
            "done_reason": if answer.stop == LlmStop::MaxTokens { "length" } else { "stop" },
            "total_duration": 1_000_000,
            "load_duration": 0,
            "prompt_eval_duration": 0,
            "eval_duration": 0,
        });
        for (name, tokens) in [
            ("prompt_eval_count", answer.usage.input),
            ("eval_count", answer.usage.output),
        ] {
            if let Some(tokens) = tokens {
                body[name] = json!(tokens);
            }
        }
        body
    }

    fn stream(&self, answer: &Value) -> (String, &'static str) {
        let mut first = answer.clone();
        first["done"] = json!(false);
        let mut last = answer.clone();
        last["message"] = json!({ "role": "assistant", "content": "" });
        (format!("{first}\n{last}\n"), "application/x-ndjson")
    }

    fn error(&self, error: &LlmError) -> Value {
        json!({ "error": error.message })
    }
}
