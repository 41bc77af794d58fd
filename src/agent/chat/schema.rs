//! Schemas of arguments as the APIs of models take them: one object, without branches on top.

use serde_json::{Value, json};

use crate::model::Object;

/// What vendors refuse at the top of a schema, with the whole request.
const BRANCHES: [&str; 6] = ["anyOf", "oneOf", "allOf", "not", "enum", "if"];

/// A tool's schema as a model is offered it, and what was taken off its top. The parameters of all branches are offered; those of all that
/// must hold stay required.
pub(super) fn offered(served: Option<&Value>) -> (Value, Vec<&'static str>) {
    let Some(Value::Object(schema)) = served else {
        return (json!({ "type": "object", "properties": {} }), Vec::new());
    };
    let mut offered = schema.clone();
    let mut taken_off = Vec::new();
    for name in BRANCHES {
        let Some(branches) = offered.shift_remove(name) else {
            continue;
        };
        taken_off.push(name);
        for branch in branches.as_array().into_iter().flatten() {
            add(&mut offered, &branch["properties"]);
            let required = branch["required"].as_array().filter(|_| name == "allOf");
            if let Some(all) = required {
                let own = offered.entry("required").or_insert(json!([]));
                if let Some(own) = own.as_array_mut() {
                    let new: Vec<Value> =
                        all.iter().filter(|it| !own.contains(it)).cloned().collect();
                    own.extend(new);
                }
            }
        }
    }
    if !taken_off.is_empty() {
        for name in ["then", "else"] {
            if let Some(branch) = offered.shift_remove(name) {
                add(&mut offered, &branch["properties"]);
            }
        }
        offered.insert("type".to_owned(), json!("object"));
    }
    (Value::Object(offered), taken_off)
}

/// Adds the parameters that a schema does not have yet.
fn add(schema: &mut Object, more: &Value) {
    let Some(more) = more.as_object() else {
        return;
    };
    let own = schema.entry("properties").or_insert(json!({}));
    if let Some(own) = own.as_object_mut() {
        for (name, it) in more {
            own.entry(name.as_str()).or_insert_with(|| it.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::offered;

    #[test]
    fn branches_on_top_become_parameters() {
        let cases = [
            (
                json!({ "type": "object", "properties": { "a": { "anyOf": [{}] } } }),
                json!({ "type": "object", "properties": { "a": { "anyOf": [{}] } } }),
                0,
            ),
            (
                json!({
                    "properties": { "a": { "type": "string" } },
                    "anyOf": [
                        { "properties": { "a": {}, "b": {} }, "required": ["b"] },
                        { "properties": { "c": {} }, "required": ["c"] },
                    ],
                }),
                json!({ "properties": { "a": { "type": "string" }, "b": {}, "c": {} }, "type": "object" }),
                1,
            ),
            (
                json!({ "required": ["a"], "allOf": [{ "properties": { "b": {} }, "required": ["b", "a"] }] }),
                json!({ "required": ["a", "b"], "properties": { "b": {} }, "type": "object" }),
                1,
            ),
            (
                json!({ "if": {}, "then": { "properties": { "a": {} } }, "else": {}, "not": {} }),
                json!({ "properties": { "a": {} }, "type": "object" }),
                2,
            ),
        ];
        for (served, expected, taken_off) in cases {
            let (found, off) = offered(Some(&served));
            assert_eq!((&found, off.len()), (&expected, taken_off), "{served}");
        }
        let empty: [Option<&Value>; 2] = [None, Some(&json!([]))];
        for it in empty {
            assert_eq!(offered(it).0, json!({ "type": "object", "properties": {} }));
        }
    }
}
