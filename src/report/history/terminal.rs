//! Results over time as text: a line per result of one scenario, or a line per scenario.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::{add_measures, rankings};
use crate::duration;
use crate::moment;
use model::number::{count, fixed};
use model::published::history::{
    Commit, FirstBad, History, HistoryDocument, HistoryResult, Ranked, SlowdownGate,
};
use model::text::{self, plural, shorten};
use model::usage::cost_words;

/// The signs of a course, from the lowest value to the highest.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How many of the latest values a course shows.
const COURSE: usize = 40;

/// The longest name or reason in a line.
const TEXT_CHARS: usize = 60;

/// The history as text; `all` tells every result, and else each scenario has a line.
pub fn terminal(document: &HistoryDocument, all: bool) -> String {
    let mut text = failing(document);
    if all {
        for it in &document.scenarios {
            one(&mut text, it);
        }
    } else {
        overview(&mut text, document);
    }
    if let Some(gate) = &document.gate {
        slow(&mut text, gate);
    }
    text
}

/// What fails now, and since when.
fn failing(document: &HistoryDocument) -> String {
    let all = document.scenarios.len();
    let failing = document.scenarios.iter();
    let failing: Vec<(&History, &FirstBad)> = failing
        .filter_map(|it| Some((it, it.first_bad.as_ref()?)))
        .collect();
    if all == 0 {
        return String::new();
    }
    let verb = if failing.len() == 1 { "fails" } else { "fail" };
    let of = plural(all, "scenario");
    let mut text = match failing.len() {
        0 => format!("✓ none of {of} fails now\n"),
        count => format!("✗ {count} of {of} {verb} now\n"),
    };
    for (it, first) in failing {
        let _ = writeln!(text, "\n{}", title(it));
        bad(&mut text, first);
    }
    text.push('\n');
    text
}

/// A text from outside in one line, shortened.
fn shown(text: &str) -> String {
    shorten(&text::line(text), TEXT_CHARS).into_owned()
}

/// Who it is of: its id and who drove it.
fn title(it: &History) -> String {
    let mut title = shown(&it.id);
    if it.name != it.id {
        let _ = write!(title, " ({})", shown(&it.name));
    }
    let driver = it.driver();
    if !driver.is_empty() {
        let _ = write!(title, " · {}", shown(&driver));
    }
    title
}

fn one(text: &mut String, it: &History) {
    let _ = writeln!(text, "{}", title(it));
    let rows = it.results.iter().rev().map(|it| {
        [
            moment::words(&it.at),
            it.status.symbol().to_owned(),
            status(it),
            it.score.map_or_else(|| "–".to_owned(), |it| fixed(it, 2)),
            duration::known(it.duration_ms),
            it.cost.map_or_else(String::new, cost_words),
            it.commit()
                .map_or_else(String::new, |it| shown(&it.words())),
            shown(&it.run),
            it.reason.as_deref().map_or_else(String::new, shown),
        ]
    });
    table(text, "  ", &rows.collect::<Vec<_>>());
    let _ = writeln!(text, "  {}", counts(it));
    for (name, course) in [("score", scores(it)), ("duration", durations(it))] {
        if !course.is_empty() {
            let _ = writeln!(text, "  {name:<8} {course}");
        }
    }
    if let Some(skipped) = it.skipped_words() {
        let _ = writeln!(text, "  {}", text::line(&skipped));
    }
    text.push('\n');
}

/// The status, and how many runs it is made of.
fn status(it: &HistoryResult) -> String {
    let mut words = it.status.name().to_owned();
    if it.attempts > 1 {
        let _ = write!(words, " {}/{}", it.attempts_passed, it.attempts_judged);
    }
    if it.flaky {
        words.push_str(", flaky");
    }
    words
}

/// `12 results, 11 of 12 passed (92 %), median 340 ms`.
fn counts(it: &History) -> String {
    let mut words = plural(it.results.len(), "result");
    let _ = write!(words, ", {}", it.passed_words());
    add_measures(&mut words, it);
    words
}

fn bad(text: &mut String, first: &FirstBad) {
    let _ = writeln!(
        text,
        "  first bad run: {} ({})",
        shown(&first.run),
        moment::words(&first.at)
    );
    if let Some(reason) = &first.reason {
        let _ = writeln!(text, "    {}", shown(reason));
    }
    match &first.last_good {
        Some(good) => {
            let _ = writeln!(text, "  last good run: {}", shown(good));
        }
        None => text.push_str("  no passing run on record\n"),
    }
    if let Some(range) = &first.range {
        let whose = if range.of_source {
            "the source"
        } else {
            "the scenarios' repository"
        };
        let _ = writeln!(
            text,
            "  between them, in {whose}: {}..{} (the last: {})",
            shown(&range.good.short),
            shown(&range.bad.short),
            shown(&range.bad.subject)
        );
    }
    if let Some(bisect) = &first.bisect {
        let _ = writeln!(text, "  find the commit: `{bisect}`");
    }
}

