//! Bindings: arguments of a request that come from an earlier answer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An argument, or a part of one, that comes from an earlier answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// The call whose argument it is, counted from 1 among the scored calls.
    pub call: usize,
    /// JSON pointer to it in the arguments.
    pub path: String,
    /// The recorded value: the whole argument, or the part of a text that is bound.
    pub value: Value,
    pub from: Source,
}

/// A place in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The call that was answered, counted from 1 among the scored calls of its trajectory; in a comparison, of the baseline.
    pub call: usize,
    /// JSON pointer into the structured content or the text as JSON; from `/content` or `/structuredContent` on a path into the answer.
    pub path: String,
}

/// What a scenario says of the bindings of one argument, in place of those that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct BindingRule {
    pub call: usize,
    /// As in [`Binding::path`].
    pub path: String,
    /// `None` where the recorded value is to be used.
    pub from: Option<Source>,
    /// The part of the argument that is bound; the value recorded at the source unless given.
    pub value: Option<Value>,
    /// Where the scenario says so: file, line and column.
    pub place: String,
}

impl fmt::Display for Binding {
    /// `call 2 /id ← call 1 response /id`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} {} ← {}", self.call, self.path, self.from)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "(all of it)"
        } else {
            &self.path
        };
        write!(f, "call {} response {path}", self.call)
    }
}
