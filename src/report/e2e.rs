//! The lines that end-to-end tests look for: `Test PASSED` or `Test FAILED`, and `Verdict: …`, at the end. Where nothing was judged, or nothing
//! gates, it is `No verdict`.

use std::fmt::Write as _;

use crate::duration;
use model::Status;
use model::number::fixed;
use model::published::history::{History, HistoryDocument, HistoryResult};
use model::published::result::{ResultDocument, Scenario};
use model::text;
use model::usage::{TotalUse, cost_words};

/// A result in such lines.
pub fn result(document: &ResultDocument) -> String {
    let mut lines = String::new();
    for it in &document.scenarios {
        let reason = it.problem.as_ref().map(|it| it.message.clone());
        let reason = reason.or_else(|| it.reasons().into_iter().next());
        let reason = reason.filter(|_| !it.status.is_fine());
        let cost = TotalUse::sum(it.all_usage()).and_then(|it| it.cost);
        let score = it.score().filter(|_| is_judged(it.status));
        let figures = figures(it.duration_ms, score, cost);
        line(&mut lines, &it.name, it.status, &figures, reason.as_deref());
    }
    let passed = match &document.gate {
        Some(gate) => gate.exit_code == 0,
        None => document.scenarios.iter().all(|it| it.status.is_fine()),
    };
    let passed = (!document.is_undecided()).then_some(passed);
    let reasoning = match &document.scenarios[..] {
        _ if document.is_undecided() => None,
        [only] => said(only),
        _ => None,
    };
    let problem = document.problem.as_ref().map(|it| it.message.clone());
    let sentence = document.gate.as_ref().map(|it| it.sentence.clone());
    let verdict = reasoning.or(problem).or(sentence).unwrap_or_default();
    end(&mut lines, passed, &verdict);
    lines
}

/// Whether a score says something of a run: without a verdict it does not.
fn is_judged(status: Status) -> bool {
    matches!(status, Status::Passed | Status::Failed)
}

/// What each scenario came to when it was last to be run other than to record it, in such lines.
pub fn history(document: &HistoryDocument) -> String {
    let mut lines = String::new();
    for it in &document.scenarios {
        let name = if it.is_recorded() {
            format!("{} (recorded servers)", it.name)
        } else {
            it.name.clone()
        };
        let is_left_out = it.is_disabled() || came_out(it) != Some(false);
        if let Some(skipped) = it.skipped.as_ref().filter(|_| is_left_out) {
            let reason = skipped.reason.as_deref();
            line(&mut lines, &name, Status::Skipped, "", reason);
        } else if let Some(last) = decisive(it).or_else(|| it.latest()) {
            let score = last.score.filter(|_| is_judged(last.status));
            let figures = figures(last.duration_ms, score, last.cost);
            line(
                &mut lines,
                &name,
                last.status,
                &figures,
                last.reason.as_deref(),
            );
        }
    }
    let mut verdict = match &document.scenarios[..] {
        [only] => of_one(only),
        several => of_several(several),
    };
    if let Some(gate) = document.gate.as_ref().filter(|it| it.passed != Some(true)) {
        let _ = write!(verdict, "; {}", gate.words());
    }
    end(&mut lines, passed(document), &verdict);
    lines
}

fn of_one(only: &History) -> String {
    let skipped = only.skipped.as_ref();
    let skipped = skipped.filter(|it| it.disabled || came_out(only) != Some(false));
    if let Some(why) = skipped.and(only.skipped_words()) {
        return why;
    }
    match decisive(only) {
        Some(last) => (last.reason.clone()).unwrap_or_else(|| last.status.name().to_owned()),
        None => "it was recorded only, and not judged since".to_owned(),
    }
}

fn of_several(several: &[History]) -> String {
    let counted = || several.iter().filter(|it| !it.is_disabled());
    let good = counted().filter(|it| came_out(it) == Some(true));
    let open = counted().filter(|it| came_out(it).is_none()).count();
    let mut words = format!(
        "{} of {} scenarios passed when they were run last",
        good.count(),
        counted().count()
    );
    if open > 0 {
        let _ = write!(
            words,
            "; of {open}, the last run was stopped or left them out, or they were recorded only"
        );
    }
    match several.len() - counted().count() {
        0 => {}
        1 => words.push_str("; 1 more is disabled, and does not count"),
        disabled => {
            let _ = write!(words, "; {disabled} more are disabled, and do not count");
        }
    }
    words
}

/// Whether everything passed when it was run last, and nothing has become too slow; `None` where nothing speaks against that, and something
/// was never judged or could not be measured, or nothing is left that is not disabled.
pub fn passed(document: &HistoryDocument) -> Option<bool> {
    let gate = document.gate.iter().map(|it| it.passed);
    let counted = document.scenarios.iter().filter(|it| !it.is_disabled());
    let mut all: Vec<Option<bool>> = counted.map(came_out).collect();
    if all.is_empty() {
        all.push(None);
    }
    all.extend(gate);
    if all.contains(&Some(false)) {
        return Some(false);
    }
    all.iter().all(Option::is_some).then_some(true)
}

/// The last result that counts: what is recorded is not judged.
fn decisive(it: &History) -> Option<&HistoryResult> {
    let mut results = it.results.iter();
    results.rfind(|it| it.status != Status::Recorded)
}

/// Whether that is good; `None` where it was stopped, or left out of a run since, so that nobody knows. What too few runs cannot tell fails no
/// gate.
fn came_out(it: &History) -> Option<bool> {
    let last = decisive(it)?;
    if last.status == Status::Interrupted {
        return None;
    }
    let is_good = last.went_well().unwrap_or(true);
    (!is_good || it.skipped.is_none()).then_some(is_good)
}

/// What a judge said of a scenario, or else what speaks against it.
fn said(scenario: &Scenario) -> Option<String> {
    let mut judges = scenario.evaluators.iter().flat_map(|it| &it.judges);
    let reasoning = judges.find_map(|it| it.reasoning.clone());
    let problem = scenario.problem.iter().map(|it| it.message.clone());
    reasoning.or_else(|| problem.chain(scenario.reasons()).next())
}

/// What is known of a result in numbers: ` (340 ms, score 0.94, cost 0.0045)`; empty where nothing is.
fn figures(duration_ms: Option<f64>, score: Option<f64>, cost: Option<f64>) -> String {
    let known = [
        duration_ms.map(duration::words),
        score.map(|it| format!("score {}", fixed(it, 2))),
        cost.map(|it| format!("cost {}", cost_words(it))),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    match known.as_slice() {
        [] => String::new(),
        known => format!(" ({})", known.join(", ")),
    }
}

fn line(lines: &mut String, name: &str, status: Status, figures: &str, reason: Option<&str>) {
    let _ = write!(
        lines,
        "[{}] {}{figures}",
        status.name().to_uppercase(),
        text::line(name)
    );
    if let Some(reason) = reason {
        let _ = write!(lines, ": {}", text::line(reason));
    }
    lines.push('\n');
}

fn end(lines: &mut String, passed: Option<bool>, verdict: &str) {
    let word = match passed {
        Some(true) => "Test PASSED",
        Some(false) => "Test FAILED",
        None => "No verdict",
    };
    let verdict: Vec<&str> = verdict.lines().map(str::trim).collect();
    let verdict = verdict.join(" ");
    let _ = writeln!(lines, "{word}\nVerdict: {}", text::line(verdict.trim()));
}
