//! Recognising random values: those that nobody would write by chance.

/// The shortest random value.
const SHORTEST: usize = 8;

/// How many surprises make a value random.
const SURPRISES: usize = 3;

/// Whether nobody would write a value by chance: a token, not a word, a path or a name with a number behind it.
///
/// Counted are places inside of words where letters turn to digits, digits to letters, or small letters to capitals, as no language
/// has them; a number at the end of a word (`report2024`) is none.
pub(super) fn is_random(value: &str) -> bool {
    // `2026-11-22T10:00:00Z`
    let digits = |range: std::ops::Range<usize>| {
        value
            .get(range)
            .is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
    };
    if digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && value.as_bytes()[4] == b'-'
        && value.as_bytes()[7] == b'-'
    {
        return false;
    }
    let pieces = value.split(|it: char| !it.is_alphanumeric());
    value.len() >= SHORTEST && pieces.map(surprises).sum::<usize>() >= SURPRISES
}

/// Whether a value is one word, as a name of a user or of a mode is: letters alone, and few of them.
pub(super) fn is_word(value: &str) -> bool {
    const LONGEST: usize = 12;
    let mut letters = value.chars();
    let first = letters.next();
    let rest = letters.as_str();
    value.chars().count() <= LONGEST
        && first.is_some_and(char::is_alphabetic)
        && (rest.chars().all(char::is_lowercase) || value.chars().all(char::is_uppercase))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Small,
    Capital,
    Digit,
}

fn surprises(piece: &str) -> usize {
    let classes: Vec<Class> = piece
        .chars()
        .map(|it| {
            if it.is_numeric() {
                Class::Digit
            } else if it.is_uppercase() {
                Class::Capital
            } else {
                Class::Small
            }
        })
        .collect();
    let letters = classes.iter().take_while(|it| **it != Class::Digit).count();
    let is_numbered = letters >= 3 && classes[letters..].iter().all(|it| *it == Class::Digit);
    let turns = classes.windows(2).filter(|it| match (it[0], it[1]) {
        // As a capital begins a name.
        (Class::Capital, Class::Small) => false,
        (Class::Small | Class::Capital, Class::Digit) => !is_numbered,
        (before, after) => before != after,
    });
    let turns = turns.count();
    // Letters alone, in camel case, are a name, however long.
    if classes.contains(&Class::Digit) || turns > 4 {
        turns
    } else {
        turns.min(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_random, is_word};

    #[test]
    fn tokens_are_random_and_names_are_none() {
        for (value, expected) in [
            ("canary-env-4f9d2c71b6", true),
            ("Zq81-mmP0-7yyt-lkq3", true),
            ("Tr0ub4dor&3x", true),
            ("123e4567-e89b-12d3-a456-426614174000", true),
            ("production-database", false),
            ("/var/lib/postgres/data", false),
            ("customer-2024-report", false),
            ("myServiceName", false),
            ("hunter2", false),
            ("report2024.csv", false),
            ("20240105", false),
        ] {
            assert_eq!(is_random(value), expected, "{value}");
        }
        assert!(is_word("postgres") && is_word("Customer") && is_word("TEST"));
        assert!(!is_word("hunter2") && !is_word("two words") && !is_word("averyveryverylongone"));
    }
}
