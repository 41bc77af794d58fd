//! The secrets that were met so far.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

/// The secrets that were met so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The secrets of each kind with their numbers, in the order they were met: the second one is distinguished from the first.
    by_kind: HashMap<&'static str, HashMap<String, usize>>,
    /// Random values that a key, or the word `Bearer`, has shown to be secret, with the first kind of each: they are secret wherever
    /// they stand.
    shown: BTreeMap<String, &'static str>,
    /// Finds those; `None` until it is wanted, and when there are more than it knows.
    finder: Option<AhoCorasick>,
}

impl Seen {
    /// The number of a secret among those of its kind, from 1.
    pub(super) fn number(&mut self, kind: &'static str, secret: &str) -> usize {
        let of_kind = self.by_kind.entry(kind).or_default();
        let next = of_kind.len() + 1;
        match of_kind.get(secret) {
            Some(number) => *number,
            None => *of_kind.entry(secret.to_owned()).or_insert(next),
        }
    }

    /// Notes that a value is a secret wherever it stands.
    pub(super) fn show(&mut self, kind: &'static str, secret: &str) {
        if let Some(shown) = self.shown.get_mut(secret) {
            *shown = kind.min(*shown);
        } else {
            self.shown.insert(secret.to_owned(), kind);
            self.finder = None;
        }
    }

    /// Whether nothing is known to be a secret wherever it stands.
    pub(super) fn has_shown_nothing(&self) -> bool {
        self.shown.is_empty()
    }

    /// Where in a text such values stand, in order, with their kinds.
    pub(super) fn shown_in(&mut self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        if self.shown.is_empty() {
            return Vec::new();
        }
        if self.finder.is_none() {
            let longest_first = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(self.shown.keys());
            self.finder = longest_first.ok();
        }
        let found = self.finder.iter().flat_map(|it| it.find_iter(text));
        let found = found.filter_map(|it| Some((it.range(), *self.shown.get(&text[it.range()])?)));
        found.collect()
    }
}
