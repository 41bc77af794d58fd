//! Where several answers to one request differ, place by place.

use std::collections::HashSet;

use serde_json::Value;

use crate::digits;
use crate::model::Object;
use crate::model::learned::{Odd, Variation, Varying};
use crate::model::trajectory::Answer;
use crate::score::by_hand::learned::NOTHING;
use crate::score::text::excerpt;
use crate::score::text::made_up_keys;
use crate::score::values::embedded::embedded;
use crate::score::values::kind;
use crate::score::values::number;
use crate::score::values::path::escape;
use crate::score::values::same::{DEPTH, same};

use super::any_order;
use super::elements::{gathered, has_something_of, is_reordered, sorted_keys};
use super::wording;

/// The most values of one place that are kept for people.
const EXAMPLES: usize = 3;

/// What differs between several answers, found place by place.
#[derive(Default)]
pub(super) struct Differing {
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
        let Some(agreeing) = self.agree(&all, "", &words) else {
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
                1 => "1 block of content".to_owned(),
                count => format!("{count} blocks of content"),
            })
            .collect();
        if words.iter().any(|it| it == "no content") {
            let Some(agreeing) = self.agree(numbers, "/content", &words) else {
                return;
            };
            let answers: Vec<&Answer> = agreeing.iter().map(|it| answers[*it]).collect();
            let numbers: Vec<usize> = agreeing.iter().map(|it| numbers[*it]).collect();
            return self.of_content(&answers, &numbers);
        }
        self.varies.push(Varying {
            path: "/content/*".to_owned(),
            by: Variation::Anything,
            examples: words,
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
        let Some(agreeing) = self.agree(numbers, place, &words) else {
            return;
        };
        let numbers: Vec<usize> = agreeing.iter().map(|it| numbers[*it]).collect();
        if documents[agreeing[0]].is_some() {
            let per_take: PerTake<'_> = agreeing.iter().map(|it| documents[*it].as_ref()).collect();
            self.of_place(&per_take, &json, &numbers, depth.saturating_sub(1));
            return;
        }
        let texts: Vec<&str> = agreeing.iter().map(|it| texts[*it]).collect();
        self.varies.extend(wording::learn(&texts).map(|by| Varying {
            path: plain.to_owned(),
            examples: match by {
                Variation::Tokens(_) => Vec::new(),
                _ => examples(texts.iter().map(|it| excerpt::of_text(it))),
            },
            by,
        }));
    }

    fn of_place(&mut self, per_take: &PerTake<'_>, path: &str, numbers: &[usize], depth: usize) {
        if depth == 0 || per_take.iter().all(Option::is_none) {
            return;
        }
        let words: Vec<String> = per_take.iter().map(|it| kind_of(*it)).collect();
        let Some(agreeing) = self.agree(numbers, path, &words) else {
            return;
        };
        let numbers: Vec<usize> = agreeing.iter().map(|it| numbers[*it]).collect();
        let values: Vec<&Value> = agreeing.iter().filter_map(|it| per_take[*it]).collect();
        match values.first() {
            None => {}
            Some(Value::Object(first)) => {
                let objects: Vec<&Object> = values.iter().filter_map(|it| it.as_object()).collect();
                let are_made_up = made_up_keys::vary(&objects);
                let is_common = |key: &String| objects.iter().all(|it| it.contains_key(key));
                if are_made_up && !first.keys().any(is_common) {
                    return self.same_type(path, &values);
                }
                let mut keys: Vec<&String> = Vec::new();
                let mut known = HashSet::new();
                for members in &objects {
                    keys.extend(members.keys().filter(|it| known.insert(*it)));
                }
                if are_made_up {
                    let own = first.keys().filter(|it| !is_common(it));
                    self.varies.extend(own.map(|key| Varying {
                        path: format!("{path}/{}", escape(key)),
                        by: Variation::Anything,
                        examples: Vec::new(),
                    }));
                    keys.retain(|it| is_common(it));
                }
                for key in keys {
                    let members: PerTake<'_> = values.iter().map(|it| it.get(key)).collect();
                    self.of_place(
                        &members,
                        &format!("{path}/{}", escape(key)),
                        &numbers,
                        depth - 1,
                    );
                }
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
                    self.same_type(path, &values);
                }
            }
        }
    }

    fn of_lists(&mut self, lists: &[&Vec<Value>], path: &str, numbers: &[usize], depth: usize) {
        let first = lists[0];
        if let Some(partners) = any_order::partners(lists) {
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
        if lists[1..].iter().any(varies_as_a_whole) {
            let is_reordered = lists[1..]
                .iter()
                .all(|it| sorted_keys(it) == sorted_keys(first));
            self.varies.push(Varying {
                path: path.to_owned(),
                by: if is_reordered {
                    Variation::AnyOrder
                } else if lists[1..]
                    .iter()
                    .all(|it| kind::of_elements(it) == kind::of_elements(first))
                {
                    Variation::AnyElements
                } else {
                    Variation::SameType
                },
                examples: examples(lists.iter().map(|it| format!("{} elements", it.len()))),
            });
            return;
        }
        let before = self.varies.len();
        for index in 0..first.len() {
            let elements: PerTake<'_> = lists.iter().map(|it| it.get(index)).collect();
            self.of_place(&elements, &format!("{path}/{index}"), numbers, depth);
        }
        let of_elements = self.varies.split_off(before);
        self.varies
            .extend(gathered(of_elements, path, first, first.len()));
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
            path: path.to_owned(),
            by: Variation::AnyOrder,
            examples: examples(lists.iter().map(|it| format!("{} elements", it.len()))),
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

    fn same_type(&mut self, path: &str, values: &[&Value]) {
        self.varies.push(Varying {
            path: path.to_owned(),
            by: Variation::SameType,
            examples: examples(values.iter().map(|it| excerpt::of(it))),
        });
    }

    /// The takes, by their places, that have the same kind of thing: all, or all but a few odd ones. Where no two agree, or the recorded
    /// take is an odd one, the place is not looked at.
    fn agree(&mut self, numbers: &[usize], path: &str, words: &[String]) -> Option<Vec<usize>> {
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
            });
            return Some(most);
        }
        if !path.is_empty() {
            self.varies.push(Varying {
                path: path.to_owned(),
                by: Variation::Anything,
                examples: words.to_vec(),
            });
        }
        None
    }
}

fn examples(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    for it in values {
        if examples.len() < EXAMPLES && !examples.contains(&it) {
            examples.push(it);
        }
    }
    examples
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
