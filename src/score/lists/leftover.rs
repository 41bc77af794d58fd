//! The elements of two aligned lists that have no partner.

use std::cmp::Ordering;

use serde_json::Value;

use crate::values::number::{self, count};
use model::digits;

use super::align::Pairs;

/// The positions of either list that no pair holds.
pub(crate) fn unpaired(pairs: &Pairs, n: usize, m: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut b_alone, mut c_alone) = (Vec::new(), Vec::new());
    let (mut next_b, mut next_c) = (0, 0);
    for &(i, j) in pairs.iter().chain([&(n, m)]) {
        b_alone.extend(next_b..i);
        c_alone.extend(next_c..j);
        (next_b, next_c) = (i + 1, j + 1);
    }
    (b_alone, c_alone)
}

/// Also pairs elements without a partner that stand in the same place and have the same value as another type, such as `1` and `"1"`.
/// That is a change of type, and not one element removed and one added.
pub(crate) fn with_retyped(mut pairs: Pairs, b: &[Value], c: &[Value]) -> Pairs {
    let (b_alone, c_alone) = unpaired(&pairs, b.len(), c.len());
    // An element's place is the number of pairs before it, and its number among those alone there.
    let places = |alone: &[usize]| -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> = Vec::with_capacity(alone.len());
        for (before, at) in alone.iter().enumerate() {
            let gap = at - before;
            let number = match places.last() {
                Some((last_gap, number)) if *last_gap == gap => number + 1,
                _ => 0,
            };
            places.push((gap, number));
        }
        places
    };
    let (b_places, c_places) = (places(&b_alone), places(&c_alone));
    let (mut i, mut j) = (0, 0);
    let mut found = Pairs::new();
    while i < b_alone.len() && j < c_alone.len() {
        match b_places[i].cmp(&c_places[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                if says_the_same(&b[b_alone[i]], &c[c_alone[j]]) {
                    found.push((b_alone[i], c_alone[j]));
                }
                i += 1;
                j += 1;
            }
        }
    }
    if !found.is_empty() {
        pairs.extend(found);
        pairs.sort_unstable();
    }
    pairs
}

/// Whether a text spells a number or a truth value on the other side.
fn says_the_same(b: &Value, c: &Value) -> bool {
    match (b, c) {
        (Value::String(text), other) | (other, Value::String(text))
            if other.is_boolean() || number::is_number(other) =>
        {
            digits::parse(text).is_ok_and(|it| it == *other)
        }
        _ => false,
    }
}

/// What each part of two aligned lists counts for: a missing and an added element may share one place of the longer.
pub(crate) struct Counted {
    pub(crate) places: usize,
    /// The weight of a pair, and of an element without a partner.
    pub(crate) pair: f64,
    pub(crate) alone: f64,
}

impl Counted {
    pub(crate) fn new(pairs: usize, b_alone: usize, c_alone: usize) -> Self {
        let places = pairs + b_alone.max(c_alone);
        let left = count(b_alone.max(c_alone)) / count((b_alone + c_alone).max(1));
        Self {
            places,
            pair: 1.0 / count(places.max(1)),
            alone: left / count(places.max(1)),
        }
    }
}
