//! The formulas the original tool published, for teams that already have such scores.
//!
//! Calls are paired by position and compared by their arguments alone. Numbers are 1000 apart at most; objects and
//! lists are as alike as the frequencies of the characters in their JSON. That cannot tell `{"id":12}` from
//! `{"id":21}`, which is why it is not the default.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use crate::model::Object;
use crate::model::comparison::{ParameterScore, RequestScore};

use super::arguments::text;
use super::number::{self, count};
use super::same::same;
use super::value::combine;

/// A difference of this much makes two numbers wholly different.
const MAX_DIFF: f64 = 1000.0;

/// `0.3 × |common keys| / |all keys| + 0.7 × mean over the common keys`; without a common key 0.
pub(super) fn request(b: &Object, c: &Object) -> RequestScore {
    let names: BTreeSet<&str> = b.keys().chain(c.keys()).map(String::as_str).collect();
    let common = names
        .iter()
        .filter(|it| b.contains_key(**it) && c.contains_key(**it))
        .count();
    let (all, shared) = (count(names.len().max(1)), count(common.max(1)));
    let mut sum = 0.0;
    let mut parameters = Vec::new();
    for name in &names {
        let (baseline, current) = (b.get(*name), c.get(*name));
        let (similarity, method, loss) = match (baseline, current) {
            (Some(b), Some(c)) => {
                let (similarity, method) = value(b, c);
                sum += similarity;
                (similarity, method, 0.7 * (1.0 - similarity) / shared)
            }
            (one, _) => {
                let method = if one.is_some() { "missing" } else { "added" };
                (0.0, method, if common == 0 { 1.0 } else { 0.3 } / all)
            }
        };
        parameters.push(ParameterScore {
            name: (*name).to_owned(),
            similarity: Some(similarity),
            method,
            loss,
        });
    }
    RequestScore {
        differences: Vec::new(),
        similarity: combine(sum, common, names.len()),
        parameters,
    }
}

fn value(b: &Value, c: &Value) -> (f64, &'static str) {
    if same(b, c) {
        return (1.0, "equal");
    }
    match (b, c) {
        (Value::Null, _) | (_, Value::Null) => (0.0, "null"),
        (Value::String(b), Value::String(c)) => (jaccard(b, c), "words"),
        (Value::Number(b), Value::Number(c)) => {
            (number::distance(b, c, Some(MAX_DIFF)), "distance")
        }
        // Its language counts false and true as 0 and 1.
        (Value::Bool(_), Value::Bool(_)) => (1.0 - 1.0 / MAX_DIFF, "distance"),
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => {
            (cosine(&sorted(b), &sorted(c)), "characters")
        }
        _ => (jaccard(&text(b), &text(c)), "words"),
    }
}

/// Common words / all words.
fn jaccard(b: &str, c: &str) -> f64 {
    let words = |text: &str| -> BTreeSet<String> {
        text.to_lowercase()
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    let (b, c) = (words(b), words(c));
    number::share(count(b.intersection(&c).count()), b.union(&c).count())
}

/// The cosine of the angle between the two texts' character frequencies.
fn cosine(b: &str, c: &str) -> f64 {
    let frequencies = |text: &str| {
        let mut found: BTreeMap<char, f64> = BTreeMap::new();
        for it in text.chars() {
            *found.entry(it).or_default() += 1.0;
        }
        found
    };
    let (b, c) = (frequencies(b), frequencies(c));
    let dot: f64 = b.iter().map(|(it, n)| n * c.get(it).unwrap_or(&0.0)).sum();
    let length = |it: &BTreeMap<char, f64>| it.values().map(|n| n * n).sum::<f64>().sqrt();
    (dot / (length(&b) * length(&c))).min(1.0)
}

/// A value as the original wrote it for this: keys sorted, a blank after each `:` and `,`, ASCII alone.
fn sorted(value: &Value) -> String {
    let mut out = String::new();
    write_sorted(value, super::same::DEPTH, &mut out);
    out
}

fn write_sorted(value: &Value, depth: usize, out: &mut String) {
    match value {
        _ if depth == 0 => {}
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (at, key) in keys.into_iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_text(key, out);
                out.push_str(": ");
                write_sorted(&members[key], depth - 1, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_sorted(item, depth - 1, out);
            }
            out.push(']');
        }
        Value::String(text) => write_text(text, out),
        _ => out.push_str(&value.to_string()),
    }
}

fn write_text(text: &str, out: &mut String) {
    let quoted = Value::from(text).to_string();
    for it in quoted.chars() {
        if it.is_ascii() {
            out.push(it);
        } else {
            let mut units = [0; 2];
            for unit in it.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}
