//! What changed between two JSON Schemas of a tool's arguments, in words.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::model::Object;

use super::excerpt;
use super::kind::article;
use super::same::{self, View, same};

/// How deep nested schemas are compared.
const DEPTH: usize = 32;

/// One change of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The parameter, as in `filter.tags[]`; empty for the arguments as a whole.
    pub(super) parameter: String,
    /// What happened to it, as in `became a string`.
    pub(super) what: String,
    /// Requests that were right before may fail now.
    pub(super) breaking: bool,
}

/// Every change that a client of the schema may notice.
pub(super) fn changes(b: &Value, c: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    compare(b, c, "", DEPTH, &mut found);
    found
}

fn compare(b: &Value, c: &Value, parameter: &str, depth: usize, found: &mut Vec<Change>) {
    if same(b, c) {
        return;
    }
    let before = found.len();
    let mut add = |what: String, breaking: bool| {
        found.push(Change {
            parameter: parameter.to_owned(),
            what,
            breaking,
        });
    };
    types(b, c, &mut add);
    values(b, c, &mut add);
    bounds(b, c, &mut add);
    let default = |it: &Value| it.get("default").map(excerpt::of);
    if default(b) != default(c) {
        let shown = default(c).unwrap_or_else(|| "none".to_owned());
        add(format!("has another default: {shown}"), false);
    }
    if closes(b, c) {
        add("no longer accepts unknown parameters".to_owned(), true);
    }
    if depth > 0 {
        properties(b, c, parameter, depth - 1, found);
        if let (Some(b), Some(c)) = (b.get("items"), c.get("items")) {
            compare(b, c, &format!("{parameter}[]"), depth - 1, found);
        }
    }
    let described = |it: &Value| it.get("description").cloned();
    if found.len() == before && described(b) != described(c) {
        found.push(change(parameter, "has another description", false));
    } else if found.len() == before {
        // Combinators and other keywords: whether they got narrower is not decided here.
        found.push(change(parameter, "changed", false));
    }
}

fn change(parameter: &str, what: &str, breaking: bool) -> Change {
    Change {
        parameter: parameter.to_owned(),
        what: what.to_owned(),
        breaking,
    }
}

fn types(b: &Value, c: &Value, add: &mut impl FnMut(String, bool)) {
    let (Some(old), Some(new)) = (type_set(b), type_set(c)) else {
        match (type_set(b), type_set(c)) {
            (None, Some(new)) if !has_combinator(b) => {
                add(format!("now accepts only {}", list(&new)), true);
            }
            (Some(_), None) if !has_combinator(c) => add("now accepts any type".to_owned(), false),
            _ => {}
        }
        return;
    };
    let lost: BTreeSet<&str> = (old.iter().copied())
        .filter(|it| !accepts(&new, it))
        .collect();
    let gained: BTreeSet<&str> = (new.iter().copied())
        .filter(|it| !accepts(&old, it))
        .collect();
    let keeps_some = lost.len() < old.len();
    // From `number` to `integer` the one type is lost, yet whole numbers are still accepted.
    let narrows_number = old.contains("number") && new.contains("integer") && gained.is_empty();
    if !lost.is_empty() && (keeps_some || narrows_number) && gained.is_empty() {
        let what = if narrows_number && lost.len() == 1 {
            "was narrowed to integer".to_owned()
        } else {
            format!("no longer accepts {}", list(&lost))
        };
        add(what, true);
    } else if !lost.is_empty() {
        add(format!("became {}", list(&new)), true);
    } else if !gained.is_empty() {
        add(format!("now also accepts {}", list(&gained)), false);
    }
}

fn accepts(types: &BTreeSet<&str>, wanted: &str) -> bool {
    types.contains(wanted) || (wanted == "integer" && types.contains("number"))
}

fn list(types: &BTreeSet<&str>) -> String {
    let named: Vec<String> = types.iter().map(|it| article(it)).collect();
    named.join(" or ")
}

/// The types a schema accepts, where it says so by `type`, or by `anyOf` or `oneOf` over nothing but types.
fn type_set(schema: &Value) -> Option<BTreeSet<&str>> {
    match schema.get("type") {
        Some(Value::String(one)) => return Some(BTreeSet::from([one.as_str()])),
        Some(Value::Array(many)) => return many.iter().map(Value::as_str).collect(),
        _ => {}
    }
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?;
    let only_type = |it: &'_ Value| it.as_object().is_some_and(|it| it.len() == 1);
    let branches = branches.as_array()?;
    if !branches.iter().all(only_type) {
        return None;
    }
    (branches.iter())
        .map(|it| it.get("type").and_then(Value::as_str))
        .collect()
}

fn has_combinator(schema: &Value) -> bool {
    let keywords = [
        "anyOf", "oneOf", "allOf", "not", "if", "$ref", "const", "enum",
    ];
    keywords.iter().any(|it| schema.get(it).is_some())
}

