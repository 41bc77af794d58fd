//! One root cause as a card.

use std::collections::HashMap;

use crate::published::result::{Cause, CauseCall, CauseKind, ResultDocument, Whose};
use crate::report::html::conversation;
use crate::report::html::excerpt::Excerpt;
use crate::report::html::page_name;

/// How many scenarios of a cause are shown at once, and how many at all.
const SHOWN: usize = 6;
const MOST: usize = 60;

/// How many calls of one scenario lead to its page.
const CALLS: usize = 6;

/// A cause, and where in the pages to look.
pub(super) struct Card<'a> {
    pub(super) cause: &'a Cause,
    /// The class that gives it its colour.
    pub(super) class: &'static str,
    pub(super) doing: Option<&'static str>,
    pub(super) extent: String,
    /// Both values, where the sentence has only a part of them.
    pub(super) versus: Option<[Option<Excerpt>; 2]>,
    /// The scenarios: those that are shown at once, and the others.
    pub(super) scenarios: [Vec<CardScenario<'a>>; 2],
    /// How many scenarios are not shown at all.
    pub(super) more: usize,
}

/// A scenario that a cause concerns.
pub(super) struct CardScenario<'a> {
    pub(super) page: String,
    pub(super) name: &'a str,
    /// Its calls: their numbers for people, and where on the page they are.
    pub(super) calls: Vec<(String, String)>,
    pub(super) more_calls: usize,
}

impl<'a> Card<'a> {
    pub(super) fn new(cause: &'a Cause, result: &'a ResultDocument) -> Self {
        let calls: HashMap<&str, &[CauseCall]> = (cause.places.iter())
            .map(|it| (it.scenario.as_str(), it.calls.as_slice()))
            .collect();
        let scenario = |id: &'a String| {
            let name = result.scenario(id).map_or(id.as_str(), |it| &it.name);
            let calls = calls.get(id.as_str()).copied().unwrap_or_default();
            let links = calls.iter().take(CALLS).filter_map(|it| {
                let link = conversation::link(it.baseline, it.current)?;
                Some((it.current.or(it.baseline)?.to_string(), link))
            });
            CardScenario {
                page: page_name(id),
                name,
                calls: links.collect(),
                more_calls: calls.len().saturating_sub(CALLS),
            }
        };
        let ids = cause.scenarios.iter().take(MOST);
        let mut shown: Vec<_> = ids.map(scenario).collect();
        let others = shown.split_off(shown.len().min(SHOWN));
        Self {
            cause,
            class: match (cause.fails, cause.kind) {
                (false, _) => "altered",
                (true, Some(CauseKind::Problem | CauseKind::Experiment)) => "status-error",
                (true, _) => "status-failed",
            },
            doing: cause.whose.map(doing),
            extent: cause.extent(),
            versus: versus(cause),
            scenarios: [shown, others],
            more: cause.scenarios.len().saturating_sub(MOST),
        }
    }
}

/// Both values of a cause whose sentence does not have all of them.
fn versus(cause: &Cause) -> Option<[Option<Excerpt>; 2]> {
    let (was, now) = (cause.was.as_deref()?, cause.now.as_deref()?);
    let is_said = cause.text.contains(was) && cause.text.contains(now);
    (!is_said).then(|| Excerpt::versus(Some(was), Some(now)))
}

fn doing(whose: Whose) -> &'static str {
    match whose {
        Whose::Agent => "the agent’s doing",
        Whose::Server => "the server’s doing",
        Whose::Catalogue => "the tool catalogue",
        Whose::Behind => "behind the server",
        Whose::Experiment => "another experiment",
    }
}
