//! Texts with `${NAME}` in them, and what a scenario says of secrets: `redact`, and values that are marked `secret: true`.

use std::ops::Deref;
use std::path::PathBuf;

use schemars::JsonSchema;

use crate::model::Redaction;
use crate::scenario_file::decode::holders::{At, same_schema};
use crate::scenario_file::decode::plain::{Place, Plain};
use crate::scenario_file::decode::section::{Decode, NO_HINT, section, wrong_kind};
use crate::scenario_file::decode::values::{SecretPattern, Word};
use crate::scenario_file::decode::words::shapes;
use crate::scenario_file::yaml::{Content, Findings, Mark, Node, quoted};

/// The name that stands for the address of the scenario's container, without a path: `http://127.0.0.1:49153`.
const CONTAINER_URL: &str = "docker.url";
/// The name that stands for the port the container is published on.
const CONTAINER_PORT: &str = "docker.port";
/// The name that stands for the folder of the source of the system under test.
pub const SOURCE_DIR: &str = "source.dir";
/// The name that stands for the path of the scenario's configuration file, with what is filled in there.
pub const CONFIG_FILE: &str = "config_file";
/// What the names begin with that servers behind the ones under test provide.
pub(in crate::scenario_file) const UPSTREAM: &str = "upstream.";
/// The name that stands for the port of a server that is started for a run.
pub const PORT: &str = "port";

/// A text of a section in which `${…}` stands for something. That every reference in it can be read is checked when it is read.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Template<T = String>(At<T>);

impl<T: Decode + AsRef<str>> Decode for Template<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let plain;
        let node = match &node.content {
            Content::Text(text) if findings.is_literal(node.at) && text.contains("${") => {
                plain = Node {
                    content: Content::Text(literal(text)),
                    ..node.clone()
                };
                &plain
            }
            _ => node,
        };
        let text = At::<T>::decode(node, findings)?;
        let read = parts(text.value.as_ref()).try_for_each(|it| it.map(drop));
        if let Err(problem) = read
            && !findings.partial
        {
            findings.error(text.at, problem.message, problem.hint);
        }
        Some(Self(text))
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        visit(self.0.at, self.0.value.as_ref());
    }
}

impl<T> Deref for Template<T> {
    type Target = At<T>;

    fn deref(&self) -> &At<T> {
        &self.0
    }
}

same_schema!(Template);

/// A program and its arguments. A program named by a path with a `/` belongs to the folder of the file that names it; a bare name is looked
/// up in `PATH`.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(transparent)]
pub(in crate::scenario_file) struct CommandLine(At<Vec<Template>>);

impl Decode for CommandLine {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let command = At::<Vec<Template>>::decode(node, findings)?;
        if command.is_empty() {
            return findings.refuse(node.at, "names no program", NO_HINT);
        }
        Some(Self(command))
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.0.templates(visit);
    }
}

impl CommandLine {
    /// The program and its arguments, as they are run.
    pub(super) fn resolved(&self, findings: &Findings) -> Vec<String> {
        let mut words: Vec<String> = self.0.iter().map(|it| it.value.clone()).collect();
        if let (Some(program), Some(name)) = (self.0.first(), words.first_mut())
            && name.contains('/')
        {
            let path = findings.folder(program.at).join(&program.value);
            *name = path.to_string_lossy().into_owned();
        }
        words
    }
}

/// The name that stands for the address of the container of this name, or of the only one.
pub fn url_name(container: Option<&str>) -> String {
    container.map_or_else(
        || CONTAINER_URL.to_owned(),
        |it| format!("containers.{it}.url"),
    )
}

/// The name that stands for the port that it is published on.
pub fn port_name(container: Option<&str>) -> String {
    container.map_or_else(
        || CONTAINER_PORT.to_owned(),
        |it| format!("containers.{it}.port"),
    )
}

/// The name that stands for the address at which the server of this name behind the ones under test is reached by them.
pub fn upstream_url_name(upstream: &str) -> String {
    format!("{UPSTREAM}{upstream}.url")
}

/// Whether a text refers to the container of this name, or to the only one.
pub fn mentions_container(text: &str, container: Option<&str>) -> bool {
    let known = [url_name(container), port_name(container)];
    names(text).any(|it| known.iter().any(|known| known == it))
}

/// Whether a text refers to this name without a default.
pub(in crate::scenario_file) fn needs(text: &str, wanted: &str) -> bool {
    parts(text)
        .any(|it| matches!(it, Ok(Part::Reference { name, default: None }) if name == wanted))
}

/// Whether a text refers to this name.
pub fn mentions(text: &str, name: &str) -> bool {
    names(text).any(|it| it == name)
}

/// A reference that cannot be read.
#[derive(Debug)]
pub(in crate::scenario_file) struct Problem {
    pub(in crate::scenario_file) message: String,
    pub(in crate::scenario_file) hint: Option<&'static str>,
}

/// Whether every `${…}` of a text can be read.
pub(in crate::scenario_file) fn check(text: &str) -> Result<(), Problem> {
    parts(text).try_for_each(|it| it.map(drop))
}

/// The names a text refers to.
pub(in crate::scenario_file) fn names(text: &str) -> impl Iterator<Item = &str> {
    parts(text).filter_map(|it| match it {
        Ok(Part::Reference { name, .. }) => Some(name),
        _ => None,
    })
}

/// A text in which `${…}` stands for itself. `$${` does already.
pub(in crate::scenario_file) fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        literal.push_str(&rest[..at]);
        if !rest[..at].ends_with('$') {
            literal.push('$');
        }
        literal.push_str("${");
        rest = &rest[at + 2..];
    }
    literal.push_str(rest);
    literal
}