fn overview(text: &mut String, document: &HistoryDocument) {
    let rows: Vec<[String; 9]> = document
        .scenarios
        .iter()
        .map(|it| {
            let latest = it.latest();
            [
                latest.map_or("-", |it| it.status.symbol()).to_owned(),
                shown(&it.id),
                shown(&it.driver()),
                passed(it),
                scores(it),
                it.median_score
                    .map_or_else(|| "–".to_owned(), |it| fixed(it, 2)),
                duration::known(it.median_duration_ms),
                it.known_cost.map_or_else(String::new, cost_words),
                latest.map_or_else(String::new, |it| moment::words(&it.at)),
            ]
        })
        .collect();
    let head = [
        "", "scenario", "agent", "passed", "score", "median", "duration", "cost", "latest",
    ]
    .map(str::to_owned);
    let rows: Vec<[String; 9]> = std::iter::once(head).chain(rows).collect();
    table(text, "", &rows);
    for it in &document.scenarios {
        if let Some(skipped) = it.skipped_words() {
            let _ = writeln!(text, "\n{}\n  {}", title(it), text::line(&skipped));
        }
    }
    for (title, ranked, words) in rankings(document) {
        ranking(text, title, ranked, words);
    }
}

/// `11/12, 1 error`.
fn passed(it: &History) -> String {
    let share = format!("{}/{}", it.passed, it.judged);
    let words = [share].into_iter().chain(it.broken_words());
    words.collect::<Vec<_>>().join(", ")
}

fn ranking(text: &mut String, title: &str, ranked: &[Ranked], words: fn(f64) -> String) {
    if ranked.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}:");
    let rows = ranked
        .iter()
        .map(|it| [words(it.value), shown(&it.of.id), shown(&it.of.driver())]);
    table(text, "  ", &rows.collect::<Vec<_>>());
}

fn slow(text: &mut String, gate: &SlowdownGate) {
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    for it in &gate.too_slow {
        let _ = writeln!(
            text,
            "✗ {} took {}, {} × the median {} of the {} before (at most {})",
            shown(&it.of.id),
            duration::words(it.slowdown.latest_ms),
            fixed(it.slowdown.factor, 2),
            duration::words(it.slowdown.median_ms),
            it.slowdown.of,
            gate.max_factor
        );
    }
    for it in &gate.unmeasured {
        let _ = writeln!(
            text,
            "? {} cannot be measured: the status of its latest run is {}",
            shown(&it.of.id),
            it.status.name()
        );
    }
    let sign = if gate.passed.is_none() { "? " } else { "" };
    let _ = writeln!(text, "{sign}{}", gate.words());
}

/// Rows with their columns aligned; columns that are empty everywhere are left out.
fn table<const N: usize>(text: &mut String, indent: &str, rows: &[[String; N]]) {
    let widths: [usize; N] =
        std::array::from_fn(|at| rows.iter().map(|it| it[at].width()).max().unwrap_or(0));
    for row in rows {
        let mut line = indent.to_owned();
        for (cell, width) in row.iter().zip(widths).filter(|(_, width)| *width > 0) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// The course of the scores: their height is between 0 and 1.
fn scores(it: &History) -> String {
    let values: Vec<Option<f64>> = it.results.iter().map(|it| it.score).collect();
    course(&values, 0.0, 1.0)
}

/// The course of the durations: their height is by the longest of them.
fn durations(it: &History) -> String {
    let values: Vec<Option<f64>> = it.results.iter().map(|it| it.duration_ms).collect();
    let highest = values.iter().flatten().copied().fold(0.0, f64::max);
    course(&values, 0.0, highest)
}

/// The latest values as signs of growing height, with a gap where there is none; empty where there are none at all.
fn course(values: &[Option<f64>], lowest: f64, highest: f64) -> String {
    if values.iter().all(Option::is_none) || highest <= lowest {
        return String::new();
    }
    let latest = &values[values.len().saturating_sub(COURSE)..];
    let sign = |value: &Option<f64>| {
        value.map_or(' ', |it| {
            let share = ((it - lowest) / (highest - lowest)).clamp(0.0, 1.0);
            // Halves go up, and the highest sign is for the highest value.
            let level = (0..LEVELS.len() - 1).rev().find(|at| {
                let from = (count(*at) + 0.5) / count(LEVELS.len() - 1);
                share >= from
            });
            LEVELS[level.map_or(0, |at| at + 1)]
        })
    };
    latest.iter().map(sign).collect()
}

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
    let text = text::line(text);
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

#[cfg(test)]
mod tests {
    use super::course;

    #[test]
    fn courses_rise_with_their_values() {
        let values = [Some(0.0), Some(0.5), None, Some(1.0), Some(7.0), Some(-1.0)];
        assert_eq!(course(&values, 0.0, 1.0), "▁▅ ██▁");
        assert_eq!(course(&[None], 0.0, 1.0), "");
        assert_eq!(course(&[Some(3.0)], 0.0, 0.0), "");
        let many: Vec<Option<f64>> = (0..100).map(|it| Some(f64::from(it))).collect();
        assert_eq!(course(&many, 0.0, 99.0).chars().count(), 40);
    }
}
