//! Nodes to typed sections: every wrong key and type is found, not only the first.

use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

use super::finding::quoted;
use super::nearest::did_you_mean;
use super::node::{Content, Entry, Node};
use super::source::{Findings, Mark};

pub(super) const NO_HINT: Option<&str> = None;

/// A value that can be read from a node.
pub(super) trait Decode: Sized {
    /// Reads a node; `None` after saying what is wrong with it.
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self>;

    /// What a key that is not given stands for; `None` when it must be given.
    fn absent() -> Option<Self> {
        None
    }

    /// What `null` stands for; `None` where it means the same as nothing at all.
    fn of_null() -> Option<Self> {
        None
    }

    /// The same, for a wrapper that wants to know the place.
    fn null(_: &Node) -> Option<Self> {
        Self::of_null()
    }

    /// What a key stands for that is wrong, or missing, after that was said; `None` when its section is lost with it.
    fn failed() -> Option<Self> {
        None
    }
}

/// Declares a section of the file: a map with these keys and no others, but for those starting with `x-`.
///
/// The doc comments become the descriptions in the JSON Schema. `checked by` names a function that is called with every
/// section read, to say what is wrong beyond single keys.
macro_rules! section {
    (
        $(#[$attr:meta])+
        $name:ident $(, checked by $check:path)? {
            $( $(#[$field_attr:meta])+ $field:ident: $type:ty, )+
        }
    ) => {
        $(#[$attr])+
        #[derive(Debug, Clone, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields, extend("patternProperties" = {"^x-": true}))]
        pub(super) struct $name {
            $( $(#[$field_attr])+ pub(super) $field: $type, )+
        }

        impl $crate::scenario_file::decode::Decode for $name {
            fn decode(
                node: &$crate::scenario_file::node::Node,
                findings: &mut $crate::scenario_file::source::Findings,
            ) -> Option<Self> {
                use $crate::scenario_file::decode::{Fields, key_name};
                let fields = Fields::open(node, &[$(key_name(stringify!($field))),+], findings)?;
                $( let $field = fields.read(key_name(stringify!($field)), findings); )+
                let section = Self { $( $field: $field?, )+ };
                $( if !findings.partial {
                    $check(&section, node.at, findings);
                } )?
                Some(section)
            }
        }
    };
}
pub(super) use section;

/// Declares the words a key may hold, each standing for a value of a type of the model.
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        $name:ident for $model:ty { $( $word:literal => $value:expr, )+ }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $name(pub(super) $model);

        impl $crate::scenario_file::decode::Decode for $name {
            fn decode(
                node: &$crate::scenario_file::node::Node,
                findings: &mut $crate::scenario_file::source::Findings,
            ) -> Option<Self> {
                let word = $crate::scenario_file::decode::choose(node, &[$($word),+], findings)?;
                match word {
                    $( $word => Some(Self($value)), )+
                    _ => None,
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "description": concat!($($doc),+).trim(),
                    "type": "string",
                    "enum": [$($word),+],
                })
            }
        }
    };
}
pub(super) use choice;

/// The key a field stands for: raw identifiers lose their mark.
pub(super) fn key_name(field: &'static str) -> &'static str {
    field.trim_start_matches("r#")
}

/// The keys of a section being read.
pub(super) struct Fields<'a> {
    node: &'a Node,
}

impl<'a> Fields<'a> {
    /// Opens a map and says which of its keys are unknown; `None`, after saying so, for anything but a map.
    pub(super) fn open(node: &'a Node, known: &[&str], findings: &mut Findings) -> Option<Self> {
        let Content::Map(entries) = &node.content else {
            wrong_kind(node, "a map", findings);
            return None;
        };
        for Entry { key, key_at, .. } in entries {
            if !known.contains(&key.as_str()) && !key.starts_with("x-") {
                let message = format!("unknown key {}", quoted(key));
                let hint = did_you_mean(key, known.iter().copied())
                    .unwrap_or_else(|| format!("known here: {}", known.join(", ")));
                findings.error(*key_at, message, Some(hint));
                if findings.is_full(*key_at) {
                    break;
                }
            }
        }
        Some(Self { node })
    }

    pub(super) fn read<T: Decode>(&self, key: &str, findings: &mut Findings) -> Option<T> {
        match self.node.get(key) {
            Some(value) if !matches!(value.content, Content::Null) => {
                T::decode(value, findings).or_else(T::failed)
            }
            given => given.and_then(T::null).or_else(T::absent).or_else(|| {
                if !findings.partial {
                    findings.error(self.node.at, format!("missing key `{key}`"), NO_HINT);
                }
                T::failed()
            }),
        }
    }
}

/// Says that a node is not what belongs in its place.
pub(super) fn wrong_kind(node: &Node, expected: &str, findings: &mut Findings) {
    let hint = match node.content {
        Content::Bool(_) | Content::Number(_) if expected.contains("text") => {
            Some("put it into quotes if it is meant as text")
        }
        _ => None,
    };
    let message = format!("expected {expected}, found {}", node.kind());
    findings.error(node.at, message, hint);
}

/// One of these words.
pub(super) fn choose(
    node: &Node,
    words: &[&'static str],
    findings: &mut Findings,
) -> Option<&'static str> {
    let expected = || format!("one of {}", words.join(", "));
    let Content::Text(text) = &node.content else {
        wrong_kind(node, &expected(), findings);
        return None;
    };
    let word = words.iter().find(|it| *it == text);
    if word.is_none() {
        let message = format!("expected {}, found {}", expected(), quoted(text));
        let hint = did_you_mean(text, words.iter().copied());
        findings.error(node.at, message, hint);
    }
    word.copied()
}

/// The only entry of a map, with one of these keys: how a rule is written that needs a value.
pub(super) fn only_entry<'a>(
    node: &'a Node,
    keys: &[&'static str],
    findings: &mut Findings,
) -> Option<(&'static str, &'a Node)> {
    let entries = node.entries();
    let mut known = true;
    for Entry { key, key_at, .. } in entries {
        if !keys.contains(&key.as_str()) {
            let message = format!("unknown key {}", quoted(key));
            let hint = did_you_mean(key, keys.iter().copied())
                .unwrap_or_else(|| format!("known here: {}", keys.join(", ")));
            findings.error(*key_at, message, Some(hint));
            known = false;
            if findings.is_full(*key_at) {
                break;
            }
        }
    }
    match entries {
        _ if !known => None,
        [Entry { key, value, .. }] => keys.iter().find(|it| *it == key).map(|it| (*it, value)),
        _ => {
            let message = format!("expected exactly one of {}", keys.join(", "));
            findings.error(node.at, message, NO_HINT);
            None
        }
    }
}

/// Whether a key goes with the type of server or block that its section describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Never,
    May,
    Must,
}

/// Says so when a key is given that means nothing for this type of thing, or missing although it is needed.
pub(super) fn check_use(
    key: &str,
    given: Option<Mark>,
    (usage, thing): (Use, &str),
    section: Mark,
    findings: &mut Findings,
) {
    match (given, usage) {
        (Some(at), Use::Never) => {
            let message = format!("`{key}` means nothing for this type of {thing}");
            findings.error(at, message, NO_HINT);
        }
        (None, Use::Must) => {
            let message = format!("missing key `{key}`, which this type of {thing} needs");
            findings.error(section, message, NO_HINT);
        }
        _ => {}
    }
}

/// A value with its place.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) at: Mark,
    pub(super) value: T,
}

impl<T> At<T> {
    pub(super) fn mark(&self) -> Mark {
        self.at
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Decode> Decode for At<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let value = T::decode(node, findings)?;
        Some(Self { at: node.at, value })
    }

    fn null(node: &Node) -> Option<Self> {
        T::of_null().map(|value| Self { at: node.at, value })
    }
}

/// The value of a key that is wrong without the rest of its section being lost.
#[derive(Debug, Clone)]
pub(super) enum Field<T> {
    Wrong,
    Given(T),
}

impl<T> Field<T> {
    pub(super) fn given(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Wrong => None,
        }
    }
}