/// A part of a text.
#[derive(Debug)]
pub(in crate::scenario_file) enum Part<'a> {
    Text(&'a str),
    Reference {
        name: &'a str,
        default: Option<&'a str>,
    },
}

/// A text in its parts; the reading goes on behind a reference that cannot be read.
pub(in crate::scenario_file) fn parts(
    text: &str,
) -> impl Iterator<Item = Result<Part<'_>, Problem>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(behind) = rest.strip_prefix("$${") {
            let literal = &rest[1..3];
            rest = behind;
            return Some(Ok(Part::Text(literal)));
        }
        let Some(behind) = rest.strip_prefix("${") else {
            let next = match rest.find("${") {
                // `$${` begins one character before the `${` in it.
                Some(next) if rest[..next].ends_with('$') => next - 1,
                Some(next) => next,
                None => rest.len(),
            };
            let (text, behind) = rest.split_at(next);
            rest = behind;
            return Some(Ok(Part::Text(text)));
        };
        let Some(end) = behind.find('}') else {
            let message = format!("{} has no closing `}}`", quoted(rest));
            rest = "";
            return Some(Err(Problem {
                message,
                hint: Some("write `$${` for a literal `${`"),
            }));
        };
        let inner = &behind[..end];
        let whole = &rest[..end + 3];
        rest = &behind[end + 1..];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        Some(if is_name(name) {
            Ok(Part::Reference { name, default })
        } else {
            Err(Problem {
                message: format!("{} names no environment variable", quoted(whole)),
                hint: Some("write `${NAME}` or `${NAME:-default}`, and `$${` for a literal `${`"),
            })
        })
    })
}

/// Letters, digits and underscores, not starting with a digit. Behind a dot stand names of the author's choosing, too: they may start with a
/// digit and hold `-`.
fn is_name(name: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let mut parts = name.split('.');
    let first = parts.next().unwrap_or_default();
    let is_first = |it: char| is_word(it) && !it.is_ascii_digit();
    let other = |it: &str| !it.is_empty() && it.chars().all(|it| is_word(it) || it == '-');
    first.starts_with(is_first) && first.chars().all(is_word) && parts.all(other)
}

shapes! {
    /// Regular expressions for texts that are secret, or a map that says what is never taken for a secret, too.
    RedactSection, "a list of regular expressions or a map with `patterns` and `keep`" {
        List => Patterns(Vec<SecretPattern>),
        Map => Rules(RedactRules),
    }
}

section! {
    /// What is secret, and what is not.
    RedactRules {
        /// Regular expressions for texts that are secret: what matches is replaced before anything is stored or shown.
        patterns: Option<Vec<SecretPattern>>,
        /// Texts that are never taken for secrets, although they look like some.
        keep: Option<Vec<Word>>,
    }
}

impl RedactSection {
    /// Adds what is said here.
    pub(in crate::scenario_file) fn add_to(&self, redaction: &mut Redaction) {
        let (patterns, keep) = match self {
            Self::Patterns(patterns) => (Some(patterns), None),
            Self::Rules(rules) => (rules.patterns.as_ref(), rules.keep.as_ref()),
        };
        let patterns = patterns.into_iter().flatten();
        redaction.patterns.extend(patterns.map(|it| it.0.clone()));
        let keep = keep.into_iter().flatten();
        redaction.keep.extend(keep.map(|it| it.0.clone()));
    }
}

/// A text, or `{ value: …, secret: true }`.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub(in crate::scenario_file) enum Given {
    Text(Template),
    Marked(MarkedSection),
}

impl Decode for Given {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(_) => Decode::decode(node, findings).map(Self::Text),
            Content::Map(_) => Decode::decode(node, findings).map(Self::Marked),
            _ => wrong_kind(node, "text or a map with `value` and `secret`", findings),
        }
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        match self {
            Self::Text(text) => text.templates(visit),
            Self::Marked(marked) => marked.templates(visit),
        }
    }

    fn is_secret(&self) -> bool {
        matches!(self, Self::Marked(marked) if marked.secret == Some(true))
    }
}

section! {
    /// A value that is secret although its name does not say so.
    MarkedSection {
        /// The value.
        value: Template,
        /// Whether the value is taken out of everything stored or shown. Without it, the name decides.
        secret: Option<bool>,
    }
}

impl Given {
    pub(super) fn value(&self) -> &str {
        match self {
            Self::Text(text) => &text.value,
            Self::Marked(marked) => &marked.value.value,
        }
    }
}

impl<S: AsRef<str>> Plain<String> for Template<S> {
    fn plain(&self, _: &Findings) -> String {
        self.value.as_ref().to_owned()
    }

    fn places(value: &mut String, visit: &mut dyn FnMut(Place<'_>)) {
        visit(Place::Text(value));
    }
}

/// A path, which belongs to the folder of the file that names it.
impl<S: AsRef<str>> Plain<PathBuf> for Template<S> {
    fn plain(&self, findings: &Findings) -> PathBuf {
        findings.folder(self.at).join(self.value.as_ref())
    }

    fn places(value: &mut PathBuf, visit: &mut dyn FnMut(Place<'_>)) {
        visit(Place::Path(value));
    }
}

impl Plain<String> for Given {
    fn plain(&self, _: &Findings) -> String {
        self.value().to_owned()
    }

    fn places(value: &mut String, visit: &mut dyn FnMut(Place<'_>)) {
        visit(Place::Text(value));
    }
}

impl Plain<Vec<String>> for CommandLine {
    fn plain(&self, findings: &Findings) -> Vec<String> {
        self.resolved(findings)
    }

    fn places(value: &mut Vec<String>, visit: &mut dyn FnMut(Place<'_>)) {
        if let [program, args @ ..] = value.as_mut_slice() {
            visit(Place::Program(program));
            for arg in args {
                visit(Place::Text(arg));
            }
        }
    }
}
