//! Two JSON values: members are compared by name, elements of lists by content, wherever they stand.

use std::collections::HashMap;

use model::text::aligned::{self, aligned};

use super::tree::Tree;
use serde_json::Value;

/// The most pairs of elements whose likeness is looked at in one stretch of a list.
const STRETCH: usize = 2_500;
/// The most pairs in all stretches of two values.
const PAIRS: usize = 60_000;
/// The most members, or elements, that likeness is judged by.
const LOOKED_AT: usize = 40;
/// Elements less alike than this are one that went and one that came.
const ALIKE: f64 = 0.3;

/// What became of a value.
pub(super) enum Change<'t, 'a> {
    Same(&'t Tree<'a>),
    Gone(&'t Tree<'a>),
    New(&'t Tree<'a>),
    /// It stands elsewhere among its siblings: here, what was there before, or what is there now.
    MovedAway(&'t Tree<'a>),
    MovedHere(&'t Tree<'a>),
    Replaced(&'t Tree<'a>, &'t Tree<'a>),
    /// Both are objects, or both are lists, and differ inside.
    Inside {
        is_list: bool,
        parts: Vec<Part<'t, 'a>>,
    },
}

/// A member or an element.
pub(super) struct Part<'t, 'a> {
    /// Its name or index on either side.
    pub(super) was: Option<Step<'a>>,
    pub(super) now: Option<Step<'a>>,
    pub(super) change: Change<'t, 'a>,
}

/// One step from a value to what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// What differs between two values.
pub(super) fn change<'t, 'a>(was: &'t Tree<'a>, now: &'t Tree<'a>) -> Change<'t, 'a> {
    Search { pairs: PAIRS }.change(was, now)
}

struct Search {
    /// How many pairs of elements may still be looked at.
    pairs: usize,
}

impl Search {
    fn change<'t, 'a>(&mut self, was: &'t Tree<'a>, now: &'t Tree<'a>) -> Change<'t, 'a> {
        if was.equals(now) {
            return Change::Same(was);
        }
        // What is written in one line is compared as a text.
        if !was.is_open() && !now.is_open() {
            return Change::Replaced(was, now);
        }
        match (was.value, now.value) {
            (Value::Object(_), Value::Object(_)) => Change::Inside {
                is_list: false,
                parts: self.members(was, now),
            },
            (Value::Array(_), Value::Array(_)) => Change::Inside {
                is_list: true,
                parts: self.elements(was, now),
            },
            _ => Change::Replaced(was, now),
        }
    }

