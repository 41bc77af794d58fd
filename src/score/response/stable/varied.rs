//! Values at places where the takes had others, held against what these were. Of what has grown since, be it a list, a text or a number, all
//! that was there must be there, and more is no change.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::response::finding::Tree;
use crate::text::at_least::is_at_least;
use crate::text::clock::Moved;
use crate::text::times::is_time;
use crate::text::token::tokens;
use crate::text::variation::{self, How, What};
use crate::text::watch::{self, Watched};
use crate::text::{excerpt, key};
use crate::values::kind::{article, has_other_kinds, is_empty, is_of_kind, kind};
use crate::values::number;
use crate::values::path::Step;
use model::{Edit, Object, Piece, TokenKind, Variation, Varying, VaryingToken};

use super::elements::Elements;
use super::spot::At;
use super::{NO_KEYS, Walk};
/// Of a list or an object whose elements are others each time.
const SHORT: &str = "has less than half as many elements";

fn are_made_up(object: &Object) -> bool {
    object.keys().all(|it| key::is_made_up(it))
}

impl<'a> Walk<'a> {
    /// Compares two values of a place that varies; false where they are to be compared as others are.
    pub(super) fn varying_values(
        &mut self,
        varying: &'a Varying,
        b: &'a Value,
        c: &'a Value,
        at: &At<'a>,
        key: &str,
    ) -> bool {
        match (varying.by, b, c) {
            (Variation::Tokens, ..)
            | (Variation::Grew, Value::Array(_), Value::Array(_))
            | (Variation::Grew, Value::String(_), Value::String(_)) => {
                return false;
            }
            (Variation::AtLeast, ..) if kind(b) == kind(c) => self.at_least(b, c),
            (Variation::SameType | Variation::Anything, ..) => self.varied(varying, b, c),
            (Variation::AnyOrder, Value::Array(b), Value::Array(c)) => {
                self.in_any_order(&Elements::of_list(b), &Elements::of_list(c), at, key);
            }
            (Variation::AnyOrder, Value::Object(of_b), Value::Object(of_c)) => {
                if !self.has_lost_keys(of_b, of_c, b, c) {
                    self.under_any_keys(of_b, of_c, at, key);
                }
            }
            (Variation::Row, Value::Array(b), Value::Array(c)) => self.rows(b, c, at, key),
            (Variation::AnyElements, Value::Array(of_b), Value::Array(of_c)) => {
                let had_one_length = varying.seen.windows(2).all(|it| it[0] == it[1]);
                if of_c.is_empty() && !of_b.is_empty() && had_one_length {
                    self.never(Edit::BecameEmpty, b, c);
                } else if of_c.is_empty()
                    && !of_b.is_empty()
                    && !varying.seen.iter().any(|it| *it == 0)
                {
                    self.tolerated(Edit::BecameEmpty, b, c);
                } else if varying.seen.is_empty() && has_other_kinds(b, c) {
                    self.never(Edit::odd("has elements of another kind"), b, c);
                } else if varying.seen.len() > 1 && had_one_length && 2 * of_c.len() < of_b.len() {
                    self.watched(Some(Watched::Shown(SHORT)), b, c);
                }
                let under = Tree::under(at, "*");
                for (index, it) in of_c.iter().enumerate() {
                    self.at(Step::Index(index), |walk| walk.shape(it, &under));
                }
            }
            (Variation::AnyElements, Value::Object(of_b), Value::Object(of_c)) => {
                if self.has_lost_keys(of_b, of_c, b, c) {
                    return true;
                }
                if are_made_up(of_b) && 2 * of_c.len() < of_b.len() {
                    self.watched(Some(Watched::Shown(SHORT)), b, c);
                }
                let under = Tree::under(at, "*");
                for (key, it) in of_c {
                    self.at(Step::Key(key), |walk| walk.shape(it, &under));
                }
            }
            (Variation::AnyOrder | Variation::AnyElements, Value::String(b), Value::String(c)) => {
                self.lines(varying, b, c);
            }
            _ => self.became(b, c),
        }
        true
    }

    /// Compares objects of which some members have other keys each time.
    fn under_any_keys(&mut self, b: &'a Object, c: &'a Object, at: &At<'a>, key: &str) {
        for (key, of_b) in b {
            if let Some(of_c) = c.get(key) {
                let under = Tree::under(at, key);
                self.at(Step::Key(key), |walk| walk.values(of_b, of_c, &under, key));
            }
        }
        let (of_b, of_c) = (Elements::not_in(c, b), Elements::not_in(b, c));
        self.in_any_order(&of_b, &of_c, at, key);
    }

