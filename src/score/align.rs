//! Order-preserving alignment of two lists: the pairing with the highest total similarity.
//!
//! Equal ends are peeled off. What is left is solved exactly by dynamic programming, inside a band that provably holds
//! the best pairing: a good pairing found in near-linear time bounds how far from the diagonal a better one can be. So
//! few edits cost near-linear time. Where even the band would exceed the caller's budget, the good pairing is taken as
//! it is: equal elements as a longest common subsequence pairs them, and what lies between two of them paired exactly
//! where it is small and first with first where it is not.

use std::hash::Hash;

use super::edits;
use super::same;

/// Pairs of positions, both rising.
pub(super) type Pairs = Vec<(usize, usize)>;

/// Up to this many cells the table is simply filled.
const SMALL: usize = 1024;

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
/// `b` and `c` hold one key per element; equal keys stand for similarity 1. `may_pair` tells whether two others may
/// pair at all, and `similarity` how well. Of equally good pairings, the one with most pairs and then with the smallest
/// distances wins. About `cells` similarities are computed at most, and one byte kept for each.
pub(super) fn align(
    b: &[u64],
    c: &[u64],
    cells: usize,
    may_pair: impl Fn(usize, usize) -> bool,
    mut similarity: impl FnMut(usize, usize) -> f64,
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
        // The commonest case, one element changed, needs no similarity to be decided.
        pairs.extend(may_pair(prefix, prefix).then_some((prefix, prefix)));
    } else {
        let mut value = |i: usize, j: usize| {
            if b[i] == c[j] {
                Some(1.0)
            } else {
                may_pair(i, j).then(|| similarity(i, j))
            }
        };
        let middle = Middle {
            b: b_rest,
            c: c_rest,
        };
        middle.solve(b, c, cells, &mut value, &mut pairs);
    }
    pairs.extend((1..=suffix).rev().map(|at| (b.len() - at, c.len() - at)));
    pairs
}

/// The number of elements two lists have in common, in order; exact up to a bound, a lower bound beyond.
pub(super) fn common(b: &[u64], c: &[u64]) -> usize {
    edits::common(b, c).len()
}

/// A key for an element that is compared as a whole.
pub(super) fn key(element: impl Hash) -> u64 {
    same::hash_of(element)
}

/// The part of the two lists that is not solved yet.
struct Middle {
    b: std::ops::Range<usize>,
    c: std::ops::Range<usize>,
}

impl Middle {
    fn solve(
        &self,
        b: &[u64],
        c: &[u64],
        cells: usize,
        value: &mut dyn FnMut(usize, usize) -> Option<f64>,
        pairs: &mut Pairs,
    ) {
        let (n, m) = (self.b.len(), self.c.len());
        if n == 0 || m == 0 {
            return;
        }
        let area = n.saturating_mul(m);
        if area <= SMALL.min(cells) {
            pairs.extend(self.exact(self.whole_band(), value));
            return;
        }
        let (guess, total) = self.guess(b, c, cells, value);
        let band = self.band_beating(total);
        if self.is_unbeatable(&guess, b, c, band, value) {
            pairs.extend(guess);
        } else if n.saturating_mul(band.width()) <= cells {
            pairs.extend(self.exact(band, value));
        } else {
            pairs.extend(guess);
        }
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
        b: &[u64],
        c: &[u64],
        band: Band,
        value: &mut dyn FnMut(usize, usize) -> Option<f64>,
    ) -> bool {
        let unequal: Vec<(usize, usize)> = (guess.iter().copied())
            .filter(|&(i, j)| b[i] != c[j])
            .collect();
        let (n, m) = (self.b.len(), self.c.len());
        if 4 * unequal.len() > n.min(m) {
            return false;
        }
        let offset = |it: usize, from: usize, len: usize, low: usize, high: usize| {
            let it = it - from;
            from + it.saturating_sub(low).min(len)..from + (it + high + 1).min(len)
        };
        // Elements left alone could only be bettered, so one side must have none.
        let best_for_b = guess.len() == n
            && unequal.iter().all(|&(i, j)| {
                let near = i - self.b.start + self.c.start;
                let columns = offset(near, self.c.start, m, band.below, band.above);
                is_best(value(i, j), columns.filter_map(|j| value(i, j)))
            });
        best_for_b
            || (guess.len() == m
                && unequal.iter().all(|&(i, j)| {
                    let near = j - self.c.start + self.b.start;
                    let rows = offset(near, self.b.start, n, band.above, band.below);
                    is_best(value(i, j), rows.filter_map(|i| value(i, j)))
                }))
    }

    /// A good pairing in near-linear time, and its total.
    fn guess(
        &self,
        b: &[u64],
        c: &[u64],
        cells: usize,
        value: &mut dyn FnMut(usize, usize) -> Option<f64>,
    ) -> (Pairs, i64) {
        let mut anchors = edits::common(&b[self.b.clone()], &c[self.c.clone()]);
        anchors.push((self.b.len(), self.c.len()));
        let mut pairs = Pairs::new();
        let mut total = 0;
        let (mut i, mut j) = (self.b.start, self.c.start);
        for (anchor_b, anchor_c) in anchors {
            let (anchor_b, anchor_c) = (self.b.start + anchor_b, self.c.start + anchor_c);
            let gap = Self {
                b: i..anchor_b,
                c: j..anchor_c,
            };
            let area = gap.b.len().saturating_mul(gap.c.len());
            // One with one needs no table.
            let found = if area > 1 && area <= SMALL.min(cells) {
                gap.exact(gap.whole_band(), value)
            } else {
                gap.first_with_first(value)
            };
            for &(i, j) in &found {
                total += worth(value(i, j), i.abs_diff(j)).unwrap_or(0);
            }
            pairs.extend(found);
            if anchor_b < self.b.end && anchor_c < self.c.end {
                total += worth(Some(1.0), anchor_b.abs_diff(anchor_c)).unwrap_or(0);
                pairs.push((anchor_b, anchor_c));
            }
            (i, j) = (anchor_b + 1, anchor_c + 1);
        }
        (pairs, total)
    }

    fn first_with_first(&self, value: &mut dyn FnMut(usize, usize) -> Option<f64>) -> Pairs {
        (self.b.clone().zip(self.c.clone()))
            .filter(|&(i, j)| value(i, j).is_some())
            .collect()
    }

    /// The best pairing inside a band, by dynamic programming over rows of baseline elements.
    fn exact(&self, band: Band, value: &mut dyn FnMut(usize, usize) -> Option<f64>) -> Pairs {
        let (n, m) = (self.b.len(), self.c.len());
        if n == 0 || m == 0 {
            return Pairs::new();
        }
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
                    && let Some(worth) = worth(value(i, j), i.abs_diff(j))
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

fn is_best(similarity: Option<f64>, mut others: impl Iterator<Item = f64>) -> bool {
    similarity.is_some_and(|it| others.all(|other| other <= it))
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
