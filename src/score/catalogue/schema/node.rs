//! One place of a JSON Schema with everything that applies to it, wherever it is written: behind `$ref`, in `allOf`, in the one branch of an
//! `anyOf` beside null.
//!
//! Schema generators write the same thing in many ways. This is for comparing and describing schemas; what a schema accepts is
//! decided by a validator.

use std::collections::BTreeSet;

use serde_json::Value;

use model::Object;

/// The most schemas that are taken together at one place.
const LAYERS: usize = 32;
/// How deep alternatives within alternatives are looked into.
const DEPTH: usize = 8;

/// Everything that applies to one place.
pub(in crate::catalogue) struct Node<'a> {
    root: &'a Value,
    layers: Vec<&'a Object>,
    /// Keywords that were followed to other schemas, and so are not compared themselves: the layer and the keyword.
    followed: Vec<(usize, &'static str)>,
    /// Null is accepted besides.
    nullable: bool,
    /// A reference leads out of the document, or nowhere, so not everything that applies is known.
    pub(in crate::catalogue) is_open: bool,
}

impl<'a> Node<'a> {
    pub(in crate::catalogue) fn of(root: &'a Value, schema: &'a Value) -> Self {
        let mut node = Self {
            root,
            layers: schema.as_object().into_iter().collect(),
            followed: Vec::new(),
            nullable: false,
            is_open: false,
        };
        let mut at = 0;
        while at < node.layers.len() && node.layers.len() < LAYERS {
            node.follow(at);
            at += 1;
        }
        node
    }

    fn follow(&mut self, at: usize) {
        let layer = self.layers[at];
        if let Some(Value::String(reference)) = layer.get("$ref") {
            match target(self.root, reference) {
                Some(it) => {
                    self.layers.extend(it.as_object());
                    self.followed.push((at, "$ref"));
                }
                None => self.is_open = true,
            }
        }
        if let Some(Value::Array(all)) = layer.get("allOf") {
            self.layers.extend(all.iter().filter_map(Value::as_object));
            self.followed.push((at, "allOf"));
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = layer.get(keyword) else {
                continue;
            };
            let (null, other): (Vec<_>, Vec<_>) = branches.iter().partition(|it| is_null(it));
            if let [only] = other.as_slice() {
                self.nullable |= !null.is_empty();
                self.layers.extend(only.as_object());
                self.followed.push((at, keyword));
            }
        }
        self.nullable |= layer.get("nullable") == Some(&Value::Bool(true));
    }

