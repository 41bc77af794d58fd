//! Two texts side by side: which words of either the other lacks.

use super::aligned::aligned;
use std::ops::Range;

/// A run of text that is either found on the other side or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// The other side lacks it.
    pub marked: bool,
}

/// The pieces of both texts, in order; concatenated they are the texts.
///
/// Texts are cut at white space and between letters, digits and signs; a number with its decimals stays whole, and so
/// does what only names something: of two ids, nobody reads which letters they share.
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
    for id in identifiers(text) {
        plain_words(&text[from..id.start], &mut words);
        words.push(&text[id.clone()]);
        from = id.end;
    }
    plain_words(&text[from..], &mut words);
    words
}

fn plain_words<'t>(text: &'t str, words: &mut Vec<&'t str>) {
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
///
/// They are compared before they are cut: both begin and end with a word that they have in common, where there is one, and no word is cut
/// that is not longer than there is room for. So nothing looks different only because it was cut elsewhere.
pub fn around_difference(was: &str, now: &str, limit: usize) -> [String; 2] {
    let same = (was.char_indices().zip(now.chars())).take_while(|((_, a), b)| a == b);
    let same = same.last().map_or(0, |((at, it), _)| at + it.len_utf8());
    around_places([was, now], [same, same], limit)
}

/// The same around a place of each text, in bytes; before both places, the texts need not be the same.
pub fn around_places(texts: [&str; 2], places: [usize; 2], limit: usize) -> [String; 2] {
    let is_short = |text: &str| text.char_indices().nth(limit).is_none();
    if texts.into_iter().all(is_short) {
        return texts.map(str::to_owned);
    }
    // A third of the room leads to the difference.
    let from = [0, 1].map(|side| {
        let (text, place) = (texts[side], places[side]);
        let lead = text.get(..place).unwrap_or_default();
        let lead = lead.char_indices().nth_back(limit / 3);
        lead.map_or(0, |(at, _)| next_word(text, at, place))
    });
    let rests = [0, 1].map(|side| texts[side].get(from[side]..).unwrap_or(texts[side]));
    let parted = [0, 1].map(|side| places[side].saturating_sub(from[side]));
    let windows = rests.map(|it| window(it, limit));
    let ends = windows.map(str::len);
    let is_cut = |side: usize, ends: [usize; 2]| ends[side] < rests[side].len();
    let ends = if is_cut(0, ends) || is_cut(1, ends) {
        let alike = within_common_end(rests, parted, limit);
        let alike = alike.or_else(|| common_end(windows, parted));
        alike.unwrap_or(ends)
    } else {
        ends
    };
    [0, 1].map(|side| {
        let lead = if from[side] > 0 { "…" } else { "" };
        let shown = &rests[side][..ends[side]];
        let tail = if is_cut(side, ends) { "…" } else { "" };
        format!("{lead}{shown}{tail}")
    })
}

/// Where both texts are cut that end alike and differ only in what there is room for: behind equally much of what they have in common.
fn within_common_end(texts: [&str; 2], parted: [usize; 2], limit: usize) -> Option<[usize; 2]> {
    let [left, right] = [0, 1].map(|side| texts[side].get(parted[side]..).unwrap_or_default());
    let alike = (left.chars().rev().zip(right.chars().rev())).take_while(|(a, b)| a == b);
    let alike: usize = alike.map(|(it, _)| it.len_utf8()).sum();
    let middles = texts.map(|it| it.len() - alike);
    let characters = |side: usize| texts[side][..middles[side]].chars().count();
    let room = limit.checked_sub(characters(0).max(characters(1)))?;
    let tail = window(&texts[0][middles[0]..], room).len();
    Some(middles.map(|it| it + tail))
}

/// Where the next word begins, of those before `end`; else the place itself, because a long word has to be cut.
fn next_word(text: &str, at: usize, end: usize) -> usize {
    let blank = text[at..end].find(char::is_whitespace);
    let word = blank.and_then(|it| {
        let rest = &text[at + it..end];
        Some(at + it + rest.find(|it: char| !it.is_whitespace())?)
    });
    word.unwrap_or(at)
}

