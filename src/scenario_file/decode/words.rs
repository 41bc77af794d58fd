//! Words of which a key holds one, and maps that hold one key of several.

use super::section::{NO_HINT, unknown, wrong_kind};
use crate::scenario_file::yaml::{Content, Entry, Findings, Node, quoted};
use crate::text::nearest::did_you_mean;

/// Declares the words a key may hold, each standing for a value of a type of the model.
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        $name:ident for $model:ty { $( $word:literal => $value:expr, )+ }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy)]
        pub(in crate::scenario_file) struct $name(pub(in crate::scenario_file) $model);

        impl $crate::scenario_file::decode::section::Decode for $name {
            fn decode(
                node: &$crate::scenario_file::yaml::Node,
                findings: &mut $crate::scenario_file::yaml::Findings,
            ) -> Option<Self> {
                let word = $crate::scenario_file::decode::words::choose(node, &[$($word),+], findings)?;
                match word {
                    $( $word => Some(Self($value)), )+
                    _ => None,
                }
            }
        }

        impl $crate::scenario_file::decode::plain::Plain<$model> for $name {
            fn plain(&self, _: &$crate::scenario_file::yaml::Findings) -> $model {
                self.0
            }
        }

        $crate::scenario_file::decode::schema!($name as stringify!($name), {
            "description": concat!($($doc),+).trim(),
            "type": "string",
            "enum": [$($word),+],
        });
    };
}
pub(in crate::scenario_file) use choice;

/// Declares maps that hold exactly one key of several, which says what its value means.
///
/// The doc comments become the descriptions in the JSON Schema.
macro_rules! one_key {
    (
        $(#[doc = $doc:literal])+
        $name:ident {
            $( $(#[doc = $key_doc:literal])+ $key:literal => $means:ident($type:ty), )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, schemars::JsonSchema)]
        pub(in crate::scenario_file) enum $name {
            $( $(#[doc = $key_doc])+ #[schemars(rename = $key)] $means($type), )+
        }

        impl $crate::scenario_file::decode::section::Decode for $name {
            fn decode(
                node: &$crate::scenario_file::yaml::Node,
                findings: &mut $crate::scenario_file::yaml::Findings,
            ) -> Option<Self> {
                let keys = [$($key),+];
                let (key, value) =
                    $crate::scenario_file::decode::words::only_entry(node, &keys, findings)?;
                match key {
                    $( $key => $crate::scenario_file::decode::section::Decode::decode(value, findings)
                        .map(Self::$means), )+
                    _ => None,
                }
            }
        }
    };
}
pub(in crate::scenario_file) use one_key;

/// Declares what may be written in several ways, each another kind of value in YAML: text or a map, say.
macro_rules! shapes {
    (
        $(#[doc = $doc:literal])+
        $name:ident, $expected:literal {
            $( $(#[doc = $shape_doc:literal])* $shape:ident => $holds:ident($type:ty), )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, schemars::JsonSchema)]
        #[schemars(untagged)]
        pub(in crate::scenario_file) enum $name {
            $( $(#[doc = $shape_doc])* $holds($type), )+
        }

        impl $crate::scenario_file::decode::section::Decode for $name {
            fn decode(
                node: &$crate::scenario_file::yaml::Node,
                findings: &mut $crate::scenario_file::yaml::Findings,
            ) -> Option<Self> {
                match &node.content {
                    $( $crate::scenario_file::yaml::Content::$shape(_) => {
                        $crate::scenario_file::decode::section::Decode::decode(node, findings).map(Self::$holds)
                    } )+
                    _ => {
                        $crate::scenario_file::decode::section::wrong_kind(
                            node, $expected, findings,
                        )
                    }
                }
            }

            fn templates<'a>(
                &'a self,
                visit: &mut dyn FnMut($crate::scenario_file::yaml::Mark, &'a str),
            ) {
                match self {
                    $( Self::$holds(it) => $crate::scenario_file::decode::section::Decode::templates(it, visit), )+
                }
            }

            fn is_secret(&self) -> bool {
                match self {
                    $( Self::$holds(it) => $crate::scenario_file::decode::section::Decode::is_secret(it), )+
                }
            }

            fn marked(&self, visit: &mut dyn FnMut(&str)) {
                match self {
                    $( Self::$holds(it) => $crate::scenario_file::decode::section::Decode::marked(it, visit), )+
                }
            }
        }
    };
}
pub(in crate::scenario_file) use shapes;

/// One of these words.
pub(in crate::scenario_file) fn choose(
    node: &Node,
    words: &[&'static str],
    findings: &mut Findings,
) -> Option<&'static str> {
    let expected = || format!("one of {}", words.join(", "));
    let Content::Text(text) = &node.content else {
        return wrong_kind(node, &expected(), findings);
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
pub(in crate::scenario_file) fn only_entry<'a>(
    node: &'a Node,
    keys: &[&'static str],
    findings: &mut Findings,
) -> Option<(&'static str, &'a Node)> {
    let entries = node.entries();
    let mut known = true;
    for Entry { key, key_at, .. } in entries {
        if !keys.contains(&key.as_str()) {
            known = false;
            if unknown(key, *key_at, keys, &[], findings) {
                break;
            }
        }
    }
    match entries {
        _ if !known => None,
        [Entry { key, value, .. }] => keys.iter().find(|it| *it == key).map(|it| (*it, value)),
        _ => {
            let message = format!("expected exactly one of {}", keys.join(", "));
            findings.refuse(node.at, message, NO_HINT)
        }
    }
}
