//! Things that are counted, in words.

use std::fmt::Display;

/// So many of what is called by these words: `1 query was`, `3 queries were`.
pub fn several<T: Copy + Display + PartialEq + From<u8>>(
    count: T,
    one: &str,
    many: &str,
) -> String {
    let words = if count == T::from(1) { one } else { many };
    format!("{count} {words}")
}

/// So many of what an `s` makes several of: `1 scenario`, `3 scenarios`.
pub fn plural<T: Copy + Display + PartialEq + From<u8>>(count: T, one: &str) -> String {
    several(count, one, &format!("{one}s"))
}

/// Those of several numbers that are not 0, each before what it counts: `2 failed`, `1 skipped`.
pub fn counts(all: &[(usize, &str)]) -> Vec<String> {
    let some = all.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!("{count} {what}"))
        .collect()
}

/// The first of several names, and how many more there are: `a, b and 3 more`.
pub fn few<T: Display>(names: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = (names.by_ref().take(most))
        .map(|it| it.to_string())
        .collect();
    let shown = shown.join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