/// The beginning of a text that has room, without a word that would be cut, unless that is all there is.
fn window(text: &str, limit: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(limit) else {
        return text;
    };
    if next.is_whitespace() {
        return &text[..end];
    }
    // A word as long as half the room is cut.
    let last = text[..end].rfind(char::is_whitespace);
    match last.filter(|it| text[*it..end].chars().count() < limit / 2) {
        Some(blank) => text[..blank].trim_end(),
        None => &text[..end],
    }
}

/// Where both texts end with the last word that they have in common, if that is behind the place where they part, and little is left out
/// for it.
fn common_end(texts: [&str; 2], parted: [usize; 2]) -> Option<[usize; 2]> {
    let [left, right] = texts.map(words);
    let starts = |words: &[&str]| -> Vec<usize> {
        let mut at = 0;
        let ends = words.iter().map(|it| {
            at += it.len();
            at
        });
        ends.collect()
    };
    let ends = [starts(&left), starts(&right)];
    let pairs = aligned(&left, &right);
    let last = pairs.into_iter().rev().find(|(a, b)| {
        let tells = left[*a].chars().any(char::is_alphanumeric);
        tells && ends[0][*a] > parted[0] && ends[1][*b] > parted[1]
    });
    let (a, b) = last?;
    let ends = [ends[0][a], ends[1][b]];
    let is_long = |side: usize| 2 * ends[side] >= texts[side].len();
    (is_long(0) && is_long(1)).then_some(ends)
}

/// The lengths of the parts of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// The shortest hash, as git cuts one, and the shortest token of other letters.
const HASH: usize = 7;
const TOKEN: usize = 12;

/// How often letters and digits take turns at least: `abc123` is a name with a number, and `d8c15e7` is none.
const TURNS_OF_HASH: usize = 2;
const TURNS_OF_TOKEN: usize = 3;

/// Where ids, hashes and tokens stand, in order.
fn identifiers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes[at..].iter();
        let run = rest.take_while(|it| it.is_ascii_alphanumeric()).count();
        let is_at_start = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let length = match uuid_length(&bytes[at..]).filter(|_| is_at_start) {
            Some(uuid) => uuid,
            None if is_identifier(&bytes[at..at + run]) => run,
            None => {
                at += run.max(1);
                continue;
            }
        };
        found.push(at..at + length);
        at += length;
    }
    found
}

/// How long the UUID is that a text begins with.
fn uuid_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (part, length) in UUID.into_iter().enumerate() {
        if part > 0 {
            bytes.get(at).filter(|it| **it == b'-')?;
            at += 1;
        }
        let digits = bytes.get(at..at + length)?;
        digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += length;
    }
    let goes_on = bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    (!goes_on).then_some(at)
}

/// Whether letters and digits are mixed as nobody would write them.
fn is_identifier(run: &[u8]) -> bool {
    let turns = run
        .windows(2)
        .filter(|it| it[0].is_ascii_digit() != it[1].is_ascii_digit())
        .count();
    let is_hash = run.iter().all(u8::is_ascii_hexdigit) && run.len() >= HASH;
    (is_hash && turns >= TURNS_OF_HASH) || (run.len() >= TOKEN && turns >= TURNS_OF_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn identifiers_are_distinguished_from_words_and_numbers() {
        for (text, expected) in [
            (
                "id 6823de55-e2aa-4f1c-9b0d-0123456789ab!",
                "6823de55-e2aa-4f1c-9b0d-0123456789ab",
            ),
            ("at d8c15e7, dirty", "d8c15e7"),
            (
                "key sk_4eC39HqLyjWDarjtT1zdp7dc.",
                "4eC39HqLyjWDarjtT1zdp7dc",
            ),
            ("ü6823de55-e2aa-4f1c-9b0d-0123456789abx", "6823de55"),
            ("version12 of 2026-11-23T10:00:00Z", ""),
            ("19.99 euros for the deadbeef, 1h30m15s, 100000 times", ""),
        ] {
            let found: Vec<&str> = identifiers(text).into_iter().map(|it| &text[it]).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
