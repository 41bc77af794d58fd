//! The members of JSON objects, read one by one, with what is wrong about each.

use serde_json::Value;

use super::finding::Finding;
use super::places::{Document, part};

/// An object of a document.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) document: &'a Document,
    value: &'a Value,
}

/// A list and the pointer that leads to it.
pub(super) struct Items<'a> {
    pub(super) pointer: String,
    pub(super) items: &'a [Value],
}

impl<'a> Fields<'a> {
    pub(super) fn new(document: &'a Document, value: &'a Value) -> Self {
        Self { document, value }
    }

    /// A text that must be there and not be empty.
    pub(super) fn text(
        &self,
        pointer: &str,
        key: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<&'a str> {
        let here = format!("{pointer}{}", part(key));
        let problem = match self.value.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => return Some(text),
            Some(Value::String(_)) => format!("`{key}` is empty"),
            Some(_) => format!("`{key}` must be a text"),
            None => format!("`{key}` is missing"),
        };
        findings.push(self.document.error(&here, problem));
        None
    }

    /// A text that may be missing; `null` is missing, too.
    pub(super) fn optional_text(
        &self,
        pointer: &str,
        key: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<&'a str> {
        match self.value.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => {
                let here = format!("{pointer}{}", part(key));
                let problem = format!("`{key}` must be a text");
                findings.push(self.document.error(&here, problem));
                None
            }
        }
    }

    /// A list that must be there.
    pub(super) fn list(
        &self,
        pointer: &str,
        key: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<Items<'a>> {
        let here = format!("{pointer}{}", part(key));
        let problem = match self.value.get(key) {
            Some(Value::Array(items)) => {
                return Some(Items {
                    pointer: here,
                    items,
                });
            }
            Some(_) => format!("`{key}` must be a list"),
            None => format!("`{key}` is missing"),
        };
        findings.push(self.document.error(&here, problem));
        None
    }
}

impl<'a> Items<'a> {
    /// The items with the pointers that lead to them; those that are no objects are findings.
    pub(super) fn objects(
        self,
        document: &'a Document,
        what: &str,
        findings: &mut Vec<Finding>,
    ) -> Vec<(String, Fields<'a>)> {
        let mut objects = Vec::with_capacity(self.items.len());
        for (index, value) in self.items.iter().enumerate() {
            let pointer = format!("{}{}", self.pointer, part(index));
            if value.is_object() {
                objects.push((pointer, Fields::new(document, value)));
            } else {
                let problem = format!("{what} must be an object");
                findings.push(document.error(&pointer, problem));
            }
        }
        objects
    }
}

impl<'a> Fields<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.value.get(key)
    }
}
