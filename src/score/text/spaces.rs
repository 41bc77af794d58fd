//! White space of two texts whose tokens match: it is data.

use std::collections::HashSet;
use std::ops::Range;

use super::token::{Token, position};

/// Two texts in tokens, and which stand for which: the recorded ones, the current ones, and whether they may vary.
pub(super) struct Aligned<'a> {
    pub(super) b: &'a str,
    pub(super) c: &'a str,
    pub(super) recorded: &'a [Token<'a>],
    pub(super) current: &'a [Token<'a>],
    pub(super) matches: Vec<(Range<usize>, Range<usize>, bool)>,
}

/// A difference, and where it is in each of the texts, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) what: What,
    pub(crate) b: usize,
    pub(crate) c: usize,
}

/// What a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// What did not vary is another.
    Changed,
    /// What varies is as it never was.
    Never(&'static str),
    /// It is shown, and passes.
    Shown(&'static str),
    /// The same of a time that moved.
    Moved(&'static str),
}

const SHOWN: What = What::Shown("white space changed");

/// What white space differs in: at most one thing that fails, or one that is shown.
pub(super) fn compare(texts: &Aligned<'_>, is_leaf: bool, pads: bool) -> Option<Found> {
    if texts.b == texts.c {
        return None;
    }
    if pads {
        let lines = |text: &str| text.lines().filter(|it| !it.trim().is_empty()).count();
        let is_joined = lines(texts.b) > 1 && lines(texts.c) == 1;
        let what = if is_joined { What::Changed } else { SHOWN };
        return (is_joined || differs_beside_varying(texts)).then_some(Found { what, b: 0, c: 0 });
    }
    let mut worst: Option<Found> = None;
    let quiet = lines_with_varying(texts);
    let mut before: Option<&(Range<usize>, Range<usize>, bool)> = None;
    let mut line = 0;
    let mut begins_line = true;
    for it in &texts.matches {
        let gaps = match before {
            Some(last) if last.0.is_empty() || last.1.is_empty() => None,
            _ => Some((
                before_token(texts.b, texts.recorded, it.0.start),
                before_token(texts.c, texts.current, it.1.start),
            )),
        };
        let is_there = !it.0.is_empty() && !it.1.is_empty();
        if let Some((b, c)) = gaps.filter(|_| is_there) {
            let is_marker = before.is_some_and(|last| {
                begins_line && matches!(texts.recorded[last.0.end - 1].text, "+" | "-")
            });
            begins_line = before.is_none() || b.contains('\n');
            let ended = line;
            line += b.matches('\n').count();
            let is_quiet = quiet.contains(&ended) || quiet.contains(&line);
            let what = match before {
                None => gap(&format!("\n{b}"), &format!("\n{c}"), is_leaf, false),
                Some(_) => gap(b, c, is_leaf, is_marker),
            };
            let is_split = b.contains('\n') != c.contains('\n');
            if let Some(what) = what.filter(|_| !is_quiet || is_split) {
                let at =
                    |text: &str, of: &[Token<'_>], token: usize| position(text, of[token].text);
                let found = Found {
                    what,
                    b: at(texts.b, texts.recorded, it.0.start),
                    c: at(texts.c, texts.current, it.1.start),
                };
                if what == What::Changed {
                    return Some(found);
                }
                worst.get_or_insert(found);
            }
        }
        before = Some(it);
    }
    worst.or_else(|| at_the_end(texts, is_leaf))
}

/// What comes after the last token.
fn at_the_end(texts: &Aligned<'_>, is_leaf: bool) -> Option<Found> {
    let (b, c) = (
        after_last(texts.b, texts.recorded),
        after_last(texts.c, texts.current),
    );
    let is_blank = texts.recorded.is_empty();
    let what = if is_blank && is_leaf {
        What::Changed
    } else {
        SHOWN
    };
    (b != c).then_some(Found {
        what,
        b: texts.b.len() - b.len(),
        c: texts.c.len() - c.len(),
    })
}

/// How the white space between two tokens differs.
fn gap(b: &str, c: &str, is_leaf: bool, is_indent: bool) -> Option<What> {
    if b == c {
        return None;
    }
    let (b, c) = (b.replace("\r\n", "\n"), c.replace("\r\n", "\n"));
    if b == c {
        return Some(SHOWN);
    }
    let (b_line, c_line) = (b.rfind('\n'), c.rfind('\n'));
    let has_tab = |it: &str| it.contains('\t');
    let is_changed = is_leaf
        || b_line.is_some() != c_line.is_some()
        || match (b_line, c_line) {
            (Some(of_b), Some(of_c)) => b[of_b..] != c[of_c..],
            _ => is_indent || b.is_empty() != c.is_empty() || has_tab(&b) != has_tab(&c),
        };
    Some(if is_changed { What::Changed } else { SHOWN })
}

/// The lines of the recorded text in which a token varies.
fn lines_with_varying(texts: &Aligned<'_>) -> HashSet<usize> {
    let mut lines = HashSet::new();
    let mut line = 0;
    for (recorded, _, varies) in &texts.matches {
        for token in recorded.clone() {
            if token > 0 {
                let before = before_token(texts.b, texts.recorded, token);
                line += before.matches('\n').count();
            }
            if *varies {
                lines.insert(line);
            }
        }
        if recorded.is_empty() && *varies {
            lines.insert(line);
        }
    }
    lines
}

/// Whether, in a text that is padded, white space differs anywhere but on lines in which a token varies.
fn differs_beside_varying(texts: &Aligned<'_>) -> bool {
    let quiet = lines_with_varying(texts);
    let b: Vec<&str> = texts.b.lines().collect();
    let c: Vec<&str> = texts.c.lines().collect();
    let blanks = |line: &str| -> Vec<String> {
        let runs = line.split(|it: char| !it.is_whitespace());
        runs.filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    b.len() != c.len()
        || (0..b.len()).any(|at| !quiet.contains(&at) && blanks(b[at]) != blanks(c[at]))
}

fn before_token<'a>(text: &'a str, tokens: &[Token<'_>], at: usize) -> &'a str {
    let Some(token) = tokens.get(at) else {
        return "";
    };
    let start = position(text, token.text);
    let from = at.checked_sub(1).map_or(0, |it| {
        position(text, tokens[it].text) + tokens[it].text.len()
    });
    text.get(from..start).unwrap_or_default()
}

fn after_last<'a>(text: &'a str, tokens: &[Token<'_>]) -> &'a str {
    let from = tokens
        .last()
        .map_or(0, |it| position(text, it.text) + it.text.len());
    text.get(from..).unwrap_or_default()
}
