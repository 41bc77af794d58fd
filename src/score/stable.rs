//! Answers that did not vary while they were recorded: whatever is another in them now is a change.
//!
//! What recording learned to vary may vary, a time may move with the clock, and what is new beside all the old is compatible. How long
//! something took, or how long ago it was, is shown and no more. Everything else must be as it was: this is no grading.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use serde_json::Value;

use crate::digits;
use crate::model::Object;
use crate::model::comparison::Difference;
use crate::model::learned::{Learned, TokenKind, Variation, VaryingToken};
use crate::model::trajectory::Answer;

use super::align;
use super::clock::Clock;
use super::edits;
use super::embedded::{Documents, is_too_dense};
use super::excerpt;
use super::finding::Findings;
use super::key;
use super::kind::{article, kind};
use super::made_up_keys;
use super::number;
use super::parts::{Part, parts};
use super::path::{Pattern, Place, Step};
use super::same::{self, View, same};
use super::token::{may_move, tokens};
use super::variation::{self, Likeness, Tree};
use super::work::Work;

/// How many times a text may hold JSON that again holds a text that holds JSON.
const EMBEDDINGS: usize = 4;

/// One key that comes and goes may look made up by chance.
const FEW_KEYS: usize = 2;

/// Elements between two that are the same are paired by likeness where these are no more pairs, else in their order.
const CELLS: usize = 1 << 12;

/// What an answer is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    /// What was heard of it.
    pub(super) learned: &'a Learned,
    /// What varied in them.
    pub(super) varies: &'a Tree<'a>,
    pub(super) clock: Clock,
    /// Places to leave out: by the scenario's rules, and where another value stands for the recorded one.
    pub(super) ignore: &'a [Pattern],
    pub(super) sources: &'a [Pattern],
    /// Recorded ids and what this run's server has given in their place.
    pub(super) given: &'a [(Value, Value)],
    /// Additions are changes, too.
    pub(super) exact: bool,
    pub(super) work: &'a Work<'a>,
    pub(super) documents: &'a Documents,
}

/// How far two answers are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Apart {
    Same,
    /// Only something that says how long it took, or how old it is.
    Tolerated,
    /// One has more to say.
    Added,
    Changed,
}

/// Compares an answer with the recorded one; the differences carry no losses yet.
pub(super) fn compare<'a>(b: &'a Answer, c: &'a Answer, known: Known<'a>) -> (Findings, Apart) {
    let mut walk = Walk {
        known,
        place: Place::default(),
        found: Findings::default(),
        apart: Apart::Same,
        embeddings: 0,
        hashes: HashMap::new(),
        exact_hashes: HashMap::new(),
    };
    walk.answers(b, c);
    (walk.found, walk.apart)
}

struct Walk<'a> {
    known: Known<'a>,
    place: Place<'a>,
    found: Findings,
    apart: Apart,
    embeddings: usize,
    /// Of lists and objects that were hashed, by their addresses: but for what may vary, and as they are.
    hashes: HashMap<usize, u64>,
    exact_hashes: HashMap<usize, u64>,
}

type At<'a> = Vec<&'a Tree<'a>>;

