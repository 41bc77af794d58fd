//! The formulas of the original tool, for teams that already have such scores.
//!
//! Calls are paired by position and compared by their arguments alone, in the words of each side. Numbers are 1000 apart at most; objects
//! and lists are as alike as the frequencies of the characters in their JSON. That treats `{"id":12}` and `{"id":21}` as
//! equal, which is why it is not the default. The overall score also depends on how the two runs went, see [`overall`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use crate::request::arguments::text;
use crate::request::value::combine;
use crate::values::number::{self, count};
use crate::values::same::{DEPTH, same};
use model::{Ending, Object, ParameterScore, RequestScore, ToolCall, Trajectory};

/// A difference of this much makes two numbers wholly different.
const MAX_DIFF: f64 = 1000.0;

/// `0.3 × |common keys| / |all keys| + 0.7 × mean over the common keys`; without a common key 0.
pub(crate) fn request(b: &Object, c: &Object) -> RequestScore {
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
        // Python counts false and true as 0 and 1.
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

/// Operations without which a run counts as blocked.
const CRITICAL: &[&str] = &["add", "create", "initialize", "connect", "setup"];

/// How the calls of a run went, in the categories of the original tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Went {
    Blocked,
    /// Any call failed.
    Failed,
    NoCalls,
    Well,
}

/// How a run went: blocked where it was ended early, or a critical operation failed.
pub(crate) fn went(trajectory: &Trajectory) -> Went {
    let blocks = |call: &ToolCall| {
        let operation = call.arguments.get("operation").and_then(Value::as_str);
        let operation = operation.unwrap_or_default().to_lowercase();
        CRITICAL.iter().any(|it| operation.contains(it))
    };
    let failed: Vec<&ToolCall> = (trajectory.calls())
        .filter(|it| it.outcome.is_failure())
        .collect();
    let ended_early = matches!(trajectory.ending, Ending::Blocked { .. });
    if ended_early || failed.iter().any(|it| blocks(it)) {
        Went::Blocked
    } else if !failed.is_empty() {
        Went::Failed
    } else if trajectory.calls().next().is_none() {
        Went::NoCalls
    } else {
        Went::Well
    }
}

/// The score over both runs, in parts, and how it comes from the mean of the calls, in words.
pub(crate) struct Overall {
    /// What counts of the calls.
    pub(crate) calls: f64,
    pub(crate) status_factor: f64,
    pub(crate) count_penalty: f64,
    /// What a point lost at a call costs of the whole; `None` where calls make no difference.
    pub(crate) each: Option<f64>,
    pub(crate) formula: String,
}

/// The failure-aware score, from the mean of the calls and the numbers of calls.
pub(crate) fn overall(
    mean: f64,
    (then, now): (Went, Went),
    (before, after): (usize, usize),
) -> Overall {
    let of = |calls: f64, status_factor: f64, each: Option<f64>, formula: String| Overall {
        calls,
        status_factor,
        count_penalty: 0.0,
        each,
        formula,
    };
    let scaled = |factor: f64, why: &str| {
        of(
            mean,
            factor,
            Some(1.0),
            format!("{mean:.3} × {factor}, as {why}"),
        )
    };
    let fixed = |score: f64, why: &str| of(score, 1.0, None, format!("{score}, as {why}"));
    match (then, now) {
        (Went::Well, Went::Blocked) => fixed(0.0, "the run was blocked and the baseline was not"),
        (Went::Blocked, Went::Blocked) => fixed(0.3, "both runs were blocked"),
        (_, Went::Blocked) => fixed(0.1, "the run was blocked"),
        (Went::Well, Went::Failed) => scaled(0.5, "a call failed and none did in the baseline"),
        (Went::Failed, Went::Failed) => scaled(0.7, "calls failed in both runs"),
        (Went::Blocked | Went::NoCalls, Went::Failed) => scaled(0.6, "a call failed"),
        (Went::Well, Went::Well) => {
            let (penalty, words) = if before.abs_diff(after) > 2 {
                (0.1, " − 0.1, as the numbers of calls differ by more than 2")
            } else {
                (0.0, ", as no call failed in either run")
            };
            Overall {
                count_penalty: penalty,
                ..of(
                    0.8 * mean + 0.2,
                    1.0,
                    Some(0.8),
                    format!("0.8 × {mean:.3} + 0.2{words}"),
                )
            }
        }
        (_, Went::Well) => {
            let calls = (mean + 0.2).min(1.0);
            let lost = 1.0 - mean;
            let each = if lost > 0.0 {
                (1.0 - calls) / lost
            } else {
                1.0
            };
            let formula =
                format!("{mean:.3} + 0.2, at most 1, as the run went better than the baseline");
            of(calls, 1.0, Some(each), formula)
        }
        (_, Went::NoCalls) => scaled(1.0, "the run made no calls"),
    }
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
    write_sorted(value, DEPTH, &mut out);
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
