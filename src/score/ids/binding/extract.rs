//! Finds the piece of a text that corresponds to a piece of another text with the same wording.

use crate::text::generated::tokens;

use super::within::occurrences;

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

#[cfg(test)]
mod tests {
    use super::extract;

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
}
