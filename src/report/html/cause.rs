//! What differs in one scenario and what that comes from, a card for each root cause.

use crate::published::result::{Cause, ResultDocument, Scenario, Whose};

use super::conversation::link;
use super::excerpt::Excerpt;

/// The most calls that a card leads to one by one.
const CALLS: usize = 8;

/// A card.
#[derive(Debug)]
pub(super) struct CauseView<'a> {
    pub(super) cause: &'a Cause,
    pub(super) whose: Option<&'static str>,
    pub(super) was: Option<Excerpt>,
    pub(super) now: Option<Excerpt>,
    /// The calls of this scenario, each with the block that it stands in.
    pub(super) calls: Vec<(String, String)>,
    /// How many calls of this scenario are not led to.
    pub(super) more_calls: usize,
    /// In how many other scenarios it does the same.
    pub(super) elsewhere: usize,
}

/// The cards of a scenario: of what it failed for, and of what only changed. Empty where an earlier program wrote the result.
pub(super) fn views<'a>(
    result: &'a ResultDocument,
    scenario: &'a Scenario,
) -> [Vec<CauseView<'a>>; 2] {
    let own = result.causes.iter().filter(|it| {
        let is_shown = it.kind.is_some() && (it.was.is_some() || it.now.is_some() || it.fails);
        is_shown && it.scenarios.contains(&scenario.id)
    });
    let views = own.map(|it| view(it, scenario));
    let (failing, others) = views.partition(|it| it.cause.fails);
    [failing, others]
}

fn view<'a>(cause: &'a Cause, scenario: &Scenario) -> CauseView<'a> {
    let [was, now] = Excerpt::versus(cause.was.as_deref(), cause.now.as_deref());
    let place = cause.places.iter().find(|it| it.scenario == scenario.id);
    let calls = place.map_or(&[][..], |it| &it.calls);
    let links = calls.iter().filter_map(|it| {
        let name = match (it.baseline, it.current) {
            (_, Some(number)) => format!("call {number}"),
            (Some(number), None) => format!("call {number} of the baseline"),
            (None, None) => return None,
        };
        Some((name, link(it.baseline, it.current)?))
    });
    CauseView {
        cause,
        whose: cause.whose.map(Whose::words),
        was,
        now,
        calls: links.take(CALLS).collect(),
        more_calls: calls.len().saturating_sub(CALLS),
        elsewhere: cause.scenarios.len().saturating_sub(1),
    }
}
