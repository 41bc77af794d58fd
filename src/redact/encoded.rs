//! Texts within a text that are encoded in base64: files as answers hold them, `data:` addresses, lines of 76 letters as in mails.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::extent::{line_break, spaces};

/// The shortest run that is decoded, in letters: what a shorter one says is no key and its value.
const SHORTEST: usize = 16;

/// The shortest line of a run that goes on in the next one, in letters.
const SHORTEST_LINE: usize = 40;

/// Tells each run of base64 or base64url that is a text, and what it says. What it says is not decoded again.
pub(super) fn each(text: &str, mut tell: impl FnMut(Range<usize>, &str)) {
    each_with(text, b"+/", &mut tell);
    each_with(text, b"-_", &mut tell);
}

fn each_with(text: &str, signs: &[u8], tell: &mut impl FnMut(Range<usize>, &str)) {
    let bytes = text.as_bytes();
    let run = |from: usize| {
        let letters = bytes[from..].iter();
        from + letters
            .take_while(|it| it.is_ascii_alphanumeric() || signs.contains(it))
            .count()
    };
    let mut at = 0;
    while at < bytes.len() {
        let start = at + within_escape(&bytes[..at], &bytes[at..]);
        let mut end = run(start);
        at = end + 1;
        if end < start + SHORTEST {
            continue;
        }
        let mut letters = text[start..end].to_owned();
        // All lines of a run but the last have one length.
        let width = letters.len();
        let mut last = width;
        while last == width && width >= SHORTEST_LINE {
            let Some(next) = line_break(bytes, end).map(|length| spaces(bytes, end + length))
            else {
                break;
            };
            let line = next..run(next);
            last = line.len();
            let is_line = matches!(
                bytes.get(line.end),
                None | Some(b'\n' | b'\r' | b'\\' | b'=' | b'"' | b'\'')
            );
            if last == 0 || last > width || !is_line {
                break;
            }
            letters.push_str(&text[line.clone()]);
            end = line.end;
        }
        // What is cut off says as much as is there.
        let says = decoded(&letters).or_else(|| decoded(&letters[..letters.len() & !3]));
        if let Some(decoded) = says {
            let padding = bytes[end..]
                .iter()
                .take(2)
                .take_while(|it| **it == b'=')
                .count();
            tell(start..end + padding, &decoded);
        }
        at = at.max(end + 1);
    }
}

/// How many letters at the beginning of a text belong to an escape that begins before it: `\n`, `%2C`, `\u0022`.
fn within_escape(before: &[u8], text: &[u8]) -> usize {
    match (before, text) {
        ([.., b'\\'], [b'n' | b'r' | b't', ..]) => 1,
        ([.., b'\\'], [b'u', ..]) => text.len().min(5),
        ([.., b'%'], [a, b, ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => 2,
        _ => 0,
    }
}

/// What letters say, where it is a text.
pub(super) fn decoded(letters: &str) -> Option<String> {
    let engine = if letters.contains(['-', '_']) {
        URL_SAFE_NO_PAD
    } else {
        STANDARD_NO_PAD
    };
    let decoded = String::from_utf8(engine.decode(letters).ok()?).ok()?;
    let is_text = |it: char| !it.is_control() || it.is_ascii_whitespace();
    decoded.chars().all(is_text).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};

    use super::each;

    /// The longest run that says something.
    fn found(text: &str) -> Option<(&str, String)> {
        let mut found = Vec::new();
        each(text, |at, says| found.push((&text[at], says.to_owned())));
        found.into_iter().max_by_key(|it| it.0.len())
    }

    #[test]
    fn runs_that_say_something_are_found_wherever_they_stand() {
        let says = "password: hunter2 <<???>> and so much more of it, \u{fc} and \u{e9}\n";
        for encoded in [
            STANDARD.encode(says),
            URL_SAFE.encode(says),
            URL_SAFE_NO_PAD.encode(says),
        ] {
            for text in [
                encoded.clone(),
                format!("data:text/plain;base64,{encoded}"),
                format!("a\\n{encoded}\\n"),
                format!("x%2C{encoded}%20"),
                format!("say {encoded}."),
                format!("\u{e9}{encoded}\u{e9}"),
            ] {
                assert_eq!(
                    found(&text),
                    Some((encoded.as_str(), says.to_owned())),
                    "{text}"
                );
            }
        }
        let cut = STANDARD.encode("password: hunter2, and more");
        assert_eq!(found(&cut[..25]).unwrap().1, "password: hunter2,");
    }

    #[test]
    fn lines_of_one_run_are_one_and_what_follows_them_is_not() {
        let says = "a line of text with nothing in it\n".repeat(9);
        let encoded = STANDARD.encode(&says);
        for (width, end) in [(76, "\n"), (64, "\r\n"), (76, "\\n"), (76, "\n    ")] {
            let lines: Vec<&str> = (0..encoded.len())
                .step_by(width)
                .map(|at| &encoded[at..encoded.len().min(at + width)])
                .collect();
            let wrapped = lines.join(end);
            let text = format!("{wrapped}{end}and some words");
            assert_eq!(
                found(&text),
                Some((wrapped.as_str(), says.clone())),
                "{text}"
            );
        }
    }

    #[test]
    fn pictures_hashes_and_names_say_nothing() {
        let picture = STANDARD.encode([0x89, b'P', b'N', b'G', 0, 1, 2, 0xff].repeat(20));
        let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for text in [
            picture.as_str(),
            hash,
            "production_database_of_the_customers",
            "getAllOfTheCustomersByName",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
