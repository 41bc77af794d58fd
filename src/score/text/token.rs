//! Texts cut into tokens: words, numbers, signs, and also times, ids and durations as one token each.

use std::sync::LazyLock;

use regex::Regex;

use crate::values::mask;
use crate::values::same::hash_of;
use model::TokenKind;

use super::{lengths, times};

/// Longer texts are not cut into tokens, because these take many times the memory of the text.
pub(crate) const LONG: usize = 1 << 21;

/// One token of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: TokenKind,
    /// White space stands before it, and it is not the first.
    pub(crate) spaced: bool,
    /// How many tokens there would be if ids of letters and digits were cut at the edges between them, and lengths of time in their parts;
    /// baselines count so.
    pub(crate) pieces: usize,
}

impl Token<'_> {
    /// Equal for equal tokens.
    pub(crate) fn key(&self) -> u64 {
        hash_of((self.text, self.spaced))
    }
}

/// Whether a token is made of letters or digits.
fn is_part(token: &Token<'_>) -> bool {
    matches!(
        token.kind,
        TokenKind::Word | TokenKind::Number | TokenKind::Id
    )
}

/// What is one token although white space or signs stand in it.
static WHOLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let id = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|0x[0-9a-fA-F]{6,}|[0-9a-fA-F]{12,}";
    let short = r"(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?s\b|(?:\d+d)?(?:\d+h)?\d+m\b|(?:\d+d)?\d+h\b|\d+d\b";
    let unit = r"(?:ns|nanos(?:econds?)?|µs|us|micros(?:econds?)?|ms|msecs?|millis(?:econds?)?|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?)";
    let long = format!(
        r"\d+\x20days?,\x20+\d+:\d\d\b|-?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?\x20?{unit}\b|(?i:about\x20an?\x20(?:minute|hour)|less\x20than\x20a\x20(?:second|minute))"
    );
    let duration = format!("{short}|{long}");
    let ago = format!(
        r"(?i:(?:{duration}|(?:an?|a\x20few|one|two|three)\x20?(?:secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|months?|years?))\x20ago|just\x20now|(?:a\x20)?moments?\x20ago|yesterday)"
    );
    let time = times::notations();
    Regex::new(&format!(
        "(?P<time>{time})|(?P<id>{id})|(?P<ago>{ago})|(?P<duration>{duration})"
    ))
    .ok()
});

/// Letters and digits in a row from which on they are an id, whatever they are.
const LONG_ID: usize = 16;

/// Pieces of the name of a secret at most.
const LONGEST_NAME: usize = 64;

/// Runs with other signs, as base64 has them, from which on they may be random.
const LONG_RANDOM: usize = 12;

/// The tokens of a text, white space evened out: as [`pieces`] cuts it, but ids and lengths of time in one.
///
/// An id is a run of letters and digits that holds both, has `-` or `_` within it, or is long; so is what follows `base64,`.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let pieces = pieces(text);
    let (mut at, mut base64_end, mut id) = (0, 0, Run::default());
    while at < pieces.len() {
        let rest = &pieces[at..];
        // From within a run, its end is the same.
        if at >= base64_end {
            base64_end = at + joined(rest, |it| is_part(it) || "+/=-_".contains(it.text));
        }
        if at >= id.end {
            id = Run::new(&pieces, at);
        }
        let base64 = base64_end - at;
        let (of_secret, of_time) = (placeholder_length(rest), duration_length(rest));
        let of_time = of_time.max(eastern_length(text, rest));
        let length = if of_secret > 1 {
            of_secret
        } else if of_time > 1 {
            of_time
        } else if follows_base64(&pieces[..at]) || is_random(span(text, &rest[..base64])) {
            base64
        } else {
            id_length(text, rest, &id.from(at))
        };
        match rest.get(..length) {
            Some(run @ [first, _, ..]) => tokens.push(Token {
                text: span(text, run),
                kind: match run[length - 1].kind {
                    _ if of_time == 1 => TokenKind::Id,
                    it @ (TokenKind::Duration | TokenKind::Ago) => it,
                    _ => TokenKind::Time,
                },
                spaced: first.spaced,
                pieces: length,
            }),
            _ => tokens.push(rest[0]),
        }
        let next = at + length.max(1);
        id.pass(&pieces[at..next.min(id.end).max(at)]);
        at = next;
        if let Some(only) = tokens.last_mut().filter(|it| it.pieces == 1)
            && only.text.len() >= LONG_ID
            && only.text.bytes().all(|it| it.is_ascii_alphanumeric())
        {
            only.kind = TokenKind::Id;
        }
    }
    tokens
}

