//! Differences between several answers to one request, place by place.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::by_hand::learned::NOTHING;
use crate::text::{excerpt, key, times, watch};
use crate::values::embedded::embedded;
use crate::values::kind::{self, reduced};
use crate::values::number;
use crate::values::path::escape;
use crate::values::same::{DEPTH, same};
use model::digits;
use model::text::several;
use model::{Answer, Object, Odd, Variation, Varying};

use super::elements::{
    are_other_rows, gathered, has_something_of, is_reordered, partners, same_elements, sorted_keys,
};
use super::wording::{self, Wording, examples};

/// What differs between several answers, found place by place.
#[derive(Default)]
pub(super) struct Differing {
    /// When each take was answered, in seconds since 1970.
    pub(super) at: Vec<f64>,
    pub(super) varies: Vec<Varying>,
    /// The path, what each take had there, and which take is the odd one.
    pub(super) disagreements: Vec<(String, Vec<String>, Option<usize>)>,
    /// The places where some takes had another kind of thing, and the recorded take had that of most.
    pub(super) odd: Vec<Odd>,
    /// Enough takes were answered to learn from.
    pub(super) is_learned: bool,
}

/// The value of each take at one place; `None` where a take has none there.
type PerTake<'a> = Vec<Option<&'a Value>>;

impl Differing {
    pub(super) fn new(at: Vec<f64>) -> Self {
        Self {
            at,
            ..Self::default()
        }
    }

    pub(super) fn of_outcomes(&mut self, answers: &[Option<&Answer>]) {
        let words: Vec<String> = (answers.iter())
            .map(|it| {
                if it.is_some() {
                    "an answer"
                } else {
                    "an error"
                }
                .to_owned()
            })
            .collect();
        let all: Vec<usize> = (0..words.len()).collect();
        let Some(agreeing) = self.agree(&all, "", &words, |_| None) else {
            return;
        };
        let answers: Vec<&Answer> = agreeing.iter().filter_map(|it| answers[*it]).collect();
        let numbers = agreeing;
        if answers.is_empty() {
            return;
        }
        self.is_learned = true;
        self.of_content(&answers, &numbers);
        let structured: PerTake<'_> = answers
            .iter()
            .map(|it| it.structured_content.as_ref())
            .collect();
        self.of_place(&structured, "/structuredContent", &numbers, DEPTH);
    }

    fn of_content(&mut self, answers: &[&Answer], numbers: &[usize]) {
        let kinds = |it: &Answer| -> Vec<Option<String>> {
            let kind = |block: &Value| block.get("type").and_then(Value::as_str).map(str::to_owned);
            it.content.iter().map(kind).collect()
        };
        let first = kinds(answers[0]);
        if answers.iter().all(|it| kinds(it) == first) {
            for index in 0..first.len() {
                let blocks: Vec<&Value> = answers.iter().map(|it| &it.content[index]).collect();
                self.of_blocks(&blocks, &format!("/content/{index}"), numbers);
            }
            return;
        }
        let words: Vec<String> = (answers.iter())
            .map(|it| match it.content.len() {
                0 => "no content".to_owned(),
                count => several(count, "block of content", "blocks of content"),
            })
            .collect();
        if words.iter().any(|it| it == "no content") {
            let Some(agreeing) = self.agree(numbers, "/content", &words, |_| None) else {
                return;
            };
            let answers: Vec<&Answer> = agreeing.iter().map(|it| answers[*it]).collect();
            let numbers: Vec<usize> = agreeing.iter().map(|it| numbers[*it]).collect();
            return self.of_content(&answers, &numbers);
        }
        self.varies.push(Varying {
            heard: words,
            ..Varying::new("/content/*".to_owned(), Variation::Anything)
        });
    }

    fn of_blocks(&mut self, blocks: &[&Value], path: &str, numbers: &[usize]) {
        let texts: Option<Vec<&str>> = (blocks.iter())
            .map(|it| it.get("text").and_then(Value::as_str))
            .collect();
        if let Some(texts) = texts {
            self.of_texts(&texts, path, &format!("{path}/text"), numbers, DEPTH);
        } else {
            let per_take: PerTake<'_> = blocks.iter().map(|it| Some(*it)).collect();
            self.of_place(&per_take, path, numbers, DEPTH);
        }
    }

