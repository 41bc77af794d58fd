//! Long texts cut down to what may matter to a judge: how they begin and end, and the places around words that are talked about elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

/// How much is kept around a word, in bytes, on either side.
const AROUND: usize = 160;
/// How often the places of one word are kept.
const PLACES: usize = 2;
/// The shortest word that is looked for, unless a digit is in it.
const SHORTEST: usize = 4;
/// The most words that are looked for.
const MOST_WORDS: usize = 400;

/// The words that are talked about.
#[derive(Debug, Clone, Default)]
pub(super) struct Words(BTreeSet<String>);

impl Words {
    /// Adds those of a text.
    pub(super) fn add(&mut self, text: &str) {
        let parts = text.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
        for word in parts {
            let has_digit = word.contains(|it: char| it.is_ascii_digit());
            if self.0.len() < MOST_WORDS
                && (word.len() >= SHORTEST || has_digit && word.len() >= 2)
                && word.len() <= AROUND
            {
                self.0.insert(word.to_ascii_lowercase());
            }
        }
    }
}

/// The longest that each of several texts may be so that together they are no longer than `most`: short ones leave their room to long ones.
pub(super) fn fair_share(lengths: &[usize], most: usize) -> usize {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let mut left = most;
    for (index, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// A text of at most about `most` bytes: its beginning, its end, and what stands around the words in between, the rarest first. What is
/// left out is said.
pub(super) fn shortened(text: &str, most: usize, words: &Words) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = snap(text, most / 3);
    let tail = snap(text, text.len() - most / 6);
    let mut kept = vec![0..head, tail..text.len()];
    let mut left = most - most / 3 - most / 6;
    // As long as the text, so that places in one are places in the other.
    let lower = text.to_ascii_lowercase();
    let mut by_rarity: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (number, word) in words.0.iter().enumerate() {
        let places = lower.match_indices(word.as_str()).map(|(at, _)| at);
        let count = places.clone().take(1000).count();
        let between = places.filter(|at| (head..tail).contains(at)).take(PLACES);
        let between: Vec<usize> = between.collect();
        if !between.is_empty() {
            by_rarity.insert((count, number), between);
        }
    }
    for at in by_rarity.into_values().flatten() {
        let around = snap(text, at.saturating_sub(AROUND))..snap(text, (at + AROUND).min(tail));
        if kept
            .iter()
            .any(|it| it.start <= at && at + SHORTEST <= it.end)
        {
            continue;
        }
        if around.len() > left {
            break;
        }
        left -= around.len();
        kept.push(around);
    }
    joined(text, kept)
}

/// The pieces of a text in their order, with a note where something is left out between them.
fn joined(text: &str, mut pieces: Vec<Range<usize>>) -> String {
    pieces.sort_unstable_by_key(|it| (it.start, it.end));
    let mut shown = String::new();
    let mut end = 0;
    for piece in pieces {
        let start = piece.start.max(end);
        if start > end {
            let count = text[end..start].chars().count();
            let _ = write!(shown, " [… {count} characters left out …] ");
        }
        if piece.end > start {
            shown.push_str(&text[start..piece.end]);
            end = piece.end;
        }
    }
    shown
}

/// The nearest place at or before this one at which a character begins.
fn snap(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{Words, fair_share, shortened};

    #[test]
    fn short_texts_leave_their_room_to_long_ones() {
        assert_eq!(fair_share(&[10, 10, 10], 30), usize::MAX);
        assert_eq!(fair_share(&[10, 100, 100], 110), 50);
        assert_eq!(fair_share(&[5, 5, 1000], 100), 90);
        assert_eq!(fair_share(&[], 100), usize::MAX);
    }

    #[test]
    fn what_is_talked_about_is_kept() {
        let filler = "wörter ohne Belang, ".repeat(500);
        let text = format!("It begins. {filler} order 4711 was paid twice {filler} It ends.");
        let mut words = Words::default();
        words.add("Was order 4711 paid once?");
        let short = shortened(&text, 1200, &words);
        for expected in [
            "It begins.",
            "order 4711 was paid twice",
            "It ends.",
            "characters left out",
        ] {
            assert!(short.contains(expected), "{expected}: {short}");
        }
        assert!(short.len() < 1400, "{}", short.len());
        let without = shortened(&text, 1200, &Words::default());
        assert!(!without.contains("4711"), "{without}");
        assert_eq!(shortened("short", 5, &words), "short");
    }
}
