//! A long text as a page shows it: in lines, those marked that the other side does not have, and cut where it is too long.

use super::sides::Sides;
use crate::bytes;
use crate::diff::{Diff, Line, PieceKind, Row};
use askama::Template;
use model::text::word_diff::{Piece, word_diff};

/// The most characters of one text that a page shows.
const SHOWN_CHARS: usize = 16_000;

/// How much is shown before the first mark of a text that is cut around it.
const BEFORE_MARK: usize = 1_000;

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

/// Something that differs, with what either side has there.
#[derive(Debug)]
pub(super) struct Versus<T> {
    pub(super) difference: T,
    pub(super) was: Option<Excerpt>,
    pub(super) now: Option<Excerpt>,
}

impl<T> Versus<T> {
    pub(super) fn new(difference: T, was: Option<&str>, now: Option<&str>) -> Self {
        let [was, now] = Excerpt::versus(was, now);
        Self {
            difference,
            was,
            now,
        }
    }
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

    /// Whether it takes so little room that nobody has to scroll in it.
    pub(super) fn is_short(&self) -> bool {
        let characters = self.pieces.iter().map(|it| it.text.len()).sum();
        self.cut.is_none() && is_short(1, characters)
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

    /// Two long texts side by side, each with marks on the words the other lacks, cut where they are too long.
    pub(super) fn beside(was: &str, now: &str) -> [Self; 2] {
        if was.len() > SEARCHED_BYTES || now.len() > SEARCHED_BYTES {
            return [was, now].map(|it| Self::plain(it, None));
        }
        word_diff(was, now).map(|pieces| Self::around_mark(pieces, None))
    }

    /// What was compared as a whole, and is cut only then: around the first mark where it is too long.
    fn around_mark(pieces: Vec<Piece>, whole: Option<&str>) -> Self {
        let characters = |it: &Piece| it.text.chars().count();
        let all: usize = pieces.iter().map(characters).sum();
        if all <= SHOWN_CHARS {
            return Self { pieces, cut: None };
        }
        let before_mark = pieces.iter().take_while(|it| !it.marked).map(characters);
        let mark: usize = before_mark.sum();
        let from = if mark < all && mark > SHOWN_CHARS / 2 {
            mark - BEFORE_MARK
        } else {
            0
        };
        let bytes_of = |pieces: &[Piece]| pieces.iter().map(|it| it.text.len()).sum::<usize>();
        let size = bytes_of(&pieces);
        let mut it = Self { pieces, cut: None };
        it.skip(from);
        it.begin_with(SHOWN_CHARS);
        let shown = bytes::words(bytes_of(&it.pieces));
        it.cut = Some(if from == 0 {
            remark(&format!("The first {shown}"), size, whole)
        } else {
            remark(&format!("{shown} around the first difference"), size, whole)
        });
        it
    }

    /// Leaves out the first so many characters.
    fn skip(&mut self, characters: usize) {
        let mut left = characters;
        self.pieces.retain_mut(|piece| {
            let rest = piece.text.char_indices().nth(left).map(|it| it.0);
            let count = piece.text.chars().count();
            left = left.saturating_sub(count);
            if let Some(at) = rest {
                piece.text.drain(..at);
            }
            rest.is_some()
        });
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

/// The most lines that are seen at once, also on a narrow screen, and how many characters one has there.
const SEEN: usize = 15;
const NARROW: usize = 40;

/// Whether lines of so many characters together are seen at once. What has to be scrolled must be reached by keys, and have a name.
fn is_short(lines: usize, characters: usize) -> bool {
    lines + characters / NARROW <= SEEN
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
    let first = format!("The first {}", bytes::words(end));
    (&text[..end], Some(remark(&first, text.len(), whole)))
}

/// What is shown of how much, and where the whole is.
fn remark(shown: &str, size: usize, whole: Option<&str>) -> String {
    let place = whole.map_or_else(String::new, |file| format!("; the whole is in {file}"));
    format!("{shown} of {}{place}.", bytes::words(size))
}

/// The lines of a difference.
#[derive(Template)]
#[template(path = "scenario/diff.html")]
pub(super) struct DiffTemplate<'a> {
    diff: &'a Diff,
    label: &'a str,
    is_beside: bool,
    sides: &'a Sides,
}

impl<'a> DiffTemplate<'a> {
    pub(super) fn new(diff: &'a Diff, label: &'a str, is_beside: bool, sides: &'a Sides) -> Self {
        Self {
            diff,
            label,
            is_beside,
            sides,
        }
    }

    /// Its lines, where it is no more than a text that is shown once.
    fn plain_lines(&self) -> Option<Vec<&'a Line>> {
        let plain = |row: &'a Row| match row {
            Row::Same(line) => Some(line),
            _ => None,
        };
        let lines = self.diff.rows.iter().map(plain);
        if self.is_beside {
            None
        } else {
            lines.collect()
        }
    }

    /// Whether nobody has to scroll in it.
    fn is_short(&self) -> bool {
        let lines = self.plain_lines().unwrap_or_default();
        let characters = |it: &&Line| 2 * it.indent + it.text().len();
        is_short(lines.len(), lines.iter().map(characters).sum())
    }
}
