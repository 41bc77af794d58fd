//! Similarity of two values in a request.

use serde_json::Value;

use crate::digits;
use crate::model::Object;

use super::align::{self, Pairs};
use super::number::{self, count, share};
use super::same::{self, View};
use super::words;

/// How much work the comparison of one pair of values may be, in leaves; beyond, lists are paired more coarsely (see
/// [`align::align`]).
pub(super) const BUDGET: usize = 1 << 20;

/// A text of another type than the other side's is never quite the same.
const AS_TEXT: f64 = 0.9;

/// Similarity of two values, 0 to 1, and the name of the rule that decided.
pub(super) fn similarity(a: &Value, b: &Value) -> (f64, &'static str) {
    within(a, b, same::DEPTH, BUDGET)
}

fn within(a: &Value, b: &Value, depth: usize, budget: usize) -> (f64, &'static str) {
    if same::same(a, b) {
        return (1.0, "equal");
    }
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => (0.0, "null"),
        (Value::Number(a), Value::Number(b)) => (number::distance(a, b, None), "distance"),
        (Value::String(text), number) | (number, Value::String(text))
            if number::is_number(number) =>
        {
            match number::of_text(text) {
                _ if number::is_number(a) && number::is_number(b) => {
                    (number::distance_of(a, b, None), "distance")
                }
                Some(it) => (
                    AS_TEXT * number::distance_of(number, &it, None),
                    "number as text",
                ),
                None => (0.0, "type"),
            }
        }
        (Value::String(a), Value::String(b)) => texts(a, b, depth, budget),
        (Value::Bool(bool), Value::String(text)) | (Value::String(text), Value::Bool(bool)) => {
            match text.parse::<bool>() {
                Ok(it) if it == *bool => (AS_TEXT, "bool as text"),
                Ok(_) => (0.0, "bool as text"),
                Err(_) => (0.0, "type"),
            }
        }
        (Value::Bool(_), Value::Bool(_)) => (0.0, "bool"),
        // Two values this deep are told apart, not graded.
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) if depth == 0 => {
            (0.0, "depth")
        }
        (Value::Object(a), Value::Object(b)) => (objects(a, b, depth - 1, budget), "object"),
        (Value::Array(a), Value::Array(b)) => (lists(a, b, depth - 1, budget), "list"),
        _ => (0.0, "type"),
    }
}

fn texts(a: &str, b: &str, depth: usize, budget: usize) -> (f64, &'static str) {
    match (embedded(a), embedded(b)) {
        (Some(a), Some(b)) if depth > 0 => (within(&a, &b, depth - 1, budget).0, "embedded json"),
        _ => (words::similarity(a, b), "words"),
    }
}

/// The JSON object or list a text consists of, long integers as [`digits`] marks them.
pub(super) fn embedded(text: &str) -> Option<Value> {
    let looks_like_json = text.trim_ascii_start().starts_with(['{', '[']);
    looks_like_json.then(|| digits::parse(text).ok()).flatten()
}

/// `0.3 × |common keys| / |all keys| + 0.7 × mean over the common keys`; without a common key 0.
fn objects(a: &Object, b: &Object, depth: usize, budget: usize) -> f64 {
    let mut common = 0;
    let mut total = Total::default();
    for (key, a) in a {
        if let Some(b) = b.get(key) {
            common += 1;
            total.add(within(a, b, depth, budget).0);
        }
    }
    total.bounded(combine(total.sum, common, a.len() + b.len() - common))
}

/// A sum of similarities that a small difference is not lost in by rounding.
#[derive(Default)]
struct Total {
    sum: f64,
    differs: bool,
}

impl Total {
    fn add(&mut self, similarity: f64) {
        self.sum += similarity;
        self.differs |= similarity < 1.0;
    }

    /// What was made of the sum, below 1 where anything differed.
    fn bounded(&self, similarity: f64) -> f64 {
        if self.differs {
            similarity.min(number::ALMOST)
        } else {
            similarity
        }
    }
}

/// The formula for arguments: the sum of the similarities over the common keys, their number, and that of all keys.
pub(super) fn combine(sum: f64, common: usize, all: usize) -> f64 {
    match (all, common) {
        (0, _) => 1.0,
        (_, 0) => 0.0,
        _ => (0.3 * share(count(common), all) + 0.7 * share(sum, common)).min(1.0),
    }
}

fn lists(a: &[Value], b: &[Value], depth: usize, budget: usize) -> f64 {
    let mut total = Total::default();
    let plan = Plan::new(a, b, budget);
    let similarity = |i: usize, j: usize| within(&a[i], &b[j], depth, plan.budget).0;
    for (i, j) in plan.pairs(a, b, View::Plain, |_, _| true, similarity) {
        total.add(similarity(i, j));
    }
    total.bounded(share(total.sum, a.len().max(b.len())))
}

/// How much of a budget for comparing two lists goes into how many comparisons of their elements.
pub(super) struct Plan {
    cells: usize,
    /// What is left for each comparison.
    pub(super) budget: usize,
}

impl Plan {
    pub(super) fn new(a: &[Value], b: &[Value], budget: usize) -> Self {
        let mean = |list: &[Value]| {
            let sample = list.iter().step_by(list.len() / 64 + 1);
            let taken = sample.clone().count().max(1);
            sample.map(|it| same::weight(it, budget)).sum::<usize>() / taken
        };
        let element = mean(a).max(mean(b)).max(1);
        let cells = (budget / element).max(a.len().max(b.len()));
        let used = cells.min(a.len().saturating_mul(b.len())).max(1);
        Self {
            cells,
            budget: budget / used,
        }
    }

    /// The best order-preserving pairing of two lists.
    pub(super) fn pairs(
        &self,
        a: &[Value],
        b: &[Value],
        view: View,
        may_pair: impl Fn(usize, usize) -> bool,
        similarity: impl FnMut(usize, usize) -> f64,
    ) -> Pairs {
        let keys = |list: &[Value]| {
            let hashes = list.iter().map(|it| same::hash(it, view));
            hashes.collect::<Vec<_>>()
        };
        align::align(&keys(a), &keys(b), self.cells, may_pair, similarity)
    }
}
