//! Scenarios of the original tool in which a second model played the user: they are written otherwise here.

use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};

/// Their keys, and what stands for them here.
const KEYS: [(&str, &str); 5] = [
    (
        "initial_user_intent",
        "it is the first message of `turns`, the list of what the user says",
    ),
    (
        "expected_dialog_flow",
        "list what the user says under `turns`, and the tools under `expected_trajectory`",
    ),
    (
        "multi_turn",
        "list what the user says under `turns`, message by message",
    ),
    (
        "conversation",
        "list what the user says under `turns`, message by message",
    ),
    (
        "max_turns",
        "as many turns are played as `turns` lists; `limits.max_steps` bounds what a model does",
    ),
];

/// Says what stands here for the keys of a dialogue of the original tool; whether there were any.
pub(super) fn is_foreign_dialogue(document: &Node, findings: &mut Findings) -> bool {
    let mut is_foreign = false;
    let mut found = |at: Mark, what: String, hint: &str| {
        findings.error(at, what, Some(hint));
        is_foreign = true;
    };
    for entry in document.entries() {
        let is_dialogue = entry.key == "type"
            && matches!(&entry.value.content, Content::Text(it) if it.starts_with("multi_turn"));
        if is_dialogue {
            let hint = "a scenario with several messages lists them under `turns`, and an `agent` with a model answers each; see `mcp-eval help scenario`";
            found(entry.key_at, "unknown key `type`".to_owned(), hint);
        } else if let Some((key, hint)) = KEYS.iter().find(|it| it.0 == entry.key) {
            found(entry.key_at, format!("unknown key `{key}`"), hint);
        }
    }
    is_foreign
}
