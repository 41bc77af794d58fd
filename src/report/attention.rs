//! The attention that a scenario needs, and remarks on it, for the report formats that have a line or an entry for each.

use crate::causes;
use model::Status;
use model::published::result::{Cause, CauseKind, Gate, Quarantine, ResultDocument, Scenario};
use model::text::{line, shorten};

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

/// How many remarks stand in one line, and how many in lines of their own.
const IN_A_LINE: usize = 5;
const IN_LINES: usize = 50;

/// How many calls of a cause are named, and how much of what follows from it is shown.
const CALLS: usize = 8;
const FOLLOWS: usize = 5;

/// How much a scenario needs to be looked at.
pub fn attention(scenario: &Scenario) -> Attention {
    match scenario.status {
        _ if scenario.is_let_pass() => Attention::Warning,
        Status::Failed | Status::Error | Status::Timeout | Status::Interrupted => Attention::Error,
        Status::Inconclusive => Attention::Warning,
        Status::Recorded if scenario.is_failing() => Attention::Warning,
        Status::Skipped => Attention::Notice,
        Status::Passed if scenario.flaky => Attention::Notice,
        Status::Passed | Status::Recorded
            if scenario.is_changed() || scenario.evaluators_to_look_at().next().is_some() =>
        {
            Attention::Notice
        }
        Status::Passed | Status::Recorded => Attention::Unneeded,
    }
}

/// One thing there is to say of a scenario: a cause, in the words of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub text: String,
    /// It speaks against the scenario; else something changed that may.
    pub fails: bool,
    /// It decides nothing, and is added besides: what an advisory evaluator found.
    pub is_aside: bool,
    /// The line of the scenario's file that says what is not met; `None` where none does.
    pub line: Option<usize>,
    /// Whose doing it is, where, what follows from it, and what to try.
    pub beneath: Vec<String>,
}

/// Where in its file a scenario is looked at, row and column: at the first expectation that it fails for where its line is known, or else
/// where it is declared.
pub fn place(scenario: &Scenario, remarks: &[Remark]) -> (Option<usize>, Option<usize>) {
    let failing = remarks.iter().filter(|it| it.fails);
    match failing.map(|it| it.line).next().flatten() {
        Some(line) => (Some(line), None),
        None => (scenario.line, scenario.column),
    }
}

/// What speaks against a scenario, and what changed; what is added besides only where there is nothing else.
pub fn of_verdict(remarks: &[Remark]) -> Vec<&Remark> {
    let own: Vec<&Remark> = remarks.iter().filter(|it| !it.is_aside).collect();
    if own.is_empty() {
        remarks.iter().collect()
    } else {
        own
    }
}

/// What there is to say about a scenario, the most important first: what speaks against it, then whatever else changed.
pub fn remarks(scenario: &Scenario, command: &str) -> Vec<Remark> {
    let mut causes = causes::causes(std::slice::from_ref(scenario), command);
    // Whoever reads the rest must know first that it is of another experiment.
    causes.sort_by_key(|it| it.kind != Some(CauseKind::Experiment));
    let mut remarks: Vec<Remark> = Vec::new();
    let alone = |text: &str| Remark {
        text: shown(text),
        fails: !scenario.status.is_fine(),
        is_aside: false,
        line: None,
        beneath: Vec::new(),
    };
    let quarantine = scenario.quarantine.iter();
    let quarantine = quarantine.filter(|_| !scenario.status.is_fine());
    let lets_pass = quarantine.map(Quarantine::words);
    let lets_pass = lets_pass.chain(scenario.share().cloned());
    remarks.extend(lets_pass.map(|it| Remark {
        fails: false,
        ..alone(&it)
    }));
    // That something was left out or interrupted is no cause, and yet why somebody looks here.
    let problem = scenario.problem.iter().map(|it| &it.message);
    let unexplained = problem.filter(|it| causes.iter().all(|cause| cause.text != **it));
    remarks.extend(unexplained.map(|it| alone(it)));
    // Of several runs, what all of them come to decides, and a cause tells of the one that is shown.
    let of_runs = scenario.repeated.as_ref();
    let of_runs = of_runs.and_then(|it| it.reason.as_ref());
    remarks.extend(of_runs.map(|it| alone(it)));
    for mut cause in causes {
        cause.follows.retain(|it| Some(it) != of_runs);
        if Some(&cause.text) != of_runs {
            remarks.push(of_cause(&cause, command));
        }
    }
    let others = scenario.evaluators_to_look_at();
    remarks.extend(others.map(|it| Remark {
        fails: false,
        is_aside: true,
        ..alone(&it.to_string())
    }));
    let retried = scenario.retried.iter().filter(|_| scenario.flaky);
    remarks.extend(retried.map(|it| Remark {
        fails: false,
        ..alone(&format!("an earlier try: {}", it.reason))
    }));
    if remarks.is_empty() && !scenario.status.is_fine() {
        remarks.extend(scenario.in_words.iter().map(|it| alone(it)));
    }
    remarks
}