/// How many pieces without white space between stand at the beginning that are of a kind; at least one.
fn joined(pieces: &[Token<'_>], belongs: impl Fn(&Token<'_>) -> bool) -> usize {
    let more = pieces.iter().enumerate();
    let more = more.take_while(|(at, it)| (*at == 0 || !it.spaced) && belongs(it));
    more.count().max(1)
}

/// Whether a run changes between capitals, small letters and digits more often than any name or path does.
fn is_random(run: &str) -> bool {
    let class = |it: u8| match it {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let bytes = run.as_bytes();
    let has = |of: u8| bytes.iter().any(|it| class(*it) == of);
    let changes = || {
        bytes
            .windows(2)
            .filter(|it| class(it[0]) != class(it[1]))
            .count()
    };
    (LONG_RANDOM..=4 * LONG_RANDOM * LONG_RANDOM).contains(&run.len())
        && (0..4).all(has)
        && changes() * 2 >= run.len()
}

/// How many pieces at the beginning stand in the place of a secret, which was some id.
fn placeholder_length(pieces: &[Token<'_>]) -> usize {
    let [open, word, colon, rest @ ..] = pieces else {
        return 1;
    };
    if (open.text, word.text, colon.text) != ("<", "secret", ":") || word.spaced {
        return 1;
    }
    let mut rest = rest.iter().take(LONGEST_NAME);
    let end = rest.position(|it| it.text == ">" || it.spaced || it.text == "<");
    let end = end.filter(|it| pieces[it + 3].text == ">");
    end.map_or(1, |it| it + 4)
}

/// How many pieces at the beginning are one length of time: `1d 15h 16m 27s`, `12 hours, 3 minutes and 47 seconds ago`.
fn duration_length(pieces: &[Token<'_>]) -> usize {
    let unit = |it: &Token<'_>| {
        let is_one = matches!(it.kind, TokenKind::Duration | TokenKind::Ago);
        let text = it.text.trim_end_matches(" ago");
        let name = text.trim_start_matches(|it: char| !it.is_ascii_alphabetic());
        lengths::unit_of(name).filter(|_| is_one)
    };
    let (mut length, mut last) = (1, unit(&pieces[0]));
    while let Some(larger) = last {
        let between = pieces[length..].iter().take(2);
        let between = between.take_while(|it| matches!(it.text, "," | "and"));
        let next = length + between.count();
        last = pieces.get(next).filter(|it| it.spaced).and_then(unit);
        last = last.filter(|it| *it < larger);
        length = last.map_or(length, |_| next + 1);
    }
    length
}

/// How many pieces at the beginning are one date or time: `2026/1/5 下午8:48:10`.
fn eastern_length(text: &str, pieces: &[Token<'_>]) -> usize {
    let rest = &text[position(text, pieces[0].text)..];
    let Some(length) = times::eastern_length(rest) else {
        return 1;
    };
    let end = |it: &Token<'_>| position(rest, it.text) + it.text.len();
    let within = pieces.iter().take_while(|it| end(it) <= length).count();
    let is_whole = within > 0 && end(&pieces[within - 1]) == length;
    if is_whole { within } else { 1 }
}

fn follows_base64(before: &[Token<'_>]) -> bool {
    let [.., word, number, comma] = before else {
        return false;
    };
    (word.text, number.text, comma.text) == ("base", "64", ",")
}

/// Whether a piece is made of letters and digits of ASCII.
fn is_edge(piece: &Token<'_>) -> bool {
    is_part(piece) && piece.text.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// What may be one id, from a piece on that is looked at. As many pieces may begin in it as it has: each takes what it holds from the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Run {
    /// Behind its last piece.
    end: usize,
    /// Behind its last piece of letters or digits.
    parts_end: usize,
    digits: usize,
    letters: usize,
    /// Hyphens and underscores.
    signs: usize,
    bytes: usize,
}

impl Run {
    fn new(pieces: &[Token<'_>], at: usize) -> Self {
        let belongs = |it: &Token<'_>| {
            is_edge(it) || matches!(it.text, "-" | "_") || it.kind == TokenKind::Id
        };
        let length = joined(&pieces[at..], belongs);
        let run = &pieces[at..at + length];
        let mut new = Self {
            end: at + length,
            parts_end: at + run.iter().rposition(is_part).map_or(1, |it| it + 1),
            ..Self::default()
        };
        for it in run {
            new.count(it, usize::wrapping_add);
        }
        new
    }

    /// Without these, which are its first.
    fn pass(&mut self, pieces: &[Token<'_>]) {
        for it in pieces {
            self.count(it, usize::wrapping_sub);
        }
    }

    fn count(&mut self, piece: &Token<'_>, change: fn(usize, usize) -> usize) {
        let of = |is: fn(&u8) -> bool| piece.text.bytes().filter(is).count();
        self.bytes = change(self.bytes, piece.text.len());
        self.digits = change(self.digits, of(u8::is_ascii_digit));
        self.letters = change(self.letters, of(u8::is_ascii_alphabetic));
        self.signs = change(self.signs, of(|it| matches!(it, b'-' | b'_')));
    }

    /// With its ends counted from this piece.
    fn from(self, at: usize) -> Self {
        Self {
            end: self.end - at,
            parts_end: self.parts_end.saturating_sub(at).max(1),
            ..self
        }
    }
}

/// How many pieces at the beginning of a run are one id; 1 where they are none.
fn id_length(text: &str, pieces: &[Token<'_>], whole: &Run) -> usize {
    if !is_edge(&pieces[0]) && !matches!(pieces[0].text, "-" | "_") {
        return 1;
    }
    let all = whole.end;
    let mixes = whole.digits > 0 && whole.letters > 0;
    // Random ids may begin or end with a sign.
    if mixes && whole.bytes >= LONG_ID && whole.signs * 4 < whole.bytes {
        return all;
    }
    if !is_edge(&pieces[0]) {
        return 1;
    }
    let inner = whole.parts_end;
    // Two hyphens in a row are a dash or a rule.
    let mut pairs = pieces[..inner].windows(2);
    let is_dash = |it: &[Token<'_>]| it.iter().all(|it| it.text == "-");
    let inner = pairs.position(is_dash).unwrap_or(inner);
    let has_sign = pieces[..inner].iter().any(|it| !is_part(it));
    let run = span(text, &pieces[..inner]);
    let is_id = inner > 1 && (has_sign || mixes || run.len() >= LONG_ID);
    let more = pieces[inner..all].iter().take_while(|it| it.text == "_");
    if is_id { inner + more.count() } else { 1 }
}

/// What some tokens of a text span, from the first to the last.
pub(crate) fn span<'a>(text: &'a str, tokens: &[Token<'a>]) -> &'a str {
    let start = tokens.first().map_or(0, |it| position(text, it.text));
    let end = tokens
        .last()
        .map_or(start, |it| position(text, it.text) + it.text.len());
    text.get(start..end).unwrap_or_default()
}

/// Where a piece of a text begins in it.
pub(super) fn position(text: &str, piece: &str) -> usize {
    (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// The tokens of a text, where letters and digits are parted in ids, too.
pub(crate) fn pieces(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    for (kind, start, end) in wholes(text) {
        if start < at {
            continue;
        }
        plain(text, at, start, &mut tokens);
        push(text, start, end, kind, &mut tokens);
        at = end;
    }
    plain(text, at, text.len(), &mut tokens);
    tokens
}

/// Whether a text holds a token that may change only because time passes.
pub(crate) fn may_move(text: &str) -> bool {
    let moves = [TokenKind::Time, TokenKind::Duration, TokenKind::Ago];
    wholes(text).any(|(kind, ..)| moves.contains(&kind)) || text.contains('年')
}

/// Hexadecimal digits in a row from which on they may be an id, or a date.
const LONG_RUN: usize = 8;

/// The bytes at which a token with white space or signs may be recognised.
const CLUES: [bool; 256] = {
    let mut clues = [false; 256];
    let bytes = b"0123456789gGwWyYxbBtT";
    let mut at = 0;
    while at < bytes.len() {
        clues[bytes[at] as usize] = true;
        at += 1;
    }
    clues
};

const DAYS: [&[u8]; 3] = [b"day", b"week", b"year"];
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// Whether anything in a text may be one token although white space or signs stand in it, which a glance rules out for most texts: it
/// needs a word such as `ago` or `Monday`, a long run of digits, or digits beside what makes a time or a duration of them.
pub(super) fn may_have_wholes(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Each word is looked for by its rarest letter.
    let is_word = |at: usize, offset: usize, word: &[u8]| {
        let from = at.checked_sub(offset);
        let found = from.and_then(|it| bytes.get(it..it + word.len()));
        found.is_some_and(|it| it.eq_ignore_ascii_case(word))
    };
    let is_ascii = bytes.is_ascii();
    let may_be = |at: usize| match bytes[at] {
        b'g' | b'G' => is_word(at, 1, b"ago"),
        b'w' | b'W' => is_word(at, 2, b"now"),
        b'y' | b'Y' => is_word(at, 2, b"day"),
        b'b' | b'B' => is_word(at, 1, b"about"),
        b't' | b'T' => is_word(at, 0, b"than a"),
        b'x' => at > 0 && bytes[at - 1] == b'0',
        b'0'..=b'9' if !is_ascii => true,
        b'0'..=b'9' if !bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
            goes_on_as_a_whole(&bytes[at + 1..]) || begins_as_a_date(&bytes[..at])
        }
        _ => false,
    };
    let clues = (bytes.iter().enumerate()).filter(|(_, it)| CLUES[usize::from(**it)]);
    clues.map(|(at, _)| at).any(may_be) || mask::has_hex_run(bytes, LONG_RUN)
}

/// Whether what comes after digits may make a time or a duration of them.
fn goes_on_as_a_whole(after: &[u8]) -> bool {
    match after {
        [b'-' | b'/' | b'.' | b':', digit, ..] if digit.is_ascii_digit() => true,
        [b' ', word @ ..] | word => match word {
            [b'n' | b'u' | b'm' | b's' | b'h', ..]
            | [b'a' | b'A' | b'p' | b'P', b'm' | b'M', ..] => true,
            [b'd', rest @ ..] if !rest.first().is_some_and(u8::is_ascii_lowercase) => true,
            _ => DAYS.iter().chain(&MONTHS).any(|it| word.starts_with(it)),
        },
    }
}

/// Whether digits, the last of which is left out, stand after the name of a month.
fn begins_as_a_date(before: &[u8]) -> bool {
    let count = |of: &[u8], is: fn(&u8) -> bool| of.iter().rev().take_while(|it| is(it)).count();
    let before = &before[..before.len() - count(before, u8::is_ascii_digit)];
    let before = &before[..before.len() - count(before, |it| *it == b' ')];
    let before = before.strip_suffix(b".").unwrap_or(before);
    let word = &before[before.len() - count(before, u8::is_ascii_alphabetic)..];
    MONTHS.iter().any(|it| word.starts_with(it))
}

/// The places of what is one token although white space or signs stand in it.
fn wholes(text: &str) -> impl Iterator<Item = (TokenKind, usize, usize)> {
    let found = WHOLE
        .as_ref()
        .filter(|_| may_have_wholes(text))
        .into_iter()
        .flat_map(|it| it.captures_iter(text));
    found.filter_map(|captures| {
        let kinds = [
            ("time", TokenKind::Time),
            ("id", TokenKind::Id),
            ("ago", TokenKind::Ago),
            ("duration", TokenKind::Duration),
        ];
        let (kind, found) = kinds
            .iter()
            .find_map(|(name, kind)| Some((*kind, captures.name(name)?)))?;
        let before = text[..found.start()].chars().next_back();
        let after = text[found.end()..].chars().next();
        let goes_on = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
        // In `1.5 ms` or `-5 s`, the characters before belong to the number, so `5 ms` or `5 s` alone is no token.
        let is_cut = kind == TokenKind::Duration && matches!(before, Some('.' | ',' | '-'));
        let is_id = kind != TokenKind::Id || mixes_digits_and_letters(found.as_str());
        (!goes_on(before) && !goes_on(after) && !is_cut && is_id)
            .then(|| (kind, found.start(), found.end()))
    })
}

/// Whether a hexadecimal run has both digits and letters; digits alone are a number, and letters alone a word.
fn mixes_digits_and_letters(text: &str) -> bool {
    text.len() >= 32
        || (text.bytes().any(|it| it.is_ascii_digit())
            && text.bytes().any(|it| it.is_ascii_alphabetic()))
}

fn push<'a>(text: &'a str, start: usize, end: usize, kind: TokenKind, tokens: &mut Vec<Token<'a>>) {
    let spaced = !tokens.is_empty() && text[..start].ends_with(char::is_whitespace);
    tokens.push(Token {
        text: &text[start..end],
        kind,
        spaced,
        pieces: 1,
    });
}

/// Words, numbers and signs between two places of a text.
fn plain<'a>(text: &'a str, from: usize, to: usize, tokens: &mut Vec<Token<'a>>) {
    let mut at = from;
    while let Some(first) = text[at..to].chars().next() {
        let rest = &text[at..to];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let before = text[..at].chars().next_back();
        let number = number_length(rest, before);
        let (length, kind) = if number > 0 {
            (number, TokenKind::Number)
        } else if first.is_alphabetic() {
            let letters = rest.find(|it: char| !is_letter(it)).unwrap_or(rest.len());
            (letters, TokenKind::Word)
        } else {
            (first.len_utf8(), TokenKind::Sign)
        };
        push(text, at, at + length, kind, tokens);
        at += length;
    }
}

/// Letters, and the marks that some scripts write on them.
fn is_letter(it: char) -> bool {
    it.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&it)
}

/// How long the number is that a text begins with: sign, digits, thousands separators, decimals, exponent. 0 where there is none.
fn number_length(text: &str, before: Option<char>) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..]
            .iter()
            .take_while(|it| it.is_ascii_digit())
            .count()
    };
    // A sign belongs to the number only if nothing that it could join stands before it.
    let joins = before.is_some_and(|it| it.is_alphanumeric() || matches!(it, ')' | ']' | '_'));
    let sign = usize::from(!joins && matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(sign);
    if whole == 0 {
        return 0;
    }
    let mut end = sign + whole;
    if whole <= 3 {
        while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
            end += 4;
        }
    }
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + sign);
        let goes_on = bytes
            .get(end + 1 + sign + exponent)
            .is_some_and(u8::is_ascii_alphabetic);
        if exponent > 0 && !goes_on {
            end += 1 + sign + exponent;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Run, TokenKind, WHOLE, may_have_wholes, pieces, tokens, wholes};

    /// Pieces that make times, durations and ids when they meet, and such that do not.
    const PIECES: &str = "(?:2026|7|03|05|Jan|Mar|March|May|Dec|Monday|Fri|yesterday|ago|AGO|now|just|an|hour|hours|moments|minutes|ms|s|h|m|min|µs|secs|AM|p\\.m\\.|PM|Z|UTC|T|th|0x|3f9a|0000|é| |  |\\.|,|-|/|:|\\+|_|word|the)";

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

        #[test]
        fn nothing_is_passed_over_at_a_glance(pieces in prop::collection::vec(PIECES, 1..9)) {
            let text = pieces.concat();
            if !may_have_wholes(&text) {
                let pattern = WHOLE.as_ref().expect("it is well formed");
                let found = pattern.find(&text).map(|it| it.as_str());
                prop_assert_eq!(found, None, "in {:?}", text);
            }
        }
    }

    #[test]
    fn whatever_makes_a_time_of_digits_is_looked_at() {
        for text in [
            "2026-01-02",
            "2026/01/02",
            "20260102T030405Z",
            "Fri Jan  2 03:04:05 2026",
            "2 Jan 2026",
            "Jan. 2, 2026",
            "January  2 2026",
            "1.2.2026",
            "3:04",
            "3 pm",
            "3PM",
            "on a Monday",
            "0x7f3a2c",
            "3f9a12c40b11",
            "3 minutes ago",
            "An Hour Ago",
            "JUST NOW",
            "yesterday",
            "1h2m3s",
            "5ms",
            "1.5 ms",
            "3 secs",
            "7 hours",
            "12 µs",
        ] {
            assert!(may_have_wholes(text), "{text}");
            assert_eq!(wholes(text).count(), 1, "{text}");
        }
        for text in [
            "The 17th of 90 words",
            "record-12 x7",
            "1,234.50 EUR".trim_end_matches(".50 EUR"),
            "a word",
        ] {
            assert!(!may_have_wholes(text), "{text}");
        }
        assert!(
            tokens("12 files")
                .iter()
                .all(|it| it.kind != TokenKind::Duration)
        );
    }

    #[test]
    fn texts_are_cut_into_what_people_read_as_one_thing() {
        let cases = [
            (
                "Indexed 128 files, in 88.31 ms",
                "word:Indexed number:128 word:files sign:, word:in duration:88.31 ms",
            ),
            (
                "balance -1,234.50 EUR",
                "word:balance number:-1,234.50 word:EUR",
            ),
            (
                "its sig aB3+dE5/gH7=kL9m end",
                "word:its word:sig id:aB3+dE5/gH7=kL9m word:end",
            ),
            (
                "a-1 is 1-2 (-3)",
                "id:a-1 word:is id:1-2 sign:( number:-3 sign:)",
            ),
            ("quiet-otter!", "id:quiet-otter sign:!"),
            (
                "e5 and v1.2.3",
                "id:e5 word:and word:v number:1.2 sign:. number:3",
            ),
            (
                "6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b1a11 ok",
                "id:6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b1a11 word:ok",
            ),
            (
                "at 2026-01-02T03:04:05Z, 2 minutes ago",
                "word:at time:2026-01-02T03:04:05Z sign:, ago:2 minutes ago",
            ),
            (
                "took 88ms or 1h2m3s",
                "word:took duration:88ms word:or duration:1h2m3s",
            ),
            (
                "1e-9 2E5 3elephants",
                "number:1e-9 number:2E5 id:3elephants",
            ),
            ("naïve größe 日本", "word:naïve word:größe word:日本"),
            (
                "建立於 2026/1/5\u{2009}下午8:48:10，2026年11月28日 9時05分 更新 2026. 1. 5. 오후 8:48",
                "word:建立於 time:2026/1/5\u{2009}下午8:48:10 sign:， time:2026年11月28日 9時05分 word:更新 time:2026. 1. 5. 오후 8:48",
            ),
            (
                "see 2026/1 and 2026. 1 or 2026/a/b",
                "word:see number:2026 sign:/ number:1 word:and number:2026 sign:. number:1 word:or number:2026 sign:/ word:a sign:/ word:b",
            ),
            (
                "commit 3f9a12c, 82e782ac_x v1 1.3f9a12c4",
                "word:commit id:3f9a12c sign:, id:82e782ac_x id:v1 number:1.3 id:f9a12c4",
            ),
            (
                "q7Zk0Pb2xW9a aB3+x/9Kq2Lm /tmp/x 1+2/3 12345e7",
                "id:q7Zk0Pb2xW9a id:aB3+x/9Kq2Lm sign:/ word:tmp sign:/ word:x number:1 sign:+ number:2 sign:/ number:3 number:12345e7",
            ),
            ("1.5.5 ms", "number:1.5 sign:. number:5 word:ms"),
            ("  ", ""),
        ];
        for (text, expected) in cases {
            let shown: Vec<String> = (tokens(text).iter())
                .map(|it| format!("{}:{}", it.kind.name(), it.text))
                .collect();
            assert_eq!(shown.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn what_is_left_of_a_run_is_as_if_it_began_there() {
        let texts = [
            "a1-b2_c3 4-x",
            "--a--1b--",
            "ab12-- -_x9f",
            "1-2-3:a_b-",
            "-_-",
            "é-a1é",
        ];
        for text in texts {
            let pieces = pieces(text);
            let mut run = Run::default();
            for at in 0..pieces.len() {
                if at >= run.end {
                    run = Run::new(&pieces, at);
                }
                assert_eq!(run.from(at), Run::new(&pieces, at).from(at), "{text} {at}");
                run.pass(&pieces[at..=at]);
            }
        }
    }
}
