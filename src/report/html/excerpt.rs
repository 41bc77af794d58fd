//! A long text as a page shows it: in lines, those marked that the other side does not have, and cut where it is too long.

use std::collections::HashSet;

use crate::report::bytes;
use crate::text::word_diff::{Piece, word_diff};

/// The most characters of one text that a page shows.
const SHOWN_CHARS: usize = 16_000;

/// The longest other side that is searched for what to mark, in bytes.
const SEARCHED_BYTES: usize = 1_000_000;

/// A text for display.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    /// Pieces in order; concatenated they are the text.
    pub(super) pieces: Vec<Piece>,
    /// A remark on what is left out, where the text was cut.
    pub(super) cut: Option<String>,
}

impl Excerpt {
    /// The text without any marks. `whole` says where the whole text is, for a text that is cut.
    pub(super) fn plain(text: &str, whole: Option<&str>) -> Self {
        let (shown, cut) = cut(text, whole);
        Self {
            pieces: pieces([(shown, false)]),
            cut,
        }
    }

    /// Leaves the first so many characters; returns how many bytes they are, or `None` where there are no more of them.
    pub(super) fn begin_with(&mut self, characters: usize) -> Option<usize> {
        let mut left = characters;
        let mut kept = Vec::new();
        let mut is_cut = false;
        for mut piece in std::mem::take(&mut self.pieces) {
            if let Some((end, _)) = piece.text.char_indices().nth(left) {
                piece.text.truncate(end);
                is_cut = true;
            }
            left -= piece.text.chars().count();
            if !piece.text.is_empty() {
                kept.push(piece);
            }
        }
        self.pieces = kept;
        is_cut.then(|| self.pieces.iter().map(|it| it.text.len()).sum())
    }

    /// The text with marks on what `other` does not have: on lines, or on words when both are one line.
    ///
    /// Where a line stands does not matter, so that reordered JSON members are not marked.
    pub(super) fn against(text: &str, other: &str, whole: Option<&str>) -> Self {
        if other.len() > SEARCHED_BYTES {
            return Self::plain(text, whole);
        }
        let (shown, cut) = cut(text, whole);
        let pieces = if text.contains('\n') || other.contains('\n') {
            let known: HashSet<&str> = other.lines().map(bare).collect();
            pieces(shown.split_inclusive('\n').flat_map(|line| {
                // Indentation is never marked, because a mark on blanks shows nothing.
                let text = line.trim_start_matches(' ');
                let indentation = &line[..line.len() - text.len()];
                [(indentation, false), (text, !known.contains(bare(text)))]
            }))
        } else {
            let [own, _] = word_diff(shown, other);
            own
        };
        Self { pieces, cut }
    }

    /// Two long texts side by side, each with marks on the words the other lacks, cut where they are too long.
    pub(super) fn beside(was: &str, now: &str) -> [Self; 2] {
        let [(was, cut_was), (now, cut_now)] = [cut(was, None), cut(now, None)];
        let [left, right] = word_diff(was, now);
        [(left, cut_was), (right, cut_now)].map(|(pieces, cut)| Self { pieces, cut })
    }

    /// Two texts side by side, each with marks on the words the other lacks; without marks where they have nothing in common.
    pub(super) fn versus(was: Option<&str>, now: Option<&str>) -> [Option<Self>; 2] {
        let of = |pieces| Self { pieces, cut: None };
        if let (Some(was), Some(now)) = (was, now) {
            let both = word_diff(was, now);
            let is_context = |it: &Piece| !it.marked && it.text.chars().any(char::is_alphanumeric);
            if both.iter().flatten().any(is_context) {
                return both.map(|pieces| Some(of(pieces)));
            }
        }
        [was, now].map(|text| Some(of(pieces([(text?, false)]))))
    }
}

/// A line as it is compared: without indentation, and without the comma that depends on its place.
fn bare(line: &str) -> &str {
    line.trim().trim_end_matches(',')
}

/// Joins neighbours that are marked alike.
fn pieces<'a>(parts: impl IntoIterator<Item = (&'a str, bool)>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (text, marked) in parts.into_iter().filter(|(text, _)| !text.is_empty()) {
        match pieces.last_mut() {
            Some(last) if last.marked == marked => last.text.push_str(text),
            _ => pieces.push(Piece {
                text: text.to_owned(),
                marked,
            }),
        }
    }
    pieces
}

fn cut<'a>(text: &'a str, whole: Option<&str>) -> (&'a str, Option<String>) {
    let Some((end, _)) = text.char_indices().nth(SHOWN_CHARS) else {
        return (text, None);
    };
    let place = match whole {
        Some(file) => format!("; the whole is in {file}"),
        None => String::new(),
    };
    let remark = format!(
        "The first {} of {}{place}.",
        bytes::words(end),
        bytes::words(text.len())
    );
    (&text[..end], Some(remark))
}
