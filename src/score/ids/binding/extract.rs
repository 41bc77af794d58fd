//! A value within a text, and the piece of a text that corresponds to a piece of another with the same wording.

use crate::text::generated::tokens;
use model::digits;
use serde_json::Value;

/// The piece of `live` that stands where `piece` stands in `recorded`: behind the same words. `None` when it cannot be determined.
pub(super) fn extract(recorded: &str, piece: &str, live: &str) -> Option<String> {
    let at = occurrences(recorded, piece).next()?;
    if recorded == live {
        return Some(piece.to_owned());
    }
    let before = &recorded[..at];
    let after = &recorded[at + piece.len()..];
    if let Some(found) = between(live, before, after).filter(|it| is_piece(it)) {
        return Some(found.to_owned());
    }
    let led = before.rsplit('\n').next().unwrap_or_default();
    let nth = |lead: &str| before.matches(lead).count().saturating_sub(1);
    for lead in leads(led) {
        if let Some(found) = behind(live, lead, nth(lead)) {
            return Some(found.to_owned());
        }
    }
    // At the start of the text, no words stand before it.
    if before.trim().is_empty() {
        return first_piece(live.trim_start()).map(str::to_owned);
    }
    None
}

/// What stands between the same beginning and the same end.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

/// The line's text before the piece: all of it, then with fewer and fewer of its words.
fn leads(line: &str) -> impl Iterator<Item = &str> {
    let starts = line
        .char_indices()
        .filter(|&(at, it)| {
            it.is_alphanumeric()
                && !line[..at]
                    .chars()
                    .next_back()
                    .is_some_and(char::is_alphanumeric)
        })
        .map(|(at, _)| at);
    let whole = (!line.trim().is_empty()).then_some(line);
    whole.into_iter().chain(starts.map(|at| &line[at..]))
}

/// The piece right behind an occurrence of `lead`.
fn behind<'t>(text: &'t str, lead: &str, nth: usize) -> Option<&'t str> {
    let mut ends = text.match_indices(lead).map(|(at, _)| at + lead.len());
    let end = ends.nth(nth)?;
    first_piece(&text[end..])
}

fn first_piece(text: &str) -> Option<&str> {
    let piece = *tokens(text).first()?;
    text.starts_with(piece).then_some(piece)
}

fn is_piece(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// A value as the text that may stand within others; `None` for what is no text and no number.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(digits::of(value).unwrap_or(text).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether the names of a value's two places say that it is an id, even if it does not look like one: `id: 17` from `item_id: 17`.
pub(super) fn is_id(value: &Value, argument: &str, source: &str) -> bool {
    let is_short_word = text_of(value).is_none_or(|it| !it.bytes().any(|it| it.is_ascii_digit()));
    let is_fraction = matches!(value, Value::Number(number) if number.is_f64());
    !is_short_word && !is_fraction && names_id(argument) && names_id(source)
}

/// Whether the last key of a path ends in a word for an id: `/items/0/itemId`.
fn names_id(path: &str) -> bool {
    const WORDS: [&str; 8] = [
        "id", "ids", "uuid", "guid", "cursor", "handle", "session", "token",
    ];
    let is_index = |it: &&str| it.bytes().all(|it| it.is_ascii_digit());
    let key = path
        .rsplit('/')
        .find(|it| !is_index(it))
        .unwrap_or_default();
    // A word begins after a sign, and where a capital follows a small letter.
    let boundary = key.char_indices().rev().find_map(|(at, it)| {
        let before = key[..at].chars().next_back();
        let capital = it.is_uppercase() && before.is_some_and(char::is_lowercase);
        let sign = (!it.is_alphanumeric()).then_some(at + it.len_utf8());
        sign.or(capital.then_some(at))
    });
    WORDS.contains(&key[boundary.unwrap_or(0)..].to_lowercase().as_str())
}

/// Where a value stands in a text with no letter or digit right before or after it.
pub(super) fn occurrences<'t>(text: &'t str, value: &'t str) -> impl Iterator<Item = usize> + 't {
    let found = text.match_indices(value).filter(|_| !value.is_empty());
    found
        .map(|(at, _)| at)
        .filter(move |&at| stands_alone(text, at, at + value.len()))
}

/// Whether the piece of a text from `start` to `end` is no part of a longer word or number.
pub(crate) fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let joins = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(char::is_alphanumeric) && outer.is_some_and(char::is_alphanumeric)
    };
    let piece = &text[start..end];
    !joins(piece.chars().next(), text[..start].chars().next_back())
        && !joins(piece.chars().next_back(), text[end..].chars().next())
}

/// The text with every occurrence of a value replaced; `None` when there is none.
pub(crate) fn replaced(text: &str, value: &str, by: &str) -> Option<String> {
    let mut filled = String::new();
    let mut rest = 0;
    for at in occurrences(text, value) {
        filled.push_str(&text[rest..at]);
        filled.push_str(by);
        rest = at + value.len();
    }
    filled.push_str(&text[rest..]);
    (rest > 0).then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::extract;
    use super::is_id;
    use serde_json::json;

    #[test]
    fn a_piece_is_found_behind_the_same_words() {
        let cases = [
            (
                "Created item 7f3c-a1.",
                "7f3c-a1",
                "Created item 99xx-b2.",
                Some("99xx-b2"),
            ),
            (
                "Created item 7f3c-a1 in 12 ms",
                "7f3c-a1",
                "Created item 99xx-b2 in 40 ms",
                Some("99xx-b2"),
            ),
            (
                "a\nid: x1y2\nb",
                "x1y2",
                "a\nmore\nid: z8z9\nc",
                Some("z8z9"),
            ),
            (
                "New: created item x1y2",
                "x1y2",
                "Done: created item z8z9",
                Some("z8z9"),
            ),
            (
                "from x1y2 to k3k4 now",
                "k3k4",
                "from a9a9 to b7b7 later",
                Some("b7b7"),
            ),
            (
                "item a1a1, item b2b2",
                "b2b2",
                "item c3c3, item d4d4",
                Some("d4d4"),
            ),
            (
                "https://h/items/4f2a/edit",
                "4f2a",
                "https://h/items/9b9b/edit",
                Some("9b9b"),
            ),
            ("x1y2 was created", "x1y2", "z8z9 was made", Some("z8z9")),
            (
                "Created item 7f3c-a1.",
                "7f3c-a1",
                "The disk is full.",
                None,
            ),
            ("no such piece", "7f3c-a1", "Created item 99xx-b2.", None),
        ];
        for (recorded, piece, live, expected) in cases {
            assert_eq!(
                extract(recorded, piece, live).as_deref(),
                expected,
                "{live}"
            );
        }
    }

    #[test]
    fn ids_are_known_by_their_names() {
        let seventeen = json!(17);
        for (argument, source) in [
            ("/id", "/id"),
            ("/itemId", "/items/0/id"),
            ("/ids/0", "/item_id"),
        ] {
            assert!(is_id(&seventeen, argument, source), "{argument} {source}");
        }
        for (argument, source) in [
            ("/limit", "/id"),
            ("/id", "/count"),
            ("/valid", "/grid"),
            ("/0", "/id"),
        ] {
            assert!(!is_id(&seventeen, argument, source), "{argument} {source}");
        }
        assert!(is_id(&json!("a7"), "/id", "/id"));
        assert!(!is_id(&json!("github:search"), "/id", "/id"), "a name");
        assert!(!is_id(&json!(1.5), "/id", "/id"));
    }
}
