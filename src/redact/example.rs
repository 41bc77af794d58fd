//! Values that only stand where a secret would.

use std::sync::LazyLock;

use regex::Regex;

/// References to variables, brackets to fill in, and words that are the whole value.
const WHOLE: &str = r"(?xi)
      \$\{ | \{\{ | \$\( | ^\$[a-z_][a-z0-9_]*$ | ^%[a-z0-9_]+%$ | ^%\([a-z_]+\)   # references
    | ^[<\[(] | [>\]]$                                             # <token>, [REDACTED]
    | (?-i: EXAMPLE (?: KEY )? $)                                  # as Amazon's documentation ends its keys
    | ^(?: true | false | null | none | nil | undefined | string | text | number | boolean | object | required | optional
         | bearer | basic | token | secret | password | cookie | authorization | api[-_]?key | test | todo | env )$
";

/// Blanks, and what documentation writes in place of a secret, as a word of its own: `your-token-here`, `myExampleKey1`.
const PART: &str = r"(?xi)
      xxxx | \*\*\* | \.\.\. | … | ___
    | (?: ^ | [^a-z0-9] ) [a-z]{0,12}
      (?: your | example | placeholder | change[-_]?me | dummy | redacted )
      [a-z]{0,12} [0-9]{0,4} (?: [^a-z0-9] | $ )
";

/// A piece this long, of letters and digits without any order, is nothing that somebody has made up for readers.
const RANDOM: usize = 20;

static WHOLE_PATTERN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(WHOLE).expect("a valid pattern"));
static PART_PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(PART).expect("a valid pattern"));

/// Whether a value where a secret would stand is none: a reference, a blank, a word of documentation. A key that merely holds such
/// letters is a key.
pub(super) fn is_example(value: &str) -> bool {
    let value = value.trim();
    let mut rest = value.chars();
    let first = rest.next();
    WHOLE_PATTERN.is_match(value)
        || rest.all(|it| Some(it) == first)
        || PART_PATTERN.is_match(value) && !has_random_piece(value)
}

fn has_random_piece(value: &str) -> bool {
    let mut pieces = value.split(|it: char| !it.is_ascii_alphanumeric());
    pieces.any(|it| {
        it.len() >= RANDOM
            && it.bytes().any(|it| it.is_ascii_digit())
            && it.bytes().any(|it| it.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::is_example;

    #[test]
    fn what_merely_holds_the_letters_of_an_example_is_none() {
        let random = "a1B2c3D4e5F6g7H8i9J0k1L2m3";
        for (value, expected) in [
            ("your-api-key", true),
            ("YOUR_TOKEN_HERE", true),
            ("yourtoken", true),
            ("sk-your-key-here", true),
            ("myExampleKey1", true),
            ("changeme", true),
            ("change-me", true),
            ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", true),
            ("AKIAIOSFODNN7EXAMPLE", true),
            ("${TOKEN}", true),
            ("<redacted:value:1>", true),
            ("hunter2", false),
            (&format!("ghp_your{random}"), false),
            (&format!("ghp_{random}example"), false),
            (&format!("sk-ant-api03-{random}-example-{random}"), false),
            (&format!("sk-{random}xxxx{random}"), false),
            (&format!("{random}___{random}"), false),
        ] {
            assert_eq!(is_example(value), expected, "{value}");
        }
    }
}
