//! Order-preserving alignment of two lists: the pairing with the highest total similarity.
//!
//! Equal ends are peeled off. What is left is solved exactly by dynamic programming, inside a band that provably holds
//! the best pairing: a good pairing found in near-linear time bounds how far from the diagonal a better one can be. So
//! few edits cost near-linear time. Where even the band would exceed the caller's budget, the good pairing is taken as
//! it is: equal elements as a longest common subsequence pairs them, and what lies between two of them paired exactly
//! where it is small; where it is not, in the same way by what the caller says is probably the same, and at last first with first.

use std::cmp::Ordering;
use std::hash::Hash;
use std::ops::Range;

use crate::values::number::{self, count};
use crate::values::same;

use super::edits;
use model::digits;
use serde_json::Value;

/// Pairs of positions, both rising.
pub(crate) type Pairs = Vec<(usize, usize)>;

/// Up to this many cells, the whole table is filled.
const SMALL: usize = 1024;

/// How many pairs of a guess are sampled to estimate whether it may be improved.
const SAMPLE: usize = 16;

/// Totals are counted in whole numbers, so that ties are exact and the result is the same everywhere.
const ONE: i64 = 1_000_000_000_000;
/// What any pair is worth above its similarity: a pair at 0 is still better than none.
const PAIRED: i64 = 1_000;
/// The most a pair can be worth.
const BEST: i64 = ONE + PAIRED;

/// Below any total, and far enough from the end of the range to add to.
const UNREACHED: i64 = i64::MIN / 4;

/// The best pairing of two lists.
///
/// `b` and `c` hold one key per element; equal keys stand for similarity 1. `may_pair` says whether two others may
/// pair at all, and `similarity` how well. Of equally good pairings, the one with most pairs and then with the smallest
/// distances wins. At most `cells` similarities are asked for, and about one byte kept for each.
pub(crate) fn align(
    b: &[u64],
    c: &[u64],
    cells: usize,
    may_pair: impl Fn(usize, usize) -> bool,
    similarity: impl FnMut(usize, usize) -> f64,
) -> Pairs {
    align_with(b, c, cells, may_pair, similarity, || {
        (Vec::new(), Vec::new())
    })
}

/// The same with a second pair of key lists: `roughly` gives keys shared by elements that are probably the same although not equal, used
/// where there are too many to compare each with each.
pub(crate) fn align_with(
    b: &[u64],
    c: &[u64],
    cells: usize,
    may_pair: impl Fn(usize, usize) -> bool,
    mut similarity: impl FnMut(usize, usize) -> f64,
    roughly: impl FnOnce() -> (Vec<u64>, Vec<u64>),
) -> Pairs {
    let shorter = b.len().min(c.len());
    let equal = |&(b, c): &(&u64, &u64)| b == c;
    let prefix = b.iter().zip(c).take_while(equal).count();
    let suffix = (b.iter().rev().zip(c.iter().rev()))
        .take(shorter - prefix)
        .take_while(equal)
        .count();
    let (b_rest, c_rest) = (prefix..b.len() - suffix, prefix..c.len() - suffix);

    let mut pairs: Pairs = (0..prefix).map(|at| (at, at)).collect();
    if b_rest.len() == 1 && c_rest.len() == 1 {
        // In the most common case, one changed element, no similarity is needed.
        pairs.extend(may_pair(prefix, prefix).then_some((prefix, prefix)));
    } else if !b_rest.is_empty() && !c_rest.is_empty() {
        let mut roughly = Some(roughly);
        let mut lists = Lists {
            b,
            c,
            may_pair: &may_pair,
            similarity: &mut similarity,
            left: cells,
            roughly: &mut || roughly.take().map(|keys| keys()).unwrap_or_default(),
        };
        let middle = Middle {
            b: b_rest,
            c: c_rest,
        };
        pairs.extend(middle.solve(&mut lists));
    }
    pairs.extend((1..=suffix).rev().map(|at| (b.len() - at, c.len() - at)));
    pairs
}

