//! `{{variables}}`: filled in before anything else is made of a document.

use std::collections::BTreeMap;

use super::decode::NO_HINT;
use super::expand;
use super::finding::quoted;
use super::nearest::did_you_mean;
use super::node::{Content, Node};
use super::scalar;
use super::source::{Findings, Mark};

/// How much text variables may add to one document, in bytes.
const MAX_FILLED: usize = 4 * 1024 * 1024;

/// Fills in the variables a document declares where it may use them, after giving those in `overrides` other values.
///
/// A text that is nothing but `{{name}}` becomes the value itself, so that a number stays one; where only text belongs, it
/// becomes text. References to earlier answers (`{{calls.…}}`) are left for the agent. Returns the declared names, and the secrets
/// among them, which the environment may give.
pub(super) fn fill(
    document: &mut Node,
    overrides: &[(String, String)],
    findings: &mut Findings,
) -> (Vec<String>, Secrets) {
    let mut declared = BTreeMap::new();
    let mut secrets = Secrets::default();
    if let Some(Node {
        content: Content::Map(entries),
        ..
    }) = document.get_mut("variables")
    {
        for entry in entries {
            if !is_name(&entry.key) {
                let message = format!("{} is no name for a variable", quoted(&entry.key));
                let hint = "use letters, digits, `_` and `-`";
                findings.error(entry.key_at, message, Some(hint));
            }
            let is_secret = secret(&entry.value);
            let value = match &entry.value.content {
                Content::Map(_) => entry.value.get_mut("value"),
                _ => Some(&mut entry.value),
            };
            // A missing value is found when sections are read.
            let Some(leaf) = value else { continue };
            let given = overrides.iter().rev().find(|(name, _)| *name == entry.key);
            if let Some((_, value)) = given {
                leaf.content = if is_secret {
                    Content::Text(value.clone())
                } else {
                    like(value, &leaf.content)
                };
            }
            if matches!(leaf.content, Content::Null) {
                let message = format!("the variable {} has no value", quoted(&entry.key));
                let hint = format!("give it one here, or with `--var {}=…`", entry.key);
                findings.error(entry.key_at, message, Some(hint));
            } else if is_secret {
                let value = secrets.take(&entry.key, leaf, given.is_none(), findings);
                declared.insert(entry.key.clone(), value);
                continue;
            }
            declared.insert(entry.key.clone(), leaf.content.clone());
        }
    }
    let mut filling = Filling {
        declared: &declared,
        left: MAX_FILLED,
        findings,
    };
    for said in ["user_intent", "turns"] {
        if let Some(said) = document.get_mut(said) {
            filling.node(said, false);
        }
    }
    let system = document
        .get_mut("agent")
        .and_then(|it| it.get_mut("system"));
    if let Some(system) = system {
        filling.node(system, false);
    }
    if let Some(criteria) = document.get_mut("success_criteria") {
        filling.node(criteria, false);
    }
    if let Some(expected) = document.get_mut("expected_trajectory") {
        filling.calls(expected);
    }
    if let Some(calls) = document.get_mut("agent").and_then(|it| it.get_mut("calls")) {
        filling.calls(calls);
    }
    let mut ready: Vec<&mut Node> = Vec::new();
    for entry in document.entries_mut() {
        match entry.key.as_str() {
            "ready" => ready.push(&mut entry.value),
            "docker" => ready.extend(entry.value.get_mut("ready")),
            "servers" => {
                let servers = entry.value.entries_mut().iter_mut();
                ready.extend(servers.filter_map(|it| it.value.get_mut("ready")));
            }
            _ => {}
        }
    }
    for ready in ready {
        filling.ready(ready);
    }
    (declared.into_keys().collect(), secrets)
}

/// Whether a variable is declared with `secret: true`.
fn secret(variable: &Node) -> bool {
    let secret = variable.get("secret").map(|it| &it.content);
    matches!(secret, Some(Content::Bool(true)))
}

/// The variables that are secret.
#[derive(Debug, Clone, Default)]
pub(super) struct Secrets {
    /// Name and value.
    pub(super) values: Vec<(String, String)>,
    /// Environment variables they refer to that are not set.
    pub(super) unset: Vec<String>,
}

/// A shorter secret could not be told from other text.
const SHORTEST_SECRET: usize = 6;

impl Secrets {
    /// Notes a secret and returns its value, `${…}` filled in unless the command line gave it.
    fn take(&mut self, name: &str, leaf: &Node, expands: bool, findings: &mut Findings) -> Content {
        let Content::Text(written) = &leaf.content else {
            let message = format!("the secret {} must be text", quoted(name));
            findings.error(leaf.at, message, Some("put it into quotes"));
            return leaf.content.clone();
        };
        let value = if expands {
            match expand::text(written, |it| std::env::var(it).ok()) {
                Ok(value) => value,
                Err(missing) => {
                    if missing.unset.is_empty() {
                        findings.error(leaf.at, missing.to_string(), NO_HINT);
                    } else {
                        let message = format!("{missing}; the scenario cannot run without");
                        findings.warning(leaf.at, message, NO_HINT);
                    }
                    self.unset.extend(missing.unset);
                    return leaf.content.clone();
                }
            }
        } else {
            written.clone()
        };
        if value.len() < SHORTEST_SECRET {
            let message = format!(
                "the secret {} is shorter than {SHORTEST_SECRET} bytes, and could not be told from other text",
                quoted(name)
            );
            findings.error(leaf.at, message, NO_HINT);
        }
        self.values.push((name.to_owned(), value.clone()));
        Content::Text(value)
    }
}

