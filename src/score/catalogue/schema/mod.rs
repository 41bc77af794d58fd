//! What changed between two JSON Schemas, in words: which keyword of which parameter, from what to what.
//!
//! Whether a change is narrower is judged by its kind, from the two schemas alone; whether it refuses a call that was made is for
//! [`super::refusal`] to say.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use crate::score::text::excerpt;
use crate::score::values::path::escape;
use crate::score::values::same::{self, View, same};

use super::likeness;
use super::schema_node::Node;
use super::schema_types;

/// How deep nested schemas are compared.
const DEPTH: usize = 32;
/// The most pairs of places that are compared, and the most changes that are reported.
const PLACES: usize = 20_000;
const CHANGES: usize = 200;

/// Keywords that say nothing about what is accepted.
const NOTES: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$comment",
    "title",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "default",
    "description",
];
/// Keywords that are compared elsewhere, with what they hold, and those that only hold what references lead to.
const HANDLED_ELSEWHERE: &[&str] = &[
    "type",
    "nullable",
    "enum",
    "const",
    "properties",
    "required",
    "items",
    "prefixItems",
    "additionalProperties",
    "$defs",
    "definitions",
];
const LOWER: &[&str] = &[
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];
const UPPER: &[&str] = &[
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];
/// Keywords that only ever take away from what is accepted.
const RESTRICTIONS: &[&str] = &[
    "pattern",
    "format",
    "multipleOf",
    "uniqueItems",
    "propertyNames",
    "contains",
];

/// One change of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The parameter, as in `filter.tags[]`; empty for the arguments as a whole.
    pub(super) parameter: String,
    /// Its name now, where it has another.
    pub(super) renamed: Option<String>,
    /// What happened to it, as in `became a string`.
    pub(super) what: String,
    /// The keyword concerned.
    pub(super) keyword: String,
    /// Where it is, below the schema, as in `/properties/limit/maximum`.
    pub(super) path: String,
    pub(super) was: Option<String>,
    pub(super) now: Option<String>,
    /// Some requests that were right before may be refused now.
    pub(super) narrows: bool,
    /// It says nothing about what is accepted.
    pub(super) is_note: bool,
}

/// Every change that a client of the schema may notice.
pub(super) fn changes(b: &Value, c: &Value) -> Vec<Change> {
    let mut walk = Walk {
        roots: (b, c),
        same_references: refer_to_the_same(b, c),
        found: Vec::new(),
        seen: HashSet::new(),
    };
    walk.compare(b, c, &Place::default(), DEPTH);
    walk.found
}

/// A place in both schemas.
#[derive(Debug, Clone, Default)]
struct Place {
    parameter: String,
    path: String,
}

impl Place {
    fn member(&self, name: &str) -> Self {
        let parameter = match self.parameter.as_str() {
            "" => name.to_owned(),
            outer => format!("{outer}.{name}"),
        };
        let path = format!("{}/properties/{}", self.path, escape(name));
        Self { parameter, path }
    }

    fn elements(&self, keyword: &str) -> Self {
        Self {
            parameter: format!("{}[]", self.parameter),
            path: format!("{}/{keyword}", self.path),
        }
    }

    fn below(&self, step: &str) -> Self {
        Self {
            parameter: self.parameter.clone(),
            path: format!("{}/{step}", self.path),
        }
    }
}

