//! Notes on the differences between two answers.

use crate::response::finding::Findings;
use model::response::{Difference, Edit, Piece, Steady};

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

    pub(super) fn missing(
        &mut self,
        spot: &Spot<'_>,
        piece: Piece,
        shown: impl FnOnce() -> String,
    ) {
        self.change(spot, Edit::Missing(piece), || (Some(shown()), None));
    }

    pub(super) fn added<'a>(
        &mut self,
        spot: &Spot<'a>,
        at: &At<'a>,
        piece: Piece,
        shown: impl FnOnce() -> String,
    ) {
        if spot.may_be_missing(at) {
            return;
        }
        if spot.known.exact {
            return self.change(spot, Edit::Added(piece), || (None, Some(shown())));
        }
        self.apart = self.apart.max(Apart::Added);
        if !self.found.pass_over(0.0, false) {
            let path = spot.place.to_string();
            self.note(path, Edit::Added(piece), None, (None, Some(shown())));
        }
    }

    /// Notes a difference that is shown but is no change.
    pub(super) fn tolerate(&mut self, spot: &Spot<'_>, edit: Edit, (b, c): Sides) {
        self.apart = self.apart.max(Apart::Tolerated);
        self.note(spot.place.to_string(), edit, None, (Some(b), Some(c)));
    }

    /// Notes a change of what was the same in all takes.
    pub(super) fn change(&mut self, spot: &Spot<'_>, edit: Edit, shown: impl FnOnce() -> Shown) {
        if self.is_one_too_many() {
            return;
        }
        self.apart = Apart::Changed;
        let path = spot.place.to_string();
        let (agreed, takes) = spot.agreement(&path);
        let steady = Steady::Same { agreed, takes };
        self.note(path, edit, Some(steady), shown());
    }

    /// Notes that a varying place has a value of a kind that it had in no take.
    pub(super) fn never(&mut self, spot: &Spot<'_>, edit: Edit, (b, c): Sides) {
        self.apart = Apart::Changed;
        let path = spot.place.to_string();
        let (agreed, takes) = spot.agreement(&path);
        let steady = Steady::Unlike { agreed, takes };
        self.note(path, edit, Some(steady), (Some(b), Some(c)));
    }

    /// Whether a change is only counted, because enough are kept one by one.
    pub(super) fn is_one_too_many(&mut self) -> bool {
        let passed_over = self.found.pass_over(0.0, true);
        if passed_over {
            self.apart = Apart::Changed;
        }
        passed_over
    }

    fn note(&mut self, path: String, edit: Edit, breaks: Option<Steady>, shown: Shown) {
        self.found.note(Difference {
            breaks,
            expected: shown.0,
            got: shown.1,
            similarity: if breaks.is_some() { 0.0 } else { 1.0 },
            ..Difference::shown(path, edit)
        });
    }
}
