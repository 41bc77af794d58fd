//! Results over time as comma-separated values: a line per result.

use model::published::history::{Commit, HistoryDocument};

const COLUMNS: [&str; 22] = [
    "scenario",
    "name",
    "agent",
    "model",
    "at",
    "run",
    "result",
    "command",
    "status",
    "score",
    "duration_ms",
    "changes",
    "attempts",
    "attempts_passed",
    "flaky",
    "input_tokens",
    "output_tokens",
    "cost",
    "source_commit",
    "scenarios_commit",
    "servers",
    "reason",
];

/// What begins a formula in the programs that read such files.
const FORMULAS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The history as CSV (RFC 4180), with a line of names first. What is not known is empty.
pub fn csv(document: &HistoryDocument) -> String {
    let mut text = line(COLUMNS.map(str::to_owned));
    for scenario in &document.scenarios {
        for it in &scenario.results {
            let number = |it: Option<u64>| it.map_or_else(String::new, |it| it.to_string());
            let real = |it: Option<f64>| it.map_or_else(String::new, |it| it.to_string());
            let commit =
                |it: &Option<Commit>| it.as_ref().map_or_else(String::new, |it| it.commit.clone());
            let words = |it: &Option<String>| it.as_deref().map_or_else(String::new, plain);
            text += &line([
                plain(&scenario.id),
                plain(&scenario.name),
                words(&scenario.agent),
                words(&scenario.model),
                it.at.clone(),
                it.run.clone(),
                it.id.clone(),
                it.command.clone(),
                it.status.name().to_owned(),
                real(it.score),
                real(it.duration_ms),
                it.changes.to_string(),
                it.attempts.to_string(),
                it.attempts_passed.to_string(),
                it.flaky.to_string(),
                number(it.tokens.each.input),
                number(it.tokens.each.output),
                real(it.cost),
                commit(&it.source),
                commit(&it.scenarios),
                words(&it.servers),
                words(&it.reason),
            ]);
        }
    }
    text
}

/// A text from outside that no program takes for a formula.
fn plain(text: &str) -> String {
    let text = model::text::line(text);
    if text.starts_with(FORMULAS) {
        return format!("'{text}");
    }
    text.into_owned()
}

fn line(cells: [String; COLUMNS.len()]) -> String {
    let quoted = cells.map(|it| {
        if it.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", it.replace('"', "\"\""))
        } else {
            it
        }
    });
    quoted.join(",") + "\r\n"
}
