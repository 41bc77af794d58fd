//! One-to-one assignment with the highest total, in any order.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::align;

/// Above this many calls of one tool on a side, equal calls are paired off first, and if still more are left, those
/// are aligned in order: the exact method takes cubic time.
const EXACT: usize = 256;
/// How many similarities may be computed where the exact method would take too long.
const CELLS: usize = 1 << 16;

/// One side of an assignment: positions, and for each a key that only equal ones share.
pub(crate) type Keyed = Vec<(usize, u64)>;

/// The best assignment of rows to columns, where `similarity(row, column)` is 0 to 1. Each row and column is used at
/// most once, and as many as possible are.
pub(crate) fn assign(
    mut rows: Keyed,
    mut columns: Keyed,
    similarity: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    if rows.len().max(columns.len()) > EXACT {
        let equal = pair_off(&mut rows, &mut columns, |it| it.1, |it| it.1);
        pairs.extend(equal.into_iter().map(|(row, column)| (row.0, column.0)));
    }
    let similarity = |i: usize, j: usize| similarity(rows[i].0, columns[j].0);
    let (n, m) = (rows.len(), columns.len());
    let positions = if n.max(m) > EXACT {
        let keys = |side: &Keyed| side.iter().map(|it| it.1).collect::<Vec<_>>();
        let (rows, columns) = (keys(&rows), keys(&columns));
        align::align(&rows, &columns, CELLS, |_, _| true, similarity)
    } else {
        // The costs are computed beforehand, because the method reads each many times.
        let costs: Vec<f64> = (0..n * m)
            .map(|it| 1.0 - similarity(it / m, it % m))
            .collect();
        if n <= m {
            hungarian(n, m, |i, j| costs[i * m + j])
        } else {
            let turned = hungarian(m, n, |j, i| costs[i * m + j]);
            turned.into_iter().map(|(j, i)| (i, j)).collect()
        }
    };
    pairs.extend((positions.into_iter()).map(|(i, j)| (rows[i].0, columns[j].0)));
    pairs
}

/// Takes what has equal keys out of both sides, the first with the first; what is left keeps its order.
pub(crate) fn pair_off<T: Copy + Eq + Hash>(
    b: &mut Vec<T>,
    c: &mut Vec<T>,
    mut b_key: impl FnMut(T) -> u64,
    mut c_key: impl FnMut(T) -> u64,
) -> Vec<(T, T)> {
    let mut free: HashMap<u64, Vec<T>> = HashMap::new();
    for it in c.iter().rev() {
        free.entry(c_key(*it)).or_default().push(*it);
    }
    let mut pairs = Vec::new();
    b.retain(|it| {
        let partner = free.get_mut(&b_key(*it)).and_then(Vec::pop);
        pairs.extend(partner.map(|partner| (*it, partner)));
        partner.is_none()
    });
    let taken: HashSet<T> = pairs.iter().map(|it| it.1).collect();
    c.retain(|it| !taken.contains(it));
    pairs
}

/// The Hungarian method with potentials: rows are added one by one, each along a shortest augmenting path. Needs no
/// more rows than columns; `O(rows² × columns)`.
fn hungarian(
    rows: usize,
    columns: usize,
    cost: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    // Column 0 stands for "not assigned yet"; rows and columns are counted from 1 here.
    let mut row_potential = vec![0.0; rows + 1];
    let mut column_potential = vec![0.0; columns + 1];
    let mut row_of = vec![0usize; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut came_from = vec![0usize; columns + 1];
        let mut done = vec![false; columns + 1];
        let mut column = 0;
        while row_of[column] != 0 {
            done[column] = true;
            let from = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for it in 1..=columns {
                if done[it] {
                    continue;
                }
                let reduced = cost(from - 1, it - 1) - row_potential[from] - column_potential[it];
                if reduced < least[it] {
                    least[it] = reduced;
                    came_from[it] = column;
                }
                if least[it] < step {
                    step = least[it];
                    next = it;
                }
            }
            for it in 0..=columns {
                if done[it] {
                    row_potential[row_of[it]] += step;
                    column_potential[it] -= step;
                } else {
                    least[it] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[came_from[column]];
            column = came_from[column];
        }
    }
    let assigned = (1..=columns).filter(|it| row_of[*it] != 0);
    assigned.map(|it| (row_of[it] - 1, it - 1)).collect()
}
