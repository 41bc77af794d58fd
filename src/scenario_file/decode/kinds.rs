//! Sections of several kinds: a key, `kind` or `type`, tells which other keys fit.

use std::borrow::Cow;
use std::collections::HashSet;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::section::{Decode, Fields, Section, read_section, section, unknown};
use super::words::choose;
use crate::scenario_file::yaml::{Content, Entry, Findings, Mark, Node};

/// A section of several kinds: the keys that every kind has, and those of its own.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Variant<C, K> {
    pub(in crate::scenario_file) all: C,
    pub(in crate::scenario_file) kind: K,
}

/// The kinds of a section, as `kinds!` declares them.
pub(in crate::scenario_file) trait Kinds: Sized {
    /// The name of the section in the JSON Schema.
    const NAME: &'static str;
    /// What the section is, in a sentence.
    const ABOUT: &'static str;
    /// The key that tells the kind.
    const TAG: &'static str;
    /// What is of several kinds, in a word.
    const THING: &'static str;
    /// What kind it is without that key.
    const UNNAMED: Unnamed;

    /// All kinds there are.
    fn all() -> Vec<Kind<Self>>;

    /// Says what is wrong beyond single keys of this kind.
    fn check(&self, at: Mark, findings: &mut Findings);

    /// Visits every text of this kind that may hold `${…}`, with its place.
    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str));

    /// Visits the names of the values of this kind that are marked as secret.
    fn marked(&self, visit: &mut dyn FnMut(&str));
}

