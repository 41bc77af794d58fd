//! Conditions on arguments and on what a mock server remembers.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::model::interactions::ArgumentCondition;

use super::decode::{Decode, NO_HINT, only_entry};
use super::node::{Content, Node};
use super::source::Findings;
use super::values::Pattern;

/// What an argument must be.
#[derive(Debug, Clone)]
pub(super) struct Condition(pub(super) ArgumentCondition);

impl Decode for Condition {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if !matches!(node.content, Content::Map(_)) {
            return Some(Self(ArgumentCondition::Equals(node.to_json())));
        }
        let known = ["contains", "regex", "any", "absent", "equals"];
        let (operator, value) = only_entry(node, &known, findings)?;
        let condition = match operator {
            "contains" => ArgumentCondition::Contains(Decode::decode(value, findings)?),
            "regex" => ArgumentCondition::Regex(Pattern::decode(value, findings)?.0),
            "any" if bool::decode(value, findings)? => ArgumentCondition::Any,
            "absent" if bool::decode(value, findings)? => ArgumentCondition::Absent,
            "any" | "absent" => {
                let message = format!("only `{operator}: true` has a meaning");
                findings.error(value.at, message, NO_HINT);
                return None;
            }
            _ => ArgumentCondition::Equals(value.to_json()),
        };
        Some(Self(condition))
    }
}

// Says in the schema what `Condition` reads.
/// What an argument must be.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "exists for its JSON Schema")]
enum ConditionSchema {
    /// The argument equals this value.
    Literal(Literal),
    /// The argument meets this condition.
    Operator(Operator),
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "exists for its JSON Schema")]
enum Operator {
    /// The argument is a text containing this one.
    Contains(String),
    /// The argument is a text matching this regular expression.
    Regex(Pattern),
    /// The argument is there, whatever it is.
    Any(bool),
    /// There is no such argument.
    Absent(bool),
    /// The argument equals this value, which may be a map.
    Equals(Value),
}

/// Any value but a map.
struct Literal;

impl JsonSchema for Literal {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Literal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": ["null", "boolean", "number", "string", "array"]})
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ConditionSchema::json_schema(generator)
    }
}
