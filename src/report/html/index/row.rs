//! One scenario in the table of all.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::slice;

use super::cards::Cards;
use crate::causes;
use crate::duration;
use crate::html::link::page_name;
use crate::html::state::State;
use model::Status;
use model::points::score;
use model::published::result::{Cause, CauseKind, Quarantine, ResultDocument, Scenario};
use model::text::shorten;

/// The longest sentence in a row; the scenario's page has the whole.
const SENTENCE: usize = 220;

/// One scenario. There may be thousands, so a row has no more than it shows and is found by.
pub(super) struct Row<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) state: State,
    /// The state with what belongs to it: `passed, 2 changes`.
    pub(super) words: String,
    pub(super) page: String,
    pub(super) score: Option<String>,
    pub(super) calls: String,
    pub(super) duration: String,
    /// For sorting, in milliseconds.
    pub(super) milliseconds: String,
    /// What several runs came to together.
    pub(super) repeated: Option<String>,
    pub(super) flaky: bool,
    /// Why it decides nothing, where it has not passed all the same.
    pub(super) let_pass: Vec<String>,
    /// What it failed for, or what changed: what few others have in common with it, and how many more there are.
    pub(super) sentence: Option<String>,
    pub(super) more: usize,
    /// Its tags, servers and tools, by their places in the lists of the filters.
    pub(super) tags: String,
    pub(super) servers: String,
    pub(super) tools: String,
}

/// All tags, servers and tools there are, in order.
pub(super) struct Names<'a> {
    pub(super) tags: Vec<&'a str>,
    pub(super) servers: Vec<&'a str>,
    pub(super) tools: Vec<&'a str>,
    places: [BTreeMap<&'a str, usize>; 3],
}

impl<'a> Names<'a> {
    pub(super) fn of(result: &'a ResultDocument) -> Self {
        let all = |of: fn(&'a Scenario) -> BTreeSet<&'a str>| -> Vec<&'a str> {
            let all: BTreeSet<&str> = result.scenarios.iter().flat_map(of).collect();
            all.into_iter().collect()
        };
        let (tags, servers, tools) = (all(tags), all(servers), all(tools));
        let places = [&tags, &servers, &tools]
            .map(|names| names.iter().enumerate().map(|(at, it)| (*it, at)).collect());
        Self {
            tags,
            servers,
            tools,
            places,
        }
    }

    fn places(&self, kind: usize, names: &BTreeSet<&str>) -> String {
        let places = names.iter().filter_map(|it| self.places[kind].get(it));
        places
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn tags(scenario: &Scenario) -> BTreeSet<&str> {
    scenario.tags.iter().map(String::as_str).collect()
}

fn servers(scenario: &Scenario) -> BTreeSet<&str> {
    let side = scenario.current.as_ref().or(scenario.baseline.as_ref());
    let named = side.iter().flat_map(|it| &it.servers);
    named.map(|it| it.server.as_str()).collect()
}

fn tools(scenario: &Scenario) -> BTreeSet<&str> {
    let rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    let compared = rows.filter_map(|it| it.tool.as_deref());
    // Of what was compared with nothing, the run says it.
    let called = scenario.current.iter().flat_map(|it| &it.tools);
    compared.chain(called.map(String::as_str)).collect()
}

/// Of each scenario, the cause that sets it apart, failing ones first: that which the fewest scenarios share. And how many it has.
pub(super) fn rarest_causes(result: &ResultDocument) -> HashMap<&str, (&Cause, usize)> {
    let mut causes: HashMap<&str, Vec<&Cause>> = HashMap::new();
    for cause in &result.causes {
        for id in &cause.scenarios {
            causes.entry(id).or_default().push(cause);
        }
    }
    let rarest = causes.into_iter().filter_map(|(id, all)| {
        let fails = |it: &Cause| {
            let own = it.places.iter().find(|place| place.scenario == id);
            it.fails && own.is_none_or(|place| place.fails)
        };
        let first = all
            .iter()
            .min_by_key(|it| (!fails(it), it.scenarios.len()))?;
        Some((id, (*first, all.len())))
    });
    rarest.collect()
}

impl<'a> Row<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        command: &str,
        names: &Names<'_>,
        rarest: &HashMap<&str, (&Cause, usize)>,
    ) -> Self {
        let state = State::of(scenario);
        let cause = rarest.get(scenario.id.as_str());
        let problem = scenario.problem.as_ref().map(|it| it.message.as_str());
        // Of what several scenarios share, the cause has the values of the first.
        let own = cause
            .filter(|(it, _)| it.scenarios.len() > 1)
            .and_then(|(shared, _)| {
                let own = causes::causes(slice::from_ref(scenario), command);
                own.into_iter().find(|it| it.id == shared.id)
            });
        let cause_text = own
            .as_ref()
            .or(cause.map(|(it, _)| *it))
            .map(|it| it.text.as_str());
        let sentence = cause_text.or(problem);
        Self {
            scenario,
            state,
            words: match state {
                State::Changed => scenario.status_words(command),
                _ if scenario.is_let_pass() => scenario.status_words(command),
                state => state.words(command).to_owned(),
            },
            page: page_name(&scenario.id),
            score: scenario.score().map(score),
            calls: scenario.calls().unwrap_or_default(),
            duration: duration::known(scenario.duration_ms),
            milliseconds: scenario
                .duration_ms
                .map_or_else(String::new, |it| format!("{it:.0}")),
            repeated: scenario.repeated.as_ref().map(|it| it.words()),
            flaky: scenario.flaky || scenario.repeated.as_ref().is_some_and(|it| it.flaky),
            let_pass: scenario
                .quarantine
                .iter()
                .map(Quarantine::words)
                .chain(scenario.share().cloned())
                .collect(),
            sentence: sentence.map(|it| shorten(it, SENTENCE).into_owned()),
            more: cause.map_or(0, |(_, count)| count - 1),
            tags: names.places(0, &tags(scenario)),
            servers: names.places(1, &servers(scenario)),
            tools: names.places(2, &tools(scenario)),
        }
    }
}

