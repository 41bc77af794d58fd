//! Which changes of a scenario each of its causes tells of.

use model::change::starred;
use model::published::result::{Cause, CauseCall, CauseKind, Change, ChangeKind, Scenario};

use super::draft::{Draft, What};
use super::gather;
use super::of_change::{Context, calls_of};

/// A cause with the changes that it tells of, by their places in the scenario's list; those that follow from it included.
pub struct Told {
    pub cause: Cause,
    pub changes: Vec<usize>,
    /// Of these, the changes at the place that the cause names.
    pub named: Vec<usize>,
}

/// The causes of a scenario, what fails first. Each change is told by exactly one of them; causes that are no change have none.
pub fn with_changes(scenario: &Scenario, command: &str) -> Vec<Told> {
    let context = Context::new(scenario, command);
    let rows = gather::rows(scenario);
    let drafts = gather::of_scenario(scenario, command).into_iter();
    let mut found: Vec<(Draft, Vec<usize>)> = drafts.map(|it| (it, Vec::new())).collect();
    // Of each change so far, the cause that tells of it.
    let mut told_by: Vec<usize> = Vec::new();
    for (at, change) in scenario.changes().iter().enumerate() {
        // What only has another name now is told with the name that went.
        let told = context.old_name(change).unwrap_or(change);
        let row = rows.get(&calls_of(told)).copied();
        let own = context.of_change(told, row);
        let root = change
            .follows
            .and_then(|it| told_by.get(it.change).copied());
        let told = root
            .or_else(|| whose(&found, told, &own))
            .unwrap_or_else(|| {
                found.push((own.of_one_scenario(), Vec::new()));
                found.len() - 1
            });
        found[told].1.push(at);
        told_by.push(told);
    }
    let told = found.into_iter().map(|(draft, changes)| {
        let cause = draft.finish();
        let named = named(&context, &cause, &changes);
        Told {
            cause,
            changes,
            named,
        }
    });
    let mut told: Vec<Told> = told.collect();
    told.sort_by_key(|it| super::order(&it.cause));
    told
}

/// Of a cause's changes, those at the place that it names, under the old name and the new one; all of its own where it names none of them.
fn named(context: &Context<'_>, cause: &Cause, changes: &[usize]) -> Vec<usize> {
    let all = context.scenario.changes();
    let own = || (changes.iter().copied()).filter(|at| all[*at].follows.is_none());
    let is_named = |at: &usize| {
        let told = context.old_name(&all[*at]).unwrap_or(&all[*at]);
        let starred = |path: &Option<String>| path.as_deref().map(starred);
        told.tool == cause.tool && starred(&told.path) == starred(&cause.path)
    };
    let named: Vec<usize> = own().filter(is_named).collect();
    if named.is_empty() { own().collect() } else { named }
}

/// The cause that tells of a change, which would be `own` if it was one by itself.
fn whose(found: &[(Draft, Vec<usize>)], change: &Change, own: &Draft) -> Option<usize> {
    let the = |is: &dyn Fn(&Draft) -> bool| found.iter().position(|(it, _)| is(it));
    let of_catalogue = |it: &Draft| it.kind == CauseKind::Drift;
    let call = calls_of(change);
    let same_place = |it: &Draft| {
        let path = change.path.as_deref().map(starred);
        path.is_some() && it.tool == change.tool && it.path.as_deref().map(starred) == path
    };
    the(&|it| it.key == own.key)
        .or_else(|| {
            the(&|it| of_catalogue(it) == (change.kind == ChangeKind::Drift) && same_place(it))
        })
        .or_else(|| match change.kind {
            ChangeKind::Drift => the(&|it| of_catalogue(it) && names(it, change)),
            _ => the(&|it| concerns(it, call) && it.kind == own.kind)
                .or_else(|| the(&|it| concerns(it, call))),
        })
        // A new call may be of a tool that only has another name.
        .or_else(|| {
            let is_new_call = change.kind == ChangeKind::Call && call.baseline.is_none();
            the(&|it| is_new_call && of_catalogue(it) && names(it, change))
        })
}

/// Whether a cause is about a call, or about one that has its number on either side.
fn concerns(draft: &Draft, call: CauseCall) -> bool {
    let calls = draft.places.iter().flat_map(|it| &it.calls);
    let side = |one: Option<usize>, other| one.is_some() && one == other;
    calls
        .into_iter()
        .any(|it| *it == call || side(it.current, call.current) || side(it.baseline, call.baseline))
}

/// Whether a cause is about the tool of a change, or names it as what another one became.
fn names(draft: &Draft, change: &Change) -> bool {
    let Some(tool) = &change.tool else {
        return false;
    };
    let said = match &draft.what {
        What::Said(said) | What::Whole(said) => said.as_str(),
        What::Failed(_) | What::Place(_) => "",
    };
    // What is only the nearest to a tool that is gone is another one.
    let said = said.split("; nearest").next().unwrap_or_default();
    let mut named = said.split('`').skip(1).step_by(2);
    draft.tool.as_ref() == Some(tool)
        || named.any(|it| !it.is_empty() && tool.ends_with(&format!("__{it}")))
}
