//! How alike two values roughly are, by a look at a few of their members: for where there are too many to look at all.

use std::collections::HashSet;

use serde_json::Value;

use super::kind::kind;
use super::number::{count, share};
use super::same::{self, View, same};

/// How many members are looked at.
const MEMBERS: usize = 16;
/// How many names of members may tell elements apart.
const NAMES: usize = 8;
/// How many words a text is told by.
const WORDS: usize = 3;

/// How alike two values roughly are, 0 to 1.
pub(in crate::score) fn values(b: &Value, c: &Value) -> f64 {
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
pub(in crate::score) fn texts(b: &str, c: &str) -> f64 {
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

/// Keys that elements of two lists share which are probably the same thing, although not in all of it: records by the member that tells
/// most of them, texts by their first words.
pub(in crate::score) fn keys(b: &[Value], c: &[Value]) -> (Vec<u64>, Vec<u64>) {
    let name = telling_name(b, c);
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
fn telling_name<'v>(b: &'v [Value], c: &'v [Value]) -> Option<&'v str> {
    let first = b.iter().find_map(Value::as_object)?;
    let told = |name: &str| {
        let all = |list: &[Value]| -> HashSet<u64> {
            let members = list.iter().filter_map(|it| it.get(name));
            members.map(shallow).collect()
        };
        all(b).intersection(&all(c)).count()
    };
    let names = first.keys().take(NAMES).map(|name| (told(name), name));
    let mut best: Option<(usize, &String)> = None;
    for (told, name) in names {
        if told > best.map_or(0, |it| it.0) {
            best = Some((told, name));
        }
    }
    best.map(|(_, name)| name.as_str())
}

/// A hash of what is quickly seen of a value.
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