impl<'a> Walk<'a> {
    fn answers(&mut self, b: &'a Answer, c: &'a Answer) {
        let (mut b_parts, mut c_parts) = parts(b, c);
        if b.structured_content.is_none() {
            c_parts.extend(c.structured_content.as_ref().map(Part::Structured));
        }
        let root: At<'a> = vec![self.known.varies];
        let under = |it: &Part<'a>| match it {
            Part::Block(index, _) => Tree::under_index(&Tree::under(&root, "content"), *index),
            Part::Structured(_) => Tree::under(&root, "structuredContent"),
        };
        if Tree::variation(&Tree::under(&root, "content")).is_some() {
            b_parts.retain(|it| matches!(it, Part::Structured(_)));
            c_parts.retain(|it| matches!(it, Part::Structured(_)));
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
            let at = under(part);
            let shown = shown(part.value());
            self.at_part(*part, |walk| walk.missing(&at, "block", shown));
        }
        for (part, _) in c_parts.iter().zip(paired_c).filter(|(_, paired)| !paired) {
            let what = match part {
                Part::Block(..) => "added block",
                Part::Structured(_) => "added structured content",
            };
            let at = under(part);
            let shown = shown(part.value());
            self.at_part(*part, |walk| walk.added(&at, what, shown));
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
                let value = self.hash(it.value(), &Vec::new(), "");
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
            if walk.is_left_out() {
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
        let is_open =
            |it: Option<&Variation>| matches!(it, Some(Variation::SameType | Variation::Anything));
        // Where a take had JSON and another had none, it is the text that is not looked at.
        if is_open(Tree::variation(at)) || Tree::variation(&plain) == Some(&Variation::Anything) {
            return;
        }
        let json = Tree::under(at, "json");
        if self.texts_as_json(b, c, &json, "") {
            return;
        }
        self.at(Step::Key("text"), |walk| walk.plain_texts(b, c, &plain, ""));
    }

    fn document(&mut self, b: &'a Value, c: &'a Value, at: &At<'a>, key: &str) {
        let outer = self.place.begin_document();
        self.values(b, c, at, key);
        self.place.end_document(outer);
    }

    fn at(&mut self, step: Step<'a>, inside: impl FnOnce(&mut Self)) {
        self.place.enter(step);
        inside(self);
        self.place.leave();
    }

    fn is_left_out(&self) -> bool {
        let patterns = self.known.ignore.iter().chain(self.known.sources);
        patterns.into_iter().any(|it| it.matches(&self.place))
    }

    /// `key` is the one that says what the values are.
    fn values(&mut self, b: &'a Value, c: &'a Value, at: &At<'a>, key: &str) {
        if self.is_left_out() || !self.known.work.spend(1) {
            return;
        }
        match Tree::variation(at) {
            Some(Variation::SameType | Variation::AnyOrder | Variation::AnyElements)
                if kind(b) != kind(c) =>
            {
                let what = format!("became {}", article(kind(c)));
                return self.never(&what, b, c);
            }
            Some(Variation::SameType) if is_emptied(b, c) => {
                return self.never("became empty", b, c);
            }
            Some(Variation::SameType | Variation::Anything) => return,
            Some(Variation::AnyOrder) => {
                if let (Value::Array(b), Value::Array(c)) = (b, c) {
                    self.in_any_order(b, c, at, key);
                }
                return;
            }
            Some(Variation::AnyElements) => {
                if is_emptied(b, c) {
                    self.never("became empty", b, c);
                } else if has_other_kinds(b, c) {
                    self.never("has elements of another kind", b, c);
                }
                return;
            }
            Some(Variation::Tokens(_)) | None => {}
        }
        match (b, c) {
            _ if digits::of(b).or(digits::of(c)).is_some() => self.leaves(b, c, key),
            (Value::Object(b), Value::Object(c)) => self.objects(b, c, at),
            (Value::Array(b), Value::Array(c)) => self.lists(b, c, at, key),
            (Value::String(b), Value::String(c)) => {
                let json = Tree::under(at, "json");
                if !self.texts_as_json(b, c, &json, key) {
                    self.plain_texts(b, c, at, key);
                }
            }
            _ => self.leaves(b, c, key),
        }
    }

    fn leaves(&mut self, b: &Value, c: &Value, key: &str) {
        if self.stands_for(b, c, key) {
            return;
        }
        match (b, c) {
            (Value::Number(of_b), Value::Number(of_c)) => {
                let (x, y) = (number::float(of_b), number::float(of_c));
                if number::close(of_b, of_c)
                    || (key::is_time(key) && self.known.clock.moved_number(x, y))
                {
                } else if key::is_duration(key) {
                    self.tolerated("how long it took", b, c);
                } else if key::is_age(key) && self.known.clock.is_number_after_recording(y) {
                    self.tolerated("a time that went on", b, c);
                } else {
                    self.changed("changed", b, c);
                }
            }
            _ if same(b, c) => {}
            _ if kind(b) != kind(c) => self.changed_type(b, c),
            _ => self.changed("changed", b, c),
        }
    }

    /// Whether a value is the id that this run's server has given in the place of the recorded one.
    fn stands_for(&self, b: &Value, c: &Value, key: &str) -> bool {
        let given = self.known.given.iter();
        key::is_id(key)
            && given
                .into_iter()
                .any(|(recorded, live)| same(recorded, b) && same(live, c))
    }

    /// Compares two texts as the JSON they hold. Whether that is what they are to be compared as.
    fn texts_as_json(&mut self, b: &str, c: &str, at: &At<'a>, key: &str) -> bool {
        if b == c {
            return true;
        }
        if self.embeddings == EMBEDDINGS {
            return false;
        }
        let Some(b_json) = self.known.documents.of(b) else {
            return false;
        };
        let Some(c_json) = self.known.documents.of(c) else {
            if is_too_dense(c) {
                return false;
            }
            let (shown_b, shown_c) = excerpt::of_texts(b, c);
            self.change("is no longer JSON", Some(shown_b), Some(shown_c));
            return true;
        };
        // The documents live shorter than the walk, so a walk of their own is made for them.
        let mut inner = Walk {
            known: self.known,
            place: self.place.clone(),
            found: std::mem::take(&mut self.found),
            apart: self.apart,
            embeddings: self.embeddings + 1,
            hashes: HashMap::new(),
            exact_hashes: HashMap::new(),
        };
        inner.at(Step::Json, |walk| walk.document(&b_json, &c_json, at, key));
        self.apart = inner.apart;
        self.found = inner.found;
        true
    }

    fn plain_texts(&mut self, b: &str, c: &str, at: &At<'a>, key: &str) {
        if b == c || self.is_left_out() {
            return;
        }
        let varying: &[VaryingToken] = match Tree::variation(at) {
            Some(Variation::Tokens(varying)) => varying,
            Some(Variation::SameType) if !b.trim().is_empty() && c.trim().is_empty() => {
                let (b, c) = excerpt::of_texts(b, c);
                return self.never_so("became empty", b, c);
            }
            Some(_) => return,
            None => &[],
        };
        // Where changes are only counted, it does not matter at which word they begin.
        if varying.is_empty() && self.found.is_full() && variation::differ_in_a_word(b, c) {
            self.is_one_too_many();
            return;
        }
        let (of_b, of_c) = match variation::compare(b, c, varying, &self.known.clock) {
            // White space says nothing in prose, but much in code, YAML and nested lists.
            Likeness::Same if is_indented_otherwise(b, c) => {
                let (b, c) = excerpt::of_texts(b, c);
                return self.tolerate("indented otherwise", b, c);
            }
            Likeness::Same => return,
            // A value that is nothing but a duration is what its key says.
            Likeness::OtherDuration
                if !key.is_empty()
                    && !key::is_duration(key)
                    && matches!(tokens(b).as_slice(), [only] if only.kind == TokenKind::Duration) =>
            {
                (excerpt::of_text(b), excerpt::of_text(c))
            }
            Likeness::OtherDuration => {
                let (b, c) = excerpt::of_texts(b, c);
                return self.tolerate("how long it took, or how long ago it was", b, c);
            }
            Likeness::Other { .. }
                if !key::is_duration(key) && !key::is_age(key) && self.is_one_too_many() =>
            {
                return;
            }
            Likeness::Other { b: b_at, c: c_at } => {
                (excerpt::around(b, b_at), excerpt::around(c, c_at))
            }
        };
        let is_time =
            |it: &str| matches!(tokens(it).as_slice(), [only] if only.kind == TokenKind::Time);
        if key::is_duration(key) && key::is_duration_text(b) && key::is_duration_text(c) {
            self.tolerate("how long it took", of_b, of_c);
        } else if key::is_age(key)
            && is_time(b)
            && is_time(c)
            && self.known.clock.is_after_recording(b, c)
        {
            self.tolerate("a time that went on", of_b, of_c);
        } else {
            self.change("changed", Some(of_b), Some(of_c));
        }
    }

    fn objects(&mut self, b: &'a Object, c: &'a Object, at: &At<'a>) {
        let added: Vec<&'a String> = c.keys().filter(|it| !b.contains_key(*it)).collect();
        for (key, of_b) in b {
            let under = Tree::under(at, key);
            if let Some(of_c) = c.get(key) {
                self.at(Step::Key(key), |walk| walk.values(of_b, of_c, &under, key));
                continue;
            }
            let hash = same::hash(of_b, View::Plain);
            let renamed = added
                .iter()
                .find(|it| same::hash(&c[**it], View::Plain) == hash);
            let shown = shown(of_b);
            self.at(Step::Key(key), |walk| match renamed {
                Some(name) if !walk.may_be_missing(&under) => {
                    walk.change(&format!("renamed to {name:?}"), Some(shown), None);
                }
                _ => walk.missing(&under, "", shown),
            });
        }
        let is_free = |it: &&String| {
            let under = Tree::under(at, it);
            made_up_keys::is_made_up(it)
                && matches!(Tree::variation(&under), Some(Variation::Anything))
        };
        // Where keys are made up anew, new ones are no additions, and none at all is a change.
        let are_made_up = b.keys().filter(is_free).count() >= FEW_KEYS;
        if are_made_up && !c.keys().any(|it| made_up_keys::is_made_up(it)) {
            let (of_b, of_c) = (excerpt::of_keys(b), excerpt::of_keys(c));
            self.never_so("has none of the keys that vary", of_b, of_c);
        }
        for key in added {
            if are_made_up && made_up_keys::is_made_up(key) {
                continue;
            }
            let under = Tree::under(at, key);
            let shown = shown(&c[key]);
            self.at(Step::Key(key), |walk| {
                walk.added(&under, "added key", shown);
            });
        }
    }

    fn lists(&mut self, b: &'a [Value], c: &'a [Value], at: &At<'a>, key: &str) {
        if !b.is_empty() && c.is_empty() {
            let count = format!("{} elements", b.len());
            return self.change("became empty", Some(count), Some("[]".to_owned()));
        }
        let (pairs, b_keys, c_keys) = self.paired(b, c, at, key);
        let (mut b_alone, mut c_alone) = (Vec::new(), Vec::new());
        let (mut i, mut j) = (0, 0);
        for (to_i, to_j) in pairs.iter().copied().chain([(b.len(), c.len())]) {
            b_alone.extend(i..to_i);
            c_alone.extend(j..to_j);
            (i, j) = (to_i + 1, to_j + 1);
        }
        for (i, j) in pairs {
            if self.exact_hash(&b[i]) == self.exact_hash(&c[j]) {
                continue;
            }
            let under = Tree::under_index(at, i);
            self.at(Step::Index(i), |walk| {
                walk.values(&b[i], &c[j], &under, key);
            });
        }
        // What is the same and stands elsewhere is neither missing nor new.
        let mut elsewhere: HashMap<u64, Vec<usize>> = HashMap::new();
        for &it in c_alone.iter().rev() {
            elsewhere.entry(c_keys[it]).or_default().push(it);
        }
        let mut moved: HashMap<u64, usize> = HashMap::new();
        for it in b_alone {
            let under = Tree::under_index(at, it);
            let shown = shown(&b[it]);
            let place = elsewhere.get_mut(&b_keys[it]).and_then(Vec::pop);
            if place.is_some() {
                *moved.entry(b_keys[it]).or_default() += 1;
            }
            self.at(Step::Index(it), |walk| match place {
                Some(place) if !walk.is_left_out() => {
                    let at = |place: usize| Some(format!("{shown} as element {}", place + 1));
                    walk.change("stands in another place", at(it), at(place));
                }
                _ => walk.missing(&under, "element", shown),
            });
        }
        for it in c_alone {
            if let Some(left) = moved.get_mut(&c_keys[it]).filter(|it| **it > 0) {
                *left -= 1;
                continue;
            }
            let shown = shown(&c[it]);
            self.at(Step::Index(it), |walk| {
                walk.added(&Vec::new(), "added element", shown);
            });
        }
    }

    /// The same elements in whatever order, but for what varies in them; those that have no equal are compared in the order they came in.
    fn in_any_order(&mut self, b: &'a [Value], c: &'a [Value], at: &At<'a>, key: &str) {
        let (mut b_alone, mut c_alone) = ((0..b.len()).collect(), (0..c.len()).collect());
        matched(&mut b_alone, &mut c_alone, |side, at| {
            self.exact_hash(&[b, c][side][at])
        });
        let under = Tree::all_under(at);
        let alike = matched(&mut b_alone, &mut c_alone, |side, at| {
            self.at_index(|walk| walk.hash(&[b, c][side][at], &under, key))
        });
        let none = Vec::new();
        let is_even = b_alone.len() == c_alone.len();
        let others = b_alone.iter().copied().zip(c_alone.iter().copied());
        let others = others.filter(|_| is_even);
        for (i, j) in alike.into_iter().chain(others) {
            let under = Tree::under_index(at, i);
            self.at(Step::Index(i), |walk| {
                walk.values(&b[i], &c[j], &under, key);
            });
        }
        if is_even {
            return;
        }
        for i in b_alone {
            let shown = shown(&b[i]);
            self.at(Step::Index(i), |walk| {
                walk.missing(&none, "element", shown);
            });
        }
        for j in c_alone {
            let shown = shown(&c[j]);
            self.at(Step::Index(j), |walk| {
                walk.added(&none, "added element", shown);
            });
        }
    }

    /// Elements that are the same but for what may vary, in their order; between them, those most alike. With the keys of both lists, which
    /// elements share that are the same.
    fn paired(
        &mut self,
        b: &'a [Value],
        c: &'a [Value],
        at: &At<'a>,
        key: &str,
    ) -> (Vec<(usize, usize)>, Vec<u64>, Vec<u64>) {
        // Where nothing but additions lies between, elements that differ in times alone find their own.
        let mut exact = |list: &'a [Value]| {
            list.iter()
                .map(|it| self.exact_hash(it))
                .collect::<Vec<_>>()
        };
        let (b_exact, c_exact) = (exact(b), exact(c));
        if let Some(pairs) = subsequence(&b_exact, &c_exact) {
            return (pairs, b_exact, c_exact);
        }
        let under = Tree::all_under(at);
        let mut keys = |list: &'a [Value]| -> Vec<u64> {
            self.at_index(|walk| list.iter().map(|it| walk.hash(it, &under, key)).collect())
        };
        let (b_keys, c_keys) = (keys(b), keys(c));
        let same_ones =
            subsequence(&b_keys, &c_keys).unwrap_or_else(|| edits::common(&b_keys, &c_keys));
        let mut pairs = Vec::with_capacity(b.len());
        let (mut i, mut j) = (0, 0);
        for (to_i, to_j) in same_ones.into_iter().chain([(b.len(), c.len())]) {
            self.gap((b, i..to_i), (c, j..to_j), &mut pairs);
            if to_i < b.len() && to_j < c.len() {
                pairs.push((to_i, to_j));
            }
            (i, j) = (to_i + 1, to_j + 1);
        }
        (pairs, b_keys, c_keys)
    }

    /// Pairs the elements between two that are the same: in their order where there are as many, else those most alike.
    fn gap(
        &mut self,
        (b, of_b): (&'a [Value], std::ops::Range<usize>),
        (c, of_c): (&'a [Value], std::ops::Range<usize>),
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let in_order = of_b.clone().zip(of_c.clone());
        let cells = of_b.len().saturating_mul(of_c.len());
        if of_b.len() == of_c.len() || cells > CELLS {
            pairs.extend(in_order.filter(|(i, j)| kind(&b[*i]) == kind(&c[*j])));
            return;
        }
        let mut prints = |list: &'a [Value], of: &std::ops::Range<usize>| -> Vec<Vec<u64>> {
            of.clone().map(|it| self.print(&list[it])).collect()
        };
        let (b_prints, c_prints) = (prints(b, &of_b), prints(c, &of_c));
        let numbers = |from: u64, count: usize| (from..).take(count).collect::<Vec<u64>>();
        let found = align::align(
            // No two are the same: those are paired already.
            &numbers(0, of_b.len()),
            &numbers(1 << 32, of_c.len()),
            CELLS,
            |i, j| kind(&b[of_b.start + i]) == kind(&c[of_c.start + j]),
            |i, j| alike(&b_prints[i], &c_prints[j]),
        );
        pairs.extend(
            found
                .into_iter()
                .map(|(i, j)| (of_b.start + i, of_c.start + j)),
        );
    }

    /// Hashes of what a value consists of, sorted, for telling how much two have in common.
    fn print(&mut self, value: &'a Value) -> Vec<u64> {
        let none = Vec::new();
        let mut print: Vec<u64> = match value {
            Value::Object(members) => (members.iter())
                .map(|(key, it)| same::hash_of((key, self.hash(it, &none, key))))
                .collect(),
            Value::Array(items) => items.iter().map(|it| self.hash(it, &none, "")).collect(),
            Value::String(text) => text.split_whitespace().map(same::hash_of).collect(),
            _ => vec![same::hash(value, View::Plain)],
        };
        print.sort_unstable();
        print
    }

    fn at_index<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.place.enter(Step::Index(0));
        let result = inside(self);
        self.place.leave();
        result
    }

    /// Equal for values that are the same but for what may vary, so that they find each other; every value is hashed once.
    fn hash(&mut self, value: &'a Value, at: &At<'a>, key: &str) -> u64 {
        let address = std::ptr::from_ref(value).addr();
        if let Some(known) = self.hashes.get(&address) {
            return *known;
        }
        let hash = self.hash_anew(value, at, key);
        if value.is_array() || value.is_object() {
            self.hashes.insert(address, hash);
        }
        hash
    }

    /// Equal for values that are the same; every value is hashed once.
    fn exact_hash(&mut self, value: &'a Value) -> u64 {
        let address = std::ptr::from_ref(value).addr();
        if let Some(known) = self.exact_hashes.get(&address) {
            return *known;
        }
        let hash = match value {
            Value::Array(items) => {
                let items: Vec<u64> = items.iter().map(|it| self.exact_hash(it)).collect();
                same::hash_of((0u8, items))
            }
            Value::Object(members) => {
                let members =
                    (members.iter()).map(|(key, it)| same::hash_of((key, self.exact_hash(it))));
                same::hash_of((1u8, members.fold(0u64, u64::wrapping_add)))
            }
            _ => return same::hash(value, View::Plain),
        };
        self.exact_hashes.insert(address, hash);
        hash
    }

    fn hash_anew(&mut self, value: &'a Value, at: &At<'a>, key: &str) -> u64 {
        if Tree::variation(at).is_some() || self.is_left_out() {
            return 0;
        }
        let mut hasher = same::hasher();
        match value {
            Value::Array(items) => {
                let under = Tree::all_under(at);
                self.at_index(|walk| {
                    for it in items {
                        walk.hash(it, &under, key).hash(&mut hasher);
                    }
                });
                items.len().hash(&mut hasher);
            }
            Value::Object(members) => {
                let mut sum = 0u64;
                for (key, it) in members {
                    let under = Tree::under(at, key);
                    self.place.enter(Step::Key(key));
                    let hash = self.hash(it, &under, key);
                    self.place.leave();
                    sum = sum.wrapping_add(same::hash_of((key, hash)));
                }
                (1u8, sum).hash(&mut hasher);
            }
            Value::Number(_) if key::is_duration(key) || key::is_time(key) || key::is_age(key) => {
                2u8.hash(&mut hasher);
            }
            Value::String(text) if key::is_duration(key) && key::is_duration_text(text) => {
                3u8.hash(&mut hasher);
            }
            Value::String(text) if may_move(text) => {
                for it in tokens(text) {
                    match it.kind {
                        TokenKind::Time | TokenKind::Duration | TokenKind::Ago => {
                            it.kind.hash(&mut hasher);
                        }
                        _ => it.text.hash(&mut hasher),
                    }
                }
            }
            Value::String(text) if is_spaced_evenly(text) => text.hash(&mut hasher),
            Value::String(text) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                words.join(" ").hash(&mut hasher);
            }
            _ => return same::hash(value, View::Plain),
        }
        hasher.finish()
    }

    fn may_be_missing(&self, at: &At<'a>) -> bool {
        self.is_left_out() || matches!(Tree::variation(at), Some(Variation::Anything))
    }

    fn missing(&mut self, at: &At<'a>, what: &str, shown: String) {
        if !self.may_be_missing(at) {
            let what = match what {
                "" => "missing".to_owned(),
                _ => format!("missing {what}"),
            };
            self.change(&what, Some(shown), None);
        }
    }

    fn added(&mut self, at: &At<'a>, rule: &'static str, shown: String) {
        if self.may_be_missing(at) {
            return;
        }
        if self.known.exact {
            return self.change(rule, None, Some(shown));
        }
        self.apart = self.apart.max(Apart::Added);
        self.note(rule.to_owned(), None, None, Some(shown));
    }

    fn tolerated(&mut self, rule: &str, b: &Value, c: &Value) {
        let (b, c) = excerpt::of_values(b, c);
        self.tolerate(rule, b, c);
    }

    fn tolerate(&mut self, rule: &str, b: String, c: String) {
        self.apart = self.apart.max(Apart::Tolerated);
        self.note(rule.to_owned(), None, Some(b), Some(c));
    }

    fn changed_type(&mut self, b: &Value, c: &Value) {
        self.changed(&format!("became {}", article(kind(c))), b, c);
    }

    fn changed(&mut self, what: &str, b: &Value, c: &Value) {
        if self.is_one_too_many() {
            return;
        }
        let (b, c) = excerpt::of_values(b, c);
        self.change(what, Some(b), Some(c));
    }

    /// Whether a change is only counted, because enough are kept one by one.
    fn is_one_too_many(&mut self) -> bool {
        let passed_over = self.found.pass_over(0.0, true);
        if passed_over {
            self.apart = Apart::Changed;
        }
        passed_over
    }

    /// A change of what varies into what it never was.
    fn never(&mut self, what: &str, b: &Value, c: &Value) {
        let (b, c) = excerpt::of_values(b, c);
        self.never_so(what, b, c);
    }

    fn never_so(&mut self, what: &str, b: String, c: String) {
        self.apart = Apart::Changed;
        let contract = match self.heard() {
            (agreed, takes) if agreed == takes => {
                format!("{what}, which it was in none of {takes} takes")
            }
            (agreed, takes) => {
                format!("{what}, which it was in none of the {agreed} of {takes} takes that agreed")
            }
        };
        self.note(what.to_owned(), Some(&contract), Some(b), Some(c));
    }

    fn change(&mut self, what: &str, b: Option<String>, c: Option<String>) {
        if self.is_one_too_many() {
            return;
        }
        self.apart = Apart::Changed;
        let same_in = match self.heard() {
            (agreed, takes) if agreed == takes => format!("all {takes}"),
            (agreed, takes) => format!("{agreed} of {takes}"),
        };
        let contract = format!("{what}, though it was the same in {same_in} takes");
        self.note(what.to_owned(), Some(&contract), b, c);
    }

    /// How many of how many takes agreed on this place.
    fn heard(&self) -> (usize, usize) {
        let learned = self.known.learned;
        let place = self.place.to_string();
        // What a text holds lies one step further on.
        let of_text = learned.agreed(&format!("{place}/json"));
        (learned.agreed(&place).min(of_text), learned.takes)
    }

    fn note(
        &mut self,
        rule: String,
        contract: Option<&str>,
        expected: Option<String>,
        got: Option<String>,
    ) {
        let difference = Difference {
            path: self.place.to_string(),
            expected,
            got,
            similarity: if contract.is_some() { 0.0 } else { 1.0 },
            rule: rule.into(),
            loss: 0.0,
        };
        self.found.note(difference, contract);
    }
}

