//! Shapes of secrets, as vendors document them for secret scanning, and finding the beginning of each.

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use regex::Regex;

use super::extent::{character_end, lines};
use super::{encoded, random};

/// The kind of a secret that a scenario's own pattern has found.
pub(super) const BY_PATTERN: &str = "pattern";

/// The kind of a name and a password behind the word `Basic`.
pub(super) const BASIC: &str = "basic-credentials";

/// The kind of a password in an address.
const URL_PASSWORD: &str = "url-password";

/// The kind of a token in the place of the user of an address.
const URL_TOKEN: &str = "url-token";

/// The kind of a block that holds a private key.
pub(super) const PRIVATE_KEY: &str = "private-key";

/// A kind of key with a prefix that nobody writes by chance, and a long run of a narrow alphabet behind it.
#[derive(Clone)]
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) prefix: &'static str,
    row: Arc<Row>,
}

/// What a row of `shapes.txt` says of what stands around the prefix.
struct Row {
    before: Option<&'static str>,
    behind: &'static str,
    /// Made when the first prefix of the row is met: most are never.
    patterns: OnceLock<Option<[Regex; 2]>>,
}

/// The longest key of a known shape but a JWT, in bytes.
const LONGEST_KEY: usize = 1024;

/// The longest JWT, in bytes: it may hold many claims; and the longest header of one.
const LONGEST_JWT: (usize, usize) = (16 * 1024, 2 * 1024);

/// The longest block that holds a private key, in bytes.
const LONGEST_BLOCK: usize = 64 * 1024;

/// `sk-learn-pipeline-of-2024` has such a prefix, too: a key has a long piece without any order.
fn has_long_piece(run: &str) -> bool {
    run.split(['-', '_']).take(8).any(|it| {
        it.len() >= 16
            && it.bytes().any(|it| it.is_ascii_digit())
            && it.bytes().any(|it| it.is_ascii_alphabetic())
    })
}

/// Whether a run of several pieces is written for readers: words, maybe with a number behind them, and years.
fn is_made_of_words(run: &str) -> bool {
    let is_word = |piece: &str| {
        let letters = piece.trim_end_matches(|it: char| it.is_ascii_digit());
        let digits = &piece[letters.len()..];
        let is_year = digits.len() == 4 && ["19", "20"].iter().any(|it| digits.starts_with(it));
        let is_lower = letters.bytes().skip(1).all(|it| it.is_ascii_lowercase());
        let is_upper = letters.bytes().all(|it| it.is_ascii_uppercase());
        match letters {
            "" => piece.is_empty() || is_year,
            _ => (is_lower || is_upper) && digits.len() <= 2,
        }
    };
    let separates = |it: char| !it.is_ascii_alphanumeric();
    let is_long = |it: &str| it.len() >= 4 && it.bytes().skip(1).all(|it| it.is_ascii_lowercase());
    run.contains(separates)
        && run.split(separates).any(is_long)
        && run.split(separates).all(is_word)
}

/// The fewest characters that the header, behind its first three, of a JWT has (RFC 7519, section 3).
const SHORTEST_JWT_HEADER: usize = 8;

/// All of them, as `shapes.txt` has them.
pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let rows = include_str!("shapes.txt").lines();
    rows.filter(|it| !it.starts_with('#'))
        .flat_map(|row| {
            let mut words = row.split_ascii_whitespace();
            let [kind, pattern] = [(); 2].map(|()| words.next().unwrap_or_default());
            let parts = pattern.split_once('…');
            let row = Arc::new(Row {
                before: parts.map(|it| it.0),
                behind: parts.map_or(pattern, |it| it.1),
                patterns: OnceLock::new(),
            });
            words.map(move |prefix| Shape {
                kind,
                prefix,
                row: Arc::clone(&row),
            })
        })
        .collect()
});

