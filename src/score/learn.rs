//! What several takes of one script show to vary by nature, and what a take left behind.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::digits;
use crate::model::Object;
use crate::model::binding::Binding;
use crate::model::learned::{self, Odd, Variation, Varying};
use crate::model::rules::Rules;
use crate::model::trajectory::{Answer, Outcome, ToolCall, Trajectory};
use crate::score::by_hand::learned::NOTHING;
use crate::score::ids::binding::resolve;
use crate::score::ids::binding::{at, find_in_takes, full_patterns};
use crate::score::ids::terms::Terms;
use crate::score::ids::translate::translate;
use crate::score::lists::align;
use crate::score::pairing::call::{is_same_request, only_reads, request_key};
use crate::score::pairing::polls::Polled;
use crate::score::text::excerpt;
use crate::score::text::made_up_keys;
use crate::score::text::words;
use crate::score::values::embedded::embedded;
use crate::score::values::exact::exact;
use crate::score::values::kind::kind;
use crate::score::values::number;
use crate::score::values::path::escape;
use crate::score::values::same::{self, View, same};

use super::any_order;
use super::wording;
use super::work::{Cancelled, Work};

/// The most places that are learned for one answer; one with more varies from its outermost places on.
const PLACES: usize = 200;
/// How deep answers are looked into.
const DEPTH: usize = same::DEPTH;
/// Whether learning is still wanted is asked anew for each answer.
const STEPS: usize = 1 << 13;
/// The most of what was heard at one place that is kept for people.
const HEARD: usize = 3;
/// Shorter texts and smaller numbers turn up everywhere, and tell nothing of where they come from.
const TELLING_LENGTH: usize = 3;
const TELLING_NUMBER: f64 = 100.0;

/// What several takes show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// What was learned of each answer that was heard more than once.
    pub answers: Vec<learned::Learned>,
    /// What later requests take from earlier answers.
    pub bindings: Vec<Binding>,
    /// Where the takes disagreed in kind, in the order of the calls. With two takes, a third would tell which is the odd one.
    pub disagreements: Vec<Disagreement>,
    /// What an earlier take left behind for a later one: the servers keep more than the takes should share.
    pub left_behind: Option<LeftBehind>,
}

/// A place where takes had different kinds of things: a list and nothing, JSON and prose, an answer and an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// The number of the call.
    pub call: usize,
    /// Its tool's full name.
    pub tool: String,
    pub path: String,
    /// What each take had, in words, in the order of the takes.
    pub heard: Vec<String>,
    /// The take that disagrees with all others, counted from 1, where there is just one.
    pub odd: Option<usize>,
}

/// Something that an effect of one take made, and that a read of a later take found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehind {
    /// The number of the read.
    pub call: usize,
    pub tool: String,
    /// The effect of the earlier take.
    pub effect: String,
    /// What it left, shortened.
    pub value: String,
}

/// What the first of several takes of one scenario should be kept with; of a single take, its bindings, and what was heard when its reads
/// were asked again.
pub fn learn(takes: &[Trajectory], rules: &Rules) -> Learned {
    learn_with(takes, rules, &Work::uninterrupted())
}

