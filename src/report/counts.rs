//! How many scenarios came out in which way, in words.

use model::published::result::{ResultDocument, Summary};
use model::text::counts;

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