    fn members<'t, 'a>(&mut self, was: &'t Tree<'a>, now: &'t Tree<'a>) -> Vec<Part<'t, 'a>> {
        let before: HashMap<&str, &Tree<'_>> = was.members().collect();
        let after: HashMap<&str, &'t Tree<'a>> = now.members().collect();
        // New members stand behind the one they follow; those at the beginning behind nothing.
        let mut added: HashMap<Option<&str>, Vec<(&'a str, &'t Tree<'a>)>> = HashMap::new();
        let mut follows = None;
        for (key, it) in now.members() {
            if before.contains_key(key) {
                follows = Some(key);
            } else {
                added.entry(follows).or_default().push((key, it));
            }
        }
        let mut renamed = renamed(was, &before, &after, now);
        let taken: Vec<&str> = renamed.values().map(|(key, _)| *key).collect();
        let mut parts = Vec::with_capacity(was.elements().len());
        let add = |parts: &mut Vec<Part<'t, 'a>>, them: Option<Vec<(&'a str, &'t Tree<'a>)>>| {
            for (key, it) in them.into_iter().flatten() {
                if !taken.contains(&key) {
                    parts.push(Part {
                        was: None,
                        now: Some(Step::Key(key)),
                        change: Change::New(it),
                    });
                }
            }
        };
        add(&mut parts, added.remove(&None));
        for (key, it) in was.members() {
            let (name, change) = match (after.get(key), renamed.remove(key)) {
                (Some(now), _) => (Some(key), self.change(it, now)),
                (None, Some((name, now))) => (Some(name), self.change(it, now)),
                (None, None) => (None, Change::Gone(it)),
            };
            parts.push(Part {
                was: Some(Step::Key(key)),
                now: name.map(Step::Key),
                change,
            });
            add(&mut parts, added.remove(&Some(key)));
        }
        parts
    }

    fn elements<'t, 'a>(&mut self, was: &'t Tree<'a>, now: &'t Tree<'a>) -> Vec<Part<'t, 'a>> {
        let (was, now) = (was.elements(), now.elements());
        let hashes = |them: &[Tree<'_>]| them.iter().map(Tree::hash).collect::<Vec<_>>();
        let mut parts = Vec::new();
        let (mut left, mut right) = (0, 0);
        let ends = (was.len(), now.len());
        let equal = aligned(&hashes(was), &hashes(now));
        let equal = equal.into_iter().filter(|(a, b)| was[*a].equals(&now[*b]));
        for (a, b) in equal.chain([ends]) {
            self.stretch((was, left..a), (now, right..b), &mut parts);
            if (a, b) != ends {
                parts.push(pair(a, b, Change::Same(&was[a])));
            }
            (left, right) = (a + 1, b + 1);
        }
        find_moved(&mut parts);
        parts
    }

    /// Elements between two that are equal on both sides.
    fn stretch<'t, 'a>(
        &mut self,
        (was, left): (&'t [Tree<'a>], std::ops::Range<usize>),
        (now, right): (&'t [Tree<'a>], std::ops::Range<usize>),
        parts: &mut Vec<Part<'t, 'a>>,
    ) {
        let ends = (left.end, right.end);
        let (mut a, mut b) = (left.start, right.start);
        let pairs = self.partners(&was[left.clone()], &now[right.clone()]);
        let pairs = pairs
            .into_iter()
            .map(|(a, b)| (a + left.start, b + right.start));
        for (next_a, next_b) in pairs.chain([ends]) {
            parts.extend((a..next_a).map(|at| Part {
                was: Some(Step::Index(at)),
                now: None,
                change: Change::Gone(&was[at]),
            }));
            parts.extend((b..next_b).map(|at| Part {
                was: None,
                now: Some(Step::Index(at)),
                change: Change::New(&now[at]),
            }));
            if (next_a, next_b) != ends {
                let change = self.change(&was[next_a], &now[next_b]);
                parts.push(pair(next_a, next_b, change));
            }
            (a, b) = (next_a + 1, next_b + 1);
        }
    }

    /// Which elements of two stretches are each other, changed: those of the same id or name, or those that have most in common.
    fn partners(&mut self, was: &[Tree<'_>], now: &[Tree<'_>]) -> Vec<(usize, usize)> {
        if was.is_empty() || now.is_empty() {
            return Vec::new();
        }
        let identities = |them: &[Tree<'_>]| -> Option<Vec<u64>> {
            let identities = them.iter().map(|it| it.identity().map(Tree::hash));
            identities.collect()
        };
        if let Some((a, b)) = identities(was).zip(identities(now)) {
            let pairs = aligned(&a, &b);
            if !pairs.is_empty() {
                return pairs;
            }
        }
        let cells = was.len().saturating_mul(now.len());
        if cells > STRETCH || cells > self.pairs {
            // Too many to look at: one after the other, where there are as many on either side.
            let count = if was.len() == now.len() { was.len() } else { 0 };
            return (0..count).map(|it| (it, it)).collect();
        }
        self.pairs -= cells;
        let pairs = likeliest(was, now);
        if pairs.is_empty() && was.len() == now.len() {
            return (0..was.len()).map(|it| (it, it)).collect();
        }
        pairs
    }
}

fn pair<'t, 'a>(was: usize, now: usize, change: Change<'t, 'a>) -> Part<'t, 'a> {
    Part {
        was: Some(Step::Index(was)),
        now: Some(Step::Index(now)),
        change,
    }
}

