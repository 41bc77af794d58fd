//! Where a value begins and ends in a text: quoted however often, bare, in a block of lines, in an element.

use std::ops::Range;

/// The longest value, in bytes: where a text has no end for it, the search for one ends here.
const LONGEST_VALUE: usize = 8 * 1024;

/// A text quoted once or several times: how many backslashes stand before its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    sign: u8,
    backslashes: usize,
}

impl Quote {
    /// How many bytes it takes.
    pub(super) fn len(self) -> usize {
        self.backslashes + 1
    }
}

pub(super) fn quote_at(bytes: &[u8], at: usize) -> Option<Quote> {
    let backslashes = bytes[at.min(bytes.len())..]
        .iter()
        .take_while(|it| **it == b'\\')
        .count();
    match bytes.get(at + backslashes) {
        Some(&sign @ (b'"' | b'\'')) => Some(Quote { sign, backslashes }),
        _ => None,
    }
}

/// Where the text ends that was opened by a quote: before the next one that is quoted as often. What is quoted deeper belongs to it, and
/// so do its own backslashes, of which there are a multiple: `\\\\\"` is two backslashes and a quote that is quoted once.
pub(super) fn closing(bytes: &[u8], from: usize, opening: Quote) -> usize {
    let own = opening.backslashes;
    let mut backslashes = 0;
    let limit = bytes.len().min(from + LONGEST_VALUE);
    for (at, it) in bytes.iter().enumerate().take(limit).skip(from) {
        match it {
            b'\\' => backslashes += 1,
            it if *it == opening.sign
                && (backslashes < own || backslashes % (2 * (own + 1)) == own) =>
            {
                return at - backslashes.min(own);
            }
            _ => backslashes = 0,
        }
    }
    character_end(bytes, limit)
}

/// The end of the character that a place lies in.
pub(super) fn character_end(bytes: &[u8], at: usize) -> usize {
    let is_within = |it: &&u8| **it & 0b1100_0000 == 0b1000_0000;
    at + bytes[at..].iter().take_while(is_within).count()
}

/// A value without quotes. At the beginning of a line, as in YAML and `.env` files, it goes to the next space; else what separates
/// parameters ends it, too.
pub(super) fn bare(text: &str, from: usize, whole_line: bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let ends = |at: usize| {
        let it = bytes[at];
        let is_escape = it == b'\\'
            && matches!(
                bytes.get(at + 1),
                Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u')
            );
        it.is_ascii_whitespace()
            || b"\"'<>`".contains(&it)
            || is_escape
            || !whole_line && b",;&)}]|".contains(&it)
    };
    let limit = bytes.len().min(from + LONGEST_VALUE);
    let end = (from..limit).find(|at| ends(*at));
    let end = end.unwrap_or_else(|| character_end(bytes, limit));
    let value = text[from..end].trim_end_matches(['.', ',', ';']);
    from..from + value.len()
}

/// A value with or without quotes.
pub(super) fn given(text: &str, from: usize) -> Range<usize> {
    match quote_at(text.as_bytes(), from) {
        Some(opening) => {
            let from = from + opening.len();
            from..closing(text.as_bytes(), from, opening)
        }
        None => bare(text, from, false),
    }
}

/// The lines of a block of YAML (`password: |`), which are indented more than the key.
pub(super) fn block(text: &str, key: usize, from: usize) -> Option<Vec<Range<usize>>> {
    const HEADS: [&str; 6] = ["|\n", "|-\n", "|+\n", ">\n", ">-\n", ">+\n"];
    let head = HEADS.iter().find(|it| text[from..].starts_with(**it))?;
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let line = text[..key].rfind('\n').map_or(0, |it| it + 1);
    let own = indent(&text[line..]);
    let mut at = from + head.len();
    let limit = at + LONGEST_VALUE;
    let mut lines = Vec::new();
    for line in text[at..].split_inclusive('\n') {
        let value = line.trim();
        let before = line.len() - line.trim_start().len();
        if !value.is_empty() {
            if before <= own || at > limit {
                break;
            }
            lines.push(at + before..at + before + value.len());
        }
        at += line.len();
    }
    Some(lines)
}

/// The text of an element that is called so: `<password>x</password>`.
pub(super) fn element(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let from = end + 1;
    let is_element = text[..start].ends_with('<') && text[end..].starts_with('>');
    let length = text.get(from..).filter(|_| is_element)?.find('<')?;
    let closes = text[from + length..].strip_prefix("</")?;
    closes
        .starts_with(&text[start..end])
        .then_some(from..from + length)
}

pub(super) fn line_end(bytes: &[u8], from: usize) -> usize {
    let ends = |at: &usize| {
        b"\n\r\"'<`".contains(&bytes[*at])
            || bytes[*at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b'"' | b'\\'))
    };
    let limit = bytes.len().min(from + LONGEST_VALUE);
    let end = (from..limit).find(ends);
    let end = end.unwrap_or_else(|| character_end(bytes, limit));
    let trailing = bytes[from..end]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_whitespace())
        .count();
    end - trailing
}

pub(super) fn spaces(bytes: &[u8], from: usize) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take_while(|it| b" \t".contains(it))
        .count()
}

/// Whether a key is the first word of its line, as in settings.
pub(super) fn begins_line(bytes: &[u8], start: usize) -> bool {
    let before = bytes[..start].trim_ascii_end();
    let between = &bytes[before.len()..start];
    let is_first = |it: &[u8]| it.is_empty() || it.ends_with(b"\\n") || it.ends_with(b"\\r");
    let before = before
        .strip_suffix(b"export")
        .unwrap_or(before)
        .trim_ascii_end();
    is_first(before)
        || between.contains(&b'\n')
        || before.ends_with(b"-") && begins_line(bytes, before.len() - 1)
}
