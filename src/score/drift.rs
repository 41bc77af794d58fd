//! What changed in the tools the servers offer, and what of it explains a difference.

use std::collections::BTreeSet;

use crate::model::catalogue::{Catalogue, ServerCatalogue, Tool};
use crate::model::comparison::Drift;

use super::same::same;
use super::schema;

/// Names less alike than this are not offered as the nearest.
const NEAR: f64 = 0.5;

/// One change in the catalogue.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) drift: Drift,
    /// The parameter concerned, by its outermost name.
    pub(super) parameter: Option<String>,
    /// The same in short, for use behind a reason: `parameter "limit" became a string`.
    pub(super) cause: String,
    /// The change concerns what requests look like, or that they can be made at all.
    about_requests: bool,
}

/// Every change between two catalogues, in the order of the baseline's. `used` tells the tools the baseline calls.
///
/// A side without any server was recorded without its catalogue, so nothing can be said.
pub(super) fn findings(
    b: &Catalogue,
    c: &Catalogue,
    used: &BTreeSet<(&str, &str)>,
) -> Vec<Finding> {
    if b.servers.is_empty() || c.servers.is_empty() || b == c {
        return Vec::new();
    }
    let nothing = ServerCatalogue::default();
    let server = |catalogue: &'_ Catalogue, name: &str| {
        catalogue
            .servers
            .iter()
            .find(|it| it.server == name)
            .cloned()
    };
    let mut found = Vec::new();
    for old in &b.servers {
        let new = server(c, &old.server).unwrap_or_else(|| nothing.clone());
        of_server(old, &new, &mut found);
    }
    for new in c
        .servers
        .iter()
        .filter(|it| server(b, &it.server).is_none())
    {
        let old = ServerCatalogue {
            server: new.server.clone(),
            ..ServerCatalogue::default()
        };
        of_server(&old, new, &mut found);
    }
    for it in &mut found {
        it.drift.used = used.contains(&(it.drift.server.as_str(), it.drift.tool.as_str()));
    }
    found
}

fn of_server(old: &ServerCatalogue, new: &ServerCatalogue, found: &mut Vec<Finding>) {
    let has = |side: &ServerCatalogue, name: &str| side.tools.iter().any(|it| it.name() == name);
    let added: Vec<&Tool> = new.tools.iter().filter(|it| !has(old, it.name())).collect();
    let server = old.server.as_str();
    for tool in &old.tools {
        match new.tools.iter().find(|it| it.name() == tool.name()) {
            Some(now) => of_tool(server, tool, now, found),
            None => found.push(gone(server, tool, &added, &new.tools)),
        }
    }
    for tool in added {
        let name = tool.name();
        found.push(Finding {
            cause: format!("tool {name:?} is new"),
            ..finding(server, name, format!("tool `{name}` is new"), false)
        });
    }
}

fn finding(server: &str, tool: &str, what: String, breaking: bool) -> Finding {
    Finding {
        parameter: None,
        cause: what.clone(),
        about_requests: false,
        drift: Drift {
            server: server.to_owned(),
            tool: tool.to_owned(),
            what,
            breaking,
            used: false,
        },
    }
}

/// A tool that is not listed any more: renamed if a new one takes the very same arguments, else gone.
fn gone(server: &str, tool: &Tool, added: &[&Tool], tools: &[Tool]) -> Finding {
    let name = tool.name();
    let same_schema = |it: &&&Tool| match (tool.input_schema(), it.input_schema()) {
        (Some(b), Some(c)) => has_properties(b) && same(b, c),
        _ => false,
    };
    let renamed = added.iter().filter(same_schema).map(|it| it.name());
    let nearest = |names: &mut dyn Iterator<Item = &str>| {
        names
            .map(|it| (likeness(name, it), it.to_owned()))
            .filter(|(likeness, _)| *likeness >= NEAR)
            .max_by(|(a, a_name), (b, b_name)| a.total_cmp(b).then(b_name.cmp(a_name)))
            .map(|(_, it)| it)
    };
    let renamed: Vec<&str> = renamed.collect();
    let near = nearest(&mut renamed.iter().copied())
        .or_else(|| renamed.first().map(|it| (*it).to_owned()))
        .map(|it| (it, true))
        .or_else(|| nearest(&mut added.iter().map(|it| it.name())).map(|it| (it, false)))
        .or_else(|| nearest(&mut tools.iter().map(Tool::name)).map(|it| (it, false)));
    let (what, cause) = match near {
        Some((near, true)) => (
            format!("tool `{name}` was renamed to `{near}`"),
            format!("tool {name:?} is gone; renamed to {near:?}"),
        ),
        Some((near, false)) => (
            format!("tool `{name}` is gone; nearest: `{near}`"),
            format!("tool {name:?} is gone; nearest: {near:?}"),
        ),
        None => (
            format!("tool `{name}` is gone"),
            format!("tool {name:?} is gone"),
        ),
    };
    Finding {
        cause,
        about_requests: true,
        ..finding(server, name, what, true)
    }
}

