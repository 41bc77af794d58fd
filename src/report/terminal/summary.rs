//! The last lines: how many came out in which way, and what that is for the shell.

use super::{DIM, GREEN, Page, RED, YELLOW};
use crate::report::document::{GateV1, ResultV1, SummaryV1};

impl Page {
    pub(super) fn summary(&mut self, result: &ResultV1) {
        let summary = result.summary;
        if result.interrupted {
            self.indented(
                0,
                "! ",
                YELLOW,
                "Interrupted: scenarios that had not finished are missing.",
            );
        }
        let line = format!(
            "Suite Results: {}/{} tests passed{}",
            summary.succeeded(),
            summary.selected,
            others(summary)
        );
        let fine = summary.succeeded() == summary.selected && summary.selected > 0;
        let painted = self.painted(if fine { GREEN } else { RED }.bold(), &line);
        self.text.push_str(&painted);
        self.text.push('\n');
        let unchecked = result.scenarios.iter().map(|it| it.unchecked().count());
        let unchecked: Vec<usize> = unchecked.filter(|it| *it > 0).collect();
        if !unchecked.is_empty() {
            let total: usize = unchecked.iter().sum();
            let (nouns, places) = (
                if total == 1 {
                    "criterion was"
                } else {
                    "criteria were"
                },
                if unchecked.len() == 1 {
                    "scenario"
                } else {
                    "scenarios"
                },
            );
            let text = format!(
                "{total} {nouns} not checked, in {} {places}",
                unchecked.len()
            );
            self.indented(0, "", YELLOW, &text);
        }
        if result.has_recorded_servers() {
            self.indented(0, "", DIM, "Servers: recorded, held still");
        }
        if let Some(usage) = result.model_use() {
            self.indented(0, "", DIM, &format!("Models: {usage}"));
        }
        if result.command == "record" {
            let failing = match summary.recorded_failing {
                0 => String::new(),
                count => format!(", {count} of them failing"),
            };
            let recorded = format!(
                "Recorded {} of {} scenarios{failing}",
                summary.recorded, summary.selected
            );
            self.text.push_str(&recorded);
            self.text.push('\n');
        }
        let notable = |it: &&GateV1| it.exit_code != 0 || summary.inconclusive > 0;
        if let Some(gate) = result.gate.as_ref().filter(notable) {
            let words = format!("Exit {}: {}", gate.exit_code, gate.sentence);
            self.indented(0, "", DIM, &words);
        }
    }
}

/// What did not pass, counted; empty when there is nothing to count.
fn others(summary: SummaryV1) -> String {
    let counts = [
        (summary.failed, "failed"),
        (summary.recorded_failing, "recorded, failing"),
        (summary.inconclusive, "inconclusive"),
        (summary.error, "error"),
        (summary.timeout, "timeout"),
        (summary.skipped, "skipped"),
    ];
    let named: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    if named.is_empty() {
        String::new()
    } else {
        format!(" ({})", named.join(", "))
    }
}