    /// Notes an object without members, or without any of the kind of keys that it had.
    fn has_lost_keys(&mut self, of_b: &Object, of_c: &Object, b: &Value, c: &Value) -> bool {
        let edit = if of_b.is_empty() {
            return false;
        } else if of_c.is_empty() {
            Edit::BecameEmpty
        } else if are_made_up(of_b) && !of_c.keys().any(|it| key::is_made_up(it)) {
            NO_KEYS
        } else {
            return false;
        };
        self.never(edit, b, c);
        true
    }

    fn became(&mut self, b: &Value, c: &Value) {
        let edit = if kind(b) == kind(c) && is_empty(c) {
            Edit::BecameEmpty
        } else {
            Edit::Became(article(kind(c)))
        };
        self.never(edit, b, c);
    }

    /// A value that was another one in each take, or of another kind.
    fn varied(&mut self, varying: &Varying, b: &Value, c: &Value) {
        let said = self.said(c);
        if varying.seen.is_empty() {
            // Nothing is known of what the takes had.
            if varying.by == Variation::Anything {
                return;
            }
            if kind(b) != kind(&said) || is_empty(&said) && !is_empty(b) {
                self.became(b, &said);
            }
            return;
        }
        if !varying.seen.iter().any(|it| is_of_kind(it, &said)) && !is_of_kind(b, &said) {
            return self.became(b, &said);
        }
        let found = self.watch(varying, &said);
        self.watched(found, b, &said);
    }

    /// A text that varies otherwise than in some tokens.
    pub(super) fn other_texts(&mut self, varying: Option<&Varying>, b: &str, c: &str) {
        if varying.is_some_and(|it| it.by == Variation::Anything && it.seen.is_empty()) {
            return;
        }
        // Of long texts, only the recorded one is known.
        let seen = varying.into_iter().flat_map(|it| &it.seen);
        let seen: Vec<&str> = seen.filter_map(Value::as_str).chain([b]).collect();
        if let Some(Watched::Never(what)) = watch::lacks(&seen, c) {
            return self.never_texts(Edit::odd(what), b, c);
        }
        match varying.map(|it| (it, &it.by)) {
            Some((it, Variation::AnyOrder | Variation::AnyElements)) => self.lines(it, b, c),
            Some((it, _)) => self.varied_text(it, b, c),
            None => {}
        }
    }

    fn never_texts(&mut self, edit: Edit, b: &str, c: &str) {
        self.notes.never(&self.spot, edit, excerpt::of_texts(b, c));
    }

    /// A text that varies as a whole.
    fn varied_text(&mut self, varying: &Varying, b: &str, c: &str) {
        let seen: Vec<&str> = varying.seen.iter().filter_map(Value::as_str).collect();
        if let Some(Watched::Never(what)) = watch::run(&seen, c) {
            return self.never_texts(Edit::odd(what), b, c);
        }
        let is_emptied = c.trim().is_empty() && !b.trim().is_empty();
        let was_empty = |it: &Value| it.as_str().is_some_and(|it| it.trim().is_empty());
        if is_emptied && !varying.seen.iter().any(was_empty) {
            self.never_texts(Edit::BecameEmpty, b, c);
        }
    }