/// The number of elements two lists have in common, in order; exact up to a bound, a lower bound beyond.
pub(crate) fn common(b: &[u64], c: &[u64]) -> usize {
    edits::common(b, c).len()
}

/// A key for an element that is compared as a whole.
pub(crate) fn key(element: impl Hash) -> u64 {
    same::hash_of(element)
}

/// The two lists, and what may still be asked of them.
struct Lists<'l> {
    b: &'l [u64],
    c: &'l [u64],
    may_pair: &'l dyn Fn(usize, usize) -> bool,
    similarity: &'l mut dyn FnMut(usize, usize) -> f64,
    /// How many similarities may still be asked for.
    left: usize,
    roughly: &'l mut dyn FnMut() -> (Vec<u64>, Vec<u64>),
}

impl Lists<'_> {
    /// How well two elements pair; `None` if they may not. Once the budget of cells is used up, 0.
    fn value(&mut self, i: usize, j: usize) -> Option<f64> {
        if self.b[i] == self.c[j] {
            return Some(1.0);
        }
        if !(self.may_pair)(i, j) {
            return None;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Some((self.similarity)(i, j))
            }
            None => Some(0.0),
        }
    }

    fn are_equal(&self, (i, j): (usize, usize)) -> bool {
        self.b[i] == self.c[j]
    }
}

/// The part of the two lists that is not solved yet.
#[derive(Clone)]
struct Middle {
    b: Range<usize>,
    c: Range<usize>,
}

impl Middle {
    fn solve(&self, lists: &mut Lists<'_>) -> Pairs {
        let area = self.area();
        if area <= SMALL.min(lists.left) {
            return self.exact(self.whole_band(), lists);
        }
        // Half of the budget is kept for improving the guess.
        let for_bettering = lists.left / 2;
        lists.left -= for_bettering;
        let guess = self.guess(lists);
        lists.left += for_bettering;
        let unequal: Vec<(usize, usize)> = (guess.iter().copied())
            .filter(|&pair| !lists.are_equal(pair))
            .collect();
        if !self.may_be_affordable(&guess, &unequal, lists) {
            return guess;
        }
        let total = guess
            .iter()
            .filter_map(|&(i, j)| worth(lists.value(i, j), i.abs_diff(j)))
            .sum();
        let band = self.band_beating(total);
        if self.is_unbeatable(&guess, &unequal, band, lists) {
            guess
        } else if self.b.len().saturating_mul(band.width()) <= lists.left {
            self.exact(band, lists)
        } else {
            guess
        }
    }

    fn area(&self) -> usize {
        self.b.len().saturating_mul(self.c.len())
    }

    /// Whether the budget may be enough to look for a better pairing than the guess, estimated from a sample of its pairs.
    fn may_be_affordable(
        &self,
        guess: &Pairs,
        unequal: &[(usize, usize)],
        lists: &mut Lists<'_>,
    ) -> bool {
        if lists.left < unequal.len() {
            return false;
        }
        let sample = unequal.iter().step_by(unequal.len() / SAMPLE + 1);
        let taken = count(sample.clone().count().max(1));
        let similar: f64 = sample.filter_map(|&(i, j)| lists.value(i, j)).sum();
        let alike = count(guess.len()) - count(unequal.len()) * (1.0 - similar / taken);
        let alone = |of: usize| (count(of) - alike).max(0.0);
        let width = alone(self.b.len()) + alone(self.c.len()) + 1.0;
        count(self.b.len()) * width <= 2.0 * count(lists.left)
    }

    fn whole_band(&self) -> Band {
        Band {
            below: self.b.len(),
            above: self.c.len(),
        }
    }

    /// Every pairing with at least this total keeps inside the band.
    ///
    /// It leaves at most `n - total` baseline elements alone, so its offset from the diagonal never falls below that
    /// and, as it ends at `m - n`, never rises above it by more.
    fn band_beating(&self, total: i64) -> Band {
        let (n, m) = (self.b.len(), self.c.len());
        let needed = usize::try_from(total.max(0)).unwrap_or(usize::MAX);
        let pairs = needed.div_ceil(usize::try_from(BEST).unwrap_or(usize::MAX));
        Band {
            below: n.saturating_sub(pairs),
            above: m.saturating_sub(pairs),
        }
    }

