//! Similarity of two JSON documents in responses.

use std::collections::HashMap;

use serde_json::Value;

use crate::digits;
use crate::model::Object;
use crate::model::comparison::Difference;
use crate::model::rules::Responses;

use super::excerpt;
use super::finding::Findings;
use super::kind::{article, kind};
use super::leftover::{self, Counted, with_retyped};
use super::mask;
use super::number::{self, count, share};
use super::path::{Pattern, Place, Step};
use super::same::{self, View, same};
use super::value::{Plan, embedded};
use super::words;

/// How many times a text may hold JSON that again holds a text that holds JSON.
const EMBEDDINGS: usize = 4;

/// Texts up to this length are masked as a whole before they are looked into.
const SHORT: usize = 1 << 12;

/// How two responses are compared, apart from the responses themselves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    /// Places to leave out: from the scenario's rules, and from what recording learned for this call.
    pub(super) ignore: &'a [Pattern],
    pub(super) volatile: &'a [Pattern],
    /// Recording watched this call several times, so what is not volatile is known to be stable.
    pub(super) learned: bool,
    /// Argument values that differ between the two requests; an answer may echo its own.
    pub(super) echoes: &'a [(&'a Value, &'a Value)],
    pub(super) mode: Responses,
}

/// Walks two documents side by side.
pub(super) struct Walk<'a> {
    context: Context<'a>,
    place: Place<'a>,
    /// What was found; `None` while only a similarity is wanted.
    findings: Option<Findings>,
    embeddings: usize,
}

/// How much of the response's similarity rides on the place at hand, and how much work it may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) weight: f64,
    pub(super) budget: usize,
    depth: usize,
}

impl Share {
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
}

