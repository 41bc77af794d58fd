//! Results over time: what is made of them, how it is shown, and their numbers in words, as the table and the page have them.
//!
//! | file | what is there |
//! |---|---|
//! | `measure` | results to [`HistoryDocument`]: rates, medians, the first bad run, slowdowns |
//! | `terminal` | the table, with courses of signs, and a line per result |
//!
//! Its page is [`html::history`](crate::html::history).

mod measure;
mod terminal;

pub use self::measure::{Asked, measured};
pub use self::terminal::{csv, terminal};
use crate::duration;
use model::number::fixed;
use model::published::history::{History, HistoryDocument, Ranked};
use model::repeated::percent;
use model::usage::cost_words;
use std::fmt::Write as _;

/// Adds how steady, how fast and how expensive it is, as far as that is known: `, median 340 ms`.
pub(super) fn add_measures(words: &mut String, it: &History) {
    if let Some(flakiness) = it.flakiness.filter(|it| *it > 0.0) {
        let _ = write!(
            words,
            ", flaky: verdicts differ in {} of the pairs of one state",
            percent(flakiness)
        );
    }
    if let Some(median) = it.median_duration_ms {
        let _ = write!(words, ", median {}", duration::words(median));
    }
    if let Some(slowdown) = it.slowdown {
        let _ = write!(
            words,
            ", the latest {} × as long as usual",
            fixed(slowdown.factor, 2)
        );
    }
    if let Some(cost) = it.known_cost {
        let _ = write!(words, ", cost {}", cost_words(cost));
    }
}

/// Says one number of a ranking.
type Words = fn(f64) -> String;

/// What scenarios are ranked by: a title, those that have most of it, and how it is said.
pub(super) fn rankings(document: &HistoryDocument) -> [(&'static str, &[Ranked], Words); 3] {
    [
        ("Slowest", &document.slowest, duration::words),
        ("Flakiest", &document.flakiest, percent),
        ("Most expensive", &document.most_expensive, cost_words),
    ]
}
