//! The words of texts and names.

use std::collections::HashSet;

/// The words of a text in lower case, in order.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let parts = lower.split(|it: char| !it.is_alphanumeric());
    parts
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The words that a name is made of: `listIssues`, `list_issues` and `list-issues` are the same two.
pub(super) fn words_of_name(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = None;
    for it in name.chars() {
        if it.is_uppercase() && before.is_some_and(|it: char| it.is_lowercase()) {
            spaced.push(' ');
        }
        spaced.push(it);
        before = Some(it);
    }
    words(&spaced)
}

/// Whether a text names something: its name to the letter where no ordinary word looks so, or the words of its name, two at least, one after
/// the other.
pub(super) fn names(text: &[String], raw: &str, name: &str) -> bool {
    let parts = words_of_name(name);
    if parts.len() < 2 {
        return false;
    }
    raw.to_lowercase().contains(&name.to_lowercase())
        || text.windows(parts.len()).any(|it| it == parts)
}

/// The share of the words of two texts that both have, from 0 to 1.
pub(super) fn overlap(a: &HashSet<&str>, b: &HashSet<&str>) -> f64 {
    let both = a.intersection(b).count();
    let all = a.len() + b.len() - both;
    if all == 0 {
        return 1.0;
    }
    super::statistics::count(both) / super::statistics::count(all)
}
