//! Similarity of two JSON documents in responses.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use crate::lists::align::{self, Counted, Plan, with_retyped};
use crate::text::{excerpt, words};
use crate::values::embedded::{Documents, is_too_dense, looks_like_json};
use crate::values::kind::{article, kind};
use crate::values::memo::{self, Memo};
use crate::values::number::{self, ALMOST, count, share};
use crate::values::path::{Pattern, Place, Step};
use crate::values::same::{self, View, same};
use crate::values::{coarse, mask};
use crate::work::{self, Work};
use model::digits;
use model::{Difference, Edit, Grade, Object, Piece, Steady};

use model::rules::Responses;
use model::text::several;

use super::finding::Findings;

/// How many times a text may hold JSON that again holds a text that holds JSON.
const EMBEDDINGS: usize = 4;

/// Texts up to this length are masked as a whole before they are looked into.
const SHORT: usize = 1 << 12;

/// Two texts that are no more work than this are compared anew each time.
const FEW_WORDS: usize = 8;

/// How two responses are compared, apart from the responses themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    /// Places to leave out: from the scenario's rules, and from what recording learned for this call.
    pub(crate) ignore: &'a [Pattern],
    pub(crate) volatile: &'a [Pattern],
    /// Recording received this answer several times, so what is not known to vary is known to be stable.
    pub(crate) learned: bool,
    /// Argument values that differ between the two requests; an answer may echo its own.
    pub(crate) echoes: &'a [(&'a Value, &'a Value)],
    pub(crate) mode: Responses,
    pub(crate) work: &'a Work<'a>,
    pub(crate) documents: &'a Documents,
}

/// Walks two documents side by side.
pub(super) struct Walk<'a> {
    context: Context<'a>,
    place: Place<'a>,
    /// What was found; `None` while only a similarity is wanted.
    findings: Option<Findings>,
    embeddings: usize,
    memo: Rc<Memo<'a>>,
    /// Since this was last unset, something was compared only roughly, because the budget was used up.
    is_coarse: bool,
}

/// How much of the response's similarity depends on the current place, and how much work its comparison may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) weight: f64,
    pub(super) budget: usize,
    depth: usize,
}

impl Share {
    /// The budget of comparisons that count, as opposed to tries; each document in them gets what [`Work::allowance`] gives it.
    pub(super) const UNBOUNDED: usize = usize::MAX;

    pub(super) fn whole(weight: f64, budget: usize) -> Self {
        Self {
            weight,
            budget,
            depth: same::DEPTH,
        }
    }

    fn of(self, weight: f64) -> Self {
        Self {
            weight: self.weight * weight,
            depth: self.depth.saturating_sub(1),
            ..self
        }
    }

    fn with(self, budget: usize) -> Self {
        Self { budget, ..self }
    }

    /// The part of the budget that falls to so many of all.
    fn part(self, of: usize, all: usize) -> usize {
        self.budget.saturating_mul(of) / all.max(1)
    }
}

impl<'a> Walk<'a> {
    pub(crate) fn new(context: Context<'a>) -> Self {
        Self {
            context,
            place: Place::default(),
            findings: Some(Findings::default()),
            embeddings: 0,
            memo: Rc::new(Memo::new(View::Masked, context.work, context.documents)),
            is_coarse: false,
        }
    }

    pub(super) fn into_findings(self) -> Findings {
        self.findings.unwrap_or_default()
    }

    pub(super) fn at<T>(&mut self, step: Step<'a>, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.place.enter(step);
        let result = inside(self);
        self.place.leave();
        result
    }

    /// Computes a similarity without noting anything.
    pub(super) fn quietly(&mut self, inside: impl FnOnce(&mut Self) -> f64) -> f64 {
        let findings = self.findings.take();
        let result = inside(self);
        self.findings = findings;
        result
    }

    /// How much work a value is.
    pub(crate) fn weight(&self, value: &Value) -> usize {
        self.memo.weight(value)
    }

    /// How much work two things of this weight may be.
    pub(super) fn allowance(&self, weight: usize) -> usize {
        self.context.work.allowance(weight)
    }

