//! What secrets look like: the shapes that vendors document for secret scanning, and where each begins.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::random;

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
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) prefix: &'static str,
    /// What may stand behind the prefix.
    alphabet: fn(u8) -> bool,
    /// The shortest and the longest run of it.
    length: (usize, usize),
}

/// The longest key of a known shape but a JWT, in bytes.
const LONGEST_KEY: usize = 1024;

/// The longest JWT, in bytes: it may hold many claims; and the longest header of one.
const LONGEST_JWT: (usize, usize) = (16 * 1024, 2 * 1024);

/// The longest block that holds a private key, in bytes.
const LONGEST_BLOCK: usize = 64 * 1024;

fn alphanumeric(it: u8) -> bool {
    it.is_ascii_alphanumeric()
}

fn word(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_'
}

fn dashed(it: u8) -> bool {
    it.is_ascii_alphanumeric() || b"_-".contains(&it)
}

fn dotted(it: u8) -> bool {
    dashed(it) || it == b'.'
}

fn path(it: u8) -> bool {
    dashed(it) || it == b'/'
}

/// As hashes of passwords are written (crypt(5)).
fn hashed(it: u8) -> bool {
    it.is_ascii_alphanumeric() || b"./$".contains(&it)
}

fn capital(it: u8) -> bool {
    it.is_ascii_uppercase() || it.is_ascii_digit()
}

fn lower_hex(it: u8) -> bool {
    it.is_ascii_digit() || (b'a'..=b'f').contains(&it)
}

/// `sk-learn-pipeline-of-2024` has such a prefix, too: a key has a long piece without any order.
fn has_long_piece(run: &str) -> bool {
    run.split(['-', '_']).take(8).any(|it| {
        it.len() >= 16
            && it.bytes().any(|it| it.is_ascii_digit())
            && it.bytes().any(|it| it.is_ascii_alphabetic())
    })
}

/// Two parts with a dot between, as the keys of `SendGrid` have them.
fn has_two_parts(run: &str) -> bool {
    run.split_once('.')
        .is_some_and(|(id, secret)| id.len() >= 12 && secret.len() >= 16)
}

/// The fewest characters that the header, behind its first three, and the payload of a JWT have.
const SHORTEST_JWT_PART: usize = 8;

/// Header and payload of a JWT (RFC 7519, section 3), both objects in base64url, and a signature, which may be empty.
fn is_jwt(run: &str) -> bool {
    let mut parts = run.split('.');
    let header = parts.next().is_some_and(|it| it.len() >= SHORTEST_JWT_PART);
    let payload = parts
        .next()
        .is_some_and(|it| it.starts_with("eyJ") && it.len() >= SHORTEST_JWT_PART);
    header && payload
}

/// All of them, as `shapes.txt` has them. Of two prefixes that fit at one place, the longer one counts.
pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let rows = include_str!("shapes.txt").lines();
    rows.filter(|it| !it.starts_with('#'))
        .flat_map(|row| {
            let mut words = row.split_ascii_whitespace();
            let [kind, letters, length] = [(); 3].map(|()| words.next().unwrap_or_default());
            let (shortest, longest) = length.split_once('-').unwrap_or((length, ""));
            let count = |text: &str| text.parse().unwrap_or(usize::MAX);
            words.map(move |prefix| Shape {
                kind,
                prefix,
                alphabet: alphabet(letters),
                length: (count(shortest), count(longest)),
            })
        })
        .collect()
});

/// What a word of `shapes.txt` stands for.
fn alphabet(name: &str) -> fn(u8) -> bool {
    match name {
        "alphanumeric" => alphanumeric,
        "word" => word,
        "dotted" => dotted,
        "path" => path,
        "hashed" => hashed,
        "capital" => capital,
        "lower_hex" => lower_hex,
        _ => dashed,
    }
}

