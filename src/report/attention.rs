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

/// What is wrong at a place of a file, as findings in files are told: `scenarios/a.yaml:1:7: error: …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed<'a> {
    pub file: &'a str,
    pub row: &'a str,
    pub column: &'a str,
    pub what: &'a str,
}

/// What a line says of a place; `None` where it says something else.
pub fn placed(line: &str) -> Option<Placed<'_>> {
    let (place, what) = line.split_once(": error: ")?;
    let (place, column) = place.rsplit_once(':')?;
    let (file, row) = place.rsplit_once(':')?;
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    (is_number(row) && is_number(column)).then_some(Placed {
        file,
        row,
        column,
        what,
    })
}

/// What was wrong in files, where that is why nothing was run.
pub fn all_placed(result: &ResultDocument) -> Vec<Placed<'_>> {
    let problem = result.problem.iter();
    problem
        .flat_map(|it| it.message.lines())
        .filter_map(placed)
        .collect()
}

/// What a whole command is called.
pub fn command(result: &ResultDocument) -> String {
    format!("mcp-eval {}", line(&result.command))
}