/// Many tools take no arguments at all; that they share the empty schema says nothing.
fn has_properties(schema: &serde_json::Value) -> bool {
    let properties = schema.get("properties").and_then(|it| it.as_object());
    properties.is_some_and(|it| !it.is_empty())
}

/// How alike two tool names are, 0 to 1: by their letters, or by the words they are made of.
fn likeness(a: &str, b: &str) -> f64 {
    let words = |name: &str| {
        let mut words = BTreeSet::new();
        let mut word = String::new();
        for it in name.chars() {
            if !it.is_alphanumeric() || it.is_uppercase() {
                words.insert(std::mem::take(&mut word));
            }
            if it.is_alphanumeric() {
                word.extend(it.to_lowercase());
            }
        }
        words.insert(word);
        words.remove("");
        words
    };
    let (a_words, b_words) = (words(a), words(b));
    let common = a_words.intersection(&b_words).count();
    let by_words = if common == 0 {
        0.0
    } else {
        0.5 + 0.5
            * super::number::share(
                super::number::count(common),
                a_words.union(&b_words).count(),
            )
    };
    strsim::normalized_damerau_levenshtein(a, b).max(by_words)
}

fn of_tool(server: &str, old: &Tool, new: &Tool, found: &mut Vec<Finding>) {
    let tool = old.name();
    let empty = serde_json::Value::Object(crate::model::Object::new());
    let schema = |it: &'_ Tool| it.input_schema().cloned().unwrap_or_else(|| empty.clone());
    for change in schema::changes(&schema(old), &schema(new)) {
        let schema::Change {
            parameter,
            what,
            breaking,
        } = change;
        let (long, short) = if parameter.is_empty() {
            (
                format!("arguments of `{tool}`: {what}"),
                format!("arguments: {what}"),
            )
        } else {
            (
                format!(
                    "parameter `{parameter}` of `{tool}` {}",
                    in_backticks(&what)
                ),
                format!("parameter {parameter:?} {what}"),
            )
        };
        let outermost = parameter.split(['.', '[']).next().unwrap_or_default();
        found.push(Finding {
            parameter: (!parameter.is_empty()).then(|| outermost.to_owned()),
            cause: short,
            about_requests: true,
            ..finding(server, tool, long, breaking)
        });
    }
    let mut note = |what: String| found.push(finding(server, tool, what, false));
    if old.description() != new.description() {
        note(format!("description of `{tool}` changed"));
    }
    let outputs_same = match (old.output_schema(), new.output_schema()) {
        (Some(b), Some(c)) => same(b, c),
        (b, c) => b.is_none() && c.is_none(),
    };
    if !outputs_same {
        note(format!("output schema of `{tool}` changed"));
    }
    if old.read_only_hint() != new.read_only_hint() {
        let now = match new.read_only_hint() {
            Some(true) => "is now said to only read",
            Some(false) => "is now said to change things",
            None => "is no longer said to only read or to change things",
        };
        note(format!("`{tool}` {now}"));
    }
}

/// Names that stand in quotes, in back quotes.
fn in_backticks(what: &str) -> String {
    match what.strip_prefix("was renamed to ") {
        Some(name) => format!("was renamed to {}", name.replace('"', "`")),
        None => what.to_owned(),
    }
}

/// What in the catalogue explains a difference in calls of a tool, best explanation first: a change of one of the
/// `parameters` concerned, then a breaking one, then one of requests, then any.
pub(super) fn cause(
    findings: &[Finding],
    server: &str,
    tool: &str,
    parameters: &[&str],
) -> Option<String> {
    let of_tool = findings
        .iter()
        .filter(|it| it.drift.server == server && it.drift.tool == tool);
    let rank = |it: &&Finding| {
        let concerns = it
            .parameter
            .as_deref()
            .is_some_and(|it| parameters.contains(&it));
        (concerns, it.drift.breaking, it.about_requests)
    };
    // Of equally good explanations, the first.
    of_tool.rev().max_by_key(rank).map(|it| it.cause.clone())
}
