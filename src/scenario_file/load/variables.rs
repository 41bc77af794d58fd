//! `{{variables}}`: filled in before anything else is made of a document.

use std::collections::BTreeMap;

use regex::Regex;

use crate::model::redaction::SecretVariable;

use super::dataset::{self, Row};
use crate::scenario_file::decode::NO_HINT;
use crate::scenario_file::expand::filling::expand;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::nearest::did_you_mean;
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::scalar;
use crate::scenario_file::yaml::source::{Findings, Mark};

/// How much text variables may add to one document, in bytes.
const MAX_FILLED: usize = 4 * 1024 * 1024;

/// Where variables are filled in, and whether a text that is nothing but one takes the type of its value.
const SAID: [(&str, bool); 8] = [
    ("user_intent", false),
    ("turns", false),
    ("agent.system", false),
    ("expected_trajectory.#.expect", true),
    ("expected_trajectory.#.tool", false),
    ("expected_trajectory.#.args", true),
    ("agent.calls.#.tool", false),
    ("agent.calls.#.args", true),
];
/// The sections that tell whether servers are ready, and where in them variables are filled in.
const READY: [&str; 4] = [
    "ready",
    "docker.ready",
    "containers.*.ready",
    "servers.*.ready",
];
const ASKED: [(&str, bool); 5] = [
    ("calls.#.tool", false),
    ("calls.#.args", true),
    ("calls.#.expect", true),
    ("http.expect", true),
    ("http.#.expect", true),
];

/// Fills in the variables a document declares where it may use them, after giving those in `overrides` other values, and those that a row
/// of its data set gives.
///
/// A text that is nothing but `{{name}}` becomes the value itself, so that a number stays one; where only text belongs, it
/// becomes text. References to earlier answers (`{{calls.…}}`) are left for the agent. Returns the declared names, and the secrets
/// among them, which the environment may give.
pub(in crate::scenario_file) fn fill(
    document: &mut Node,
    overrides: &[(String, String)],
    row: Option<&Row>,
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
    let names = declared.keys().cloned().collect();
    declared.extend(row.into_iter().flat_map(dataset::variables));
    let mut filling = Filling {
        declared: &declared,
        left: MAX_FILLED,
        findings,
    };
    for (path, keeps_type) in SAID {
        document.visit_path(path, &mut |it| filling.node(it, keeps_type));
    }
    // The name of a file is said once; those of its rows tell them apart.
    for path in ["name", "description"] {
        if row.is_some() {
            document.visit_path(path, &mut |it| filling.node(it, false));
        }
    }
    document.visit_path("success_criteria.#", &mut |it| {
        if it.get("type").is_some() {
            filling.evaluator(it);
        } else {
            filling.node(it, false);
        }
    });
    document.visit_path("evaluators.#", &mut |it| filling.evaluator(it));
    for ready in READY {
        for (path, keeps_type) in ASKED {
            let path = format!("{ready}.{path}");
            document.visit_path(&path, &mut |it| filling.node(it, keeps_type));
        }
    }
    (names, secrets)
}

/// Whether a variable is declared with `secret: true`.
fn secret(variable: &Node) -> bool {
    let secret = variable.get("secret").map(|it| &it.content);
    matches!(secret, Some(Content::Bool(true)))
}

