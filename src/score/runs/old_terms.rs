//! A recording in the terms of the one before it: what varies anyway has the value that it had there, wherever it stands.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use aho_corasick::AhoCorasick;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::ids::binding::{at, full_paths, leaves, read_answer, read_calls, text_of};
use crate::ids::id_translation::{IdTranslation, is_unmistakable};
use crate::text::times::is_time;
use crate::values::path::value_at;
use model::{Answer, Binding, Comparison, Outcome, Pair, Row, ToolCall, Trajectory};

/// What the values of a new recording are called in the accepted one: where they differ without being a difference.
#[derive(Default)]
pub(super) struct OldTerms {
    /// Ids and times.
    all: IdTranslation,
    ids: IdTranslation,
    /// The numbers that vary, by the calls of the new recording: too short to be known again elsewhere, they are known by their places.
    numbers: HashMap<usize, Vec<String>>,
}

impl OldTerms {
    /// Of two recordings that were compared. `None` where the new one names an old value itself, which then stands for two things.
    pub(super) fn new(
        accepted: &Trajectory,
        recorded: &Trajectory,
        comparison: &Comparison,
    ) -> Option<Self> {
        let (before, now): (Vec<&ToolCall>, Vec<&ToolCall>) =
            (accepted.calls().collect(), recorded.calls().collect());
        let mut values = Vec::new();
        let mut numbers: HashMap<usize, Vec<String>> = HashMap::new();
        let only = only_numbers(&now);
        for row in &comparison.rows {
            let Row::Pair(pair) = row else { continue };
            let was = before.get(pair.baseline.wrapping_sub(1));
            let is = now.get(pair.current.wrapping_sub(1));
            let was = was.and_then(|it| it.outcome.answer());
            let is = is.and_then(|it| it.outcome.answer());
            let Some((was, is)) = was.zip(is) else {
                continue;
            };
            let other = other_values(was, is, pair);
            let is_own = |it: &&OtherValue| only.get(&it.is.to_string()) == Some(&pair.current);
            // Beside structured content, a text is not compared where it repeats that.
            let is_compared = |it: &&OtherValue| {
                is.structured_content.is_none() || !it.path.starts_with("/content/")
            };
            let own = other.iter().filter(|it| it.is_short_number());
            let own = own.filter(is_compared);
            let places = own.filter(is_own).map(|it| it.path.clone());
            numbers.insert(pair.current, places.collect());
            values.extend(other.into_iter().map(|it| (it.was, it.is)));
        }
        let olds = values
            .iter()
            .map(|it| &it.0)
            .filter(|it| is_unmistakable(it));
        let olds: HashSet<String> = olds.filter_map(text_of).collect();
        let named = AhoCorasick::new(olds).ok()?;
        let names_old = |it: &&ToolCall| {
            // What can be stored can be written.
            let said = serde_json::to_string(&(&it.arguments, &it.outcome));
            said.is_ok_and(|it| named.is_match(&it))
        };
        if now.iter().any(names_old) {
            return None;
        }
        let all = IdTranslation::new(values.iter().map(|(was, is)| (was, is)));
        values.retain(|(_, is)| !is.as_str().is_some_and(is_time));
        let ids = IdTranslation::new(values.iter().map(|(was, is)| (was, is)));
        Some(Self { all, ids, numbers })
    }

    /// Puts a value into them that is no time.
    pub(super) fn value(&self, value: &mut Value) {
        self.ids.value(value, &HashSet::new());
    }

    pub(super) fn text(&self, text: &mut String) {
        self.ids.string(text, &HashSet::new());
    }

    /// Puts a call, by its number, into them. Returns whether all its times are those of the old call by now, so that it was made when that was.
    pub(super) fn call(&self, number: usize, call: &mut ToolCall, was: Option<&ToolCall>) -> bool {
        self.ids.object(&mut call.arguments, &HashSet::new());
        let was = was.and_then(|it| it.outcome.answer());
        if let (Some(was), Outcome::Answer(is)) = (was, &mut call.outcome) {
            let places = self.numbers.get(&number).into_iter().flatten();
            places.for_each(|path| put_back(was, is, path));
        }
        let mut outcome = call.outcome.clone();
        self.all.outcome(&mut outcome);
        let sides = was.zip(outcome.answer());
        let has_old_times = sides.is_some_and(|(was, is)| times(is).is_subset(&times(was)));
        if has_old_times {
            call.outcome = outcome;
        } else {
            self.ids.outcome(&mut call.outcome);
        }
        has_old_times
    }
}

