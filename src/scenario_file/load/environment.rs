//! `environments`: other values for variables, for another place that the same scenarios are run in.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::find::absolute;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Entry, Node};
use crate::scenario_file::yaml::source::{Findings, Mark};
use crate::text::nearest::did_you_mean;

const SECTION: &str = "environments";
const VARIABLES: &str = "variables";

/// The environments that a document has values for.
pub(super) fn names(document: &Node) -> impl Iterator<Item = String> {
    let environments = document.get(SECTION).map_or(&[][..], Node::entries);
    environments.iter().map(|it| it.key.clone())
}

/// The values that environments have for variables, and the variables that scenarios have beside them.
#[derive(Debug, Default)]
pub(super) struct Given(HashMap<Mark, Value>);

/// A value, wherever it stands: those of defaults reach several scenarios.
#[derive(Debug, Clone)]
struct Value {
    variable: String,
    /// Whether any scenario that it reaches has that variable.
    is_taken: bool,
    /// The variables that these scenarios have.
    known: BTreeSet<String>,
}

impl Given {
    /// Notes the values that a document has, own ones and those of its defaults.
    pub(super) fn note(&mut self, document: &Node) {
        let environments = document.get(SECTION).map_or(&[][..], Node::entries);
        if environments.is_empty() {
            return;
        }
        let known = variables(document);
        for entry in environments.iter().flat_map(|it| it.value.entries()) {
            let value = self.0.entry(entry.key_at).or_insert_with(|| Value {
                variable: entry.key.clone(),
                is_taken: false,
                known: BTreeSet::new(),
            });
            value.is_taken |= known.contains(&entry.key);
            value.known.extend(known.iter().cloned());
        }
    }

    /// Notes which of the values that are known also reach this document, a scenario that nobody has named.
    pub(super) fn note_other(&mut self, document: &Node, findings: &Findings) {
        let place = |it: Mark| (absolute(findings.path(it.source)), it.line, it.column);
        let environments = document.get(SECTION).map_or(&[][..], Node::entries);
        let reaching = environments.iter().flat_map(|it| it.value.entries());
        let reaching: HashSet<_> = reaching.map(|it| place(it.key_at)).collect();
        let known = variables(document);
        for (at, value) in &mut self.0 {
            if !value.is_taken && reaching.contains(&place(*at)) {
                value.is_taken = known.contains(&value.variable);
                value.known.extend(known.iter().cloned());
            }
        }
    }

    /// The places of values for variables that no scenario has.
    pub(super) fn in_vain(&self) -> impl Iterator<Item = Mark> {
        let in_vain = self.0.iter().filter(|(_, it)| !it.is_taken);
        in_vain.map(|(at, _)| *at)
    }

    /// Says which values are for variables that no scenario has.
    pub(super) fn refuse_those_in_vain(&self, findings: &mut Findings) {
        for (at, value) in self.0.iter().filter(|(_, it)| !it.is_taken) {
            let name = value.variable.as_str();
            let message = format!("no scenario declares the variable {}", quoted(name));
            let hint = did_you_mean(name, value.known.iter().map(String::as_str));
            let hint = hint.unwrap_or_else(|| "declare it under `variables`".to_owned());
            findings.error(*at, message, Some(hint));
        }
    }
}

/// The variables that a document declares or names: one that only environments have a value for is declared in each of these.
fn variables(document: &Node) -> BTreeSet<String> {
    let declared = document.get(VARIABLES).map_or(&[][..], Node::entries);
    let mut known: BTreeSet<String> = declared.iter().map(|it| it.key.clone()).collect();
    document.visit_texts(&mut |_, text| {
        let named = text.split("{{").skip(1);
        let named = named.filter_map(|it| Some(it.split_once("}}")?.0.trim().to_owned()));
        known.extend(named);
    });
    known
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