    /// `plain` is where the texts are unless they hold JSON.
    fn of_texts(
        &mut self,
        texts: &[&str],
        path: &str,
        plain: &str,
        numbers: &[usize],
        depth: usize,
    ) {
        if texts.iter().all(|it| *it == texts[0]) {
            return;
        }
        let documents: Vec<Option<Value>> = texts.iter().map(|it| embedded(it)).collect();
        let words: Vec<String> = (documents.iter())
            .zip(texts)
            .map(|(json, text)| {
                if json.is_some() {
                    "JSON"
                } else {
                    kind_of_text(text)
                }
                .to_owned()
            })
            .collect();
        let json = format!("{path}/json");
        let is_json = documents.iter().all(Option::is_some);
        let place = if is_json { json.as_str() } else { plain };
        let seen = |take: usize| Some(reduced(&Value::from(texts[take])));
        let Some(agreeing) = self.agree(numbers, place, &words, seen) else {
            return;
        };
        let numbers: Vec<usize> = agreeing.iter().map(|it| numbers[*it]).collect();
        if documents[agreeing[0]].is_some() {
            let per_take: PerTake<'_> = agreeing.iter().map(|it| documents[*it].as_ref()).collect();
            self.of_place(&per_take, &json, &numbers, depth.saturating_sub(1));
            return;
        }
        let texts: Vec<&str> = agreeing.iter().map(|it| texts[*it]).collect();
        let at: Vec<f64> = numbers.iter().map(|it| self.moment(*it)).collect();
        if let Some(Wording { by, parts, pads }) = wording::learn(&texts, &at) {
            let seen = match by {
                Variation::Tokens => Vec::new(),
                _ => seen_of(texts.iter().map(|it| Value::from(*it))),
            };
            self.varies.push(Varying {
                parts,
                heard: if seen.is_empty() && by != Variation::Tokens {
                    examples(texts.iter().map(|it| excerpt::of_text(it)))
                } else {
                    Vec::new()
                },
                seen,
                pads,
                ..Varying::new(plain.to_owned(), by)
            });
        }
    }

    /// Notes that a place varies, and no more of it.
    fn note(&mut self, path: &str, by: Variation) {
        self.varies.push(Varying::new(path.to_owned(), by));
    }

    /// When a take was made.
    fn moment(&self, take: usize) -> f64 {
        self.at.get(take).copied().unwrap_or_default()
    }

    fn of_place(&mut self, per_take: &PerTake<'_>, path: &str, numbers: &[usize], depth: usize) {
        if depth == 0 || per_take.iter().all(Option::is_none) {
            return;
        }
        let words: Vec<String> = per_take.iter().map(|it| kind_of(*it)).collect();
        let seen = |take: usize| per_take[take].map(reduced);
        let Some(agreeing) = self.agree(numbers, path, &words, seen) else {
            return;
        };
        let numbers: Vec<usize> = agreeing.iter().map(|it| numbers[*it]).collect();
        let values: Vec<&Value> = agreeing.iter().filter_map(|it| per_take[*it]).collect();
        match values.first() {
            None => {}
            Some(Value::Object(_)) => {
                let objects: Vec<&Object> = values.iter().filter_map(|it| it.as_object()).collect();
                self.of_objects(&objects, path, &numbers, depth - 1);
            }
            Some(Value::Array(_)) => {
                let lists: Vec<&Vec<Value>> =
                    values.iter().filter_map(|it| it.as_array()).collect();
                self.of_lists(&lists, path, &numbers, depth - 1);
            }
            Some(first @ Value::String(_)) if digits::of(first).is_none() => {
                let texts: Vec<&str> = values.iter().filter_map(|it| it.as_str()).collect();
                self.of_texts(&texts, path, path, &numbers, depth);
            }
            Some(first) => {
                let is_same = |it: &&Value| match (first, it) {
                    (Value::Number(a), Value::Number(b)) => number::close(a, b),
                    (a, b) => same(a, b),
                };
                if !values.iter().all(is_same) {
                    self.same_type(path, &values, &numbers);
                }
            }
        }
    }

