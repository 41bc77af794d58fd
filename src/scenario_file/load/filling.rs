//! Filling variables into texts and evaluators.

use std::collections::BTreeMap;

use crate::model::{Flaw, NoReference, Reference, SecretVariable};
use crate::scenario_file::decode::NO_HINT;
use crate::scenario_file::yaml::{Content, Findings, Mark, Node, ROW, quoted};
use crate::text::nearest::did_you_mean;

/// How much text variables may add to one document, in bytes.
const MAX_FILLED: usize = 4 * 1024 * 1024;

/// Puts values in the place of references, all within one document.
pub(super) struct Filling<'a> {
    declared: &'a BTreeMap<String, Content>,
    /// How many bytes may still be added.
    left: usize,
    findings: &'a mut Findings,
}

/// The keys of evaluators that hold values of any type, and those that hold texts even so where the `type` is one of these.
const VALUES: [&str; 5] = ["value", "args", "parameters", "equals", "rows"];
const TEXTS_ALONE: [&str; 2] = ["text", "file"];
/// The keys of evaluators that hold a number or a truth value.
const MEASURES: [&str; 26] = [
    "weight",
    "votes",
    "threshold",
    "timeout",
    "call",
    "count",
    "empty",
    "min",
    "max",
    "max_extra",
    "max_retries",
    "first",
    "last",
    "at_least",
    "at_most",
    "steps",
    "duration",
    "call_duration",
    "tokens",
    "cost",
    "not",
    "any_case",
    "is_error",
    "exists",
    "unchanged",
    "allow_empty",
];

impl<'a> Filling<'a> {
    pub(super) fn new(declared: &'a BTreeMap<String, Content>, findings: &'a mut Findings) -> Self {
        Self {
            declared,
            left: MAX_FILLED,
            findings,
        }
    }

    /// Fills in an evaluator, with those within. A schema is left as it is, but not the name of a file with one.
    pub(super) fn evaluator(&mut self, node: &mut Node) {
        let is_of_texts = node.get("type").is_some_and(|it| {
            let of = |kind: &&str| matches!(&it.content, Content::Text(it) if it == kind);
            TEXTS_ALONE.iter().any(of)
        });
        if let Content::Text(_) = &node.content {
            return self.node(node, false);
        }
        for entry in node.entries_mut() {
            match entry.key.as_str() {
                "schema" | "args_schema" => {
                    if let Content::Text(_) = entry.value.content {
                        self.node(&mut entry.value, false);
                    }
                }
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
                    let keeps_type =
                        VALUES.contains(&key) && !is_of_texts || MEASURES.contains(&key);
                    self.node(&mut entry.value, keeps_type);
                }
            }
        }
    }

    /// Fills in all texts of a node. One that is nothing but a reference takes the type of its value, or becomes text.
    pub(super) fn node(&mut self, node: &mut Node, keeps_type: bool) {
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
        while let Some((before, behind)) = rest.split_once("{{") {
            let written = &rest[before.len()..];
            if let Some(read) = Reference::read(written) {
                let whole = match read {
                    Ok(it) => it.whole,
                    Err(wrong) => self.no_reference(&wrong, at),
                };
                filled.extend([before, whole]);
                rest = &written[whole.len()..];
                continue;
            }
            let Some((reference, behind)) = behind.split_once("}}") else {
                break;
            };
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
                    if matches!(value, Content::Null) && reference.trim().starts_with(ROW) {
                        let hint = "write `\"\"` for an empty text, or leave the row out";
                        self.findings.error(at, "`null` is not text", Some(hint));
                    }
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

    /// Says what is wrong with a reference in a text.
    pub(super) fn wrong(&mut self, at: Mark, reference: &str, message: &str, hint: &str) {
        if !self.findings.is_full(at) {
            let at = self.findings.find_word(at, reference);
            self.findings.error(at, message, Some(hint));
        }
    }

    /// Says why something is no reference to an earlier answer, and returns it.
    fn no_reference<'t>(&mut self, wrong: &NoReference<'t>, at: Mark) -> &'t str {
        let name = wrong.whole.strip_prefix("{{").unwrap_or(wrong.whole);
        let name = name.strip_suffix("}}").unwrap_or(name).trim();
        let (message, hint) = match &wrong.flaw {
            Flaw::Open => (
                format!("{} is not closed", quoted(name)),
                "a reference to an earlier answer ends with `}}`",
            ),
            Flaw::Pattern(pattern, reason) => (
                format!(
                    "{} is not a valid regular expression: {reason}",
                    quoted(pattern)
                ),
                "it ends before the first `}}` where its own braces are balanced",
            ),
            Flaw::Form => (
                format!("{} is not a reference to an earlier answer", quoted(name)),
                "write `calls.0.json:/path/in/it`, `calls.0.text` or `calls.0.text:REGEX`",
            ),
        };
        self.wrong(at, name, &message, hint);
        wrong.whole
    }

    /// What to say where rows have one column whose name looks like those of several, with another sign between them than a comma.
    fn separated_otherwise(&self) -> Option<String> {
        let mut columns = self.declared.keys().filter_map(|it| it.strip_prefix(ROW));
        let (only, None) = (columns.next()?, columns.next()) else {
            return None;
        };
        let sign = [';', '\t', '|'].into_iter().find(|it| only.contains(*it))?;
        let sign = match sign {
            '\t' => "tabs".to_owned(),
            sign => format!("`{sign}`"),
        };
        Some(format!(
            "the rows have one column, {}: the file seems to be separated by {sign}, and a .csv file is by commas",
            quoted(only)
        ))
    }

    /// What a reference stands for; `None` when it stays as it is.
    pub(super) fn value(&mut self, reference: &str, at: Mark) -> Option<Content> {
        if self.findings.is_full(at) {
            return None;
        }
        let name = reference.trim();
        let Some(value) = self.declared.get(name) else {
            let at = self.findings.find_word(at, reference);
            let message = format!("the variable {} is not declared", quoted(name));
            let known = self.declared.keys().map(String::as_str);
            let separated = self.separated_otherwise().filter(|_| name.starts_with(ROW));
            let hint = separated.or_else(|| did_you_mean(name, known));
            let hint = hint.unwrap_or_else(|| {
                let way_out = if name.starts_with("row.") {
                    "a column of the scenario's `dataset` is written `row.` and its name"
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
        self.findings.note_name(at, name);
        Some(value.clone())
    }
}

/// Whether this may be the name of a variable.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|it| it.is_alphanumeric() || it == '_' || it == '-')
}

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
