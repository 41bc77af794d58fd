//! What is said of a run that waits.

use std::path::Path;

use crate::cli::console::Console;
use crate::model::comparison::Change;
use crate::model::learned::{Variation, Varying};
use crate::model::redacted::Redacted;
use crate::model::repeated::Tally;
use crate::model::scenario as model;
use crate::model::suite::SuiteResult;
use crate::published::result::{Change as PublishedChange, ResultDocument, Scenario};
use crate::report::terminal::{self, Style};
use crate::suite::{Ignored, Waiting};
use crate::text;

/// A run that waits, with its comparison.
pub(super) struct Shown {
    suite: Redacted<SuiteResult>,
    document: ResultDocument,
    asides: Vec<String>,
}

impl Shown {
    pub(super) fn of(waiting: &Waiting) -> Self {
        let suite = waiting.judged();
        let document = ResultDocument::from(&suite);
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

    /// The changes, with what is said of each.
    pub(super) fn changes(&self) -> Vec<(Change, String)> {
        let comparison = self
            .suite
            .scenarios
            .first()
            .and_then(|it| it.comparison.as_ref());
        let changes = comparison.into_iter().flat_map(|it| it.changes.clone());
        let said = self.scenario().into_iter().flat_map(Scenario::changes);
        changes.zip(said.map(PublishedChange::to_string)).collect()
    }

    /// One line: `flows/ticket  failed  2 changes: call 4 …`.
    pub(super) fn line(&self) -> String {
        let Some(scenario) = self.scenario() else {
            return String::new();
        };
        let changes = self.changes();
        let count = match changes.len() {
            0 => "no change".to_owned(),
            1 => "1 change".to_owned(),
            more => format!("{more} changes"),
        };
        let first = changes
            .first()
            .map_or_else(String::new, |(_, said)| format!(": {said}"));
        let mut parts = vec![
            scenario.id.clone(),
            scenario.status.name().to_owned(),
            format!("{count}{first}"),
        ];
        parts.extend(self.asides.iter().map(|it| format!("· {it}")));
        let line = parts.join("  ");
        text::line(&line).into_owned()
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