/// A cause, of one scenario or of several.
pub(crate) fn of_cause(cause: &Cause, command: &str) -> Remark {
    let mut beneath: Vec<String> = Vec::new();
    let whose = cause.whose.map(|it| it.words().to_owned());
    let extent = match &cause.scenarios[..] {
        [] | [_] => causes::calls(cause, command, CALLS),
        _ => Some(cause.extent()),
    };
    let place = whose.into_iter().chain(extent);
    let place = place.collect::<Vec<_>>().join(" · ");
    beneath.extend(Some(place).filter(|it| !it.is_empty()));
    let follows = cause.follows.iter().take(FOLLOWS);
    beneath.extend(follows.map(|it| format!("└ {}", shown(it))));
    let left = cause.follows.len().saturating_sub(FOLLOWS);
    if left > 0 {
        beneath.push(format!("└ and {left} more follow from it"));
    }
    Remark {
        text: shown(&cause.text),
        fails: cause.fails,
        is_aside: false,
        line: cause.line,
        beneath,
    }
}

fn shown(text: &str) -> String {
    shorten(&line(text), SENTENCE_CHARS).into_owned()
}

/// The remarks in one line, as many as can be read there; empty where there are none.
pub fn in_a_line(remarks: &[Remark]) -> String {
    let remarks = of_verdict(remarks);
    let texts = remarks.iter().take(IN_A_LINE).map(|it| it.text.as_str());
    let text = texts.collect::<Vec<_>>().join("; ");
    match remarks.len().saturating_sub(IN_A_LINE) {
        0 => text,
        more => format!("{text} (and {more} more)"),
    }
}

/// The remarks a line each, what stands beneath them indented, as many as anybody reads.
pub fn in_lines(remarks: &[Remark]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for it in remarks.iter().take(IN_LINES) {
        lines.push(it.text.clone());
        lines.extend(it.beneath.iter().map(|it| format!("    {it}")));
    }
    let left = remarks.len().saturating_sub(IN_LINES);
    if left > 0 {
        lines.push(format!("and {left} more"));
    }
    lines
}

/// Why a command did not exit with 0 where no scenario says why: nothing ran, say. A form that has scenarios alone would look green else.
pub fn command_failure(result: &ResultDocument) -> Option<String> {
    if let Some(problem) = &result.problem {
        let lines = problem.message.lines().map(str::trim);
        let lines: Vec<_> = lines.filter(|it| !it.is_empty()).collect();
        return Some(line(&lines.join("; ")).into_owned());
    }
    let gate: &Gate = result.gate.as_ref().filter(|it| it.exit_code != 0)?;
    let mut scenarios = result.scenarios.iter();
    let is_explained = scenarios.any(|it| attention(it) == Attention::Error);
    (!is_explained).then(|| format!("exit code {}: {}", gate.exit_code, gate.sentence))
}

/// What is wrong at a place of a file, as findings in files are written: `scenarios/a.yaml:1:7: error: …`.
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