    fn of_lists(&mut self, lists: &[&Vec<Value>], path: &str, numbers: &[usize], depth: usize) {
        let first = lists[0];
        if lists.iter().all(|it| *it == first) {
            return;
        }
        let is_row = is_row(lists) || is_within_list(path, lists);
        if is_row {
            self.note(path, Variation::Row);
        } else if let Some(partners) = partners(lists) {
            return self.of_shuffled(lists, &partners, path, numbers, depth);
        }
        let varies_as_a_whole = |other: &&Vec<Value>| {
            first.len() != other.len()
                || is_reordered(first, other)
                || first
                    .iter()
                    .zip(other.iter())
                    .any(|(a, b)| !has_something_of(a, b, depth))
        };
        let is_whole = lists[1..].iter().any(varies_as_a_whole);
        if !is_row && !is_whole && are_other_rows(lists) {
            // As many, and of one shape.
            self.note(path, Variation::Row);
            return self.of_elements(lists, path, numbers, depth);
        }
        if !is_row && is_whole {
            let is_reordered = lists[1..]
                .iter()
                .all(|it| sorted_keys(it) == sorted_keys(first));
            let by = if is_reordered {
                Variation::AnyOrder
            } else {
                Variation::AnyElements
            };
            self.varies.push(Varying {
                seen: lists.iter().map(|it| Value::from(it.len())).collect(),
                ..Varying::new(path.to_owned(), by)
            });
            if by == Variation::AnyElements {
                self.of_elements(lists, path, numbers, depth);
            }
            return;
        }
        let before = self.varies.len();
        for index in 0..first.len() {
            let elements: PerTake<'_> = lists.iter().map(|it| it.get(index)).collect();
            self.of_place(&elements, &format!("{path}/{index}"), numbers, depth);
        }
        if is_row || first.len() < 2 {
            return;
        }
        let of_elements = self.varies.split_off(before);
        self.varies
            .extend(gathered(of_elements, path, first, first.len()));
    }

    /// What the elements of lists have in common, whichever they are.
    fn of_elements(&mut self, lists: &[&Vec<Value>], path: &str, numbers: &[usize], depth: usize) {
        let elements: Vec<Sample<'_>> = (lists.iter().zip(numbers))
            .flat_map(|(list, take)| list.iter().map(|it| (it, *take)))
            .collect();
        self.of_samples(&elements, &format!("{path}/*"), depth, Variation::SameType);
    }