    /// The lines of a text, of which others come each time, or in another order.
    fn lines(&mut self, varying: &Varying, b: &str, c: &str) {
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
            lines.map(str::to_owned).collect()
        };
        let (of_b, of_c) = (lines(b), lines(c));
        let edit = if of_c.is_empty() && !of_b.is_empty() {
            Edit::BecameEmpty
        } else if of_c.len() == 1 && of_b.len() > 1 {
            Edit::odd("has just one line")
        } else {
            let (mut sorted, mut now) = (of_b, of_c);
            sorted.sort_unstable();
            now.sort_unstable();
            if varying.by == Variation::AnyElements || sorted == now {
                return;
            }
            Edit::odd("has other lines")
        };
        self.never_texts(edit, b, c);
    }

    /// A list that keeps its length and the order of what is in it; null stands for any kind.
    fn rows(&mut self, b: &'a [Value], c: &'a [Value], at: &At<'a>, key: &str) {
        if b.len() != c.len() {
            return self.another_length(b.len(), c.len());
        }
        for (index, (was, is)) in b.iter().zip(c).enumerate() {
            let under = Tree::under_index(at, index);
            if is.is_null() && Tree::varying(&under).is_some() {
                continue;
            }
            self.at(Step::Index(index), |walk| walk.values(was, is, &under, key));
        }
    }

    fn another_length(&mut self, was: usize, is: usize) {
        let both = (format!("{was} elements"), format!("{is} elements"));
        (self.notes).never(&self.spot, Edit::odd("has another length"), both);
    }

    /// An element that has no partner in the recorded answer: it has the members that all had, each of a kind that it had.
    fn shape(&mut self, c: &'a Value, at: &At<'a>) {
        if at.is_empty() || self.spot.is_left_out() || !self.spot.known.work.spend(1) {
            return;
        }
        if let Some(varying) = Tree::varying(at) {
            match (&varying.by, c) {
                (Variation::Row, Value::Array(items)) => {
                    let length = Tree::indices(at);
                    if length != items.len() {
                        return self.another_length(length, items.len());
                    }
                    for (index, it) in items.iter().enumerate().filter(|(_, it)| !it.is_null()) {
                        let under = Tree::under_index(at, index);
                        self.at(Step::Index(index), |walk| walk.shape(it, &under));
                    }
                }
                (Variation::AnyElements, Value::Array(items)) => {
                    let under = Tree::under(at, "*");
                    for (index, it) in items.iter().enumerate() {
                        self.at(Step::Index(index), |walk| walk.shape(it, &under));
                    }
                }
                (Variation::AnyElements, Value::Object(members)) if varying.seen.is_empty() => {
                    let under = Tree::under(at, "*");
                    for (key, it) in members {
                        self.at(Step::Key(key), |walk| walk.shape(it, &under));
                    }
                }
                (Variation::Row | Variation::AnyElements, _) => {
                    self.became(&Value::Array(Vec::new()), c);
                }
                _ if varying.seen.is_empty() => {}
                _ => {
                    let was = &varying.seen[0];
                    if varying.seen.iter().any(|it| is_of_kind(it, c)) {
                        let found = self.watch(varying, c);
                        self.watched(found, was, c);
                    } else {
                        self.became(was, c);
                    }
                }
            }
            return;
        }
        let names = Tree::names(at);
        if names.is_empty() {
            return;
        }
        let Value::Object(members) = c else {
            return self.became(&Value::Object(Object::new()), c);
        };
        for name in names {
            let under = Tree::under(at, name);
            match members.get_key_value(name) {
                Some((key, it)) => self.at(Step::Key(key), |walk| walk.shape(it, &under)),
                None if Tree::varying(&under).is_some_and(|it| it.by == Variation::Anything) => {}
                None => {
                    let all = excerpt::of_keys(members);
                    let edit = Edit::odd("lacks a member that all elements had");
                    (self.notes).never(&self.spot, edit, (format!("`{name}`"), all));
                }
            }
        }
    }

    /// What is wrong with a value of a kind that was seen there.
    fn watch(&self, varying: &Varying, now: &Value) -> Option<Watched> {
        let clock = &self.spot.known.clock;
        match now {
            Value::Number(it) => {
                let it = number::float(it);
                let is_fine = |it: f64| it.abs() >= 1e11;
                let was_fine = varying.seen.first().and_then(Value::as_f64).map(is_fine);
                if !varying.offsets.is_empty() && was_fine.is_some_and(|was| was != is_fine(it)) {
                    return Some(Watched::Never("is in another unit of time"));
                }
                if let (false, Some(offset)) =
                    (varying.offsets.is_empty(), watch::epoch(it, clock.now()))
                {
                    return watch::time(&varying.offsets, &watch::whole(vec![offset]), true);
                }
                if !varying.offsets.is_empty() {
                    return Some(Watched::Never("is no time any more"));
                }
                let seen: Vec<f64> = varying.seen.iter().filter_map(Value::as_f64).collect();
                watch::number(&seen, it)
            }
            Value::String(text) => {
                let seen: Vec<&str> = varying.seen.iter().filter_map(Value::as_str).collect();
                let kind = |it: &str| match tokens(it).as_slice() {
                    [only] => Some(only.kind),
                    _ => None,
                };
                let known = seen.first().and_then(|it| kind(it));
                match known.filter(|known| seen.iter().all(|it| kind(it) == Some(*known))) {
                    Some(TokenKind::Id) => watch::id(&seen, text, false, self.spot.is_source()),
                    Some(TokenKind::Time) if kind(text) == Some(TokenKind::Time) => {
                        watch::time_text(&seen, &varying.offsets, (text, clock.now()))
                    }
                    _ => watch::words(&seen, text).or_else(|| watch::run(&seen, text)),
                }
            }
            _ => None,
        }
    }

    /// A value as the run said it, given in the baseline's terms.
    fn said(&self, c: &Value) -> Value {
        let mut said = c.clone();
        if let Some(back) = self.spot.known.back {
            back.given_back(&mut said);
        }
        said
    }
}

