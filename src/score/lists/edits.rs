//! The elements two lists have in common, in order, by Myers' greedy search for the fewest insertions and deletions
//! ("An O(ND) difference algorithm and its variations", 1986).

/// The search is cut after so many edits: the furthest point it reached is kept, and it starts anew from there. Up
/// to here the result is a longest common subsequence; beyond, a common subsequence found in linear time.
const EDITS: usize = 256;
/// The same for short lists, and the number of steps per element that decides in between.
const FEWEST_EDITS: usize = 32;
const STEPS: usize = 8;
/// After so many searches were cut, the lists differ so much that shorter searches find as much: this many long ones, then this many of
/// fewer edits.
const LONG_SEARCHES: usize = 2;
const FEWER_EDITS: usize = 64;
const SHORTER_SEARCHES: usize = 16;
const FEW_EDITS: usize = 8;

/// Marks an edit path that left the table.
const OUTSIDE: usize = usize::MAX;

/// Pairs of positions of equal elements, both rising.
pub(crate) fn common(b: &[u64], c: &[u64]) -> Vec<(usize, usize)> {
    // Elements that only one list has can be in no pair, so they are left out of the search.
    let (b_known, c_known) = (Sieve::of(b), Sieve::of(c));
    let (b_places, b) = c_known.sift(b);
    let (c_places, c) = b_known.sift(c);
    let most = (2 * STEPS * (b.len() + c.len())).isqrt();
    let most = most.clamp(FEWEST_EDITS, EDITS);
    let mut pairs = Vec::new();
    let (mut b_from, mut c_from, mut searches) = (0, 0, 0);
    while b_from < b.len() && c_from < c.len() {
        searches += 1;
        let most = if searches <= LONG_SEARCHES {
            most
        } else if searches <= SHORTER_SEARCHES {
            most.min(FEWER_EDITS)
        } else {
            FEW_EDITS
        };
        let leg = Leg::search(&b[b_from..], &c[c_from..], most);
        let found = leg.pairs.iter().rev();
        pairs.extend(found.map(|(i, j)| (b_places[b_from + i], c_places[c_from + j])));
        b_from += leg.reached.0;
        c_from += leg.reached.1;
    }
    pairs
}

/// A Bloom filter of a list's keys: a key that it lacks is not in the list, and a key that it has nearly always is.
struct Sieve(Vec<u64>);

impl Sieve {
    /// Bits for each key, or up to twice as many.
    const BITS: usize = 16;

    fn of(keys: &[u64]) -> Self {
        let words = (keys.len() * Self::BITS).div_ceil(64).next_power_of_two();
        let mut sieve = Self(vec![0; words]);
        for key in keys {
            let (word, bit) = sieve.place(*key);
            sieve.0[word] |= bit;
        }
        sieve
    }

    /// The elements that the filter has, with their positions.
    fn sift(&self, keys: &[u64]) -> (Vec<usize>, Vec<u64>) {
        let stays = |key: u64| {
            let (word, bit) = self.place(key);
            self.0[word] & bit != 0
        };
        let keys = keys.iter().copied().enumerate();
        keys.filter(|(_, key)| stays(*key)).unzip()
    }

    /// The word and the bit of a key.
    fn place(&self, key: u64) -> (usize, u64) {
        let words = self.0.len() as u64;
        let word = usize::try_from((key >> 6) & (words - 1)).unwrap_or(0);
        (word, 1 << (key & 63))
    }
}

/// One search, up to the end of both lists or to the limit of edits.
struct Leg {
    /// Last pair first.
    pairs: Vec<(usize, usize)>,
    reached: (usize, usize),
}

impl Leg {
    fn search(b: &[u64], c: &[u64], most: usize) -> Self {
        // For each number of edits, how far into `b` the best path on each diagonal came. Diagonals are numbered from
        // 0 for all insertions to `edits` for all deletions.
        let mut rounds: Vec<Vec<usize>> = Vec::new();
        for edits in 0..=most {
            let mut round = Vec::with_capacity(edits + 1);
            let mut complete = None;
            for diagonal in 0..=edits {
                let start = match rounds.last() {
                    None => 0,
                    Some(last) => entry(last, diagonal, edits, b.len(), c.len()).0,
                };
                let row = slide(b, c, start, diagonal, edits);
                if row == b.len() && column(row, diagonal, edits) == Some(c.len()) {
                    complete = complete.or(Some(diagonal));
                }
                round.push(row);
            }
            rounds.push(round);
            if let Some(diagonal) = complete {
                return Self::trace(&rounds, diagonal, b.len(), c.len());
            }
        }
        let last = &rounds[most];
        let furthest = (0..=most)
            .filter(|&diagonal| last[diagonal] != OUTSIDE)
            .max_by_key(|&diagonal| {
                last[diagonal] + column(last[diagonal], diagonal, most).unwrap_or(0)
            })
            .unwrap_or(0);
        Self::trace(&rounds, furthest, b.len(), c.len())
    }

    /// Walks back along the path that ends on a diagonal of the last round.
    fn trace(rounds: &[Vec<usize>], mut diagonal: usize, n: usize, m: usize) -> Self {
        let last = rounds.len() - 1;
        let row = rounds[last][diagonal];
        let reached = (row, column(row, diagonal, last).unwrap_or(0));
        let mut pairs = Vec::new();
        for edits in (0..=last).rev() {
            let row = rounds[edits][diagonal];
            let (start, from) = match edits.checked_sub(1) {
                None => (0, 0),
                Some(before) => entry(&rounds[before], diagonal, edits, n, m),
            };
            for row in (start..row).rev() {
                if let Some(column) = column(row, diagonal, edits) {
                    pairs.push((row, column));
                }
            }
            diagonal = from;
        }
        Self { pairs, reached }
    }
}

/// Where a path enters a diagonal: the row, and the diagonal of the round before that it came from.
fn entry(last: &[usize], diagonal: usize, edits: usize, n: usize, m: usize) -> (usize, usize) {
    // An insertion keeps the row and moves to the diagonal of the same number, a deletion to the next.
    let inserted = (last.get(diagonal).copied())
        .filter(|&row| row != OUTSIDE && column(row, diagonal, edits).is_some_and(|it| it <= m));
    let deleted = (diagonal.checked_sub(1).map(|it| last[it]))
        .filter(|&row| row < n)
        .map(|row| row + 1);
    match (inserted, deleted) {
        (Some(a), Some(b)) if b > a => (b, diagonal - 1),
        (Some(a), _) => (a, diagonal),
        (None, Some(b)) => (b, diagonal - 1),
        (None, None) => (OUTSIDE, diagonal),
    }
}

/// Follows equal elements down a diagonal.
fn slide(b: &[u64], c: &[u64], start: usize, diagonal: usize, edits: usize) -> usize {
    if start == OUTSIDE {
        return OUTSIDE;
    }
    let Some(from) = column(start, diagonal, edits) else {
        return OUTSIDE;
    };
    let equal = (b[start..].iter().zip(&c[from..])).take_while(|(b, c)| b == c);
    start + equal.count()
}

/// The column a row meets a diagonal in: one further for each insertion, one less for each deletion.
fn column(row: usize, diagonal: usize, edits: usize) -> Option<usize> {
    (row + edits).checked_sub(2 * diagonal)
}