    /// What values that have no partners in other takes have in common: what their members are, and which are in all of them.
    fn of_samples(&mut self, samples: &[Sample<'_>], path: &str, depth: usize, by: Variation) {
        let Some(depth) = depth.checked_sub(1).filter(|_| !samples.is_empty()) else {
            return;
        };
        if samples.iter().all(|it| it.0.is_object()) && by == Variation::SameType {
            let mut keys: Vec<&String> = Vec::new();
            let mut counts: HashMap<&String, Vec<Sample<'_>>> = HashMap::new();
            for (object, take) in samples
                .iter()
                .filter_map(|(it, take)| Some((it.as_object()?, *take)))
            {
                for (key, value) in object {
                    counts
                        .entry(key)
                        .or_insert_with(|| {
                            keys.push(key);
                            Vec::new()
                        })
                        .push((value, take));
                }
            }
            if keys.len() > MEMBERS {
                return;
            }
            for key in keys {
                let values = &counts[key];
                let by = if values.len() == samples.len() {
                    Variation::SameType
                } else {
                    Variation::Anything
                };
                self.of_samples(values, &format!("{path}/{}", escape(key)), depth, by);
            }
            return;
        }
        let lists: Option<Vec<&Vec<Value>>> = samples.iter().map(|it| it.0.as_array()).collect();
        if let Some(lists) = lists.filter(|_| by == Variation::SameType) {
            let length = lists[0].len();
            let of = |at: usize| {
                samples
                    .iter()
                    .filter_map(|(it, take)| Some((it.get(at)?, *take)))
                    .collect::<Vec<_>>()
            };
            if length > 0 && lists.iter().all(|it| it.len() == length) {
                self.note(path, Variation::Row);
                for at in 0..length.min(MEMBERS) {
                    self.of_samples(&of(at), &format!("{path}/{at}"), depth, Variation::SameType);
                }
                return;
            }
            self.varies.push(Varying {
                seen: lists
                    .iter()
                    .take(SEEN)
                    .map(|it| Value::from(it.len()))
                    .collect(),
                ..Varying::new(path.to_owned(), Variation::AnyElements)
            });
            let elements: Vec<Sample<'_>> = (samples.iter())
                .flat_map(|(it, take)| it.as_array().into_iter().flatten().map(|it| (it, *take)))
                .collect();
            return self.of_samples(&elements, &format!("{path}/*"), depth, Variation::SameType);
        }
        let seen = seen_of(samples.iter().map(|it| it.0.clone()));
        let values: Vec<(&Value, f64)> = (samples.iter().take(SEEN))
            .map(|(it, take)| (*it, self.moment(*take)))
            .collect();
        self.varies.push(Varying {
            offsets: offsets(&values),
            seen,
            ..Varying::new(path.to_owned(), by)
        });
    }

    fn of_objects(&mut self, objects: &[&Object], path: &str, numbers: &[usize], depth: usize) {
        let first = objects[0];
        let is_common = |key: &String| objects.iter().all(|it| it.contains_key(key));
        let mut keys: Vec<&String> = Vec::new();
        let mut known = HashSet::new();
        for members in objects {
            keys.extend(members.keys().filter(|it| known.insert(*it)));
        }
        if key::vary(objects) {
            let own = |object: &&Object| -> Vec<Value> {
                let own = object.iter().filter(|(key, _)| !is_common(key));
                own.map(|(_, it)| it.clone()).collect()
            };
            let own: Vec<Vec<Value>> = objects.iter().map(own).collect();
            keys.retain(|it| is_common(it));
            if self.of_other_keys(&own, path, numbers, depth) {
                // Said of each of them.
            } else if keys.is_empty() {
                self.note(path, Variation::AnyElements);
                let own: Vec<&Vec<Value>> = own.iter().collect();
                return self.of_elements(&own, path, numbers, depth + 1);
            } else {
                let own = first.keys().filter(|it| !is_common(it));
                self.varies.extend(own.map(|key| {
                    let path = format!("{path}/{}", escape(key));
                    Varying::new(path, Variation::Anything)
                }));
            }
        }
        for key in keys {
            let members: PerTake<'_> = objects.iter().map(|it| it.get(key)).collect();
            self.of_place(&members, &format!("{path}/{}", escape(key)), numbers, depth);
        }
    }

    /// Values that are the same ones under other keys each time; false where nothing shows that they are.
    fn of_other_keys(
        &mut self,
        values: &[Vec<Value>],
        path: &str,
        numbers: &[usize],
        depth: usize,
    ) -> bool {
        let lists: Vec<&Vec<Value>> = values.iter().collect();
        let Some(partners) = same_elements(&lists) else {
            return false;
        };
        let mut within = Self::new(self.at.clone());
        within.of_shuffled(&lists, &partners, path, numbers, depth);
        // Only what is said of each of them can be said without their keys.
        let of_each = format!("{path}/*");
        let is_of_each = |it: &str| it == path || it.starts_with(&of_each);
        let is_said = within.varies.iter().all(|it| is_of_each(&it.path))
            && within.disagreements.is_empty()
            && within.odd.is_empty();
        if is_said {
            self.varies.extend(within.varies);
        }
        is_said
    }

    /// Rows that come in any order: what varies in one of them may vary in each.
    fn of_shuffled(
        &mut self,
        lists: &[&Vec<Value>],
        partners: &[Vec<usize>],
        path: &str,
        numbers: &[usize],
        depth: usize,
    ) {
        let first = lists[0];
        self.varies.push(Varying {
            seen: lists.iter().map(|it| Value::from(it.len())).collect(),
            ..Varying::new(path.to_owned(), Variation::AnyOrder)
        });
        let before = self.varies.len();
        for index in 0..first.len() {
            let rows = lists.iter().zip(partners);
            let rows: PerTake<'_> = rows.map(|(list, of)| list.get(of[index])).collect();
            self.of_place(&rows, &format!("{path}/{index}"), numbers, depth);
        }
        let of_rows = self.varies.split_off(before);
        self.varies.extend(gathered(of_rows, path, first, 1));
    }

    fn same_type(&mut self, path: &str, values: &[&Value], numbers: &[usize]) {
        let seen = seen_of(values.iter().map(|it| (*it).clone()));
        let timed: Vec<(&Value, f64)> = (values.iter().zip(numbers))
            .map(|(it, take)| (*it, self.moment(*take)))
            .collect();
        self.varies.push(Varying {
            heard: if seen.is_empty() {
                examples(values.iter().map(|it| excerpt::of(it)))
            } else {
                Vec::new()
            },
            seen,
            offsets: offsets(&timed),
            ..Varying::new(path.to_owned(), Variation::SameType)
        });
    }

    /// The takes, by their places, that have the same kind of thing: all, or all but a few odd ones. Where no two agree, or the recorded
    /// take is an odd one, the place is not looked at.
    fn agree(
        &mut self,
        numbers: &[usize],
        path: &str,
        words: &[String],
        seen: impl Fn(usize) -> Option<Value>,
    ) -> Option<Vec<usize>> {
        let agreeing = |with: &String| -> Vec<usize> {
            let places = words.iter().enumerate().filter(|(_, it)| *it == with);
            places.map(|(place, _)| place).collect()
        };
        let most = words
            .iter()
            .map(agreeing)
            .max_by_key(|it| (it.len(), std::cmp::Reverse(it.first().copied())))?;
        if most.len() == words.len() {
            return Some(most);
        }
        let odd: Vec<usize> = (0..words.len()).filter(|it| !most.contains(it)).collect();
        let is_known = most.len() >= 2 && most.len() > odd.len();
        self.disagreements.push((
            path.to_owned(),
            words.to_vec(),
            odd.first()
                .filter(|_| is_known && odd.len() == 1)
                .map(|it| numbers[*it] + 1),
        ));
        if is_known && most.first() == Some(&0) {
            self.odd.push(Odd {
                path: path.to_owned(),
                agreed: most.len(),
                seen: odd
                    .iter()
                    .map(|take| seen(*take).unwrap_or_default())
                    .collect(),
            });
            return Some(most);
        }
        if !path.is_empty() {
            self.varies.push(Varying {
                heard: words.to_vec(),
                seen: (0..words.len()).filter_map(&seen).collect(),
                ..Varying::new(path.to_owned(), Variation::Anything)
            });
        }
        None
    }
}

/// A value of one take, given by its number.
type Sample<'a> = (&'a Value, usize);

