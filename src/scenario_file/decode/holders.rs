//! Containers for values of any type: with their place, or none, several, named ones.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::plain::{Place, Plain};
use super::section::{Decode, wrong_kind};
use super::served::Served;
use crate::scenario_file::yaml::{Content, Entry, Findings, Mark, Node};

/// A value with its place.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct At<T> {
    pub(in crate::scenario_file) at: Mark,
    pub(in crate::scenario_file) value: T,
}

impl<T> At<T> {
    pub(in crate::scenario_file) fn mark(&self) -> Mark {
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

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        self.value.templates(visit);
    }

    fn is_secret(&self) -> bool {
        self.value.is_secret()
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        self.value.marked(visit);
    }
}

/// The value of a key that is wrong without the rest of its section being lost.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) enum Field<T> {
    Wrong,
    Given(T),
}

impl<T> Field<T> {
    pub(in crate::scenario_file) fn given(&self) -> Option<&T> {
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

    fn null(node: &Node) -> Option<Self> {
        T::null(node).map(Self::Given)
    }

    fn failed() -> Option<Self> {
        Some(Self::Wrong)
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        if let Some(it) = self.given() {
            it.templates(visit);
        }
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        if let Some(it) = self.given() {
            it.marked(visit);
        }
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

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        if let Some(it) = self {
            it.templates(visit);
        }
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        if let Some(it) = self {
            it.marked(visit);
        }
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Content::List(items) = &node.content else {
            return wrong_kind(node, "a list", findings);
        };
        // All items are read before the first failure counts.
        let read: Vec<_> = items.iter().map(|it| T::decode(it, findings)).collect();
        read.into_iter().collect()
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        for it in self {
            it.templates(visit);
        }
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        for it in self {
            it.marked(visit);
        }
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        T::decode(node, findings).map(Self::new)
    }

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        (**self).templates(visit);
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        (**self).marked(visit);
    }
}

/// A map with names of the author's choosing, in the order written.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Named<T>(pub(in crate::scenario_file) Vec<(At<String>, T)>);

impl<T: Decode> Decode for Named<T> {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Content::Map(entries) = &node.content else {
            return wrong_kind(node, "a map", findings);
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

    fn templates<'a>(&'a self, visit: &mut dyn FnMut(Mark, &'a str)) {
        for (_, it) in &self.0 {
            it.templates(visit);
        }
    }

    fn marked(&self, visit: &mut dyn FnMut(&str)) {
        for (name, it) in &self.0 {
            if it.is_secret() {
                visit(&name.value);
            }
            it.marked(visit);
        }
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

impl<T, S: Plain<T>> Plain<T> for &S {
    fn plain(&self, findings: &Findings) -> T {
        (**self).plain(findings)
    }
}

impl<T, S: Plain<T>> Plain<T> for At<S> {
    fn plain(&self, findings: &Findings) -> T {
        self.value.plain(findings)
    }

    fn places(value: &mut T, visit: &mut dyn FnMut(Place<'_>)) {
        S::places(value, visit);
    }
}

/// Where it is wrong, which was said, nothing comes of its section.
impl<T: Default, S: Plain<T>> Plain<T> for Field<S> {
    fn plain(&self, findings: &Findings) -> T {
        let given = self.given().map(|it| it.plain(findings));
        given.unwrap_or_default()
    }

    fn places(value: &mut T, visit: &mut dyn FnMut(Place<'_>)) {
        S::places(value, visit);
    }
}

impl<T, S: Plain<T>> Plain<Option<T>> for Option<S> {
    fn plain(&self, findings: &Findings) -> Option<T> {
        self.as_ref().map(|it| it.plain(findings))
    }

    fn places(value: &mut Option<T>, visit: &mut dyn FnMut(Place<'_>)) {
        if let Some(it) = value {
            S::places(it, visit);
        }
    }
}

impl<T, S: Plain<T>> Plain<Vec<T>> for Vec<S> {
    fn plain(&self, findings: &Findings) -> Vec<T> {
        self.iter().map(|it| it.plain(findings)).collect()
    }

    fn places(value: &mut Vec<T>, visit: &mut dyn FnMut(Place<'_>)) {
        for it in value {
            S::places(it, visit);
        }
    }
}

impl<T, S: Plain<T>> Plain<Vec<(String, T)>> for Named<S> {
    fn plain(&self, findings: &Findings) -> Vec<(String, T)> {
        let named = self.0.iter();
        named
            .map(|(name, it)| (name.value.clone(), it.plain(findings)))
            .collect()
    }

    fn places(value: &mut Vec<(String, T)>, visit: &mut dyn FnMut(Place<'_>)) {
        for (_, it) in value {
            S::places(it, visit);
        }
    }
}

impl<T: Served> Served for Option<T> {
    fn served(&self) -> Option<Value> {
        self.as_ref().and_then(T::served)
    }
}

impl<T: Served> Served for Vec<T> {
    fn served(&self) -> Option<Value> {
        Some(self.iter().filter_map(T::served).collect())
    }
}

impl<T: Served> Served for At<T> {
    fn served(&self) -> Option<Value> {
        self.value.served()
    }
}

/// Gives a wrapper the schema of what it wraps.
macro_rules! same_schema {
    ($type:ident) => {
        impl<T: schemars::JsonSchema> schemars::JsonSchema for $type<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                T::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                T::json_schema(generator)
            }
        }
    };
}
pub(in crate::scenario_file) use same_schema;

same_schema!(At);
same_schema!(Field);
