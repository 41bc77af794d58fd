//! Texts from outside in Markdown as GitHub and GitLab read it, and the limits on them: all of them are code.
//!
//! Escaping markup is not enough, because both look for `@names`, `#numbers`, commits and addresses in what is left after that. They do not
//! look into code. Nor does it help to look for words that mean harm: a sentence that means none to Markdown may mean some to an agent. So
//! prose is what this program says word for word, and whatever may hold a word of somebody else is code as a whole.

use std::fmt::Write as _;

use model::text::{block, line, shorten};

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

/// A text of at most `limit` characters, on one line as code; empty where there is nothing in it.
pub(super) fn theirs(text: &str, limit: usize, place: Place) -> String {
    let shown = line(text);
    match shorten(shown.trim(), limit) {
        nothing if nothing.is_empty() => String::new(),
        shown => code(&shown, place),
    }
}

/// A text on one line as code.
pub(super) fn code(text: &str, place: Place) -> String {
    let shown = line(text);
    let is_blank = shown.trim().is_empty();
    let ends_cell = place == Place::Cell && shown.contains(['|', '\\']);
    if !is_blank && !ends_cell && place != Place::Html {
        let ticks = "`".repeat(longest_run(&shown) + 1);
        // One blank at both ends is taken off again by who reads it.
        let is_edge = |it: char| it == '`' || it == ' ';
        let room = if shown.starts_with(is_edge) || shown.ends_with(is_edge) {
            " "
        } else {
            ""
        };
        return format!("{ticks}{room}{shown}{room}{ticks}");
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

/// The longest text, in bytes: GitHub takes comments of 65,536 characters, and somebody may add a line to it.
pub(super) const LIMIT: usize = 59_000;

/// The most lines: what is longer, nobody reads in a comment.
pub(super) const LINES: usize = 120;

/// The longest texts from outside, in characters, and how many of what are shown.
pub(super) const NAME_CHARS: usize = 80;
pub(super) const PATH_CHARS: usize = 160;
pub(super) const SENTENCE_CHARS: usize = 240;
pub(super) const URL_CHARS: usize = 1000;
pub(super) const DETAIL_CHARS: usize = 400;
pub(super) const PROBLEM_LINES: usize = 60;
pub(super) const CAUSES: usize = 10;
pub(super) const FOLLOWS: usize = 3;
pub(super) const LOG_LINES: usize = 3;
/// How many scenarios are listed, in whatever part.
pub(super) const SCENARIOS: usize = 10;
/// How many reasons stand where there is little room.
pub(super) const REASONS: usize = 3;
/// How many cells of a matrix are listed.
pub(super) const CELLS: usize = 10;
/// How many names of scenarios stand behind a cause.
pub(super) const NAMES: usize = 5;
/// How many pages elsewhere are linked.
pub(super) const LINKS: usize = 10;
/// How many scenario files stand in a command.
pub(super) const FILES: usize = 20;
/// What it takes to say how many are left out, in bytes and in lines.
pub(super) const REST: usize = 1000;
pub(super) const REST_LINES: usize = 2;

/// A line of a text from outside, not longer than there is room for.
pub(super) fn clipped(text: &str) -> String {
    shorten(&line(text), DETAIL_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Place, code, fence, theirs};

    #[test]
    fn what_others_say_is_code_however_harmless_it_looks() {
        for (text, expected) in [
            ("all is well", "`all is well`"),
            ("`get-sum` is gone", "`` `get-sum` is gone ``"),
            ("was (`python3`)", "``was (`python3`)``"),
            ("a `` b", "```a `` b```"),
            ("one ` alone", "``one ` alone``"),
            ("ask @admin, or see #12", "`ask @admin, or see #12`"),
            ("</details> <b>x", "`</details> <b>x`"),
            ("- a", "`- a`"),
            ("a\nb", "`a\\nb`"),
            ("  a ", "`a`"),
            ("", ""),
        ] {
            assert_eq!(theirs(text, 200, Place::Text), expected, "{text}");
        }
        assert_eq!(theirs("abcdef", 3, Place::Text), "`abc…`");
    }

    #[test]
    fn code_ends_where_it_should() {
        assert_eq!(code("a|b", Place::Text), "`a|b`");
        assert_eq!(code("a|b", Place::Cell), "<code>a&#124;b</code>");
        assert_eq!(code("a`b", Place::Cell), "``a`b``");
        assert_eq!(code("a <b>", Place::Html), "<code>a &#60;b&#62;</code>");
        assert_eq!(code(" ", Place::Text), "<code> </code>");
        let lines = ["```".to_owned(), "</details>".to_owned()];
        assert_eq!(
            fence("text", &lines),
            "\n````text\n```\n</details>\n````\n\n"
        );
    }
}
