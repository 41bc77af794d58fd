//! The text on a run that waits.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::cli::console::Console;
use crate::model::repeated::Tally;
use crate::model::{Change, Redacted, SuiteResult, Variation, Varying};
use crate::published::result::{Cause, ResultDocument, Scenario};
use crate::report::terminal::{self, Style};
use crate::report::{causes, document};
use crate::suite::{Ignored, Waiting};
use crate::{scenario_file as model, text};

/// How much of a cause stands in its line, and how many scenarios are named.
const TEXT_CHARS: usize = 240;
pub(super) const NAMED: usize = 8;

/// A cause in one run, and the changes that come from it.
pub(super) struct Question {
    pub(super) cause: Cause,
    pub(super) changes: Vec<Change>,
    /// The changes at the place that the cause names, without those that only follow from it.
    pub(super) named: Vec<Change>,
}

/// A run that waits, with its comparison.
pub(super) struct Shown {
    suite: Redacted<SuiteResult>,
    document: ResultDocument,
    asides: Vec<String>,
}

impl Shown {
    pub(super) fn of(waiting: &Waiting) -> Self {
        let suite = waiting.judged();
        let document = document::of(&suite);
        let scenario = document.scenarios.first();
        let experiment = scenario.and_then(Scenario::not_the_same_experiment);
        Self {
            asides: experiment
                .into_iter()
                .chain(waiting.tally().map(of_several))
                .chain(of_failing(&waiting.failing()))
                .collect(),
            document,
            suite,
        }
    }

    pub(super) fn scenario(&self) -> Option<&Scenario> {
        self.document.scenarios.first()
    }

    /// The changes as they were compared, in the order in which the document has them.
    pub(super) fn changes(&self) -> Vec<Change> {
        let compared = self.suite.scenarios.first();
        let comparison = compared.and_then(|it| it.comparison.as_ref());
        comparison.map_or_else(Vec::new, |it| it.changes.clone())
    }

    /// What is asked of the run: each cause that something changed or failed for, with all changes that come from it.
    pub(super) fn questions(&self) -> Vec<Question> {
        let Some(scenario) = self.scenario() else {
            return Vec::new();
        };
        let changes = self.changes();
        let at = |places: &[usize]| {
            let changes = places.iter().filter_map(|at| changes.get(*at).cloned());
            changes.collect::<Vec<Change>>()
        };
        let causes = causes::with_changes(scenario, &self.document.command).into_iter();
        causes
            .filter(|it| it.cause.fails || !it.changes.is_empty())
            .map(|it| Question {
                changes: at(&it.changes),
                named: at(&it.named),
                cause: it.cause,
            })
            .collect()
    }

    /// One line for a run of which no cause is known: `flows/ticket  failed  no change`.
    pub(super) fn line(&self) -> String {
        self.scenario().map_or_else(String::new, |it| {
            format!("{}  {}  no change", text::line(&it.id), it.status.name())
        })
    }

    /// What else must be known of the run: that it is of another experiment, or one of several that did not all pass.
    pub(super) fn asides(&self) -> &[String] {
        &self.asides
    }

    /// What of the scenario's own expectations the run does not meet, whatever it was compared with.
    fn unmet(&self) -> Vec<String> {
        let checks = self.suite.scenarios.first().into_iter();
        let unmet = checks.flat_map(|it| it.checks.iter().filter(|it| it.fails()));
        unmet
            .map(|it| format!("{}: {}", it.name, it.message))
            .collect()
    }

    /// All of it, as the report of a comparison has it.
    pub(super) fn report(&self, style: Style) -> String {
        terminal::scenarios(&self.document, style)
    }
}

/// Makes what follows from a cause of another run one question with that.
pub(super) fn share<'a>(runs: impl IntoIterator<Item = (&'a Shown, &'a mut Vec<Question>)>) {
    let (shown, questions): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    let scenarios = shown.iter().filter_map(|it| it.scenario().cloned());
    let scenarios: Vec<Scenario> = scenarios.collect();
    let command = shown.first().map_or("", |it| it.document.command.as_str());
    let roots = causes::roots(&scenarios, command);
    for of_run in questions {
        let mut shared: Vec<Question> = Vec::new();
        for mut it in of_run.drain(..) {
            if let Some(root) = roots.get(&it.cause.id) {
                it.cause.id.clone_from(root);
            }
            match shared
                .iter_mut()
                .find(|known| known.cause.id == it.cause.id)
            {
                Some(known) => {
                    known.changes.extend(it.changes);
                    known.named.extend(it.named);
                    known.cause.fails |= it.cause.fails;
                }
                None => shared.push(it),
            }
        }
        *of_run = shared;
    }
}

/// What several runs come to: their scenarios, and each cause that is asked of any of them once, with those that it is asked of.
pub(super) fn together(runs: &[&Shown]) -> ResultDocument {
    let mut all = runs[0].document.clone();
    all.scenarios = runs
        .iter()
        .filter_map(|it| it.scenario().cloned())
        .collect();
    all.causes = causes::causes(&all.scenarios, &all.command);
    let roots = causes::roots(&all.scenarios, &all.command);
    let mut asked: HashMap<String, Vec<String>> = HashMap::new();
    for run in runs {
        for Question { cause, .. } in run.questions() {
            let id = roots.get(&cause.id).cloned().unwrap_or(cause.id);
            let of: &mut Vec<String> = asked.entry(id).or_default();
            let new = cause.scenarios.into_iter().filter(|it| !of.contains(it));
            let new: Vec<String> = new.collect();
            of.extend(new);
        }
    }
    for cause in &mut all.causes {
        cause.scenarios = asked.remove(&cause.id).unwrap_or_default();
        let scenarios = &cause.scenarios;
        cause.places.retain(|it| scenarios.contains(&it.scenario));
        cause.calls = cause.places.iter().map(|it| it.calls.len()).sum();
    }
    all.causes.retain(|it| !it.scenarios.is_empty());
    all
}

