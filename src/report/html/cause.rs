//! Cards for the root causes of failures and changes: on the index, and on the page of each scenario concerned. Both use the same words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::slice;

use askama::Template;

use crate::causes;
use model::CauseCall;
use model::published::result::{Cause, CauseKind, ResultDocument, Scenario, Whose};

use super::conversation::link;
use super::excerpt::Excerpt;
use super::link::page_name;

/// How many scenarios of a cause are shown at once, and how many at all.
const SHOWN: usize = 6;
const MOST: usize = 60;

/// How many calls of one scenario are led to one by one.
const CALLS: usize = 6;

/// How many of a server's last lines are quoted.
const LOG_LINES: usize = 8;

/// Values no longer than this stand beside each other.
const BRIEF: usize = 44;

/// A cause, and where in the pages to look.
#[derive(Debug, Template)]
#[template(path = "cause.html")]
pub(super) struct Card<'a> {
    pub(super) cause: Cow<'a, Cause>,
    /// The scenario of the page failed for it, or on the index, any did.
    fails: bool,
    /// The class that gives it its colour.
    pub(super) class: &'static str,
    /// The sentence, without the values that stand beneath.
    pub(super) title: String,
    pub(super) values: Option<Values>,
    pub(super) whose: Option<&'static str>,
    /// How many scenarios and calls it concerns; `None` on the page of one of them.
    pub(super) extent: Option<String>,
    /// Where to look: the places that are shown at once, and the others.
    pub(super) places: [Vec<Place<'a>>; 2],
    /// How many scenarios are not named at all.
    pub(super) more: usize,
    /// What a server wrote last that kept the first of them from a verdict.
    pub(super) said: Vec<&'a str>,
    /// In how many other scenarios it does the same; 0 on the index, which names them.
    pub(super) elsewhere: usize,
}

/// What it was and what it is.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) was: Option<Excerpt>,
    pub(super) now: Option<Excerpt>,
    /// Both are so short that they stand beside each other.
    pub(super) brief: bool,
}

/// A scenario that a cause concerns.
#[derive(Debug, Template)]
#[template(path = "cause_place.html")]
pub(super) struct Place<'a> {
    /// The page it is on; empty on that page.
    pub(super) page: String,
    pub(super) name: &'a str,
    /// Its calls: their numbers for people, and where on the page they are.
    pub(super) calls: Vec<(String, String)>,
    pub(super) more_calls: usize,
}

/// The cards of a scenario: of what it failed for, and of what only changed. Each has the values of this scenario, whatever others have there.
/// What kept it from running is no card: the page begins with that.
pub(super) fn of_scenario<'a>(
    result: &'a ResultDocument,
    scenario: &'a Scenario,
) -> [Vec<Card<'a>>; 2] {
    let own = causes::causes(slice::from_ref(scenario), &result.command).into_iter();
    let own = own.filter(|it| it.kind != Some(CauseKind::Problem));
    let cards = own.map(|it| Card::on_page(it, result, scenario));
    let (failing, others) = cards.partition(|it| it.fails);
    [failing, others]
}

impl<'a> Card<'a> {
    /// A card that names all scenarios.
    pub(super) fn on_index(cause: &'a Cause, result: &'a ResultDocument) -> Self {
        let calls: HashMap<&str, &[CauseCall]> = (cause.places.iter())
            .map(|it| (it.scenario.as_str(), it.calls.as_slice()))
            .collect();
        let place = |id: &'a String| {
            let name = result.scenario(id).map_or(id.as_str(), |it| &it.name);
            let calls = calls.get(id.as_str()).copied().unwrap_or_default();
            Place::new(page_name(id), name, calls)
        };
        let mut shown: Vec<_> = cause.scenarios.iter().take(MOST).map(place).collect();
        let others = shown.split_off(shown.len().min(SHOWN));
        Self {
            extent: Some(cause.extent()),
            places: [shown, others],
            more: cause.scenarios.len().saturating_sub(MOST),
            said: result.last_lines(cause, LOG_LINES),
            ..Self::new(Cow::Borrowed(cause), cause.fails)
        }
    }

    /// A card on the page of a scenario, whose own cause this is.
    fn on_page(cause: Cause, result: &ResultDocument, scenario: &'a Scenario) -> Self {
        let calls = cause.places.iter().flat_map(|it| &it.calls);
        let calls: Vec<CauseCall> = calls.copied().collect();
        let place = Place::new(String::new(), &scenario.name, &calls);
        let place = (!place.calls.is_empty()).then_some(place);
        let shared = result.causes.iter().find(|it| it.id == cause.id);
        let elsewhere = shared.map_or(0, |it| it.scenarios.len().saturating_sub(1));
        let fails = cause.fails;
        Self {
            places: [place.into_iter().collect(), Vec::new()],
            elsewhere,
            ..Self::new(Cow::Owned(cause), fails)
        }
    }

    fn new(cause: Cow<'a, Cause>, fails: bool) -> Self {
        let title = causes::headline(&cause);
        Self {
            fails,
            class: match (fails, cause.kind) {
                (false, _) => "altered",
                (true, Some(CauseKind::Problem | CauseKind::Experiment)) => "status-error",
                (true, _) => "status-failed",
            },
            title: title.to_owned(),
            values: Values::beneath(&cause, title),
            whose: cause.whose.map(Whose::words),
            extent: None,
            places: [Vec::new(), Vec::new()],
            more: 0,
            said: Vec::new(),
            elsewhere: 0,
            cause,
        }
    }
}

impl Values {
    /// The values, unless there are none, the title names them, or nobody could read them.
    fn beneath(cause: &Cause, title: &str) -> Option<Self> {
        let (was, now) = (cause.was.as_deref(), cause.now.as_deref());
        let is_named = |it: &str| title.contains(&format!("`{it}`"));
        let is_quoted = title == cause.text;
        let is_said = |it: &str| is_named(it) || (is_quoted && title.contains(it));
        let is_medium = cause.path.as_deref().is_some_and(causes::is_medium);
        if is_medium || was.into_iter().chain(now).all(is_said) {
            return None;
        }
        let is_brief = |it: &str| it.chars().nth(BRIEF).is_none() && !it.contains('\n');
        let brief = was.into_iter().chain(now).all(is_brief);
        let [was, now] = Excerpt::versus(was, now);
        Some(Self { was, now, brief })
    }
}

impl<'a> Place<'a> {
    fn new(page: String, name: &'a str, calls: &[CauseCall]) -> Self {
        let links = calls.iter().take(CALLS).filter_map(|it| {
            let number = match (it.baseline, it.current) {
                (_, Some(number)) => number.to_string(),
                (Some(number), None) => format!("{number} of the baseline"),
                (None, None) => return None,
            };
            Some((number, link(it.baseline, it.current)?))
        });
        Self {
            page,
            name,
            calls: links.collect(),
            more_calls: calls.len().saturating_sub(CALLS),
        }
    }
}
