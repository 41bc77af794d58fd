//! Similarity of two values in a request.

use serde_json::Value;

use crate::lists::align;
use crate::lists::align::Plan;
use crate::text::words;
use crate::values::coarse;
use crate::values::embedded::Documents;
use crate::values::memo::{self, Memo};
use crate::values::number::{self, count, share};
use crate::values::same::{self, View};
use crate::work::{self, Work};
use model::Object;
use model::digits;

/// The similarity of a value and a text that spells it, such as `1` and `"1"`.
const AS_TEXT: f64 = 0.9;

/// How much work it may be to find out which elements of two values belong together, in addition to comparing the values.
const FOR_PAIRING: usize = 1 << 10;

/// What a similarity is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// For finding out which of many calls belong together.
    Pairing,
    Score,
}

/// Similarity of two values, 0 to 1, and the name of the rule that decided.
pub(crate) fn similarity(
    a: &Value,
    b: &Value,
    purpose: Purpose,
    work: &Work<'_>,
) -> (f64, &'static str) {
    let documents = Documents::default();
    let memo = Memo::new(View::Plain, work, &documents);
    let weight = memo.weight(a) + memo.weight(b);
    let since = work.spent();
    let effort = Effort {
        budget: match purpose {
            Purpose::Score => work.allowance(weight),
            Purpose::Pairing => work.allowance(weight).min(weight + FOR_PAIRING),
        },
        depth: same::DEPTH,
        tries: false,
    };
    let graded = Grader { memo: &memo }.values(a, b, effort);
    work.settle(since, weight);
    graded
}

/// Compares two values and what is in them, within a budget of work.
#[derive(Clone, Copy)]
struct Grader<'m> {
    memo: &'m Memo<'m>,
}

/// How two values are compared.
#[derive(Clone, Copy)]
struct Effort {
    budget: usize,
    depth: usize,
    /// One of many comparisons that only decide which values are compared in the end, so it may be rough where it would be too much work.
    tries: bool,
}