struct Walk<'a> {
    roots: (&'a Value, &'a Value),
    /// Whether equal references mean equal schemas.
    same_references: bool,
    found: Vec<Change>,
    /// Pairs of places that were compared, because recursive schemas would be compared endlessly.
    seen: HashSet<(usize, usize)>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, place: &Place, keyword: &str, narrows: bool, what: String) -> &mut Change {
        self.found.push(Change {
            parameter: place.parameter.clone(),
            renamed: None,
            what,
            keyword: keyword.to_owned(),
            path: format!("{}/{keyword}", place.path),
            was: None,
            now: None,
            narrows,
            is_note: NOTES.contains(&keyword),
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    fn compare(&mut self, b: &'a Value, c: &'a Value, place: &Place, depth: usize) {
        let address = |it: &Value| std::ptr::from_ref(it).addr();
        let is_done = self.seen.len() >= PLACES || self.found.len() >= CHANGES;
        if is_done || !self.seen.insert((address(b), address(c))) {
            return;
        }
        if same(b, c) && self.same_references {
            return;
        }
        if let (Value::Bool(_), _) | (_, Value::Bool(_)) = (b, c) {
            let what = format!("changed from {} to {}", excerpt::of(b), excerpt::of(c));
            self.add(place, "", *c == Value::Bool(false), what);
            return;
        }
        let before = self.found.len();
        let (old, new) = (Node::of(self.roots.0, b), Node::of(self.roots.1, c));
        self.types(&old, &new, place);
        self.values(&old, &new, place);
        self.bounds(&old, &new, place);
        self.unknown_members(&old, &new, place, depth);
        self.others(&old, &new, place, depth);
        if depth > 0 {
            self.members(&old, &new, place, depth - 1);
            self.elements(&old, &new, place, depth - 1);
        }
        self.notes(&old, &new, place);
        if self.found.len() == before && !same(b, c) && !is_written_otherwise(b, c) {
            self.unexplained(b, c, place);
        }
    }

    fn types(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place) {
        let (old, new) = (b.types(), c.types());
        let (what, narrows) = match (&old, &new) {
            (Some(old), Some(new)) => match schema_types::change(old, new) {
                Some(it) => it,
                None => return,
            },
            (None, Some(new)) if !b.has_alternatives() => (
                format!("now accepts only {}", schema_types::names(new)),
                true,
            ),
            (Some(_), None) if !c.has_alternatives() => ("now accepts any type".to_owned(), false),
            _ => return,
        };
        let words = |it: &BTreeSet<&str>| it.iter().copied().collect::<Vec<_>>().join(" | ");
        let change = self.add(place, "type", narrows, what);
        change.was = old.as_ref().map(words);
        change.now = new.as_ref().map(words);
    }

    /// Changes of `enum` and `const`.
    fn values(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place) {
        let (old, new) = (allowed(b), allowed(c));
        let keyword = if c.get("const").is_some() || (new.is_none() && b.get("const").is_some()) {
            "const"
        } else {
            "enum"
        };
        let shown = |it: &Option<Vec<&Value>>| it.as_ref().map(|it| list_of_values(it));
        let (was, now) = (shown(&old), shown(&new));
        let missing = |from: &[&'a Value], among: &[&'a Value]| -> Vec<&'a Value> {
            let is_gone = |it: &&&Value| !among.iter().any(|other| same(it, other));
            from.iter().filter(is_gone).copied().collect()
        };
        let mut found = Vec::new();
        match (&old, &new) {
            (Some(old), Some(new)) => {
                let (gone, added) = (missing(old, new), missing(new, old));
                if !gone.is_empty() {
                    found.push((format!("no longer accepts {}", list_of_values(&gone)), true));
                }
                if !added.is_empty() {
                    found.push((
                        format!("now also accepts {}", list_of_values(&added)),
                        false,
                    ));
                }
            }
            (None, Some(new)) => {
                found.push((format!("now accepts only {}", list_of_values(new)), true));
            }
            (Some(_), None) => {
                found.push(("is no longer limited to certain values".to_owned(), false));
            }
            (None, None) => {}
        }
        for (what, narrows) in found {
            let change = self.add(place, keyword, narrows, what);
            (change.was, change.now) = (was.clone(), now.clone());
        }
    }

    /// Keywords that bound a value from below or above.
    fn bounds(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place) {
        let number = |it: &Node<'_>, keyword: &str| it.get(keyword).and_then(Value::as_f64);
        let whole = |it: &Node<'_>| {
            it.types()
                .is_some_and(|it| it.contains("integer") && !it.contains("number"))
        };
        let both_whole = whole(b) && whole(c);
        let range = |it: &Node<'_>| {
            let step = f64::from(u8::from(both_whole));
            let least = [
                number(it, "minimum"),
                number(it, "exclusiveMinimum").map(|it| it + step),
            ];
            let most = [
                number(it, "maximum"),
                number(it, "exclusiveMaximum").map(|it| it - step),
            ];
            (
                least
                    .into_iter()
                    .flatten()
                    .fold(f64::NEG_INFINITY, f64::max),
                most.into_iter().flatten().fold(f64::INFINITY, f64::min),
            )
        };
        let ((least_then, most_then), (least_now, most_now)) = (range(b), range(c));
        #[expect(clippy::float_cmp, reason = "bounds are taken as they are written")]
        let same_range = both_whole && least_then == least_now && most_then == most_now;
        for keyword in LOWER.iter().chain(UPPER) {
            let (old, new) = (number(b, keyword), number(c, keyword));
            if old == new {
                continue;
            }
            let narrows = match *keyword {
                _ if same_range
                    && matches!(
                        *keyword,
                        "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum"
                    ) =>
                {
                    false
                }
                "minimum" | "exclusiveMinimum" => {
                    new.is_some()
                        && (least_now > least_then
                            || !both_whole && old.is_none_or(|old| new > Some(old)))
                }
                "maximum" | "exclusiveMaximum" => {
                    new.is_some()
                        && (most_now < most_then
                            || !both_whole && old.is_none_or(|old| new < Some(old)))
                }
                _ => new.is_some_and(|new| {
                    let is_narrower = |old: f64| {
                        if LOWER.contains(keyword) {
                            new > old
                        } else {
                            new < old
                        }
                    };
                    old.is_none_or(is_narrower)
                }),
            };
            self.keyword(b.get(keyword), c.get(keyword), place, keyword, narrows);
        }
    }

    /// A keyword that was gained, lost or changed.
    fn keyword(
        &mut self,
        old: Option<&Value>,
        new: Option<&Value>,
        place: &Place,
        keyword: &str,
        narrows: bool,
    ) {
        let (was, now) = excerpt::of_both(old, new);
        let what = match (&was, &now) {
            _ if keyword == "description" => "has another description".to_owned(),
            (Some(was), Some(now)) => format!("changed `{keyword}` from {was} to {now}"),
            (None, Some(now)) => format!("gained `{keyword}`: {now}"),
            (Some(was), None) => format!("lost `{keyword}`: {was}"),
            (None, None) => return,
        };
        let change = self.add(place, keyword, narrows, what);
        (change.was, change.now) = (was, now);
    }

    /// Changes of what is accepted for members that are not named.
    fn unknown_members(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place, depth: usize) {
        let keyword = "additionalProperties";
        let (old, new) = (b.get(keyword), c.get(keyword));
        let closed = |it: Option<&Value>| it == Some(&Value::Bool(false));
        let open = |it: Option<&Value>| match it {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Object(it)) => it.is_empty(),
            _ => false,
        };
        match (old, new) {
            _ if open(old) && open(new) || closed(old) && closed(new) => {}
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) if depth > 0 => {
                let member = Place {
                    parameter: place.member("*").parameter,
                    path: format!("{}/{keyword}", place.path),
                };
                self.compare(old, new, &member, depth - 1);
            }
            _ => {
                let (what, narrows) = if closed(new) {
                    ("no longer accepts unknown parameters".to_owned(), true)
                } else if open(new) {
                    ("now accepts any unknown parameter".to_owned(), false)
                } else if closed(old) {
                    ("now accepts some unknown parameters".to_owned(), false)
                } else {
                    ("no longer accepts every unknown parameter".to_owned(), true)
                };
                let (was, now) = (old.map(excerpt::of), new.map(excerpt::of));
                let change = self.add(place, keyword, narrows, what);
                (change.was, change.now) = (was, now);
            }
        }
    }

    /// Keywords that have no specific wording: patterns, formats, alternatives.
    fn others(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place, depth: usize) {
        let is_handled_elsewhere = |it: &&str| {
            let bounds = LOWER.iter().chain(UPPER);
            NOTES
                .iter()
                .chain(HANDLED_ELSEWHERE)
                .chain(bounds)
                .any(|keyword| keyword == it)
        };
        let all: BTreeSet<&str> = b
            .keywords()
            .union(&c.keywords())
            .copied()
            .filter(|it| !is_handled_elsewhere(it))
            .collect();
        for keyword in all {
            let (old, new) = (b.get(keyword), c.get(keyword));
            if old
                .zip(new)
                .is_some_and(|(old, new)| same(old, new) && self.same_references)
            {
                continue;
            }
            if matches!(keyword, "anyOf" | "oneOf") {
                self.alternatives((b, c), (old, new), place, keyword, depth);
            } else {
                let narrows = RESTRICTIONS.contains(&keyword)
                    && new.is_some_and(|it| *it != Value::Bool(false));
                self.keyword(old, new, place, keyword, narrows);
            }
        }
    }

    /// Alternatives that were added or removed; changed ones are compared in their order.
    fn alternatives(
        &mut self,
        (b, c): (&Node<'a>, &Node<'a>),
        (old, new): (Option<&'a Value>, Option<&'a Value>),
        place: &Place,
        keyword: &str,
        depth: usize,
    ) {
        if b.types().is_some()
            && c.types().is_some()
            && (b.get("type").is_none() || c.get("type").is_none())
        {
            // Nothing but types, which are compared as such.
            return;
        }
        let branches = |it: Option<&'a Value>| -> Option<&'a Vec<Value>> { it?.as_array() };
        let (Some(old_branches), Some(new_branches)) = (branches(old), branches(new)) else {
            self.keyword(old, new, place, keyword, false);
            return;
        };
        let left = |from: &'a [Value], among: &'a [Value]| -> Vec<(usize, &'a Value)> {
            let is_left = |it: &(usize, &Value)| !among.iter().any(|other| same(it.1, other));
            from.iter().enumerate().filter(is_left).collect()
        };
        let (gone, added) = (
            left(old_branches, new_branches),
            left(new_branches, old_branches),
        );
        if gone.len() == added.len() && depth > 0 {
            for ((_, old), (at, new)) in gone.into_iter().zip(added) {
                self.compare(
                    old,
                    new,
                    &place.below(&format!("{keyword}/{at}")),
                    depth - 1,
                );
            }
            return;
        }
        let shown =
            |it: &[(usize, &Value)]| list_of_values(&it.iter().map(|it| it.1).collect::<Vec<_>>());
        if !gone.is_empty() {
            let shown = shown(&gone);
            let change = self.add(place, keyword, true, format!("no longer accepts {shown}"));
            change.was = Some(shown);
        }
        if !added.is_empty() {
            let shown = shown(&added);
            let change = self.add(place, keyword, false, format!("now also accepts {shown}"));
            change.now = Some(shown);
        }
    }

    /// Parameters added, removed, renamed, required, and changed in themselves.
    fn members(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place, depth: usize) {
        let (old, new) = (b.properties(), c.properties());
        let (required_then, required_now) = (b.required(), c.required());
        let (old_names, new_names): (HashSet<&str>, HashSet<&str>) = (
            old.iter().map(|it| it.0).collect(),
            new.iter().map(|it| it.0).collect(),
        );
        let mut added: Vec<(&str, &Value)> = (new.iter().copied())
            .filter(|it| !old_names.contains(it.0))
            .collect();
        for (name, schema) in old.iter().filter(|it| !new_names.contains(it.0)) {
            let member = place.member(name);
            let same_name = renamed(name, schema, &added);
            let change = if let Some(at) = same_name {
                let (other, _) = added.remove(at);
                let change = self.add(&member, "", true, format!("was renamed to {other:?}"));
                change.renamed = Some(place.member(other).parameter);
                (change.was, change.now) = (Some((*name).to_owned()), Some(other.to_owned()));
                change
            } else {
                let change = self.add(&member, "", true, "is gone".to_owned());
                change.was = Some(excerpt::of(schema));
                change
            };
            change.path.clone_from(&member.path);
            "properties".clone_into(&mut change.keyword);
        }
        for (name, schema) in added {
            let is_required = required_now.contains(name);
            let (what, keyword) = if is_required {
                ("is new and required", "required")
            } else {
                ("is new and optional", "properties")
            };
            let member = place.member(name);
            let change = self.add(&member, keyword, is_required, what.to_owned());
            change.path.clone_from(&member.path);
            change.now = Some(excerpt::of(schema));
        }
        for (name, old) in old {
            let Some(new) = c.property(name) else {
                continue;
            };
            let member = place.member(name);
            let (then, now) = (required_then.contains(name), required_now.contains(name));
            if then != now {
                let what = if now {
                    "became required"
                } else {
                    "became optional"
                };
                let change = self.add(place, "required", now, what.to_owned());
                change.parameter.clone_from(&member.parameter);
                let word = |required: bool| {
                    Some(if required { "required" } else { "optional" }.to_owned())
                };
                (change.was, change.now) = (word(then), word(now));
            }
            self.compare(old, new, &member, depth);
        }
        for name in required_now.difference(&required_then) {
            if !new_names.contains(name) {
                let change = self.add(place, "required", true, "became required".to_owned());
                change.parameter = place.member(name).parameter;
            }
        }
    }

    fn elements(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place, depth: usize) {
        match (b.get("items"), c.get("items")) {
            (Some(old), Some(new)) => self.compare(old, new, &place.elements("items"), depth),
            (None, None) => {}
            (old, new) => self.keyword(old, new, place, "items", new.is_some()),
        }
        let firsts = |it: &Node<'a>| it.get("prefixItems").and_then(Value::as_array);
        match (firsts(b), firsts(c)) {
            (Some(old), Some(new)) if old.len() == new.len() => {
                for (at, (old, new)) in old.iter().zip(new).enumerate() {
                    self.compare(
                        old,
                        new,
                        &place.elements(&format!("prefixItems/{at}")),
                        depth,
                    );
                }
            }
            (None, None) => {}
            _ => {
                let (old, new) = (b.get("prefixItems"), c.get("prefixItems"));
                self.keyword(old, new, place, "prefixItems", new.is_some());
            }
        }
    }

    fn notes(&mut self, b: &Node<'a>, c: &Node<'a>, place: &Place) {
        for keyword in NOTES {
            let (old, new) = (b.get(keyword), c.get(keyword));
            let is_same = match (old, new) {
                (Some(old), Some(new)) => same(old, new),
                (old, new) => old.is_none() && new.is_none(),
            };
            if !is_same {
                self.keyword(old, new, place, keyword, false);
            }
        }
    }

    /// The first keyword that differs, where no rule has reported any.
    fn unexplained(&mut self, b: &'a Value, c: &'a Value, place: &Place) {
        let none = crate::model::Object::new();
        let members = |it: &'a Value| it.as_object();
        let (old, new) = (members(b).unwrap_or(&none), members(c).unwrap_or(&none));
        let ignored = |it: &&String| matches!(it.as_str(), "$defs" | "definitions");
        let keys: BTreeSet<&String> = old
            .keys()
            .chain(new.keys())
            .filter(|it| !ignored(it))
            .collect();
        for key in keys {
            let (was, is) = (old.get(key), new.get(key));
            if was.zip(is).is_none_or(|(was, is)| !same(was, is)) {
                self.keyword(was, is, place, key, false);
                return;
            }
        }
    }
}