impl Shape {
    /// How long the key is that has its prefix at the start of a text, if there is one.
    pub(super) fn length(&self, text: &str) -> Option<usize> {
        let behind = text.strip_prefix(self.prefix)?.as_bytes();
        let longest = match self.prefix {
            // What does not begin as one is none, however long.
            "eyJ" => {
                let header = &behind[..behind.len().min(LONGEST_JWT.1)];
                let dot = memchr::memchr(b'.', header)?;
                let begins = behind.get(..dot + 1 + SHORTEST_JWT_PART)?;
                let (header, payload) = (&begins[..dot], &begins[dot + 1..]);
                let is_run = |part: &[u8]| part.iter().all(|it| (self.alphabet)(*it));
                if dot < SHORTEST_JWT_PART
                    || !payload.starts_with(b"eyJ")
                    || !is_run(payload)
                    || !is_run(header)
                {
                    return None;
                }
                LONGEST_JWT.0
            }
            // So short a prefix stands in many texts.
            "sk-" => LONGEST_KEY / 4,
            _ => LONGEST_KEY,
        };
        let run = behind
            .iter()
            .take(longest)
            .take_while(|it| (self.alphabet)(**it))
            .count();
        let (shortest, longest) = self.length;
        // A sentence may end behind it.
        let mut whole = self.prefix.len() + run;
        while whole > self.prefix.len() && b".-".contains(&text.as_bytes()[whole - 1]) {
            whole -= 1;
        }
        let run = &text[self.prefix.len()..whole];
        let is_one = match self.prefix {
            "sk-" => has_long_piece(run),
            "SG." => has_two_parts(run),
            "eyJ" => is_jwt(run),
            _ => true,
        };
        (is_one && (shortest..=longest).contains(&run.len())).then_some(whole)
    }
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
    let whole = |it: &&Shape| it.length(value) == Some(value.len());
    let longest = SHAPES.iter().filter(whole).max_by_key(|it| it.prefix.len());
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
    let decoded = STANDARD_NO_PAD.decode(encoded.trim_end_matches('='));
    let decoded = decoded.ok().and_then(|it| String::from_utf8(it).ok());
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

/// A Telegram bot's token around the `:AA` at this place: the digits of the bot before it, 35 characters behind it.
pub(super) fn telegram(text: &str, colon: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let digits = bytes[..colon]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_digit())
        .count();
    let behind = bytes[colon + 1..]
        .iter()
        .take_while(|it| dashed(**it))
        .count();
    ((8..=12).contains(&digits) && (30..=40).contains(&behind))
        .then_some((colon - digits, colon + 1 + behind))
}

/// The end of a block that begins with `-----BEGIN … PRIVATE KEY … -----` at this place; of one that is cut, the end of what is there.
/// `None` where a text only speaks of such blocks.
pub(super) fn private_key(text: &str, begin: usize) -> Option<usize> {
    const LONGEST_HEAD: usize = 60;
    let behind = &text[begin..];
    let head = behind[11..]
        .find("-----")
        .filter(|it| *it <= LONGEST_HEAD)?
        + 11;
    if !behind[..head].to_ascii_uppercase().contains("PRIVATE KEY") {
        return None;
    }
    let body = head + 5;
    let block = &behind.as_bytes()[body..behind.len().min(body + LONGEST_BLOCK)];
    // No block holds another one.
    let next = memchr::memmem::find(block, b"-----BEGIN ").unwrap_or(block.len());
    let block = &block[..next];
    if let Some(end) = memchr::memmem::find(block, b"-----END ") {
        let end = body + end;
        let tail = behind[end + 9..]
            .find("-----")
            .filter(|it| *it <= LONGEST_HEAD);
        return Some(begin + tail.map_or(end + 9, |it| end + 9 + it + 5));
    }
    // Base64, line breaks and what stands for them.
    let rest = block;
    let is_body = |it: &&u8| it.is_ascii_alphanumeric() || b"+/=\\ \r\n\t:,.-".contains(it);
    let length = rest.iter().take_while(is_body).count();
    let letters = rest[..length]
        .iter()
        .filter(|it| it.is_ascii_alphanumeric())
        .count();
    (letters >= 40 && rest[..length].iter().any(u8::is_ascii_digit))
        .then_some(begin + body + length)
}

#[cfg(test)]
mod tests {
    use super::{SHAPES, begins_word, is_bearer_token, kind_of, private_key};

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
    fn each_shape_knows_a_key_of_its_own() {
        for shape in &*SHAPES {
            let run = match shape.prefix {
                "eyJ" => format!("hbGciOiJI.eyJ{}.sig", "zdWIi".repeat(3)),
                "SG." => format!("{}.{}", "a1B2c3".repeat(3), "d4E5f6".repeat(4)),
                "dop_v1_" | "doo_v1_" | "dor_v1_" => "a1b2c3d4".repeat(8),
                "AKIA" | "ASIA" => "A1B2C3D4".repeat(2),
                "AGE-SECRET-KEY-1" => "A1".repeat(29),
                _ => "a1B2c3D4".repeat(8),
            };
            let key = format!("{}{run}", shape.prefix);
            assert_eq!(kind_of(&key), Some(shape.kind), "{key}");
        }
        assert_eq!(kind_of("sk-learn-pipeline-of-2024-in-production"), None);
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
        let cut = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n",
            "MIIEabc1".repeat(9)
        );
        assert_eq!(private_key(&cut, 0), Some(cut.len()));
    }
}
