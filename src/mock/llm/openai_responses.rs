//! OpenAI Responses: <https://platform.openai.com/docs/api-reference/responses>.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::dialect::{
    Asked, Dialect, check_names, check_pairs, content_text, events, list, required,
};
use super::openai_chat::openai_error;
use crate::model::usage::Usage;
use crate::scenario_file::mock::{LlmAnswer, LlmError, LlmStop};

pub(super) struct Responses;

impl Dialect for Responses {
    fn check(&self, _: &HeaderMap, body: &Value) -> Result<(), String> {
        for name in ["model", "input"] {
            required(body, name)?;
        }
        for tool in list(body, "tools") {
            let members = list(tool, "tools").iter();
            check_names(
                std::iter::once(tool)
                    .chain(members)
                    .filter_map(|it| it["name"].as_str()),
            )?;
        }
        let ids = |kind: &str| -> Vec<&str> {
            let items = list(body, "input").iter().filter(|it| it["type"] == kind);
            items.filter_map(|it| it["call_id"].as_str()).collect()
        };
        check_pairs(&ids("function_call"), &ids("function_call_output"))
    }

    fn asked(&self, body: &Value) -> Asked {
        let items = list(body, "input");
        let of_model = |it: &Value| {
            it["role"] == "assistant"
                || matches!(it["type"].as_str(), Some("function_call" | "reasoning"))
        };
        let mut turns = 0;
        let mut before = false;
        for item in items {
            let now = of_model(item);
            turns += usize::from(now && !before);
            before = now;
        }
        let spoken = items.iter().rposition(of_model);
        let results = items[spoken.map_or(0, |it| it + 1)..].iter();
        let user = items.iter().rfind(|it| it["role"] == "user");
        Asked {
            model: body["model"].as_str().map(str::to_owned),
            system: body["instructions"].as_str().map(str::to_owned),
            user: user
                .map(|it| content_text(&it["content"]))
                .or_else(|| body["input"].as_str().map(str::to_owned)),
            tools: list(body, "tools").iter().flat_map(offered).collect(),
            namespaces: list(body, "tools")
                .iter()
                .filter(|it| is_namespace(it))
                .filter_map(|it| it["name"].as_str().map(str::to_owned))
                .collect(),
            tool_results: results
                .filter(|it| it["type"] == "function_call_output")
                .map(|it| content_text(&it["output"]))
                .collect(),
            turns,
        }
    }

    fn answer(&self, answer: &LlmAnswer, asked: &Asked, number: u64) -> Value {
        let part = |text: &String| match answer.stop {
            LlmStop::Refusal => json!({ "type": "refusal", "refusal": text }),
            _ => json!({ "type": "output_text", "text": text, "annotations": [] }),
        };
        let text = answer.text.iter().map(|it| {
            json!({
                "type": "message",
                "id": format!("msg_{number:04}"),
                "status": "completed",
                "role": "assistant",
                "content": [part(it)],
            })
        });
        let calls = answer.tool_calls.iter().enumerate().map(|(index, it)| {
            let mut call = json!({
                "type": "function_call",
                "id": format!("fc_{number:04}_{index}"),
                "call_id": format!("call_{number:04}_{index}"),
                "name": it.name,
                "arguments": it.arguments.text(),
                "status": "completed",
            });
            let namespaced = asked.namespaces.iter().filter_map(|namespace| {
                let rest = it.name.strip_prefix(namespace.as_str())?;
                Some((namespace, rest.strip_prefix("__")?))
            });
            if let Some((namespace, name)) = namespaced.max_by_key(|(it, _)| it.len()) {
                call["namespace"] = json!(namespace);
                call["name"] = json!(name);
            }
            call
        });
        let output: Vec<Value> = text.chain(calls).collect();
        let reason = match answer.stop {
            LlmStop::MaxTokens => Some("max_output_tokens"),
            LlmStop::ContentFilter => Some("content_filter"),
            LlmStop::Done | LlmStop::Refusal => None,
        };
        json!({
            "id": format!("resp_{number:04}"),
            "object": "response",
            "created_at": 1_700_000_000,
            "status": if reason.is_some() { "incomplete" } else { "completed" },
            "error": null,
            "incomplete_details": reason.map(|it| json!({ "reason": it })),
            "instructions": null,
            "metadata": {},
            "model": asked.model,
            "output": output,
            "parallel_tool_calls": true,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": usage(&answer.usage),
        })
    }

