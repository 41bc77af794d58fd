//! The tools of a mock server: which there are, and which arguments they take.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::mock::answers::Answers;
use crate::model::Object;
use crate::model::interactions::MockTool;

/// The most tools a server has.
pub const MAX_TOOLS: usize = 1000;

/// How many violations of a schema an error lists.
const MAX_VIOLATIONS: usize = 5;

/// The tools by the order they are listed in.
#[derive(Debug, Default)]
pub(super) struct Tools {
    entries: Vec<Entry>,
}

/// A tool and what it has answered.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) tool: MockTool,
    pub(super) answers: Answers,
    hidden: bool,
    /// Made from the input schema when the first call is checked.
    validator: Option<Result<Validator, String>>,
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
        let index = self.position(&tool.name);
        if index.is_none() && self.entries.len() >= MAX_TOOLS {
            return Err(format!("a mock server has at most {MAX_TOOLS} tools"));
        }
        let entry = Entry {
            hidden: tool.hidden,
            answers,
            tool,
            validator: None,
        };
        match index {
            Some(index) => self.entries[index] = entry,
            None => self.entries.push(entry),
        }
        Ok(())
    }

    /// Removes a tool; false when there is none of the name.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let index = self.position(name);
        if let Some(index) = index {
            self.entries.remove(index);
        }
        index.is_some()
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

    /// Makes all responses available again, and hides declared tools as at the start; tells whether that changed the list.
    pub(super) fn reset(&mut self) -> bool {
        let mut changed = false;
        for entry in &mut self.entries {
            entry.answers.reset();
            changed |= entry.hidden != entry.tool.hidden;
            entry.hidden = entry.tool.hidden;
        }
        changed
    }

    /// The tool of this name. Of a recording, also one that was not listed, because calls of it were answered, too.
    pub(super) fn find(&mut self, name: &str) -> Option<&mut Entry> {
        self.entries
            .iter_mut()
            .find(|it| it.tool.name == name && (!it.hidden || it.tool.recorded.is_some()))
    }
}

impl Entry {
    /// What is wrong with arguments, by the input schema.
    pub(super) fn violations(&mut self, arguments: &Object) -> Option<String> {
        let schema = self.tool.input_schema()?;
        let validator = self.validator.get_or_insert_with(|| {
            jsonschema::options()
                .with_pattern_options(PatternOptions::regex())
                .build(schema)
                .map_err(|error| format!("the input schema is not a JSON Schema: {error}"))
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
