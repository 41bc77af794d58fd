//! Texts from outside in Markdown as GitHub and GitLab read it: nothing in them becomes markup, a link, a mention or a command.
//!
//! Escaping markup is not enough, because both look for `@names`, `#numbers`, commits and addresses in what is left after that. They do not
//! look into code. So a word that could be anything but a word is shown as code.

use std::fmt::Write as _;

use crate::text::{block, line, shorten};

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a paragraph or a list.
    Text,
    /// In a cell of a table, which a `|` would end.
    Cell,
    /// Between tags of HTML, where Markdown is not read.
    Html,
}

/// The fewest letters that both take for the name of a commit.
const COMMIT_LETTERS: usize = 7;

/// A sentence of at most `limit` characters; what stands between backticks, and every word that could act, is code.
pub(super) fn prose(text: &str, limit: usize, place: Place) -> String {
    let shown = line(text);
    let shown = shorten(shown.trim(), limit);
    let parts: Vec<&str> = shown.split('`').collect();
    // Without a partner, a backtick is a character as any other.
    if parts.len().is_multiple_of(2) {
        return words(&shown, place);
    }
    let mut written = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        if at.is_multiple_of(2) {
            written.push_str(&words(part, place));
        } else if !part.is_empty() {
            written.push_str(&code(part, place));
        }
    }
    written
}

/// Words as they are, as far as they are plain; others that stand together are one piece of code. Blanks stay.
fn words(text: &str, place: Place) -> String {
    let mut written = String::new();
    let mut coded = String::new();
    let mut blanks = String::new();
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches(' ');
        let is_first = written.is_empty() && coded.is_empty();
        if bare.is_empty() {
            blanks.push_str(word);
        } else if is_plain(bare) && !(is_first && may_number_a_list(bare)) {
            if !coded.is_empty() {
                written.push_str(&code(&coded, place));
                coded.clear();
            }
            written.push_str(&blanks);
            written.push_str(bare);
            word[bare.len()..].clone_into(&mut blanks);
        } else {
            let gap = std::mem::take(&mut blanks);
            if coded.is_empty() {
                written.push_str(&gap);
            } else {
                coded.push_str(&gap);
            }
            coded.push_str(bare);
            word[bare.len()..].clone_into(&mut blanks);
        }
    }
    if !coded.is_empty() {
        written.push_str(&code(&coded, place));
    }
    written.push_str(&blanks);
    written
}

/// Whether a word means nothing to Markdown, nor to those who look for names, numbers, commits and addresses in a text.
fn is_plain(word: &str) -> bool {
    let inner = word.trim_start_matches(['(', '"', '\'']);
    let inner = inner.trim_end_matches(['.', ',', ';', ':', '?', ')', '"', '\'', '…']);
    if inner.is_empty() {
        return true;
    }
    if matches!(inner, "–" | "→" | "·" | "×" | "±") {
        return true;
    }
    let is_safe =
        |it: char| it.is_alphanumeric() || matches!(it, '.' | '-' | '/' | '\'' | '’' | '–');
    let lower = inner.to_ascii_lowercase();
    let mut pieces = inner.split(|it: char| !it.is_ascii_alphanumeric());
    let may_be_a_commit =
        pieces.any(|it| it.len() >= COMMIT_LETTERS && it.bytes().all(|it| it.is_ascii_hexdigit()));
    inner.chars().all(is_safe)
        && inner.starts_with(char::is_alphanumeric)
        && !may_be_a_commit
        && !lower.starts_with("www.")
        && !lower.starts_with("gh-")
}

/// `1.` or `1)`, with which a list begins at the beginning of a line.
fn may_number_a_list(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']);
    number.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
}

/// A text on one line as code.
pub(super) fn code(text: &str, place: Place) -> String {
    let shown = line(text);
    let ends_early = shown.contains('`') || shown.trim().is_empty();
    let ends_cell = place == Place::Cell && shown.contains(['|', '\\']);
    if !ends_early && !ends_cell && place != Place::Html {
        return format!("`{shown}`");
    }
    let mut written = String::from("<code>");
    for it in shown.chars() {
        if it.is_ascii_punctuation() {
            let _ = write!(written, "&#{};", u32::from(it));
        } else {
            written.push(it);
        }
    }
    written.push_str("</code>");
    written
}

/// Lines as a block of code that none of them ends, with an empty line before and behind it.
pub(super) fn fence(language: &str, lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|it| block(it)).collect();
    let longest = lines.iter().map(|it| longest_run(it)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut written = format!("\n{fence}{language}\n");
    for it in &lines {
        written.push_str(it);
        written.push('\n');
    }
    let _ = writeln!(written, "{fence}\n");
    written
}

/// How many backticks stand in a row, at most.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|it| it != '`');
    runs.map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Place, code, fence, prose};

    #[test]
    fn what_could_act_is_code() {
        for (text, expected) in [
            (
                "tool `get-sum` is gone; nearest: `add`",
                "tool `get-sum` is gone; nearest: `add`",
            ),
            ("ask @admin, or see #12", "ask `@admin,` or see `#12`"),
            ("call 1, mcp__a__b, failed", "call 1, `mcp__a__b,` failed"),
            (
                "expected {\"a\": 1}, got 2.",
                "expected `{\"a\": 1},` got 2.",
            ),
            (
                "see https://evil.example and www.evil.example",
                "see `https://evil.example` and `www.evil.example`",
            ),
            (
                "commit deadbeef1 is 1.5 × slower",
                "commit `deadbeef1` is 1.5 × slower",
            ),
            ("</details> <b>x", "`</details> <b>x`"),
            ("/close this", "`/close` this"),
            ("- a", "`-` a"),
            ("1. a", "`1.` a"),
            (
                "run 20261120-192208-7f3a (exit code 2)",
                "run `20261120-192208-7f3a` (exit code 2)",
            ),
            ("one ` alone", "one <code>&#96;</code> alone"),
            ("a\nb", "`a\\nb`"),
        ] {
            assert_eq!(prose(text, 200, Place::Text), expected, "{text}");
        }
        assert_eq!(prose("a | b", 200, Place::Cell), "a <code>&#124;</code> b");
        assert_eq!(
            prose("a <b> c", 200, Place::Html),
            "a <code>&#60;b&#62;</code> c"
        );
        assert_eq!(prose("abcdef", 3, Place::Text), "abc…");
    }

    #[test]
    fn code_ends_where_it_should() {
        assert_eq!(code("a|b", Place::Text), "`a|b`");
        assert_eq!(code("a`b", Place::Text), "<code>a&#96;b</code>");
        assert_eq!(code(" ", Place::Text), "<code> </code>");
        let lines = ["```".to_owned(), "</details>".to_owned()];
        assert_eq!(
            fence("text", &lines),
            "\n````text\n```\n</details>\n````\n\n"
        );
    }
}
