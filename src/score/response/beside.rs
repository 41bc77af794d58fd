//! Data beside the content of answers: `_meta` of the whole, and `_meta` and `annotations` of its blocks. It is for clients and not for
//! models, so what differs there is shown, and fails nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::text::excerpt;
use crate::values::path::{Pattern, Place, Step, covers_path};
use crate::values::same::DEPTH;
use model::{Answer, Difference, Edit, Learned};

/// The most places of one answer that are reported.
const PLACES: usize = 20;
/// The most of one answer that is looked at.
const LEAVES: usize = 1000;

/// The places that varied between several answers to one request; `None` where none of them has anything beside its content.
pub(crate) fn varying(answers: &[&Answer]) -> Option<Vec<String>> {
    let all: Vec<BTreeMap<String, &Value>> = answers.iter().map(|it| leaves(it, &[])).collect();
    let places: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let (first, others) = all.split_first()?;
    let varies = |it: &&&String| {
        others
            .iter()
            .any(|other| other.get(**it) != first.get(**it))
    };
    // Of what is not there each time, the name may be made up.
    let whole = |it: &&String| {
        let is_always = all.iter().all(|take| take.contains_key(*it));
        let above = it.rsplit_once('/').filter(|_| !is_always);
        above.map_or((*it).clone(), |it| it.0.to_owned())
    };
    let varying: BTreeSet<String> = places.iter().filter(varies).map(whole).collect();
    (!places.is_empty()).then(|| varying.into_iter().collect())
}

/// The places that varied in one recording or another; `None` where neither has looked.
pub(crate) fn together(recordings: [&Option<Vec<String>>; 2]) -> Option<Vec<String>> {
    let varying: BTreeSet<&String> = recordings.into_iter().flatten().flatten().collect();
    let has_looked = recordings.iter().any(|it| it.is_some());
    has_looked.then(|| varying.into_iter().cloned().collect())
}

/// Where a run's answer has other things beside its content than the recorded one, as far as recording has learned what of it varies.
pub(crate) fn differences(
    b: &Answer,
    c: &Answer,
    learned: &Learned,
    ignore: &[Pattern],
) -> Vec<Difference> {
    let (was, is) = (leaves(b, ignore), leaves(c, ignore));
    let varying = match &learned.beside {
        Some(varying) => varying.as_slice(),
        // What has come to an answer that had nothing.
        None if was.is_empty() => &[],
        None => return Vec::new(),
    };
    let places: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    // What people let go of is listed with what else varies.
    let by_hand = learned.varies.iter().map(|it| &it.path);
    let varying: Vec<&String> = varying.iter().chain(by_hand).collect();
    let varies = |place: &str| varying.iter().any(|it| covers_path(it, place));
    let differs = |it: &&String| was.get(*it) != is.get(*it) && !varies(it);
    let shown = |value: Option<&&Value>| value.map(|it| excerpt::of(it));
    let differing = places.into_iter().filter(differs).take(PLACES);
    let differing = differing.map(|it| {
        let edit = match is.get(it) {
            Some(_) => Edit::BesideContent,
            None => Edit::MissingBesideContent,
        };
        Difference {
            expected: shown(was.get(it)),
            got: shown(is.get(it)),
            ..Difference::shown(it.clone(), edit)
        }
    });
    differing.collect()
}

/// Values and lists by their places, but for those that are left out.
fn leaves<'a>(answer: &'a Answer, ignore: &[Pattern]) -> BTreeMap<String, &'a Value> {
    let mut leaves = Leaves {
        ignore,
        place: Place::default(),
        found: BTreeMap::new(),
    };
    leaves.part(&[Step::Key("_meta")], answer.other.get("_meta"));
    for (index, block) in answer.content.iter().enumerate() {
        // Other kinds of blocks are compared as they are.
        for key in ["annotations", "_meta"] {
            let value = block.get(key).filter(|_| block.get("text").is_some());
            let steps = [Step::Key("content"), Step::Index(index), Step::Key(key)];
            leaves.part(&steps, value);
        }
    }
    leaves.found
}

struct Leaves<'a, 'i> {
    ignore: &'i [Pattern],
    place: Place<'a>,
    found: BTreeMap<String, &'a Value>,
}

impl<'a> Leaves<'a, '_> {
    fn part(&mut self, steps: &[Step<'a>], value: Option<&'a Value>) {
        let Some(value) = value else { return };
        for step in steps {
            self.place.enter(*step);
        }
        let outer = self.place.begin_document();
        self.add(value, DEPTH);
        self.place.end_document(outer);
        for _ in steps {
            self.place.leave();
        }
    }

    fn add(&mut self, value: &'a Value, depth: usize) {
        if self.ignore.iter().any(|it| it.matches(&self.place)) {
            return;
        }
        match value {
            // An empty one says no more than none.
            Value::Object(members) if depth > 0 => {
                for (key, it) in members {
                    self.place.enter(Step::Key(key));
                    self.add(it, depth - 1);
                    self.place.leave();
                }
            }
            _ if self.found.len() < LEAVES => {
                self.found.insert(self.place.to_string(), value);
            }
            _ => {}
        }
    }
}
