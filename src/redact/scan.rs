//! Finds secrets in texts that are already on disk, and tells where they stand without telling them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::de::IgnoredAny;

use super::example::is_example;
use super::shapes;
use crate::model::redaction::Pattern;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spotted {
    /// What it is: the word that its placeholder would have.
    pub kind: &'static str,
    /// Where it stands, in bytes.
    pub at: Range<usize>,
    /// Its first characters, at most four, and how long it is.
    pub masked: String,
}

/// Looks for secrets: those known by shape or key, named values, and patterns.
#[derive(Debug, Default)]
pub struct Scanner {
    secrets: Vec<String>,
    patterns: Vec<Pattern>,
}

/// `password: abc` or `TOKEN = "abc"`, as configuration files and shells write it.
const ASSIGNED: &str = r#"(?<key>[A-Za-z0-9_.-]*[A-Za-z0-9_])["']?\s*[:=]\s*(?:"(?<double>[^"]+)"|'(?<single>[^']+)'|(?<bare>[^\s"',;}\]#(]+))"#;

static ASSIGNED_PATTERN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(ASSIGNED).expect("a valid pattern"));

impl Scanner {
    /// Looks for these values and patterns, too.
    pub fn new(mut secrets: Vec<String>, patterns: Vec<Pattern>) -> Self {
        secrets.retain(|it| !it.is_empty());
        Self { secrets, patterns }
    }

    /// The secrets in a text, in the order they stand. With `assigned`, `key: value` and `key = value` count without any quotes, as
    /// befits a file of settings.
    pub fn text(&self, text: &str, assigned: bool) -> Vec<Spotted> {
        let mut found = Found::of(text);
        for secret in &self.secrets {
            for (start, _) in text.match_indices(secret.as_str()) {
                found.add("secret", start..start + secret.len());
            }
        }
        for pattern in &self.patterns {
            for it in pattern.regex().find_iter(text) {
                found.add_unless_example(shapes::BY_PATTERN, it.range());
            }
        }
        shapes::find(text, |kind, at| found.add_unless_example(kind, at));
        if assigned {
            for it in ASSIGNED_PATTERN.captures_iter(text) {
                let value = ["double", "single", "bare"]
                    .iter()
                    .find_map(|name| it.name(name));
                if let Some(value) = value.filter(|_| shapes::is_secret_key(&it["key"])) {
                    found.add_by_key(value.range());
                }
            }
        }
        found.sorted()
    }

    /// The secrets in a JSON text, strings judged by the key they stand under; `None` when it is no JSON.
    pub fn json(&self, text: &str) -> Option<Vec<Spotted>> {
        serde_json::from_str::<IgnoredAny>(text).ok()?;
        let mut found = Vec::new();
        let mut key: Option<String> = None;
        let mut from = 0;
        while let Some(raw) = next_string(text, from) {
            let behind = text[raw.end + 1..].trim_start();
            from = raw.end + 1;
            let written = &text[raw.clone()];
            let quoted = &text[raw.start - 1..=raw.end];
            let value: String = serde_json::from_str(quoted).unwrap_or_default();
            let before = text[..raw.start - 1].trim_end();
            let under = key.take().filter(|_| before.ends_with(':'));
            let mut spotted = self.text(&value, false);
            if spotted.is_empty() && under.as_deref().is_some_and(shapes::is_secret_key) {
                let mut by_key = Found::of(&value);
                by_key.add_by_key(0..value.len());
                spotted = by_key.sorted();
            }
            let mut searched = 0;
            for it in spotted {
                // Escapes make the two differ in length; a secret that holds some stands at the start of its string.
                let at = match written[searched..].find(&value[it.at.clone()]) {
                    Some(start) => {
                        let start = searched + start;
                        searched = start + it.at.len();
                        raw.start + start..raw.start + searched
                    }
                    None => raw.clone(),
                };
                found.push(Spotted { at, ..it });
            }
            if behind.starts_with(':') {
                key = Some(value);
            }
        }
        Some(found)
    }
}

/// The inside of the next string of a valid JSON text.
fn next_string(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text[from..].find('"')? + 1;
    let mut escaped = false;
    let end = text[start..].bytes().position(|it| {
        let ends = it == b'"' && !escaped;
        escaped = it == b'\\' && !escaped;
        ends
    })?;
    Some(start..start + end)
}

/// What was found so far in a text, each place once.
struct Found<'t> {
    text: &'t str,
    /// Where placeholders stand, in order.
    hidden: Vec<Range<usize>>,
    /// By where they start; none overlaps another.
    all: BTreeMap<usize, Spotted>,
}

impl<'t> Found<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            hidden: shapes::placeholders(text).collect(),
            all: BTreeMap::new(),
        }
    }

    fn add(&mut self, kind: &'static str, at: Range<usize>) {
        let before = self.all.range(..at.end).next_back();
        if at.is_empty() || before.is_some_and(|(_, it)| at.start < it.at.end) {
            return;
        }
        let masked = masked(&self.text[at.clone()]);
        self.all.insert(at.start, Spotted { kind, at, masked });
    }

    fn add_unless_example(&mut self, kind: &'static str, at: Range<usize>) {
        let next = self.hidden.partition_point(|it| it.end <= at.start);
        let is_hidden = self.hidden.get(next).is_some_and(|it| it.start < at.end);
        if !is_hidden && !is_example(&self.text[at.clone()]) {
            self.add(kind, at);
        }
    }

    /// A value under a key that names a secret: not prose, nor a small number.
    fn add_by_key(&mut self, at: Range<usize>) {
        let (scheme, secret) = shapes::credentials(&self.text[at.clone()]);
        let is_small = secret.len() < 6 && secret.bytes().all(|it| it.is_ascii_digit());
        if shapes::is_secret_value(secret) && !is_small && !secret.contains(char::is_whitespace) {
            let kind = shapes::kind_of(secret);
            self.add_unless_example(kind, at.start + scheme.len()..at.end);
        }
    }

    fn sorted(self) -> Vec<Spotted> {
        self.all.into_values().collect()
    }
}

/// Enough of a secret to know it again: of a long one its first four characters, of a short one nothing.
fn masked(secret: &str) -> String {
    let length = secret.chars().count();
    let shown = if length >= 16 { 4 } else { 0 };
    let start: String = secret.chars().take(shown).collect();
    format!("{start}… ({length} characters)")
}
