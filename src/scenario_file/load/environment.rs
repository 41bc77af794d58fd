//! `environments`: other values for variables, for another place that the same scenarios are run in.

use crate::scenario_file::yaml::node::{Content, Entry, Node};

const SECTION: &str = "environments";
const VARIABLES: &str = "variables";

/// The environments that a document has values for.
pub(super) fn names(document: &Node) -> impl Iterator<Item = String> {
    let environments = document.get(SECTION).map_or(&[][..], Node::entries);
    environments.iter().map(|it| it.key.clone())
}

/// Lays the values of an environment over those of the variables. One that is declared to be secret stays so.
pub(super) fn choose(document: &mut Node, name: &str) {
    let Some(chosen) = document.get(SECTION).and_then(|it| it.get(name)).cloned() else {
        return;
    };
    let at = chosen.at;
    let Content::Map(values) = chosen.content else {
        // What it should be is said when sections are read.
        return;
    };
    let Content::Map(entries) = &mut document.content else {
        return;
    };
    if entries.iter().all(|it| it.key != VARIABLES) {
        entries.push(Entry {
            key: VARIABLES.to_owned(),
            key_at: at,
            value: Node {
                at,
                content: Content::Map(Vec::new()),
            },
        });
    }
    let Some(variables) = document.get_mut(VARIABLES) else {
        return;
    };
    for entry in values {
        put(variables, entry);
    }
}

fn put(variables: &mut Node, entry: Entry) {
    let Content::Map(declared) = &mut variables.content else {
        return;
    };
    let Some(known) = declared.iter_mut().find(|it| it.key == entry.key) else {
        declared.push(entry);
        return;
    };
    let is_bare = !matches!(entry.value.content, Content::Map(_));
    match known.value.get_mut("value").filter(|_| is_bare) {
        Some(value) => *value = entry.value,
        None => known.value = entry.value,
    }
}
