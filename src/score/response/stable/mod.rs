//! Answers that did not vary while they were recorded: every difference in them is a change.
//!
//! What recording learned to vary may vary, as far as that is chance; a time may move with the clock, and what is new beside all the old is
//! compatible. How long something took, or how long ago it was, says nothing. Everything else must be equal; nothing is graded.
//!
//! - `spot`: where the comparison is, and what is known of that place, and the notes on the differences.
//! - `elements`: which elements of two lists belong together. `hashes`: by which those that are the same find each other.
//! - `varied`: values where the takes had others, and times in the elements of a list that all moved alike, and what has grown
//!   since.

mod elements;
mod hashes;
mod spot;
mod varied;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::lists::align;
use crate::lists::assign::pair_off;
use crate::text::clock::Moved;
use crate::text::variation::{self, How, What};
use crate::text::watch::{self, Watched};
use crate::text::{excerpt, key};
use crate::values::embedded::is_too_dense;
use crate::values::kind::{article, is_of_kind, kind};
use crate::values::number;
use crate::values::path::{Place, Step};
use crate::values::same::{self, View, same};
use model::digits;
use model::text::several;
use model::{Answer, Edit, Object, Piece, Variation, VaryingToken};

use self::elements::{CELLS, Elements};
use self::hashes::Hashes;
use self::spot::{At, Notes, Spot, may_grow};

use super::finding::{Findings, Tree};
use super::parts::{Part, parts};

pub(crate) use self::spot::{Apart, Known, Terms};

/// How many times a text may hold JSON that again holds a text that holds JSON.
const EMBEDDINGS: usize = 4;

/// Of a place where a few takes had another kind of thing, and this answer has it again.
const TWO_WAYS: Edit = Edit::odd("answers in two ways");

/// Where keys are generated and this answer has none of them.
const NO_KEYS: Edit = Edit::odd("has none of the keys that vary");

/// The fewest generated keys for which the keys of an object count as generated; a single key may look so by chance.
const FEW_KEYS: usize = 2;

/// Compares an answer with the recorded one; the differences carry no losses yet.
pub(crate) fn compare<'a>(b: &'a Answer, c: &'a Answer, known: Known<'a>) -> (Findings, Apart) {
    let mut walk = Walk {
        spot: Spot {
            known,
            place: Place::default(),
        },
        notes: Notes::new(),
        embeddings: 0,
        hashes: Hashes::default(),
        excused: HashSet::new(),
        blocks: texts_of(b),
    };
    walk.answers(b, c);
    (walk.notes.found, walk.notes.apart)
}

/// Walks two answers side by side.
struct Walk<'a> {
    spot: Spot<'a>,
    notes: Notes,
    embeddings: usize,
    hashes: Hashes,
    /// Times of the current answer that are judged together with others.
    excused: HashSet<*const Value>,
    /// The texts of the recorded blocks, which values may repeat.
    blocks: HashSet<&'a str>,
}

/// The texts of the blocks of an answer that has structured content beside them.
fn texts_of(answer: &Answer) -> HashSet<&str> {
    let blocks = answer.content.iter();
    let blocks = blocks.filter(|_| answer.structured_content.is_some());
    blocks.filter_map(|it| it.get("text")?.as_str()).collect()
}

