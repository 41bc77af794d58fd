//! Two texts side by side: which words of either the other lacks.

use super::aligned::aligned;

/// A run of text that is either found on the other side or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// The other side lacks it.
    pub marked: bool,
}

/// The pieces of both texts, in order; concatenated they are the texts.
///
/// Texts are cut at white space and between letters, digits and signs; a number with its decimals stays whole.
pub fn word_diff(was: &str, now: &str) -> [Vec<Piece>; 2] {
    let (left, right) = (words(was), words(now));
    let mut kept = [vec![false; left.len()], vec![false; right.len()]];
    for (a, b) in aligned(&left, &right) {
        (kept[0][a], kept[1][b]) = (true, true);
    }
    let [kept_left, kept_right] = kept;
    let side = |words: &[&str], kept: &[bool]| {
        let mut pieces = Vec::new();
        for (word, kept) in words.iter().zip(kept) {
            push(&mut pieces, word, !kept);
        }
        joined(pieces)
    };
    [side(&left, &kept_left), side(&right, &kept_right)]
}

/// What kind of character a word is made of; a sign is a word of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Letter,
    Digit,
    Sign,
}

fn kind(character: char) -> Kind {
    match character {
        it if it.is_whitespace() => Kind::Blank,
        it if it.is_numeric() => Kind::Digit,
        it if it.is_alphabetic() || it == '_' => Kind::Letter,
        // What is put over a letter belongs to it.
        '\u{300}'..='\u{36f}' | '\u{200d}' => Kind::Letter,
        _ => Kind::Sign,
    }
}

fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut from = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let Some(&(next_at, next)) = characters.peek() else {
            break;
        };
        let (this, that) = (kind(character), kind(next));
        let after = text[next_at..].chars().nth(1).map(kind);
        let within_number = (this == Kind::Digit && next == '.' && after == Some(Kind::Digit))
            || (character == '.'
                && that == Kind::Digit
                && text[from..at].ends_with(|it: char| it.is_numeric()));
        if (this != that || this == Kind::Sign) && !within_number {
            words.push(&text[from..next_at]);
            from = next_at;
        }
    }
    if from < text.len() {
        words.push(&text[from..]);
    }
    words
}

/// Adds a word, joined with its neighbour where that is marked alike.
fn push(pieces: &mut Vec<Piece>, word: &str, marked: bool) {
    match pieces.last_mut() {
        Some(last) if last.marked == marked => last.text.push_str(word),
        _ => pieces.push(Piece {
            text: word.to_owned(),
            marked,
        }),
    }
}

/// The pieces with marks in one piece where only blanks and signs lie between them: they read better so.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let tells = |it: &Piece| it.marked || it.text.chars().any(char::is_alphanumeric);
    let last = pieces.len().saturating_sub(1);
    let mut all = Vec::with_capacity(pieces.len());
    for (at, piece) in pieces.into_iter().enumerate() {
        let between = at > 0 && at < last && !tells(&piece);
        push(&mut all, &piece.text, piece.marked || between);
    }
    all
}

/// Both texts cut to about `limit` characters around the first place where they differ, an ellipsis where something was left out.
pub fn around_difference(was: &str, now: &str, limit: usize) -> [String; 2] {
    let same = (was.chars().zip(now.chars()))
        .take_while(|(a, b)| a == b)
        .count();
    // A third of the room leads to the difference, where both texts are longer than it.
    let longer = |text: &str| text.chars().nth(limit).is_some();
    let skipped = if longer(was) || longer(now) {
        same.saturating_sub(limit / 3)
    } else {
        0
    };
    [was, now].map(|text| {
        let rest = text.char_indices().nth(skipped);
        let rest = rest.map_or("", |(at, _)| &text[at..]);
        let lead = if skipped > 0 { "…" } else { "" };
        format!("{lead}{}", crate::text::shorten(rest, limit))
    })
}
