//! The types of JSON values, in words.

use std::collections::HashSet;

use serde_json::{Value, json};

use model::digits;

/// The JSON type of a value.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) if digits::of(value).is_some() => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A type with its article, as in "became a string".
pub(crate) fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// The types of the elements of a list.
pub(crate) fn of_elements(list: &[Value]) -> HashSet<&'static str> {
    list.iter().map(kind).collect()
}

/// Whether a list has elements of types that another, which has some, has not.
pub(crate) fn has_other_kinds(known: &Value, list: &Value) -> bool {
    let kinds = |it: &Value| of_elements(it.as_array().map_or(&[], Vec::as_slice));
    let known = kinds(known);
    !known.is_empty() && !kinds(list).is_subset(&known)
}

/// A value without what is in it: lists and objects only say whether anything is.
pub(crate) fn reduced(value: &Value) -> Value {
    match value {
        Value::Array(items) if !items.is_empty() => json!(["…"]),
        Value::Object(members) if !members.is_empty() => json!({ "…": "…" }),
        _ => value.clone(),
    }
}

/// Whether a value is of the kind of another; empty lists and objects are kinds of their own, and so are texts of blanks.
pub(crate) fn is_of_kind(seen: &Value, value: &Value) -> bool {
    if digits::of(seen).is_some() || digits::of(value).is_some() {
        return kind(seen) == kind(value);
    }
    kind(seen) == kind(value) && is_empty(&reduced(seen)) == is_empty(value)
}

/// Whether nothing is in a list, an object or a text.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}