impl Row {
    fn patterns(&self) -> Option<&[Regex; 2]> {
        let made = self.patterns.get_or_init(|| {
            let before = self.before.unwrap_or_default();
            let before = Regex::new(&format!("(?:{before})$")).ok()?;
            Some([before, Regex::new(&format!("^(?:{})", self.behind)).ok()?])
        });
        made.as_ref()
    }
}

impl Shape {
    /// Where the key stands that has its prefix at this place, if there is one.
    pub(super) fn around(&self, text: &str, at: usize) -> Option<Range<usize>> {
        /// How far before its prefix a key, or the command with it, may begin, in bytes.
        const BEFORE: usize = 512;
        let behind = text[at..].strip_prefix(self.prefix)?;
        let longest = match self.prefix {
            // What does not begin as one is none, however long.
            "eyJ" => {
                let header = &behind.as_bytes()[..behind.len().min(LONGEST_JWT.1)];
                let dot = memchr::memchr(b'.', header)?;
                let is_one = dot >= SHORTEST_JWT_HEADER && behind[dot + 1..].starts_with("eyJ");
                is_one.then_some(LONGEST_JWT.0)?
            }
            // So short a prefix stands in many texts.
            "sk-" => LONGEST_KEY / 4,
            _ => LONGEST_KEY,
        };
        let near = &behind[..character_end(behind.as_bytes(), behind.len().min(longest))];
        let [before, pattern] = self.row.patterns()?;
        let found = pattern.captures(near)?;
        let from = character_end(text.as_bytes(), at.saturating_sub(BEFORE));
        let given = found.iter().skip(1).flatten().next().map(|it| it.range());
        if let Some(given) = given.filter(|_| before.is_match(&text[from..at])) {
            let start = at + self.prefix.len();
            return begins_word(text, at).then_some(start + given.start..start + given.end);
        }
        let run = found.get(0)?.as_str();
        // A sentence may end behind it.
        let shorter = run.trim_end_matches(['.', '-']);
        let is_whole = |it: &str| {
            pattern
                .find(it)
                .is_some_and(|found| found.len() == it.len())
        };
        let run = if is_whole(shorter) { shorter } else { run };
        let next = near.as_bytes().get(run.len());
        let is_one = !next.is_some_and(u8::is_ascii_alphanumeric)
            && !is_made_of_words(run)
            && (self.prefix != "sk-" || has_long_piece(run));
        let start = match self.row.before {
            Some(_) => from + before.find(&text[from..at])?.start(),
            None => may_begin(self.prefix, text, at).then_some(at)?,
        };
        is_one.then_some(start..at + self.prefix.len() + run.len())
    }
}

/// Prefixes of few letters stand in words by chance (`task-`, `desk-`); long ones follow anything.
fn may_begin(prefix: &str, text: &str, at: usize) -> bool {
    // Names of caches end so, too: `cache-key-…`.
    if prefix == "key-" && text[..at].ends_with(['-', '_']) {
        return false;
    }
    let is_unmistakable = prefix.len() >= 4 && prefix.bytes().any(|it| b"_-./".contains(&it));
    is_unmistakable || begins_word(text, at)
}

/// Whether a key may begin at this place: no word goes on there. What an escape ends with (`\n`, `\u0022`, `%3D`) is no letter of a
/// word, nor is one of another alphabet.
pub(super) fn begins_word(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let Some(last) = before.last() else {
        return true;
    };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let ends_unicode = |it: &[u8]| {
        it.len() >= 6
            && it[it.len() - 6..].starts_with(b"\\u")
            && it[it.len() - 4..].iter().all(u8::is_ascii_hexdigit)
    };
    match before {
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'\\', b'x', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        // The end of what gives a terminal a colour.
        [.., b'm'] => ends_colour(before),
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        before => ends_unicode(before),
    }
}

/// Whether a text ends with `[`, numbers and `m`: an escape sequence that sets a colour (ECMA-48, section 8.3.117).
fn ends_colour(before: &[u8]) -> bool {
    let numbers = before[..before.len() - 1].iter().rev();
    let numbers = numbers
        .take_while(|it| it.is_ascii_digit() || **it == b';')
        .count();
    before.get(before.len().wrapping_sub(numbers + 2)) == Some(&b'[')
}