impl<'a> Walk<'a> {
    /// Judges times at one place of the elements of two lists together where they moved alike; they are then excused one by one.
    pub(super) fn moved_alike(
        &mut self,
        (b, c): (&'a [Value], &'a [Value]),
        pairs: &[(usize, usize)],
        key: &str,
    ) {
        /// The times of one place on both sides.
        type Times<'v> = Vec<(&'v Value, &'v Value)>;
        let mut places: BTreeMap<&str, Times<'a>> = BTreeMap::new();
        for (i, j) in pairs {
            match (&b[*i], &c[*j]) {
                (Value::Object(of_b), Value::Object(of_c)) => {
                    let both = of_b
                        .iter()
                        .filter_map(|(key, it)| Some((key, it, of_c.get(key)?)));
                    for (key, was, is) in both.filter(|(_, was, _)| was.is_string()) {
                        places.entry(key).or_default().push((was, is));
                    }
                }
                (was @ Value::String(_), is) => places.entry(key).or_default().push((was, is)),
                _ => {}
            }
        }
        for (key, times) in places {
            let texts: Option<Vec<(&str, &str)>> = (times.iter())
                .map(|(was, is)| Some((was.as_str()?, is.as_str()?)))
                .collect();
            let Some(texts) =
                texts.filter(|it| it.len() > 1 && it.iter().all(|(was, is)| was != is))
            else {
                continue;
            };
            if !self.have_moved(&texts, key) {
                continue;
            }
            self.excused
                .extend(times.iter().map(|(_, is)| std::ptr::from_ref::<Value>(is)));
        }
    }

    /// Whether the keys of two objects are times that all moved alike, as those of a forecast for the next days do; the values of such
    /// objects belong together in their order.
    pub(super) fn keys_have_moved(&mut self, b: &Object, c: &Object) -> bool {
        if b.len() != c.len()
            || b.keys().all(|it| c.contains_key(it))
            || !b.keys().all(|it| is_time(it))
        {
            return false;
        }
        let keys = b.keys().zip(c.keys());
        let keys: Vec<(&str, &str)> = keys.map(|(b, c)| (b.as_str(), c.as_str())).collect();
        self.have_moved(&keys, "")
    }

    /// Whether times all moved alike. Where that is more than the clock did anyway, it is shown.
    fn have_moved(&mut self, times: &[(&str, &str)], key: &str) -> bool {
        let edit = match self.spot.known.clock.judge_all(times, key) {
            None | Some(Moved::No) => return false,
            Some(Moved::Same | Moved::Quiet) => return true,
            Some(Moved::WithTheClock) => Edit::odd("moved with the clock"),
            Some(Moved::Otherwise) => Edit::odd("another moment"),
        };
        let both = excerpt::of_texts(times[0].0, times[0].1);
        self.notes.tolerate(&self.spot, edit, both);
        true
    }
}

impl<'a> Walk<'a> {
    pub(super) fn at_least(&mut self, b: &Value, c: &Value) {
        let is_less = match (b, c) {
            (Value::Number(b), Value::Number(c)) => number::float(c) < number::float(b),
            (Value::String(b), Value::String(c)) => !is_at_least(b, c),
            _ => false,
        };
        if is_less {
            self.never(Edit::odd("is less"), b, c);
        }
    }

    /// Compares texts whose recorded lines must be there, in their order. The first that is not is the change: those after it may have
    /// moved with it.
    pub(super) fn grown_texts(&mut self, b: &str, c: &str, at: &At<'a>) {
        let mut rest = c.lines();
        for (index, line) in b.lines().enumerate() {
            let under = Tree::under_index(at, index);
            if !line.trim().is_empty() && !rest.any(|it| self.is_line(line, it, &under)) {
                let shown = || excerpt::of_text(line);
                return self.notes.missing(&self.spot, Piece::Line, shown);
            }
        }
    }

    fn is_line(&self, b: &str, c: &str, at: &At<'a>) -> bool {
        let indent = |it: &str| it.len() - it.trim_start().len();
        let varying = Tree::varying(at);
        let parts: &[VaryingToken] = match varying.map(|it| it.by) {
            _ if b == c => return true,
            _ if indent(b) != indent(c) => return false,
            Some(Variation::AtLeast) => return is_at_least(b, c),
            Some(Variation::Tokens) => varying.map_or(&[], |it| &it.parts),
            Some(_) => return true,
            None => &[],
        };
        let how = How {
            varying: parts,
            ..How::plain(&self.spot.known.clock)
        };
        let found = variation::compare(b, c, &how);
        !found
            .iter()
            .any(|it| matches!(it.what, What::Changed | What::Never(_)))
    }
}