    /// Whether no pairing can have a higher total similarity: every element of the one side, or of the other, already
    /// has the best partner it could have inside the band. Only looked into where few elements are not simply equal.
    fn is_unbeatable(
        &self,
        guess: &Pairs,
        unequal: &[(usize, usize)],
        band: Band,
        lists: &mut Lists<'_>,
    ) -> bool {
        let (n, m) = (self.b.len(), self.c.len());
        if 4 * unequal.len() > n.min(m) || unequal.len().saturating_mul(band.width()) > lists.left {
            return false;
        }
        let offset = |it: usize, from: usize, len: usize, low: usize, high: usize| {
            let it = it - from;
            from + it.saturating_sub(low).min(len)..from + (it + high + 1).min(len)
        };
        // A pairing with unpaired elements on both sides can always be improved, so one side must have none.
        let best_for_b = guess.len() == n
            && unequal.iter().all(|&(i, j)| {
                let near = i - self.b.start + self.c.start;
                let mut columns = offset(near, self.c.start, m, band.below, band.above);
                let it = lists.value(i, j);
                columns.all(|j| !is_better(lists.value(i, j), it))
            });
        best_for_b
            || (guess.len() == m
                && unequal.iter().all(|&(i, j)| {
                    let near = j - self.c.start + self.b.start;
                    let mut rows = offset(near, self.b.start, n, band.above, band.below);
                    let it = lists.value(i, j);
                    rows.all(|i| !is_better(lists.value(i, j), it))
                }))
    }

