//! Lists of rows that come in any order, while some members of the rows differ in every take.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::values::same::{self, View};
use model::Object;

/// Of each list, which of its rows belongs to each row of the first one, where they stand in another order: rows belong together by the
/// members whose values are the same in all lists, taken together.
pub(super) fn partners(lists: &[&Vec<Value>]) -> Option<Vec<Vec<usize>>> {
    let tables: Option<Vec<Vec<&Object>>> = lists.iter().map(|it| rows(it)).collect();
    let tables = tables?;
    let count = tables.first()?.len();
    if count < 2 || tables.iter().any(|it| it.len() != count) {
        return None;
    }
    let stable = stable_prints(&tables);
    let is_in_order = stable.iter().all(|it| *it == stable[0]);
    (!is_in_order).then(|| stable.iter().map(|it| matched(&stable[0], it)).collect())
}

fn rows(list: &[Value]) -> Option<Vec<&Object>> {
    list.iter().map(Value::as_object).collect()
}

/// A hash of each row's stable members, for each list.
fn stable_prints(tables: &[Vec<&Object>]) -> Vec<Vec<u64>> {
    let mut stable: Vec<Vec<u64>> = tables.iter().map(|it| vec![0; it.len()]).collect();
    for key in most_distinct_first(tables) {
        let joined: Vec<Vec<u64>> = (tables.iter().zip(&stable))
            .map(|(rows, known)| {
                let both = rows.iter().zip(known);
                let print = |(row, known): (&&Object, &u64)| same::hash_of((known, of(row, key)));
                both.map(print).collect()
            })
            .collect();
        if have_same_rows(&joined) {
            stable = joined;
        }
    }
    stable
}

/// All keys, those with the most distinct values first, because these distinguish the rows best.
fn most_distinct_first<'a>(tables: &[Vec<&'a Object>]) -> Vec<&'a String> {
    let mut keys: Vec<&String> = Vec::new();
    let mut known = HashSet::new();
    for row in tables.iter().flatten() {
        keys.extend(row.keys().filter(|it| known.insert(*it)));
    }
    let values = |key: &&String| {
        let first = tables[0].iter().map(|it| of(it, key));
        first.collect::<HashSet<_>>().len()
    };
    keys.sort_by_cached_key(|it| std::cmp::Reverse(values(it)));
    keys
}

fn of(row: &Object, key: &str) -> Option<u64> {
    row.get(key).map(|it| same::hash(it, View::Plain))
}

fn have_same_rows(prints: &[Vec<u64>]) -> bool {
    let sorted = |it: &Vec<u64>| {
        let mut it = it.clone();
        it.sort_unstable();
        it
    };
    let first = sorted(&prints[0]);
    prints.iter().all(|it| sorted(it) == first)
}

/// For each print the place of its equal; of several equal ones each its own, in their order.
fn matched(first: &[u64], other: &[u64]) -> Vec<usize> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, it) in other.iter().enumerate().rev() {
        places.entry(*it).or_default().push(at);
    }
    let found = first.iter().map(|it| places.get_mut(it).and_then(Vec::pop));
    found.map(Option::unwrap_or_default).collect()
}
