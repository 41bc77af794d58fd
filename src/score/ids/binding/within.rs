//! A value within a text: where it occurs, and whether the names of its places say that it is an id.

use serde_json::Value;

use model::digits;

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
    use serde_json::json;

    use super::is_id;

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
