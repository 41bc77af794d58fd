//! Equality and hashes of JSON values: numbers by value, objects whatever the order of their keys.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;
use serde_json::Value;

use model::Object;
use model::digits;

use super::mask;
use super::number::{self, Exact};

/// How deep the scoring walks into values; parsed JSON ends at 128 by itself, values built in code may not.
pub(crate) const DEPTH: usize = 200;

/// Whether two values are the same; safe at any depth.
pub fn same(a: &Value, b: &Value) -> bool {
    let mut pending = Vec::new();
    if !same_so_far(a, b, &mut pending) {
        return false;
    }
    while let Some(pair) = pending.pop() {
        let same = match pair {
            Pair::Lists(a, b) => (a.iter().zip(b)).all(|(a, b)| same_so_far(a, b, &mut pending)),
            Pair::Objects(a, b) => {
                // The keys usually have the same order, so that no lookup is needed.
                let mut in_order = b.iter();
                a.iter().all(|(key, a)| {
                    let next = in_order.next().filter(|(name, _)| *name == key);
                    let b = next.map(|(_, b)| b).or_else(|| b.get(key));
                    b.is_some_and(|b| same_so_far(a, b, &mut pending))
                })
            }
        };
        if !same {
            return false;
        }
    }
    true
}

/// Two containers of one size whose members are still to be compared.
enum Pair<'a> {
    Lists(&'a [Value], &'a [Value]),
    Objects(&'a Object, &'a Object),
}

/// Compares what needs no looking inside, and leaves the rest for later.
fn same_so_far<'a>(a: &'a Value, b: &'a Value, pending: &mut Vec<Pair<'a>>) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => number::equal(a, b),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Number(_), Value::String(_)) | (Value::String(_), Value::Number(_)) => {
            number::exact(a).is_some_and(|a| number::exact(b) == Some(a))
        }
        (Value::Array(a), Value::Array(b)) => {
            pending.push(Pair::Lists(a, b));
            a.len() == b.len()
        }
        (Value::Object(a), Value::Object(b)) => {
            pending.push(Pair::Objects(a, b));
            a.len() == b.len()
        }
        _ => false,
    }
}

/// Fast, and the same on every machine and in every run. Equal hashes count as equal values, so it has to be a good 64-bit hash.
const HASHER: FixedState = FixedState::with_seed(0);

/// The hash of one thing.
pub(crate) fn hash_of(it: impl Hash) -> u64 {
    HASHER.hash_one(it)
}

/// For hashes of several things.
pub(crate) fn hasher() -> impl Hasher {
    HASHER.build_hasher()
}

/// What a hash looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Values as they are.
    Plain,
    /// Values after masking what varies by nature.
    Masked,
}

/// A hash that the same values share; equal hashes count as equal values, because collisions are improbable with 64 bits.
pub(crate) fn hash(value: &Value, view: View) -> u64 {
    hash_and_keep(value, view, &mut |_, _| {})
}

/// The same, and passes the hash of the value and of every list and object in it to `keep`.
pub(super) fn hash_and_keep(value: &Value, view: View, keep: &mut dyn FnMut(&Value, u64)) -> u64 {
    hash_within(value, view, DEPTH, keep)
}

fn hash_within(value: &Value, view: View, depth: usize, keep: &mut dyn FnMut(&Value, u64)) -> u64 {
    let mut hasher = HASHER.build_hasher();
    match value {
        Value::Null => 0u8.hash(&mut hasher),
        Value::Bool(it) => (1u8, it).hash(&mut hasher),
        Value::Number(it) => match mask::number(it) {
            Some(token) if view == View::Masked => (2u8, token).hash(&mut hasher),
            _ => hash_number(&number::exact_of(it), &mut hasher),
        },
        Value::String(_) if digits::of(value).is_some() => {
            if let Some(it) = number::exact(value) {
                hash_number(&it, &mut hasher);
            }
        }
        Value::String(it) if view == View::Masked => (5u8, mask::text(it)).hash(&mut hasher),
        Value::String(it) => (5u8, it).hash(&mut hasher),
        _ if depth == 0 => 6u8.hash(&mut hasher),
        Value::Array(items) => {
            7u8.hash(&mut hasher);
            for item in items {
                hash_within(item, view, depth - 1, keep).hash(&mut hasher);
            }
        }
        Value::Object(members) => {
            let mut sum = 0u64;
            for (key, member) in members {
                let entry = hash_of((key, hash_within(member, view, depth - 1, keep)));
                sum = sum.wrapping_add(entry);
            }
            (8u8, sum).hash(&mut hasher);
        }
    }
    let hash = hasher.finish();
    if value.is_array() || value.is_object() {
        keep(value, hash);
    }
    hash
}

fn hash_number(number: &Exact<'_>, hasher: &mut impl Hasher) {
    match number {
        Exact::Whole(it) => (3u8, it).hash(hasher),
        Exact::Float(it) => (4u8, it.to_bits()).hash(hasher),
        Exact::Long(it) => (9u8, it).hash(hasher),
    }
}

/// Roughly how much work comparing a value is, in leaves; long texts count by length. Stops counting at `limit`.
pub(crate) fn weight(value: &Value, limit: usize) -> usize {
    let mut pending = vec![value];
    let mut weight = 0;
    while let Some(value) = pending.pop() {
        weight += 1;
        match value {
            Value::String(it) => weight += it.len() / 32,
            Value::Array(items) => pending.extend(items.iter().take(limit)),
            Value::Object(members) => pending.extend(members.values().take(limit)),
            _ => {}
        }
        if weight >= limit {
            return limit;
        }
    }
    weight
}
