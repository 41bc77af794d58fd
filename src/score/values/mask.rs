//! Masking what varies by nature – times, generated ids, addresses – with a word for it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Match, Regex};
use serde_json::Number;

/// What stands for a masked time, whatever its notation.
const TIME: &str = "<time>";
/// What stands for seconds or milliseconds since 1970.
const EPOCH: &str = "<epoch>";

/// Numbers of this size count as seconds since 1970: the years 2010 to 2049.
const EPOCH_SECONDS: std::ops::Range<f64> = 1_262_304_000.0..2_524_608_000.0;

/// The shortest run of digits, of an address, that is masked.
const SHORTEST_RUN: usize = 6;

/// Hexadecimal runs from this length on are generated, if they mix digits and letters.
const LONG_HEX: usize = 12;

const PATTERN: &str = r"(?x)
    (?:
        # ISO 8601, as in 2026-01-02T03:04:05.678Z, also with a blank, and with slashes as log files have it.
        \d{4}[-/]\d{2}[-/]\d{2} (?: T | \x20 | t ) \d{2}:\d{2} (?: :\d{2} (?: [.,]\d+ )? )?
            (?: \x20?(?: Z | z | UTC | [+-]\d{2}:?\d{2} ) )?
        # The same in basic notation, 20260102T030405Z.
      | \d{8}T\d{6} (?: [.,]\d+ )? (?: Z | [+-]\d{4} )?
        # RFC 2822, Fri, 02 Jan 2026 03:04:05 +0000.
      | (?: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),\x20+ )?
            \d{1,2}\x20(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\x20\d{4}\x20\d{2}:\d{2}(?::\d{2})?
            (?: \x20(?: [+-]\d{4} | [A-Z]{1,4} ) )?
        # JavaScript's toString and the like, Fri Jan 02 2026 03:04:05 GMT+0000 (Coordinated Universal Time).
      | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\x20(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)
            \x20\d{2}\x20\d{4}\x20\d{2}:\d{2}:\d{2} (?: \x20(?:GMT|UTC)(?:[+-]\d{4})? )? (?: \x20\([^()]{1,60}\) )?
        # The C library's and git's, Fri Jan  2 03:04:05 2026 +0000, with the zone before or after the year.
      | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\x20(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)
            \x20{1,2}\d{1,2}\x20\d{2}:\d{2}:\d{2} (?: \x20[A-Z]{1,4} )? \x20\d{4} (?: \x20[+-]\d{4} )?
        # JavaScript's toLocaleString, 1/2/2026, 3:04:05 AM.
      | \d{1,2}/\d{1,2}/\d{4},\x20\d{1,2}:\d{2}:\d{2} (?: [\x20\u{202f}][AP]M )?
    )
  | [0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}
  | 0x[0-9a-fA-F]{6,}
  | [0-9a-fA-F]{12,}
  | \d{10}(?:\d{3})? (?: \.\d+ )?
";

static VARYING: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());

/// A text with everything in it that varies by nature replaced: ISO 8601, RFC 2822 and JavaScript times, UUIDs, long
/// hexadecimal runs, addresses such as `0x7f3a2c001b40`, and seconds or milliseconds since 1970.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if !may_vary(text) {
        return Cow::Borrowed(text);
    }
    let Some(varying) = VARYING.as_ref() else {
        return Cow::Borrowed(text);
    };
    let mut masked = String::new();
    let mut copied = 0;
    for found in varying.find_iter(text) {
        if let Some(word) = replacement(text, found) {
            masked.push_str(&text[copied..found.start()]);
            masked.push_str(word);
            copied = found.end();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(&text[copied..]);
    Cow::Owned(masked)
}

/// Whether anything in a text may be masked. This quick check rules out most texts, because everything that is masked has a time of day or a
/// run of (hexadecimal) digits in it.
fn may_vary(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| {
        at.and_then(|it| bytes.get(it))
            .is_some_and(u8::is_ascii_digit)
    };
    let is_clock = |at: usize| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1));
    memchr::memchr_iter(b':', bytes).any(is_clock)
        || (has_hex_run(bytes, SHORTEST_RUN) && bytes.iter().any(u8::is_ascii_digit))
}

/// Whether so many hexadecimal digits stand in a row. Looks at few of the bytes.
pub(crate) fn has_hex_run(bytes: &[u8], length: usize) -> bool {
    let is_hex = |it: &&u8| it.is_ascii_hexdigit();
    let mut at = length - 1;
    while let Some(it) = bytes.get(at) {
        if it.is_ascii_hexdigit() {
            let before = bytes[..at].iter().rev().take_while(is_hex).count();
            let after = bytes[at..].iter().take(length).take_while(is_hex).count();
            if before + after >= length {
                return true;
            }
        }
        at += length;
    }
    false
}

/// What stands for a match. The notations are distinguished by what only one of them has, which is faster than capture groups.
fn replacement(text: &str, found: Match<'_>) -> Option<&'static str> {
    let it = found.as_str();
    if part_of_a_word(text, found.start(), found.end()) {
        None
    } else if it.starts_with("0x") {
        Some("<address>")
    } else if it.bytes().all(|it| it.is_ascii_hexdigit() || it == b'.') {
        if is_epoch_text(it) {
            Some(EPOCH)
        } else {
            is_long_hex(it).then_some("<hex>")
        }
    } else if it.as_bytes().get(8) == Some(&b'-') && it.as_bytes().get(13) == Some(&b'-') {
        Some("<uuid>")
    } else {
        Some(TIME)
    }
}

/// Whether letters or digits go on right before or after, so that the find is a piece of something else.
fn part_of_a_word(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    before.is_some_and(char::is_alphanumeric) || after.is_some_and(char::is_alphanumeric)
}

fn is_long_hex(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() >= 32 || (text.len() >= LONG_HEX && digits > 0 && digits < text.len())
}

fn is_epoch_text(text: &str) -> bool {
    let whole = text.split('.').next().unwrap_or_default();
    match (whole.len(), text.parse::<f64>()) {
        (10, Ok(seconds)) => EPOCH_SECONDS.contains(&seconds),
        (13, Ok(milliseconds)) => EPOCH_SECONDS.contains(&(milliseconds / 1000.0)),
        _ => false,
    }
}

/// What stands for a number that varies by nature: seconds or milliseconds since 1970.
pub(crate) fn number(number: &Number) -> Option<&'static str> {
    let number = number.as_f64()?;
    let is_epoch = EPOCH_SECONDS.contains(&number) || EPOCH_SECONDS.contains(&(number / 1000.0));
    is_epoch.then_some(EPOCH)
}
