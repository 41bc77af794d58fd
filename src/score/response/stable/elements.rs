//! Pairing the elements of two lists in a recorded answer and a new one.

use std::ops::Range;

use serde_json::Value;

use crate::lists::{align, edits};
use crate::response::finding::Tree;
use crate::values::kind::kind;
use crate::values::number;
use crate::values::path::Step;
use model::{Object, Piece};

use super::hashes::Hashes;
use super::spot::{At, Spot};

/// The most pairs of elements up to which those between two equal elements are paired by likeness; beyond, they are paired in order.
pub(super) const CELLS: usize = 1 << 12;

/// The elements of a list, or the members of an object whose keys are others each time, with the steps that lead to them.
pub(super) struct Elements<'a> {
    pub(super) values: Vec<&'a Value>,
    pub(super) steps: Vec<Step<'a>>,
    /// What is missing without one of them.
    pub(super) piece: Piece,
}

impl<'a> Elements<'a> {
    pub(super) fn of_list(list: &'a [Value]) -> Self {
        Self {
            values: list.iter().collect(),
            steps: (0..list.len()).map(Step::Index).collect(),
            piece: Piece::Element,
        }
    }

    /// The members of an object whose keys another one does not have.
    pub(super) fn not_in(other: &Object, object: &'a Object) -> Self {
        let own = object.iter().filter(|it| !other.contains_key(it.0));
        let (steps, values) = own.map(|(key, it)| (Step::Key(key), it)).unzip();
        Self {
            values,
            steps,
            piece: Piece::Member,
        }
    }

    /// What is known to vary in one of them.
    pub(super) fn under(&self, at: &At<'a>, element: usize) -> At<'a> {
        match self.piece {
            Piece::Element => Tree::under_index(at, element),
            _ => Tree::under(at, "*"),
        }
    }

    /// The same of any of them.
    pub(super) fn under_any(&self, at: &At<'a>) -> At<'a> {
        match self.piece {
            Piece::Element => Tree::under_any_of(at, self.values.len()),
            _ => Tree::under(at, "*"),
        }
    }
}

/// Elements that belong together.
#[derive(Debug)]
pub(super) struct Paired {
    /// In order, both places rising.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Equal for elements that are the same but for what may vary, of either list.
    pub(super) b_keys: Vec<u64>,
    pub(super) c_keys: Vec<u64>,
    /// Equal for elements that are the same.
    b_exact: Vec<u64>,
    c_exact: Vec<u64>,
}

impl Paired {
    pub(super) fn are_same(&self, i: usize, j: usize) -> bool {
        self.b_exact[i] == self.c_exact[j]
    }
}

/// Elements that are the same but for what may vary, in their order; between them, those most alike.
pub(super) fn in_order<'a>(
    hashes: &mut Hashes,
    spot: &mut Spot<'a>,
    (b, c): (&'a [Value], &'a [Value]),
    at: &At<'a>,
    key: &str,
) -> Paired {
    // If the current list only has additions, exact equality pairs elements that otherwise differ only in times.
    let mut exact = |list: &[Value]| list.iter().map(|it| hashes.exact(it)).collect::<Vec<_>>();
    let (b_exact, c_exact) = (exact(b), exact(c));
    if let Some(pairs) = subsequence(&b_exact, &c_exact) {
        return Paired {
            pairs,
            b_keys: b_exact.clone(),
            c_keys: c_exact.clone(),
            b_exact,
            c_exact,
        };
    }
    let under = Tree::under_any_of(at, b.len());
    let mut keys = |list: &'a [Value]| -> Vec<u64> {
        spot.at_an_element(|spot| {
            let keys = list.iter().map(|it| hashes.varying(spot, it, &under, key));
            keys.collect()
        })
    };
    let (b_keys, c_keys) = (keys(b), keys(c));
    let same_ones =
        subsequence(&b_keys, &c_keys).unwrap_or_else(|| edits::common(&b_keys, &c_keys));
    let mut pairs = Vec::with_capacity(b.len());
    let (mut i, mut j) = (0, 0);
    for (to_i, to_j) in same_ones.into_iter().chain([(b.len(), c.len())]) {
        gap(hashes, spot, (b, i..to_i), (c, j..to_j), &mut pairs);
        if to_i < b.len() && to_j < c.len() {
            pairs.push((to_i, to_j));
        }
        (i, j) = (to_i + 1, to_j + 1);
    }
    Paired {
        pairs,
        b_keys,
        c_keys,
        b_exact,
        c_exact,
    }
}

/// Pairs the elements between two that are the same: in their order where there are as many, else those most alike.
fn gap<'a>(
    hashes: &mut Hashes,
    spot: &mut Spot<'a>,
    (b, of_b): (&'a [Value], Range<usize>),
    (c, of_c): (&'a [Value], Range<usize>),
    pairs: &mut Vec<(usize, usize)>,
) {
    let in_order = of_b.clone().zip(of_c.clone());
    let cells = of_b.len().saturating_mul(of_c.len());
    if of_b.len() == of_c.len() || cells > CELLS {
        pairs.extend(in_order.filter(|(i, j)| kind(&b[*i]) == kind(&c[*j])));
        return;
    }
    if cells == 0 {
        return;
    }
    let mut prints = |list: &'a [Value], of: &Range<usize>| -> Vec<Vec<u64>> {
        of.clone().map(|it| hashes.print(spot, &list[it])).collect()
    };
    let (b_prints, c_prints) = (prints(b, &of_b), prints(c, &of_c));
    let numbers = |from: u64, count: usize| (from..).take(count).collect::<Vec<u64>>();
    let found = align::align(
        // The keys are all different, because equal elements are paired already.
        &numbers(0, of_b.len()),
        &numbers(1 << 32, of_c.len()),
        CELLS,
        |i, j| kind(&b[of_b.start + i]) == kind(&c[of_c.start + j]),
        |i, j| alike(&b_prints[i], &c_prints[j]),
    );
    let found = found.into_iter();
    pairs.extend(found.map(|(i, j)| (of_b.start + i, of_c.start + j)));
}

/// The elements of one list in another, in their order, where all are there.
fn subsequence(b: &[u64], c: &[u64]) -> Option<Vec<(usize, usize)>> {
    let mut pairs = Vec::with_capacity(b.len());
    let mut from = 0;
    for (i, key) in b.iter().enumerate() {
        let j = from + c[from..].iter().position(|it| it == key)?;
        pairs.push((i, j));
        from = j + 1;
    }
    Some(pairs)
}

/// How much two sorted lists of hashes have in common, 0 to 1.
fn alike(a: &[u64], b: &[u64]) -> f64 {
    let mut of_b = b.iter().peekable();
    let is_common = |it: &&u64| {
        while of_b.next_if(|other| other < it).is_some() {}
        of_b.peek() == Some(it)
    };
    let common = a.iter().filter(is_common).count();
    number::share(number::count(common), a.len().max(b.len()))
}
