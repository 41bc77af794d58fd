//! The tools of a mock server: which there are, and who answers a call.

use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Value, json};

use crate::mock::answers::{Answers, Choice};
use crate::mock::core::Core;
use crate::mock::exchange::Exchange;
use crate::mock::recorded;
use crate::mock::render::tool_error;
use crate::mock::template::Scope;
use crate::mock::wire::{self, INVALID_PARAMS, Id};
use crate::model::Object;
use crate::model::interactions::{MockResponse, MockTool};

/// The most tools a server has.
pub const MAX_TOOLS: usize = 1000;

/// How many violations of a schema an error tells.
const MAX_VIOLATIONS: usize = 5;

/// The tools by the order they are listed in.
#[derive(Debug, Default)]
pub(super) struct Tools {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    tool: MockTool,
    answers: Answers,
    hidden: bool,
    /// Made from the input schema when the first call is checked.
    validator: Option<Result<Validator, String>>,
}

/// A call as it is written down.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Called {
    pub(super) tool: String,
    pub(super) arguments: Object,
    /// The number of the response that answers, counted from 1; `None` when none of the tool's responses does.
    pub(super) response: Option<usize>,
}

impl Tools {
    /// # Errors
    ///
    /// A sentence about the first tool that cannot be served.
    pub(super) fn new(declared: &[MockTool]) -> Result<Self, String> {
        let mut tools = Self::default();
        for tool in declared {
            if tools.position(&tool.name).is_some() {
                return Err(format!("the tool `{}` is declared twice", tool.name));
            }
            tools.put(tool.clone())?;
        }
        Ok(tools)
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|it| it.tool.name == name)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Adds a tool, or replaces the one of the same name.
    ///
    /// # Errors
    ///
    /// A sentence when there are too many tools, or an invalid regular expression.
    pub(super) fn put(&mut self, tool: MockTool) -> Result<(), String> {
        let answers = Answers::new(&tool.responses, tool.on_exhausted)
            .map_err(|problem| format!("tool `{}`: {problem}", tool.name))?;
        let place = self.position(&tool.name);
        if place.is_none() && self.entries.len() >= MAX_TOOLS {
            return Err(format!("a mock server has at most {MAX_TOOLS} tools"));
        }
        let entry = Entry {
            hidden: tool.hidden,
            answers,
            tool,
            validator: None,
        };
        match place {
            Some(place) => self.entries[place] = entry,
            None => self.entries.push(entry),
        }
        Ok(())
    }

    /// Removes a tool; false when there is none of the name.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let place = self.position(name);
        if let Some(place) = place {
            self.entries.remove(place);
        }
        place.is_some()
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Hides or shows tools; whether that changed the list.
    pub(super) fn hide(&mut self, names: &[String], hidden: bool) -> bool {
        let mut changed = false;
        for entry in &mut self.entries {
            if names.contains(&entry.tool.name) && entry.hidden != hidden {
                entry.hidden = hidden;
                changed = true;
            }
        }
        changed
    }

    /// As `tools/list` serves them.
    pub(super) fn listed(&self) -> Vec<Object> {
        let listed = self.entries.iter().filter(|it| !it.hidden);
        listed.map(|it| it.tool.served.clone()).collect()
    }

    /// The tool that is called so. What a recording has of calls to a tool that was not listed is an answer, too.
    fn find(&mut self, name: &str) -> Option<&mut Entry> {
        self.entries
            .iter_mut()
            .find(|it| it.tool.name == name && (!it.hidden || it.tool.recorded))
    }
}

impl Entry {
    /// What is wrong with arguments, by the input schema.
    fn violations(&mut self, arguments: &Object) -> Option<String> {
        let schema = self.tool.input_schema()?;
        let validator = self.validator.get_or_insert_with(|| {
            jsonschema::options()
                .with_pattern_options(PatternOptions::regex())
                .build(schema)
                .map_err(|error| format!("the input schema is no JSON Schema: {error}"))
        });
        let validator = match validator {
            Ok(validator) => validator,
            Err(problem) => return Some(problem.clone()),
        };
        let arguments = Value::Object(arguments.clone());
        let found: Vec<String> = validator
            .iter_errors(&arguments)
            .take(MAX_VIOLATIONS)
            .map(|error| match error.instance_path().as_str() {
                "" => error.to_string(),
                path => format!("{path}: {error}"),
            })
            .collect();
        (!found.is_empty()).then(|| found.join("; "))
    }
}

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
                    Some(_) => "`name` is no text",
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
                return refuse(id, &message, &tool, "`arguments` is no object");
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
        let choice = entry
            .answers
            .choose(&arguments, &mut scope, &mut self.state);
        let called = |response| Called {
            tool: name.clone(),
            arguments: arguments.clone(),
            response,
        };
        let (called, response) = match choice {
            Choice::Response(number, response) => (called(Some(number)), response),
            Choice::Default if !entry.tool.recorded => {
                (called(None), Arc::new(MockResponse::default()))
            }
            Choice::Exhausted => {
                let text = format!("all responses of mock tool `{name}` that fit are used up");
                let answer = Exchange::answered(id, Ok(tool_error(&text)));
                return (answer, Some(called(None)));
            }
            Choice::Default | Choice::Unmatched => {
                let error = recorded::unrecorded(&entry.tool, &arguments).unwrap_or_else(|| {
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

    /// All responses are as good as new, and declared tools are as hidden as they were.
    pub(super) fn reset_tools(&mut self) {
        for entry in &mut self.tools.entries {
            entry.answers.reset();
            entry.hidden = entry.tool.hidden;
        }
    }
}

/// The error for parameters that make no sense.
pub(super) fn bad_params(message: &str, tool: &Value, details: &str) -> Value {
    let mut error = wire::error(INVALID_PARAMS, message);
    error["data"] = json!({ "tool": tool, "details": details });
    error
}
