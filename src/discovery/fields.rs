//! The members of JSON objects, read one by one, with what is wrong about each.

use serde_json::Value;

use super::places::{Document, part};
use crate::scenario_file::Finding;
use crate::text::nearest::did_you_mean;

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

    /// A number that may be missing; `null` is missing, too.
    pub(super) fn optional_number(
        &self,
        pointer: &str,
        key: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<f64> {
        let value = self.value.get(key).filter(|it| !it.is_null())?;
        let number = value.as_f64();
        if number.is_none() {
            let here = format!("{pointer}{}", part(key));
            findings.push(
                self.document
                    .error(&here, format!("`{key}` must be a number")),
            );
        }
        number
    }

    /// Refuses keys that nobody reads: what is meant by a misspelt one would be lost. Those that begin with `x-` are free.
    pub(super) fn refuse_unknown(
        &self,
        pointer: &str,
        known: &[&str],
        findings: &mut Vec<Finding>,
    ) {
        for key in self.value.as_object().into_iter().flat_map(|it| it.keys()) {
            if known.contains(&key.as_str()) || key.starts_with("x-") {
                continue;
            }
            let hint = did_you_mean(key, known.iter().copied())
                .unwrap_or_else(|| format!("known here: {}", known.join(", ")));
            let problem = format!("unknown key `{}`; {hint}", crate::text::shorten(key, 60));
            let here = format!("{pointer}{}", part(key));
            findings.push(self.document.error_at_key(&here, problem));
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
