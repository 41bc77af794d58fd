//! The types that a schema accepts, and how a change of them is described.

use std::collections::BTreeSet;

use super::node::{Difference, Node};
use crate::values::kind::article;

/// What changed in the types that are accepted; `None` where nothing did, or they are not known.
pub(super) fn changed(b: &Node<'_>, c: &Node<'_>) -> Option<Difference> {
    let (old, new) = (b.types(), c.types());
    let (what, narrows) = match (&old, &new) {
        (Some(old), Some(new)) => change(old, new)?,
        (None, Some(new)) if !b.has_alternatives() => {
            (format!("now accepts only {}", names(new)), true)
        }
        (Some(_), None) if !c.has_alternatives() => ("now accepts any type".to_owned(), false),
        _ => return None,
    };
    let words = |it: &BTreeSet<&str>| it.iter().copied().collect::<Vec<_>>().join(" | ");
    Some(Difference {
        keyword: "type",
        what,
        was: old.as_ref().map(words),
        now: new.as_ref().map(words),
        narrows,
    })
}

/// Describes how the accepted types changed, and says whether some are no longer accepted; `None` where they did not change.
fn change(old: &BTreeSet<&str>, new: &BTreeSet<&str>) -> Option<(String, bool)> {
    let lost: BTreeSet<&str> = (old.iter().copied())
        .filter(|it| !accepts(new, it))
        .collect();
    let gained: BTreeSet<&str> = (new.iter().copied())
        .filter(|it| !accepts(old, it))
        .collect();
    let keeps_some = lost.len() < old.len();
    // From `number` to `integer` the one type is lost, yet whole numbers are still accepted.
    let narrows_number = old.contains("number") && new.contains("integer") && gained.is_empty();
    if !lost.is_empty() && (keeps_some || narrows_number) && gained.is_empty() {
        let what = if narrows_number && lost.len() == 1 {
            "was narrowed to integer".to_owned()
        } else {
            format!("no longer accepts {}", names(&lost))
        };
        Some((what, true))
    } else if !lost.is_empty() {
        Some((format!("became {}", names(new)), true))
    } else if gained.is_empty() {
        None
    } else {
        Some((format!("now also accepts {}", names(&gained)), false))
    }
}

fn accepts(types: &BTreeSet<&str>, wanted: &str) -> bool {
    types.contains(wanted) || (wanted == "integer" && types.contains("number"))
}

/// The types with their articles, as in "an integer or null".
fn names(types: &BTreeSet<&str>) -> String {
    let named: Vec<String> = types.iter().map(|it| article(it)).collect();
    named.join(" or ")
}
