//! The last lines: how many scenarios have which status, and the exit code.

use unicode_width::UnicodeWidthStr;

use super::page::{BOLD, DIM, GREEN, MAGENTA, Page, RED, Verbosity, YELLOW};
use super::scenario_line::ROOM_FOR_COLUMNS;
use crate::advice;
use crate::counts;
use crate::counts::{CellRow, used};
use crate::duration;
use crate::wrap;
use model::RowKind;
use model::published::result::{Gate, GateState, Matrix, ResultDocument, Row, Scenario};
use model::text::{plural, several};

impl Page<'_> {
    pub(super) fn summary(&mut self, result: &ResultDocument) {
        let summary = result.summary;
        let quiet = self.style.verbosity == Verbosity::Quiet;
        if result.interrupted {
            self.indented(0, "! ", YELLOW, &result.interrupted_words());
        }
        let line = format!(
            "Suite Results: {}/{} tests {}{}{}{}",
            summary.succeeded(),
            summary.selected,
            counts::verb(&result.command),
            counts::remarks(result),
            counts::others(summary),
            time(result)
        );
        // A part of a suite may have nothing to do.
        let is_green = result.gate.as_ref().is_some_and(|it| it.exit_code == 0);
        let fine = summary.succeeded() == summary.selected && (summary.selected > 0 || is_green);
        let undecided = result.is_undecided();
        let style = match (fine, summary.recorded_failing, summary.changed) {
            _ if undecided => YELLOW,
            (false, _, _) => RED,
            (true, 1.., _) => YELLOW,
            (true, 0, 1..) => MAGENTA,
            (true, 0, 0) => GREEN,
        };
        // On a terminal of the usual width, and in logs, one line for scripts to find.
        let parts = if self.width < ROOM_FOR_COLUMNS {
            wrap::lines(&line, self.width)
        } else {
            vec![line]
        };
        for part in parts {
            let painted = self.painted(style.bold(), &part);
            self.text.push_str(&painted);
            self.text.push('\n');
        }
        for rows in result.datasets.iter().filter(|_| !quiet) {
            let words = rows.words(counts::verb(&result.command));
            self.indented(0, "", DIM, &format!("{}: {words}", rows.scenario));
        }
        if let Some(matrix) = result.matrix.as_ref().filter(|_| !quiet) {
            self.matrix(matrix);
        }
        if let Some(unchecked) = unchecked(result) {
            self.indented(0, "", YELLOW, &unchecked);
        }
        if let Some(graded) = graded(result).filter(|_| !quiet) {
            self.indented(0, "", DIM, &graded);
        }
        if result.has_recorded_servers() {
            self.indented(0, "", DIM, "Servers: recorded, held still");
        }
        if let Some(usage) = result.model_use() {
            self.indented(0, "", DIM, &format!("Models: {usage}"));
        }
        // Those that are broken stand behind the exit code.
        let gates = result.suite.iter().flat_map(|it| &it.gates);
        let gates = gates.filter(|it| matches!(it.state, GateState::Kept | GateState::Open));
        let sentences: Vec<&str> = gates.map(|it| it.sentence.as_str()).collect();
        if !sentences.is_empty() {
            self.indented(0, "", DIM, &format!("Suite: {}", sentences.join("; ")));
        }
        let did_nothing = summary.selected == 0 || undecided;
        let notable = |it: &&Gate| it.exit_code != 0 || summary.inconclusive > 0 || did_nothing;
        let exit = (result.gate.as_ref().filter(notable))
            .map(|gate| format!("Exit {}: {}", gate.exit_code, gate.sentence));
        let advice = advice::with_review(result).filter(|_| !quiet);
        let style = if advice.is_some() { BOLD } else { DIM };
        let words: Vec<String> = exit.into_iter().chain(advice).collect();
        if !words.is_empty() {
            self.indented(0, "", style, &words.join(". "));
        }
    }

    /// Which cell of a matrix is better, and a line for each.
    fn matrix(&mut self, matrix: &Matrix) {
        self.indented(0, "", BOLD, &matrix.sentence);
        let rows = CellRow::all(matrix);
        let used = used(&rows);
        let width = |at: usize| rows.iter().map(|it| it.columns[at].width()).max();
        let widths: Vec<usize> = used
            .iter()
            .map(|at| width(*at).unwrap_or_default())
            .collect();
        for row in &rows {
            let columns = used.iter().zip(&widths);
            let columns = columns.map(|(at, width)| wrap::padded(&row.columns[*at], *width));
            let line = columns.collect::<Vec<_>>().join("  ");
            let (sign, style) = if row.is_winner {
                ("✓ ", GREEN)
            } else {
                ("  ", DIM)
            };
            self.indented(0, sign, style, line.trim_end());
        }
    }
}

/// How many criteria were not checked; `None` where all were.
fn unchecked(result: &ResultDocument) -> Option<String> {
    let counts = result.scenarios.iter().map(|it| it.unchecked().count());
    let counts: Vec<usize> = counts.filter(|it| *it > 0).collect();
    let criteria: usize = counts.iter().sum();
    let criteria = (criteria > 0).then(|| several(criteria, "criterion was", "criteria were"))?;
    let scenarios = plural(counts.len(), "scenario");
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
        _ => several(count, "baseline has answers", "baselines have answers"),
    };
    Some(format!(
        "{baselines} that were recorded only once, so it is unknown what varies, and small differences pass: record again to find out"
    ))
}

/// How long all of it took, behind a dot; empty where that is not known.
fn time(result: &ResultDocument) -> String {
    let time = result.duration_ms.map(duration::words);
    time.map_or_else(String::new, |it| format!(" · {it}"))
}
