//! Finding the beginning and end of a value in a text: quoted however often, bare, in a block of lines, in an element.

use std::ops::Range;

/// The longest value, in bytes: where a text has no end for it, the search for one ends here.
const LONGEST_VALUE: usize = 8 * 1024;

/// The longest name of a parameter or an element that is looked at, in bytes.
const LONGEST_NAME: usize = 128;

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
    let limit = bytes.len().min(from + LONGEST_VALUE);
    closing_within(bytes, from, opening, limit).unwrap_or_else(|| character_end(bytes, limit))
}

/// The same, where there is such an end before a place.
pub(super) fn closing_within(
    bytes: &[u8],
    from: usize,
    opening: Quote,
    limit: usize,
) -> Option<usize> {
    let own = opening.backslashes;
    let mut backslashes = 0;
    for (at, it) in bytes.iter().enumerate().take(limit).skip(from) {
        match it {
            b'\\' => backslashes += 1,
            it if *it == opening.sign
                && (backslashes < own || backslashes % (2 * (own + 1)) == own) =>
            {
                return Some(at - backslashes.min(own));
            }
            _ => backslashes = 0,
        }
    }
    None
}

/// The end of the character that a place lies in.
pub(super) fn character_end(bytes: &[u8], at: usize) -> usize {
    let is_within = |it: &&u8| **it & 0b1100_0000 == 0b1000_0000;
    at + bytes[at..].iter().take_while(is_within).count()
}

/// A value without quotes. At the beginning of a line, as in YAML and `.env` files, it goes to the next space; else what separates
/// parameters ends it, too.
///
/// An `&` ends what stands before another parameter, and begins a sign as HTML writes it.
pub(super) fn bare(text: &str, from: usize, whole_line: bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes[..from].iter().rev().take(LONGEST_NAME);
    let is_parameter = before
        .copied()
        .find(|it| b"?&\"' \t\n".contains(it))
        .is_some_and(|it| b"?&".contains(&it));
    let goes_on = |at: usize| {
        let name = bytes[at + 1..]
            .iter()
            .take_while(|it| !b"=&\"'<>`".contains(it) && !it.is_ascii_whitespace());
        let sign = bytes[at + 1..]
            .iter()
            .take_while(|it| it.is_ascii_alphanumeric() || **it == b'#');
        let is_sign = bytes.get(at + 1 + sign.count()) == Some(&b';');
        !is_parameter && !is_sign && bytes.get(at + 1 + name.count()) != Some(&b'=')
    };
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
            || !whole_line && b",;)}]|".contains(&it)
            || !whole_line && it == b'&' && !goes_on(at)
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

/// The text of an element that is called so: `<password>x</password>`, with attributes, and in a section of data.
pub(super) fn element(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    const DATA: &str = "<![CDATA[";
    let up_to = |end: usize| character_end(text.as_bytes(), text.len().min(end));
    let near = |from: usize| &text[from..up_to(from + LONGEST_NAME)];
    let attributes = near(end).split('>').next()?;
    let is_tag =
        attributes.is_empty() || attributes.starts_with([' ', '\n']) && !attributes.contains('<');
    let is_element = is_tag && text[..start].ends_with(['<', ':']) && !attributes.ends_with('/');
    let inner = text.get(end + attributes.len() + 1..);
    let inner = inner.filter(|_| is_element)?;
    let is_data = inner.starts_with(DATA);
    let from = text.len() - inner.len() + if is_data { DATA.len() } else { 0 };
    let value = &text[from..up_to(from + LONGEST_VALUE)];
    let length = value.find(if is_data { "]]>" } else { "<" })?;
    let behind = near(from + length).trim_start_matches("]]>");
    let (closes, _) = behind.strip_prefix("</")?.split_once('>')?;
    let is_whole = closes.ends_with(&text[start..end]) && !closes.contains('<');
    is_whole.then_some(from..from + length)
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

/// The lines of a text from a place on, also where their ends are escaped, however often.
pub(super) fn lines(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let bytes = text.as_bytes();
    let mut next = Some(from);
    std::iter::from_fn(move || {
        let start = next?;
        let end = (start..bytes.len()).find(|at| line_break(bytes, *at).is_some());
        next = end.and_then(|end| Some(end + line_break(bytes, end)?));
        Some(start..end.unwrap_or(bytes.len()))
    })
}

/// How long the end of a line is that stands here, be it escaped.
pub(super) fn line_break(bytes: &[u8], at: usize) -> Option<usize> {
    /// How often an end is escaped at most.
    const MOST: usize = 16;
    let escapes = bytes[at.min(bytes.len())..].iter().take(MOST);
    let escapes = escapes.take_while(|it| **it == b'\\').count();
    let [feed, back] = if escapes == 0 { *b"\n\r" } else { *b"nr" };
    let length = escapes + 1;
    match bytes.get(at + escapes) {
        Some(it) if *it == feed => Some(length),
        Some(it) if *it == back => {
            let next = bytes.get(at + length..at + 2 * length);
            let is_feed = next.is_some_and(|it| {
                it[escapes] == feed && !it[..escapes].iter().any(|it| *it != b'\\')
            });
            Some(if is_feed { 2 * length } else { length })
        }
        _ => None,
    }
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
