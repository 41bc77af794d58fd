//! The types that a schema accepts, and how a change of them is described.

use std::collections::BTreeSet;

use crate::score::values::kind::article;

/// Describes how the accepted types changed, and says whether some are no longer accepted; `None` where they did not change.
pub(super) fn change(old: &BTreeSet<&str>, new: &BTreeSet<&str>) -> Option<(String, bool)> {
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
pub(super) fn names(types: &BTreeSet<&str>) -> String {
    let named: Vec<String> = types.iter().map(|it| article(it)).collect();
    named.join(" or ")
}
