//! The values that a schema limits a place to, and the schemas it refers to.

use serde_json::Value;

use super::node::{Difference, Node};
use crate::text::excerpt;
use crate::values::same::same;
use model::text::few;

/// How many values are shown of a list.
const SHOWN: usize = 10;

/// What changed in the values that are accepted.
pub(super) fn changed(b: &Node<'_>, c: &Node<'_>) -> Vec<Difference> {
    let (old, new) = (allowed(b), allowed(c));
    let is_const = c.get("const").is_some() || (new.is_none() && b.get("const").is_some());
    let keyword = if is_const { "const" } else { "enum" };
    let mut found = Vec::new();
    match (&old, &new) {
        (Some(old), Some(new)) => {
            let (gone, added) = (missing(old, new), missing(new, old));
            if !gone.is_empty() {
                found.push((format!("no longer accepts {}", listed(&gone)), true));
            }
            if !added.is_empty() {
                found.push((format!("now also accepts {}", listed(&added)), false));
            }
        }
        (None, Some(new)) => found.push((format!("now accepts only {}", listed(new)), true)),
        (Some(_), None) => {
            found.push(("is no longer limited to certain values".to_owned(), false));
        }
        (None, None) => {}
    }
    let (was, now) = (old.as_deref().map(listed), new.as_deref().map(listed));
    let differences = found.into_iter().map(|(what, narrows)| Difference {
        keyword,
        what,
        was: was.clone(),
        now: now.clone(),
        narrows,
    });
    differences.collect()
}

/// The values as they are shown, the first of them if they are many.
pub(super) fn listed(values: &[&Value]) -> String {
    few(values.iter().map(|it| excerpt::of(it)), SHOWN)
}

/// The only values that are accepted; `None` where that is not said.
fn allowed<'a>(schema: &Node<'a>) -> Option<Vec<&'a Value>> {
    let of_enum = schema.get("enum").and_then(Value::as_array);
    of_enum
        .map(|it| it.iter().collect())
        .or_else(|| schema.get("const").map(|it| vec![it]))
}

fn missing<'a>(from: &[&'a Value], among: &[&'a Value]) -> Vec<&'a Value> {
    let is_gone = |it: &&&Value| !among.iter().any(|other| same(it, other));
    from.iter().filter(is_gone).copied().collect()
}

/// Whether what can be referred to is the same in both documents, or nothing is referred to at all.
pub(super) fn refer_to_the_same(b: &Value, c: &Value) -> bool {
    let (old, new) = (b.to_string(), c.to_string());
    let refers = |it: &str| it.contains("\"$ref\"");
    if !refers(&old) && !refers(&new) {
        return true;
    }
    let elsewhere = |it: &str| it.contains("\"#/properties") || it.contains("\"#\"");
    let same_definitions =
        ["$defs", "definitions"]
            .iter()
            .all(|key| match (b.get(key), c.get(key)) {
                (Some(b), Some(c)) => same(b, c),
                (b, c) => b.is_none() && c.is_none(),
            });
    same_definitions && !elsewhere(&old) && !elsewhere(&new)
}

/// Whether two schemas that differ may say the same, one of them through references or single alternatives.
pub(super) fn is_written_otherwise(b: &Value, c: &Value) -> bool {
    let indirect = |it: &Value| {
        [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "$defs",
            "definitions",
            "nullable",
        ]
        .iter()
        .any(|key| it.get(key).is_some())
    };
    let other = |it: &Value| it.get("type").is_some_and(Value::is_array);
    indirect(b) || indirect(c) || other(b) || other(c)
}