/// What kind a section is that does not tell.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario_file) enum Unnamed {
    /// This one.
    Is(&'static str),
    /// That of a file of defaults, or else this one.
    Default(&'static str),
    /// None: what is said of it, and what to try.
    Wrong(&'static str, &'static str),
    /// The first whose key is there. Without any, the section is wrong: what is said of it, and what to try.
    Keys(
        &'static [(&'static str, &'static str)],
        (&'static str, &'static str),
    ),
}

/// One kind of a section.
pub(in crate::scenario_file) struct Kind<K> {
    /// What the key that tells the kind says.
    pub(in crate::scenario_file) word: &'static str,
    /// What this kind is, in a sentence.
    pub(in crate::scenario_file) about: &'static str,
    pub(in crate::scenario_file) keys: Vec<&'static str>,
    pub(in crate::scenario_file) read: fn(&Fields<'_>, &mut Findings) -> Option<K>,
    pub(in crate::scenario_file) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Declares the kinds of a section, each with the section of the keys that only make sense for it.
///
/// The key in front tells the kind. The doc comments become the descriptions in the JSON Schema.
macro_rules! kinds {
    (
        $(#[doc = $doc:literal])+
        $name:ident, by $tag:literal of $thing:literal, named $schema:literal, unnamed $unnamed:expr; {
            $( $(#[doc = $kind_doc:literal])+ $word:literal => $kind:ident($section:ty), )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone)]
        pub(in crate::scenario_file) enum $name {
            $( $(#[doc = $kind_doc])+ $kind($section), )+
        }

        impl $crate::scenario_file::decode::kinds::Kinds for $name {
            const NAME: &'static str = $schema;
            const ABOUT: &'static str = concat!($($doc),+);
            const TAG: &'static str = $tag;
            const THING: &'static str = $thing;
            const UNNAMED: $crate::scenario_file::decode::kinds::Unnamed = $unnamed;

            fn all() -> Vec<$crate::scenario_file::decode::kinds::Kind<Self>> {
                use $crate::scenario_file::decode::section::Section;
                vec![$( $crate::scenario_file::decode::kinds::Kind {
                    word: $word,
                    about: concat!($($kind_doc),+),
                    keys: <$section>::keys(),
                    read: |fields, findings| <$section>::read(fields, findings).map(Self::$kind),
                    schema: <$section>::schema,
                } ),+]
            }

            fn check(
                &self,
                at: $crate::scenario_file::yaml::Mark,
                findings: &mut $crate::scenario_file::yaml::Findings,
            ) {
                use $crate::scenario_file::decode::section::Section;
                match self {
                    $( Self::$kind(it) => it.check(at, findings), )+
                }
            }

            fn templates<'a>(
                &'a self,
                visit: &mut dyn FnMut($crate::scenario_file::yaml::Mark, &'a str),
            ) {
                use $crate::scenario_file::decode::section::Decode;
                match self {
                    $( Self::$kind(it) => it.templates(visit), )+
                }
            }

            fn marked(&self, visit: &mut dyn FnMut(&str)) {
                use $crate::scenario_file::decode::section::Decode;
                match self {
                    $( Self::$kind(it) => Decode::marked(it, visit), )+
                }
            }
        }
    };
}
pub(in crate::scenario_file) use kinds;

section! {
    /// No keys at all: for a kind that has none of its own.
    Nothing {}
}

impl<A: Section, B: Section> Decode for (A, B) {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        read_section(node, findings)
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.0.templates(visit);
        self.1.templates(visit);
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        self.0.marked(visit);
        self.1.marked(visit);
    }
}

/// The keys of both.
impl<A: Section, B: Section> Section for (A, B) {
    fn keys() -> Vec<&'static str> {
        [A::keys(), B::keys()].concat()
    }

    fn read(fields: &Fields<'_>, findings: &mut Findings) -> Option<Self> {
        let (one, other) = (A::read(fields, findings), B::read(fields, findings));
        Some((one?, other?))
    }

    fn check(&self, at: Mark, findings: &mut Findings) {
        self.0.check(at, findings);
        self.1.check(at, findings);
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let parts = [A::schema(generator), B::schema(generator)];
        let (properties, required) = joined(&parts);
        json_schema!({ "properties": properties, "required": required })
    }
}

/// What a map says under a key, unless it is `null`.
fn said<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    node.get(key)
        .filter(|it| !matches!(it.content, Content::Null))
}

/// The kind a section is of; `None` where it tells none that there is.
fn named_kind<K: Kinds>(node: &Node) -> Option<Kind<K>> {
    let word = match (said(node, K::TAG), K::UNNAMED) {
        (Some(tag), _) => match &tag.content {
            Content::Text(word) => Some(word.as_str()),
            _ => None,
        },
        (None, Unnamed::Is(word) | Unnamed::Default(word)) => Some(word),
        (None, Unnamed::Wrong(..)) => None,
        (None, Unnamed::Keys(keys, _)) => {
            // What the section says itself counts before what a file of defaults says.
            let own = |it: &Entry| it.key_at.source == node.at.source;
            let has = |key: &str, fits: &dyn Fn(&Entry) -> bool| {
                let mut entries = node.entries().iter();
                entries.any(|it| it.key == key && !is_null(it) && fits(it))
            };
            let mut found = keys.iter().filter(|(key, _)| has(key, &own));
            let mut other = keys.iter().filter(|(key, _)| has(key, &|_| true));
            found.next().or_else(|| other.next()).map(|it| it.1)
        }
    };
    K::all().into_iter().find(|it| Some(it.word) == word)
}

fn is_null(entry: &Entry) -> bool {
    matches!(entry.value.content, Content::Null)
}

/// Takes out of a merged section what a file of defaults says of another kind than the section is. What the section says itself stays.
pub(in crate::scenario_file) fn drop_foreign<K: Kinds>(section: &mut Node) {
    let Some(kind) = named_kind::<K>(section) else {
        return;
    };
    // A merged map stands where the file on top has it.
    let own = section.at.source;
    if let Content::Map(entries) = &mut section.content {
        let others: Vec<_> = K::all().into_iter().flat_map(|it| it.keys).collect();
        entries.retain(|it| {
            let key = it.key.as_str();
            it.key_at.source == own || kind.keys.contains(&key) || !others.contains(&key)
        });
    }
}

impl<C: Section, K: Kinds> Decode for Variant<C, K> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        // What must tell its kind is never completed by another file, so it is whole in every part of a document.
        let before = findings.partial;
        findings.partial = before && !tells_kind::<K>();
        let decoded = Self::decode_part(node, findings);
        findings.partial = before;
        decoded
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.all.templates(visit);
        self.kind.templates(visit);
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        self.all.marked(visit);
        self.kind.marked(visit);
    }
}

/// Whether a section must tell its kind.
fn tells_kind<K: Kinds>() -> bool {
    matches!(K::UNNAMED, Unnamed::Wrong(..))
}

impl<C: Section, K: Kinds> Variant<C, K> {
    /// Reads a section that another file may complete.
    fn decode_part(node: &Node, findings: &mut Findings) -> Option<Self> {
        let needed_by = format!(", which this {} of {} needs", K::TAG, K::THING);
        let fields = Fields::open(node, &needed_by, findings)?;
        let kinds = K::all();
        let words: Vec<_> = kinds.iter().map(|it| it.word).collect();
        let kind = named_kind::<K>(node);
        match (said(node, K::TAG), K::UNNAMED) {
            (Some(tag), _) => drop(choose(tag, &words, findings)),
            (None, Unnamed::Keys(_, (message, hint)) | Unnamed::Wrong(message, hint))
                if kind.is_none() && !findings.partial =>
            {
                findings.error(node.at, message, Some(hint));
            }
            _ => {}
        }
        check_keys::<C, K>(node, kind.as_ref(), findings);
        let all = C::read(&fields, findings);
        let read = kind.as_ref().and_then(|it| (it.read)(&fields, findings));
        if (kind.is_none() || findings.partial) && !tells_kind::<K>() {
            // Whatever kind it is, its values have to be right.
            let before = std::mem::replace(&mut findings.partial, true);
            for other in kinds {
                let _ = (other.read)(&fields, findings);
            }
            findings.partial = before;
        }
        let section = Self {
            all: all?,
            kind: read?,
        };
        if !findings.partial {
            section.all.check(node.at, findings);
            section.kind.check(node.at, findings);
        }
        Some(section)
    }
}

/// Says which keys are unknown, and which do not fit the kind. In a part of a document that does not tell the kind, keys of all kinds do.
fn check_keys<C: Section, K: Kinds>(node: &Node, kind: Option<&Kind<K>>, findings: &mut Findings) {
    let kinds = K::all();
    let beside = |own: Vec<&'static str>| [vec![K::TAG], own, C::keys()].concat();
    let mut seen = HashSet::new();
    let own = kinds.iter().flat_map(|it| it.keys.clone());
    let every = beside(own.filter(|it| seen.insert(*it)).collect());
    let fitting = match kind.filter(|_| !findings.partial) {
        Some(kind) => beside(kind.keys.clone()),
        None => every.clone(),
    };
    for entry in node.entries() {
        let key = entry.key.as_str();
        if fitting.contains(&key) || key.starts_with("x-") || every.contains(&key) && is_null(entry)
        {
            continue;
        }
        if every.contains(&key) {
            let takers = kinds.iter().filter(|it| it.keys.contains(&key));
            let words: Vec<_> = takers
                .map(|it| format!("`{}: {}`", K::TAG, it.word))
                .collect();
            let message = format!("`{key}` means nothing for this {} of {}", K::TAG, K::THING);
            let hint = format!("it takes {}", words.join(" or "));
            findings.error(entry.key_at, message, Some(hint));
        } else if unknown(key, entry.key_at, &fitting, &every, findings) {
            break;
        }
    }
}

impl<C: Section, K: Kinds> JsonSchema for Variant<C, K> {
    fn schema_name() -> Cow<'static, str> {
        K::NAME.into()
    }

    /// One of several maps, of which the key that tells the kind picks one, so that an editor proposes only what fits.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let closed = |about: &str, properties: Map<String, Value>, condition: Value| {
            let mut schema = json_schema!({
                "description": about.trim(),
                "type": "object",
                "properties": properties,
                "additionalProperties": false,
                "patternProperties": { "^x-": true },
            });
            let condition = condition.as_object().cloned().into_iter().flatten();
            condition.for_each(|(key, value)| drop(schema.insert(key, value)));
            schema
        };
        let all = C::schema(generator);
        let mut every = Vec::new();
        let mut kinds = Vec::new();
        for kind in K::all() {
            let own = (kind.schema)(generator);
            let (keys, needed) = joined(&[own.clone(), all.clone()]);
            let tag = json!({ "description": kind.about.trim(), "const": kind.word });
            let mut properties = Map::from_iter([(K::TAG.to_owned(), tag)]);
            properties.extend(keys);
            let named_kind = json!({ "required": [K::TAG] });
            // Where a file of defaults may give the other keys, only what tells the kind must be here.
            let condition = match K::UNNAMED {
                Unnamed::Is(word) if word == kind.word => json!({ "required": needed }),
                Unnamed::Is(_) | Unnamed::Wrong(..) => {
                    let needed = [vec![K::TAG.into()], needed].concat();
                    json!({ "required": needed })
                }
                Unnamed::Default(_) => named_kind,
                Unnamed::Keys(keys, _) => match keys.iter().find(|it| it.1 == kind.word) {
                    Some((key, _)) => json!({ "anyOf": [named_kind, { "required": [key] }] }),
                    None => named_kind,
                },
            };
            kinds.push(closed(kind.about, properties, condition));
            every.push(own);
        }
        let telling: &[(&str, &str)] = match K::UNNAMED {
            Unnamed::Is(_) | Unnamed::Wrong(..) => {
                return json_schema!({ "description": K::ABOUT.trim(), "oneOf": kinds });
            }
            Unnamed::Default(_) => &[],
            Unnamed::Keys(keys, _) => keys,
        };
        // A file of defaults may tell the kind.
        every.push(all);
        let (mut properties, _) = joined(&every);
        properties.retain(|it, _| telling.iter().all(|(key, _)| key != it));
        let about = format!("What is added to the defaults, whose `{}` stays.", K::TAG);
        kinds.push(closed(&about, properties, json!({})));
        json_schema!({ "description": K::ABOUT.trim(), "oneOf": kinds })
    }
}

/// The keys of several maps, and those of them that are required.
fn joined(parts: &[Schema]) -> (Map<String, Value>, Vec<Value>) {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for part in parts {
        let keys = part.get("properties").and_then(Value::as_object);
        for (key, value) in keys.into_iter().flatten() {
            properties.entry(key).or_insert_with(|| value.clone());
        }
        let needed = part.get("required").and_then(Value::as_array);
        required.extend(needed.into_iter().flatten().cloned());
    }
    (properties, required)
}
