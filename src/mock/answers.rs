//! Which prepared response answers a call, and what it says.

use std::time::Duration;

use regex::Regex;
use serde_json::{Value, json};

use crate::model::Object;
use crate::model::interactions::{ArgumentCondition, MockReply, MockResponse, MockTool};

/// A tool with the responses that are left.
#[derive(Debug)]
pub(super) struct PreparedTool {
    pub(super) tool: MockTool,
    /// How often each response has answered.
    answered: Vec<u32>,
    /// Its regular expressions, by response and condition.
    patterns: Vec<Vec<Option<Regex>>>,
}

/// What to send back, and after how long.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) delay: Option<Duration>,
    /// A result or an error object.
    pub(super) reply: Result<Value, Value>,
}

impl PreparedTool {
    /// # Errors
    ///
    /// A sentence when a regular expression is invalid.
    pub(super) fn new(tool: MockTool) -> Result<Self, String> {
        let patterns = tool
            .responses
            .iter()
            .map(|response| {
                response
                    .matches
                    .iter()
                    .map(|(_, condition)| compile(condition))
                    .collect()
            })
            .collect::<Result<_, String>>()
            .map_err(|problem| format!("tool `{}`: {problem}", tool.name))?;
        Ok(Self {
            answered: vec![0; tool.responses.len()],
            tool,
            patterns,
        })
    }

    /// The answer of the first response that is not used up and whose conditions hold.
    pub(super) fn answer(&mut self, arguments: &Object) -> Prepared {
        let chosen = self
            .tool
            .responses
            .iter()
            .enumerate()
            .position(|(index, response)| {
                response
                    .times
                    .is_none_or(|times| self.answered[index] < times)
                    && matches(response, &self.patterns[index], arguments)
            });
        let Some(index) = chosen else {
            let text = if self.tool.responses.is_empty() {
                format!(
                    "the mock declares no response for tool `{}`",
                    self.tool.name
                )
            } else {
                format!(
                    "none of the {} responses of mock tool `{}` fits the arguments {}",
                    self.tool.responses.len(),
                    self.tool.name,
                    Value::Object(arguments.clone())
                )
            };
            return Prepared {
                delay: None,
                reply: Ok(
                    json!({ "content": [{ "type": "text", "text": text }], "isError": true }),
                ),
            };
        };
        self.answered[index] += 1;
        let response = &self.tool.responses[index];
        Prepared {
            delay: response.delay,
            reply: reply(&response.reply, arguments),
        }
    }
}

fn compile(condition: &ArgumentCondition) -> Result<Option<Regex>, String> {
    match condition {
        ArgumentCondition::Regex(pattern) => Regex::new(pattern)
            .map(Some)
            .map_err(|error| error.to_string()),
        _ => Ok(None),
    }
}

fn matches(response: &MockResponse, patterns: &[Option<Regex>], arguments: &Object) -> bool {
    response
        .matches
        .iter()
        .zip(patterns)
        .all(|((name, condition), pattern)| {
            let Some(argument) = arguments.get(name) else {
                return false;
            };
            match (condition, pattern) {
                (ArgumentCondition::Equals(expected), _) => argument == expected,
                (ArgumentCondition::Contains(part), _) => argument
                    .as_str()
                    .is_some_and(|it| it.contains(part.as_str())),
                (ArgumentCondition::Regex(_), Some(pattern)) => {
                    argument.as_str().is_some_and(|it| pattern.is_match(it))
                }
                (ArgumentCondition::Regex(_), None) => false,
                (ArgumentCondition::Any, _) => true,
            }
        })
}

fn reply(reply: &MockReply, arguments: &Object) -> Result<Value, Value> {
    match reply {
        MockReply::Result {
            content,
            structured_content,
            is_error,
        } => {
            let mut content = Value::Array(content.clone());
            fill(&mut content, arguments);
            let mut result = json!({ "content": content });
            if let Some(structured) = structured_content {
                let mut structured = structured.clone();
                fill(&mut structured, arguments);
                result["structuredContent"] = structured;
            }
            if *is_error {
                result["isError"] = Value::Bool(true);
            }
            Ok(result)
        }
        MockReply::Error {
            code,
            message,
            data,
        } => {
            let mut error = json!({ "code": code, "message": message });
            if let Some(data) = data {
                error["data"] = data.clone();
            }
            Err(error)
        }
    }
}

/// Puts arguments where texts say `{{args.NAME}}`; a text that says nothing else takes the argument with its type.
fn fill(value: &mut Value, arguments: &Object) {
    match value {
        Value::String(text) if text.contains("{{args.") => *value = filled(text, arguments),
        Value::Array(items) => items.iter_mut().for_each(|it| fill(it, arguments)),
        Value::Object(members) => members.values_mut().for_each(|it| fill(it, arguments)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn filled(text: &str, arguments: &Object) -> Value {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once("{{args.") {
        let Some((name, after)) = reference.split_once("}}") else {
            break;
        };
        let argument = arguments.get(name.trim());
        if before.is_empty() && after.is_empty() && result.is_empty() {
            return argument.cloned().unwrap_or(Value::Null);
        }
        result.push_str(before);
        match argument {
            Some(Value::String(text)) => result.push_str(text),
            Some(other) => result.push_str(&other.to_string()),
            None => {}
        }
        rest = after;
    }
    result.push_str(rest);
    Value::String(result)
}