/// Changes of `enum` and `const`.
fn values(b: &Value, c: &Value, add: &mut impl FnMut(String, bool)) {
    let (old, new) = (allowed(b), allowed(c));
    let missing = |from: &[&Value], among: &[&Value]| {
        let gone = from
            .iter()
            .filter(|it| !among.iter().any(|other| same(it, other)));
        gone.map(|it| excerpt::of(it)).take(10).collect::<Vec<_>>()
    };
    match (old, new) {
        (Some(old), Some(new)) => {
            let (gone, added) = (missing(&old, &new), missing(&new, &old));
            if !gone.is_empty() {
                add(format!("no longer accepts {}", gone.join(", ")), true);
            }
            if !added.is_empty() {
                add(format!("now also accepts {}", added.join(", ")), false);
            }
        }
        (None, Some(new)) => {
            let shown: Vec<String> = new.iter().take(10).map(|it| excerpt::of(it)).collect();
            add(format!("now accepts only {}", shown.join(", ")), true);
        }
        (Some(_), None) => add("is no longer limited to certain values".to_owned(), false),
        (None, None) => {}
    }
}

fn allowed(schema: &Value) -> Option<Vec<&Value>> {
    let of_enum = schema.get("enum").and_then(Value::as_array);
    of_enum
        .map(|it| it.iter().collect())
        .or_else(|| schema.get("const").map(|it| vec![it]))
}

/// Keywords that bound a value from below or above.
fn bounds(b: &Value, c: &Value, add: &mut impl FnMut(String, bool)) {
    let lower = [
        "minimum",
        "exclusiveMinimum",
        "minLength",
        "minItems",
        "minProperties",
    ];
    let upper = [
        "maximum",
        "exclusiveMaximum",
        "maxLength",
        "maxItems",
        "maxProperties",
    ];
    for keyword in lower.iter().chain(&upper) {
        let bound = |it: &Value| it.get(keyword).and_then(Value::as_f64);
        let (old, new) = (bound(b), bound(c));
        let narrower = match (old, new) {
            (None, Some(_)) => true,
            (Some(old), Some(new)) if lower.contains(keyword) => new > old,
            (Some(old), Some(new)) => new < old,
            (_, None) => false,
        };
        match new {
            Some(new) if old != Some(new) => add(format!("has another {keyword}: {new}"), narrower),
            None if old.is_some() => add(format!("has no {keyword} any more"), false),
            _ => {}
        }
    }
}

fn closes(b: &Value, c: &Value) -> bool {
    let closed = |it: &Value| it.get("additionalProperties") == Some(&Value::Bool(false));
    !closed(b) && closed(c)
}

/// Parameters added, removed, renamed, required, and changed in themselves.
fn properties(b: &Value, c: &Value, parent: &str, depth: usize, found: &mut Vec<Change>) {
    let none = Object::new();
    let members = |it: &'_ Value| it.get("properties").and_then(Value::as_object).cloned();
    let (old, new) = (members(b), members(c));
    let (old, new) = (old.as_ref().unwrap_or(&none), new.as_ref().unwrap_or(&none));
    let (required_before, required_now) = (required(b), required(c));
    let name = |key: &str| match parent {
        "" => key.to_owned(),
        _ => format!("{parent}.{key}"),
    };
    let added = || new.iter().filter(|(key, _)| !old.contains_key(*key));
    let removed = || old.iter().filter(|(key, _)| !new.contains_key(*key));
    let mut by_schema: HashMap<u64, Vec<&str>> = HashMap::new();
    for (key, schema) in added() {
        by_schema
            .entry(same::hash(schema, View::Plain))
            .or_default()
            .push(key);
    }
    let mut renamed_to = BTreeSet::new();
    for (key, schema) in removed() {
        let candidates = by_schema.get(&same::hash(schema, View::Plain));
        let free = candidates
            .into_iter()
            .flatten()
            .find(|it| !renamed_to.contains(**it));
        let what = match free {
            Some(other) => {
                renamed_to.insert(*other);
                format!("was renamed to {other:?}")
            }
            None => "is gone".to_owned(),
        };
        found.push(change(&name(key), &what, true));
    }
    for (key, _) in added().filter(|(key, _)| !renamed_to.contains(key.as_str())) {
        let is_required = required_now.contains(key.as_str());
        let what = if is_required {
            "is new and required"
        } else {
            "is new and optional"
        };
        found.push(change(&name(key), what, is_required));
    }
    for (key, old) in old {
        let Some(new) = new.get(key) else { continue };
        match (
            required_before.contains(key.as_str()),
            required_now.contains(key.as_str()),
        ) {
            (false, true) => found.push(change(&name(key), "became required", true)),
            (true, false) => found.push(change(&name(key), "became optional", false)),
            _ => {}
        }
        compare(old, new, &name(key), depth, found);
    }
}

fn required(schema: &Value) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}
