//! What speaks against passing, in sections by what it came to: failures first, then what is not certain, then what was in the way of a
//! verdict.

use std::collections::HashMap;

use model::published::result::{Cause, CauseKind, ResultDocument, Status};

use super::cards::Cards;

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