impl<'a> Walk<'a> {
    pub(super) fn new(context: Context<'a>) -> Self {
        Self {
            context,
            place: Place::default(),
            findings: Some(Findings::default()),
            embeddings: 0,
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

    /// Whether the current place is left out of the comparison.
    pub(super) fn is_left_out(&self) -> bool {
        let patterns = self.context.ignore.iter().chain(self.context.volatile);
        patterns.into_iter().any(|it| it.matches(&self.place))
    }

    /// Compares two JSON documents as a JSON path sees them: with the current place as their root.
    pub(super) fn document(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        let outer = self.place.begin_document();
        let similarity = self.values(b, c, share);
        self.place.end_document(outer);
        similarity
    }

    fn values(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        if self.is_left_out() {
            return 1.0;
        }
        match (b, c) {
            (Value::Object(b), Value::Object(c)) if share.depth > 0 => self.objects(b, c, share),
            (Value::Array(b), Value::Array(c)) if share.depth > 0 => self.lists(b, c, share),
            _ if digits::of(b).or(digits::of(c)).is_some() => self.leaves(b, c, share),
            (Value::String(b), Value::String(c)) => self.texts(b, c, share, None),
            _ => self.leaves(b, c, share),
        }
    }

    fn leaves(&mut self, b: &'a Value, c: &'a Value, share: Share) -> f64 {
        if same(b, c) || self.is_echo(b, c) {
            return 1.0;
        }
        let changed_type = || format!("became {}", article(kind(c)));
        let (similarity, rule, contract) = match (b, c) {
            (Value::Null, _) | (_, Value::Null) => (0.0, "null", Some(changed_type())),
            _ if kind(b) != kind(c) => (0.0, "type", Some(changed_type())),
            _ if self.context.mode == Responses::Shape => return 1.0,
            (Value::Bool(_), _) => (0.0, "bool", Some(format!("became {c}"))),
            (Value::Number(b), Value::Number(c)) => {
                if mask::number(b).is_some() && mask::number(c).is_some() {
                    return 1.0;
                }
                (number::distance(b, c, None), "distance", None)
            }
            _ if number::is_number(b) => (number::distance_of(b, c, None), "distance", None),
            // Only values deeper than the walk goes are left.
            _ => (0.0, "depth", None),
        };
        self.note(share, similarity, rule, contract.as_deref(), || {
            let (b, c) = excerpt::of_values(b, c);
            (Some(b), Some(c))
        });
        similarity
    }

    /// Compares two texts: as JSON where both hold some, else word by word after masking.
    ///
    /// `plain` is the step to where they are as plain texts, if that is not where they are as JSON.
    pub(super) fn texts(
        &mut self,
        b: &'a str,
        c: &'a str,
        share: Share,
        plain: Option<Step<'a>>,
    ) -> f64 {
        if b == c || self.is_text_echo(b, c) {
            return 1.0;
        }
        // What differs by nature alone need not be parsed to be seen as equal.
        if b.len().max(c.len()) <= SHORT && mask::text(b) == mask::text(c) {
            return 1.0;
        }
        let mut contract = None;
        if self.embeddings < EMBEDDINGS
            && share.depth > 0
            && let Some(b_json) = embedded(b)
        {
            if let Some(c_json) = embedded(c) {
                return self.embedded_documents(&b_json, &c_json, share);
            }
            contract = Some("no longer JSON");
        }
        match plain {
            Some(step) => self.at(step, |walk| walk.plain_texts(b, c, share, contract)),
            None => self.plain_texts(b, c, share, contract),
        }
    }

    fn plain_texts(&mut self, b: &str, c: &str, share: Share, contract: Option<&str>) -> f64 {
        if self.is_left_out() {
            return 1.0;
        }
        let (b_masked, c_masked) = (mask::text(b), mask::text(c));
        let shape_only = self.context.mode == Responses::Shape;
        if b_masked == c_masked || (shape_only && contract.is_none()) {
            return 1.0;
        }
        let similarity = match self.context.mode {
            Responses::Exact => 0.0,
            _ => words::similarity(&b_masked, &c_masked),
        };
        let contract = contract.or_else(|| {
            let is_word = !b.contains(char::is_whitespace);
            (self.context.learned && is_word && self.place.is_in_document())
                .then_some("changed, though it was learned to be stable")
        });
        if similarity < 1.0 || contract.is_some() {
            self.note(share, similarity, "words", contract, || {
                let (b, c) = excerpt::of_texts(b, c);
                (Some(b), Some(c))
            });
        }
        similarity
    }

    /// The documents two texts hold. They live shorter than the walk, so a walk of their own is made for them.
    fn embedded_documents(&mut self, b: &Value, c: &Value, share: Share) -> f64 {
        let mut inner = Walk {
            context: self.context,
            place: self.place.clone(),
            findings: self.findings.take(),
            embeddings: self.embeddings + 1,
        };
        let similarity = inner.at(Step::Json, |walk| walk.document(b, c, share));
        self.findings = inner.findings;
        similarity
    }

    /// `0.9 × mean over the baseline's keys + 0.1 × |common| / |all|`.
    fn objects(&mut self, b: &'a Object, c: &'a Object, share_here: Share) -> f64 {
        let left_out =
            |walk: &mut Self, key: &'a str| walk.at(Step::Key(key), |it| it.is_left_out());
        // Places left out count where both sides have them, and are not missed where one has not.
        let b_keys: Vec<(&str, &Value)> = (b.iter().map(|(key, it)| (key.as_str(), it)))
            .filter(|(key, _)| c.contains_key(*key) || !left_out(self, key))
            .collect();
        let mut added: Vec<&str> = (c.keys().map(String::as_str))
            .filter(|key| !b.contains_key(*key))
            .filter(|key| !left_out(self, key))
            .collect();
        added.sort_unstable();
        let common = b_keys
            .iter()
            .filter(|(key, _)| c.contains_key(*key))
            .count();
        let all = b_keys.len() + added.len();
        let per_key = 0.9 / count(b_keys.len().max(1));
        let per_name = 0.1 / count(all.max(1));

        let mut names_by_value: Option<HashMap<u64, &'a str>> = None;
        let mut sum = 0.0;
        for &(key, b) in &b_keys {
            if let Some(c) = c.get(key) {
                sum += self.at(Step::Key(key), |it| it.values(b, c, share_here.of(per_key)));
                continue;
            }
            let names = names_by_value.get_or_insert_with(|| {
                // In reverse, so that of several keys with one value the first in sorted order stays.
                let added = added.iter().rev();
                added
                    .map(|name| (same::hash(&c[*name], View::Masked), *name))
                    .collect()
            });
            let (similarity, what) = match names.get(&same::hash(b, View::Masked)) {
                Some(name) => (0.5, format!("renamed to {name:?}")),
                None => (0.0, "missing".to_owned()),
            };
            sum += similarity;
            let loss = share_here
                .of(per_key * (1.0 - similarity) + per_name)
                .weight;
            self.at(Step::Key(key), |it| {
                it.note_loss(loss, similarity, "key", Some(&what), || {
                    (Some(excerpt::of(b)), None)
                });
            });
        }
        for key in &added {
            let loss = share_here.of(per_name);
            self.at(Step::Key(key), |it| {
                it.note(loss, 0.0, "added key", None, || {
                    (None, Some(excerpt::of(&c[*key])))
                });
            });
        }
        0.9 * share(sum, b_keys.len()) + 0.1 * share(count(common), all)
    }

    /// Aligned in order: the sum of the pairs' similarities / longer length.
    fn lists(&mut self, b: &'a [Value], c: &'a [Value], share_here: Share) -> f64 {
        if !b.is_empty() && c.is_empty() {
            self.note(share_here, 0.0, "list", Some("became empty"), || {
                (Some(format!("{} elements", b.len())), Some("[]".to_owned()))
            });
            return 0.0;
        }
        let shape_only = self.context.mode == Responses::Shape;
        let plan = Plan::new(b, c, share_here.budget);
        let quiet = Share {
            budget: plan.budget,
            ..share_here.of(1.0)
        };
        let one_kind = |i: usize, j: usize| shape_only || kind(&b[i]) == kind(&c[j]);
        let pairs = plan.pairs(b, c, View::Masked, one_kind, |i, j| {
            let compare = |walk: &mut Self| walk.values(&b[i], &c[j], quiet);
            self.at(Step::Index(i), |walk| walk.quietly(compare))
        });
        let pairs = with_retyped(pairs, b, c);
        let (mut b_alone, mut c_alone) = leftover::unpaired(&pairs, b.len(), c.len());
        let mut counts =
            |at: &usize| !shape_only && !self.at(Step::Index(*at), |it| it.is_left_out());
        b_alone.retain(&mut counts);
        c_alone.retain(&mut counts);
        let counted = Counted::new(pairs.len(), b_alone.len(), c_alone.len());

        let mut sum = 0.0;
        for (i, j) in pairs {
            let inner = Share {
                budget: plan.budget,
                ..share_here.of(counted.pair)
            };
            sum += self.at(Step::Index(i), |walk| walk.values(&b[i], &c[j], inner));
        }
        let alone = share_here.of(counted.alone);
        for at in b_alone {
            let shown = || (Some(excerpt::of(&b[at])), None);
            let note = |walk: &mut Self| walk.note(alone, 0.0, "missing element", None, shown);
            self.at(Step::Index(at), note);
        }
        for at in c_alone {
            let shown = || (None, Some(excerpt::of(&c[at])));
            let note = |walk: &mut Self| walk.note(alone, 0.0, "added element", None, shown);
            self.at(Step::Index(at), note);
        }
        share(sum, counted.places)
    }

    pub(super) fn note(
        &mut self,
        share: Share,
        similarity: f64,
        rule: &'static str,
        contract: Option<&str>,
        sides: impl FnOnce() -> (Option<String>, Option<String>),
    ) {
        let loss = share.weight * (1.0 - similarity);
        self.note_loss(loss, similarity, rule, contract, sides);
    }

    fn note_loss(
        &mut self,
        loss: f64,
        similarity: f64,
        rule: &'static str,
        contract: Option<&str>,
        sides: impl FnOnce() -> (Option<String>, Option<String>),
    ) {
        if let Some(findings) = &mut self.findings {
            let (expected, got) = sides();
            let difference = Difference {
                path: self.place.to_string(),
                expected,
                got,
                similarity,
                rule: rule.into(),
                loss,
            };
            findings.note(difference, contract);
        }
    }

    /// Whether each side merely gives back what its own request said in the same argument.
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