impl<T: Decode> Decode for Field<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        T::decode(node, findings).map(Self::Given)
    }

    fn failed() -> Option<Self> {
        Some(Self::Wrong)
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        T::decode(node, findings).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn null(node: &Node) -> Option<Self> {
        T::null(node).map(Some)
    }

    fn failed() -> Option<Self> {
        T::failed().map(Some)
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Content::List(items) = &node.content else {
            wrong_kind(node, "a list", findings);
            return None;
        };
        // All items are read before the first failure counts.
        let read: Vec<_> = items.iter().map(|it| T::decode(it, findings)).collect();
        read.into_iter().collect()
    }
}

/// A map with names of the author's choosing, in the order written.
#[derive(Debug, Clone)]
pub(super) struct Named<T>(pub(super) Vec<(At<String>, T)>);

impl<T: Decode> Decode for Named<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Content::Map(entries) = &node.content else {
            wrong_kind(node, "a map", findings);
            return None;
        };
        let mut named = Vec::new();
        for Entry { key, key_at, value } in entries {
            let name = At {
                at: *key_at,
                value: key.clone(),
            };
            named.push(T::decode(value, findings).map(|it| (name, it)));
        }
        named.into_iter().collect::<Option<_>>().map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("MapOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": generator.subschema_for::<T>(),
        })
    }
}

/// Gives a wrapper the schema of what it wraps.
macro_rules! same_schema {
    ($type:ident) => {
        impl<T: JsonSchema> JsonSchema for $type<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    };
}

same_schema!(At);
same_schema!(Field);
