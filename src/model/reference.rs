//! References to earlier answers, as scripts write them: `{{calls.0.json:/id}}`, `{{calls.0.text}}` and `{{calls.0.text:key=(\w+)}}`.

use std::ops::Range;

use regex::Regex;

/// At how many places a regular expression may seem to end.
const MOST_ENDS: usize = 32;

/// A reference to a part of an earlier answer.
#[derive(Debug, Clone)]
pub struct Reference<'t> {
    /// As it is written, braces included.
    pub whole: &'t str,
    /// The call, counted from 0.
    pub call: usize,
    pub part: Part<'t>,
}

/// What of an answer is meant.
#[derive(Debug, Clone)]
pub enum Part<'t> {
    /// What a JSON Pointer (RFC 6901) leads to.
    Json(&'t str),
    /// The whole text.
    Text,
    /// What a regular expression finds in the text.
    Found(Regex),
}

/// What begins like a reference and is none.
#[derive(Debug, Clone)]
pub struct NoReference<'t> {
    /// As it is written, braces included.
    pub whole: &'t str,
    pub flaw: Flaw<'t>,
}

/// Why something is no reference.
#[derive(Debug, Clone)]
pub enum Flaw<'t> {
    /// No `}}` closes it.
    Open,
    /// What should be a regular expression, and why it is none.
    Pattern(&'t str, String),
    /// It is built otherwise.
    Form,
}

impl<'t> Reference<'t> {
    /// Reads what a text begins with; `None` where that does not even begin like a reference.
    pub fn read(text: &'t str) -> Option<Result<Self, NoReference<'t>>> {
        let inner = text.strip_prefix("{{")?;
        let named = inner.trim_start().strip_prefix("calls.")?;
        let Some(mut end) = named.find("}}") else {
            let (whole, flaw) = (text, Flaw::Open);
            return Some(Err(NoReference { whole, flaw }));
        };
        let (number, part) = named[..end].split_once('.').unwrap_or_default();
        let is_number = number.bytes().all(|it| it.is_ascii_digit());
        let call = number.parse::<usize>().ok().filter(|_| is_number);
        let part = match part.split_once(':') {
            None if part.trim_end() == "text" => Ok(Part::Text),
            Some(("json", it)) if it.trim().is_empty() || it.starts_with('/') => {
                Ok(Part::Json(it.trim_end()))
            }
            Some(("text", it)) => {
                let pattern = &named[end - it.len()..];
                let (length, compiled) = expression(pattern);
                end += length - it.len();
                compiled.map(Part::Found).map_err(|error| {
                    // The message draws the pattern with a caret; its last line says what is wrong.
                    let error = error.to_string();
                    let reason = error.lines().last().unwrap_or_default();
                    let reason = reason.trim_start_matches("error: ").to_owned();
                    Flaw::Pattern(pattern[..length].trim_end(), reason)
                })
            }
            _ => Err(Flaw::Form),
        };
        let whole = &text[..text.len() - named.len() + end + 2];
        let read = part.and_then(|part| {
            let call = call.ok_or(Flaw::Form)?;
            Ok(Self { whole, call, part })
        });
        Some(read.map_err(|flaw| NoReference { whole, flaw }))
    }

    /// All of a text that are not within the values of variables, each with where it begins.
    pub fn all(text: &'t str, of_variables: &[Range<usize>]) -> Vec<(usize, Self)> {
        let mut all = Vec::new();
        for (start, piece) in between(text, of_variables) {
            let mut from = 0;
            while let Some(at) = piece[from..].find("{{") {
                from += at;
                let read = Self::read(&piece[from..]);
                let length = match &read {
                    Some(Ok(Self { whole, .. }) | Err(NoReference { whole, .. })) => whole.len(),
                    None => 1,
                };
                all.extend(read.and_then(Result::ok).map(|it| (start + from, it)));
                from += length;
            }
        }
        all
    }
}

/// The regular expression that a text begins with, and its length. It ends before the first `}}` where its own braces are balanced, or else
/// where it is a regular expression at all.
fn expression(text: &str) -> (usize, Result<Regex, regex::Error>) {
    let first = text.find("}}").unwrap_or_default();
    // The next reference is no part of it.
    let next = text[first..].find("{{").map_or(text.len(), |it| first + it);
    let pairs = text.as_bytes()[..next].windows(2).enumerate();
    let ends = pairs.filter(|(_, it)| *it == b"}}").map(|(end, _)| end);
    let ends: Vec<usize> = ends.take(MOST_ENDS).collect();
    let balanced = ends.iter().copied().find(|it| is_balanced(&text[..*it]));
    let mut tried = balanced
        .into_iter()
        .chain(ends)
        .map(|end| (end, Regex::new(text[..end].trim_end())));
    let likely = tried.next().expect("braces follow it");
    if likely.1.is_ok() {
        return likely;
    }
    tried.find(|(_, it)| it.is_ok()).unwrap_or(likely)
}

/// Whether each brace has its counterpart.
fn is_balanced(text: &str) -> bool {
    let open = text.bytes().try_fold(0_usize, |open, it| match it {
        b'{' => Some(open + 1),
        b'}' => open.checked_sub(1),
        _ => Some(open),
    });
    open == Some(0)
}

/// The pieces of a text that are not within these ranges, each with where it begins.
fn between<'t>(text: &'t str, ranges: &[Range<usize>]) -> impl Iterator<Item = (usize, &'t str)> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|it| it.end));
    let ends = ranges.iter().map(|it| it.start).chain([text.len()]);
    starts
        .zip(ends)
        .filter_map(|(start, end)| Some((start, text.get(start..end)?)))
}
