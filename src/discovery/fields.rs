//! The members of JSON objects, read one by one, with what is wrong about each.

use std::cell::RefCell;

use serde_json::Value;

use super::places::{Document, part};
use crate::scenario_file::Finding;
use crate::text::nearest::did_you_mean;

/// A value of a document: an object whose members are read, or a list of such.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    document: &'a Document,
    findings: &'a RefCell<Vec<Finding>>,
    pub(super) value: &'a Value,
    /// Leads to it in the document.
    pub(super) pointer: String,
}

/// Reads what can be read of a document, and adds what is wrong with it.
pub(super) fn read_partly<T>(
    document: &Document,
    findings: &mut Vec<Finding>,
    read: impl FnOnce(&Fields<'_>) -> Option<T>,
) -> Option<T> {
    // Of a key that is there twice, nobody knows which is meant.
    let found = RefCell::new(document.doubled_keys());
    let read = read(&Fields {
        document,
        findings: &found,
        value: &document.value,
        pointer: String::new(),
    });
    findings.extend(found.into_inner());
    read
}

/// Reads a document with which nothing is wrong.
///
/// # Errors
///
/// All that is wrong with it.
pub(super) fn read_whole<T>(
    document: &Document,
    read: impl FnOnce(&Fields<'_>) -> Option<T>,
) -> Result<T, Vec<Finding>> {
    let mut findings = Vec::new();
    match read_partly(document, &mut findings, read) {
        Some(read) if findings.is_empty() => Ok(read),
        _ => Err(findings),
    }
}

impl<'a> Fields<'a> {
    /// What is under a key or a number.
    fn below(&self, key: impl std::fmt::Display, value: &'a Value) -> Self {
        Self {
            value,
            pointer: format!("{}{}", self.pointer, part(key)),
            ..self.clone()
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.value.get(key)
    }

    pub(super) fn member(&self, key: &str) -> Option<Self> {
        Some(self.below(key, self.get(key)?))
    }

    /// A member of which nothing can be read where it is missing.
    pub(super) fn member_or_null(&self, key: &str) -> Self {
        self.below(key, self.get(key).unwrap_or(&Value::Null))
    }

    /// The members with their keys; none of what is no object.
    pub(super) fn members(&self) -> Vec<(&'a str, Self)> {
        let members = self.value.as_object().into_iter().flatten();
        members
            .map(|(key, value)| (key.as_str(), self.below(key, value)))
            .collect()
    }

    /// The items; none of what is no list.
    pub(super) fn items(&self) -> Vec<Self> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items
            .map(|(index, value)| self.below(index, value))
            .collect()
    }

    /// The items of a member; none where it is no list.
    pub(super) fn items_of(&self, key: &str) -> Vec<Self> {
        self.member_or_null(key).items()
    }

    /// How much is wrong with the document so far.
    pub(super) fn wrong_so_far(&self) -> usize {
        self.findings.borrow().len()
    }

    /// Tells that something is wrong with this value.
    pub(super) fn refuse(&self, problem: impl AsRef<str>) {
        let finding = self.document.error(&self.pointer, problem);
        self.findings.borrow_mut().push(finding);
    }

    /// Tells that something is wrong with a member, or that it is missing.
    pub(super) fn error(&self, key: &str, problem: impl AsRef<str>) {
        self.member_or_null(key).refuse(problem);
    }

    /// A text that must be there and not be empty.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        let problem = match self.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => return Some(text),
            Some(Value::String(_)) => format!("`{key}` is empty"),
            Some(_) => format!("`{key}` must be a text"),
            None => format!("`{key}` is missing"),
        };
        self.error(key, problem);
        None
    }

    /// A text that may be missing; `null` is missing, too.
    pub(super) fn optional_text(&self, key: &str) -> Option<&'a str> {
        let value = self.get(key).filter(|it| !it.is_null())?;
        if !value.is_string() {
            self.error(key, format!("`{key}` must be a text"));
        }
        value.as_str()
    }

    /// A number that may be missing; `null` is missing, too.
    pub(super) fn optional_number(&self, key: &str) -> Option<f64> {
        let number = self.get(key).filter(|it| !it.is_null())?.as_f64();
        if number.is_none() {
            self.error(key, format!("`{key}` must be a number"));
        }
        number
    }

    /// Refuses keys that nobody reads: what is meant by a misspelt one would be lost. Those that begin with `x-` are free.
    pub(super) fn refuse_unknown(&self, known: &[&str]) {
        for (key, member) in self.members() {
            if known.contains(&key) || key.starts_with("x-") {
                continue;
            }
            let hint = did_you_mean(key, known.iter().copied())
                .unwrap_or_else(|| format!("known here: {}", known.join(", ")));
            let problem = format!("unknown key `{}`; {hint}", crate::text::shorten(key, 60));
            let finding = self.document.error_at_key(&member.pointer, problem);
            self.findings.borrow_mut().push(finding);
        }
    }

    /// A list that must be there.
    pub(super) fn list(&self, key: &str) -> Option<Self> {
        let problem = match self.member(key) {
            Some(list) if list.value.is_array() => return Some(list),
            Some(_) => format!("`{key}` must be a list"),
            None => format!("`{key}` is missing"),
        };
        self.error(key, problem);
        None
    }

    /// A list that may be missing; `null` is missing, too.
    pub(super) fn optional_list(&self, key: &str) -> Option<Self> {
        self.get(key).filter(|it| !it.is_null())?;
        self.list(key)
    }

    /// The items of a list; those that are no objects are findings.
    pub(super) fn objects(&self, what: &str) -> Vec<Self> {
        let (objects, others): (Vec<Self>, Vec<Self>) =
            (self.items().into_iter()).partition(|it| it.value.is_object());
        for other in others {
            other.refuse(format!("{what} must be an object"));
        }
        objects
    }
}
