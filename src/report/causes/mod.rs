//! Root causes of failures and changes, each once for all scenarios.
//!
//! A scenario's differences are many, and most of them follow from few: a tool that was renamed, a value that a server answers otherwise.
//! What several calls and scenarios have in common is one cause here, with what it led to beneath.

mod draft;
mod ended;
mod expected;
mod gather;
mod key;
mod of_change;
mod renamed;
mod words;

use std::cmp::Reverse;
use std::collections::HashMap;

use model::published::result::{Cause, FORMAT_VERSION, ResultDocument, Scenario};

use draft::{Draft, Found};
pub use words::{calls, is_medium};

/// What scenarios failed for, and what changed in them: first what failed, and of that the cause of most scenarios and calls.
///
/// `command` is the command of the result, because what differs from an expectation is described in other words than what differs from a run.
pub fn causes(scenarios: &[Scenario], command: &str) -> Vec<Cause> {
    let drafts = drafts(scenarios, command).into_iter();
    let mut causes: Vec<Cause> = drafts.map(Draft::finish).collect();
    causes.sort_by_key(order);
    causes
}

/// Of the causes that scenarios have by themselves, those that are beneath another one for all of them, by their ids: the id of that.
pub fn roots(scenarios: &[Scenario], command: &str) -> HashMap<String, String> {
    let drafts = drafts(scenarios, command).into_iter();
    let beneath = drafts.flat_map(|it| {
        let id = it.key.id();
        it.beneath
            .into_iter()
            .map(move |beneath| (beneath, id.clone()))
    });
    beneath.collect()
}

fn drafts(scenarios: &[Scenario], command: &str) -> Vec<Draft> {
    let mut found = Found::default();
    for scenario in scenarios {
        for draft in gather::of_scenario(scenario, command) {
            found.add(draft);
        }
    }
    found.into_causes()
}

/// A cause of one scenario with the changes that it tells of, by their places in the scenario's list; those that follow from it included.
pub struct CauseWithChanges {
    pub cause: Cause,
    pub changes: Vec<usize>,
    /// Of these, the changes at the place that the cause names.
    pub named: Vec<usize>,
}

/// The causes of a scenario, what fails first. Each change belongs to exactly one of them; causes that are no change have none.
pub fn with_changes(scenario: &Scenario, command: &str) -> Vec<CauseWithChanges> {
    let drafts = gather::of_scenario(scenario, command).into_iter();
    let causes = drafts.map(|mut draft| {
        let changes = std::mem::take(&mut draft.changes);
        let named = std::mem::take(&mut draft.named);
        CauseWithChanges {
            cause: draft.finish(),
            changes,
            named,
        }
    });
    let mut causes: Vec<CauseWithChanges> = causes.collect();
    causes.sort_by_key(|it| order(&it.cause));
    causes
}

/// What failed first, and of that what concerns most.
fn order(it: &Cause) -> (bool, Reverse<usize>, Reverse<usize>) {
    (!it.fails, Reverse(it.scenarios.len()), Reverse(it.calls))
}

/// The sentence of a cause without the values that it ends with, for readers that show these by themselves.
pub fn headline(cause: &Cause) -> &str {
    let (was, now) = (cause.was.as_deref(), cause.now.as_deref());
    let gone = draft::gone(was, now);
    if let Some(before) = gone.and_then(|it| cause.text.strip_suffix(it.as_str())) {
        return before;
    }
    let values = draft::values(was, now);
    let before = values.and_then(|it| cause.text.strip_suffix(it.as_str()));
    let one = before.and_then(|it| it.strip_suffix(draft::COLON));
    let several = before.filter(|it| it.ends_with(draft::SUCH_AS));
    one.or(several.map(str::trim_end)).unwrap_or(&cause.text)
}

/// Makes a result of an earlier program one of today: its causes, which are one sentence each, get everything that they have now.
pub fn complete(result: &mut ResultDocument) {
    // Version 1 has no causes, or sentences alone. That a later one has none says that there are none.
    let is_complete = result.format_version > 1 && result.causes.iter().all(|it| it.kind.is_some());
    if !is_complete {
        result.causes = causes(&result.scenarios, &result.command);
    }
    result.format_version = FORMAT_VERSION;
}
