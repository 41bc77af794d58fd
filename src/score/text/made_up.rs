//! Ids that are one run of letters and digits: which runs look generated, and which may stand for which.

/// Git abbreviates its hashes to seven digits.
const SHORT_HEX: usize = 7;
/// The shortest run of letters and digits that may be recognised as random by its characters.
const LONG: usize = 12;
/// In a random run, at least one of so many characters is of another class than the one before it.
const PER_CHANGE: usize = 3;
/// So many small letters in a row count as a word, in runs that are separated by signs as paths are.
const WORD: usize = 3;
const LONG_RUN: usize = 64;

/// The signs of base64.
pub(super) const SIGNS: [char; 3] = ['+', '/', '='];

/// Whether a run looks made up, rather than put together from words and numbers: `3f9a12c`, `q7Zk0Pb2xW9a`.
pub(super) fn is_id(run: &str) -> bool {
    mixes(run) && (is_short_hex(run) || is_random(run))
}

/// Whether letters and digits alternate in a run, as they do in no name with a number and in no number with a unit.
pub(in crate::score) fn alternates(run: &str) -> bool {
    let turns = run.as_bytes().windows(2);
    let turns = turns.filter(|it| it[0].is_ascii_digit() != it[1].is_ascii_digit());
    mixes(run) && turns.count() >= 2
}

/// Whether a run has both letters and digits in it, and is nothing else but the signs of base64.
pub(in crate::score) fn mixes(run: &str) -> bool {
    is_base64(run)
        && run.bytes().any(|it| it.is_ascii_digit())
        && run.bytes().any(|it| it.is_ascii_alphabetic())
}

/// Whether an id may stand where another was recorded: one of its sort.
pub(in crate::score) fn may_stand_for(recorded: &str, current: &str) -> bool {
    if is_unmistakable(recorded) && is_unmistakable(current) {
        return true;
    }
    let (was, now) = (recorded.len(), current.len());
    let is_number = !current.is_empty() && current.bytes().all(|it| it.is_ascii_digit());
    if was >= SHORT_HEX && is_hex(recorded) {
        // A short hash may have no letters, which happens in one of thirty, or, in one of a thousand, no digits.
        let is_short = now + 1 == was || now == was || now == was + 1;
        return is_hex(current)
            && (now == was || (is_number && is_short) || (mixes(current) && 2 * now > was));
    }
    if was >= LONG {
        return is_base64(current)
            && (2 * was..=6 * was).contains(&(3 * now))
            && (mixes(current) || changes(current) * PER_CHANGE >= now);
    }
    is_plain(current) && (mixes(current) || (is_number && now == was))
}

/// A UUID, an address, or a long run of hexadecimal digits.
fn is_unmistakable(text: &str) -> bool {
    let is_uuid = text.len() == 36 && text.bytes().filter(|it| *it == b'-').count() == 4;
    is_uuid || text.starts_with("0x") || (text.len() >= LONG && is_hex(text))
}

fn is_short_hex(run: &str) -> bool {
    let has = |of: fn(&u8) -> bool| run.as_bytes().iter().any(of);
    (SHORT_HEX..LONG).contains(&run.len())
        && is_hex(run)
        && !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
}

/// Whether a long run changes between capitals, small letters and digits more often than any name does.
fn is_random(run: &str) -> bool {
    let body = run.trim_end_matches('=');
    run.len() >= LONG
        && run.len() - body.len() <= 2
        && !body.contains('=')
        && (changes(body) - capitals_of_words(body)) * PER_CHANGE >= body.len()
        && (is_plain(body) || !looks_like_a_path(body))
}

fn looks_like_a_path(run: &str) -> bool {
    let is_word =
        |it: &str| it.len() >= WORD && it.bytes().skip(1).all(|it| it.is_ascii_lowercase());
    // In a very long run, a word may occur by chance.
    run.starts_with('/') || (run.len() < LONG_RUN && run.split(['/', '+']).any(is_word))
}

/// How often a small letter comes after a capital, as in names of several words.
fn capitals_of_words(run: &str) -> usize {
    let pairs = run.as_bytes().windows(2);
    let pairs = pairs.filter(|it| it[0].is_ascii_uppercase() && it[1].is_ascii_lowercase());
    pairs.count()
}

/// How often a character is of another class than the one before it.
fn changes(run: &str) -> usize {
    let class = |it: u8| match it {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let pairs = run.as_bytes().windows(2);
    pairs.filter(|it| class(it[0]) != class(it[1])).count()
}

fn is_hex(run: &str) -> bool {
    !run.is_empty() && run.bytes().all(|it| it.is_ascii_hexdigit())
}

fn is_plain(run: &str) -> bool {
    !run.is_empty() && run.bytes().all(|it| it.is_ascii_alphanumeric())
}

fn is_base64(run: &str) -> bool {
    !run.is_empty()
        && run
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || SIGNS.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::{is_id, may_stand_for};

    #[test]
    fn ids_are_told_from_names_and_numbers() {
        for run in [
            "3f9a12c",
            "82e782ac",
            "1E23456",
            "q7Zk0Pb2xW9a",
            "aB3+x/9Kq2Lm",
            "dGhpcyBpcyBh5Q==",
        ] {
            assert!(is_id(run), "{run}");
        }
        for run in [
            "v1",
            "2E5",
            "e5",
            "3elephants",
            "1234567",
            "defaced",
            "a3f9c1",
            "parseHTML5Document",
            "getUserName2",
            "build20240115",
            "/tmp/tmpAb3dE9f",
            "src/Main2/File3",
            "12345678901234",
        ] {
            assert!(!is_id(run), "{run}");
        }
    }

    #[test]
    fn an_id_stands_for_those_of_its_sort() {
        let cases = [
            ("3f9a12c", "e77b695", true),
            ("3f9a12c", "1234567", true),
            ("3f9a12c", "82e782ac", true),
            ("3f9a12c", "defaced", true),
            ("3f9a12c", "ERROR12", false),
            ("3f9a12c", "null", false),
            ("3f9a12c", "404", false),
            ("q7Zk0Pb2xW9a", "XaBcDeFGhiJK", true),
            ("q7Zk0Pb2xW9a", "unauthorised", false),
            ("q7Zk0Pb2xW9a", "no", false),
            ("a3f9c1", "771234", true),
            ("a3f9c1", "77", false),
            ("a3f9c1", "ERROR", false),
            (
                "6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b1a11",
                "0x7f3a2c001b40",
                true,
            ),
            ("6f1c9b7e-3c1d-4a52-9a54-0d2f6f0b1a11", "3f9a12c", false),
        ];
        for (recorded, current, expected) in cases {
            assert_eq!(
                may_stand_for(recorded, current),
                expected,
                "{recorded} {current}"
            );
        }
    }
}
