//! A parsed document in which every value knows where it stands.

use std::collections::HashMap;

use serde_json::{Number, Value};

use super::source::Mark;
use crate::model::Object;

/// The deepest nesting of a document. All recursion over nodes is bounded by it.
pub(in crate::scenario_file) const MAX_DEPTH: usize = 100;

/// A value and its place.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Node {
    pub(in crate::scenario_file) at: Mark,
    pub(in crate::scenario_file) content: Content,
}

#[derive(Debug, Clone)]
pub(in crate::scenario_file) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key of a map and its value; keys are unique within a map.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Entry {
    pub(in crate::scenario_file) key: String,
    pub(in crate::scenario_file) key_at: Mark,
    pub(in crate::scenario_file) value: Node,
}

impl Node {
    /// What kind of value this is, as people say it.
    pub(in crate::scenario_file) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Null => "nothing",
            Content::Bool(_) => "a truth value",
            Content::Number(_) => "a number",
            Content::Text(_) => "text",
            Content::List(_) => "a list",
            Content::Map(_) => "a map",
        }
    }

    /// The value as text: text itself, anything else as JSON.
    pub(in crate::scenario_file) fn as_written(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            _ => self.to_json().to_string(),
        }
    }

    /// The entries of a map; none of anything else.
    pub(in crate::scenario_file) fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The entries of a map; none of anything else.
    pub(in crate::scenario_file) fn entries_mut(&mut self) -> &mut [Entry] {
        match &mut self.content {
            Content::Map(entries) => entries,
            _ => &mut [],
        }
    }

    pub(in crate::scenario_file) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .find(|it| it.key == key)
            .map(|it| &it.value)
    }

    pub(in crate::scenario_file) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.content {
            Content::Map(entries) => entries
                .iter_mut()
                .find(|it| it.key == key)
                .map(|it| &mut it.value),
            _ => None,
        }
    }

    /// Visits what stands at a path: keys with dots between them, where `*` stands for every key and `#` for every item of a list.
    pub(in crate::scenario_file) fn visit_path(
        &mut self,
        path: &str,
        visit: &mut dyn FnMut(&mut Self),
    ) {
        let (step, rest) = path.split_once('.').unwrap_or((path, ""));
        match step {
            "" => visit(self),
            "#" => {
                for item in self.items_mut() {
                    item.visit_path(rest, visit);
                }
            }
            _ => {
                let entries = self.entries_mut().iter_mut();
                for entry in entries.filter(|it| step == "*" || it.key == step) {
                    entry.value.visit_path(rest, visit);
                }
            }
        }
    }

    /// Visits every text, however deep.
    pub(in crate::scenario_file) fn visit_texts(&self, visit: &mut dyn FnMut(&Self, &str)) {
        match &self.content {
            Content::Text(text) => visit(self, text),
            Content::List(items) => items.iter().for_each(|it| it.visit_texts(visit)),
            Content::Map(entries) => entries.iter().for_each(|it| it.value.visit_texts(visit)),
            Content::Null | Content::Bool(_) | Content::Number(_) => {}
        }
    }

    /// Visits every text, however deep, which may become something else.
    pub(in crate::scenario_file) fn visit_texts_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        match &mut self.content {
            Content::Text(_) => visit(self),
            Content::List(items) => items.iter_mut().for_each(|it| it.visit_texts_mut(visit)),
            Content::Map(entries) => {
                for entry in entries {
                    entry.value.visit_texts_mut(visit);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) => {}
        }
    }

    /// The items of a list; none of anything else.
    pub(in crate::scenario_file) fn items_mut(&mut self) -> &mut [Self] {
        match &mut self.content {
            Content::List(items) => items,
            _ => &mut [],
        }
    }

    /// The value as JSON, keys in the order written.
    pub(in crate::scenario_file) fn to_json(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(value) => Value::Number(value.clone()),
            Content::Text(value) => Value::String(value.clone()),
            Content::List(items) => items.iter().map(Self::to_json).collect(),
            Content::Map(entries) => Value::Object(Self::object(entries)),
        }
    }

    pub(in crate::scenario_file) fn object(entries: &[Entry]) -> Object {
        entries
            .iter()
            .map(|it| (it.key.clone(), it.value.to_json()))
            .collect()
    }

    /// Lays `self` over `base`: maps merge key by key, anything else replaces what is beneath.
    pub(in crate::scenario_file) fn over(self, base: Self) -> Self {
        let at = self.at;
        match (self.content, base.content) {
            (Content::Map(above), Content::Map(mut merged)) => {
                let index: HashMap<String, usize> = merged
                    .iter()
                    .enumerate()
                    .map(|(at, it)| (it.key.clone(), at))
                    .collect();
                for entry in above {
                    match index.get(&entry.key) {
                        Some(&at) => {
                            let slot = &mut merged[at];
                            let nothing = Self {
                                at: entry.value.at,
                                content: Content::Null,
                            };
                            let beneath = std::mem::replace(&mut slot.value, nothing);
                            slot.value = entry.value.over(beneath);
                            slot.key_at = entry.key_at;
                        }
                        None => merged.push(entry),
                    }
                }
                Self {
                    at,
                    content: Content::Map(merged),
                }
            }
            (content, _) => Self { at, content },
        }
    }
}

impl From<Scalar> for Content {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Number(value) => Self::Number(value),
            Scalar::Text(value) => Self::Text(value),
        }
    }
}

/// A scalar as JSON knows it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scenario_file) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
}

/// Reads an unquoted scalar by the rules of `serde_yaml`, so that what it writes reads back the same.
///
/// `yes`, `on` and numbers with leading zeros are text. An error, in words, for a number that JSON cannot hold.
pub(in crate::scenario_file) fn plain_scalar(text: &str) -> Result<Scalar, &'static str> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        _ => match text.parse::<serde_yaml::Number>() {
            Ok(number) => Scalar::Number(json_number(&number)?),
            Err(_) if is_too_large(text) => return Err("is a number too large to hold"),
            Err(_) => Scalar::Text(text.to_owned()),
        },
    })
}

fn json_number(number: &serde_yaml::Number) -> Result<Number, &'static str> {
    if let Some(number) = number.as_u64() {
        return Ok(number.into());
    }
    if let Some(number) = number.as_i64() {
        return Ok(number.into());
    }
    number
        .as_f64()
        .and_then(Number::from_f64)
        .ok_or("is not a number that JSON knows")
}

/// Whether a text is written like a number, but beyond the range of integers (64 bits) or floating point numbers.
fn is_too_large(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let integer = !digits.starts_with('0') && digits.bytes().all(|it| it.is_ascii_digit());
    let float = digits.starts_with(|it: char| it.is_ascii_digit() || it == '.')
        && digits.parse::<f64>().is_ok_and(f64::is_infinite);
    !digits.is_empty() && (integer || float)
}
