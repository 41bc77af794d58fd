//! What several takes of one script show to vary by nature.

use serde_json::Value;

use crate::digits;
use crate::model::binding::Binding;
use crate::model::rules::Rules;
use crate::model::trajectory::{Answer, Outcome, ToolCall, Trajectory, Volatile};

use super::align;
use super::binding::{at, find_in_takes, full_patterns, resolve};
use super::calls::request_key;
use super::exact::exact;
use super::mask;
use super::path::escape;
use super::polls::Polled;
use super::same::{self, View, same};
use super::terms::{Terms, terms};
use super::value::embedded;
use super::work::{Cancelled, Work};

/// The most paths that are learned for one call; an answer with more is volatile from its outermost paths.
const PATHS: usize = 200;
/// How deep answers are looked into.
const DEPTH: usize = same::DEPTH;
/// How many elements of a list are looked into; lists may be long, and their elements are of a kind.
const ELEMENTS: usize = 10_000;

/// What several takes show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// Places in answers that vary by nature.
    pub volatile: Vec<Volatile>,
    /// What later requests take from earlier answers.
    pub bindings: Vec<Binding>,
}

/// What the first of several takes of one scenario should be kept with; of a single take, only its bindings can be told.
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
        volatile: Vec::new(),
        ..first.clone()
    };
    let others: Vec<Trajectory> = others.iter().map(|it| exact(it).into_owned()).collect();
    Learned {
        volatile: learn_volatile(&exact(&first), &others, rules, work),
        bindings: first.bindings,
    }
}

