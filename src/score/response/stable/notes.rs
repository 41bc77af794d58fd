//! Notes on the differences between two answers.

use crate::response::finding::Findings;
use model::comparison::{Difference, THOUGH_THE_SAME, UNLIKE};

use super::spot::{At, Spot};

/// How far two answers are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Apart {
    Same,
    /// Only something that says how long it took, or how old it is.
    Tolerated,
    /// The current answer has additions.
    Added,
    Changed,
}

/// What was there and what is there now, for people to see; `None` where nothing is.
type Shown = (Option<String>, Option<String>);
/// The same where something is on both sides.
type Sides = (String, String);

/// The differences that were met.
#[derive(Debug)]
pub(super) struct Notes {
    pub(super) found: Findings,
    pub(super) apart: Apart,
}

impl Notes {
    pub(super) fn new() -> Self {
        Self {
            found: Findings::default(),
            apart: Apart::Same,
        }
    }

    pub(super) fn missing(&mut self, spot: &Spot<'_>, what: &str, shown: impl FnOnce() -> String) {
        let what = format!("missing {what}");
        self.change(spot, what.trim_end(), || (Some(shown()), None));
    }

    pub(super) fn added<'a>(
        &mut self,
        spot: &Spot<'a>,
        at: &At<'a>,
        rule: &'static str,
        shown: impl FnOnce() -> String,
    ) {
        if spot.may_be_missing(at) {
            return;
        }
        if spot.known.exact {
            return self.change(spot, rule, || (None, Some(shown())));
        }
        self.apart = self.apart.max(Apart::Added);
        if !self.found.pass_over(0.0, false) {
            self.note(spot.place.to_string(), rule, None, (None, Some(shown())));
        }
    }

    /// Notes a difference that is shown but is no change.
    pub(super) fn tolerate(&mut self, spot: &Spot<'_>, rule: &str, (b, c): Sides) {
        self.apart = self.apart.max(Apart::Tolerated);
        self.note(spot.place.to_string(), rule, None, (Some(b), Some(c)));
    }

    /// Notes a change of what was the same in all takes.
    pub(super) fn change(&mut self, spot: &Spot<'_>, what: &str, shown: impl FnOnce() -> Shown) {
        if self.is_one_too_many() {
            return;
        }
        self.apart = Apart::Changed;
        let path = spot.place.to_string();
        let same_in = match spot.agreement(&path) {
            (2, 2) => "both times".to_owned(),
            (agreed, takes) if agreed == takes => format!("all {takes} times"),
            (agreed, takes) => format!("{agreed} of {takes} times"),
        };
        let contract = format!("{what}{THOUGH_THE_SAME}{same_in} it was recorded");
        self.note(path, what, Some(&contract), shown());
    }

    /// Notes that a varying place has a value of a kind that it had in no take.
    pub(super) fn never(&mut self, spot: &Spot<'_>, what: &str, (b, c): Sides) {
        self.apart = Apart::Changed;
        let path = spot.place.to_string();
        let contract = match spot.agreement(&path) {
            (agreed, takes) if agreed == takes => {
                format!("{what}{UNLIKE}{takes} times it was recorded")
            }
            (agreed, takes) => format!("{what}{UNLIKE}{agreed} of {takes} times that agreed"),
        };
        self.note(path, what, Some(&contract), (Some(b), Some(c)));
    }

    /// Whether a change is only counted, because enough are kept one by one.
    pub(super) fn is_one_too_many(&mut self) -> bool {
        let passed_over = self.found.pass_over(0.0, true);
        if passed_over {
            self.apart = Apart::Changed;
        }
        passed_over
    }

    fn note(&mut self, path: String, rule: &str, contract: Option<&str>, shown: Shown) {
        let difference = Difference {
            path,
            expected: shown.0,
            got: shown.1,
            similarity: if contract.is_some() { 0.0 } else { 1.0 },
            rule: rule.to_owned().into(),
            loss: 0.0,
        };
        self.found.note(difference, contract);
    }
}
