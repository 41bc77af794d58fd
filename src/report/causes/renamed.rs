//! Members of answers that only have another name now: what is missing and what is new are one change.

use std::collections::BTreeMap;

use serde_json::Value;

use model::unescaped;
use model::{Change, ChangeKind, Edit, Piece, What};

/// A member that went, and the one that came in its place.
#[derive(Debug)]
pub(super) struct Renamed {
    /// The changes that say so, by their places in the list.
    pub(super) gone: usize,
    pub(super) came: usize,
    /// The two names.
    pub(super) was: String,
    pub(super) now: String,
    /// Both have the same value; else only what they are made of is the same.
    pub(super) is_equal: bool,
}

/// The members that went and came in the same object of the same answer.
#[derive(Default)]
struct Siblings<'a> {
    gone: Vec<(usize, &'a Change)>,
    came: Vec<(usize, &'a Change)>,
}

/// What only has another name now. Each member that went stands for one that came: the comparison says so, or only these two have that
/// value, or they are the only ones and are made alike.
pub(super) fn renamed(changes: &[Change]) -> Vec<Renamed> {
    let mut objects: BTreeMap<(Option<usize>, Option<usize>, &str), Siblings<'_>> = BTreeMap::new();
    for (at, change) in changes.iter().enumerate() {
        let Some((object, _)) = change.path.as_deref().and_then(|it| it.rsplit_once('/')) else {
            continue;
        };
        let siblings = (change.baseline, change.current, object);
        match (change.kind, &change.was, &change.now) {
            (ChangeKind::Answer, Some(_), None) => {
                let siblings = objects.entry(siblings).or_default();
                siblings.gone.push((at, change));
            }
            (ChangeKind::Addition, None, Some(_))
                if change.what == What::Answer(Edit::Added(Piece::Member)) =>
            {
                let siblings = objects.entry(siblings).or_default();
                siblings.came.push((at, change));
            }
            _ => {}
        }
    }
    objects.into_values().flat_map(of_siblings).collect()
}

fn of_siblings(mut them: Siblings<'_>) -> Vec<Renamed> {
    let mut found = Vec::new();
    them.pair_off(&mut found, |gone, came, _| {
        let renamed = What::Answer(Edit::Renamed(name(came)));
        (gone.what == renamed).then_some(true)
    });
    them.pair_off(&mut found, |gone, came, siblings| {
        let have = |of: &[(usize, &Change)]| {
            let values = of.iter().map(|(_, it)| it.was.as_ref().or(it.now.as_ref()));
            values.filter(|it| *it == gone.was.as_ref()).count()
        };
        let is_only = have(&siblings.gone) == 1 && have(&siblings.came) == 1;
        (gone.was == came.now && is_only).then_some(true)
    });
    them.pair_off(&mut found, |gone, came, siblings| {
        let are_only = siblings.gone.len() == 1 && siblings.came.len() == 1;
        let alike = gone.was.as_ref().zip(came.now.as_ref());
        (are_only && alike.is_some_and(|(was, now)| is_made_alike(was, now))).then_some(false)
    });
    found
}

impl Siblings<'_> {
    /// Takes out the pairs that belong together. `belong` says whether two do, and if so, whether their values are equal.
    fn pair_off(
        &mut self,
        found: &mut Vec<Renamed>,
        belong: impl Fn(&Change, &Change, &Self) -> Option<bool>,
    ) {
        let mut pairs: Vec<(usize, usize, bool)> = Vec::new();
        for (at, (_, gone)) in self.gone.iter().enumerate() {
            let mut came = self.came.iter().enumerate();
            let partner = came.find_map(|(to, (_, it))| {
                let is_free = pairs.iter().all(|(_, taken, _)| *taken != to);
                let is_equal = belong(gone, it, self).filter(|_| is_free)?;
                Some((at, to, is_equal))
            });
            pairs.extend(partner);
        }
        for (at, to, is_equal) in &pairs {
            let ((gone_at, gone), (came_at, came)) = (self.gone[*at], self.came[*to]);
            found.push(Renamed {
                gone: gone_at,
                came: came_at,
                was: name(gone),
                now: name(came),
                is_equal: *is_equal,
            });
        }
        let is_left = |at: usize| found.iter().all(|it| it.gone != at && it.came != at);
        self.gone.retain(|(at, _)| is_left(*at));
        self.came.retain(|(at, _)| is_left(*at));
    }
}

/// The name of a member by its path.
fn name(change: &Change) -> String {
    let path = change.path.as_deref().unwrap_or_default();
    unescaped(path.rsplit('/').next().unwrap_or_default())
}

/// Whether two values, as excerpts show them, are made of the same.
fn is_made_alike(was: &str, now: &str) -> bool {
    let read = |it: &str| serde_json::from_str::<Value>(it).ok();
    match (read(was), read(now)) {
        (Some(was), Some(now)) => have_one_shape(&was, &now),
        (None, None) => {
            // Of long values, an excerpt has the beginning.
            let begins = |it: &str| it.split(':').next().unwrap_or_default().to_owned();
            was.starts_with(['{', '[']) && begins(was) == begins(now)
        }
        _ => false,
    }
}

fn have_one_shape(was: &Value, now: &Value) -> bool {
    match (was, now) {
        (Value::Object(was), Value::Object(now)) => {
            !was.is_empty()
                && was.len() == now.len()
                && (was.iter())
                    .all(|(key, it)| now.get(key).is_some_and(|now| have_one_shape(it, now)))
        }
        (Value::Array(was), Value::Array(now)) => was
            .first()
            .zip(now.first())
            .is_some_and(|(was, now)| have_one_shape(was, now)),
        (Value::String(_), Value::String(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::Bool(_), Value::Bool(_)) => true,
        _ => false,
    }
}
