//! JSON Schemas, written in place or in a file.

use serde_json::{Value, json};

use crate::json_schema;
use crate::scenario_file::decode::{Decode, NO_HINT, schema, wrong_kind};
use crate::scenario_file::yaml::{Content, Findings, Node, quoted};

/// The largest file of a schema, in bytes.
const MAX_SCHEMA: u64 = 4 * 1024 * 1024;

/// A schema that can be validated against.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct SchemaValue(pub(in crate::scenario_file) Value);

impl Decode for SchemaValue {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let schema = match &node.content {
            Content::Map(_) => node.to_json(),
            Content::Text(path) => {
                let file = findings.folder(node.at).join(path);
                if !findings.may_name(node.at, &file) {
                    return None;
                }
                findings.depends_on(&file);
                let read = findings.read_bytes(&file, MAX_SCHEMA);
                let read = read.and_then(|bytes| {
                    serde_json::from_slice(&bytes).map_err(|error| format!("is not JSON: {error}"))
                });
                match read {
                    Ok(schema) => schema,
                    Err(problem) => {
                        let message = format!("the file {} {problem}", quoted(path));
                        return findings.refuse(node.at, message, NO_HINT);
                    }
                }
            }
            _ => {
                return wrong_kind(
                    node,
                    "a JSON Schema, or the path of a file with one",
                    findings,
                );
            }
        };
        match json_schema::JsonSchema::new(&schema) {
            Err(why) => {
                return findings.refuse(node.at, format!("the schema {why}"), NO_HINT);
            }
            Ok(it) if findings.thorough && accepts_everything(&it) => {
                let hint = "is a keyword misspelt, or does it refer to itself alone?";
                let message = "every JSON value is valid by this schema";
                findings.warning(node.at, message, Some(hint));
            }
            Ok(_) => {}
        }
        Some(Self(schema))
    }
}

/// Whether a schema lets pass whatever comes, tried with one value of each kind and some odd ones.
fn accepts_everything(schema: &json_schema::JsonSchema) -> bool {
    let values = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!(7),
        json!(""),
        json!("\u{1f}"),
        json!([]),
        json!([null, {}, {}]),
        json!({}),
        json!({ "\u{1f}": null }),
    ];
    values
        .iter()
        .all(|it| schema.violations(it).next().is_none())
}

schema!(SchemaValue, {"anyOf": [{"type": "object"}, {"type": "string", "pattern": r"\S"}]});