/// A value from the command line, of the type of the value it replaces where it can be read so.
fn like(text: &str, replaced: &Content) -> Content {
    match (replaced, scalar::plain(text).map(Content::from)) {
        (Content::Number(_), Ok(value @ Content::Number(_)))
        | (Content::Bool(_), Ok(value @ Content::Bool(_))) => value,
        _ => Content::Text(text.to_owned()),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|it| it.is_alphanumeric() || it == '_' || it == '-')
}

struct Filling<'a> {
    declared: &'a BTreeMap<String, Content>,
    /// How many bytes may still be added.
    left: usize,
    findings: &'a mut Findings,
}

impl Filling<'_> {
    /// The tool and the arguments of each call in a list.
    fn calls(&mut self, calls: &mut Node) {
        for call in calls.items_mut() {
            if let Some(tool) = call.get_mut("tool") {
                self.node(tool, false);
            }
            if let Some(args) = call.get_mut("args") {
                self.node(args, true);
            }
        }
    }

    /// What is asked to see whether servers are ready, and what is expected of the answers.
    fn ready(&mut self, ready: &mut Node) {
        if let Some(calls) = ready.get_mut("calls") {
            self.calls(calls);
        }
        for asked in ["calls", "http"] {
            let Some(asked) = ready.get_mut(asked) else {
                continue;
            };
            if let Some(expect) = asked.get_mut("expect") {
                self.node(expect, true);
            }
            for asked in asked.items_mut() {
                if let Some(expect) = asked.get_mut("expect") {
                    self.node(expect, true);
                }
            }
        }
    }

    fn node(&mut self, node: &mut Node, keeps_type: bool) {
        let at = node.at;
        match &mut node.content {
            Content::Text(text) => {
                if text.contains("{{") {
                    node.content = self.text(text, at, keeps_type);
                }
            }
            Content::List(items) => {
                for item in items {
                    self.node(item, keeps_type);
                }
            }
            Content::Map(entries) => {
                for entry in entries {
                    self.node(&mut entry.value, keeps_type);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str, at: Mark, keeps_type: bool) -> Content {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, (reference, behind))) = rest
            .split_once("{{")
            .and_then(|(before, behind)| Some((before, behind.split_once("}}")?)))
        {
            filled.push_str(before);
            let value = self.value(reference, at);
            match value {
                Some(value)
                    if keeps_type
                        && rest.len() == text.len()
                        && before.is_empty()
                        && behind.is_empty() =>
                {
                    return value;
                }
                Some(value) => filled.push_str(&Node { at, content: value }.as_written()),
                None => {
                    filled.push_str("{{");
                    filled.push_str(reference);
                    filled.push_str("}}");
                }
            }
            rest = behind;
        }
        filled.push_str(rest);
        Content::Text(filled)
    }

    /// What a reference stands for; `None` when it stays as it is.
    fn value(&mut self, reference: &str, at: Mark) -> Option<Content> {
        if self.findings.is_full(at) {
            return None;
        }
        let name = reference.trim();
        if name.starts_with("calls.") {
            if !is_call_reference(name) {
                let at = self.findings.find_word(at, reference);
                let message = format!("{} is no reference to an earlier answer", quoted(name));
                let hint = "write `calls.0.json:/path/in/it` or `calls.0.text`";
                self.findings.error(at, message, Some(hint));
            }
            return None;
        }
        let Some(value) = self.declared.get(name) else {
            let at = self.findings.find_word(at, reference);
            let message = format!("the variable {} is not declared", quoted(name));
            let known = self.declared.keys().map(String::as_str);
            let hint = did_you_mean(name, known)
                .unwrap_or_else(|| "give it a value under `variables`".to_owned());
            self.findings.error(at, message, Some(hint));
            return None;
        };
        let size = match value {
            Content::Text(text) => text.len(),
            _ => 0,
        };
        let Some(left) = self.left.checked_sub(size) else {
            let message = "variables add too much text to this file";
            self.findings.error(at, message, NO_HINT);
            return None;
        };
        self.left = left;
        Some(value.clone())
    }
}

/// `calls.N.text`, or `calls.N.json:` with a JSON pointer (RFC 6901) behind it; N counts from 0.
fn is_call_reference(name: &str) -> bool {
    let Some((number, part)) = name
        .strip_prefix("calls.")
        .and_then(|it| it.split_once('.'))
    else {
        return false;
    };
    let pointer = part.strip_prefix("json:");
    let is_part = part == "text" || pointer.is_some_and(|it| it.is_empty() || it.starts_with('/'));
    is_part && number.bytes().all(|it| it.is_ascii_digit()) && number.parse::<usize>().is_ok()
}
