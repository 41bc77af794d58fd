//! What schemas refer to, and that one and the same is written in several ways.

use serde_json::Value;

use crate::values::same::same;

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