impl<'a> Walk<'a> {
    fn answers(&mut self, b: &'a Answer, c: &'a Answer) {
        let (mut b_parts, mut c_parts) = parts(b, c);
        if b.structured_content.is_none() {
            c_parts.extend(c.structured_content.as_ref().map(Part::Structured));
        }
        let root: At<'a> = vec![self.spot.known.varies];
        let under = |it: &Part<'a>| match it {
            Part::Block(index, _) => Tree::under_index(&Tree::under(&root, "content"), *index),
            Part::Structured(_) => Tree::under(&root, "structuredContent"),
        };
        let content = Tree::under(&root, "content");
        if Tree::varying(&content).is_some() && !may_grow(&content) {
            b_parts.retain(|it| matches!(it, Part::Structured(_)));
            c_parts.retain(|it| matches!(it, Part::Structured(_)));
        }
        let is_emptied = c.content.is_empty() && !b.content.is_empty();
        if is_emptied && Tree::any(&content).is_some_and(|it| it.by == Variation::Anything) {
            let both = (shown(&b.content[0]), "nothing".to_owned());
            (self.notes).never(&self.spot, Edit::odd("has no content"), both);
        }
        if is_emptied && self.spot.was_odd("/content", Value::is_null) {
            let both = (shown(&b.content[0]), "nothing".to_owned());
            self.notes.tolerate(&self.spot, TWO_WAYS, both);
            b_parts.retain(|it| matches!(it, Part::Structured(_)));
        }
        let pairs = self.paired_parts(&b_parts, &c_parts);
        let mut paired_b = vec![false; b_parts.len()];
        let mut paired_c = vec![false; c_parts.len()];
        for (i, j) in pairs {
            (paired_b[i], paired_c[j]) = (true, true);
            let at = under(&b_parts[i]);
            self.parts(b_parts[i], c_parts[j], &at);
        }
        for (part, _) in b_parts.iter().zip(paired_b).filter(|(_, paired)| !paired) {
            let missing = match part {
                Part::Block(..) => Piece::Block,
                Part::Structured(_) => Piece::Structured,
            };
            let at = under(part);
            self.at_part(*part, |walk| {
                walk.missing(&at, missing, || shown(part.value()));
            });
        }
        for (part, _) in c_parts.iter().zip(paired_c).filter(|(_, paired)| !paired) {
            let added = match part {
                Part::Block(..) if may_grow(&content) => continue,
                Part::Block(..) => Piece::Block,
                Part::Structured(_) => Piece::Structured,
            };
            let at = under(part);
            self.at_part(*part, |walk| {
                (walk.notes).added(&walk.spot, &at, added, || shown(part.value()));
            });
        }
    }

    /// Blocks in their order where they are of the same kinds, else those that say the same first.
    fn paired_parts(&mut self, b: &[Part<'a>], c: &[Part<'a>]) -> Vec<(usize, usize)> {
        let kinds = |parts: &[Part<'a>]| parts.iter().map(|it| it.kind()).collect::<Vec<_>>();
        if kinds(b) == kinds(c) {
            return (0..b.len()).map(|it| (it, it)).collect();
        }
        let mut keys = |parts: &[Part<'a>]| -> Vec<u64> {
            let key = |it: &Part<'a>| {
                let value = self
                    .hashes
                    .varying(&mut self.spot, it.value(), &Vec::new(), "");
                same::hash_of((it.kind(), value))
            };
            parts.iter().map(key).collect()
        };
        let (b_keys, c_keys) = (keys(b), keys(c));
        align::align(
            &b_keys,
            &c_keys,
            CELLS,
            |i, j| b[i].kind() == c[j].kind(),
            |_, _| 0.5,
        )
    }

    fn at_part(&mut self, part: Part<'a>, inside: impl FnOnce(&mut Self)) {
        match part {
            Part::Block(index, _) => self.at(Step::Key("content"), |walk| {
                walk.at(Step::Index(index), inside);
            }),
            Part::Structured(_) => self.at(Step::Key("structuredContent"), inside),
        }
    }

    fn parts(&mut self, b: Part<'a>, c: Part<'a>, at: &At<'a>) {
        let (of_b, of_c) = (b.value(), c.value());
        let is_structured = matches!(b, Part::Structured(_));
        self.at_part(b, |walk| {
            if walk.spot.is_ignored() {
                return;
            }
            let text = |it: &'a Value| it.get("text").and_then(Value::as_str);
            match (b.kind(), text(of_b), text(of_c)) {
                ("text", Some(b), Some(c)) => walk.block_texts(b, c, at),
                _ if is_structured => walk.document(of_b, of_c, at, ""),
                _ => walk.values(of_b, of_c, at, ""),
            }
        });
    }

    /// The texts of two blocks: as JSON they are at `json`, else at `text`.
    fn block_texts(&mut self, b: &'a str, c: &'a str, at: &At<'a>) {
        let plain = Tree::under(at, "text");
        // If one take had JSON and another had not, the path without `json` is the one that varies.
        if let Some(varying) =
            Tree::varying(at).or(Tree::varying(&plain).filter(|it| it.by == Variation::Anything))
            && matches!(varying.by, Variation::SameType | Variation::Anything)
        {
            return self.other_texts(Some(varying), b, c);
        }
        let json = Tree::under(at, "json");
        let documents = self.spot.known.documents;
        let is_json = |text: &str| documents.of(text).is_some();
        let is_empty = |text: &str| text.trim().is_empty();
        let is_odd = |seen: &Value| {
            let seen = seen.as_str().unwrap_or_default();
            is_json(b) != is_json(c) && is_json(seen) == is_json(c)
                || is_empty(b) != is_empty(c) && is_empty(seen) == is_empty(c)
        };
        if self.spot.was_odd("/text", is_odd) {
            return self.tolerated(TWO_WAYS, &Value::from(b), &Value::from(c));
        }
        if self.texts_as_json(b, c, &json, "") {
            return;
        }
        self.at(Step::Key("text"), |walk| walk.plain_texts(b, c, &plain, ""));
    }

    fn document(&mut self, b: &'a Value, c: &'a Value, at: &At<'a>, key: &str) {
        let outer = self.spot.place.begin_document();
        self.values(b, c, at, key);
        self.spot.place.end_document(outer);
    }

    fn at(&mut self, step: Step<'a>, inside: impl FnOnce(&mut Self)) {
        self.spot.place.enter(step);
        inside(self);
        self.spot.place.leave();
    }

    /// Compares two values; `key` is the innermost key that names them.
    fn values(&mut self, b: &'a Value, c: &'a Value, at: &At<'a>, key: &str) {
        if self.spot.is_ignored() || !self.spot.known.work.spend(1) {
            return;
        }
        if self.excused.contains(&std::ptr::from_ref(c)) {
            return;
        }
        let is_odd = |seen: &Value| is_of_kind(seen, c) && !is_of_kind(b, c);
        if self.spot.was_odd("", is_odd) {
            return self.tolerated(TWO_WAYS, b, c);
        }
        if let Some(varying) = Tree::varying(at)
            && self.varying_values(varying, b, c, at, key)
        {
            return;
        }
        if self.spot.is_source() && Tree::varying(at).is_none() {
            return;
        }
        match (b, c) {
            _ if digits::of(b).or(digits::of(c)).is_some() => self.leaves(b, c, key),
            (Value::Object(b), Value::Object(c)) => self.objects(b, c, at),
            (Value::Array(b), Value::Array(c)) => self.lists(b, c, at, key),
            (Value::String(b), Value::String(c)) => {
                let json = Tree::under(at, "json");
                let is_one_text = Tree::variation(at) == Some(Variation::Tokens);
                if is_one_text || !self.texts_as_json(b, c, &json, key) {
                    self.plain_texts(b, c, at, key);
                }
            }
            _ => self.leaves(b, c, key),
        }
    }

    fn leaves(&mut self, b: &Value, c: &Value, key: &str) {
        if self.spot.stands_for(b, c, key) {
            return;
        }
        match (b, c) {
            (Value::Number(of_b), Value::Number(of_c)) => {
                if !number::close(of_b, of_c) {
                    self.numbers(b, c, (number::float(of_b), number::float(of_c)), key);
                }
            }
            _ if same(b, c) => {}
            _ if kind(b) != kind(c) => self.changed(Edit::Became(article(kind(c))), b, c),
            _ => self.changed(Edit::Changed, b, c),
        }
    }

    fn numbers(&mut self, b: &Value, c: &Value, (x, y): (f64, f64), key: &str) {
        let clock = self.spot.known.clock;
        match clock.judge_number(x, y, key) {
            Moved::Quiet => {}
            Moved::WithTheClock => self.tolerated(Edit::odd("moved with the clock"), b, c),
            Moved::Otherwise => self.tolerated(Edit::odd("another moment"), b, c),
            Moved::No if key::is_age(key) && clock.is_number_after_recording(y) => {
                self.tolerated(Edit::odd("a time that went on"), b, c);
            }
            Moved::No if key::is_left(key) => self.tolerated(Edit::odd("how long is left"), b, c),
            Moved::No if key::is_duration(key) && watch::epoch(y, clock.now()).is_none() => {
                self.watched(watch::lasting(key, (x, y), None, clock.passed()), b, c);
            }
            Moved::No if key::unit(key).is_some_and(|it| clock.counted(x, y, it)) => {
                self.tolerated(Edit::odd("moved with the clock"), b, c);
            }
            // Long integers differ in digits that floating point lacks.
            Moved::Same | Moved::No => self.changed(Edit::Changed, b, c),
        }
    }

    /// Compares two texts as JSON where the recorded one holds some; false where they have to be compared as texts.
    fn texts_as_json(&mut self, b: &str, c: &str, at: &At<'a>, key: &str) -> bool {
        if b == c && at.is_empty() {
            return true;
        }
        if self.embeddings == EMBEDDINGS {
            return false;
        }
        let Some(b_json) = self.spot.known.documents.of(b) else {
            return false;
        };
        let Some(c_json) = self.spot.known.documents.of(c) else {
            if is_too_dense(c) {
                return false;
            }
            self.changed(Edit::NoLongerJson, &Value::from(b), &Value::from(c));
            return true;
        };
        // The documents live shorter than the walk, so a walk of their own is made for them.
        let mut inner = Walk {
            spot: self.spot.clone(),
            notes: std::mem::replace(&mut self.notes, Notes::new()),
            embeddings: self.embeddings + 1,
            hashes: Hashes::default(),
            excused: HashSet::new(),
            blocks: HashSet::new(),
        };
        inner.at(Step::Json, |walk| walk.document(&b_json, &c_json, at, key));
        self.notes = inner.notes;
        true
    }

    fn plain_texts(&mut self, b: &str, c: &str, at: &At<'a>, key: &str) {
        let learned = Tree::varying(at);
        let is_given = || (self.spot).stands_for(&Value::from(b), &Value::from(c), key);
        if self.spot.is_ignored() || (learned.is_none() && (self.spot.is_source() || is_given())) {
            return;
        }
        let varying: &[VaryingToken] = match learned.map(|it| it.by) {
            Some(Variation::Tokens) => learned.map_or(&[], |it| &it.parts),
            Some(Variation::Grew) => return self.grown_texts(b, c, at),
            Some(_) => return self.other_texts(learned, b, c),
            None => &[],
        };
        if b == c && varying.is_empty() {
            return;
        }
        let back = self.spot.known.back;
        let how = How {
            varying,
            pads: learned.is_some_and(|it| it.pads),
            is_leaf: self.spot.place.is_in_document() && !self.blocks.contains(b),
            key,
            clock: &self.spot.known.clock,
            is_live: self.spot.known.is_live,
            is_used: self.spot.is_source(),
            said: &|text| back?.text_given_back(text),
        };
        let found = variation::compare(b, c, &how);
        let is_excused =
            key::is_duration(key) && key::is_duration_text(b) && key::is_duration_text(c);
        for it in found {
            let shown = || excerpt::around((b, it.b), (c, it.c));
            let (edit, is_change) = match it.what {
                What::Changed if is_excused => continue,
                What::Never(what) => {
                    self.notes.never(&self.spot, Edit::odd(what), shown());
                    continue;
                }
                What::Changed => (Edit::Changed, true),
                What::Shown(what) | What::Moved(what) => (Edit::odd(what), self.spot.known.exact),
            };
            self.note_difference(edit, is_change, shown);
        }
    }

    fn objects(&mut self, b: &'a Object, c: &'a Object, at: &At<'a>) {
        if self.keys_have_moved(b, c) {
            for ((key, of_b), of_c) in b.iter().zip(c.values()) {
                let under = Tree::under(at, key);
                self.at(Step::Key(key), |walk| walk.values(of_b, of_c, &under, key));
            }
            return;
        }
        let added: Vec<&'a String> = c.keys().filter(|it| !b.contains_key(*it)).collect();
        for (key, of_b) in b {
            let under = Tree::under(at, key);
            if let Some(of_c) = c.get(key) {
                self.at(Step::Key(key), |walk| walk.values(of_b, of_c, &under, key));
                continue;
            }
            let hash = same::hash(of_b, View::Plain);
            // What may come and go is nobody's new name.
            let renamed = added.iter().find(|it| {
                same::hash(&c[**it], View::Plain) == hash
                    && !self.spot.may_be_missing(&Tree::under(at, it))
            });
            self.at(Step::Key(key), |walk| match renamed {
                Some(name) if !walk.spot.may_be_missing(&under) => {
                    let edit = Edit::Renamed((*name).clone());
                    (walk.notes).change(&walk.spot, edit, || (Some(shown(of_b)), None));
                }
                _ => walk.missing(&under, Piece::Member, || shown(of_b)),
            });
        }
        let is_free = |it: &&String| {
            let under = Tree::under(at, it);
            key::is_made_up(it)
                && Tree::varying(&under).is_some_and(|it| it.by == Variation::Anything)
        };
        // Where keys are generated, new ones are no additions, and it is a change if there are none.
        let are_made_up = b.keys().filter(is_free).count() >= FEW_KEYS;
        if are_made_up && !c.keys().any(|it| key::is_made_up(it)) {
            let both = (excerpt::of_keys(b), excerpt::of_keys(c));
            self.notes.never(&self.spot, NO_KEYS, both);
        }
        for key in added {
            if are_made_up && key::is_made_up(key) {
                continue;
            }
            let under = Tree::under(at, key);
            self.at(Step::Key(key), |walk| {
                let added = Piece::Member;
                (walk.notes).added(&walk.spot, &under, added, || shown(&c[key]));
            });
        }
    }

    fn lists(&mut self, b: &'a [Value], c: &'a [Value], at: &At<'a>, key: &str) {
        if !b.is_empty() && c.is_empty() {
            let count = || Some(several(b.len(), "element", "elements"));
            let shown = || (count(), Some("[]".to_owned()));
            return self.notes.change(&self.spot, Edit::BecameEmpty, shown);
        }
        if b.is_empty() && !c.is_empty() {
            let count = || Some(several(c.len(), "element", "elements"));
            let shown = || (Some("[]".to_owned()), count());
            return self.notes.change(&self.spot, Edit::WasEmpty, shown);
        }
        let paired = elements::in_order(&mut self.hashes, &mut self.spot, (b, c), at, key);
        let (b_alone, c_alone) = align::unpaired(&paired.pairs, b.len(), c.len());
        self.moved_alike((b, c), &paired.pairs, key);
        for &(i, j) in &paired.pairs {
            if paired.are_same(i, j) {
                continue;
            }
            let under = Tree::under_index(at, i);
            self.at(Step::Index(i), |walk| {
                walk.values(&b[i], &c[j], &under, key);
            });
        }
        let (b_keys, c_keys) = (paired.b_keys, paired.c_keys);
        // An equal element at another position is neither missing nor new.
        let mut elsewhere: HashMap<u64, Vec<usize>> = HashMap::new();
        for &it in c_alone.iter().rev() {
            elsewhere.entry(c_keys[it]).or_default().push(it);
        }
        let mut moved: HashMap<u64, usize> = HashMap::new();
        for it in b_alone {
            let under = Tree::under_index(at, it);
            let place = elsewhere.get_mut(&b_keys[it]).and_then(Vec::pop);
            if place.is_some() {
                *moved.entry(b_keys[it]).or_default() += 1;
            }
            self.at(Step::Index(it), |walk| match place {
                Some(place) if !walk.spot.is_left_out() => {
                    let at = |place| Some(format!("{} as element {}", shown(&b[it]), place + 1));
                    let shown = || (at(it), at(place));
                    (walk.notes).change(&walk.spot, Edit::Displaced, shown);
                }
                _ => walk.missing(&under, Piece::Element, || shown(&b[it])),
            });
        }
        let mut new = c_alone;
        new.retain(|it| match moved.get_mut(&c_keys[*it]) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
        self.added_elements(new, b.len(), &Elements::of_list(c), at);
    }

    /// Notes elements that are new beside so many recorded ones, but for as many as are known to come and go: for each there is a place after
    /// the last recorded element where anything may stand. Where the new ones stand makes no difference.
    fn added_elements(&mut self, new: Vec<usize>, recorded: usize, c: &Elements<'a>, at: &At<'a>) {
        if may_grow(at) {
            return;
        }
        let may_come = |it: &usize| {
            let under = Tree::under_index(at, *it);
            Tree::varying(&under).is_some_and(|it| it.by == Variation::Anything)
        };
        let places = recorded..recorded + new.len();
        let known = places.take_while(may_come).count();
        for it in new.into_iter().skip(known) {
            self.at(c.steps[it], |walk| {
                let none = Vec::new();
                (walk.notes).added(&walk.spot, &none, c.piece, || shown(c.values[it]));
            });
        }
    }

    /// Compares elements that may be in any order. Those that have no equal one, apart from what varies, are compared in order.
    fn in_any_order(&mut self, b: &Elements<'a>, c: &Elements<'a>, at: &At<'a>, key: &str) {
        let (mut b_alone, mut c_alone) =
            ((0..b.values.len()).collect(), (0..c.values.len()).collect());
        let exact = [b, c].map(|side| {
            let hashes = side.values.iter().map(|it| self.hashes.exact(it));
            hashes.collect::<Vec<_>>()
        });
        pair_off(
            &mut b_alone,
            &mut c_alone,
            |at| exact[0][at],
            |at| exact[1][at],
        );
        let under = b.under_any(at);
        let mut varying = |side: &Elements<'a>, alone: &[usize]| -> HashMap<usize, u64> {
            let mut key_of = |at: usize| {
                let value = side.values[at];
                (self.spot).at_an_element(|spot| self.hashes.varying(spot, value, &under, key))
            };
            alone.iter().map(|at| (*at, key_of(*at))).collect()
        };
        let (of_b, of_c) = (varying(b, &b_alone), varying(c, &c_alone));
        let alike = pair_off(&mut b_alone, &mut c_alone, |at| of_b[&at], |at| of_c[&at]);
        let none = Vec::new();
        let is_even = b_alone.len() == c_alone.len();
        let others = b_alone.iter().copied().zip(c_alone.iter().copied());
        let others = others.filter(|_| is_even);
        for (i, j) in alike.into_iter().chain(others) {
            let under = b.under(at, i);
            self.at(b.steps[i], |walk| {
                walk.values(b.values[i], c.values[j], &under, key);
            });
        }
        if is_even {
            return;
        }
        for i in b_alone {
            self.at(b.steps[i], |walk| {
                walk.missing(&none, b.piece, || shown(b.values[i]));
            });
        }
        self.added_elements(c_alone, b.values.len(), c, at);
    }

    fn missing(&mut self, at: &At<'a>, part: Piece, shown: impl FnOnce() -> String) {
        if self.spot.was_odd("", Value::is_null) {
            let both = (shown(), "nothing".to_owned());
            self.notes.tolerate(&self.spot, TWO_WAYS, both);
        } else if !self.spot.may_be_missing(at) {
            self.notes.missing(&self.spot, part, shown);
        }
    }

    /// Notes what is shown and passes, unless nothing may differ.
    fn tolerated(&mut self, edit: Edit, b: &Value, c: &Value) {
        let is_change = self.spot.known.exact;
        self.note_difference(edit, is_change, || excerpt::of_values(b, c));
    }

    fn changed(&mut self, edit: Edit, b: &Value, c: &Value) {
        self.note_difference(edit, true, || excerpt::of_values(b, c));
    }

    fn note_difference(
        &mut self,
        edit: Edit,
        is_change: bool,
        both: impl FnOnce() -> (String, String),
    ) {
        if is_change {
            self.notes.change(&self.spot, edit, || {
                let (b, c) = both();
                (Some(b), Some(c))
            });
        } else {
            self.notes.tolerate(&self.spot, edit, both());
        }
    }

    /// Notes what is wrong with a value that may vary.
    fn watched(&mut self, found: Option<Watched>, b: &Value, c: &Value) {
        match found {
            None => {}
            Some(Watched::Never(what)) => self.never(Edit::odd(what), b, c),
            Some(Watched::Shown(what)) => self.tolerated(Edit::odd(what), b, c),
        }
    }

    fn never(&mut self, edit: Edit, b: &Value, c: &Value) {
        let both = excerpt::of_values(b, c);
        self.notes.never(&self.spot, edit, both);
    }
}

fn shown(value: &Value) -> String {
    let text = value.get("text").and_then(Value::as_str);
    text.filter(|_| value.get("type").is_some())
        .map_or_else(|| excerpt::of(value), excerpt::of_text)
}
