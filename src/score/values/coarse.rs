//! Rough similarity of two values by a few of their members, for values with too many members to compare all.

use std::collections::HashSet;

use serde_json::Value;

use super::kind::kind;
use super::number::{count, share};
use super::same::{self, View, same};

/// How many members are looked at.
const MEMBERS: usize = 16;
/// How many names of members are tried for identifying elements.
const NAMES: usize = 8;
/// How many words identify a text.
const WORDS: usize = 3;

/// How alike two values roughly are, 0 to 1.
pub(crate) fn values(b: &Value, c: &Value) -> f64 {
    match (b, c) {
        (Value::Object(b), Value::Object(c)) => {
            let looked_at = b.iter().take(MEMBERS);
            let alike = looked_at.filter_map(|(key, b)| Some(members(b, c.get(key)?)));
            share(alike.sum(), b.len().clamp(1, MEMBERS)).min(1.0)
        }
        (Value::Array(b), Value::Array(c)) => {
            let alike = b.iter().zip(c).take(MEMBERS).map(|(b, c)| members(b, c));
            share(alike.sum(), b.len().max(c.len()).clamp(1, MEMBERS))
        }
        (Value::String(b), Value::String(c)) => texts(b, c),
        _ => members(b, c),
    }
}

/// Two members, which are not looked into.
fn members(b: &Value, c: &Value) -> f64 {
    match (b, c) {
        (Value::String(b), Value::String(c)) => texts(b, c),
        (Value::Object(b), Value::Object(c)) => shorter_by_longer(b.len(), c.len()) / 2.0,
        (Value::Array(b), Value::Array(c)) => shorter_by_longer(b.len(), c.len()) / 2.0,
        _ if kind(b) != kind(c) => 0.0,
        _ if same(b, c) => 1.0,
        _ => 0.25,
    }
}

fn shorter_by_longer(a: usize, b: usize) -> f64 {
    share(count(a.min(b)), a.max(b))
}

/// How much of the longer of two texts is the same at the beginning and at the end.
pub(crate) fn texts(b: &str, c: &str) -> f64 {
    let (b, c) = (b.as_bytes(), c.as_bytes());
    let shorter = b.len().min(c.len());
    let same = |(b, c): &(&u8, &u8)| b == c;
    let start = b.iter().zip(c).take_while(same).count();
    let ends = b.iter().rev().zip(c.iter().rev()).take(shorter - start);
    share(
        count(start + ends.take_while(same).count()),
        b.len().max(c.len()),
    )
}

/// Keys that are equal for elements of two lists that are probably the same although not equal. Records are identified by the member that
/// matches most of them, texts by their first words.
pub(crate) fn keys(b: &[Value], c: &[Value]) -> (Vec<u64>, Vec<u64>) {
    let name = distinctive_name(b, c);
    let keys = |list: &[Value]| {
        let key = |it: &Value| match (it, name) {
            (Value::Object(members), Some(name)) => same::hash_of(members.get(name).map(shallow)),
            _ => shallow(it),
        };
        list.iter().map(key).collect()
    };
    (keys(b), keys(c))
}

/// The name of the member by which most elements of the one list are found in the other.
fn distinctive_name<'v>(b: &'v [Value], c: &'v [Value]) -> Option<&'v str> {
    let first = b.iter().find_map(Value::as_object)?;
    let in_common = |name: &str| {
        let all = |list: &[Value]| -> HashSet<u64> {
            let members = list.iter().filter_map(|it| it.get(name));
            members.map(shallow).collect()
        };
        all(b).intersection(&all(c)).count()
    };
    let names = first.keys().take(NAMES).map(|name| (in_common(name), name));
    let mut best: Option<(usize, &String)> = None;
    for (count, name) in names {
        if count > best.map_or(0, |it| it.0) {
            best = Some((count, name));
        }
    }
    best.map(|(_, name)| name.as_str())
}

/// A hash of a few parts of a value.
fn shallow(value: &Value) -> u64 {
    match value {
        Value::String(text) => {
            let words: Vec<&str> = text.split_whitespace().take(WORDS).collect();
            same::hash_of(words)
        }
        Value::Array(items) => same::hash_of((
            "list",
            items
                .first()
                .filter(|it| !is_branch(it))
                .map(|it| same::hash(it, View::Plain)),
        )),
        Value::Object(members) => same::hash_of(("object", members.len())),
        leaf => same::hash(leaf, View::Plain),
    }
}

fn is_branch(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
