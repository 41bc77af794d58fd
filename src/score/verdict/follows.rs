//! Which changes follow from an earlier one: the same value met again, what is computed from it, and what an effect that failed left
//! undone.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use crate::values::embedded::embedded;
use model::change::{Change, ChangeKind, Follows, How, starred};
use model::comparison::Row;
use model::trajectory::Outcome;

/// How many numbers that changed may be what others are computed from.
const NUMBERS: usize = 64;
/// How many effects that failed are looked back at.
const EFFECTS: usize = 16;
/// How many values of a failed effect are looked for, and how deep and how long they are.
const VALUES: usize = 200;
const DEPTH: usize = 16;
const LONGEST: usize = 100;
/// The fewest characters, or digits, of a value that is not met twice by chance.
const SPECIFIC: usize = 3;
/// How far apart two quotients may be that are the same.
const SAME_QUOTIENT: f64 = 1e-4;

/// Says of each change what it follows from. A place that had changed by itself before follows from nothing.
pub(crate) fn follow(calls: &Calls<'_>, rows: &[Row], changes: &mut [Change]) {
    let mut known = Known::default();
    let failed = failed_effects(calls, rows);
    for (at, change) in changes.iter_mut().enumerate() {
        if let (ChangeKind::Error, Some(call)) = (change.kind, change.current) {
            known
                .effects
                .extend(failed.get(&call).map(|it| (at, call, it)));
        }
        let is_of_place = matches!(
            change.kind,
            ChangeKind::Answer | ChangeKind::Request | ChangeKind::Effect
        );
        if !is_of_place {
            continue;
        }
        let place = (change.tool.clone(), change.path.as_deref().map(starred));
        let follows = known.of(change).filter(|_| !known.places.contains(&place));
        if follows.is_none() && change.kind == ChangeKind::Answer {
            known.add(at, change);
            known.places.insert(place);
        }
        change.follows = follows;
    }
}

/// What an effect that fails now, and had not failed, was asked with and answered: values that whatever comes after it may lack.
type Undone = HashSet<String>;

/// The effects that fail now, by their numbers in the run.
fn failed_effects(calls: &Calls<'_>, rows: &[Row]) -> HashMap<usize, Undone> {
    let failed = rows.iter().filter_map(|row| match row {
        Row::Pair(pair) if pair.effect => {
            let (before, now) = (calls.before(pair.baseline), calls.now(pair.current));
            (now.failed() && !before.failed()).then(|| (pair.current, undone(before)))
        }
        _ => None,
    });
    failed.collect()
}

fn undone(call: &Call<'_>) -> Undone {
    let mut found = Undone::new();
    call.made
        .arguments
        .values()
        .for_each(|it| collect(it, DEPTH, &mut found));
    if let Outcome::Answer(answer) = &call.made.outcome {
        let texts = answer
            .content
            .iter()
            .filter_map(|it| it.get("text")?.as_str());
        for json in texts.filter_map(embedded) {
            collect(&json, DEPTH, &mut found);
        }
        answer
            .structured_content
            .iter()
            .for_each(|it| collect(it, DEPTH, &mut found));
    }
    found
}

fn collect(value: &Value, depth: usize, found: &mut Undone) {
    if found.len() >= VALUES || depth == 0 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|it| collect(it, depth - 1, found)),
        Value::Object(members) => members
            .values()
            .for_each(|it| collect(it, depth - 1, found)),
        leaf => {
            let shown = leaf.to_string();
            if shown.len() <= LONGEST && is_specific(&shown) {
                found.insert(shown);
            }
        }
    }
}

/// The changes so far that others may follow from.
#[derive(Default)]
struct Known<'f> {
    /// By what was there and what is there now.
    values: HashMap<(String, String), usize>,
    numbers: Vec<(usize, f64, f64)>,
    /// Effects that failed: the change that says so, the call, and what it had brought about.
    effects: Vec<(usize, usize, &'f Undone)>,
    /// The places that changed by themselves.
    places: HashSet<(Option<String>, Option<String>)>,
}

impl Known<'_> {
    fn add(&mut self, at: usize, change: &Change) {
        let (Some(was), Some(now)) = (&change.was, &change.now) else {
            return;
        };
        if is_specific(was) && is_specific(now) {
            self.values.entry((was.clone(), now.clone())).or_insert(at);
        }
        if let Some((was, now)) = both_numbers(was, now).filter(|_| self.numbers.len() < NUMBERS) {
            self.numbers.push((at, was, now));
        }
    }

    fn of(&self, change: &Change) -> Option<Follows> {
        let same = || {
            let both = (change.was.clone()?, change.now.clone()?);
            Some((*self.values.get(&both)?, How::SameValue))
        };
        let derived = || {
            let (was, now) = both_numbers(change.was.as_deref()?, change.now.as_deref()?)?;
            let is_derived = |it: &&(usize, f64, f64)| have_one_quotient((it.1, it.2), (was, now));
            let from = self.numbers.iter().find(is_derived)?;
            Some((from.0, How::Derived))
        };
        let after = || {
            let (was, call) = (change.was.as_ref()?, change.current?);
            // Of a list, an element is told as a whole.
            let holds = |value: &String| was == value || was.contains(value.as_str());
            let is_undone = |it: &&(usize, usize, &Undone)| it.1 < call && it.2.iter().any(holds);
            let from = self.effects.iter().rev().take(EFFECTS).find(is_undone)?;
            Some((from.0, How::AfterFailed))
        };
        let (change, how) = same().or_else(derived).or_else(after)?;
        Some(Follows { change, how })
    }
}

/// Whether a value, as JSON, is not met twice by chance.
fn is_specific(value: &str) -> bool {
    match value {
        "true" | "false" | "null" => false,
        _ if value.starts_with('"') => value.chars().count() >= SPECIFIC + 2,
        _ => value.bytes().filter(u8::is_ascii_digit).count() >= SPECIFIC,
    }
}

fn both_numbers(was: &str, now: &str) -> Option<(f64, f64)> {
    let read = |text: &str| text.parse::<f64>().ok().filter(|it| it.is_finite());
    read(was).zip(read(now))
}

/// Whether two numbers changed by the same factor. Of small numbers, many do by chance.
fn have_one_quotient((was, now): (f64, f64), (also_was, also_now): (f64, f64)) -> bool {
    let is_large = |it: f64| it.abs() >= 10.0;
    let quotients = (now / was, also_now / also_was);
    [was, now, also_was, also_now].into_iter().all(is_large)
        && (quotients.0 - quotients.1).abs() <= SAME_QUOTIENT * quotients.0.abs()
}
