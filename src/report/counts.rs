//! Scenarios by how they came out, and the cells of a matrix, in words.

use crate::duration;
use model::published::result::{Matrix, MatrixCell, ResultDocument, Summary};
use model::repeated::percent;
use model::text::counts;
use model::usage::cost_words;

/// What the scenarios did that came out well: `passed`.
pub(super) fn verb(command: &str) -> &'static str {
    match command {
        "record" => "recorded",
        _ => "passed",
    }
}

/// What those came out with that were not quite as before; what differs from an expectation is no change, but a deviation.
pub(super) fn changes(command: &str) -> &'static str {
    match command {
        "run" => "with deviations",
        _ => "with changes",
    }
}

/// Remarks on scenarios that came out well, counted: ` (1 failing, 2 with changes)`; empty where there are none.
pub(super) fn remarks(result: &ResultDocument) -> String {
    let counted = counts(&[
        (result.summary.recorded_failing, "failing"),
        (result.summary.flaky, "flaky"),
        (result.summary.changed, changes(&result.command)),
    ]);
    if counted.is_empty() {
        return String::new();
    }
    format!(" ({})", counted.join(", "))
}

/// The scenarios that did not come out well, by status: `, 1 failed, 1 error`; empty where all did.
pub(super) fn others(summary: Summary) -> String {
    let Summary {
        selected: _,
        passed: _,
        changed: _,
        failed,
        inconclusive,
        error,
        timeout,
        interrupted,
        skipped,
        recorded: _,
        recorded_failing: _,
        flaky: _,
        quarantined,
    } = summary;
    let counted = counts(&[
        (failed, "failed"),
        (inconclusive, "inconclusive"),
        (error, "error"),
        (timeout, "timeout"),
        (interrupted, "interrupted"),
        (skipped, "skipped"),
        (quarantined, "quarantined"),
    ]);
    let counted = counted.iter().map(|it| format!(", {it}"));
    counted.collect()
}

/// What stands over the columns of [`CellRow`].
pub(crate) const HEADINGS: [&str; 7] = [
    "Cell",
    "Passed",
    "Share",
    "95 % interval",
    "Score",
    "One run",
    "Cost",
];

/// One cell in words, a text for each column; what is not known is empty.
pub(crate) struct CellRow {
    pub(crate) columns: [String; 7],
    pub(crate) is_winner: bool,
}

impl CellRow {
    pub(crate) fn all(matrix: &Matrix) -> Vec<Self> {
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
pub(crate) fn used(rows: &[CellRow]) -> Vec<usize> {
    let all = 0..HEADINGS.len();
    all.filter(|at| rows.iter().any(|it| !it.columns[*at].is_empty()))
        .collect()
}
