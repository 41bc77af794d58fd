//! Variables, `{{…}}`, and `environments`, which have other values for them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::dataset::{self, Row};
use super::filling::{self, Filling, is_name};
use super::find::absolute;
use crate::model::SecretVariable;
use crate::scenario_file::decode::NO_HINT;
use crate::scenario_file::expand::filling::expand;
use crate::scenario_file::yaml::{
    Content, Entry, Findings, Mark, Node, ROW, Scalar, is_rounded, plain_scalar, quoted,
    refuse_rounded,
};
use crate::text::nearest::did_you_mean;

/// Where variables are filled in, and whether a text that is nothing but one takes the type of its value.
const SAID: [(&str, bool); 12] = [
    ("user_intent", false),
    ("turns", false),
    ("agent.system", false),
    ("expected_trajectory.#.expect.text", false),
    ("expected_trajectory.#.expect", true),
    ("expected_trajectory.#.tool", false),
    ("expected_trajectory.#.args", true),
    ("agent.calls.#.tool", false),
    ("agent.calls.#.args", true),
    ("inputs.#.answer", true),
    ("inputs.#.match", false),
    ("inputs.#.key", false),
];
/// The sections that tell whether servers are ready, and where in them variables are filled in.
const READY: [&str; 4] = [
    "ready",
    "docker.ready",
    "containers.*.ready",
    "servers.*.ready",
];
const ASKED: [(&str, bool); 8] = [
    ("calls.#.tool", false),
    ("calls.#.args", true),
    ("calls.#.expect.text", false),
    ("calls.#.expect", true),
    ("http.expect.text", false),
    ("http.expect", true),
    ("http.#.expect.text", false),
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
                let message = format!("{} is not a name for a variable", quoted(&entry.key));
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
            if given.is_none() {
                refuse_rounded(leaf, findings);
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
    let mut filling = Filling::new(&declared, findings);
    for (path, keeps_type) in SAID {
        document.visit_path(path, &mut |it| filling.node(it, keeps_type));
    }
    // The name of a file is said once; those of its rows tell them apart.
    for path in ["name", "description"] {
        if row.is_some() {
            document.visit_path(path, &mut |it| filling.node(it, false));
        }
    }
    document.visit_path("success_criteria.#.upstream_called.times", &mut |it| {
        filling.node(it, true);
    });
    document.visit_path("success_criteria.#", &mut |it| {
        if it.get("type").is_some() {
            filling.evaluator(it);
        } else {
            filling.node(it, false);
        }
    });
    filling::fill(document, &secrets.values, &mut filling);
    document.visit_path("evaluators.#", &mut |it| filling.evaluator(it));
    for ready in READY {
        for (path, keeps_type) in ASKED {
            let path = format!("{ready}.{path}");
            document.visit_path(&path, &mut |it| filling.node(it, keeps_type));
        }
    }
    (names, secrets)
}

/// Says where the columns of rows are named in vain: what is read there is the same for all of them.
pub(in crate::scenario_file) fn refuse_unfilled_rows(document: &Node, findings: &mut Findings) {
    let is_own = |it: &&Entry| !it.key.starts_with("x-");
    for entry in document.entries().iter().filter(is_own) {
        entry.value.visit_texts(&mut |node, text| {
            // A value that holds such braces is no reference.
            if !findings.filled(node.at).is_empty() {
                return;
            }
            let mut references = text.split("{{").skip(1);
            let of_row = references.find(|it| it.trim_start().starts_with(ROW));
            let Some((reference, _)) = of_row.and_then(|it| it.split_once("}}")) else {
                return;
            };
            let at = findings.find_word(node.at, reference);
            let message = format!("{} is not filled in here", quoted(reference.trim()));
            let hint = "rows can be used in `name`, `description`, the user's texts, calls, expectations and evaluators";
            findings.error(at, message, Some(hint));
        });
    }
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

/// A shorter secret could not be distinguished from other text.
const SHORTEST_SECRET: usize = 6;

impl Secrets {
    /// Notes a secret and returns its value, `${…}` filled in unless the command line gave it.
    fn take(&mut self, name: &str, leaf: &Node, expands: bool, findings: &mut Findings) -> Content {
        let Content::Text(written) = &leaf.content else {
            let message = format!("the secret {} must be text", quoted(name));
            findings.error(leaf.at, message, Some("put it in quotes"));
            return leaf.content.clone();
        };
        let value = if expands && !findings.is_literal(leaf.at) {
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
                "the secret {} is shorter than {SHORTEST_SECRET} bytes, and could not be distinguished from other text",
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

/// A value from the command line, of the type of the value it replaces where it can be read so without losing digits.
fn like(text: &str, replaced: &Content) -> Content {
    match (replaced, plain_scalar(text)) {
        (Content::Number(_), Ok(Scalar::Number(value))) if !is_rounded(text, &value) => {
            Content::Number(value)
        }
        (Content::Bool(_), Ok(Scalar::Bool(value))) => Content::Bool(value),
        _ => Content::Text(text.to_owned()),
    }
}

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