/// The places in answers that differed between takes of identical requests: identical but for what is bound, and a poll counting once.
///
/// There is one entry for each call that every take made, at the same position and with the same request, and that
/// succeeded in all of them; an entry without paths says that the answer is stable. What masking covers anyway is not
/// listed. Paths are those of reports, with `*` for the indexes of lists, so that they hold wherever in a list an
/// element comes to stand. A list whose length or order differed is volatile as a whole, as is anything that was
/// missing, or of another type, in one of the takes.
fn learn_volatile(
    first: &Trajectory,
    others: &[Trajectory],
    rules: &Rules,
    work: &Work<'_>,
) -> Vec<Volatile> {
    if others.is_empty() {
        return Vec::new();
    }
    let polled = Polled::new(first, first, rules);
    let translated: Vec<Option<Terms>> = others
        .iter()
        .map(|it| terms(first, it, rules, work))
        .collect();
    let others: Vec<Take<'_>> = (others.iter().zip(&translated))
        .map(|(it, terms)| Take {
            calls: settled(terms.as_ref().map_or(it, |it| &it.current), &polled),
            said: settled(it, &polled),
        })
        .collect();
    let mut learned = Vec::new();
    for (at, (number, call)) in settled(first, &polled).into_iter().enumerate() {
        let same_calls: Option<Vec<&ToolCall>> = others
            .iter()
            .map(|take| {
                take.calls
                    .get(at)
                    .map(|it| it.1)
                    .filter(|it| is_same_request(call, it))
            })
            .collect();
        let Some(answer) = answer(call) else { continue };
        let answers: Option<Vec<&Answer>> =
            same_calls.and_then(|calls| calls.into_iter().map(self::answer).collect());
        let Some(answers) = answers else { continue };
        let mut paths = Vec::new();
        for other in answers {
            of_answers(answer, other, &mut paths);
        }
        let said = others
            .iter()
            .filter_map(|take| self::answer(take.said.get(at)?.1));
        for said in said {
            paths.extend(varying_sources(&first.bindings, number, answer, said));
        }
        paths.sort_unstable();
        paths.dedup();
        learned.push(Volatile {
            call: number,
            paths: outermost(&paths),
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

/// Places of an answer that later requests take a value from, and where another take had another value.
fn varying_sources(
    bindings: &[Binding],
    call: usize,
    answer: &Answer,
    other: &Answer,
) -> Vec<String> {
    let of_call = bindings.iter().filter(|it| it.from.call == call);
    let varies = |it: &&Binding| {
        let (was, now) = (at(answer, &it.from.path), resolve(it, answer, other));
        let is_whole = was.is_some_and(|it_was| same(&it_was, &it.value));
        is_whole && now.is_some_and(|now| !same(&now, &it.value) && !is_masked(&now, &it.value))
    };
    let varying = of_call.filter(varies);
    varying
        .flat_map(|it| full_patterns(answer, &it.from.path))
        .collect()
}

/// Whether two values are the same after masking.
fn is_masked(a: &Value, b: &Value) -> bool {
    same::hash(a, View::Masked) == same::hash(b, View::Masked)
}

pub(super) fn is_same_request(a: &ToolCall, b: &ToolCall) -> bool {
    let equal_argument =
        |(name, a): (&String, &Value)| b.arguments.get(name).is_some_and(|b| same(a, b));
    a.server == b.server
        && a.tool == b.tool
        && a.arguments.len() == b.arguments.len()
        && a.arguments.iter().all(equal_argument)
}

fn answer(call: &ToolCall) -> Option<&Answer> {
    match &call.outcome {
        Outcome::Answer(answer) if !call.outcome.is_failure() => Some(answer),
        _ => None,
    }
}

/// Paths that lie beneath no other; if they are still too many, they are cut at their last step until they are not.
fn outermost(paths: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for path in paths {
        let beneath = |it: &String| {
            path.strip_prefix(it.as_str())
                .is_some_and(|it| it.starts_with('/'))
        };
        if !kept.iter().rev().take(PATHS).any(beneath) {
            kept.push(path.clone());
        }
    }
    if kept.len() <= PATHS {
        return kept;
    }
    let mut shorter: Vec<String> = (kept.iter())
        .map(|it| it.rsplit_once('/').map_or("", |it| it.0).to_owned())
        .collect();
    shorter.sort_unstable();
    shorter.dedup();
    outermost(&shorter)
}

fn of_answers(a: &Answer, b: &Answer, paths: &mut Vec<String>) {
    let (a_content, b_content) = (&a.content, &b.content);
    if a_content.len() == b_content.len() {
        for (index, (a, b)) in a_content.iter().zip(b_content).enumerate() {
            of_blocks(a, b, &format!("/content/{index}"), paths);
        }
    } else {
        paths.push("/content/*".to_owned());
    }
    match (&a.structured_content, &b.structured_content) {
        (Some(a), Some(b)) => of_values(a, b, "/structuredContent", DEPTH, paths),
        (None, None) => {}
        _ => paths.push("/structuredContent".to_owned()),
    }
}

fn of_blocks(a: &Value, b: &Value, path: &str, paths: &mut Vec<String>) {
    let text = |it: &'_ Value| it.get("text").and_then(Value::as_str).map(str::to_owned);
    if a.get("type") != b.get("type") {
        paths.push(path.to_owned());
        return;
    }
    match (text(a), text(b)) {
        (Some(a), Some(b)) => of_texts(&a, &b, path, &format!("{path}/text"), DEPTH, paths),
        _ => of_values(a, b, path, DEPTH, paths),
    }
}

/// `plain` is where the text is unless both hold JSON.
fn of_texts(a: &str, b: &str, path: &str, plain: &str, depth: usize, paths: &mut Vec<String>) {
    if mask::text(a) == mask::text(b) {
        return;
    }
    match (embedded(a), embedded(b)) {
        (Some(a), Some(b)) if depth > 0 => {
            of_values(&a, &b, &format!("{path}/json"), depth - 1, paths);
        }
        _ => paths.push(plain.to_owned()),
    }
}

fn of_values(a: &Value, b: &Value, path: &str, depth: usize, paths: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, a) in a {
                let path = format!("{path}/{}", escape(key));
                match b.get(key) {
                    Some(b) => of_values(a, b, &path, depth - 1, paths),
                    None => paths.push(path),
                }
            }
            let added = b.keys().filter(|key| !a.contains_key(*key));
            paths.extend(added.map(|key| format!("{path}/{}", escape(key))));
        }
        (Value::Array(a), Value::Array(b)) => of_lists(a, b, path, depth, paths),
        (Value::String(text_a), Value::String(text_b))
            if digits::of(a).or(digits::of(b)).is_none() =>
        {
            of_texts(text_a, text_b, path, path, depth, paths);
        }
        (Value::Number(a_number), Value::Number(b_number)) => {
            let masked = mask::number(a_number).is_some() && mask::number(b_number).is_some();
            if !masked && !same(a, b) {
                paths.push(path.to_owned());
            }
        }
        _ if same(a, b) => {}
        _ => paths.push(path.to_owned()),
    }
}

fn of_lists(a: &[Value], b: &[Value], path: &str, depth: usize, paths: &mut Vec<String>) {
    if a.len() != b.len() || is_reordered(a, b) {
        paths.push(path.to_owned());
        return;
    }
    let element = format!("{path}/*");
    for (a, b) in a.iter().zip(b).take(ELEMENTS) {
        of_values(a, b, &element, depth - 1, paths);
        if paths.len() > 16 * PATHS {
            paths.sort_unstable();
            paths.dedup();
        }
    }
}

/// Whether two lists of one length have elements in common that stand at different places.
fn is_reordered(a: &[Value], b: &[Value]) -> bool {
    let keys = |list: &[Value]| {
        let hashes = list.iter().map(|it| same::hash(it, View::Masked));
        hashes.collect::<Vec<_>>()
    };
    let (a, b) = (keys(a), keys(b));
    let in_place = a.iter().zip(&b).filter(|(a, b)| a == b).count();
    let (mut a_sorted, mut b_sorted) = (a.clone(), b.clone());
    a_sorted.sort_unstable();
    b_sorted.sort_unstable();
    align::common(&a_sorted, &b_sorted) > in_place
}
