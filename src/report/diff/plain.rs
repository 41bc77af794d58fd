//! Values and texts that have nothing beside them, or nothing to be compared with.

use serde_json::Value;

use super::lines::{Diff, Line, Piece, Row};
use super::tree::Tree;
use super::value_lines::written;

/// The most lines of a value or a text that has nothing beside it.
pub(super) const ALONE: usize = 300;
/// The most characters of a text that has nothing beside it.
const ALONE_CHARS: usize = 16_000;

/// Two things that cannot be compared: all of one went, and all of the other came.
pub fn unlike(was: Diff, now: Diff, calm: bool) -> Diff {
    let lines = |diff: Diff| {
        diff.rows.into_iter().filter_map(|it| match it {
            Row::Same(line) => Some(line),
            _ => None,
        })
    };
    let is_cut = was.is_cut || now.is_cut;
    let (mut was, mut now) = (lines(was), lines(now));
    let row = || {
        let (was, now) = (was.next(), now.next());
        (was.is_some() || now.is_some()).then_some(Row::Changed {
            was,
            now,
            calm,
            note: None,
        })
    };
    Diff {
        rows: std::iter::from_fn(row).collect(),
        changes: usize::from(!calm),
        varying: usize::from(calm),
        is_cut,
        unseen: 0,
        is_text: false,
    }
}

/// A JSON value that has nothing beside it.
pub fn plain_json(value: &Value) -> Diff {
    let mut lines = Vec::new();
    let is_cut = written(&Tree::new(value), 0, &[], ALONE, &mut lines);
    Diff {
        rows: lines.into_iter().map(Row::Same).collect(),
        is_cut,
        ..Diff::default()
    }
}

/// A text that has nothing beside it.
pub fn plain_text(text: &str) -> Diff {
    let end = text.char_indices().nth(ALONE_CHARS).map(|(at, _)| at);
    let shown = &text[..end.unwrap_or(text.len())];
    let mut lines = shown.split('\n');
    let rows = lines.by_ref().take(ALONE).map(|it| {
        let pieces = match it {
            "" => Vec::new(),
            it => vec![Piece::plain(it)],
        };
        Row::Same(Line {
            pieces,
            ..Line::default()
        })
    });
    Diff {
        rows: rows.collect(),
        is_cut: end.is_some() || lines.next().is_some(),
        ..Diff::default()
    }
}
