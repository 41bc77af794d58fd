//! Changes that follow from an earlier one: the same value met again, what is computed from it, the other members of an object
//! that was replaced, and what is still as it was before an effect that failed.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use crate::values::memo::embedded;
use model::{Change, ChangeKind, Edit, Follows, How, Outcome, Piece, Row, What};
use model::{starred, unescaped};

/// How many numbers that changed may be what others are computed from.
const NUMBERS: usize = 64;
/// How many effects that failed are looked back at.
const EFFECTS: usize = 16;
/// How many values of all responses are known, and how deep and how long they are.
const VALUES: usize = 100_000;
const DEPTH: usize = 16;
const LONGEST: usize = 100;
/// The fewest characters, or digits, of a value that is not met twice by chance, and the fewest digits of a number that others are computed
/// from.
const SPECIFIC: usize = 3;
const DIGITS: usize = 2;
/// Texts of fewer characters, quotes included, are words that many things are called by.
const WORD: usize = 12;
/// The fewest members that went, and that came, where an object was replaced and did not only lose and gain some.
const MEMBERS: usize = 3;
/// How far apart two quotients may be that are the same.
const SAME_QUOTIENT: f64 = 1e-4;

/// Says of each change what it follows from. A place that had changed by itself before follows from nothing.
pub(crate) fn follow(calls: &Calls<'_>, rows: &[Row], changes: &mut [Change]) {
    let failed = failed_effects(calls, rows);
    let mut known = Known {
        said: (!failed.is_empty())
            .then(|| [&calls.baseline, &calls.current].map(|it| Said::by(it))),
        replaced: replaced(changes),
        ..Known::default()
    };
    for (at, change) in changes.iter_mut().enumerate() {
        if let (ChangeKind::Error, Some(call)) = (change.kind, change.current) {
            (known.effects).extend(failed.get(&call).map(|it| (at, *it, call)));
        }
        let follows = match change.kind {
            ChangeKind::Answer | ChangeKind::Request | ChangeKind::Effect => known.of(at, change),
            ChangeKind::Addition => known.of_object(at, change),
            _ => continue,
        };
        let place = (change.tool.clone(), change.path.as_deref().map(starred));
        let follows = follows.filter(|_| !known.places.contains(&place));
        if follows.is_none() && change.kind == ChangeKind::Answer {
            known.add(at, change);
            known.places.insert(place);
        }
        change.follows = follows;
    }
}

/// The effects that fail now and had not failed: their numbers in the baseline by those in the run.
fn failed_effects(calls: &Calls<'_>, rows: &[Row]) -> HashMap<usize, usize> {
    let effects = rows.iter().filter_map(Row::pair).filter(|it| it.effect);
    let failed =
        effects.filter(|it| calls.now(it.current).failed() && !calls.before(it.baseline).failed());
    failed.map(|it| (it.current, it.baseline)).collect()
}

/// An object in a response: the numbers of its call, and its path.
type Object = (Option<usize>, Option<usize>, String);

fn object_of(change: &Change) -> Option<Object> {
    let (object, _) = change.path.as_deref()?.rsplit_once('/')?;
    Some((change.baseline, change.current, object.to_owned()))
}

/// The objects that lost several members and gained others, with the change that says what went first.
fn replaced(changes: &[Change]) -> HashMap<Object, usize> {
    let mut gone: HashMap<Object, Vec<usize>> = HashMap::new();
    let mut gained: HashMap<Object, usize> = HashMap::new();
    for (at, change) in changes.iter().enumerate() {
        match (&change.what, object_of(change)) {
            (What::Answer(Edit::Missing(Piece::Member) | Edit::Renamed(_)), Some(object)) => {
                gone.entry(object).or_default().push(at);
            }
            (What::Answer(Edit::Added(Piece::Member)), Some(object)) => {
                *gained.entry(object).or_default() += 1;
            }
            _ => {}
        }
    }
    gone.retain(|object, gone| gone.len() >= MEMBERS && gained.get(object) >= Some(&MEMBERS));
    gone.into_iter()
        .map(|(object, gone)| (object, gone[0]))
        .collect()
}