    /// What a keyword says, by the first schema that has it.
    pub(in crate::catalogue) fn get(&self, keyword: &str) -> Option<&'a Value> {
        let own = self.layers.iter().enumerate();
        own.filter(|(at, _)| !self.is_followed(*at, keyword))
            .find_map(|(_, layer)| layer.get(keyword))
    }

    fn is_followed(&self, at: usize, keyword: &str) -> bool {
        (self.followed.iter()).any(|(layer, it)| *layer == at && *it == keyword)
    }

    /// Every keyword that says something.
    pub(in crate::catalogue) fn keywords(&self) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let keys = layer.keys().map(String::as_str);
            found.extend(keys.filter(|it| !self.is_followed(at, it)));
        }
        found
    }

    /// The types that are accepted, where that is said by `type`, or by `anyOf` or `oneOf` over nothing but types.
    pub(in crate::catalogue) fn types(&self) -> Option<BTreeSet<&'a str>> {
        let named = match self.get("type") {
            Some(Value::String(one)) => Some(BTreeSet::from([one.as_str()])),
            Some(Value::Array(many)) => many.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let mut types = named.or_else(|| {
            let branches = self.get("anyOf").or_else(|| self.get("oneOf"))?;
            let only_type = |it: &'a Value| {
                let it = it.as_object().filter(|it| it.len() == 1)?;
                it.get("type").and_then(Value::as_str)
            };
            branches.as_array()?.iter().map(only_type).collect()
        })?;
        if self.nullable {
            types.insert("null");
        }
        Some(types)
    }

    /// Whether something besides `type` limits what is accepted in ways that are not spelled out here.
    pub(in crate::catalogue) fn has_alternatives(&self) -> bool {
        let keywords = ["anyOf", "oneOf", "not", "if", "$ref", "const", "enum"];
        keywords.iter().any(|it| self.get(it).is_some())
    }

    /// The named members, each with its schema, in the order they are named in.
    pub(in crate::catalogue) fn properties(&self) -> Vec<(&'a str, &'a Value)> {
        let mut seen = BTreeSet::new();
        let named = self
            .layers
            .iter()
            .filter_map(|it| it.get("properties")?.as_object());
        named
            .flatten()
            .filter(|(name, _)| seen.insert(name.as_str()))
            .map(|(name, schema)| (name.as_str(), schema))
            .collect()
    }

    pub(in crate::catalogue) fn property(&self, name: &str) -> Option<&'a Value> {
        self.layers
            .iter()
            .find_map(|it| it.get("properties")?.get(name))
    }

    pub(in crate::catalogue) fn required(&self) -> BTreeSet<&'a str> {
        let named = self
            .layers
            .iter()
            .filter_map(|it| it.get("required")?.as_array());
        named.flatten().filter_map(Value::as_str).collect()
    }

    /// Whether a member of this name is listed anywhere, also in only one of several alternatives.
    pub(in crate::catalogue) fn lists(&self, name: &str) -> bool {
        self.lists_within(name, DEPTH)
    }

    fn lists_within(&self, name: &str, depth: usize) -> bool {
        self.is_open
            || self.property(name).is_some()
            || self.pattern_lists(name)
            || depth > 0
                && (self.alternatives())
                    .any(|it| Self::of(self.root, it).lists_within(name, depth - 1))
    }

    /// Whether no member is named, so that any may be given.
    pub(in crate::catalogue) fn is_a_map(&self) -> bool {
        !self.is_open && self.properties().is_empty() && self.alternatives().next().is_none()
    }

    fn pattern_lists(&self, name: &str) -> bool {
        let patterns = self
            .layers
            .iter()
            .filter_map(|it| it.get("patternProperties")?.as_object());
        patterns.flatten().any(|(pattern, _)| {
            // A pattern that cannot be read may match anything.
            regex::Regex::new(pattern).map_or(true, |it| it.is_match(name))
        })
    }

    fn alternatives(&self) -> impl Iterator<Item = &'a Value> {
        let lists = ["anyOf", "oneOf"]
            .iter()
            .filter_map(|it| self.get(it)?.as_array());
        let single = ["then", "else"].iter().filter_map(|it| self.get(it));
        let dependent = self.get("dependentSchemas").and_then(Value::as_object);
        let dependent = dependent.into_iter().flat_map(Object::values);
        lists
            .flatten()
            .chain(single)
            .chain(dependent)
            .collect::<Vec<_>>()
            .into_iter()
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
        || schema.get("const").is_some_and(Value::is_null)
}

/// The schema of the same document that a reference names.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() || pointer.starts_with('/') {
        return root.pointer(pointer);
    }
    // By `$anchor`, among the definitions.
    let definitions = ["$defs", "definitions"]
        .iter()
        .filter_map(|it| root.get(it)?.as_object());
    let mut all = definitions.flat_map(Object::values);
    all.find(|it| it.get("$anchor").and_then(Value::as_str) == Some(pointer))
}

/// What differs in a keyword.
pub(super) struct Difference {
    pub(super) keyword: &'static str,
    /// In words, as in `became a string`.
    pub(super) what: String,
    pub(super) was: Option<String>,
    pub(super) now: Option<String>,
    /// Some requests that were right before may be refused now.
    pub(super) narrows: bool,
}
