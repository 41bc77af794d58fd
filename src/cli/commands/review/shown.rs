//! What is said of a run that waits.

use std::path::Path;

use crate::model::comparison::Change;
use crate::model::redacted::Redacted;
use crate::model::scenario as model;
use crate::model::suite::SuiteResult;
use crate::published::result::{Change as PublishedChange, ResultDocument, Scenario};
use crate::report::terminal::{self, Style};
use crate::suite::Waiting;
use crate::text;

/// A run that waits, with its comparison.
pub(super) struct Shown {
    suite: Redacted<SuiteResult>,
    document: ResultDocument,
}

impl Shown {
    pub(super) fn of(waiting: &Waiting) -> Self {
        let suite = waiting.judged();
        Self {
            document: ResultDocument::from(&suite),
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
        let line = format!(
            "{}  {}  {count}{first}",
            scenario.id,
            scenario.status.name()
        );
        text::line(&line).into_owned()
    }

    /// All of it, as the report of a comparison has it.
    pub(super) fn report(&self, style: Style) -> String {
        terminal::scenarios(&self.document, style)
    }
}

pub(super) fn accepted(waiting: &Waiting, kept: &Path) -> String {
    let said = format!("accepted {}: {}", waiting.scenario().id, kept.display());
    text::line(&said).into_owned() + "\n"
}

pub(super) fn rejected(scenario: &model::Scenario) -> String {
    let said = format!("rejected {}: the baseline stays as it is", scenario.id);
    text::line(&said).into_owned() + "\n"
}

/// What is let go of, and where that was written.
pub(super) fn ignored(change: &Change, kept: &Path) -> String {
    let place = change.path.as_deref().unwrap_or_default();
    let place = place.strip_prefix("response").unwrap_or(place);
    let call = change.baseline.unwrap_or_default();
    let said = format!(
        "ignored from now on: {place} of call {call}, in {}",
        kept.display()
    );
    text::line(&said).into_owned() + "\n"
}
