//! The lines that end-to-end tests look for: `Test PASSED` or `Test FAILED`, and `Verdict: …`, at the end.

use std::fmt::Write as _;

use crate::published::history::{History, HistoryDocument};
use crate::published::result::{ResultDocument, Scenario, Status};
use crate::report::duration;
use crate::text;

/// A result in such lines.
pub fn result(document: &ResultDocument) -> String {
    let mut lines = String::new();
    for it in &document.scenarios {
        let reason = it.problem.as_ref().map(|it| it.message.clone());
        let reason = reason.or_else(|| it.reasons().into_iter().next());
        let reason = reason.filter(|_| !it.status.is_fine());
        line(
            &mut lines,
            &it.name,
            it.status,
            it.duration_ms,
            reason.as_deref(),
        );
    }
    let passed = match &document.gate {
        Some(gate) => gate.exit_code == 0,
        None => document.scenarios.iter().all(|it| it.status.is_fine()),
    };
    let reasoning = match &document.scenarios[..] {
        [only] => said(only),
        _ => None,
    };
    let problem = document.problem.as_ref().map(|it| it.message.clone());
    let sentence = document.gate.as_ref().map(|it| it.sentence.clone());
    let verdict = reasoning.or(problem).or(sentence).unwrap_or_default();
    end(&mut lines, passed, &verdict);
    lines
}

/// The latest result of each scenario in such lines.
pub fn history(document: &HistoryDocument) -> String {
    let mut lines = String::new();
    for it in &document.scenarios {
        if let Some(latest) = it.latest() {
            line(
                &mut lines,
                &it.name,
                latest.status,
                latest.duration_ms,
                latest.reason.as_deref(),
            );
        }
    }
    let all = document.scenarios.len();
    let good = document.scenarios.iter().filter(|it| is_good(it)).count();
    let mut verdict = match &document.scenarios[..] {
        [only] => {
            let latest = only.latest();
            let reason = latest.and_then(|it| it.reason.clone());
            reason.unwrap_or_else(|| latest.map_or("", |it| it.status.name()).to_owned())
        }
        _ => format!("{good} of {all} scenarios passed when they were run last"),
    };
    if let Some(gate) = document.gate.as_ref().filter(|it| !it.passed) {
        let _ = write!(
            verdict,
            "; {} of {} took too long",
            gate.too_slow.len(),
            gate.measured
        );
    }
    end(&mut lines, passed(document), &verdict);
    lines
}

/// Whether everything passed when it was run last, and nothing has become too slow.
pub fn passed(document: &HistoryDocument) -> bool {
    document.scenarios.iter().all(is_good) && document.gate.as_ref().is_none_or(|it| it.passed)
}

fn is_good(it: &History) -> bool {
    it.latest()
        .is_some_and(|it| it.status.is_fine() || it.status == Status::Inconclusive)
}

/// What a judge said of a scenario, or else what speaks against it.
fn said(scenario: &Scenario) -> Option<String> {
    let mut judges = scenario.evaluators.iter().flat_map(|it| &it.judges);
    let reasoning = judges.find_map(|it| it.reasoning.clone());
    let problem = scenario.problem.iter().map(|it| it.message.clone());
    reasoning.or_else(|| problem.chain(scenario.reasons()).next())
}

fn line(
    lines: &mut String,
    name: &str,
    status: Status,
    duration_ms: Option<f64>,
    reason: Option<&str>,
) {
    let _ = write!(
        lines,
        "[{}] {}",
        status.name().to_uppercase(),
        text::line(name)
    );
    if let Some(duration_ms) = duration_ms {
        let _ = write!(lines, " ({})", duration::words(duration_ms));
    }
    if let Some(reason) = reason {
        let _ = write!(lines, ": {}", text::line(reason));
    }
    lines.push('\n');
}

fn end(lines: &mut String, passed: bool, verdict: &str) {
    let word = if passed { "PASSED" } else { "FAILED" };
    let _ = writeln!(lines, "Test {word}\nVerdict: {}", text::line(verdict));
}