/// Takes out of two lists of places those whose elements have equal keys, and returns them as pairs.
fn matched(
    b: &mut Vec<usize>,
    c: &mut Vec<usize>,
    mut key: impl FnMut(usize, usize) -> u64,
) -> Vec<(usize, usize)> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for at in c.iter().rev() {
        places.entry(key(1, *at)).or_default().push(*at);
    }
    let mut pairs = Vec::new();
    b.retain(|at| {
        let partner = places.get_mut(&key(0, *at)).and_then(Vec::pop);
        pairs.extend(partner.map(|it| (*at, it)));
        partner.is_none()
    });
    let taken: HashSet<usize> = pairs.iter().map(|it| it.1).collect();
    c.retain(|it| !taken.contains(it));
    pairs
}

/// The elements of one list in another, in their order, where all are there.
fn subsequence(b: &[u64], c: &[u64]) -> Option<Vec<(usize, usize)>> {
    let mut pairs = Vec::with_capacity(b.len());
    let mut from = 0;
    for (i, key) in b.iter().enumerate() {
        let j = from + c[from..].iter().position(|it| it == key)?;
        pairs.push((i, j));
        from = j + 1;
    }
    Some(pairs)
}

/// How much two sorted lists of hashes have in common, 0 to 1.
fn alike(a: &[u64], b: &[u64]) -> f64 {
    let mut of_b = b.iter().peekable();
    let is_common = |it: &&u64| {
        while of_b.next_if(|other| other < it).is_some() {}
        of_b.peek() == Some(it)
    };
    let common = a.iter().filter(is_common).count();
    number::share(number::count(common), a.len().max(b.len()))
}