    fn stream(&self, answer: &Value) -> (String, &'static str) {
        let mut stream = Vec::new();
        let mut add = |kind: &'static str, mut data: Value| {
            data["type"] = json!(kind);
            data["sequence_number"] = json!(stream.len());
            stream.push((Some(kind), data));
        };
        let mut begun = answer.clone();
        begun["status"] = json!("in_progress");
        begun["output"] = json!([]);
        begun["usage"] = Value::Null;
        add("response.created", json!({ "response": begun }));
        for (index, item) in list(answer, "output").iter().enumerate() {
            let place = json!({ "item_id": item["id"], "output_index": index, "content_index": 0 });
            let with = |name: &str, value: &Value| {
                let mut data = place.clone();
                data[name] = value.clone();
                data
            };
            let mut empty = item.clone();
            empty["status"] = json!("in_progress");
            if item["type"] == "function_call" {
                empty["arguments"] = json!("");
                add(
                    "response.output_item.added",
                    json!({ "output_index": index, "item": empty }),
                );
                add(
                    "response.function_call_arguments.delta",
                    with("delta", &item["arguments"]),
                );
                add(
                    "response.function_call_arguments.done",
                    with("arguments", &item["arguments"]),
                );
            } else {
                let part = &item["content"][0];
                empty["content"] = json!([]);
                add(
                    "response.output_item.added",
                    json!({ "output_index": index, "item": empty }),
                );
                let mut blank = part.clone();
                if part["type"] == "output_text" {
                    blank["text"] = json!("");
                    add("response.content_part.added", with("part", &blank));
                    add("response.output_text.delta", with("delta", &part["text"]));
                    add("response.output_text.done", with("text", &part["text"]));
                } else {
                    blank["refusal"] = json!("");
                    add("response.content_part.added", with("part", &blank));
                    add("response.refusal.delta", with("delta", &part["refusal"]));
                    add("response.refusal.done", with("refusal", &part["refusal"]));
                }
                add("response.content_part.done", with("part", part));
            }
            add(
                "response.output_item.done",
                json!({ "output_index": index, "item": item }),
            );
        }
        let end = if answer["status"] == "completed" {
            "response.completed"
        } else {
            "response.incomplete"
        };
        add(end, json!({ "response": answer }));
        (events(&stream), "text/event-stream")
    }

    fn error(&self, error: &LlmError) -> Value {
        openai_error(error)
    }
}

/// The names of a tool, or of the tools in a namespace.
fn offered(tool: &Value) -> Vec<String> {
    let name = |it: &Value| it["name"].as_str().map(str::to_owned);
    if !is_namespace(tool) {
        return name(tool).into_iter().collect();
    }
    let namespace = name(tool).unwrap_or_default();
    let members = list(tool, "tools").iter().filter_map(name);
    members.map(|it| format!("{namespace}__{it}")).collect()
}

fn is_namespace(tool: &Value) -> bool {
    tool["type"] == "namespace"
}

fn usage(usage: &Usage) -> Value {
    if usage.total().is_none() {
        return Value::Null;
    }
    let input = usage.input.unwrap_or(0) + usage.cache_read.unwrap_or(0);
    let output = usage.output.unwrap_or(0);
    json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": usage.cache_read.unwrap_or(0) },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + output,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Dialect, Responses};
    use crate::model::Object;
    use crate::scenario_file::mock::LlmAnswer;
    use crate::scenario_file::mock::LlmArguments;
    use crate::scenario_file::mock::LlmToolCall;

    #[test]
    fn tools_in_a_namespace_are_called_in_it() {
        let find = json!({ "type": "function", "name": "find" });
        let namespace = |name: &str| json!({ "type": "namespace", "name": name, "tools": [find] });
        let body = json!({
            "model": "m",
            "input": "x",
            "tools": [find, namespace("a"), namespace("a__b")],
        });
        let asked = Responses.asked(&body);
        assert_eq!(asked.tools, ["find", "a__find", "a__b__find"]);
        let tool_calls = asked.tools.iter().map(|it| LlmToolCall {
            name: it.clone(),
            arguments: LlmArguments::Object(Object::new()),
        });
        let answer = LlmAnswer {
            tool_calls: tool_calls.collect(),
            ..LlmAnswer::default()
        };
        let answer = Responses.answer(&answer, &asked, 1);
        let called = |index: usize| {
            let call = &answer["output"][index];
            (call["namespace"].clone(), call["name"].clone())
        };
        assert_eq!(called(0), (json!(null), json!("find")));
        assert_eq!(called(1), (json!("a"), json!("find")));
        assert_eq!(called(2), (json!("a__b"), json!("find")));
    }
}
