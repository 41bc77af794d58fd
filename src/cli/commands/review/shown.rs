//! What is said of a run that waits.

use std::path::Path;

use crate::cli::console::Console;
use crate::model::change::Change;
use crate::model::learned::{Variation, Varying};
use crate::model::redacted::Redacted;
use crate::model::repeated::Tally;
use crate::model::scenario as model;
use crate::model::suite::SuiteResult;
use crate::published::result::{Cause, ResultDocument, Scenario};
use crate::report::causes;
use crate::report::document;
use crate::report::terminal::{self, Style};
use crate::suite::{Ignored, Waiting};
use crate::text::{self, plural};

/// How many causes are named in a line, and how much of each.
const NAMED: usize = 3;
const NAMED_CHARS: usize = 240;

/// What is asked at once: a cause, and the changes that come from it.
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

    /// What is asked of the run: each cause once, with all changes that come from it.
    pub(super) fn questions(&self) -> Vec<Question> {
        let Some(scenario) = self.scenario() else {
            return Vec::new();
        };
        let changes = self.changes();
        let at = |places: &[usize]| {
            let changes = places.iter().filter_map(|at| changes.get(*at).cloned());
            changes.collect::<Vec<Change>>()
        };
        let told = causes::with_changes(scenario, &self.document.command).into_iter();
        told.filter(|it| !it.changes.is_empty())
            .map(|it| Question {
                changes: at(&it.changes),
                named: at(&it.named),
                cause: it.cause,
            })
            .collect()
    }

    /// The question as the report has its cause: `change 1 of 3: ✗ …`.
    pub(super) fn asked(&self, lead: &str, question: &Question, style: Style) -> String {
        terminal::question(&self.document, lead, &question.cause, style)
    }

    /// One line: `flows/ticket  failed  2 changes: … answers with another …; …`.
    pub(super) fn line(&self) -> String {
        let Some(scenario) = self.scenario() else {
            return String::new();
        };
        let questions = self.questions();
        let changes = match self.changes().len() {
            0 => "no change".to_owned(),
            one @ 1 => plural(one, "change"),
            as_many if as_many == questions.len() => plural(as_many, "change"),
            more => format!(
                "{}, {}",
                plural(more, "change"),
                plural(questions.len(), "cause")
            ),
        };
        let named = questions.iter().take(NAMED);
        let mut named: Vec<String> = named
            .map(|it| text::shorten(&it.cause.text, NAMED_CHARS).into_owned())
            .collect();
        let left = questions.len().saturating_sub(NAMED);
        if left > 0 {
            named.push(format!("and {left} more"));
        }
        let what = if named.is_empty() {
            changes
        } else {
            format!("{changes}: {}", named.join("; "))
        };
        let mut parts = vec![scenario.id.clone(), scenario.status.name().to_owned(), what];
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
