//! Replies and content blocks with all references filled in.

use serde_json::{Value, json};

use crate::mock::state::State;
use crate::mock::template::Scope;
use crate::mock::wire::{self, Id};
use crate::model::interactions::{AnswerBlock, MockReply};

/// The reply as it would go out if nothing went wrong with it.
pub(super) fn reply(id: &Id, reply: &MockReply, scope: &mut Scope, state: &mut State) -> String {
    match reply {
        MockReply::Default => {
            let result = default_result(scope, state);
            wire::result_reply(id, &result)
        }
        MockReply::Result {
            content,
            structured_content,
            is_error,
            meta,
        } => {
            let blocks: Vec<Value> = content.iter().map(|it| block(it, scope, state)).collect();
            let mut result = json!({ "content": blocks });
            if let Some(structured) = structured_content {
                result["structuredContent"] = scope.fill(structured, state);
            }
            if *is_error {
                result["isError"] = Value::Bool(true);
            }
            if let Some(meta) = meta {
                result["_meta"] = scope.fill(meta, state);
            }
            wire::result_reply(id, &result)
        }
        MockReply::Error {
            code,
            message,
            data,
        } => {
            let mut error = wire::error(*code, &scope.text(message, state));
            if let Some(data) = data {
                error["data"] = scope.fill(data, state);
            }
            wire::error_reply(id, &error)
        }
        MockReply::RawResult(result) => wire::result_reply(id, &scope.fill(result, state)),
        MockReply::Verbatim(result) => wire::result_reply(id, result),
        MockReply::VerbatimError(error) => wire::error_reply(id, error),
        MockReply::RawMessage(message) => {
            let id = serde_json::from_str(id.as_json()).unwrap_or_default();
            scope.insert("id", id);
            match message {
                Value::String(text) => scope.text(text, state),
                message => scope.fill(message, state).to_string(),
            }
        }
    }
}

/// A content block with its references filled in. Its own members stay texts; the value of a `json` keeps its types.
pub(super) fn block(block: &AnswerBlock, scope: &mut Scope, state: &mut State) -> Value {
    let mut served = scope.fill_texts(&block.served, state);
    if let (Some(json), Some(members)) = (&block.json, served.as_object_mut()) {
        let text = scope.fill(json, state).to_string();
        members.insert("text".to_owned(), Value::String(text));
    }
    served
}

/// What a tool without responses answers.
fn default_result(scope: &mut Scope, state: &mut State) -> Value {
    let answer = json!({
        "tool": "{{tool}}",
        "result": "Mock tool execution successful",
        "arguments": "{{args}}",
        "timestamp": "{{now}}",
    });
    json!({ "content": [block(&AnswerBlock::json(answer), scope, state)] })
}

/// A tool error that the mock itself answers.
pub(super) fn tool_error(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}
