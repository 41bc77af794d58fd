//! A recording in the terms of the one before it: what varies anyway has the value that it had there, wherever it stands.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use aho_corasick::AhoCorasick;
use serde_json::Value;

use crate::ids::binding::{at, full_paths, leaves, read_answer, read_calls, text_of};
use crate::ids::id_translation::{IdTranslation, is_unmistakable};
use crate::text::times::is_time;
use crate::values::path::value_at;
use model::binding::Binding;
use model::comparison::{Comparison, Pair, Row};
use model::trajectory::{Answer, ToolCall, Trajectory};

/// What the values of a new recording are called in the accepted one: where they differ without being a difference.
#[derive(Default)]
pub(super) struct OldTerms {
    /// Ids and times.
    all: IdTranslation,
    ids: IdTranslation,
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
        for row in &comparison.rows {
            let Row::Pair(pair) = row else { continue };
            let was = before.get(pair.baseline.wrapping_sub(1));
            let is = now.get(pair.current.wrapping_sub(1));
            let was = was.and_then(|it| it.outcome.answer());
            let is = is.and_then(|it| it.outcome.answer());
            if let Some((was, is)) = was.zip(is) {
                values.extend(other_values(was, is, pair));
            }
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
        Some(Self { all, ids })
    }

    /// Puts a value into them that is no time.
    pub(super) fn value(&self, value: &mut Value) {
        self.ids.value(value, &HashSet::new());
    }

    pub(super) fn text(&self, text: &mut String) {
        self.ids.string(text, &HashSet::new());
    }

    /// Puts a call into them. Returns whether all its times are those of the old call by now, so that it was made when that was.
    pub(super) fn call(&self, call: &mut ToolCall, was: Option<&ToolCall>) -> bool {
        self.ids.object(&mut call.arguments, &HashSet::new());
        let mut outcome = call.outcome.clone();
        self.all.outcome(&mut outcome);
        let sides = was.and_then(|it| it.outcome.answer()).zip(outcome.answer());
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
                let float = number.as_f64().unwrap_or_default();
                let is_epoch = SECONDS.contains(&float) || SECONDS.contains(&(float / 1000.0));
                times.extend(is_epoch.then(|| number.to_string()));
            }
            _ => {}
        }
    }
    times
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

/// The values of two answers, the old one first, that differ without being a difference.
fn other_values(was: &Answer, is: &Answer, pair: &Pair) -> Vec<(Value, Value)> {
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
                    values.extend(words.map(|(was, is)| (Value::from(*was), Value::from(*is))));
                }
            }
            _ => values.push((was.clone(), leaf.value)),
        }
    }
    values
}
