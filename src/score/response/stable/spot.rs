//! The current place in a comparison of two answers, and what is known of it.

use serde_json::Value;

use crate::response::finding::{Findings, Tree};
use crate::text::clock::Clock;
use crate::text::key;
use crate::values::embedded::Documents;
use crate::values::path::{Pattern, Place, Step};
use crate::values::same::same;
use crate::work::Work;
use model::{Difference, Edit, Learned, Piece, Steady, Variation, Varying};

/// Other terms that a value can be given in: the ids of the run in the place of those of the baseline.
pub(crate) trait Terms: std::fmt::Debug {
    fn given_back(&self, value: &mut Value);
    /// A text in them; `None` where it is the same.
    fn text_given_back(&self, text: &str) -> Option<String>;
}

/// What is known of a recorded answer, and the rules for comparing with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// What was learned of it while recording.
    pub(crate) learned: &'a Learned,
    /// What varied in them.
    pub(crate) varies: &'a Tree<'a>,
    pub(crate) clock: Clock,
    /// Places to leave out: by the scenario's rules, and where another value stands for the recorded one.
    pub(crate) ignore: &'a [Pattern],
    pub(crate) sources: &'a [Pattern],
    /// Recorded ids and what this run's server has given in their place.
    pub(crate) given: &'a [(Value, Value)],
    /// From the baseline's terms back to what the run itself said.
    pub(crate) back: Option<&'a dyn Terms>,
    /// Servers answered, and not a recording.
    pub(crate) is_live: bool,
    /// Additions are changes, too.
    pub(crate) exact: bool,
    pub(crate) work: &'a Work<'a>,
    pub(crate) documents: &'a Documents,
}

/// The variations that were learned of one place.
pub(super) type At<'a> = Vec<&'a Tree<'a>>;

/// A place in the two answers.
#[derive(Debug, Clone)]
pub(super) struct Spot<'a> {
    pub(super) known: Known<'a>,
    pub(super) place: Place<'a>,
}

impl<'a> Spot<'a> {
    pub(super) fn is_left_out(&self) -> bool {
        self.is_ignored() || self.is_source()
    }

    /// Whether people said that it does not matter.
    pub(super) fn is_ignored(&self) -> bool {
        self.known.ignore.iter().any(|it| it.matches(&self.place))
    }

    /// Whether another value stands for the recorded one.
    pub(super) fn is_source(&self) -> bool {
        self.known.sources.iter().any(|it| it.matches(&self.place))
    }

    /// Whether it is no change when nothing is there any more.
    pub(super) fn may_be_missing(&self, at: &At<'a>) -> bool {
        let may_lack = |it: &Varying| {
            it.by == Variation::Anything
                && (it.seen.len() < self.known.learned.takes || it.path.contains("/*"))
        };
        self.is_left_out() || Tree::varying(at).is_some_and(may_lack)
    }

    /// Whether a take that was left out when this was learned had something of this kind here, or at this step beneath it.
    pub(super) fn was_odd(&self, beneath: &str, is_alike: impl Fn(&Value) -> bool) -> bool {
        let odd = &self.known.learned.odd;
        if odd.is_empty() {
            return false;
        }
        let path = format!("{}{beneath}", self.place);
        let mut here = odd.iter().filter(|odd| odd.path == path);
        here.any(|odd| odd.seen.iter().any(&is_alike))
    }

    /// How many of how many takes agreed on this place, whose path is given.
    pub(super) fn agreement(&self, path: &str) -> (usize, usize) {
        let learned = self.known.learned;
        if learned.odd.is_empty() {
            return (learned.takes, learned.takes);
        }
        // The JSON of a text has the path of the text with the step `json`.
        let of_text = learned.agreed(&format!("{path}/json"));
        (learned.agreed(path).min(of_text), learned.takes)
    }

    /// Whether a value is the id that this run's server has given in the place of the recorded one.
    pub(super) fn stands_for(&self, b: &Value, c: &Value, key: &str) -> bool {
        let given = self.known.given.iter();
        key::is_id(key)
            && given
                .into_iter()
                .any(|(recorded, live)| same(recorded, b) && same(live, c))
    }

    /// Does something at any element of the list that is here.
    pub(super) fn at_an_element<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.place.enter(Step::Index(0));
        let result = inside(self);
        self.place.leave();
        result
    }
}

/// Whether more than was recorded may stand there.
pub(super) fn may_grow(at: &At<'_>) -> bool {
    Tree::variation(at) == Some(Variation::Grew)
}

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
    fn is_one_too_many(&mut self) -> bool {
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
