//! The last lines: how many scenarios have which status, and the exit code.

use super::{DIM, GREEN, MAGENTA, Page, RED, Verbosity, YELLOW};
use crate::published::result::{Gate, ResultDocument, Row, RowKind, Scenario, Summary};

impl Page<'_> {
    pub(super) fn summary(&mut self, result: &ResultDocument) {
        let summary = result.summary;
        if result.interrupted {
            self.indented(0, "! ", YELLOW, &result.interrupted_words());
        }
        for cause in result.shared_causes() {
            let words = format!("{}: {} scenarios", cause.text, cause.scenarios.len());
            self.indented(0, "✗ ", RED, &words);
        }
        let verb = match result.command.as_str() {
            "record" => "recorded",
            _ => "passed",
        };
        let line = format!(
            "Suite Results: {}/{} tests {verb}{}{}",
            summary.succeeded(),
            summary.selected,
            but(result),
            others(summary)
        );
        let fine = summary.succeeded() == summary.selected && summary.selected > 0;
        let style = match (fine, summary.recorded_failing, summary.changed) {
            (false, _, _) => RED,
            (true, 1.., _) => YELLOW,
            (true, 0, 1..) => MAGENTA,
            (true, 0, 0) => GREEN,
        };
        let painted = self.painted(style.bold(), &line);
        self.text.push_str(&painted);
        self.text.push('\n');
        if let Some(unchecked) = unchecked(result) {
            self.indented(0, "", YELLOW, &unchecked);
        }
        if let Some(graded) = graded(result).filter(|_| self.style.verbosity != Verbosity::Quiet) {
            self.indented(0, "", DIM, &graded);
        }
        if result.has_recorded_servers() {
            self.indented(0, "", DIM, "Servers: recorded, held still");
        }
        if let Some(usage) = result.model_use() {
            self.indented(0, "", DIM, &format!("Models: {usage}"));
        }
        let notable = |it: &&Gate| it.exit_code != 0 || summary.inconclusive > 0;
        if let Some(gate) = result.gate.as_ref().filter(notable) {
            let words = format!("Exit {}: {}", gate.exit_code, gate.sentence);
            self.indented(0, "", DIM, &words);
        }
    }
}

/// How many criteria were not checked; `None` where all were.
fn unchecked(result: &ResultDocument) -> Option<String> {
    let counts = result.scenarios.iter().map(|it| it.unchecked().count());
    let counts: Vec<usize> = counts.filter(|it| *it > 0).collect();
    let criteria = match counts.iter().sum() {
        0 => return None,
        1 => "1 criterion was".to_owned(),
        several => format!("{several} criteria were"),
    };
    let scenarios = match counts.len() {
        1 => "1 scenario".to_owned(),
        several => format!("{several} scenarios"),
    };
    Some(format!("{criteria} not checked, in {scenarios}"))
}

/// How many baselines have reads whose answers were recorded once, and none whose answers were recorded more often: there, recording again
/// would help. `None` where there are no such baselines.
fn graded(result: &ResultDocument) -> Option<String> {
    let has_some = |it: &&Scenario| {
        let rows = it.comparison.iter().flat_map(|it| &it.rows);
        let recorded_twice = rows.clone().any(|it| it.takes > Some(1));
        let is_graded = |it: &Row| it.kind == RowKind::Pair && !it.effect && it.takes == Some(1);
        !recorded_twice && rows.clone().any(is_graded)
    };
    let count = result.scenarios.iter().filter(has_some).count();
    let baselines = match count {
        _ if result.command != "compare" => return None,
        0 => return None,
        1 => "1 baseline has".to_owned(),
        several => format!("{several} baselines have"),
    };
    Some(format!(
        "{baselines} answers that were heard once, and so are graded: recorded again, they are held (`-v` says more)"
    ))
}

/// Remarks on scenarios that passed, with their numbers; empty when there are none.
fn but(result: &ResultDocument) -> String {
    let summary = result.summary;
    let changes = match result.command.as_str() {
        "run" => "with deviations",
        _ => "with changes",
    };
    let counts = [
        (summary.recorded_failing, "failing"),
        (summary.changed, changes),
    ];
    let named = counted(&counts).join(", ");
    if named.is_empty() {
        named
    } else {
        format!(" ({named})")
    }
}

/// The numbers of scenarios that did not pass, by status; empty when all passed.
fn others(summary: Summary) -> String {
    let counts = [
        (summary.failed, "failed"),
        (summary.inconclusive, "inconclusive"),
        (summary.error, "error"),
        (summary.timeout, "timeout"),
        (summary.interrupted, "interrupted"),
        (summary.skipped, "skipped"),
    ];
    let mut others = String::new();
    for it in counted(&counts) {
        others.push_str(", ");
        others.push_str(&it);
    }
    others
}

fn counted(counts: &[(usize, &str)]) -> Vec<String> {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    counts
        .map(|(count, name)| format!("{count} {name}"))
        .collect()
}