/// Seconds since 1970 lie between these by now, and milliseconds between a thousand times as much.
const SECONDS: RangeInclusive<f64> = 5e8..=5e9;

/// The times in an answer: texts, words of texts, and numbers of seconds or milliseconds since 1970.
fn times(answer: &Answer) -> HashSet<String> {
    let mut times = HashSet::new();
    for leaf in leaves(answer) {
        match &leaf.value {
            Value::String(text) => {
                let words = text.split_whitespace().chain([text.as_str()]);
                let words = words.map(|it| it.trim_matches(|it: char| ",.;()[]\"'".contains(it)));
                times.extend(words.filter(|it| is_time(it)).map(str::to_owned));
            }
            Value::Number(number) => {
                times.extend(is_epoch(number).then(|| number.to_string()));
            }
            _ => {}
        }
    }
    times
}

fn is_epoch(number: &Number) -> bool {
    let float = number.as_f64().unwrap_or_default();
    SECONDS.contains(&float) || SECONDS.contains(&(float / 1000.0))
}

/// The numbers that only one call of a run has: in its answer, and nowhere else. What others have, too, may be an id, however short.
fn only_numbers(calls: &[&ToolCall]) -> HashMap<String, usize> {
    let mut by: HashMap<String, Option<usize>> = HashMap::new();
    let mut note = |number: &Value, call: usize| {
        let only = by.entry(number.to_string()).or_insert(Some(call));
        *only = only.filter(|it| *it == call && call > 0);
    };
    for (number, call) in (1..).zip(calls) {
        for value in call.arguments.values() {
            each_number(value, &mut |it| note(it, 0));
        }
        for leaf in call.outcome.answer().into_iter().flat_map(leaves) {
            each_number(&leaf.value, &mut |it| note(it, number));
        }
    }
    let only = by.into_iter();
    only.filter_map(|(number, call)| Some((number, call?)))
        .collect()
}

fn each_number(value: &Value, note: &mut dyn FnMut(&Value)) {
    match value {
        Value::Number(_) => note(value),
        Value::Array(items) => items.iter().for_each(|it| each_number(it, note)),
        Value::Object(members) => members.values().for_each(|it| each_number(it, note)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Gives a number in an answer the value that it had at the same place of another one, also in a text that repeats the structured content.
fn put_back(was: &Answer, is: &mut Answer, path: &str) {
    let structured = |of: &Answer| {
        let content = of.structured_content.as_ref()?;
        content.pointer(path).map(Value::to_string)
    };
    let repeated = [structured(was), structured(is)];
    for place in full_paths(&read_answer(is), path) {
        let Some((block, place)) = in_text(&place) else {
            let own = was.structured_content.as_ref();
            let own = own.and_then(|it| it.pointer(path));
            let is = is.structured_content.as_mut();
            if let Some((was, is)) = own.zip(is.and_then(|it| it.pointer_mut(path))) {
                is.clone_from(was);
            }
            continue;
        };
        let own = was.content.get(block).and_then(|it| it["text"].as_str());
        let text = is.content.get_mut(block).and_then(|it| it.get_mut("text"));
        if let (Some(own), Some(Value::String(text))) = (own, text)
            && let Some((own, now)) = number_in(own, place).zip(number_in(text, place))
        {
            let both = [own, now].map(|it| Some(it.get().to_owned()));
            if is.structured_content.is_none() || both == repeated {
                let from = now.get().as_ptr().addr() - text.as_ptr().addr();
                let to = from + now.get().len();
                text.replace_range(from..to, own.get());
            }
        }
    }
}

/// The block, and the place in the JSON that its text is: of `/content/0/json/took_ms`.
fn in_text(path: &str) -> Option<(usize, &str)> {
    let (block, place) = path.strip_prefix("/content/")?.split_once("/json")?;
    Some((block.parse().ok()?, place))
}

/// The number at a place of a JSON text, as it is written there.
fn number_in<'t>(text: &'t str, place: &str) -> Option<&'t RawValue> {
    let mut here: &RawValue = serde_json::from_str(text).ok()?;
    for step in place.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        here = match here.get().as_bytes().first()? {
            b'{' => {
                let members: HashMap<Cow<'_, str>, &RawValue> =
                    serde_json::from_str(here.get()).ok()?;
                members.get(step.as_str())?
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(here.get()).ok()?;
                items.get(step.parse::<usize>().ok()?)?
            }
            _ => return None,
        };
    }
    serde_json::from_str::<Number>(here.get())
        .ok()
        .map(|_| here)
}