/// Whether the lines of two texts that say the same are indented otherwise against each other.
fn is_indented_otherwise(b: &str, c: &str) -> bool {
    fn indents(text: &str) -> impl Iterator<Item = isize> {
        let lines = text.lines().filter(|it| !it.trim().is_empty());
        lines.map(|it| {
            let indent = it.len() - it.trim_start().len();
            isize::try_from(indent).unwrap_or(isize::MAX)
        })
    }
    let (Some(b_first), Some(c_first)) = (indents(b).next(), indents(c).next()) else {
        return false;
    };
    // Lines that were broken elsewhere are prose.
    let mut pairs = indents(b).zip(indents(c));
    indents(b).count() == indents(c).count() && pairs.any(|(b, c)| b - b_first != c - c_first)
}

/// Whether a text surely has no other white space than single blanks between its words.
fn is_spaced_evenly(text: &str) -> bool {
    let mut was_blank = true;
    for &it in text.as_bytes() {
        if !(b' '..0x7f).contains(&it) || (it == b' ' && was_blank) {
            return false;
        }
        was_blank = it == b' ';
    }
    !was_blank
}

fn is_emptied(b: &Value, c: &Value) -> bool {
    let is_empty = |it: &Value| match it {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    };
    !is_empty(b) && is_empty(c)
}

/// Whether a list has elements of kinds that another has not.
fn has_other_kinds(b: &Value, c: &Value) -> bool {
    let kinds = |it: &Value| -> HashSet<&'static str> {
        it.as_array().into_iter().flatten().map(kind).collect()
    };
    let known = kinds(b);
    !known.is_empty() && !kinds(c).is_subset(&known)
}

fn shown(value: &Value) -> String {
    let text = value.get("text").and_then(Value::as_str);
    text.filter(|_| value.get("type").is_some())
        .map_or_else(|| excerpt::of(value), excerpt::of_text)
}
