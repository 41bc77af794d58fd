//! The texts in JSON values and in what became of calls.

use serde_json::Value;

use crate::{Outcome, Step};

/// Visits every text in a value, keys included.
pub fn each(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|it| each(it, visit)),
        Value::Object(members) => {
            for (key, member) in members {
                visit(key);
                each(member, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Changes every text in a value, keys aside.
pub fn each_mut(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|it| each_mut(it, change)),
        Value::Object(members) => members.values_mut().for_each(|it| each_mut(it, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Step {
    /// Visits every text that was said in it, keys included: what stands behind a call that was asked again is left out.
    pub fn each_text(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Self::User { text } | Self::Assistant { text } => visit(text),
            Self::ToolCall(call) => {
                call.arguments.values().for_each(|it| each(it, visit));
                call.outcome.each_text(visit);
            }
        }
    }

    /// Changes every text that was said in it, keys aside.
    pub fn each_text_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::User { text } | Self::Assistant { text } => change(text),
            Self::ToolCall(call) => {
                (call.arguments.values_mut()).for_each(|it| each_mut(it, change));
                call.outcome.each_text_mut(change);
            }
        }
    }
}

impl Outcome {
    /// Visits every text that came from the server, keys included.
    pub fn each_text(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Self::Answer(answer) => {
                let values = answer.content.iter().chain(&answer.structured_content);
                values
                    .chain(answer.other.values())
                    .for_each(|it| each(it, visit));
            }
            Self::Failure(failure) => {
                visit(&failure.message);
                failure.data.iter().for_each(|it| each(it, visit));
            }
        }
    }

    /// Changes every text that came from the server, keys aside.
    pub fn each_text_mut(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.each_value_mut(&mut |it| each_mut(it, change));
        if let Self::Failure(failure) = self {
            change(&mut failure.message);
        }
    }

    /// Changes every value that came from the server.
    pub fn each_value_mut(&mut self, change: &mut dyn FnMut(&mut Value)) {
        match self {
            Self::Answer(answer) => {
                let values = answer.content.iter_mut();
                let values = values.chain(&mut answer.structured_content);
                values.chain(answer.other.values_mut()).for_each(change);
            }
            Self::Failure(failure) => failure.data.iter_mut().for_each(change),
        }
    }
}