/// Whether what calls take from earlier answers, and answers repeat of them, is there: of calls of two recordings, it may not be.
pub(super) fn is_consistent(mixed: &Trajectory) -> bool {
    let calls = read_calls(mixed);
    let call = |number: usize| calls.get(number.wrapping_sub(1));
    let given = |number: usize, path: &str| {
        let answer = call(number)?.outcome.answer()?;
        text_of(&at(answer, path)?)
    };
    let holds = |text: Option<String>, value: &Value| {
        let value = text_of(value).unwrap_or_default();
        text.is_some_and(|it| it.contains(&value))
    };
    let is_taken = |it: &Binding| {
        let used = call(it.call).and_then(|user| value_at(&user.arguments, &it.path));
        holds(given(it.from.call, &it.from.path), &it.value)
            && holds(used.and_then(text_of), &it.value)
    };
    let mut repeats =
        (mixed.learned.iter()).flat_map(|it| it.repeats.iter().map(|of| (it.call, of)));
    mixed.bindings.iter().all(is_taken)
        && repeats.all(|(number, it)| {
            let both = given(number, &it.path).zip(given(it.call, &it.from));
            both.is_none_or(|(own, first)| own == first)
        })
}

/// A value that differs from the one before without being a difference.
struct OtherValue {
    /// Where it stands; of a word, where its text does.
    path: String,
    was: Value,
    is: Value,
}

impl OtherValue {
    /// Whether it is a number that may occur by chance, and no time.
    fn is_short_number(&self) -> bool {
        let is_short = |it: &Value| matches!(it, Value::Number(it) if !is_epoch(it));
        let both = [&self.was, &self.is];
        both.iter().all(|it| is_short(it) && !is_unmistakable(it))
    }
}

/// The values of two answers that differ without being a difference.
fn other_values(was: &Answer, is: &Answer, pair: &Pair) -> Vec<OtherValue> {
    let before: HashMap<String, Value> = (leaves(was).into_iter())
        .map(|it| (it.path, it.value))
        .collect();
    let differences = pair.response.differences.iter();
    let differences: HashSet<&str> = differences.map(|it| it.path.as_str()).collect();
    // Read once, as each place is looked up in it.
    let read = read_answer(is);
    let differs = |path: &str| {
        let on_the_way = |place: &str| {
            let mut ends = place.match_indices('/').map(|it| it.0).chain([place.len()]);
            ends.any(|end| differences.contains(&place[..end]))
        };
        full_paths(&read, path).iter().any(|it| on_the_way(it))
    };
    let mut values = Vec::new();
    for leaf in leaves(is) {
        let Some(was) = before.get(&leaf.path).filter(|was| **was != leaf.value) else {
            continue;
        };
        if differs(&leaf.path) {
            continue;
        }
        match (was.as_str(), leaf.value.as_str()) {
            (Some(was), Some(is)) if is.contains(char::is_whitespace) => {
                let words = [was, is].map(|it| it.split_whitespace().collect::<Vec<_>>());
                if words[0].len() == words[1].len() {
                    let words = words[0].iter().zip(&words[1]);
                    let words = words.filter(|(was, is)| was != is);
                    values.extend(words.map(|(was, is)| OtherValue {
                        path: leaf.path.clone(),
                        was: (*was).into(),
                        is: (*is).into(),
                    }));
                }
            }
            _ => values.push(OtherValue {
                was: was.clone(),
                path: leaf.path,
                is: leaf.value,
            }),
        }
    }
    values
}
