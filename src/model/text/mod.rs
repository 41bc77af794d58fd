//! Texts from outside made safe to look at: what would act on a terminal or reorder a line becomes visible.
//!
//! Names, messages and answers come from servers and models. An escape sequence in them could recolour, move or
//! overwrite what the terminal shows, and a bidirectional override could make a line read otherwise than it is.

pub mod aligned;
mod counted;
pub mod dotenv;
pub mod nearest;
pub mod word_diff;

use std::borrow::Cow;
use std::fmt::{self, Write};

pub use self::counted::{counts, few, plural, several};

/// How many of its last lines something is quoted with that has failed.
const LAST_LINES: usize = 20;

/// Stands for any number.
pub const NUMBER: char = '#';

/// A text with its numbers masked: what differs in numbers alone is one.
pub fn masked(text: &str) -> String {
    let mut plain = String::new();
    for it in text.chars() {
        if !it.is_ascii_digit() {
            plain.push(it);
        } else if !plain.ends_with(NUMBER) {
            plain.push(NUMBER);
        }
    }
    plain
}

/// The last lines of an output, under a heading.
pub fn last_words(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().collect();
    if lines.is_empty() {
        return vec!["it has said nothing".to_owned()];
    }
    let last = lines.into_iter().rev().take(LAST_LINES).rev();
    let last = std::iter::once("its last lines:").chain(last);
    last.map(str::to_owned).collect()
}

/// The text on one line, every control or invisible formatting character replaced by a visible sign.
///
/// A line break becomes `\n`, anything without a short form its code point: `\u{1b}`.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, is_hidden)
}

/// The same for a text of several lines: line breaks and tabs stay.
pub fn block(text: &str) -> Cow<'_, str> {
    replaced(text, |it| is_hidden(it) && it != '\n' && it != '\t')
}

/// Writes the sign for a hidden character.
pub fn write_sign(mut out: impl Write, hidden: char) -> fmt::Result {
    match hidden {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        other => write!(out, "\\u{{{:x}}}", u32::from(other)),
    }
}

/// Whether a character acts on a terminal or changes how its neighbours read, without being seen itself.
pub fn is_hidden(it: char) -> bool {
    it.is_control()
        || matches!(
            it,
            // Bidirectional marks, embeddings, overrides and isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line breaks beyond ASCII.
            | '\u{2028}' | '\u{2029}'
            // Nothing to see at all. The joiners are left out: scripts and emoji need them.
            | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            // Tags: a whole invisible alphabet.
            | '\u{e0000}'..='\u{e007f}'
        )
}

/// The first `limit` characters and an ellipsis, or the whole text when it is no longer.
pub fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The beginning of a text that may hold secrets, with at most `limit` characters and an ellipsis, or the whole text when it is no longer.
///
/// No word is cut, and what stands between quotes is a word: of a part of a secret, nobody knows that it is one.
pub fn beginning(text: &str, limit: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return Cow::Borrowed(text);
    };
    let ends_word = |it: char| it.is_whitespace() || matches!(it, '"' | '\'' | '`' | '<' | '>');
    let kept = if text[end..].starts_with(ends_word) {
        &text[..end]
    } else {
        let last = text[..end].rfind(ends_word);
        last.map_or("", |it| &text[..it])
    };
    Cow::Owned(format!("{kept}…"))
}

fn replaced(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len() + 16);
    for it in text.chars() {
        if hidden(it) {
            // Writing to a string cannot fail.
            let _ = write_sign(&mut seen, it);
        } else {
            seen.push(it);
        }
    }
    Cow::Owned(seen)
}
