//! `{{references}}` in mock servers that would stay as they are: most are misspelt.

use crate::model::interactions::{Filter, Reference};

use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::Node;
use crate::scenario_file::yaml::source::Findings;
use crate::text::nearest::did_you_mean;

/// Where references start.
const ROOTS: [&str; 11] = [
    "args",
    "get",
    "counter",
    "now",
    "uuid",
    "tool",
    "uri",
    "id",
    "sampling",
    "elicitation",
    "roots",
];

/// Warns of what looks like a reference and is none. Other braces are anybody's.
pub(in crate::scenario_file) fn check(node: &Node, findings: &mut Findings) {
    node.visit_texts(&mut |node, text| {
        for part in text.split("{{").skip(1) {
            if let Some((inner, _)) = part.split_once("}}") {
                check_one(inner, node, findings);
            }
        }
    });
}

fn check_one(inner: &str, node: &Node, findings: &mut Findings) {
    if findings.is_full(node.at) {
        return;
    }
    let root = inner
        .trim()
        .split(['.', '[', '|', ' '])
        .next()
        .unwrap_or_default();
    let is_known = ROOTS.contains(&root);
    let hint = if is_known {
        let filters = Filter::ALL.map(|it| it.0).join("`, `");
        format!(
            "write `{root}.name`, `{root}.name[args.id]`, and behind it `|` with one of `{filters}`"
        )
    } else {
        match did_you_mean(root, ROOTS) {
            Some(hint) => hint,
            None => return,
        }
    };
    if is_known && Reference::parse(inner).is_some() {
        return;
    }
    let at = findings.find_word(node.at, inner);
    let message = format!("{} is not a reference, and stays as it is", quoted(inner));
    findings.warning(at, message, Some(hint));
}