/// The same, until it is not wanted any more, which is asked every few thousand steps.
///
/// # Errors
///
/// [`Cancelled`] when it was not wanted to the end.
pub fn learn_until(
    takes: &[Trajectory],
    rules: &Rules,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Learned, Cancelled> {
    let work = Work::until(is_unwanted);
    let learned = learn_with(takes, rules, &work);
    work.finish(learned)
}

fn learn_with(takes: &[Trajectory], rules: &Rules, work: &Work<'_>) -> Learned {
    let Some((first, others)) = takes.split_first() else {
        return Learned::default();
    };
    let first = Trajectory {
        bindings: find_in_takes(first, others),
        learned: Vec::new(),
        ..first.clone()
    };
    let others: Vec<Cow<'_, Trajectory>> = others.iter().map(exact).collect();
    let mut learned = learn_answers(&exact(&first), &others, rules, work);
    learned.bindings = first.bindings;
    learned
}

/// The places in answers that differed between takes of identical requests: identical but for what is bound, and a poll counting once.
///
/// There is one entry for each answer that was heard at least twice: by every take at the same position and with the same request, or when a
/// read was asked again right after. Errors are graded, and nothing is learned of them.
fn learn_answers(
    first: &Trajectory,
    others: &[Cow<'_, Trajectory>],
    rules: &Rules,
    work: &Work<'_>,
) -> Learned {
    let polled = Polled::new(first, first, rules);
    let translated: Vec<Option<Terms>> = (others.iter())
        .map(|it| translate(first, it, rules, work))
        .collect();
    let others: Vec<Take<'_>> = (others.iter().zip(&translated))
        .map(|(it, terms)| {
            let calls = settled(terms.as_ref().map_or(it, |it| &it.current), &polled);
            // Only in the terms of the first take are the polls of another one to be told.
            let as_made: Vec<&ToolCall> = it.calls().collect();
            let said = calls.iter();
            let said = said.map(|(number, _)| (*number, as_made[number - 1]));
            Take {
                said: said.collect(),
                calls,
            }
        })
        .collect();
    let calls = settled(first, &polled);
    let left_behind = left_behind(first, &calls, &others, rules);
    let mut learned = Learned {
        left_behind,
        ..Learned::default()
    };
    for (at, (number, call)) in calls.iter().enumerate() {
        if !work.spend(STEPS) {
            break;
        }
        let same_calls = others.iter().map(|take| {
            let made = take.calls.get(at).map(|it| it.1);
            made.filter(|it| is_same_request(call, it))
                .map(|it| &it.outcome)
        });
        // A take that did not make this call tells nothing of any answer to it.
        let same_calls: Option<Vec<&Outcome>> = same_calls.collect();
        let outcomes: Vec<&Outcome> = std::iter::once(&call.outcome)
            .chain(&call.again)
            .chain(same_calls.into_iter().flatten())
            .collect();
        let of_answers: Vec<Option<&Answer>> = outcomes.iter().map(|it| answer(it)).collect();
        if outcomes.len() < 2 || of_answers.iter().all(Option::is_none) {
            continue;
        }
        let mut differing = Differing::default();
        differing.of_outcomes(&of_answers);
        let differs = !differing.varies.is_empty() || !differing.disagreements.is_empty();
        let reads = only_reads(call, &first.catalogue, rules);
        if let Some((_, heard, _)) = (differing.disagreements.iter())
            .find(|it| it.2 == Some(1) && !reads && learned.left_behind.is_none())
        {
            // Only the first time did it have an effect: what it makes is there already.
            learned.left_behind = Some(LeftBehind {
                call: *number,
                tool: call.full_name(),
                effect: call.full_name(),
                value: heard.first().cloned().unwrap_or_default(),
            });
            learned.answers.retain(|it| it.varies.is_empty());
            learned.disagreements.clear();
        }
        if learned.left_behind.is_some() && differs {
            continue;
        }
        for (path, heard, odd) in differing.disagreements {
            learned.disagreements.push(Disagreement {
                call: *number,
                tool: call.full_name(),
                path,
                heard,
                odd,
            });
        }
        // Of an answer that was an error in the recording there is nothing to hold.
        let Some(Some(recorded)) = of_answers.first().filter(|_| differing.is_learned) else {
            continue;
        };
        let mut varies = differing.varies;
        for said in others
            .iter()
            .filter_map(|take| answer(&take.said.get(at)?.1.outcome))
        {
            varies.extend(varying_sources(&first.bindings, *number, recorded, said));
        }
        learned.answers.push(learned::Learned {
            call: *number,
            takes: outcomes.len(),
            varies: outermost(varies),
            odd: differing.odd,
        });
    }
    learned
}

/// One of the other takes: its calls in the terms of the first take, and as they were made.
struct Take<'a> {
    calls: Vec<(usize, &'a ToolCall)>,
    said: Vec<(usize, &'a ToolCall)>,
}

/// The calls with their numbers, of each poll the last.
fn settled<'a>(take: &'a Trajectory, polled: &Polled) -> Vec<(usize, &'a ToolCall)> {
    let mut calls: Vec<(usize, &ToolCall)> = Vec::new();
    for (index, call) in take.calls().enumerate() {
        let key = request_key(call);
        calls.pop_if(|(_, last)| polled.is_try(key) && request_key(last) == key);
        calls.push((index + 1, call));
    }
    calls
}

/// How often telling values stand in something.
type Values = HashMap<String, usize>;

/// What a later take found that an effect of an earlier one had made: a value of the effect's arguments or of its answer that the same answer
/// of the earlier take did not hold, or not as often.
fn left_behind(
    first: &Trajectory,
    calls: &[(usize, &ToolCall)],
    others: &[Take<'_>],
    rules: &Rules,
) -> Option<LeftBehind> {
    let reads = |call: &ToolCall| only_reads(call, &first.catalogue, rules);
    let made: Vec<(&ToolCall, Values)> = (calls.iter())
        .filter(|(_, call)| !reads(call))
        .map(|(_, call)| {
            let mut values = Values::new();
            call.arguments
                .values()
                .for_each(|it| telling(it, DEPTH, &mut values));
            of_outcome(&call.outcome, &mut values);
            (*call, values)
        })
        .collect();
    if made.is_empty() {
        return None;
    }
    for (at, (number, call)) in calls.iter().enumerate() {
        let mut before = Values::new();
        of_outcome(&call.outcome, &mut before);
        let mut asked = Values::new();
        for it in call.arguments.values() {
            telling(it, DEPTH, &mut asked);
        }
        for take in others {
            // As it was answered: what is bound to another value in each take is no leftover.
            let Some((_, later)) = take.said.get(at).filter(|(_, it)| it.tool == call.tool) else {
                continue;
            };
            let mut found = Values::new();
            of_outcome(&later.outcome, &mut found);
            // What a call itself says, its answer may echo.
            let is_fresh = |(value, count): &(&String, &usize)| {
                before.get(*value) < Some(count)
                    && !asked.contains_key(*value)
                    && !value.contains("<redacted:")
            };
            let mut fresh: Vec<&String> = found.iter().filter(is_fresh).map(|it| it.0).collect();
            fresh.sort_unstable();
            let source = fresh.into_iter().find_map(|value| {
                let effect = made.iter().find(|(_, values)| values.contains_key(value))?;
                Some((value, effect.0))
            });
            if let Some((value, effect)) = source {
                return Some(LeftBehind {
                    call: *number,
                    tool: call.full_name(),
                    effect: effect.full_name(),
                    value: excerpt::of_text(value),
                });
            }
        }
    }
    None
}

fn of_outcome(outcome: &Outcome, values: &mut Values) {
    if let Outcome::Answer(answer) = outcome {
        let all = answer.content.iter().chain(&answer.structured_content);
        all.for_each(|it| telling(it, DEPTH, values));
    }
}

/// The values somewhere in another that are not likely to be there by chance.
fn telling(value: &Value, depth: usize, values: &mut Values) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    if let Some(digits) = digits::of(value) {
        *values.entry(digits.to_owned()).or_default() += 1;
        return;
    }
    match value {
        Value::String(text) => match embedded(text) {
            Some(json) => telling(&json, depth, values),
            None if text.chars().count() >= TELLING_LENGTH => {
                *values.entry(text.clone()).or_default() += 1;
                // Prose tells of what was made by naming it.
                let words =
                    text.split(|it: char| !it.is_alphanumeric() && !matches!(it, '-' | '_' | '.'));
                for name in words.filter(|it| it.chars().count() >= TELLING_LENGTH && *it != text) {
                    *values.entry(name.to_owned()).or_default() += 1;
                }
            }
            None => {}
        },
        Value::Number(it) if number::float(it).abs() >= TELLING_NUMBER => {
            *values.entry(it.to_string()).or_default() += 1;
        }
        Value::Array(items) => items.iter().for_each(|it| telling(it, depth, values)),
        Value::Object(members) => members.values().for_each(|it| telling(it, depth, values)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Places of an answer that later requests take a value from, and where another take had another value.
fn varying_sources(
    bindings: &[Binding],
    call: usize,
    answer: &Answer,
    other: &Answer,
) -> Vec<Varying> {
    let of_call = bindings.iter().filter(|it| it.from.call == call);
    let varying = of_call.filter_map(|it| {
        let was = at(answer, &it.from.path)?;
        let now = resolve(it, answer, other)?;
        (same(&was, &it.value) && !same(&now, &it.value)).then_some((it, now))
    });
    let places = varying.flat_map(|(it, now)| {
        let heard = vec![excerpt::of(&it.value), excerpt::of(&now)];
        let patterns = full_patterns(answer, &it.from.path).into_iter();
        patterns.map(move |path| Varying {
            path,
            by: Variation::SameType,
            heard: heard.clone(),
        })
    });
    places.collect()
}

fn answer(outcome: &Outcome) -> Option<&Answer> {
    match outcome {
        Outcome::Answer(answer) if !outcome.is_failure() => Some(answer),
        _ => None,
    }
}

/// Places that lie beneath no other, each once; if they are still too many, they are cut at their last step until they are not.
fn outermost(mut varies: Vec<Varying>) -> Vec<Varying> {
    varies.sort_by(|a, b| a.path.cmp(&b.path));
    let mut kept: Vec<Varying> = Vec::new();
    for it in varies {
        let covers = |above: &Varying| {
            let rest = it.path.strip_prefix(above.path.as_str());
            // Beneath a list in any order stands what else varies in its elements.
            let is_all = above.by != Variation::AnyOrder;
            rest.is_some_and(|it| it.is_empty() || (is_all && it.starts_with('/')))
        };
        // What was learned from a binding says less than what the takes showed at the same place.
        if !kept.iter().rev().take(PLACES).any(covers) {
            kept.push(it);
        }
    }
    if kept.len() <= PLACES {
        return kept;
    }
    let shorter = kept.into_iter().map(|it| Varying {
        path: it.path.rsplit_once('/').map_or("", |it| it.0).to_owned(),
        by: Variation::SameType,
        heard: Vec::new(),
    });
    outermost(shorter.collect())
}

/// What differs between several answers, found place by place.
#[derive(Default)]
struct Differing {
    varies: Vec<Varying>,
    /// Where, what each take had, and which of them is the odd one.
    disagreements: Vec<(String, Vec<String>, Option<usize>)>,
    /// Where the recorded take is of the kind of most.
    odd: Vec<Odd>,
    /// Enough takes were answered for anything to be known.
    is_learned: bool,
}

/// What the takes have at one place; nothing where a take has nothing there.
type Heard<'a> = Vec<Option<&'a Value>>;

impl Differing {
    fn of_outcomes(&mut self, answers: &[Option<&Answer>]) {
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
        let Some(agreeing) = self.agree("", &words) else {
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
            let Some(agreeing) = self.agree_of(numbers, "/content", &words) else {
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
        let Some(agreeing) = self.agree_of(numbers, place, &words) else {
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
        let Some(agreeing) = self.agree_of(numbers, path, &words) else {
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
                } else if lists[1..].iter().all(|it| kinds(it) == kinds(first)) {
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

    fn agree_of(&mut self, numbers: &[usize], path: &str, words: &[String]) -> Option<Vec<usize>> {
        self.agree_numbered(numbers, path, words)
    }

    fn agree(&mut self, path: &str, words: &[String]) -> Option<Vec<usize>> {
        let numbers: Vec<usize> = (0..words.len()).collect();
        self.agree_numbered(&numbers, path, words)
    }

    /// The takes, by their places, that have the same kind of thing: all, or all but a few odd ones. Where no two agree, or the recorded
    /// take is an odd one, the place is not looked at.
    fn agree_numbered(
        &mut self,
        numbers: &[usize],
        path: &str,
        words: &[String],
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

/// Where the elements of a list vary in the same way, and at least so many of them, one place says so for all.
fn gathered(varies: Vec<Varying>, list: &str, elements: &[Value], least: usize) -> Vec<Varying> {
    if elements.len() < 2 {
        return varies;
    }
    let parted = |it: &Varying| {
        let rest = it.path.strip_prefix(list)?.strip_prefix('/')?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (index, rest) = rest.split_at(end);
        let element = elements.get(index.parse::<usize>().ok()?)?;
        Some((element, rest.to_owned()))
    };
    let mut places: HashMap<String, Vec<Option<Variation>>> = HashMap::new();
    for it in &varies {
        if let Some((element, rest)) = parted(it) {
            let how = for_every_element(&it.by, element.pointer(&rest));
            places.entry(rest).or_default().push(how);
        }
    }
    let mut told = HashSet::new();
    let together = varies.into_iter().filter_map(|it| {
        let Some((_, rest)) = parted(&it) else {
            return Some(it);
        };
        let ways = &places[&rest];
        match one_way(ways).filter(|_| ways.len() >= least) {
            Some(by) => {
                let path = format!("{list}/*{rest}");
                told.insert(rest).then_some(Varying { path, by, ..it })
            }
            None => Some(it),
        }
    });
    together.collect()
}

/// How places of several elements vary, where they all vary in one way that holds for whatever is recorded there.
fn one_way(ways: &[Option<Variation>]) -> Option<Variation> {
    let mut ways = ways.iter();
    let first = ways.next()?.clone()?;
    ways.try_fold(first, |known, it| match (known, it.as_ref()?) {
        (Variation::SameType, Variation::SameType) => Some(Variation::SameType),
        (Variation::Tokens(mut a), Variation::Tokens(b)) => {
            let (one, other) = (a.first_mut()?, b.first()?);
            // An id has as many tokens as it happens to have.
            one.tokens = one.tokens.max(other.tokens);
            (one.stands_for == other.stands_for).then_some(Variation::Tokens(a))
        }
        _ => None,
    })
}

/// How a place varies, unless that is told of the tokens of one text.
fn for_every_element(by: &Variation, recorded: Option<&Value>) -> Option<Variation> {
    match by {
        Variation::SameType => Some(Variation::SameType),
        Variation::Tokens(tokens) => {
            let text = recorded.and_then(Value::as_str)?;
            let [only] = tokens.as_slice() else {
                return None;
            };
            wording::is_whole(text, only).then(|| by.clone())
        }
        _ => None,
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

/// Whether two values have anything in common, so that one may stand for the other in a list.
fn has_something_of(a: &Value, b: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            (a.is_empty() && b.is_empty()) || a.keys().any(|it| b.contains_key(it))
        }
        (Value::Array(a), Value::Array(b)) => {
            (a.is_empty() && b.is_empty())
                || a.iter().zip(b).any(|(a, b)| has_something_of(a, b, depth))
        }
        (Value::String(a), Value::String(b)) => words::similarity(a, b) > 0.0,
        (Value::Number(a), Value::Number(b)) => number::distance(a, b, None) > 0.0,
        (a, b) => same(a, b),
    }
}

fn kinds(list: &[Value]) -> HashSet<&'static str> {
    list.iter().map(kind).collect()
}

/// Equal for lists of the same elements, whatever their order.
fn sorted_keys(list: &[Value]) -> Vec<u64> {
    let mut keys: Vec<u64> = list.iter().map(|it| same::hash(it, View::Plain)).collect();
    keys.sort_unstable();
    keys
}

/// Whether two lists of one length have elements in common that stand at different places.
fn is_reordered(a: &[Value], b: &[Value]) -> bool {
    let keys = |list: &[Value]| {
        let hashes = list.iter().map(|it| same::hash(it, View::Plain));
        hashes.collect::<Vec<_>>()
    };
    let (a, b) = (keys(a), keys(b));
    let in_place = a.iter().zip(&b).filter(|(a, b)| a == b).count();
    let (mut a_sorted, mut b_sorted) = (a.clone(), b.clone());
    a_sorted.sort_unstable();
    b_sorted.sort_unstable();
    align::common(&a_sorted, &b_sorted) > in_place
}