    /// Whether the current place is left out of the comparison.
    pub(super) fn is_left_out(&self) -> bool {
        let patterns = self.context.ignore.iter().chain(self.context.volatile);
        patterns.into_iter().any(|it| it.matches(&self.place))
    }

    /// Compares two JSON documents as a JSON path sees them: with the current place as their root.
    pub(crate) fn document(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        let outer = self.place.begin_document();
        let similarity = if self.findings.is_some() || share.budget == Share::UNBOUNDED {
            let work = self.context.work;
            let weight = self.memo.weight(b) + self.memo.weight(c);
            let (since, budget) = (work.spent(), work.allowance(weight).min(share.budget));
            let similarity = self.values(b, c, share.with(budget));
            work.settle(since, weight);
            similarity
        } else {
            self.values(b, c, share)
        };
        self.place.end_document(outer);
        similarity
    }

    fn values(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        if self.is_left_out() {
            return 1.0;
        }
        if !self.context.work.spend(1) {
            return 0.0;
        }
        match (b, c) {
            (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_))
                if share.depth > 0 =>
            {
                self.branches(b, c, share)
            }
            _ if digits::of(b).or(digits::of(c)).is_some() => self.leaves(b, c, share),
            (Value::String(b), Value::String(c)) => self.texts(b, c, share, None),
            _ => self.leaves(b, c, share),
        }
    }

    /// Two objects, or two lists.
    fn branches(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        let known = self.memo.known_hash(b);
        if known.is_some() && known == self.memo.known_hash(c) {
            return 1.0;
        }
        if self.findings.is_some() {
            return self.inside(b, c, share);
        }
        let pair = (memo::address(b), memo::address(c));
        let cost = self.memo.weight(b) + self.memo.weight(c);
        self.once(
            pair,
            cost,
            share,
            |walk| walk.inside(b, c, share),
            || coarse::values(b, c),
        )
    }

    fn inside(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        match (b, c) {
            (Value::Object(b), Value::Object(c)) => self.objects(b, c, share),
            (Value::Array(b), Value::Array(c)) => self.lists(b, c, share),
            _ => 0.0,
        }
    }

    /// The similarity of two values that may be needed many times. It is computed once, and only roughly where that costs more than the
    /// budget has.
    fn once(
        &mut self,
        (b, c): (memo::Address, memo::Address),
        cost: usize,
        share: Share,
        exactly: impl FnOnce(&mut Self) -> f64,
        roughly: impl FnOnce() -> f64,
    ) -> f64 {
        if let Some(known) = self.memo.alike(b, c) {
            return known;
        }
        if share.budget < cost {
            self.is_coarse = true;
            return roughly();
        }
        let was_coarse = std::mem::take(&mut self.is_coarse);
        let similarity = exactly(self);
        if !self.is_coarse {
            self.memo.keep_alike(b, c, similarity);
        }
        self.is_coarse |= was_coarse;
        similarity
    }

    fn leaves(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        if same(b, c) || self.is_echo(b, c) {
            return 1.0;
        }
        let both = || {
            let (b, c) = excerpt::of_values(b, c);
            (Some(b), Some(c))
        };
        let became = match (b, c) {
            _ if kind(b) != kind(c) => article(kind(c)),
            _ if self.context.mode == Responses::Shape => return 1.0,
            (Value::Bool(_), _) => c.to_string(),
            _ => {
                let (similarity, grade) = match (b, c) {
                    (Value::Number(b), Value::Number(c))
                        if mask::number(b).is_some() && mask::number(c).is_some() =>
                    {
                        return 1.0;
                    }
                    (Value::Number(b), Value::Number(c)) => {
                        (number::distance(b, c, None), Grade::Distance)
                    }
                    _ if number::is_number(b) => (number::distance_of(b, c, None), Grade::Distance),
                    // Only values at the maximum depth get here.
                    _ => (0.0, Grade::Depth),
                };
                self.note(share, similarity, grade, both);
                return similarity;
            }
        };
        self.note_whole(share, Edit::Became(became), Some(Steady::Unknown), both);
        0.0
    }

    /// Compares two texts: as JSON where both hold some, else word by word after masking.
    ///
    /// `plain` is the step to where they are as plain texts, if that is not where they are as JSON.
    pub(crate) fn texts(
        &mut self,
        b: &'a str,
        c: &'a str,
        share: Share,
        plain: Option<Step<'a>>,
    ) -> f64 {
        if b == c || self.is_text_echo(b, c) {
            return 1.0;
        }
        // Texts that are equal after masking need not be parsed.
        if looks_like_json(b) && b.len().max(c.len()) <= SHORT && mask::text(b) == mask::text(c) {
            return 1.0;
        }
        if self.findings.is_some() {
            return self.different_texts(b, c, share, plain);
        }
        let pair = (memo::address_of_text(b), memo::address_of_text(c));
        let cost = work::of_text(b) + work::of_text(c);
        if cost <= FEW_WORDS {
            return self.different_texts(b, c, share, plain);
        }
        let exactly = |walk: &mut Self| walk.different_texts(b, c, share, plain);
        self.once(pair, cost, share, exactly, || coarse::texts(b, c))
    }

    fn different_texts(
        &mut self,
        b: &'a str,
        c: &'a str,
        share: Share,
        plain: Option<Step<'a>>,
    ) -> f64 {
        self.context.work.spend(work::of_text(b) + work::of_text(c));
        let mut is_json_gone = false;
        if self.embeddings < EMBEDDINGS
            && share.depth > 0
            && let Some(b_json) = self.memo.document(b)
        {
            if let Some(c_json) = self.memo.document(c) {
                return self.embedded_documents(&b_json, &c_json, share);
            }
            is_json_gone = !is_too_dense(c);
        }
        match plain {
            Some(step) => self.at(step, |walk| walk.plain_texts(b, c, share, is_json_gone)),
            None => self.plain_texts(b, c, share, is_json_gone),
        }
    }

    fn plain_texts(&mut self, b: &str, c: &str, share: Share, is_json_gone: bool) -> f64 {
        if self.is_left_out() {
            return 1.0;
        }
        let (b_masked, c_masked) = (mask::text(b), mask::text(c));
        let shape_only = self.context.mode == Responses::Shape;
        if b_masked == c_masked || (shape_only && !is_json_gone) {
            return 1.0;
        }
        let similarity = match self.context.mode {
            Responses::Exact => 0.0,
            // Such texts have no words to compare.
            _ if is_too_dense(b) || is_too_dense(c) => coarse::texts(b, c),
            _ => words::similarity(&b_masked, &c_masked),
        };
        // The same words with other capitals, signs or blanks between them are not the same text.
        let similarity = similarity.min(ALMOST);
        let is_word = || !b.contains(char::is_whitespace);
        let (edit, breaks) = if is_json_gone {
            (Edit::NoLongerJson, Some(Steady::Unknown))
        } else {
            let is_steady = self.context.learned && self.place.is_in_document() && is_word();
            (Edit::Changed, is_steady.then_some(Steady::Always))
        };
        let loss = share.weight * (1.0 - similarity);
        let grade = (edit == Edit::Changed).then_some(Grade::Words);
        self.note_loss((loss, similarity), grade, edit, breaks, || {
            let (b, c) = excerpt::of_texts(b, c);
            (Some(b), Some(c))
        });
        similarity
    }

    /// The documents two texts hold. They live shorter than the walk, so a walk of their own is made for them.
    fn embedded_documents(&mut self, b: &Value, c: &Value, share: Share) -> f64 {
        let mut inner = Walk {
            context: self.context,
            place: self.place.clone(),
            findings: self.findings.take(),
            embeddings: self.embeddings + 1,
            memo: Rc::clone(&self.memo),
            is_coarse: self.is_coarse,
        };
        let similarity = inner.at(Step::Json, |walk| walk.document(b, c, share));
        self.findings = inner.findings;
        self.is_coarse = inner.is_coarse;
        similarity
    }

    /// `0.9 × mean over the baseline's keys + 0.1 × |common| / |all|`.
    fn objects(&mut self, b: &'a Object, c: &'a Object, share_here: Share) -> f64 {
        let c_side = c;
        let left_out =
            |walk: &mut Self, key: &'a str| walk.at(Step::Key(key), |it| it.is_left_out());
        // Places that are left out count as equal where both sides have them, and not at all where one side lacks them.
        let b_keys: Vec<(&str, &Value, Option<&Value>)> = (b.iter())
            .map(|(key, it)| (key.as_str(), it, c.get(key)))
            .filter(|(key, _, c)| c.is_some() || !left_out(self, key))
            .collect();
        let common = b_keys.iter().filter(|(_, _, c)| c.is_some()).count();
        let mut added: Vec<&str> = Vec::new();
        if common < c.len() {
            added.extend(c.keys().map(String::as_str));
            added.retain(|key| !b.contains_key(*key) && !left_out(self, key));
            added.sort_unstable();
        }
        let all = b_keys.len() + added.len();
        let per_key = 0.9 / count(b_keys.len().max(1));
        let per_name = 0.1 / count(all.max(1));
        let weigh = |walk: &Self, b: &Value, c: &Value| walk.memo.weight(b) + walk.memo.weight(c);
        let weight: usize = (b_keys.iter())
            .filter_map(|(_, b, c)| Some(weigh(self, b, (*c)?)))
            .sum();

        let mut names_by_value: Option<HashMap<u64, &'a str>> = None;
        let mut sum = 0.0;
        for &(key, b, c) in &b_keys {
            if let Some(c) = c {
                let budget = share_here.part(weigh(self, b, c), weight);
                let share = share_here.of(per_key).with(budget);
                sum += self.at(Step::Key(key), |it| it.values(b, c, share));
                continue;
            }
            let names = names_by_value.get_or_insert_with(|| {
                // In reverse, so that of several keys with one value the first in sorted order stays.
                let added = added.iter().rev();
                added
                    .map(|name| (self.memo.hash(&c_side[*name]), *name))
                    .collect()
            });
            let (similarity, edit) = match names.get(&self.memo.hash(b)) {
                Some(name) => (0.5, Edit::Renamed((*name).to_owned())),
                None => (0.0, Edit::Missing(Piece::Member)),
            };
            sum += similarity;
            let loss = share_here
                .of(per_key * (1.0 - similarity) + per_name)
                .weight;
            self.at(Step::Key(key), |it| {
                it.note_loss(
                    (loss, similarity),
                    None,
                    edit,
                    Some(Steady::Unknown),
                    || (Some(excerpt::of(b)), None),
                );
            });
        }
        for key in &added {
            let loss = share_here.of(per_name);
            self.at(Step::Key(key), |it| {
                it.note_whole(loss, Edit::Added(Piece::Member), None, || {
                    (None, Some(excerpt::of(&c[*key])))
                });
            });
        }
        0.9 * share(sum, b_keys.len()) + 0.1 * share(count(common), all)
    }

    /// Aligned in order: the sum of the pairs' similarities / longer length.
    fn lists(&mut self, b: &'a [Value], c: &'a [Value], share_here: Share) -> f64 {
        if !b.is_empty() && c.is_empty() {
            let (edit, breaks) = (Edit::BecameEmpty, Some(Steady::Unknown));
            self.note_whole(share_here, edit, breaks, || {
                (
                    Some(several(b.len(), "element", "elements")),
                    Some("[]".to_owned()),
                )
            });
            return 0.0;
        }
        let shape_only = self.context.mode == Responses::Shape;
        let keys = |walk: &Self, list: &[Value]| -> (Vec<u64>, usize) {
            let weight = list.iter().map(|it| walk.memo.weight(it)).sum();
            (list.iter().map(|it| walk.memo.hash(it)).collect(), weight)
        };
        let ((b_keys, b_weight), (c_keys, c_weight)) = (keys(self, b), keys(self, c));
        let weight = b_weight + c_weight;
        let plan = Plan::new(share_here.budget, (b_weight, b.len()), (c_weight, c.len()));
        let quiet = share_here.of(1.0).with(plan.for_each);
        let one_kind = |i: usize, j: usize| shape_only || kind(&b[i]) == kind(&c[j]);
        let pairs = align::align_with(
            &b_keys,
            &c_keys,
            plan.cells,
            one_kind,
            |i, j| {
                let compare = |walk: &mut Self| walk.values(&b[i], &c[j], quiet);
                self.at(Step::Index(i), |walk| walk.quietly(compare))
            },
            || coarse::keys(b, c),
        );
        let pairs = with_retyped(pairs, b, c);
        let (mut b_alone, mut c_alone) = align::unpaired(&pairs, b.len(), c.len());
        let mut counts =
            |at: &usize| !shape_only && !self.at(Step::Index(*at), |it| it.is_left_out());
        b_alone.retain(&mut counts);
        c_alone.retain(&mut counts);
        let counted = Counted::new(pairs.len(), b_alone.len(), c_alone.len());

        let mut sum = 0.0;
        let share_left = share_here.with(plan.left);
        for (i, j) in pairs {
            if b_keys[i] == c_keys[j] {
                sum += 1.0;
                continue;
            }
            let budget = share_left.part(self.memo.weight(&b[i]) + self.memo.weight(&c[j]), weight);
            let inner = share_here.of(counted.pair).with(budget);
            sum += self.at(Step::Index(i), |walk| walk.values(&b[i], &c[j], inner));
        }
        let alone = share_here.of(counted.alone);
        for at in b_alone {
            let shown = || (Some(excerpt::of(&b[at])), None);
            let edit = Edit::Missing(Piece::Element);
            let note = |walk: &mut Self| walk.note_whole(alone, edit, None, shown);
            self.at(Step::Index(at), note);
        }
        for at in c_alone {
            let shown = || (None, Some(excerpt::of(&c[at])));
            let edit = Edit::Added(Piece::Element);
            let note = |walk: &mut Self| walk.note_whole(alone, edit, None, shown);
            self.at(Step::Index(at), note);
        }
        share(sum, counted.places)
    }

    /// Notes that two values differ, so much.
    pub(super) fn note(
        &mut self,
        share: Share,
        similarity: f64,
        grade: Grade,
        sides: impl FnOnce() -> (Option<String>, Option<String>),
    ) {
        let loss = share.weight * (1.0 - similarity);
        self.note_loss((loss, similarity), Some(grade), Edit::Changed, None, sides);
    }

    /// Notes what costs all that it is worth, such as an element without a partner.
    pub(super) fn note_whole(
        &mut self,
        share: Share,
        edit: Edit,
        breaks: Option<Steady>,
        sides: impl FnOnce() -> (Option<String>, Option<String>),
    ) {
        self.note_loss((share.weight, 0.0), None, edit, breaks, sides);
    }

    fn note_loss(
        &mut self,
        (loss, similarity): (f64, f64),
        grade: Option<Grade>,
        edit: Edit,
        breaks: Option<Steady>,
        sides: impl FnOnce() -> (Option<String>, Option<String>),
    ) {
        if let Some(findings) = &mut self.findings
            && !findings.pass_over(loss, breaks.is_some())
        {
            let (expected, got) = sides();
            findings.note(Difference {
                path: self.place.to_string(),
                edit,
                grade,
                breaks,
                expected,
                got,
                similarity,
                loss,
            });
        }
    }

    /// Whether each side only repeats the value of an argument of its own request.
    fn is_echo(&self, b: &Value, c: &Value) -> bool {
        let echoes = self.context.echoes.iter();
        echoes
            .into_iter()
            .any(|(b_said, c_said)| same(b_said, b) && same(c_said, c))
    }

    fn is_text_echo(&self, b: &str, c: &str) -> bool {
        let echoes = self.context.echoes.iter();
        echoes
            .into_iter()
            .any(|(b_said, c_said)| b_said.as_str() == Some(b) && c_said.as_str() == Some(c))
    }
}