/// The most values of one place that are kept to judge others by.
const SEEN: usize = 12;
/// Longer texts are not kept.
const LONG: usize = 200;
/// Larger elements are not learned member by member.
const MEMBERS: usize = 64;

/// What is kept of some values; nothing where one is too long.
fn seen_of(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let kept: Vec<Value> = values.take(SEEN).map(|it| reduced(&it)).collect();
    let is_long = |it: &Value| it.as_str().is_some_and(|it| it.len() > LONG);
    if kept.iter().any(is_long) {
        Vec::new()
    } else {
        kept
    }
}

/// How many seconds after its call each of some times was; empty where one is no time.
fn offsets(values: &[(&Value, f64)]) -> Vec<i64> {
    let offsets = values.iter().map(|(value, at)| match value {
        Value::Number(it) => watch::epoch(number::float(it), *at),
        Value::String(it) => {
            (times::offsets(it, *at).into_iter()).min_by(|a, b| a.abs().total_cmp(&b.abs()))
        }
        _ => None,
    });
    let offsets: Option<Vec<f64>> = offsets.collect();
    watch::whole(offsets.unwrap_or_default())
}

/// Whether lists of one length have elements of unlike kinds, so that each stands for something of its own.
fn is_row(lists: &[&Vec<Value>]) -> bool {
    let length = lists[0].len();
    length > 1
        && lists.iter().all(|it| it.len() == length)
        && lists.iter().any(|it| {
            let kinds = kind::of_elements(it);
            kinds.iter().filter(|it| **it != "null").count() > 1
        })
}

/// Whether lists are elements of a list, and had one length.
fn is_within_list(path: &str, lists: &[&Vec<Value>]) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    !last.is_empty()
        && last.bytes().all(|it| it.is_ascii_digit())
        && lists
            .iter()
            .all(|it| it.len() == lists[0].len() && !it.is_empty())
}

/// The name of a value's kind. An empty list is of another kind than one with elements, because servers that are not ready yet find
/// nothing.
fn kind_of(value: Option<&Value>) -> String {
    match value {
        None => NOTHING,
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(it) if digits::of(it).is_some() => "a number",
        Some(Value::String(text)) => kind_of_text(text),
        Some(Value::Array(items)) if items.is_empty() => "an empty list",
        Some(Value::Array(_)) => "a list",
        Some(Value::Object(_)) => "an object",
    }
    .to_owned()
}

fn kind_of_text(text: &str) -> &'static str {
    if text.trim().is_empty() {
        "an empty text"
    } else {
        "a text"
    }
}
