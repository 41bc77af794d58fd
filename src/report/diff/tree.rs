//! A JSON value measured once: equal parts are found by their hashes, and how long a part is written is known before it is.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use serde_json::Value;

/// The longest value that is written in one line.
const ONE_LINE: usize = 76;
/// What lies deeper is taken as one text.
const DEPTH: usize = 100;

/// A value and what was measured of it.
pub(super) struct Tree<'a> {
    pub(super) value: &'a Value,
    /// The same for equal values, whatever the order of their members.
    hash: u64,
    /// How many lines it takes.
    pub(super) lines: usize,
    /// The characters it takes in one line; `None` where it does not fit into one.
    width: Option<usize>,
    /// Elements in order, or members in the order of the object.
    children: Vec<Self>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(value: &'a Value) -> Self {
        Self::at(value, DEPTH)
    }

    fn at(value: &'a Value, depth: usize) -> Self {
        let children: Vec<Self> = match value {
            Value::Array(items) if depth > 0 => {
                items.iter().map(|it| Self::at(it, depth - 1)).collect()
            }
            Value::Object(members) if depth > 0 => {
                members.values().map(|it| Self::at(it, depth - 1)).collect()
            }
            _ => Vec::new(),
        };
        let width = width(value, &children);
        let lines = match width {
            None if !children.is_empty() => 2 + children.iter().map(|it| it.lines).sum::<usize>(),
            _ => 1,
        };
        Self {
            value,
            hash: hash(value, &children),
            lines,
            width,
            children,
        }
    }

    /// Whether it is a list or an object that is written in several lines, and looked into.
    pub(super) fn is_open(&self) -> bool {
        self.lines > 1
    }

    /// Whether the two are equal; the hashes settle that nearly always.
    pub(super) fn equals(&self, other: &Tree<'_>) -> bool {
        self.hash == other.hash && self.value == other.value
    }

    /// What equal values have in common. It serves to find them, never to tell that they are.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn elements(&self) -> &[Self] {
        &self.children
    }

    /// The members of an object, in its order.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, &Self)> {
        let keys = self.value.as_object().into_iter().flat_map(|it| it.keys());
        keys.map(String::as_str).zip(&self.children)
    }

    /// What tells an element of a list from others, where it is an object that has such a member.
    pub(super) fn identity(&self) -> Option<&Self> {
        let mut found: Option<(usize, &Self)> = None;
        for (key, member) in self.members() {
            let rank = identity_rank(key).filter(|_| member.children.is_empty());
            if let Some(rank) = rank
                && found.is_none_or(|(best, _)| rank < best)
            {
                found = Some((rank, member));
            }
        }
        found.map(|(_, it)| it)
    }
}

/// How well a member of this name tells an object from others, 0 being best; `None` where it does not.
pub(super) fn identity_rank(key: &str) -> Option<usize> {
    const NAMES: [&str; 7] = ["id", "key", "name", "uri", "path", "url", "title"];
    NAMES.iter().position(|it| key.eq_ignore_ascii_case(it))
}

fn width(value: &Value, children: &[Tree<'_>]) -> Option<usize> {
    let inside = |extra: usize| -> Option<usize> {
        if children.iter().any(|it| !it.children.is_empty()) {
            return None;
        }
        let widths = children.iter().map(|it| it.width);
        let sum = widths.sum::<Option<usize>>()?;
        let width = 2 + sum + extra + 2 * children.len();
        (width <= ONE_LINE).then_some(width)
    };
    match value {
        Value::Array(items) if items.is_empty() => Some(2),
        Value::Object(members) if members.is_empty() => Some(2),
        // Too deep to be looked into.
        Value::Array(_) | Value::Object(_) if children.is_empty() => None,
        Value::Array(_) => inside(0),
        Value::Object(members) => inside(members.keys().map(|it| it.chars().count() + 4).sum()),
        Value::String(text) => Some(text.chars().take(ONE_LINE + 1).count() + 2),
        Value::Number(number) => Some(number.to_string().len()),
        Value::Null | Value::Bool(_) => Some(5),
    }
}

fn hash(value: &Value, children: &[Tree<'_>]) -> u64 {
    let state = FixedState::with_seed(7);
    let mut hasher = state.build_hasher();
    match value {
        Value::Null => 0_u8.hash(&mut hasher),
        Value::Bool(it) => it.hash(&mut hasher),
        Value::Number(it) => it.hash(&mut hasher),
        Value::String(it) => it.hash(&mut hasher),
        Value::Array(items) if items.len() == children.len() => {
            (2_u8, items.len()).hash(&mut hasher);
            for it in children {
                it.hash.hash(&mut hasher);
            }
        }
        Value::Object(members) if members.len() == children.len() => {
            // Of members, the order does not matter.
            let member = |(key, it): (&String, &Tree<'_>)| state.hash_one((key, it.hash));
            let all = members.keys().zip(children).map(member);
            (3_u8, all.fold(0_u64, u64::wrapping_add)).hash(&mut hasher);
        }
        deep => deep.to_string().hash(&mut hasher),
    }
    hasher.finish()
}