/// The members that only have another name now, by the name they had: those whose value no other member that went or came has.
fn renamed<'t, 'a>(
    was: &Tree<'a>,
    before: &HashMap<&str, &Tree<'_>>,
    after: &HashMap<&str, &'t Tree<'a>>,
    now: &'t Tree<'a>,
) -> HashMap<&'a str, (&'a str, &'t Tree<'a>)> {
    let mut by_value: HashMap<u64, Vec<(&'a str, &'t Tree<'a>)>> = HashMap::new();
    for (key, it) in now.members().filter(|(key, _)| !before.contains_key(key)) {
        by_value.entry(it.hash()).or_default().push((key, it));
    }
    let gone = || was.members().filter(|(key, _)| !after.contains_key(key));
    let mut values: HashMap<u64, usize> = HashMap::new();
    for (_, it) in gone() {
        *values.entry(it.hash()).or_default() += 1;
    }
    let found = gone().filter_map(|(key, it)| {
        let is_only = values.get(&it.hash()) == Some(&1);
        match by_value.get(&it.hash())?.as_slice() {
            [only] if is_only && it.equals(only.1) => Some((key, *only)),
            _ => None,
        }
    });
    found.collect()
}

/// Tells elements that only stand elsewhere from those that went and came.
fn find_moved(parts: &mut [Part<'_, '_>]) {
    let mut places: HashMap<u64, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (at, part) in parts.iter().enumerate() {
        match &part.change {
            Change::Gone(it) => places.entry(it.hash()).or_default().0.push(at),
            Change::New(it) => places.entry(it.hash()).or_default().1.push(at),
            _ => {}
        }
    }
    for (from, to) in places.into_values() {
        for (from, to) in from.into_iter().zip(to) {
            if let (Change::Gone(was), Change::New(now)) = (&parts[from].change, &parts[to].change)
                && was.equals(now)
            {
                let (was, now) = (*was, *now);
                parts[from].change = Change::MovedAway(was);
                parts[from].now = parts[to].now;
                parts[to].change = Change::MovedHere(now);
                parts[to].was = parts[from].was;
            }
        }
    }
}

/// The pairs, in order, that have most in common together.
fn likeliest(was: &[Tree<'_>], now: &[Tree<'_>]) -> Vec<(usize, usize)> {
    aligned::likeliest(was.len(), now.len(), |row, column| {
        let likeness = likeness(&was[row], &now[column]);
        if likeness < ALIKE { 0.0 } else { likeness }
    })
}

/// How much two values have in common, from 0 to 1; a guess that looks at a few members only.
fn likeness(was: &Tree<'_>, now: &Tree<'_>) -> f64 {
    /// The share of what is the same, in a number of comparisons that is far below where this conversion would lose anything.
    fn share(same: usize, all: usize) -> f64 {
        let [same, all] = [same, all.max(1)].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        f64::from(same) / f64::from(all)
    }
    match (was.value, now.value) {
        (Value::Object(_), Value::Object(_)) => {
            let after: HashMap<&str, &Tree<'_>> = now.members().take(LOOKED_AT).collect();
            let (mut keys, mut values, mut all) = (0, 0, 0);
            for (key, it) in was.members().take(LOOKED_AT) {
                all += 1;
                if let Some(other) = after.get(key) {
                    keys += 1;
                    values += usize::from(it.hash() == other.hash());
                }
            }
            let all = all.max(after.len());
            0.5 * share(keys, all) + 0.5 * share(values, all)
        }
        (Value::Array(_), Value::Array(_)) => {
            let (was, now) = (was.elements(), now.elements());
            let looked_at = was.iter().zip(now).take(LOOKED_AT);
            let same = looked_at.filter(|(a, b)| a.hash() == b.hash()).count();
            0.35 + 0.6 * share(same, was.len().max(now.len()).min(LOOKED_AT))
        }
        (Value::String(was), Value::String(now)) => {
            let words = |it: &'_ str| -> Vec<String> {
                let words = it.split_whitespace().take(LOOKED_AT);
                words.map(ToOwned::to_owned).collect()
            };
            let (was, now) = (words(was), words(now));
            let same = now.iter().filter(|it| was.contains(it)).count();
            share(same, was.len().max(now.len()))
        }
        _ => 0.0,
    }
}
