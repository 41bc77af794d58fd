//! Changes between two JSON Schemas, in words: which keyword of which parameter, from what to what.
//!
//! Whether a change is narrower is judged by its kind, from the two schemas alone; whether it refuses a call that was made is for
//! [`super::refusal`] to say.
//!
//! - here: the walk through both schemas, place by place.
//! - `node`: all that a schema says of one place.
//! - `types`, `bounds`: which types and ranges are accepted there.
//! - `values`: which values are, and what schemas refer to.
//! - `renamed`: members under another name.

mod bounds;
pub(super) mod node;
mod renamed;
mod types;
mod values;

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use self::bounds::is_bound;
use self::node::{Difference, Node};
use self::values::{is_written_otherwise, listed, refer_to_the_same};
use crate::text::excerpt;
use crate::values::path::escape;
use crate::values::same::same;

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// The parameter, as in `filter.tags[]`; empty for the arguments as a whole.
    pub(super) parameter: String,
    /// Its name now, where it has another.
    pub(super) renamed: Option<String>,
    /// What happened to it, as in `became a string`.
    pub(super) what: String,
    /// That says what it was and is.
    pub(super) has_values: bool,
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
            what,
            keyword: keyword.to_owned(),
            path: format!("{}/{keyword}", place.path),
            narrows,
            is_note: NOTES.contains(&keyword),
            ..Change::default()
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
        let types = types::changed(&old, &new);
        for it in types.into_iter().chain(values::changed(&old, &new)) {
            self.differs(place, it);
        }
        for (keyword, narrows) in bounds::changed(&old, &new) {
            self.keyword(old.get(keyword), new.get(keyword), place, keyword, narrows);
        }
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

    /// A keyword that differs in a way that has words of its own.
    fn differs(&mut self, place: &Place, difference: Difference) {
        let change = self.add(
            place,
            difference.keyword,
            difference.narrows,
            difference.what,
        );
        (change.was, change.now) = (difference.was, difference.now);
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
        change.has_values = keyword != "description";
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
        let is_handled_elsewhere =
            |it: &&str| NOTES.contains(it) || HANDLED_ELSEWHERE.contains(it) || is_bound(it);
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
        let shown = |it: &[(usize, &Value)]| listed(&it.iter().map(|it| it.1).collect::<Vec<_>>());
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
        let gone: Vec<(&str, &Value)> = (old.iter().copied())
            .filter(|it| !new_names.contains(it.0))
            .collect();
        let other_names = renamed::names(&gone, &added);
        let is_other_name: HashSet<&str> = other_names.iter().flatten().copied().collect();
        added.retain(|(name, _)| !is_other_name.contains(name));
        for ((name, schema), other) in gone.into_iter().zip(other_names) {
            let member = place.member(name);
            let change = if let Some(other) = other {
                let change = self.add(&member, "", true, format!("was renamed to `{other}`"));
                change.renamed = Some(place.member(other).parameter);
                change.has_values = true;
                (change.was, change.now) = (Some(name.to_owned()), Some(other.to_owned()));
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
        let none = model::Object::new();
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
