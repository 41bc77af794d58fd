//! What changed in the tools the servers offer, and what of it explains a difference.

use std::collections::{BTreeSet, HashMap};

use crate::model::catalogue::{Catalogue, Tool};
use crate::model::comparison::Drift;

use super::number::{count, share};
use super::same::same;
use super::schema;

/// Names less alike than this are not offered as the nearest.
const NEAR: f64 = 0.5;
/// The most tools a tool that is gone is compared with.
const CANDIDATES: usize = 1000;
/// Names are compared up to this length.
const NAME: usize = 100;

/// One change in the catalogue.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) drift: Drift,
    /// The parameter concerned, by its outermost name.
    pub(super) parameter: Option<String>,
    /// The same in short, for use behind a reason: `parameter "limit" became a string`.
    pub(super) cause: String,
    /// The change may be why a request or an answer differs.
    explains: bool,
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
    let mut found = Vec::new();
    for old in &b.servers {
        let new = c.servers.iter().find(|it| it.server == old.server);
        let tools = new.map_or(&[][..], |it| &it.tools);
        of_server(&old.server, &old.tools, tools, used, &mut found);
    }
    for new in &c.servers {
        if b.servers.iter().all(|it| it.server != new.server) {
            of_server(&new.server, &[], &new.tools, used, &mut found);
        }
    }
    found
}

fn of_server(
    server: &str,
    old: &[Tool],
    new: &[Tool],
    used: &BTreeSet<(&str, &str)>,
    found: &mut Vec<Finding>,
) {
    let before = found.len();
    let by_name = |tools: &'_ [Tool]| -> HashMap<String, usize> {
        let named = tools.iter().enumerate().rev();
        named.map(|(at, it)| (it.name().to_owned(), at)).collect()
    };
    let (old_names, new_names) = (by_name(old), by_name(new));
    let added: Vec<&Tool> = (new.iter())
        .filter(|it| !old_names.contains_key(it.name()))
        .collect();
    for tool in old {
        if let Some(now) = new_names.get(tool.name()) {
            of_tool(server, tool, &new[*now], found);
        } else {
            let is_used = used.contains(&(server, tool.name()));
            found.push(gone(server, tool, is_used, &added, new));
        }
    }
    for tool in added {
        let name = tool.name();
        found.push(Finding {
            cause: format!("tool {name:?} is new"),
            ..finding(server, name, format!("tool `{name}` is new"), false)
        });
    }
    for it in &mut found[before..] {
        it.drift.used = used.contains(&(server, it.drift.tool.as_str()));
    }
}

fn finding(server: &str, tool: &str, what: String, breaking: bool) -> Finding {
    Finding {
        parameter: None,
        cause: what.clone(),
        explains: false,
        drift: Drift {
            server: server.to_owned(),
            tool: tool.to_owned(),
            what,
            breaking,
            used: false,
            refused: Vec::new(),
            path: String::new(),
            was: None,
            now: None,
        },
    }
}

/// A tool that is not listed any more: renamed if a new one takes the very same arguments, else gone. For a tool that
/// is called, the nearest name is looked for, among the new tools first.
fn gone(server: &str, tool: &Tool, is_used: bool, added: &[&Tool], tools: &[Tool]) -> Finding {
    let name = tool.name();
    let takes_the_same = |it: &&&Tool| match (tool.input_schema(), it.input_schema()) {
        (Some(b), Some(c)) => has_properties(b) && same(b, c),
        _ => false,
    };
    let added = &added[..added.len().min(CANDIDATES)];
    let renamed: Vec<&str> = (added.iter().filter(takes_the_same))
        .map(|it| it.name())
        .collect();
    let near = if let [only] = renamed.as_slice() {
        Some((*only, true))
    } else if !renamed.is_empty() {
        nearest(name, renamed.iter().copied()).map(|it| (it, true))
    } else if is_used {
        let listed = tools.iter().take(CANDIDATES).map(Tool::name);
        nearest(name, added.iter().map(|it| it.name()))
            .or_else(|| nearest(name, listed))
            .map(|it| (it, false))
    } else {
        None
    };
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
        explains: true,
        ..finding(server, name, what, true)
    }
}

/// The name most like the wanted one, if any is like it at all; of equals the first in the alphabet.
fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|it| (likeness(wanted, it), it))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|(a, a_name), (b, b_name)| a.total_cmp(b).then(b_name.cmp(a_name)))
        .map(|(_, it)| it)
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
    let short = |name: &str| name.chars().take(NAME).collect::<String>();
    let (a, b) = (short(a), short(b));
    let (of_a, of_b) = (words(&a), words(&b));
    let common = of_a.intersection(&of_b).count();
    let by_letters = strsim::normalized_damerau_levenshtein(&a, &b);
    if common == 0 {
        return by_letters;
    }
    by_letters.max(0.5 + 0.5 * share(count(common), of_a.union(&of_b).count()))
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
            explains: true,
            ..finding(server, tool, long, breaking)
        });
    }
    let mut note = |what: String, explains: bool| {
        found.push(Finding {
            explains,
            ..finding(server, tool, what, false)
        });
    };
    if old.description() != new.description() {
        note(format!("description of `{tool}` changed"), false);
    }
    let outputs_same = match (old.output_schema(), new.output_schema()) {
        (Some(b), Some(c)) => same(b, c),
        (b, c) => b.is_none() && c.is_none(),
    };
    if !outputs_same {
        note(format!("output schema of `{tool}` changed"), true);
    }
    if old.read_only_hint() != new.read_only_hint() {
        let now = match new.read_only_hint() {
            Some(true) => "is now said to only read",
            Some(false) => "is now said to change things",
            None => "is no longer said to only read or to change things",
        };
        note(format!("`{tool}` {now}"), false);
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
/// `parameters` concerned, then a breaking one, then any that may.
pub(super) fn cause(
    findings: &[Finding],
    server: &str,
    tool: &str,
    parameters: &[&str],
) -> Option<String> {
    let candidates = findings
        .iter()
        .filter(|it| it.explains && it.drift.server == server && it.drift.tool == tool);
    let rank = |it: &&Finding| {
        let concerned = |name: &str| parameters.contains(&name);
        (
            it.parameter.as_deref().is_some_and(concerned),
            it.drift.breaking,
        )
    };
    // Of equally good explanations, the first.
    candidates.rev().max_by_key(rank).map(|it| it.cause.clone())
}
