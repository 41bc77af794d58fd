//! Learning about the elements of lists together: their order, and the way they vary.
//!
//! Lists of rows that come in any order, while some members of the rows differ in every take.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::lists::align;
use crate::text::key;
use crate::text::telling::{telling, telling_offsets, telling_texts};
use crate::text::token::tokens;
use crate::text::words;
use crate::values::number;
use crate::values::path::escape;
use crate::values::same::{self, DEPTH, View, same};
use model::{Object, TokenKind, Variation, Varying, VaryingToken};

use super::wording;

/// How many rows tell whether others come each time.
const ROWS: usize = 200;

/// How a place varies, with the tokens of a text that do.
type Way = (Variation, Vec<VaryingToken>);

/// Replaces the same place of several elements of a list by one place for all elements, where at least `least` vary there in the same way.
pub(super) fn gathered(
    varies: Vec<Varying>,
    list: &str,
    elements: &[Value],
    least: usize,
) -> Vec<Varying> {
    let parted = |it: &Varying| {
        let rest = it.path.strip_prefix(list)?.strip_prefix('/')?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (index, rest) = rest.split_at(end);
        let element = elements.get(index.parse::<usize>().ok()?)?;
        Some((element, rest.to_owned()))
    };
    let mut places: HashMap<String, Vec<Option<Way>>> = HashMap::new();
    for it in &varies {
        if let Some((element, rest)) = parted(it) {
            let how = for_every_element(it, any_at(element, &rest))
                .filter(|it| it.0 != Variation::AnyOrder || least == 1);
            places.entry(rest).or_default().push(how);
        }
    }
    let ways: HashMap<String, Way> = (places.into_iter())
        .filter(|(_, ways)| ways.len() >= least)
        .filter_map(|(rest, ways)| Some((rest, one_way(&ways)?)))
        .collect();
    let mut together: Vec<Varying> = Vec::new();
    let mut listed: HashMap<String, usize> = HashMap::new();
    for it in varies {
        let rest = parted(&it).map(|(_, rest)| rest);
        let Some((rest, (by, parts))) = rest.and_then(|rest| ways.get_key_value(&rest)) else {
            together.push(it);
            continue;
        };
        let (by, mut parts) = (*by, parts.clone());
        // What was seen in each element may be in all of them.
        if let Some(known) = listed.get(rest).map(|at| &mut together[*at]) {
            known.seen.extend(it.seen);
            known.offsets.extend(it.offsets);
            for (known, own) in known.parts.iter_mut().zip(it.parts) {
                known.seen.extend(own.seen);
                known.offsets.extend(own.offsets);
            }
            continue;
        }
        listed.insert(rest.clone(), together.len());
        for (all, own) in parts.iter_mut().zip(it.parts) {
            (all.seen, all.offsets) = (own.seen, own.offsets);
        }
        let path = format!("{list}/*{rest}");
        together.push(Varying {
            path,
            by,
            parts,
            ..it
        });
    }
    for at in listed.into_values() {
        let it = &mut together[at];
        it.seen = telling(std::mem::take(&mut it.seen));
        it.offsets = telling_offsets(std::mem::take(&mut it.offsets));
        for part in &mut it.parts {
            part.seen = telling_texts(std::mem::take(&mut part.seen));
            part.offsets = telling_offsets(std::mem::take(&mut part.offsets));
        }
    }
    together
}

/// The way in which places of several elements vary, if it is the same for all and applies to any recorded value.
fn one_way(ways: &[Option<Way>]) -> Option<Way> {
    let mut ways = ways.iter();
    let first = ways.next()?.clone()?;
    ways.try_fold(first, |known, it| match (known, it.as_ref()?) {
        (it @ (Variation::SameType, _), (Variation::SameType, _))
        | (it @ (Variation::AnyOrder, _), (Variation::AnyOrder, _)) => Some(it),
        ((Variation::Tokens, mut a), (Variation::Tokens, b)) => {
            let (one, other) = (a.first_mut()?, b.first()?);
            // The number of tokens of an id depends on its random letters and digits.
            one.tokens = one.tokens.max(other.tokens);
            one.may_be_as(other).then_some((Variation::Tokens, a))
        }
        _ => None,
    })
}

/// How a place varies, if that applies to every element; `None` where it is said of tokens of one text.
fn for_every_element(it: &Varying, recorded: Option<&Value>) -> Option<Way> {
    match it.by {
        Variation::SameType | Variation::AnyOrder => Some((it.by, Vec::new())),
        Variation::Tokens => {
            let text = recorded.and_then(Value::as_str)?;
            let [only] = it.parts.as_slice() else {
                return None;
            };
            wording::is_whole(text, only).then(|| (it.by, it.parts.clone()))
        }
        _ => None,
    }
}

