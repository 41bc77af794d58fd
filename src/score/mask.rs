//! What varies by nature – times, generated ids, addresses – replaced by a word for it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Number;

/// What stands for a masked time, whatever its notation.
const TIME: &str = "<time>";
/// What stands for seconds or milliseconds since 1970.
const EPOCH: &str = "<epoch>";

/// Seconds since 1970 are told from other numbers by their size: the years 2010 to 2049.
const EPOCH_SECONDS: std::ops::Range<f64> = 1_262_304_000.0..2_524_608_000.0;

/// Hexadecimal runs from this length on are generated, if they mix digits and letters.
const LONG_HEX: usize = 12;

const PATTERN: &str = r"(?x)
    (?P<time>
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
  | (?P<uuid> [0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12} )
  | (?P<address> 0x[0-9a-fA-F]{6,} )
  | (?P<hex> [0-9a-fA-F]{12,} )
  | (?P<epoch> \d{10}(?:\d{3})? (?: \.\d+ )? )
";

static VARYING: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());

/// A text with everything in it that varies by nature replaced: ISO 8601, RFC 2822 and JavaScript times, UUIDs, long
/// hexadecimal runs, addresses such as `0x7f3a2c001b40`, and seconds or milliseconds since 1970.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    // Everything masked has digits in it, and most text has not.
    if !text.bytes().any(|it| it.is_ascii_digit()) {
        return Cow::Borrowed(text);
    }
    match VARYING.as_ref() {
        Some(varying) => varying.replace_all(text, |found: &Captures<'_>| replacement(text, found)),
        None => Cow::Borrowed(text),
    }
}

fn replacement(text: &str, found: &Captures<'_>) -> String {
    let Some(all) = found.get(0) else {
        return String::new();
    };
    let word = if part_of_a_word(text, all.start(), all.end()) {
        None
    } else if found.name("time").is_some() {
        Some(TIME)
    } else if found.name("uuid").is_some() {
        Some("<uuid>")
    } else if found.name("address").is_some() {
        Some("<address>")
    } else if is_epoch_text(all.as_str()) {
        Some(EPOCH)
    } else if found.name("hex").is_some() && is_long_hex(all.as_str()) {
        Some("<hex>")
    } else {
        None
    };
    word.unwrap_or(all.as_str()).to_owned()
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
pub(super) fn number(number: &Number) -> Option<&'static str> {
    let number = number.as_f64()?;
    let is_epoch = EPOCH_SECONDS.contains(&number) || EPOCH_SECONDS.contains(&(number / 1000.0));
    is_epoch.then_some(EPOCH)
}
