//! How much a scenario needs to be looked at, and what there is to say about it, for the forms that have a line or an entry for each.

use crate::published::result::{Gate, ResultDocument, Scenario, Status};
use crate::text::{line, shorten};

/// How much a scenario needs to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attention {
    /// Nothing differs.
    Unneeded,
    /// It was left out, or something changed that may.
    Notice,
    /// It may be worse.
    Warning,
    /// It failed, or could not be run or judged.
    Error,
}

/// The longest sentence; `result.json` holds the whole.
const SENTENCE_CHARS: usize = 600;

/// How much a scenario needs to be looked at.
pub fn attention(scenario: &Scenario) -> Attention {
    match scenario.status {
        Status::Failed | Status::Error | Status::Timeout | Status::Interrupted => Attention::Error,
        Status::Inconclusive => Attention::Warning,
        Status::Recorded if scenario.is_failing() => Attention::Warning,
        Status::Skipped => Attention::Notice,
        Status::Passed | Status::Recorded if scenario.is_changed() => Attention::Notice,
        Status::Passed | Status::Recorded => Attention::Unneeded,
    }
}

/// What there is to say about a scenario, a line each, the most important first: what speaks against it, then whatever else changed.
pub fn sentences(scenario: &Scenario) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    sentences.extend(scenario.not_the_same_experiment());
    sentences.extend(scenario.problem.iter().map(|it| it.message.clone()));
    let repeated = scenario.repeated.iter();
    sentences.extend(repeated.filter_map(|it| it.reason.clone()));
    sentences.extend(scenario.reasons());
    let is_said = |it: &&crate::published::result::Change| it.fails && !scenario.status.is_fine();
    let changes = scenario.changes().iter().filter(|it| !is_said(it));
    sentences.extend(changes.map(ToString::to_string));
    if sentences.is_empty() && !scenario.status.is_fine() {
        sentences.extend(scenario.in_words.clone());
    }
    let shown = sentences.iter();
    shown
        .map(|it| shorten(&line(it), SENTENCE_CHARS).into_owned())
        .collect()
}

/// Why a command did not exit with 0 where no scenario tells: nothing ran, say. A form that has scenarios alone would look green else.
pub fn untold(result: &ResultDocument) -> Option<String> {
    if let Some(problem) = &result.problem {
        let lines = problem.message.lines().map(str::trim);
        let lines: Vec<_> = lines.filter(|it| !it.is_empty()).collect();
        return Some(line(&lines.join("; ")).into_owned());
    }
    let gate: &Gate = result.gate.as_ref().filter(|it| it.exit_code != 0)?;
    let mut scenarios = result.scenarios.iter();
    let is_told = scenarios.any(|it| attention(it) == Attention::Error);
    (!is_told).then(|| format!("exit code {}: {}", gate.exit_code, gate.sentence))
}

/// What a whole command is called.
pub fn command(result: &ResultDocument) -> String {
    format!("mcp-eval {}", line(&result.command))
}
