//! Conditions on arguments and on what a mock server remembers.

use schemars::JsonSchema;
use serde_json::Value;

use crate::model::interactions::ArgumentCondition;

use crate::scenario_file::decode::values::{OnlyTrue, Pattern};
use crate::scenario_file::decode::{Decode, one_key, schema};
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::Findings;

/// What an argument must be.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Condition(pub(in crate::scenario_file) ArgumentCondition);

impl Decode for Condition {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        if !matches!(node.content, Content::Map(_)) {
            return Some(Self(ArgumentCondition::Equals(node.to_json())));
        }
        Some(Self(match Operator::decode(node, findings)? {
            Operator::Contains(text) => ArgumentCondition::Contains(text),
            Operator::Regex(pattern) => ArgumentCondition::Regex(pattern.0),
            Operator::Any(_) => ArgumentCondition::Any,
            Operator::Absent(_) => ArgumentCondition::Absent,
            Operator::Equals(value) => ArgumentCondition::Equals(value),
        }))
    }
}

one_key! {
    /// What an argument must be, where it is not written as it is.
    Operator {
        /// The argument is a text containing this one.
        "contains" => Contains(String),
        /// The argument is a text matching this regular expression.
        "regex" => Regex(Pattern),
        /// The argument is there, whatever it is.
        "any" => Any(OnlyTrue),
        /// There is no such argument.
        "absent" => Absent(OnlyTrue),
        /// The argument equals this value, which may be a map.
        "equals" => Equals(Value),
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

/// Any value but a map.
struct Literal;

schema!(Literal, {"type": ["null", "boolean", "number", "string", "array"]});

schema!(Condition as "Condition", |generator| ConditionSchema::json_schema(generator));
