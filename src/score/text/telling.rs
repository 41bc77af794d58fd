//! The values of a place that another is judged by, without those that are only more of the same: a list has thousands of rows.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::values::kind::kind;
use crate::values::number;

use super::variation::amount;
use super::{times, watch};

/// So many are kept as they are.
const FIRST: usize = 24;
/// So many that look alike are enough of them.
const ALIKE: usize = 8;

/// Those of many values by which [`watch`] judges another one as it does by all.
pub(crate) fn telling(seen: Vec<Value>) -> Vec<Value> {
    let texts: Option<Vec<&str>> = seen.iter().map(Value::as_str).collect();
    let kept = match texts {
        Some(texts) => of_texts(&texts),
        None => of_values(&seen),
    };
    only(seen, &kept)
}

/// The same of texts.
pub(crate) fn telling_texts(seen: Vec<String>) -> Vec<String> {
    let kept = of_texts(&seen.iter().map(String::as_str).collect::<Vec<_>>());
    only(seen, &kept)
}

/// The same of times, of which the first and the last tell.
pub(crate) fn telling_offsets(offsets: Vec<i64>) -> Vec<i64> {
    let ends = [offsets.iter().min(), offsets.iter().max()];
    match ends.map(Option::<&i64>::copied) {
        [Some(first), Some(last)] if offsets.len() > FIRST => vec![first, last],
        _ => offsets,
    }
}

fn only<T>(seen: Vec<T>, kept: &HashSet<usize>) -> Vec<T> {
    let all = seen.into_iter().enumerate();
    let kept = all.filter(|(at, _)| kept.contains(at));
    kept.map(|(_, it)| it).collect()
}

/// The places of the least and the greatest.
fn ends(amounts: impl Iterator<Item = Option<f64>>) -> Vec<usize> {
    let amounts: Vec<(usize, f64)> = amounts
        .enumerate()
        .filter_map(|(at, it)| Some((at, it?)))
        .collect();
    let least = amounts.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let greatest = amounts.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    [least, greatest]
        .into_iter()
        .flatten()
        .map(|it| it.0)
        .collect()
}

fn of_texts(seen: &[&str]) -> HashSet<usize> {
    let mut kept: HashSet<usize> = (0..seen.len().min(FIRST)).collect();
    if seen.len() <= FIRST {
        return kept;
    }
    kept.extend(ends(seen.iter().map(|it| amount(it))));
    kept.extend((0..seen.len()).min_by_key(|at| seen[*at].len()));
    let mut looks: HashMap<[bool; 15], usize> = HashMap::new();
    let mut notations: Vec<Option<times::Notation>> = Vec::new();
    let mut earlier: HashMap<&str, usize> = HashMap::new();
    let mut has_twins = false;
    for (at, text) in seen.iter().enumerate() {
        let alike = looks.entry(watch::look(seen[0], text)).or_default();
        *alike += 1;
        let mut is_telling = *alike <= ALIKE;
        let notation = times::notation(text);
        if !notations.contains(&notation) {
            notations.push(notation);
            is_telling = true;
        }
        // One that is there twice is no id that is new each time.
        if let Some(twin) = earlier.insert(text, at).filter(|_| !has_twins) {
            has_twins = true;
            kept.insert(twin);
            is_telling = true;
        }
        kept.extend(is_telling.then_some(at));
    }
    kept
}

