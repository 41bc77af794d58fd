//! The pieces of a text that may be values of their own, and which of them look as if a server had made them up.

use serde_json::Value;

use crate::digits;

/// How a redacted secret begins.
const PLACEHOLDER: &str = "<redacted:";

/// Whole numbers from here on are ids rather than counts and limits.
const LARGE: u64 = 10_000;

/// A value as the text that may stand within others; `None` for what is no text and no number.
pub(in crate::score) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(digits::of(value).unwrap_or(text).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The pieces of a text between white space and punctuation. `-`, `_` and `.` hold a piece together, and a redacted secret is one.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(PLACEHOLDER) {
        let Some(length) = rest[start..].find('>') else {
            break;
        };
        plain_tokens(&rest[..start], &mut found);
        found.push(&rest[start..=start + length]);
        rest = &rest[start + length + 1..];
    }
    plain_tokens(rest, &mut found);
    found
}

fn plain_tokens<'t>(text: &'t str, found: &mut Vec<&'t str>) {
    let pieces = text.split(|it: char| !it.is_alphanumeric() && !matches!(it, '-' | '_' | '.'));
    let pieces = pieces.map(|it| it.trim_matches(['-', '.']));
    found.extend(pieces.filter(|it| !it.is_empty()));
}

/// Whether a value looks made up by a server: a redacted secret, a large whole number, or a text with a piece that no person would
/// have chosen.
pub(in crate::score) fn is_generated(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
            size.is_some_and(|it| it >= LARGE)
        }
        Value::String(text) => {
            !text.contains(char::is_whitespace) && tokens(text).into_iter().any(is_generated_token)
        }
        _ => false,
    }
}

/// Mixed letters and digits (`4f2a`), many digits (`item-8731`), some in a long piece (`tok_ab12`); no version and no date.
fn is_generated_token(token: &str) -> bool {
    if token.starts_with(PLACEHOLDER) {
        return true;
    }
    if is_version_or_date(token) {
        return false;
    }
    let digits = token.chars().filter(char::is_ascii_digit).count();
    let turns = turns(token);
    let length = token.chars().count();
    (digits >= 3 && length >= 5) || (digits >= 2 && length >= 8) || (turns >= 2 && length >= 4)
}

/// Whether a value is an id by the names of the two places it stands in, though it looks like any other: `id: 17` from `item_id: 17`.
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

/// How often letters follow on digits, or digits on letters, with nothing between them.
fn turns(token: &str) -> usize {
    let bytes = token.as_bytes().windows(2);
    bytes
        .filter(|pair| {
            (pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit())
                || (pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic())
        })
        .count()
}

fn is_version_or_date(token: &str) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let bare = token.strip_prefix(['v', 'V']).unwrap_or(token);
    let is_version = bare.contains('.')
        && bare.split('.').all(is_number)
        && bare.split('.').all(|it| it.len() <= 3);
    let date: Vec<&str> = token.split('-').collect();
    let is_date = matches!(date.as_slice(), [year, month, day]
        if [year.len(), month.len(), day.len()] == [4, 2, 2] && date.iter().all(|it| is_number(it)));
    is_version || is_date
}

/// Where a value stands in a text with no letter or digit right before or after it.
pub(in crate::score) fn occurrences<'t>(
    text: &'t str,
    value: &'t str,
) -> impl Iterator<Item = usize> + 't {
    let found = text.match_indices(value).filter(|_| !value.is_empty());
    found
        .map(|(at, _)| at)
        .filter(move |&at| stands_alone(text, at, at + value.len()))
}

/// Whether the piece of a text from `start` to `end` is no part of a longer word or number.
pub(in crate::score) fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let joins = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(char::is_alphanumeric) && outer.is_some_and(char::is_alphanumeric)
    };
    let piece = &text[start..end];
    !joins(piece.chars().next(), text[..start].chars().next_back())
        && !joins(piece.chars().next_back(), text[end..].chars().next())
}

/// The text with every occurrence of a value replaced; `None` when there is none.
pub(super) fn replaced(text: &str, value: &str, by: &str) -> Option<String> {
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
    use serde_json::{Value, json};

    use super::{is_generated, is_id, tokens};

    #[test]
    fn made_up_values_are_told_from_chosen_ones() {
        let made_up = [
            json!("item-8731"),
            json!("T-1042"),
            json!("tok_ab12"),
            json!("4f2a"),
            json!("550e8400-e29b-41d4-a716-446655440000"),
            json!("https://host/items/4f2a91/edit"),
            json!("/tmp/ws-8f3a"),
            json!("482913"),
            json!(482_913),
            json!("<redacted:value:1>"),
        ];
        let chosen = [
            json!("printEnv"),
            json!("github:search"),
            json!("c-announcements"),
            json!("base64"),
            json!("utf-8"),
            json!("v1.12.3"),
            json!("2026-01-02"),
            json!("http://localhost:8080/mcp"),
            json!("Release note 20261"),
            json!(8080),
            json!(1.5),
            json!(true),
            Value::Null,
        ];
        for value in made_up {
            assert!(is_generated(&value), "{value}");
        }
        for value in chosen {
            assert!(!is_generated(&value), "{value}");
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

    #[test]
    fn texts_fall_into_pieces() {
        let text = "Created item 7f3c-a1. Bearer <redacted:value:1>, see https://h/i/9?x=y_z";
        let pieces = [
            "Created",
            "item",
            "7f3c-a1",
            "Bearer",
            "<redacted:value:1>",
            "see",
            "https",
            "h",
            "i",
            "9",
            "x",
            "y_z",
        ];
        assert_eq!(tokens(text), pieces);
    }
}