    /// A good pairing in near-linear time.
    fn guess(&self, lists: &mut Lists<'_>) -> Pairs {
        let mut pairs = Pairs::new();
        let mut too_large = Vec::new();
        for gap in self.between(lists.b, lists.c, lists, &mut pairs) {
            if gap.is_small(lists) {
                pairs.extend(gap.best(lists));
            } else {
                too_large.push(gap);
            }
        }
        if !too_large.is_empty() {
            let (b, c) = (lists.roughly)();
            for gap in too_large {
                if b.is_empty() || c.is_empty() {
                    pairs.extend(gap.first_with_first(lists));
                    continue;
                }
                for gap in gap.between(&b, &c, lists, &mut pairs) {
                    pairs.extend(gap.best(lists));
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// Pairs the elements that share a key and may pair, and returns the parts between them.
    fn between(&self, b: &[u64], c: &[u64], lists: &Lists<'_>, pairs: &mut Pairs) -> Vec<Self> {
        let mut anchors = edits::common(&b[self.b.clone()], &c[self.c.clone()]);
        anchors.push((self.b.len(), self.c.len()));
        let mut gaps = Vec::new();
        let (mut i, mut j) = (self.b.start, self.c.start);
        for (anchor_b, anchor_c) in anchors {
            let anchor = (self.b.start + anchor_b, self.c.start + anchor_c);
            let is_end = anchor == (self.b.end, self.c.end);
            if !is_end && !lists.are_equal(anchor) && !(lists.may_pair)(anchor.0, anchor.1) {
                continue;
            }
            if i < anchor.0 && j < anchor.1 {
                gaps.push(Self {
                    b: i..anchor.0,
                    c: j..anchor.1,
                });
            }
            if !is_end {
                pairs.push(anchor);
            }
            (i, j) = (anchor.0 + 1, anchor.1 + 1);
        }
        gaps
    }

    /// Whether it may be solved by comparing each with each.
    fn is_small(&self, lists: &Lists<'_>) -> bool {
        // A single pair needs no comparison.
        self.area() == 1 || self.area() <= SMALL.min(lists.left)
    }

    fn best(&self, lists: &mut Lists<'_>) -> Pairs {
        if self.area() > 1 && self.is_small(lists) {
            self.exact(self.whole_band(), lists)
        } else {
            self.first_with_first(lists)
        }
    }

    fn first_with_first(&self, lists: &Lists<'_>) -> Pairs {
        (self.b.clone().zip(self.c.clone()))
            .filter(|&(i, j)| lists.are_equal((i, j)) || (lists.may_pair)(i, j))
            .collect()
    }

    /// The best pairing inside a band, by dynamic programming over rows of baseline elements.
    fn exact(&self, band: Band, lists: &mut Lists<'_>) -> Pairs {
        let (n, m) = (self.b.len(), self.c.len());
        let width = band.width();
        let columns = |row: usize| row.saturating_sub(band.below)..=m.min(row + band.above);
        // A cell's place in its row: the column less the row, shifted so that it is never negative.
        let place = |row: usize, column: usize| column + band.below - row;

        let mut moves = vec![Move::SkipCurrent; (n + 1) * width];
        let mut above = vec![0i64; width];
        let mut here = vec![0i64; width];
        for row in 1..=n {
            let range = columns(row);
            let (first, above_range) = (*range.start(), columns(row - 1));
            for column in range {
                let mut best = UNREACHED;
                let mut step = Move::SkipCurrent;
                if column > 0
                    && above_range.contains(&(column - 1))
                    && let (i, j) = (self.b.start + row - 1, self.c.start + column - 1)
                    && let Some(worth) = worth(lists.value(i, j), i.abs_diff(j))
                {
                    best = above[place(row - 1, column - 1)] + worth;
                    step = Move::Pair;
                }
                if above_range.contains(&column) && above[place(row - 1, column)] > best {
                    best = above[place(row - 1, column)];
                    step = Move::SkipBaseline;
                }
                if column > first && here[place(row, column - 1)] > best {
                    best = here[place(row, column - 1)];
                    step = Move::SkipCurrent;
                }
                here[place(row, column)] = best;
                moves[row * width + place(row, column)] = step;
            }
            std::mem::swap(&mut above, &mut here);
        }

        let mut pairs = Pairs::new();
        let (mut row, mut column) = (n, m);
        while row > 0 && column > 0 {
            match moves[row * width + place(row, column)] {
                Move::Pair => {
                    row -= 1;
                    column -= 1;
                    pairs.push((self.b.start + row, self.c.start + column));
                }
                Move::SkipBaseline => row -= 1,
                Move::SkipCurrent => column -= 1,
            }
        }
        pairs.reverse();
        pairs
    }
}

/// Cells whose column is at most `below` less and `above` more than their row.
#[derive(Debug, Clone, Copy)]
struct Band {
    below: usize,
    above: usize,
}

impl Band {
    fn width(self) -> usize {
        self.below + self.above + 1
    }
}

#[derive(Debug, Clone, Copy)]
enum Move {
    Pair,
    SkipBaseline,
    SkipCurrent,
}

/// Whether one similarity is higher than another; any is, where two may not pair.
fn is_better(one: Option<f64>, other: Option<f64>) -> bool {
    one > other
}

/// What a pair adds to the total: its similarity, a little for being a pair, and less of that the further apart.
fn worth(similarity: Option<f64>, distance: usize) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a similarity is 0 to 1, so the product is far from the ends of the range"
    )]
    let similarity = (similarity? * ONE as f64) as i64;
    let distance = i64::try_from(distance).unwrap_or(PAIRED).min(PAIRED - 1);
    Some(similarity + PAIRED - distance)
}

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

/// What a budget for comparing two lists is used for: half of it to find out which elements belong together, half to compare those.
pub(crate) struct Plan {
    /// How many pairs of elements may be tried, and the budget for each.
    pub(crate) cells: usize,
    pub(crate) for_each: usize,
    /// What is left for the pairs that were found.
    pub(crate) left: usize,
}

impl Plan {
    /// `a` and `b` are the weight and the length of the two lists.
    pub(crate) fn new(budget: usize, a: (usize, usize), b: (usize, usize)) -> Self {
        let mean = |(weight, length): (usize, usize)| weight / length.max(1);
        let trying = budget / 2;
        let cells = trying / (mean(a) + mean(b)).max(1);
        let tried = cells.min(a.1.saturating_mul(b.1)).max(1);
        Self {
            cells,
            for_each: trying / tried,
            left: budget - trying,
        }
    }
}
