//! Two sequences side by side: which elements of either are the same, in order.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// The most cells of a table that pairs two stretches without any guess.
const CELLS: usize = 250_000;
/// The most cells of all tables together; what is left then has no partners.
const ALL_CELLS: usize = 4_000_000;
/// How often a stretch is searched again between the elements that occur once on either side.
const ROUNDS: usize = 12;

/// The pairs of equal elements, by their indices, which ascend on both sides. Two short sequences get as many pairs as there can be; long
/// ones are first paired by what occurs once on either side, so that the work grows about as their lengths do.
pub fn aligned<T: Eq + Hash>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
    let mut names: HashMap<&T, usize> = HashMap::with_capacity(left.len());
    let mut name = |it| {
        let next = names.len();
        *names.entry(it).or_insert(next)
    };
    let left: Vec<usize> = left.iter().map(&mut name).collect();
    let right: Vec<usize> = right.iter().map(&mut name).collect();
    let mut search = Search {
        left: &left,
        right: &right,
        pairs: Vec::new(),
        cells: ALL_CELLS,
    };
    search.between(0..left.len(), 0..right.len(), ROUNDS);
    let mut pairs = search.pairs;
    pairs.sort_unstable();
    pairs
}

/// The pairs of rows and columns, both ascending, that are most alike together. What is not alike at all is in none; likenesses are not
/// negative.
pub fn likeliest(
    rows: usize,
    columns: usize,
    likeness: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    let width = columns + 1;
    let mut best = vec![0.0_f64; (rows + 1) * width];
    for (row, column) in (0..rows)
        .rev()
        .flat_map(|row| (0..columns).rev().map(move |it| (row, it)))
    {
        let likeness = likeness(row, column);
        let together = if likeness > 0.0 {
            likeness + best[(row + 1) * width + column + 1]
        } else {
            0.0
        };
        best[row * width + column] = together
            .max(best[(row + 1) * width + column])
            .max(best[row * width + column + 1]);
    }
    let mut pairs = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        let here = best[row * width + column];
        // Each value is one of the three it was chosen from, so that equality is exact.
        if here.total_cmp(&best[(row + 1) * width + column]).is_eq() {
            row += 1;
        } else if here.total_cmp(&best[row * width + column + 1]).is_eq() {
            column += 1;
        } else {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        }
    }
    pairs
}

struct Search<'s> {
    left: &'s [usize],
    right: &'s [usize],
    pairs: Vec<(usize, usize)>,
    /// How many cells may still be filled.
    cells: usize,
}

impl Search<'_> {
    fn between(&mut self, mut left: Range<usize>, mut right: Range<usize>, rounds: usize) {
        while !left.is_empty()
            && !right.is_empty()
            && self.left[left.start] == self.right[right.start]
        {
            self.pairs.push((left.start, right.start));
            (left.start, right.start) = (left.start + 1, right.start + 1);
        }
        while !left.is_empty()
            && !right.is_empty()
            && self.left[left.end - 1] == self.right[right.end - 1]
        {
            (left.end, right.end) = (left.end - 1, right.end - 1);
            self.pairs.push((left.end, right.end));
        }
        let cells = left.len().saturating_mul(right.len());
        if cells == 0 {
            return;
        }
        if cells <= CELLS {
            if cells <= self.cells {
                self.cells -= cells;
                self.exactly(left, right);
            }
            return;
        }
        if rounds == 0 {
            return;
        }
        let anchors = self.anchors(&left, &right);
        if anchors.is_empty() {
            return;
        }
        let (mut from_left, mut from_right) = (left.start, right.start);
        for (a, b) in anchors {
            self.between(from_left..a, from_right..b, rounds - 1);
            self.pairs.push((a, b));
            (from_left, from_right) = (a + 1, b + 1);
        }
        self.between(from_left..left.end, from_right..right.end, rounds - 1);
    }

    /// The longest ascending run of pairs of what occurs once on either side.
    fn anchors(&self, left: &Range<usize>, right: &Range<usize>) -> Vec<(usize, usize)> {
        // How often an element occurs on each side, and where last.
        let mut seen: HashMap<usize, [(usize, usize); 2]> = HashMap::new();
        for (side, elements, range) in [(0, self.left, left), (1, self.right, right)] {
            for at in range.clone() {
                let (count, last) = &mut seen.entry(elements[at]).or_default()[side];
                *count += 1;
                *last = at;
            }
        }
        let once = seen.values().filter(|[a, b]| a.0 == 1 && b.0 == 1);
        let mut once: Vec<(usize, usize)> = once.map(|[a, b]| (a.1, b.1)).collect();
        once.sort_unstable();
        ascending(&once)
    }

    /// As many pairs as there can be, by a table of the lengths of the longest common runs.
    fn exactly(&mut self, left: Range<usize>, right: Range<usize>) {
        let (from_left, from_right) = (left.start, right.start);
        let (left, right) = (&self.left[left], &self.right[right]);
        let width = right.len() + 1;
        // The length of the longest common run from here to the ends.
        let mut lengths = vec![0_u32; (left.len() + 1) * width];
        for (row, a) in left.iter().enumerate().rev() {
            for (column, b) in right.iter().enumerate().rev() {
                lengths[row * width + column] = if a == b {
                    lengths[(row + 1) * width + column + 1] + 1
                } else {
                    lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < left.len() && column < right.len() {
            if left[row] == right[column] {
                self.pairs.push((from_left + row, from_right + column));
                (row, column) = (row + 1, column + 1);
            } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
                row += 1;
            } else {
                column += 1;
            }
        }
    }
}

/// The longest run of pairs, sorted by their left index, whose right indices ascend, too.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best run of each length, and the pair before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (at, (_, right)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|it| pairs[*it].1 < *right);
        before[at] = length.checked_sub(1).map(|it| ends[it]);
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}
