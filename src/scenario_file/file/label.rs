//! The `label` section: which argument says what a call is for.

use crate::scenario_file::decode::{Decode, schema};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::Node;
use crate::scenario_file::yaml::source::Findings;

/// The way to a text in the arguments of a call: `args.name`, `args.request.tool`.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct LabelPath(pub(in crate::scenario_file) Vec<String>);

impl Decode for LabelPath {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        let steps = text.strip_prefix("args.").into_iter();
        let steps: Vec<String> = steps
            .flat_map(|it| it.split('.'))
            .map(str::to_owned)
            .collect();
        if steps.is_empty() || steps.iter().any(String::is_empty) {
            let message = format!("{} is not the path of an argument", quoted(&text));
            let hint = "write `args.name`, or `args.request.tool` for a nested argument";
            return findings.refuse(node.at, message, Some(hint));
        }
        Some(Self(steps))
    }
}

schema!(LabelPath as "LabelPath", {
    "description": "The way to a text in the arguments of a call: `args.name`, `args.request.tool`.",
    "type": "string",
    "pattern": r"^args(\.[^.]+)+$",
});