/// Whether what can be referred to is the same in both documents, or nothing is referred to at all.
fn refer_to_the_same(b: &Value, c: &Value) -> bool {
    let (old, new) = (b.to_string(), c.to_string());
    let refers = |it: &str| it.contains("\"$ref\"");
    if !refers(&old) && !refers(&new) {
        return true;
    }
    let elsewhere = |it: &str| it.contains("\"#/properties") || it.contains("\"#\"");
    let same_definitions =
        ["$defs", "definitions"]
            .iter()
            .all(|key| match (b.get(key), c.get(key)) {
                (Some(b), Some(c)) => same(b, c),
                (b, c) => b.is_none() && c.is_none(),
            });
    same_definitions && !elsewhere(&old) && !elsewhere(&new)
}

/// Whether two schemas that differ may say the same, one of them through references or single alternatives.
fn is_written_otherwise(b: &Value, c: &Value) -> bool {
    let indirect = |it: &Value| {
        [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "$defs",
            "definitions",
            "nullable",
        ]
        .iter()
        .any(|key| it.get(key).is_some())
    };
    let other = |it: &Value| it.get("type").is_some_and(Value::is_array);
    indirect(b) || indirect(c) || other(b) || other(c)
}

fn allowed<'a>(schema: &Node<'a>) -> Option<Vec<&'a Value>> {
    let of_enum = schema.get("enum").and_then(Value::as_array);
    of_enum
        .map(|it| it.iter().collect())
        .or_else(|| schema.get("const").map(|it| vec![it]))
}

fn list_of_values(values: &[&Value]) -> String {
    let shown: Vec<String> = values.iter().take(10).map(|it| excerpt::of(it)).collect();
    match values.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Which of the new members a member that is gone has become: one with the same schema, of several the one with the most similar name. A
/// title and a description may have changed with the name.
fn renamed(name: &str, schema: &Value, added: &[(&str, &Value)]) -> Option<usize> {
    let wanted = same::hash(&plain(schema), View::Plain);
    let candidates = (added.iter().enumerate())
        .filter(|(_, (_, it))| same::hash(&plain(it), View::Plain) == wanted);
    let ranked = candidates.map(|(at, (other, it))| {
        let described = |it: &Value| it.get("description").cloned();
        let as_described = described(it).is_some() && described(it) == described(schema);
        (
            f64::from(u8::from(as_described)) + likeness::names(name, other),
            at,
        )
    });
    ranked
        .rev()
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, at)| at)
}

fn plain(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.retain(|key, _| !matches!(key.as_str(), "title" | "description"));
    }
    schema
}