/// The value at a path; of any element the first.
fn any_at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let mut steps = path.split('/').skip(1);
    steps.try_fold(value, |value, step| match (step, value) {
        ("*", Value::Array(items)) => items.first(),
        ("*", Value::Object(members)) => members.values().next(),
        _ => value.pointer(&format!("/{step}")),
    })
}

/// Whether two values have anything in common, so that one may stand for the other in a list.
pub(super) fn has_something_of(a: &Value, b: &Value, depth: usize) -> bool {
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

/// Whether lists of one length hold other rows in each take, as random samples and the latest entries of a log do: no column names the rows,
/// for those with another value in each differ between the takes, too, and one column differs in its words.
pub(super) fn are_other_rows(lists: &[&Vec<Value>]) -> bool {
    let lists: Vec<&[Value]> = (lists.iter()).map(|it| &it[..it.len().min(ROWS)]).collect();
    let first = lists[0];
    let Some(columns) = first.first().and_then(columns) else {
        return false;
    };
    let mut rows = lists.iter().copied().flatten();
    if first.len() < 2 || !rows.all(|it| self::columns(it).as_ref() == Some(&columns)) {
        return false;
    }
    let (mut is_key, mut is_worded) = (false, false);
    for column in &columns {
        let values: Vec<Vec<Option<&Value>>> = (lists.iter())
            .map(|list| list.iter().map(|it| it.pointer(column)).collect())
            .collect();
        let (own, others) = (&values[0], &values[1..]);
        let differ = |row: &usize| others.iter().any(|it| it[*row] != own[*row]);
        let reworded = |row: &usize| {
            others
                .iter()
                .any(|it| words_of(it[*row]) != words_of(own[*row]))
        };
        let differing = (0..own.len()).filter(differ).count();
        let names = own.iter().flatten().map(|it| same::hash(it, View::Plain));
        let names: BTreeSet<u64> = names.collect();
        if differing * 2 < own.len() && names.len() == own.len() {
            return false;
        }
        is_key |= 4 * differing >= 3 * own.len();
        is_worded |= 2 * (0..own.len()).filter(reworded).count() >= own.len();
    }
    is_key && is_worded
}

/// Where a row has its columns; `None` for what is no row.
fn columns(row: &Value) -> Option<BTreeSet<String>> {
    match row {
        Value::Array(items) => Some((0..items.len()).map(|it| format!("/{it}")).collect()),
        Value::Object(members) => Some(
            members
                .keys()
                .map(|it| format!("/{}", escape(it)))
                .collect(),
        ),
        _ => None,
    }
}

/// The words of a text, without what looks made up.
fn words_of(value: Option<&Value>) -> Vec<&str> {
    let tokens = value
        .and_then(Value::as_str)
        .map(tokens)
        .unwrap_or_default();
    let words = tokens.iter().filter(|it| it.kind == TokenKind::Word);
    words.map(|it| it.text).collect()
}

/// Equal for lists of the same elements, whatever their order.
pub(super) fn sorted_keys(list: &[Value]) -> Vec<u64> {
    let mut keys: Vec<u64> = list.iter().map(|it| same::hash(it, View::Plain)).collect();
    keys.sort_unstable();
    keys
}

/// Whether two lists of one length have elements in common that stand at different places.
pub(super) fn is_reordered(a: &[Value], b: &[Value]) -> bool {
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

/// Of each list, which of its rows belongs to each row of the first one, where they stand in another order: rows belong together by the
/// members whose values are the same in all lists, taken together.
pub(super) fn partners(lists: &[&Vec<Value>]) -> Option<Vec<Vec<usize>>> {
    let tables = tables(lists).filter(|it| it[0].len() > 1)?;
    let stable = stable_prints(&tables, |it| same::hash(it, View::Plain));
    let is_in_order = stable.iter().all(|it| *it == stable[0]);
    (!is_in_order).then(|| matched_with_first(&stable))
}

/// The same of elements of which nobody knows where they stand: those that are the same in all lists, or rows of which some member is; `None`
/// where nothing shows that they are the same ones each time.
pub(super) fn same_elements(lists: &[&Vec<Value>]) -> Option<Vec<Vec<usize>>> {
    let whole = |list: &&Vec<Value>| list.iter().map(without_made_up_keys).collect();
    let whole: Vec<Vec<u64>> = lists.iter().map(whole).collect();
    if have_same_rows(&whole) {
        return Some(matched_with_first(&whole));
    }
    let stable = stable_prints(&tables(lists)?, without_made_up_keys);
    if stable[0].iter().all(|it| *it == NOTHING_STABLE) {
        return None;
    }
    let partners = matched_with_first(&stable);
    let in_order = |(list, of): (&&Vec<Value>, &Vec<usize>)| -> Vec<Value> {
        of.iter().map(|at| list[*at].clone()).collect()
    };
    let in_order: Vec<Vec<Value>> = lists.iter().zip(&partners).map(in_order).collect();
    let are_others = are_other_rows(&in_order.iter().collect::<Vec<_>>());
    (!are_others).then_some(partners)
}

/// Lists of objects that are equally long.
fn tables<'a>(lists: &[&'a Vec<Value>]) -> Option<Vec<Vec<&'a Object>>> {
    let tables: Vec<Vec<&Object>> = lists.iter().map(|it| rows(it)).collect::<Option<_>>()?;
    let count = tables.first()?.len();
    tables.iter().all(|it| it.len() == count).then_some(tables)
}

