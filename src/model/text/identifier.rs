//! Ids, hashes and tokens within a text: what names something and is read as a whole, if at all.

use std::ops::Range;

/// The lengths of the parts of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

/// The shortest hash, as git cuts one, and the shortest token of other letters.
const HASH: usize = 7;
const TOKEN: usize = 12;

/// How often letters and digits take turns at least: `abc123` is a name with a number, and `d8c15e7` is none.
const TURNS_OF_HASH: usize = 2;
const TURNS_OF_TOKEN: usize = 3;

/// Where ids, hashes and tokens stand, in order.
pub(super) fn identifiers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes[at..].iter();
        let run = rest.take_while(|it| it.is_ascii_alphanumeric()).count();
        let is_at_start = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let length = match uuid_length(&bytes[at..]).filter(|_| is_at_start) {
            Some(uuid) => uuid,
            None if is_identifier(&bytes[at..at + run]) => run,
            None => {
                at += run.max(1);
                continue;
            }
        };
        found.push(at..at + length);
        at += length;
    }
    found
}

/// How long the UUID is that a text begins with.
fn uuid_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (part, length) in UUID.into_iter().enumerate() {
        if part > 0 {
            bytes.get(at).filter(|it| **it == b'-')?;
            at += 1;
        }
        let digits = bytes.get(at..at + length)?;
        digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += length;
    }
    let goes_on = bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    (!goes_on).then_some(at)
}

/// Whether letters and digits are mixed as nobody would write them.
fn is_identifier(run: &[u8]) -> bool {
    let turns = run
        .windows(2)
        .filter(|it| it[0].is_ascii_digit() != it[1].is_ascii_digit())
        .count();
    let is_hash = run.iter().all(u8::is_ascii_hexdigit) && run.len() >= HASH;
    (is_hash && turns >= TURNS_OF_HASH) || (run.len() >= TOKEN && turns >= TURNS_OF_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn identifiers_are_distinguished_from_words_and_numbers() {
        for (text, expected) in [
            (
                "id 6823de55-e2aa-4f1c-9b0d-0123456789ab!",
                "6823de55-e2aa-4f1c-9b0d-0123456789ab",
            ),
            ("at d8c15e7, dirty", "d8c15e7"),
            (
                "key sk_4eC39HqLyjWDarjtT1zdp7dc.",
                "4eC39HqLyjWDarjtT1zdp7dc",
            ),
            ("ü6823de55-e2aa-4f1c-9b0d-0123456789abx", "6823de55"),
            ("version12 of 2026-11-23T10:00:00Z", ""),
            ("19.99 euros for the deadbeef, 1h30m15s, 100000 times", ""),
        ] {
            let found: Vec<&str> = identifiers(text).into_iter().map(|it| &text[it]).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