/// What is pending, a line for each cause, for each run without one, and for what else must be known of runs.
pub(super) fn list(runs: &[Shown]) -> Vec<String> {
    let runs: Vec<&Shown> = runs.iter().collect();
    if runs.is_empty() {
        return Vec::new();
    }
    let causes = together(&runs).causes;
    let mut lines: Vec<String> = causes.iter().map(in_a_line).collect();
    let without = runs.iter().filter(|it| it.questions().is_empty());
    lines.extend(without.map(|it| it.line()));
    lines.extend(asides(&runs));
    lines
}

/// `cause-0123456789  ✗ 2 scenarios, such as shop: …`.
fn in_a_line(cause: &Cause) -> String {
    let sign = if cause.fails { "✗" } else { "~" };
    let of = match &cause.scenarios[..] {
        [only] => format!("1 scenario, {only}"),
        several => format!("{} scenarios, such as {}", several.len(), several[0]),
    };
    let text = text::shorten(&cause.text, TEXT_CHARS);
    let line = format!("{}  {sign} {of}: {text}", cause.id);
    text::line(&line).into_owned()
}

/// What else must be known of runs, each sentence once: `! shop, till: …`.
pub(super) fn asides(runs: &[&Shown]) -> Vec<String> {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for run in runs {
        let id = run.scenario().map_or("", |it| it.id.as_str());
        for aside in run.asides() {
            match said.iter_mut().find(|it| it.0 == aside) {
                Some(known) => known.1.push(id),
                None => said.push((aside, vec![id])),
            }
        }
    }
    let lines = said.into_iter().map(|(aside, of)| {
        let line = format!("! {}: {aside}", text::few(of, NAMED));
        text::line(&line).into_owned()
    });
    lines.collect()
}

/// What differs in the first call that changes are of: each place, what it was and what it is.
pub(super) fn diff(changes: &[Change]) -> String {
    let Some(first) = changes.first() else {
        return String::new();
    };
    let call = |it: &Change| (it.baseline, it.current);
    let mut written = String::new();
    for it in changes.iter().filter(|it| call(it) == call(first)) {
        let place = it
            .path
            .as_deref()
            .map_or_else(|| it.what.to_string(), str::to_owned);
        let _ = writeln!(written, "{}", text::line(&place));
        for (sign, color, value) in [('-', 31, &it.was), ('+', 32, &it.now)] {
            for line in value.iter().flat_map(|it| it.lines()) {
                let line = text::line(line);
                let _ = writeln!(written, "\u{1b}[{color}m{sign} {line}\u{1b}[0m");
            }
        }
    }
    written
}

/// That a run was accepted; a note where it does not do what its scenario expects.
pub(super) fn accepted(waiting: &Waiting, kept: &Path, console: Console) -> String {
    let mut unmet = waiting.failing_calls();
    unmet.extend(Shown::of(waiting).unmet());
    if !unmet.is_empty() {
        console.note(&fails_itself(waiting, &unmet));
    }
    let said = format!("accepted {}: {}", waiting.scenario().id, kept.display());
    text::line(&said).into_owned() + "\n"
}

pub(super) fn rejected(scenario: &model::Scenario) -> String {
    let said = format!("rejected {}: the baseline stays as it is", scenario.id);
    text::line(&said).into_owned() + "\n"
}

/// How many of several runs passed.
fn of_several(tally: Tally) -> String {
    let Tally { runs, passed } = tally;
    let flaky = if passed > 0 && passed < runs {
        ", flaky"
    } else {
        ""
    };
    format!("one of {runs} runs, of which {passed} passed{flaky}")
}

/// That `record` would not keep the run, and why; `None` where it would.
fn of_failing(failing: &[String]) -> Option<String> {
    let why = failing.join("; ");
    (!failing.is_empty()).then(|| {
        format!("`record` would not keep it, and only `--allow-failing` accepts it, because the run failed: {why}")
    })
}

/// That what was accepted does not do what its scenario expects.
fn fails_itself(waiting: &Waiting, unmet: &[String]) -> String {
    let id = &waiting.scenario().id;
    let said = format!(
        "note: the run of {id} that was accepted fails what its scenario expects: {}",
        unmet.join("; ")
    );
    text::line(&said).into_owned()
}

/// Whether a place still differs, in whatever way.
pub(super) fn is_left(change: &Change, left: &[Change]) -> bool {
    let place = |it: &Change| (it.baseline, it.current, it.path.clone());
    left.iter().any(|it| place(it) == place(change))
}

/// What is let go of, and where that was written.
pub(super) fn ignored(change: &Change, ignored: &Ignored) -> String {
    let call = change.baseline.unwrap_or_default();
    let file = ignored.file.display();
    let is_whole = |it: &Varying| it.by == Variation::Anything;
    let paths: Vec<&str> = ignored.places.iter().map(|it| it.path.as_str()).collect();
    let said = if ignored.places.iter().all(is_whole) {
        let paths = paths.join(", ");
        format!("ignored from now on: {paths} of call {call}, in {file}")
    } else {
        let places: Vec<String> = ignored.places.iter().map(ToString::to_string).collect();
        let places = places.join("; ");
        format!("ignored from now on in call {call}: {places}, in {file}")
    };
    text::line(&said).into_owned() + "\n"
}
