//! Scenarios of the original tool in which a second model played the user: they are written otherwise here.

use crate::scenario_file::yaml::{Content, Entry, Findings, Node};

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

/// Why such a scenario is not run.
const SKIPPED: &str = "it is a dialogue of the original tool, whose user a second model plays; here its messages are listed under `turns`";

/// What a document has of such a dialogue.
pub(super) enum Dialogue {
    /// Nothing.
    No,
    /// It is one, and has become a scenario that says so and is skipped, for this reason.
    Skipped(&'static str),
    /// It is none, but has keys of one, which was said.
    Mixed,
}

/// Makes of a dialogue of the original tool what can be read here, and says what stands here for its keys: a suite that has some is run
/// without them.
pub(super) fn of_original(document: &mut Node, findings: &mut Findings) -> Dialogue {
    let marked = document.entries().iter().find(|it| is_mark(it));
    let Some(mark) = marked.map(|it| it.key_at) else {
        return own_keys(document, findings);
    };
    let hint = "list what the user says under `turns`, and the tools under `expected_trajectory`; an `agent` with a model answers each message; see `mcp-eval help scenario`";
    findings.warning(mark, format!("skipped: {SKIPPED}"), Some(hint));
    if findings.thorough {
        for entry in document.entries() {
            if let Some((key, hint)) = KEYS.iter().find(|it| it.0 == entry.key) {
                let message = format!("unknown key `{key}`");
                findings.warning(entry.key_at, message, Some(hint));
            }
        }
    }
    if let Content::Map(entries) = &mut document.content {
        let has_intent = entries.iter().any(|it| it.key == "user_intent");
        for entry in entries.iter_mut() {
            if entry.key == "initial_user_intent" && !has_intent {
                "user_intent".clone_into(&mut entry.key);
            }
        }
        entries.retain(|it| !is_mark(it) && KEYS.iter().all(|(key, _)| *key != it.key));
        // What is expected is in the keys that have just gone.
        if !entries.iter().any(|it| it.key == "expected_trajectory") {
            entries.push(Entry {
                key: "expected_trajectory".to_owned(),
                key_at: mark,
                value: Node {
                    at: mark,
                    content: Content::List(Vec::new()),
                },
            });
        }
    }
    Dialogue::Skipped(SKIPPED)
}

/// Whether a key says that the document is such a dialogue.
fn is_mark(entry: &Entry) -> bool {
    entry.key == "type"
        && matches!(&entry.value.content, Content::Text(it) if it.starts_with("multi_turn"))
}

/// Says what stands here for keys of such a dialogue in another document.
fn own_keys(document: &Node, findings: &mut Findings) -> Dialogue {
    let mut found = Dialogue::No;
    for entry in document.entries() {
        if let Some((key, hint)) = KEYS.iter().find(|it| it.0 == entry.key) {
            let message = format!("unknown key `{key}`");
            findings.error(entry.key_at, message, Some(hint));
            found = Dialogue::Mixed;
        }
    }
    found
}
