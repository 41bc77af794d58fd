//! `{{variables}}` in what is started or asked: servers, containers, hooks and agents that are programs. `${…}` stands for something there,
//! too, but never in the value of a variable.
//!
//! Secret variables are not filled in there: where these texts may go, such as the list of processes or a container's settings, nobody looks
//! for secrets. `${NAME}` is made for that.

use super::filling::{Filling, is_name};
use crate::model::redaction::SecretVariable;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Node};

/// What is started or asked for each run.
const STARTED: [&str; 20] = [
    "servers.*",
    "docker",
    "containers.*",
    "before",
    "after",
    "agent.command",
    "agent.env",
    "agent.cwd",
    "agent.model",
    "agent.base_url",
    "upstreams.*.url",
    "upstreams.*.headers",
    "upstreams.*.command",
    "upstreams.*.args",
    "upstreams.*.env",
    "upstreams.*.cwd",
    "ready.http",
    "servers.*.ready.http",
    "docker.ready.http",
    "containers.*.ready.http",
];

/// What is made once for all runs, within these and besides.
const MADE_ONCE: [&str; 2] = ["build", "source"];

/// What to write in the place of `null`.
const NULL: &str = "write `\"\"` for an empty text, or leave the row out";

/// Fills variables into all that a document has started or asked.
pub(super) fn fill(document: &mut Node, secrets: &[SecretVariable], filling: &mut Filling<'_>) {
    document.visit_path(MADE_ONCE[1], &mut |it| refuse(it, filling));
    for path in STARTED {
        document.visit_path(path, &mut |it| {
            if !matches!(it.content, Content::Map(_)) {
                return texts(it, secrets, filling);
            }
            for entry in it.entries_mut() {
                match entry.key.as_str() {
                    // What answers must hold is filled in like other texts.
                    "ready" | "expect" => {}
                    key if MADE_ONCE.contains(&key) => refuse(&mut entry.value, filling),
                    _ => texts(&mut entry.value, secrets, filling),
                }
            }
        });
    }
}

fn texts(node: &mut Node, secrets: &[SecretVariable], filling: &mut Filling<'_>) {
    node.visit_texts_mut(&mut |it| {
        let Content::Text(text) = &it.content else {
            return;
        };
        let mut filled = String::new();
        let mut rest = text.as_str();
        while let Some((before, reference, behind)) = reference(rest) {
            filled.push_str(before);
            let name = reference.trim();
            let is_secret = secrets.iter().any(|it| it.name == name);
            let value = if name.starts_with("calls.") {
                let message = format!("{} is known only after a call", quoted(name));
                let hint = "arguments of later calls may hold it";
                filling.wrong(it.at, reference, &message, hint);
                None
            } else if is_secret {
                let message = format!("the secret {} is not filled in here", quoted(name));
                let hint = "write `${NAME}` for an environment variable";
                filling.wrong(it.at, reference, &message, hint);
                None
            } else if is_variable(name) {
                filling.value(reference, it.at)
            } else {
                // Programs may have such braces of their own: `docker ps --format '{{.Names}}'`.
                None
            };
            match value {
                Some(Content::Null) => {
                    filling.wrong(it.at, reference, "`null` is not text", NULL);
                }
                Some(content) => {
                    let value = Node { at: it.at, content }.as_written();
                    filled.push_str(&value.replace("${", "$${"));
                }
                None => filled.extend(["{{", reference, "}}"]),
            }
            rest = behind;
        }
        filled.push_str(rest);
        it.content = Content::Text(filled);
    });
}

/// The references of a text to variables, each as it stands between the braces.
pub(super) fn references(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, reference, behind)) = reference(rest) {
        if is_variable(reference.trim()) {
            found.push(reference);
        }
        rest = behind;
    }
    found
}

/// Says that variables are not filled in, where one stands.
fn refuse(node: &mut Node, filling: &mut Filling<'_>) {
    node.visit_texts(&mut |it, text| {
        let mut rest = text;
        while let Some((_, reference, behind)) = reference(rest) {
            if is_variable(reference.trim()) {
                let message = "variables are not filled in here";
                let hint = "it is made once for all scenarios and rows: write `${NAME}` for an environment variable";
                filling.wrong(it.at, reference, message, hint);
            }
            rest = behind;
        }
    });
}

/// The first reference of a text, with what stands before and behind it.
fn reference(text: &str) -> Option<(&str, &str, &str)> {
    let (before, behind) = text.split_once("{{")?;
    let (reference, behind) = behind.split_once("}}")?;
    Some((before, reference, behind))
}

/// Whether this may be the name of a variable, or of a column.
fn is_variable(name: &str) -> bool {
    is_name(name) || name.starts_with("row.")
}
