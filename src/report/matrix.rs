//! The cells of a matrix side by side, in words.

use crate::duration;
use model::published::result::{Matrix, MatrixCell};
use model::repeated::percent;
use model::usage::cost_words;

/// What stands over the columns of [`CellRow`].
pub(super) const HEADINGS: [&str; 7] = [
    "Cell",
    "Passed",
    "Share",
    "95 % interval",
    "Score",
    "One run",
    "Cost",
];

/// One cell in words, a text for each column; what is not known is empty.
pub(super) struct CellRow {
    pub(super) columns: [String; 7],
    pub(super) is_winner: bool,
}

impl CellRow {
    pub(super) fn all(matrix: &Matrix) -> Vec<Self> {
        let cells = matrix.cells.iter().enumerate();
        let rows = cells.map(|(at, it)| Self {
            columns: columns(it),
            is_winner: matrix.winner == Some(at),
        });
        rows.collect()
    }
}

fn columns(cell: &MatrixCell) -> [String; 7] {
    let mut passed = format!("{} of {}", cell.succeeded, cell.scenarios);
    if cell.without_verdict > 0 {
        passed = format!("{passed}, {} without a verdict", cell.without_verdict);
    }
    let interval = cell.interval.map(|it| {
        let (low, high) = (percent(it.low), percent(it.high));
        format!("{low} to {high}")
    });
    [
        cell.name(),
        passed,
        cell.pass_rate.map(percent).unwrap_or_default(),
        interval.unwrap_or_default(),
        cell.score.map(|it| format!("{it:.2}")).unwrap_or_default(),
        duration::known(cell.duration_ms),
        cell.cost.map(cost_words).unwrap_or_default(),
    ]
}

/// The columns in which any cell says something, by their place.
pub(super) fn used(rows: &[CellRow]) -> Vec<usize> {
    let all = 0..HEADINGS.len();
    all.filter(|at| rows.iter().any(|it| !it.columns[*at].is_empty()))
        .collect()
}
