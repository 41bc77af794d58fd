//! Equality and hashes of JSON values: numbers by value, objects whatever the order of their keys.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::mask;
use super::number;

/// How deep the scoring walks into values; parsed JSON ends at 128 by itself, values built in code may not.
pub(super) const DEPTH: usize = 200;

/// Whether two values are the same; safe at any depth.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    // The commonest values need no list of what is still to be looked at.
    match (a, b) {
        (Value::String(a), Value::String(b)) => return a == b,
        (Value::Number(a), Value::Number(b)) => return number::equal(a, b),
        _ => {}
    }
    let mut pending = vec![(a, b)];
    while let Some(pair) = pending.pop() {
        match pair {
            (Value::Null, Value::Null) => {}
            (Value::Bool(a), Value::Bool(b)) if a == b => {}
            (Value::Number(a), Value::Number(b)) if number::equal(a, b) => {}
            (Value::String(a), Value::String(b)) if a == b => {}
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                pending.extend(a.iter().zip(b));
            }
            (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
                for (key, a) in a {
                    match b.get(key) {
                        Some(b) => pending.push((a, b)),
                        None => return false,
                    }
                }
            }
            _ => return false,
        }
    }
    true
}

/// What a hash looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// Values as they are.
    Plain,
    /// Values after masking what varies by nature.
    Masked,
}

/// A hash that the same values share; equal hashes are taken for equal values, which 64 bits make safe enough.
pub(super) fn hash(value: &Value, view: View) -> u64 {
    hash_within(value, view, DEPTH)
}

fn hash_within(value: &Value, view: View, depth: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        Value::Null => 0u8.hash(&mut hasher),
        Value::Bool(it) => (1u8, it).hash(&mut hasher),
        Value::Number(it) => match (mask::number(it), number::integer(it)) {
            (Some(token), _) if view == View::Masked => (2u8, token).hash(&mut hasher),
            (_, Some(it)) => (3u8, it).hash(&mut hasher),
            (_, None) => (4u8, number::float(it).to_bits()).hash(&mut hasher),
        },
        Value::String(it) if view == View::Masked => (5u8, mask::text(it)).hash(&mut hasher),
        Value::String(it) => (5u8, it).hash(&mut hasher),
        _ if depth == 0 => 6u8.hash(&mut hasher),
        Value::Array(items) => {
            7u8.hash(&mut hasher);
            for item in items {
                hash_within(item, view, depth - 1).hash(&mut hasher);
            }
        }
        Value::Object(members) => {
            let mut sum = 0u64;
            for (key, member) in members {
                let mut entry = DefaultHasher::new();
                (key, hash_within(member, view, depth - 1)).hash(&mut entry);
                sum = sum.wrapping_add(entry.finish());
            }
            (8u8, sum).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Roughly how much work comparing a value is, in leaves; long texts count by length. Stops counting at `limit`.
pub(super) fn weight(value: &Value, limit: usize) -> usize {
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