/// How many causes a section shows.
const CAUSES: usize = 40;

/// Causes under one heading.
pub(super) struct Section<'a> {
    /// Names it within the page.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) cards: Cards<'a>,
}

/// What a cause came to; what weighs most comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Against {
    Failed,
    Inconclusive,
    InTheWay,
}

impl Against {
    const ALL: [Self; 3] = [Self::Failed, Self::Inconclusive, Self::InTheWay];

    /// By the worst of the scenarios that the cause kept from passing.
    fn of(cause: &Cause, statuses: &HashMap<&str, Status>) -> Self {
        let own = |it: &String| {
            let place = cause.places.iter().find(|place| place.scenario == *it);
            place.is_none_or(|place| place.fails)
        };
        let failed = cause.scenarios.iter().filter(|it| own(it));
        let came_to = failed.map(|it| match statuses.get(it.as_str()) {
            Some(Status::Failed) => Self::Failed,
            Some(Status::Inconclusive) => Self::Inconclusive,
            _ => Self::InTheWay,
        });
        match cause.kind {
            Some(CauseKind::Problem | CauseKind::Experiment) => {
                came_to.min().map_or(Self::InTheWay, |it| match it {
                    // Another experiment may fail, where comparing it was asked for.
                    Self::Failed if cause.kind == Some(CauseKind::Experiment) => it,
                    _ => Self::InTheWay,
                })
            }
            _ => came_to.min().unwrap_or(Self::Failed),
        }
    }

    fn heading(self) -> (&'static str, &'static str) {
        match self {
            Self::Failed => ("causes", "Why it failed"),
            Self::Inconclusive => ("uncertain", "Uncertain"),
            Self::InTheWay => ("in-the-way", "Errors"),
        }
    }
}

/// The sections that have any cause.
pub(super) fn sections(result: &ResultDocument) -> Vec<Section<'_>> {
    let statuses: HashMap<&str, Status> = (result.scenarios.iter())
        .map(|it| (it.id.as_str(), it.status))
        .collect();
    let section = |kind: Against| {
        let is_meant = |it: &Cause| it.fails && Against::of(it, &statuses) == kind;
        let (id, title) = kind.heading();
        Section {
            id,
            title,
            cards: Cards::new(result, is_meant, CAUSES),
        }
    };
    let sections = Against::ALL.map(section).into_iter();
    sections.filter(|it| !it.cards.shown.is_empty()).collect()
}