/// What the calls of one side gave, and first in which of them.
#[derive(Default)]
struct Said {
    /// Values of responses by the names they have there.
    named: HashMap<(String, String), usize>,
    /// Texts of arguments and responses, and those that came with each call.
    texts: HashSet<String>,
    brought: HashMap<usize, Vec<String>>,
}

impl Said {
    fn by(calls: &[Call<'_>]) -> Self {
        let mut said = Self::default();
        for call in calls {
            for (name, value) in &call.made.arguments {
                said.collect(name, value, (call.number, false), DEPTH);
            }
            let Outcome::Answer(answer) = &call.made.outcome else {
                continue;
            };
            let texts = answer
                .content
                .iter()
                .filter_map(|it| it.get("text")?.as_str());
            for json in texts.filter_map(embedded) {
                said.collect("", &json, (call.number, true), DEPTH);
            }
            if let Some(json) = &answer.structured_content {
                said.collect("", json, (call.number, true), DEPTH);
            }
            if said.is_full() {
                break;
            }
        }
        said
    }

    fn collect(&mut self, name: &str, value: &Value, of: (usize, bool), depth: usize) {
        if depth == 0 || self.is_full() {
            return;
        }
        match value {
            Value::Array(items) => items
                .iter()
                .for_each(|it| self.collect(name, it, of, depth - 1)),
            Value::Object(members) => {
                for (name, it) in members {
                    self.collect(name, it, of, depth - 1);
                }
            }
            leaf => {
                let (number, is_response) = of;
                let shown = leaf.to_string();
                if shown.len() > LONGEST {
                    return;
                }
                if leaf.is_string() && is_specific(&shown) {
                    let is_new = self.texts.insert(shown.clone());
                    let brought = self.brought.entry(number).or_default();
                    brought.extend(is_new.then(|| shown.clone()));
                }
                if is_response {
                    self.named.entry((name.to_owned(), shown)).or_insert(number);
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.named.len() + self.texts.len() >= VALUES
    }

    /// Whether a response before this call had the value under the name.
    fn had(&self, name: &str, value: &str, before: usize) -> bool {
        let named = self.named.get(&(name.to_owned(), value.to_owned()));
        named.is_some_and(|it| *it < before)
    }
}

/// The changes so far that others may follow from.
#[derive(Default)]
struct Known {
    /// By what was there and what is there now; of what is gone, by the name, too.
    values: HashMap<(Option<String>, String, Option<String>), usize>,
    numbers: Vec<(usize, f64, f64)>,
    /// Effects that failed: the change that says so, and the call in the baseline and in the run.
    effects: Vec<(usize, usize, usize)>,
    /// What both sides said, where an effect failed.
    said: Option<[Said; 2]>,
    replaced: HashMap<Object, usize>,
    /// The places that changed by themselves.
    places: HashSet<(Option<String>, Option<String>)>,
}

impl Known {
    fn add(&mut self, at: usize, change: &Change) {
        if let Some(key) = key_of(change) {
            self.values.entry(key).or_insert(at);
        }
        if let Some((was, now)) = both_numbers(change).filter(|_| self.numbers.len() < NUMBERS) {
            self.numbers.push((at, was, now));
        }
    }

    fn of(&self, at: usize, change: &Change) -> Option<Follows> {
        let same = || Some((*self.values.get(&key_of(change)?)?, How::SameValue));
        let derived = || {
            let both = both_numbers(change)?;
            let is_derived = |it: &&(usize, f64, f64)| have_one_quotient((it.1, it.2), both);
            let from = self.numbers.iter().find(is_derived)?;
            let is_same = (from.1, from.2) == both;
            let how = if is_same {
                How::SameValue
            } else {
                How::Derived
            };
            Some((from.0, how))
        };
        let root = same().or_else(derived).or_else(|| self.after(change));
        let follows = root.map(|(change, how)| Follows { change, how });
        follows.or_else(|| self.of_object(at, change))
    }

    /// A member of an object that was replaced as a whole.
    fn of_object(&self, at: usize, change: &Change) -> Option<Follows> {
        let is_member = matches!(
            change.what,
            What::Answer(
                Edit::Missing(Piece::Member) | Edit::Renamed(_) | Edit::Added(Piece::Member)
            )
        );
        let first = *self.replaced.get(&object_of(change)?)?;
        (is_member && first < at).then_some(Follows {
            change: first,
            how: How::SameObject,
        })
    }

    /// What is still as it had been before an effect that failed now, or lacks what that had brought.
    fn after(&self, change: &Change) -> Option<(usize, How)> {
        let [before, now] = self.said.as_ref()?;
        let (call, was) = (change.current?, change.was.as_deref()?);
        let name = name_of(change)?;
        let is_undone = |&&(_, in_baseline, in_run): &&(usize, usize, usize)| {
            let is_still = |value: &str| {
                before.had(&name, value, in_baseline) && now.had(&name, value, in_run)
            };
            let is_missing = || {
                // An element of a list is shown as a whole, its texts with their quotes.
                let brought = before.brought.get(&in_baseline).into_iter().flatten();
                brought.into_iter().any(|text| was.contains(text.as_str()))
            };
            in_run < call
                && match (&change.what, &change.now) {
                    (What::Answer(Edit::Changed), Some(value)) => is_still(value),
                    (What::Answer(Edit::Missing(Piece::Element)), None) => is_missing(),
                    _ => false,
                }
        };
        let mut effects = self.effects.iter().rev().take(EFFECTS);
        Some((effects.find(is_undone)?.0, How::AfterFailed))
    }
}

/// The name that the value of a change has: the last step of its path that is no index.
fn name_of(change: &Change) -> Option<String> {
    let mut steps = change.path.as_deref()?.rsplit('/');
    let is_index = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    steps.find(|it| !is_index(it)).map(unescaped)
}

/// What two changes have in common that are the same value: short texts have the same name, too. `None` for values that are met twice by
/// chance.
fn key_of(change: &Change) -> Option<(Option<String>, String, Option<String>)> {
    let was = change.was.clone()?;
    let is_word = |it: &str| it.starts_with('"') && it.chars().count() < WORD;
    match &change.now {
        // Of what is gone, or nothing now, the name is the same, too.
        None => Some((Some(name_of(change)?), was, None)),
        Some(now) if is_specific(&was) && now == "null" => {
            Some((Some(name_of(change)?), was, Some(now.clone())))
        }
        Some(now) if is_specific(&was) && is_specific(now) => {
            let name = if is_word(&was) && is_word(now) {
                Some(name_of(change)?)
            } else {
                None
            };
            Some((name, was, Some(now.clone())))
        }
        Some(_) => None,
    }
}

/// Whether a value, as JSON, is not met twice by chance.
fn is_specific(value: &str) -> bool {
    match value {
        "true" | "false" | "null" => false,
        _ if value.starts_with('"') => value.chars().count() >= SPECIFIC + 2,
        _ => digits(value) >= SPECIFIC,
    }
}

fn digits(value: &str) -> usize {
    value.bytes().filter(u8::is_ascii_digit).count()
}

/// The numbers that a value was and is, where they have enough digits to be computed with.
fn both_numbers(change: &Change) -> Option<(f64, f64)> {
    let read = |text: &str| {
        let is_exact = digits(text.trim_start_matches(['-', '0', '.'])) >= DIGITS;
        let number = text.parse::<f64>().ok().filter(|it| it.is_finite())?;
        is_exact.then_some(number)
    };
    read(change.was.as_deref()?).zip(read(change.now.as_deref()?))
}

/// Whether two numbers changed by the same factor, and by none that anything may change by, such as 2, −1, a half or 10.
fn have_one_quotient((was, now): (f64, f64), (also_was, also_now): (f64, f64)) -> bool {
    let quotients = (now / was, also_now / also_was);
    let is_whole = |it: f64| (it.round() - it).abs() < SAME_QUOTIENT;
    let is_common = is_whole(quotients.0 * 10.0) || is_whole(1.0 / quotients.0);
    !is_common && (quotients.0 - quotients.1).abs() <= SAME_QUOTIENT * quotients.0.abs()
}
