//! Sections: maps with keys that are known, read so that every wrong key and type is found, not only the first.

use schemars::{Schema, SchemaGenerator};

use crate::scenario_file::yaml::{Content, Entry, Findings, Mark, Node, quoted};
use crate::text::nearest::did_you_mean;

pub(in crate::scenario_file) const NO_HINT: Option<&str> = None;

/// A value that can be read from a node.
pub(in crate::scenario_file) trait Decode: Sized {
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

    /// Visits every text in it that may hold `${…}`, with its place.
    fn templates<'a>(&'a self, _visit: &mut dyn FnMut(Mark, &'a str)) {}

    /// Whether it is a value that is marked as secret.
    fn is_secret(&self) -> bool {
        false
    }

    /// Visits the names of the values in it that are marked as secret.
    fn marked(&self, _visit: &mut dyn FnMut(&str)) {}
}

/// A map with keys that are known.
pub(in crate::scenario_file) trait Section: Decode {
    /// Its keys.
    fn keys() -> Vec<&'static str>;

    /// Reads its keys, whatever stands beside them.
    fn read(fields: &Fields<'_>, findings: &mut Findings) -> Option<Self>;

    /// Says what is wrong beyond single keys.
    fn check(&self, at: Mark, findings: &mut Findings);

    /// The JSON Schema of a map with these keys and no others.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// Declares a section of the file: a map with these keys and no others, but for those starting with `x-`.
///
/// The doc comments become the descriptions in the JSON Schema. `checked by` names a function that is called with every
/// section read, to say what is wrong beyond single keys.
///
/// A section `=> Name(Traits)` becomes a public type of this name, which has those keys that are used by themselves: each `as` its type there,
/// and `=` what stands for one that is not given. What follows behind `and` is no key: it is `=` this at first, or the section says what it is
/// by `Plain`. `with default`, there is one for a section without any key. A section `for Name` becomes the type of this name that there is.
///
/// Of a section that is `served`, the keys `=>` are members of a JSON object of these names.
macro_rules! section {
    (
        $(#[doc = $doc:literal])+
        $(#[expect($($lint:tt)*)])?
        $name:ident => $plain:ident $(($($derive:ident),+))?, with default $(, checked by $check:path)? {
            $( #[doc = $about:literal] $field:ident: $type:ty $(as $used:ty $(= $default:expr)?)?, )*
        }
        $(and {
            $( $(#[doc = $own_about:literal])+ $own:ident: $own_type:ty $(= $initial:expr)?, )*
        })?
    ) => {
        $crate::scenario_file::decode::section::section! {
            $(#[doc = $doc])+
            $(#[expect($($lint)*)])?
            $name => $plain $(($($derive),+))? $(, checked by $check)? {
                $( #[doc = $about] $field: $type $(as $used $(= $default)?)?, )*
            }
            $(and {
                $( $(#[doc = $own_about])+ $own: $own_type $(= $initial)?, )*
            })?
        }

        impl Default for $plain {
            fn default() -> Self {
                Self {
                    $($( $field: $crate::scenario_file::decode::section::default_value!(
                        $used $(, $default)?
                    ), )?)*
                    $($( $own: $crate::scenario_file::decode::section::default_value!(
                        $own_type $(, $initial)?
                    ), )*)?
                }
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        $(#[expect($($lint:tt)*)])?
        $name:ident => $plain:ident $(($($derive:ident),+))? $(, checked by $check:path)? {
            $( #[doc = $about:literal] $field:ident: $type:ty $(as $used:ty $(= $default:expr)?)?, )*
        }
        $(and {
            $( $(#[doc = $own_about:literal])+ $own:ident: $own_type:ty $(= $initial:expr)?, )*
        })?
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq $(, $($derive),+)?)]
        pub struct $plain {
            $($( #[doc = $about] pub $field: $used, )?)*
            $($( $(#[doc = $own_about])+ pub $own: $own_type, )*)?
        }

        $crate::scenario_file::decode::section::section! {
            $(#[doc = $doc])+
            $(#[expect($($lint)*)])?
            $name for $plain $(, checked by $check)? {
                $( #[doc = $about] $field: $type $(as $used $(= $default)?)?, )*
            }
            $(and {
                $( $own: $own_type $(= $initial)?, )*
            })?
        }

        impl $crate::scenario_file::decode::plain::Templates for $plain {
            fn templates(
                &mut self,
                visit: &mut dyn FnMut($crate::scenario_file::decode::plain::Place<'_>),
            ) {
                <$name as $crate::scenario_file::decode::plain::Plain<Self>>::places(self, visit);
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        $(#[expect($($lint:tt)*)])?
        $name:ident for $plain:path $(, checked by $check:path)? {
            $( #[doc = $about:literal] $field:ident: $type:ty $(as $used:ty $(= $default:expr)?)?, )*
        }
        $(and {
            $( $own:ident: $own_type:ty $(= $initial:expr)?, )*
        })?
    ) => {
        $crate::scenario_file::decode::section::section! {
            $(#[doc = $doc])+
            $(#[expect($($lint)*)])?
            $name $(, checked by $check)? {
                $( #[doc = $about] $field: $type, )*
            }
        }

        impl $crate::scenario_file::decode::plain::Plain<$plain> for $name {
            fn plain(&self, findings: &$crate::scenario_file::yaml::Findings) -> $plain {
                $plain {
                    $($( $field: $crate::scenario_file::decode::section::plain_value!(
                        $used, &self.$field, findings $(, $default)?
                    ), )?)*
                    $($( $own: $crate::scenario_file::decode::section::own_value!(
                        $own_type, self, findings $(, $initial)?
                    ), )*)?
                }
            }

            fn places(
                value: &mut $plain,
                visit: &mut dyn FnMut($crate::scenario_file::decode::plain::Place<'_>),
            ) {
                $($( $crate::scenario_file::decode::section::visit_places!(
                    $type, $used, &mut value.$field, visit $(, $default)?
                ); )?)*
                $($( $crate::scenario_file::decode::section::visit_own!(
                    $name, $own_type, &mut value.$own, visit $(, $initial)?
                ); )*)?
            }
        }
    };
    (
        $(#[$attr:meta])+
        $name:ident, served $(, checked by $check:path)? {
            $( $(#[$field_attr:meta])+ $field:ident: $type:ty $(=> $member:literal)?, )*
        }
    ) => {
        $crate::scenario_file::decode::section::section! {
            $(#[$attr])+
            $name $(, checked by $check)? {
                $( $(#[$field_attr])+ $field: $type, )*
            }
        }

        impl $crate::scenario_file::decode::served::Served for $name {
            fn served(&self) -> Option<serde_json::Value> {
                let members = [$( $(
                    ($member, $crate::scenario_file::decode::served::Served::served(&self.$field)),
                )? )*];
                Some($crate::scenario_file::decode::served::object(members))
            }
        }
    };
    (
        $(#[$attr:meta])+
        $name:ident $(, checked by $check:path)? {
            $( $(#[$field_attr:meta])+ $field:ident: $type:ty, )*
        }
    ) => {
        $(#[$attr])+
        #[derive(Debug, Clone, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields, extend("patternProperties" = {"^x-": true}))]
        pub(in crate::scenario_file) struct $name {
            $( $(#[$field_attr])+ pub(in crate::scenario_file) $field: $type, )*
        }

        impl $crate::scenario_file::decode::section::Section for $name {
            fn keys() -> Vec<&'static str> {
                vec![$( $crate::scenario_file::decode::section::key_name(stringify!($field)) ),*]
            }

            fn read(
                fields: &$crate::scenario_file::decode::section::Fields<'_>,
                findings: &mut $crate::scenario_file::yaml::Findings,
            ) -> Option<Self> {
                let _ = (fields, &findings);
                $( let $field = fields.read(
                    $crate::scenario_file::decode::section::key_name(stringify!($field)),
                    findings,
                ); )*
                Some(Self { $( $field: $field?, )* })
            }

            fn check(
                &self,
                at: $crate::scenario_file::yaml::Mark,
                findings: &mut $crate::scenario_file::yaml::Findings,
            ) {
                let _ = (at, &findings);
                $( $check(self, at, findings); )?
            }

            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <Self as schemars::JsonSchema>::json_schema(generator)
            }
        }

        impl $crate::scenario_file::decode::section::Decode for $name {
            fn decode(
                node: &$crate::scenario_file::yaml::Node,
                findings: &mut $crate::scenario_file::yaml::Findings,
            ) -> Option<Self> {
                $crate::scenario_file::decode::section::read_section(node, findings)
            }

            fn templates<'a>(
                &'a self,
                visit: &mut dyn FnMut($crate::scenario_file::yaml::Mark, &'a str),
            ) {
                let _ = &visit;
                $( $crate::scenario_file::decode::section::Decode::templates(&self.$field, visit); )*
            }

            fn marked(&self, visit: &mut dyn FnMut(&str)) {
                let _ = &visit;
                $( $crate::scenario_file::decode::section::Decode::marked(&self.$field, visit); )*
            }
        }
    };
}
pub(in crate::scenario_file) use section;

/// The value of a key as it is used.
macro_rules! plain_value {
    ($used:ty, $field:expr, $findings:expr) => {
        $crate::scenario_file::decode::plain::Plain::<$used>::plain($field, $findings)
    };
    ($used:ty, $field:expr, $findings:expr, $default:expr) => {
        match $field {
            Some(it) => $crate::scenario_file::decode::plain::Plain::<$used>::plain(it, $findings),
            None => $default,
        }
    };
}
pub(in crate::scenario_file) use plain_value;

/// The value of what is no key.
macro_rules! own_value {
    ($type:ty, $section:expr, $findings:expr) => {
        $crate::scenario_file::decode::plain::Plain::<$type>::plain($section, $findings)
    };
    ($type:ty, $section:expr, $findings:expr, $initial:expr) => {
        $initial
    };
}
pub(in crate::scenario_file) use own_value;

/// The value of what is not given.
macro_rules! default_value {
    ($type:ty) => {
        <$type>::default()
    };
    ($type:ty, $default:expr) => {
        $default
    };
}
pub(in crate::scenario_file) use default_value;

/// Visits every place of a key's value where `${…}` may stand.
macro_rules! visit_places {
    ($type:ty, $used:ty, $value:expr, $visit:expr) => {
        <$type as $crate::scenario_file::decode::plain::Plain<$used>>::places($value, $visit)
    };
    ($type:ty, $used:ty, $value:expr, $visit:expr, $default:expr) => {
        <<$type as $crate::scenario_file::decode::plain::Optional>::Value as $crate::scenario_file::decode::plain::Plain<$used>>::places($value, $visit)
    };
}
pub(in crate::scenario_file) use visit_places;

/// Visits those of what is no key, where the section says what it is.
macro_rules! visit_own {
    ($name:ty, $type:ty, $value:expr, $visit:expr) => {
        <$name as $crate::scenario_file::decode::plain::Plain<$type>>::places($value, $visit)
    };
    ($name:ty, $type:ty, $value:expr, $visit:expr, $initial:expr) => {};
}
pub(in crate::scenario_file) use visit_own;

/// The key a field stands for: raw identifiers lose their mark.
pub(in crate::scenario_file) fn key_name(field: &'static str) -> &'static str {
    field.trim_start_matches("r#")
}

/// Reads a section that stands for itself.
pub(in crate::scenario_file) fn read_section<T: Section>(
    node: &Node,
    findings: &mut Findings,
) -> Option<T> {
    let fields = Fields::open(node, "", findings)?;
    check_keys::<T>(node, findings);
    let section = T::read(&fields, findings)?;
    if !findings.partial {
        section.check(node.at, findings);
    }
    Some(section)
}

/// Says which keys of a map the section has not.
pub(in crate::scenario_file) fn check_keys<T: Section>(node: &Node, findings: &mut Findings) {
    let keys = T::keys();
    for Entry { key, key_at, .. } in node.entries() {
        let is_known = keys.contains(&key.as_str()) || key.starts_with("x-");
        if !is_known && unknown(key, *key_at, &keys, &[], findings) {
            break;
        }
    }
}

/// What other tools call a key, and sections of other kinds, with what it is called here.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("type", "kind"),
    ("kind", "type"),
    ("arguments", "args"),
    ("parameters", "args"),
    ("params", "args"),
    ("input", "args"),
    ("environment", "env"),
    ("cmd", "command"),
    ("text", "content"),
];

/// Says that a key is unknown. A likely one is looked for among those known here, then `elsewhere`. Returns whether no more is said of the
/// file.
pub(in crate::scenario_file) fn unknown(
    key: &str,
    at: Mark,
    known: &[&str],
    elsewhere: &[&str],
    findings: &mut Findings,
) -> bool {
    let mut elsewhere_called = OTHER_NAMES.iter().filter(|(other, _)| *other == key);
    let hint = elsewhere_called
        .find(|(_, it)| known.contains(it))
        .map(|(_, it)| format!("it is called `{it}` here"))
        .or_else(|| did_you_mean(key, known.iter().copied()))
        .or_else(|| did_you_mean(key, elsewhere.iter().copied()))
        .unwrap_or_else(|| format!("known here: {}", known.join(", ")));
    findings.error(at, format!("unknown key {}", quoted(key)), Some(hint));
    findings.is_full(at)
}

/// The keys of a section being read.
pub(in crate::scenario_file) struct Fields<'a> {
    node: &'a Node,
    /// Said of a missing key: what needs it.
    needed_by: &'a str,
}

impl<'a> Fields<'a> {
    /// Opens a map; `None`, after saying so, for anything else.
    pub(in crate::scenario_file) fn open(
        node: &'a Node,
        needed_by: &'a str,
        findings: &mut Findings,
    ) -> Option<Self> {
        if !matches!(node.content, Content::Map(_)) {
            return wrong_kind(node, "a map", findings);
        }
        Some(Self { node, needed_by })
    }

    pub(in crate::scenario_file) fn read<T: Decode>(
        &self,
        key: &str,
        findings: &mut Findings,
    ) -> Option<T> {
        match self.node.get(key) {
            Some(value) if !matches!(value.content, Content::Null) => {
                T::decode(value, findings).or_else(T::failed)
            }
            given => given.and_then(T::null).or_else(T::absent).or_else(|| {
                if !findings.partial {
                    let message = format!("missing key `{key}`{}", self.needed_by);
                    findings.error(self.node.at, message, NO_HINT);
                }
                T::failed()
            }),
        }
    }
}

/// Says that a node is not what belongs in its place, of which nothing can be made.
pub(in crate::scenario_file) fn wrong_kind<T>(
    node: &Node,
    expected: &str,
    findings: &mut Findings,
) -> Option<T> {
    let hint = match node.content {
        Content::Bool(_) | Content::Number(_) if expected.contains("text") => {
            Some("put it in quotes if it is text")
        }
        _ => None,
    };
    let message = format!("expected {expected}, found {}", node.kind());
    findings.refuse(node.at, message, hint)
}