fn rows(list: &[Value]) -> Option<Vec<&Object>> {
    list.iter().map(Value::as_object).collect()
}

/// Equal for values that are the same but for keys that look made up.
fn without_made_up_keys(value: &Value) -> u64 {
    fn hash(value: &Value, depth: usize) -> u64 {
        match (value, depth.checked_sub(1)) {
            (Value::Object(members), Some(depth)) => {
                let members = members.iter().map(|(key, it)| {
                    let key = (!key::is_made_up(key)).then_some(key);
                    same::hash_of((key, hash(it, depth)))
                });
                members.fold(0, u64::wrapping_add)
            }
            (Value::Array(items), Some(depth)) => {
                let items: Vec<u64> = items.iter().map(|it| hash(it, depth)).collect();
                same::hash_of(items)
            }
            _ => same::hash(value, View::Plain),
        }
    }
    hash(value, DEPTH)
}

/// The hash of a row that has no stable member.
const NOTHING_STABLE: u64 = 0;

/// A hash of each row's stable members, for each list.
fn stable_prints(tables: &[Vec<&Object>], print: fn(&Value) -> u64) -> Vec<Vec<u64>> {
    let nothing = tables.iter().map(|it| vec![NOTHING_STABLE; it.len()]);
    let mut stable: Vec<Vec<u64>> = nothing.collect();
    for key in most_distinct_first(tables) {
        let joined: Vec<Vec<u64>> = (tables.iter().zip(&stable))
            .map(|(rows, known)| {
                let both = rows.iter().zip(known);
                let joined = |(row, known): (&&Object, &u64)| {
                    same::hash_of((known, row.get(key).map(print)))
                };
                both.map(joined).collect()
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

fn matched_with_first(prints: &[Vec<u64>]) -> Vec<Vec<usize>> {
    prints.iter().map(|it| matched(&prints[0], it)).collect()
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use model::{Variation, Varying};

    use super::{are_other_rows, gathered};

    #[test]
    fn what_comes_in_any_order_in_each_element_is_one_place_where_the_elements_do_too() {
        let rows = [json!({"tags": ["a", "b"]}), json!({"tags": ["c", "d"]})];
        let varies = || -> Vec<Varying> {
            let paths = ["/list/0/tags", "/list/1/tags"];
            let in_any_order = |it: &str| Varying::new(it.to_owned(), Variation::AnyOrder);
            paths.map(in_any_order).into()
        };
        let paths = |least: usize| -> Vec<String> {
            let gathered = gathered(varies(), "/list", &rows, least).into_iter();
            gathered.map(|it| it.path).collect()
        };
        assert_eq!(paths(1), ["/list/*/tags"]);
        assert_eq!(paths(2), ["/list/0/tags", "/list/1/tags"]);
    }

    #[test]
    fn rows_that_nothing_names_are_others_each_time() {
        let cases = [
            (
                json!([["red kite", 1], ["barn owl", 2]]),
                json!([["grey heron", 3], ["barn owl", 4]]),
                true,
            ),
            // Fewer than half of them have other words.
            (
                json!([["owl 1", 1], ["owl 2", 2], ["owl 3", 3]]),
                json!([["owl 4", 4], ["owl 5", 5], ["kite 6", 6]]),
                false,
            ),
            // The first column names them.
            (
                json!([["cpu", "idle now"], ["disk", "busy"]]),
                json!([["cpu", "hot"], ["disk", "idle"]]),
                false,
            ),
            // So does the second one, and one of few values does not.
            (
                json!([["red kite", 7], ["barn owl", 8], ["jay", 9]]),
                json!([["grey heron", 7], ["tawny owl", 8], ["rook", 1]]),
                false,
            ),
            (
                json!([["red kite", true], ["barn owl", true], ["jay", false]]),
                json!([["grey heron", true], ["tawny owl", true], ["rook", true]]),
                true,
            ),
            // One row, rows of several kinds, and no rows.
            (json!([["red kite"]]), json!([["barn owl"]]), false),
            (
                json!([["red kite"], ["barn owl", 1]]),
                json!([["grey heron"], ["tawny owl", 2]]),
                false,
            ),
            (json!(["red kite", "owl"]), json!(["heron", "kite"]), false),
        ];
        for (a, b, expected) in cases {
            let list = |it: &Value| it.as_array().cloned().expect("a list");
            assert_eq!(are_other_rows(&[&list(&a), &list(&b)]), expected, "{a} {b}");
        }
    }
}