/// The kind of a value that is nothing but a key of a known shape.
pub(super) fn kind_of(value: &str) -> Option<&'static str> {
    let is_whole = |it: &&Shape| {
        let at = it.row.before.map_or(Some(0), |_| value.find(it.prefix));
        at.and_then(|at| it.around(value, at)) == Some(0..value.len())
    };
    let longest = SHAPES
        .iter()
        .filter(is_whole)
        .max_by_key(|it| it.prefix.len());
    longest.map(|it| it.kind)
}

/// Whether what stands behind the word `Bearer`, without any header, is a token: `Bearer authentication is required` speaks of none.
pub(super) fn is_bearer_token(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    value.len() >= 8
        && (has(u8::is_ascii_digit)
            || value.bytes().skip(1).any(|it| it.is_ascii_uppercase())
                && has(u8::is_ascii_lowercase)
            || value.len() >= 24 && !value.contains(['-', '_', '/']))
}

/// Whether a value is a name and a password in base64 (RFC 7617, section 2).
pub(super) fn is_name_and_password(encoded: &str) -> bool {
    let decoded = encoded::decoded(encoded.trim_end_matches('='));
    decoded.is_some_and(|it| it.contains(':') && !it.contains(char::is_control))
}

/// Whether what stands alone in the place of a user in an address is a token: `git@host` and `jane.doe@host` are people.
fn is_url_token(user: &str) -> bool {
    kind_of(user).is_some()
        || user.len() >= 16
            && (random::is_random(user) || user.bytes().any(|it| it.is_ascii_digit()))
}

/// The password, or the token, before the `@` of an address (RFC 3986, section 3.2.1), whose `://` stands here: its kind and place.
pub(super) fn in_address(text: &str, colon: usize) -> Option<(&'static str, Range<usize>)> {
    const LONGEST: usize = 2048;
    let start = colon + 3;
    let ends = |it: &u8| it.is_ascii_whitespace() || b"/?#\"'<>\\`".contains(it);
    let length = text.as_bytes()[start..]
        .iter()
        .take_while(|it| !ends(it))
        .count();
    let authority = text.get(start..start + length.min(LONGEST))?;
    // A password may hold an `@` itself.
    let user_info = &authority[..authority.rfind('@')?];
    let (kind, from) = match user_info.split_once(':') {
        Some((user, password)) if !password.is_empty() => (URL_PASSWORD, user.len() + 1),
        // `https://TOKEN:@host`, `https://TOKEN@host`.
        Some((user, _)) if is_url_token(user) => (URL_TOKEN, 0),
        None if is_url_token(user_info) => (URL_TOKEN, 0),
        _ => return None,
    };
    let secret = user_info[from..].trim_end_matches(':');
    Some((kind, start + from..start + from + secret.len()))
}

