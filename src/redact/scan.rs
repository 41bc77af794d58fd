//! Finds secrets in texts that are already on disk, and tells where they stand without telling them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::find::Finder;
use super::hit::Name;
use super::secrets::Secrets;
use model::RedactionPattern;
use model::placeholder::placeholders;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spotted {
    /// What it is: the word that its placeholder would have.
    pub kind: String,
    /// Where it stands, in bytes.
    pub at: Range<usize>,
    /// How long it is, in characters.
    pub length: usize,
}

/// A placeholder as pages and scripts in them write it.
static IN_PAGES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:&lt;|\\u003[cC])(?:secret|redacted):[A-Za-z0-9_.:#-]+(?:&gt;|\\u003[eE])")
        .expect("a valid pattern")
});

/// Looks for what redaction would have replaced.
#[derive(Debug)]
pub struct Scanner {
    finder: Finder,
}

impl Scanner {
    /// Looks for these values and patterns, too, but for what is to be kept.
    pub fn new(secrets: &Secrets, patterns: Vec<RedactionPattern>, keep: Vec<String>) -> Self {
        Self {
            finder: Finder::new(secrets.known(), patterns, keep),
        }
    }

    /// The secrets in a text, in the order they stand.
    pub fn text(&self, text: &str) -> Vec<Spotted> {
        let hits = self.finder.find(text, None);
        if hits.is_empty() {
            return Vec::new();
        }
        let mut hidden: Vec<Range<usize>> = placeholders(text)
            .map(|it| it.at)
            .chain(IN_PAGES.find_iter(text).map(|it| it.range()))
            .collect();
        hidden.sort_by_key(|it| it.start);
        let is_hidden = |at: &Range<usize>| {
            let next = hidden.partition_point(|it| it.end <= at.start);
            hidden.get(next).is_some_and(|it| it.start < at.end)
        };
        let hits = hits.into_iter().filter(|it| !is_hidden(&it.at));
        let spotted = hits.map(|it| Spotted {
            kind: match it.name {
                Name::Declared(name, _) => name.to_owned(),
                Name::Shape(kind) | Name::Context(kind) => kind.to_owned(),
            },
            length: text[it.at.clone()].chars().count(),
            at: it.at,
        });
        spotted.collect()
    }
}
