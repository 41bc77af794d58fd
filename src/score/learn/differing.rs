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

/// The most of what was heard at one place that is kept for people.
const HEARD: usize = 3;

/// What differs between several answers, found place by place.
#[derive(Default)]
pub(super) struct Differing {
    pub(super) varies: Vec<Varying>,
    /// Where, what each take had, and which of them is the odd one.
    pub(super) disagreements: Vec<(String, Vec<String>, Option<usize>)>,
    /// Where the recorded take is of the kind of most.
    pub(super) odd: Vec<Odd>,
    /// Enough takes were answered for anything to be known.
    pub(super) is_learned: bool,
}

/// What the takes have at one place; nothing where a take has nothing there.
type Heard<'a> = Vec<Option<&'a Value>>;

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
        let structured: Heard<'_> = answers
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
            heard: words,
        });
    }

    fn of_blocks(&mut self, blocks: &[&Value], path: &str, numbers: &[usize]) {
        let texts: Option<Vec<&str>> = (blocks.iter())
            .map(|it| it.get("text").and_then(Value::as_str))
            .collect();
        if let Some(texts) = texts {
            self.of_texts(&texts, path, &format!("{path}/text"), numbers, DEPTH);
        } else {
            let heard: Heard<'_> = blocks.iter().map(|it| Some(*it)).collect();
            self.of_place(&heard, path, numbers, DEPTH);
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
                    text_in_words(text)
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
            let heard: Heard<'_> = agreeing.iter().map(|it| documents[*it].as_ref()).collect();
            self.of_place(&heard, &json, &numbers, depth.saturating_sub(1));
            return;
        }
        let texts: Vec<&str> = agreeing.iter().map(|it| texts[*it]).collect();
        self.varies.extend(wording::learn(&texts).map(|by| Varying {
            path: plain.to_owned(),
            heard: match by {
                Variation::Tokens(_) => Vec::new(),
                _ => shown(texts.iter().map(|it| excerpt::of_text(it))),
            },
            by,
        }));
    }

    fn of_place(&mut self, heard: &Heard<'_>, path: &str, numbers: &[usize], depth: usize) {
        if depth == 0 || heard.iter().all(Option::is_none) {
            return;
        }
        let words: Vec<String> = heard.iter().map(|it| in_words(*it)).collect();
        let Some(agreeing) = self.agree(numbers, path, &words) else {
            return;
        };
        let numbers: Vec<usize> = agreeing.iter().map(|it| numbers[*it]).collect();
        let values: Vec<&Value> = agreeing.iter().filter_map(|it| heard[*it]).collect();
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
                        heard: Vec::new(),
                    }));
                    keys.retain(|it| is_common(it));
                }
                for key in keys {
                    let members: Heard<'_> = values.iter().map(|it| it.get(key)).collect();
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
                heard: shown(lists.iter().map(|it| format!("{} elements", it.len()))),
            });
            return;
        }
        let before = self.varies.len();
        for index in 0..first.len() {
            let elements: Heard<'_> = lists.iter().map(|it| it.get(index)).collect();
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
            heard: shown(lists.iter().map(|it| format!("{} elements", it.len()))),
        });
        let before = self.varies.len();
        for index in 0..first.len() {
            let rows = lists.iter().zip(partners);
            let rows: Heard<'_> = rows.map(|(list, of)| list.get(of[index])).collect();
            self.of_place(&rows, &format!("{path}/{index}"), numbers, depth);
        }
        let of_rows = self.varies.split_off(before);
        self.varies.extend(gathered(of_rows, path, first, 1));
    }

    fn same_type(&mut self, path: &str, values: &[&Value]) {
        self.varies.push(Varying {
            path: path.to_owned(),
            by: Variation::SameType,
            heard: shown(values.iter().map(|it| excerpt::of(it))),
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
                heard: words.to_vec(),
            });
        }
        None
    }
}

fn shown(heard: impl Iterator<Item = String>) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for it in heard {
        if shown.len() < HEARD && !shown.contains(&it) {
            shown.push(it);
        }
    }
    shown
}

/// The kind of a value, in words. An empty list is of another kind than one with elements: servers that are not ready yet find nothing.
fn in_words(value: Option<&Value>) -> String {
    match value {
        None => NOTHING,
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(it) if digits::of(it).is_some() => "a number",
        Some(Value::String(text)) => text_in_words(text),
        Some(Value::Array(items)) if items.is_empty() => "an empty list",
        Some(Value::Array(_)) => "a list",
        Some(Value::Object(_)) => "an object",
    }
    .to_owned()
}

fn text_in_words(text: &str) -> &'static str {
    if text.trim().is_empty() {
        "an empty text"
    } else {
        "a text"
    }
}