/// The end of a block that begins with `-----BEGIN … PRIVATE KEY … -----` at this place: of its END line, or of the last line before the
/// first one that belongs to no such block (RFC 1421, section 4.4; RFC 7468, section 2). `None` where a text only speaks of such blocks.
pub(super) fn private_key(text: &str, begin: usize) -> Option<usize> {
    const LONGEST_HEAD: usize = 71;
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    let furthest = character_end(text.as_bytes(), text.len().min(begin + LONGEST_HEAD + 5));
    let body = begin + BEGIN.len();
    let head = text.get(body..furthest)?.find("-----")? + body;
    let name = &text[begin..head];
    if !name.to_ascii_uppercase().contains("PRIVATE KEY") {
        return None;
    }
    let body = head + 5;
    let (mut end, mut letters) = (body, 0);
    // The length of the first line; and whether no other line of that kind may come.
    let (mut width, mut is_over) = (0, false);
    let limit = character_end(text.as_bytes(), text.len().min(body + LONGEST_BLOCK));
    let limit = text[body..limit].find(BEGIN).map_or(limit, |it| body + it);
    for line in lines(&text[..limit], body) {
        let last = text[line.clone()].find(END).map(|it| line.start + it);
        let content = text[line.start..last.unwrap_or(line.end)].trim_matches(is_around_line);
        let words = || content.split_ascii_whitespace();
        // Where the lines of a block are joined by spaces, all words but the last are as long as lines.
        let is_body = words().all(is_base64) && words().rev().skip(1).all(|it| it.len() >= 40);
        let name = content.split_once(": ").map(|it| it.0);
        let is_header = letters == 0 && name.is_some_and(|it| !it.contains(' '));
        let belongs =
            content.is_empty() || is_header || is_body && (!is_over || content.starts_with('='));
        if !belongs {
            break;
        }
        if let Some(last) = last {
            let name = last + END.len();
            let tail = text[name..].find("-----").filter(|it| *it <= LONGEST_HEAD);
            return Some(tail.map_or(name, |it| name + it + 5));
        }
        let length = content.bytes().filter(|it| *it != b'\\').count();
        if content.is_empty() || content == "+" {
            is_over |= letters > 0 && text[line].trim().is_empty();
        } else if !is_header {
            width = width.max(length);
            is_over |= length < width;
            letters += length;
            end = line.end;
        }
    }
    (letters >= 40).then_some(end)
}

/// What stands around the lines of a block where it is quoted: as YAML, diffs, comments and programs do.
fn is_around_line(it: char) -> bool {
    it.is_ascii_whitespace() || "\"'`\\,;>|#*".contains(it)
}

fn is_base64(word: &str) -> bool {
    word.bytes()
        .all(|it| it.is_ascii_alphanumeric() || b"+/=\\".contains(&it))
}

#[cfg(test)]
mod tests {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::string::string_regex;
    use proptest::test_runner::TestRunner;

    use super::{SHAPES, begins_word, has_long_piece, is_bearer_token, kind_of, private_key};

    #[test]
    fn a_key_begins_behind_anything_but_a_word() {
        for (before, expected) in [
            ("", true),
            (" ", true),
            ("\\n", true),
            ("\\\\n", true),
            ("=", true),
            ("%3D", true),
            ("\\u0022", true),
            ("ключ", true),
            ("n", false),
            ("task", false),
            ("_", true),
            ("\u{1b}[1;32m", true),
            ("\\u001b[0m", true),
            ("\\x00", true),
            ("am", false),
        ] {
            let text = format!("{before}sk-");
            assert_eq!(begins_word(&text, before.len()), expected, "{before}");
        }
    }

    #[test]
    fn each_shape_knows_the_keys_of_its_row() {
        let mut runner = TestRunner::deterministic();
        // Of commands, only what is given is one.
        let shapes = SHAPES.iter().filter(|it| !it.row.behind.contains("(["));
        for shape in shapes {
            let pattern = format!(
                "{}{}{}",
                shape.row.before.unwrap_or_default(),
                regex::escape(shape.prefix),
                shape.row.behind
            );
            let keys = string_regex(&pattern).unwrap();
            for _ in 0..16 {
                let key = keys.new_tree(&mut runner).unwrap().current();
                let run = key.strip_prefix(shape.prefix).unwrap_or(&key);
                // Real ones of this length have a digit; and what ends a sentence may end no key.
                if shape.prefix == "sk-" && !has_long_piece(run) || key.ends_with(['.', '-']) {
                    continue;
                }
                assert_eq!(kind_of(&key), Some(shape.kind), "{key}");
                let at = 1 + key.find(shape.prefix).unwrap();
                let found = shape.around(&format!("({key}), and so on"), at);
                assert_eq!(found, Some(1..key.len() + 1), "{key}");
            }
        }
    }