/// The variables that are secret.
#[derive(Debug, Clone, Default)]
pub(in crate::scenario_file) struct Secrets {
    pub(in crate::scenario_file) values: Vec<SecretVariable>,
    /// Environment variables they refer to that are not set.
    pub(in crate::scenario_file) unset: Vec<String>,
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
            match expand(written, |it| std::env::var(it).ok()) {
                Ok((value, _)) => value,
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
        findings.is_secret(&format!("var.{name}"), &value);
        self.values.push(SecretVariable {
            name: name.to_owned(),
            value: value.clone(),
        });
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

/// The keys of evaluators that hold values of any type, and those that hold texts even so where the `type` is one of these.
const VALUES: [&str; 4] = ["value", "args", "parameters", "equals"];
const TEXTS_ALONE: [&str; 2] = ["text", "file"];

impl Filling<'_> {
    /// Fills in an evaluator, with those within. A schema is left as it is.
    fn evaluator(&mut self, node: &mut Node) {
        let is_of_texts = node.get("type").is_some_and(|it| {
            let of = |kind: &&str| matches!(&it.content, Content::Text(it) if it == kind);
            TEXTS_ALONE.iter().any(of)
        });
        if let Content::Text(_) = &node.content {
            return self.node(node, false);
        }
        for entry in node.entries_mut() {
            match entry.key.as_str() {
                "schema" | "args_schema" => {}
                "of" if matches!(entry.value.content, Content::Map(_)) => {
                    self.evaluator(&mut entry.value);
                }
                "of" | "required" | "optional" | "prohibited" => {
                    for item in entry.value.items_mut() {
                        self.evaluator(item);
                    }
                }
                "answer" => self.evaluator(&mut entry.value),
                key => {
                    let keeps_type = VALUES.contains(&key) && !is_of_texts;
                    self.node(&mut entry.value, keeps_type);
                }
            }
        }
    }

    fn node(&mut self, node: &mut Node, keeps_type: bool) {
        node.visit_texts_mut(&mut |it| {
            if let Content::Text(text) = &it.content
                && text.contains("{{")
            {
                it.content = self.text(text, it.at, keeps_type);
            }
        });
    }

    fn text(&mut self, text: &str, at: Mark, keeps_type: bool) -> Content {
        let mut filled = String::new();
        // Only what holds braces can look like a reference.
        let mut values = Vec::new();
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
                    if let Content::Text(value) = &value
                        && value.contains(['{', '}'])
                    {
                        self.findings
                            .note_filled(at, std::iter::once(0..value.len()).collect());
                    }
                    return value;
                }
                Some(value) => {
                    let value = Node { at, content: value }.as_written();
                    if value.contains(['{', '}']) {
                        values.push(filled.len()..filled.len() + value.len());
                    }
                    filled.push_str(&value);
                }
                None => {
                    filled.push_str("{{");
                    filled.push_str(reference);
                    filled.push_str("}}");
                }
            }
            rest = behind;
        }
        filled.push_str(rest);
        if !values.is_empty() {
            self.findings.note_filled(at, values);
        }
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
                let hint =
                    "write `calls.0.json:/path/in/it`, `calls.0.text` or `calls.0.text:REGEX`";
                self.findings.error(at, message, Some(hint));
            }
            return None;
        }
        let Some(value) = self.declared.get(name) else {
            let at = self.findings.find_word(at, reference);
            let message = format!("the variable {} is not declared", quoted(name));
            let known = self.declared.keys().map(String::as_str);
            let hint = did_you_mean(name, known).unwrap_or_else(|| {
                let way_out = if name.starts_with("row.") {
                    "a column of the scenario's `dataset` is meant by `row.` and its name"
                } else {
                    "give it a value under `variables`"
                };
                way_out.to_owned()
            });
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

/// `calls.N.text`, also with a `:` and a regular expression behind it, or `calls.N.json:` with a JSON pointer (RFC 6901); N counts from 0.
fn is_call_reference(name: &str) -> bool {
    let Some((number, part)) = name
        .strip_prefix("calls.")
        .and_then(|it| it.split_once('.'))
    else {
        return false;
    };
    let pointer = part.strip_prefix("json:");
    let pattern = part.strip_prefix("text:");
    let is_part = part == "text"
        || pointer.is_some_and(|it| it.is_empty() || it.starts_with('/'))
        || pattern.is_some_and(|it| Regex::new(it).is_ok());
    is_part && number.bytes().all(|it| it.is_ascii_digit()) && number.parse::<usize>().is_ok()
}