impl Grader<'_> {
    fn values(self, a: &Value, b: &Value, effort: Effort) -> (f64, &'static str) {
        if !self.memo.work().spend(1) {
            return (0.0, "cancelled");
        }
        match (a, b) {
            (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => {
                self.branches(a, b, effort)
            }
            (Value::String(text_a), Value::String(text_b))
                if digits::of(a).or(digits::of(b)).is_none() =>
            {
                self.texts(text_a, text_b, effort)
            }
            _ => leaves(a, b),
        }
    }

    fn branches(self, a: &Value, b: &Value, effort: Effort) -> (f64, &'static str) {
        let rule = if a.is_object() { "object" } else { "list" };
        if self.memo.hash(a) == self.memo.hash(b) {
            return (1.0, "equal");
        }
        // Values this deep are only equal or different, not graded.
        let Some(depth) = effort.depth.checked_sub(1) else {
            return (0.0, "depth");
        };
        let pair = (memo::address(a), memo::address(b));
        if let Some(known) = self.memo.alike(pair.0, pair.1) {
            return (known, rule);
        }
        if effort.tries && effort.budget < self.memo.weight(a) + self.memo.weight(b) {
            return (coarse::values(a, b), rule);
        }
        let effort = Effort { depth, ..effort };
        let similarity = match (a, b) {
            (Value::Object(a), Value::Object(b)) => self.objects(a, b, effort),
            (Value::Array(a), Value::Array(b)) => self.lists(a, b, effort),
            _ => 0.0,
        };
        if !effort.tries {
            self.memo.keep_alike(pair.0, pair.1, similarity);
        }
        (similarity, rule)
    }

    fn texts(self, a: &str, b: &str, effort: Effort) -> (f64, &'static str) {
        if a == b {
            return (1.0, "equal");
        }
        let cost = work::of_text(a) + work::of_text(b);
        self.memo.work().spend(cost);
        if let Some(depth) = effort.depth.checked_sub(1)
            && let Some(a) = self.memo.document(a)
            && let Some(b) = self.memo.document(b)
        {
            let effort = Effort { depth, ..effort };
            return (self.values(&a, &b, effort).0, "embedded json");
        }
        if effort.tries && effort.budget < cost {
            return (coarse::texts(a, b), "words");
        }
        (words::similarity(a, b), "words")
    }

    /// `0.3 × |common keys| / |all keys| + 0.7 × mean over the common keys`; without a common key 0.
    fn objects(self, a: &Object, b: &Object, effort: Effort) -> f64 {
        let common: Vec<(&Value, &Value, usize)> = (a.iter())
            .filter_map(|(key, a)| Some((a, b.get(key)?)))
            .map(|(a, b)| (a, b, self.memo.weight(a) + self.memo.weight(b)))
            .collect();
        let weight: usize = common.iter().map(|it| it.2).sum();
        let mut total = Total::default();
        for (a, b, of) in &common {
            let budget = part(effort.budget, *of, weight);
            total.add(self.values(a, b, Effort { budget, ..effort }).0);
        }
        let all = a.len() + b.len() - common.len();
        total.bounded(combine(total.sum, common.len(), all))
    }

    fn lists(self, a: &[Value], b: &[Value], effort: Effort) -> f64 {
        let of = |list: &[Value]| list.iter().map(|it| self.memo.weight(it)).sum::<usize>();
        let keys = |list: &[Value]| list.iter().map(|it| self.memo.hash(it)).collect::<Vec<_>>();
        let (a_weight, b_weight, a_keys, b_keys) = (of(a), of(b), keys(a), keys(b));
        let plan = Plan::new(effort.budget, (a_weight, a.len()), (b_weight, b.len()));
        let trying = Effort {
            budget: plan.for_each,
            tries: true,
            ..effort
        };
        let pairs = align::align_with(
            &a_keys,
            &b_keys,
            plan.cells,
            |_, _| true,
            |i, j| self.values(&a[i], &b[j], trying).0,
            || coarse::keys(a, b),
        );
        let mut total = Total::default();
        for (i, j) in pairs {
            if a_keys[i] == b_keys[j] {
                total.add(1.0);
                continue;
            }
            let of = self.memo.weight(&a[i]) + self.memo.weight(&b[j]);
            let budget = part(plan.left, of, a_weight + b_weight);
            total.add(self.values(&a[i], &b[j], Effort { budget, ..effort }).0);
        }
        total.bounded(share(total.sum, a.len().max(b.len())))
    }
}

/// Two values of which at most one has others in it.
fn leaves(a: &Value, b: &Value) -> (f64, &'static str) {
    if same::same(a, b) {
        return (1.0, "equal");
    }
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => (0.0, "null"),
        _ if number::is_number(a) && number::is_number(b) => {
            (number::distance_of(a, b, None), "distance")
        }
        (Value::String(text), number) | (number, Value::String(text))
            if number::is_number(number) =>
        {
            match number::of_text(text) {
                Some(it) => (
                    AS_TEXT * number::distance_of(number, &it, None),
                    "number as text",
                ),
                None => (0.0, "type"),
            }
        }
        (Value::Bool(bool), Value::String(text)) | (Value::String(text), Value::Bool(bool)) => {
            match text.parse::<bool>() {
                Ok(it) if it == *bool => (AS_TEXT, "bool as text"),
                Ok(_) => (0.0, "bool as text"),
                Err(_) => (0.0, "type"),
            }
        }
        (Value::Bool(_), Value::Bool(_)) => (0.0, "bool"),
        _ => (0.0, "type"),
    }
}

/// A sum of similarities that keeps in mind whether anything differed, which rounding could hide.
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

    /// A similarity made of the sum, kept below 1 where anything differed.
    fn bounded(&self, similarity: f64) -> f64 {
        if self.differs {
            similarity.min(number::ALMOST)
        } else {
            similarity
        }
    }
}

/// The formula for arguments: the sum of the similarities over the common keys, their number, and that of all keys.
pub(crate) fn combine(sum: f64, common: usize, all: usize) -> f64 {
    match (all, common) {
        (0, _) => 1.0,
        (_, 0) => 0.0,
        _ => (0.3 * share(count(common), all) + 0.7 * share(sum, common)).min(1.0),
    }
}

/// The part of a budget that falls to so many of all.
fn part(budget: usize, of: usize, all: usize) -> usize {
    budget.saturating_mul(of) / all.max(1)
}
