//! Answers tool calls.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::mock::answers::Choice;
use crate::mock::call_log::Called;
use crate::mock::core::Core;
use crate::mock::exchange::Exchange;
use crate::mock::recorded;
use crate::mock::render::tool_error;
use crate::mock::template::Scope;
use crate::mock::wire::{self, INVALID_PARAMS, Id};
use crate::model::Object;
use crate::model::interactions::MockResponse;

impl Core {
    /// Begins a tool call.
    pub(super) fn call(&mut self, id: Id, params: &Value) -> (Exchange, Option<Called>) {
        let refuse = |id, message: &str, tool: &Value, details: &str| {
            let error = bad_params(message, tool, details);
            (Exchange::answered(id, Err(error)), None)
        };
        let name = match params.get("name") {
            Some(Value::String(name)) => name,
            given => {
                let details = match given {
                    None => "`name` is missing",
                    Some(_) => "`name` is not text",
                };
                return refuse(
                    id,
                    "a tool call needs the tool's name",
                    &Value::Null,
                    details,
                );
            }
        };
        let tool = json!(name);
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => {
                let message = format!("the arguments of tool `{name}` are no object");
                return refuse(id, &message, &tool, "`arguments` is not an object");
            }
        };
        let validates = self.options.validate;
        let Some(entry) = self.tools.find(name) else {
            let details = "the server has no tool of this name";
            return refuse(id, &format!("unknown tool `{name}`"), &tool, details);
        };
        if validates && let Some(details) = entry.violations(&arguments) {
            let message = format!("the arguments of tool `{name}` do not fit its input schema");
            return refuse(id, &message, &tool, &details);
        }
        let mut scope = Scope::new()
            .with("tool", tool)
            .with("args", Value::Object(arguments.clone()));
        // Recorded arguments hold no secrets, so the given ones are redacted before they are compared.
        let compared = match entry.tool.recorded {
            None => arguments.clone(),
            Some(alike) => {
                let mut redacted = self.redactor.fresh().object(arguments.clone()).into_inner();
                alike.object(&mut redacted);
                redacted
            }
        };
        let choice = entry.answers.choose(&compared, &mut scope, &mut self.state);
        let called = |response| Called {
            tool: name.clone(),
            arguments: arguments.clone(),
            response,
        };
        let (called, response) = match choice {
            Choice::Response(number, response) => (called(Some(number)), response),
            Choice::Default if entry.tool.recorded.is_none() => {
                (called(None), Arc::new(MockResponse::default()))
            }
            Choice::Exhausted => {
                let text = format!("all responses of mock tool `{name}` that fit are used up");
                let answer = Exchange::answered(id, Ok(tool_error(&text)));
                return (answer, Some(called(None)));
            }
            Choice::Default | Choice::Unmatched => {
                let error = recorded::unrecorded(&entry.tool, &compared).unwrap_or_else(|| {
                    let given = Value::Object(arguments.clone());
                    let count = entry.answers.len();
                    tool_error(&format!("none of the {count} responses of mock tool `{name}` fits the arguments {given}"))
                });
                let answer = Exchange::answered(id, Ok(error));
                return (answer, Some(called(None)));
            }
        };
        let exchange = Exchange::playing(id, response, scope, params).of_tool(name);
        (exchange, Some(called))
    }
}

/// The error for invalid parameters.
pub(super) fn bad_params(message: &str, tool: &Value, details: &str) -> Value {
    let mut error = wire::error(INVALID_PARAMS, message);
    error["data"] = json!({ "tool": tool, "details": details });
    error
}
