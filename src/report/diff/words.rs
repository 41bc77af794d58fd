//! Two texts: which lines belong together, and which words of either the other lacks.

use model::text::aligned::{self, aligned};
use model::text::word_diff::word_diff;

use super::lines::{Piece, PieceKind};

/// The most pairs of lines whose likeness is looked at in one stretch.
const STRETCH: usize = 900;
/// The longest line whose words are compared with those of others, in bytes.
const LIKENED: usize = 2_000;
/// The longest stretch of equal words between two changes that is shown in full, in characters.
const EQUAL: usize = 160;
/// How much of a longer one is shown at either end.
const EQUAL_END: usize = 64;
/// The longest stretch of changed words that is shown in full, in characters.
const CHANGED: usize = 600;
/// How much of a longer one is shown at either end.
const CHANGED_END: usize = 240;

/// Lines of both sides that belong together, in order.
pub(super) enum Lines<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
    Reworded(&'a str, &'a str),
}

/// The lines of two texts.
pub(super) fn lines<'a>(was: &'a str, now: &'a str) -> Vec<Lines<'a>> {
    let was: Vec<&str> = was.split('\n').collect();
    let now: Vec<&str> = now.split('\n').collect();
    let ends = (was.len(), now.len());
    let (mut left, mut right) = (0, 0);
    let mut all = Vec::new();
    for (a, b) in aligned(&was, &now).into_iter().chain([ends]) {
        stretch(&was[left..a], &now[right..b], &mut all);
        if (a, b) != ends {
            all.push(Lines::Same(was[a]));
        }
        (left, right) = (a + 1, b + 1);
    }
    all
}

/// Lines between two that are equal: those that share most of their words are one line, reworded.
fn stretch<'a>(was: &[&'a str], now: &[&'a str], all: &mut Vec<Lines<'a>>) {
    let pairs = match (was, now) {
        ([_], [_]) => vec![(0, 0)],
        _ if was.len().saturating_mul(now.len()) <= STRETCH => likeliest(was, now),
        _ if was.len() == now.len() => (0..was.len()).map(|it| (it, it)).collect(),
        _ => Vec::new(),
    };
    let ends = (was.len(), now.len());
    let (mut left, mut right) = (0, 0);
    for (a, b) in pairs.into_iter().chain([ends]) {
        all.extend(was[left..a].iter().map(|it| Lines::Gone(it)));
        all.extend(now[right..b].iter().map(|it| Lines::New(it)));
        if (a, b) != ends {
            all.push(Lines::Reworded(was[a], now[b]));
        }
        (left, right) = (a + 1, b + 1);
    }
}

/// The pairs of lines, in order, that share most words.
fn likeliest(was: &[&str], now: &[&str]) -> Vec<(usize, usize)> {
    let words = |it: &'_ &'_ str| -> Vec<String> {
        let short = it.get(..LIKENED).unwrap_or(it);
        let words = short.split_whitespace().take(LIKENED / 10);
        words.map(ToOwned::to_owned).collect()
    };
    let (left, right): (Vec<_>, Vec<_>) = (
        was.iter().map(words).collect(),
        now.iter().map(words).collect(),
    );
    aligned::likeliest(left.len(), right.len(), |row, column| {
        let (a, b) = (&left[row], &right[column]);
        let shared = b.iter().filter(|it| a.contains(it)).count();
        // Lines that share less than a third of their words are not one line.
        let is_one = shared > 0 && shared * 3 >= a.len().max(b.len());
        let shared = u32::try_from(shared).unwrap_or(u32::MAX);
        if is_one { f64::from(shared) } else { 0.0 }
    })
}

/// The pieces of two lines, those marked that the other lacks; without marks where they have nothing in common.
pub(super) fn pieces(was: &str, now: &str) -> [Vec<Piece>; 2] {
    let both = word_diff(was, now);
    let is_shared =
        (both.iter().flatten()).any(|it| !it.marked && it.text.chars().any(char::is_alphanumeric));
    if !is_shared {
        return [was, now].map(|it| shortened(it, PieceKind::Plain));
    }
    both.map(|pieces| {
        let pieces = pieces.into_iter().flat_map(|it| {
            let kind = if it.marked {
                PieceKind::Marked
            } else {
                PieceKind::Plain
            };
            shortened(&it.text, kind)
        });
        pieces.collect()
    })
}

/// The pieces of two values, of which at least something is marked: all, where they have nothing in common.
pub(super) fn value_pieces(was: &str, now: &str) -> [Vec<Piece>; 2] {
    let both = pieces(was, now);
    if both.iter().flatten().any(|it| it.kind == PieceKind::Marked) {
        return both;
    }
    [was, now].map(|it| shortened(it, PieceKind::Marked))
}

/// A piece, without its middle where it is long.
pub(super) fn shortened(text: &str, kind: PieceKind) -> Vec<Piece> {
    let (longest, end) = match kind {
        PieceKind::Marked => (CHANGED, CHANGED_END),
        _ => (EQUAL, EQUAL_END),
    };
    let piece = |text: &str| Piece {
        text: text.to_owned(),
        kind,
    };
    if text.is_empty() {
        return Vec::new();
    }
    if text.char_indices().nth(longest).is_none() {
        return vec![piece(text)];
    }
    let from = text.char_indices().nth(end).map_or(0, |(at, _)| at);
    let to = text.char_indices().nth_back(end - 1);
    let to = to.map_or(text.len(), |(at, _)| at);
    vec![
        piece(&text[..from]),
        Piece::left_out(to - from),
        piece(&text[to..]),
    ]
}