fn of_values(seen: &[Value]) -> HashSet<usize> {
    let mut kept: HashSet<usize> = (0..seen.len().min(FIRST)).collect();
    let amounts = seen.iter().map(|it| it.as_number().map(number::float));
    kept.extend(ends(amounts));
    let mut kinds = HashSet::new();
    for (at, it) in seen.iter().enumerate() {
        let is_new = kinds.insert((kind(it), crate::values::kind::is_empty(it)));
        kept.extend(is_new.then_some(at));
    }
    // Texts among others are looked at as texts are.
    let (places, texts): (Vec<usize>, Vec<&str>) = (seen.iter().enumerate())
        .filter_map(|(at, it)| Some((at, it.as_str()?)))
        .unzip();
    kept.extend(of_texts(&texts).into_iter().map(|at| places[at]));
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FIRST, telling_texts};
    use crate::text::watch::{id, number, run, time_text, words};

    proptest! {
        #[test]
        fn what_tells_judges_as_all_do(
            (few, many) in (
                prop::collection::vec("[0-9a-f]{2,9}|[A-Za-z0-9]{2,9}|[a-z]{2}-[0-9]{4}|[0-9]{1,3}(Mi|Gi)|null|x{9}", 0..6),
                prop_oneof![
                    prop::collection::vec("[0-9a-f]{12}", 30..80),
                    prop::collection::vec("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", 30..60),
                    prop::collection::vec("ord_[0-9a-zA-Z]{8}", 30..60),
                    prop::collection::vec("[0-9]{1,4}Mi", 30..60),
                    prop::collection::vec("20[0-9]{2}-0[1-9]-1[0-9]", 30..60),
                    prop::collection::vec("[0-9a-zA-Z_.é-]{1,20}", 30..60),
                ],
            ),
            at in 0..30_usize,
            now in "[0-9a-f]{12}|[0-9A-F]{12}|[a-z]{4,12}|[0-9]{2,9}(Mi|)|ord[_-][0-9a-z]{8}|20[0-9]{2}-0[1-9]-1[0-9]|undefined| |x{12}|[A-Za-z0-9 é-]{1,30}",
            first in any::<bool>(),
        ) {
            let mut all = many;
            let at = at.min(all.len());
            all.splice(at..at, few);
            let now = if first { all[0].clone() } else { now };
            let kept = telling_texts(all.clone());
            prop_assert!(kept.len() >= FIRST);
            let (all, kept): (Vec<&str>, Vec<&str>) =
                (all.iter().map(String::as_str).collect(), kept.iter().map(String::as_str).collect());
            for (is_new, is_used) in [(false, false), (true, false), (false, true)] {
                prop_assert_eq!(id(&all, &now, is_new, is_used), id(&kept, &now, is_new, is_used), "{:?}", kept);
            }
            prop_assert_eq!(words(&all, &now), words(&kept, &now));
            prop_assert_eq!(run(&all, &now), run(&kept, &now));
            prop_assert_eq!(time_text(&all, &[], (&now, 0.0)), time_text(&kept, &[], (&now, 0.0)));
            let amounts = |of: &[&str]| -> Vec<f64> {
                of.iter().filter_map(|it| crate::text::variation::amount(it)).collect()
            };
            for now in [-1.0, 0.0, 7.0, 1e6, 1e9, 1e20] {
                prop_assert_eq!(number(&amounts(&all), now), number(&amounts(&kept), now));
            }
        }
    }

    /// Texts with numbers in the place of `#`, of which few are equal.
    fn some(count: usize, of: &str) -> Vec<String> {
        let numbers = (0..count).map(|it| (it * 37 % 90 + 10).to_string());
        numbers.map(|it| of.replace('#', &it)).collect()
    }

    #[test]
    fn what_comes_late_tells_as_well() {
        let hex = "c0ffee#ab12cd34ef";
        let first = some(1, hex).remove(0);
        let days = |of: &str, count: usize| -> Vec<String> {
            (0..count)
                .map(|it| of.replace('#', &(it % 19 + 10).to_string()))
                .collect()
        };
        let letters = |length: usize, count: usize| vec!["a".repeat(length); count];
        for (all, now) in [
            // In lower case, but few of them.
            (
                [some(40, "4711#4711"), some(10, "4711#471a")].concat(),
                "4711A4711",
            ),
            (
                [some(40, hex), some(2, "c0ffee0000000000ab")].concat(),
                first.as_str(),
            ),
            (
                [
                    days("2026-01-#", 40),
                    days("# Jan 2026", 10),
                    days("Jan # 2026", 1),
                ]
                .concat(),
                "Jan 12 2026",
            ),
            (
                [letters(18, 40), letters(22, 10), letters(12, 1)].concat(),
                "aaaaaaaa",
            ),
            (
                [some(40, "c0ffee#ab12"), some(1, "c0ffee#ab12ab")].concat(),
                "c0f",
            ),
        ] {
            let kept = telling_texts(all.clone());
            assert!(kept.len() < all.len(), "{kept:?}");
            let judged = |seen: &[String]| {
                let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
                let time = time_text(&seen, &[], (now, 0.0));
                (id(&seen, now, true, false), run(&seen, now), time)
            };
            assert_eq!(judged(&all), judged(&kept), "{now}: {kept:?}");
        }
    }

    #[test]
    fn of_many_rows_few_are_kept() {
        let ids =
            (0..5000_u64).map(|it| format!("{:016x}", it.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let kept = telling_texts(ids.collect());
        assert!(kept.len() < 100, "{}", kept.len());
    }
}
