//! The pieces of a text that may be values of their own, and which of them look as if a server had made them up.

use serde_json::Value;

use model::placeholder::{is_placeholder, placeholders};

/// Whole numbers from here on are ids rather than counts and limits.
const LARGE: u64 = 10_000;

/// The pieces of a text between white space and punctuation. `-`, `_` and `.` hold a piece together, and a redacted secret is one.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for it in placeholders(text) {
        plain_tokens(&text[from..it.at.start], &mut found);
        found.push(&text[it.at.clone()]);
        from = it.at.end;
    }
    plain_tokens(&text[from..], &mut found);
    found
}

fn plain_tokens<'t>(text: &'t str, found: &mut Vec<&'t str>) {
    let pieces = text.split(|it: char| !it.is_alphanumeric() && !matches!(it, '-' | '_' | '.'));
    let pieces = pieces.map(|it| it.trim_matches(['-', '.']));
    found.extend(pieces.filter(|it| !it.is_empty()));
}

/// Whether a value looks made up by a server: a redacted secret, a large whole number, or a text with a piece that no person would
/// have chosen.
pub(crate) fn is_generated(value: &Value) -> bool {
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

/// Whether a piece mixes letters and digits (`4f2a`), has many digits (`item-8731`), or is long and has some (`tok_ab12`). Versions and
/// dates do not count.
fn is_generated_token(token: &str) -> bool {
    if is_placeholder(token) {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_generated, tokens};

    #[test]
    fn made_up_values_are_distinguished_from_chosen_ones() {
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
            json!("<secret:github-token>"),
            json!("<secret:var.token:base64>"),
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