    #[test]
    fn words_hashes_and_ids_are_no_keys() {
        let hex = "a1b2c3d4e5f60718".repeat(4);
        let hash = &hex[..40];
        let texts = [
            "sk-learn-pipeline-of-2024-in-production sk-ipping-stones-across-the-lake-of-2024",
            "pypi-publish-to-the-test-index-and-production glpat-is-the-prefix-of-such-a-token",
            "vca_handler_of_the_second_kind_of_event sb_secret_is_the_prefix_of_the_new_keys",
            "figd_variables_of_the_design_system_2024 nfp_report_of_the_month_for_all_of_them",
            "xai-grok-code-fast-1 secret_manager_service secret_name ntn_ pat.name patches",
            "NRAK-is-the-prefix-of-user-keys dckr_pat_is_the_prefix_of_tokens 1//0 ATBB",
            "MTA.server.configuration ND.abcdef.words NT4.0 OD600 and Mzab",
            &format!("{hex} {hash} sha256:{hex} SK-{hash} dapi_{hash} secret_{hash} sbp_"),
            "123e4567-e89b-12d3-a456-426614174000 pk.eyJ1IjoiYWJjIn0.abcdefghijklmnopqrstuv",
            "AC0123456789abcdef0123456789abcdef",
        ];
        for text in texts {
            for shape in &*SHAPES {
                let found = text.match_indices(shape.prefix);
                let mut found = found.filter_map(|(at, _)| shape.around(text, at));
                assert_eq!(found.next().map(|it| &text[it]), None, "{}", shape.kind);
            }
        }
    }

    #[test]
    fn what_almost_is_a_token_takes_no_longer_for_being_long() {
        // Each of these begins like a JWT whose header is too short; to look at the whole run for each takes a minute.
        assert_eq!(kind_of(&"eyJhbGciOi.".repeat(100_000)), None);
    }

    #[test]
    fn prose_about_tokens_and_keys_is_no_secret() {
        assert!(
            !is_bearer_token("authentication") && !is_bearer_token("tokens-are-not-supported-here")
        );
        assert!(is_bearer_token("abcdef12") && is_bearer_token("abcDEFghi"));
        let prose = "-----BEGIN PRIVATE KEY----- begins such a file";
        assert_eq!(private_key(prose, 0), None);
        let block = format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\\n{}\\n-----END PGP PRIVATE KEY BLOCK----- x",
            "MIIEabc1".repeat(9)
        );
        assert_eq!(private_key(&block, 0), Some(block.len() - 2));
        let line = "MIIEabc1".repeat(8);
        let begin = "-----BEGIN RSA PRIVATE KEY-----";
        let end = "-----END RSA PRIVATE KEY-----";
        let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n";
        for (block, behind) in [
            (
                format!("{begin}\n{head}\n{line}\n{line}\nMIIE1=\n{end}"),
                "\nx",
            ),
            (format!("{begin}\\n{line}\\n{line}\\n\\n{end}"), "\\nx"),
            (format!("{begin} {line} {line} MIIE1= {end}"), " x"),
            (
                format!("{begin}\" +\n  \"{line}\\n\" +\n  \"{line}\\n{end}"),
                "\"",
            ),
            (
                format!("  {begin}\n    {line}\n    {line}\n  {end}"),
                "\n  b: c",
            ),
            (format!("{begin}\n{line}"), "\n"),
            (
                format!("{begin}\n{line}\n{line}\nMIIE1="),
                "\n\nDone\nstatus: 1\n",
            ),
            (
                format!("{begin}\n{line}\n{line}"),
                "\nThe build finished\n-----END CERTIFICATE-----",
            ),
            (
                format!("{begin}\n{line}"),
                "\n-----BEGIN CERTIFICATE-----\nMIIC\n",
            ),
        ] {
            let at = block.find('-').unwrap();
            let text = format!("{block}{behind}");
            assert_eq!(private_key(&text, at), Some(block.len()), "{text}");
        }
        let spoken = format!("{begin}\n(left out)\nstatus: 12\n{end}");
        assert_eq!(private_key(&spoken, 0), None);
    }
}
