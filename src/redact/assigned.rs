//! Secrets behind a key in a text: `password: x`, `TOKEN=x`, `--password x`, `"api_key": "x"`, in JSON however deeply it is quoted.

use std::ops::Range;

use super::hit::{Hit, Name};
use super::keys::{self, SecretKey};
use super::random;

/// The longest key that is looked at.
const LONGEST_KEY: usize = 64;

/// The largest object or list under a secret key that is looked into, in bytes.
const LARGEST_CONTAINER: usize = 1024 * 1024;

/// The longest value, in bytes: where a text has no end for it, the search for one ends here.
const LONGEST_VALUE: usize = 8 * 1024;

/// What stands behind a key.
pub(super) struct Assigned {
    /// Up to where the text need not be looked at for keys again.
    pub(super) end: usize,
    /// Up to where an object or a list has been looked through.
    pub(super) looked_through: usize,
    pub(super) values: Vec<Hit<'static>>,
}

/// A text quoted once or several times: how many backslashes stand before its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quote {
    sign: u8,
    backslashes: usize,
}

/// Looks at the key around `hint` and what it is given. Objects and lists that begin before `looked_through` are part of another one, in
/// which all was found.
pub(super) fn after_key(text: &str, hint: Range<usize>, looked_through: usize) -> Assigned {
    let bytes = text.as_bytes();
    let is_key = |it: u8| it.is_ascii_alphanumeric() || b"_.-".contains(&it);
    let behind = bytes[hint.end..]
        .iter()
        .take_while(|it| is_key(**it))
        .count();
    let before = bytes[..hint.start]
        .iter()
        .rev()
        .take(LONGEST_KEY)
        .take_while(|it| is_key(**it))
        .count();
    let (mut start, end) = (hint.start - before, hint.end + behind);
    // What an escape ends with is no letter of the key: `\npassword`.
    if bytes[..start].ends_with(b"\\") && start < hint.start {
        start += if bytes[start] == b'u' { 5 } else { 1 };
    }
    // As people write it: `API key: x`.
    let is_key_alone = text
        .get(start..end)
        .is_some_and(|it| it.eq_ignore_ascii_case("key"));
    if is_key_alone && ends_with_word(&bytes[..start], b"api ") {
        start -= 4;
    }
    let nothing = Assigned {
        end,
        looked_through,
        values: Vec::new(),
    };
    let Some(key) = text.get(start..end).filter(|_| behind <= LONGEST_KEY) else {
        return nothing;
    };
    // Most words that hold a hint are given nothing; and `password.` ends a sentence, and is no path to a member.
    if !may_be_given(bytes, key, end) || key.ends_with('.') {
        return nothing;
    }
    let Some(secret) = keys::secret_key(key) else {
        return nothing;
    };
    if let Some(from) = container_at(bytes, end) {
        if from < looked_through {
            return nothing;
        }
        let (values, to) = container(text, from, secret);
        return Assigned {
            end,
            looked_through: to,
            values,
        };
    }
    let values = values(text, (start, key, end), secret);
    let last = values.last().map_or(end, |it| it.at.end);
    Assigned {
        end: end.max(last),
        looked_through,
        values,
    }
}

/// Where the object or the list begins that is given to the key that ends here.
fn container_at(bytes: &[u8], end: usize) -> Option<usize> {
    let at = spaces(
        bytes,
        quote_at(bytes, end).map_or(end, |it| end + it.backslashes + 1),
    );
    let separator = [&b"=>"[..], b":=", b"=", b":"];
    let separator = separator
        .into_iter()
        .find(|it| bytes[at..].starts_with(it))?;
    let from = spaces(bytes, at + separator.len());
    matches!(bytes.get(from), Some(b'{' | b'[')).then_some(from)
}

/// Whether something may be given to the key that ends here: a quick look.
fn may_be_given(bytes: &[u8], key: &str, end: usize) -> bool {
    let quote = quote_at(bytes, end);
    let at = spaces(bytes, quote.map_or(end, |it| end + it.backslashes + 1));
    match bytes.get(at) {
        Some(b'=' | b':' | b',' | b'\n' | b'\r' | b'\\' | b'>' | b'\'') => true,
        Some(b'i') => bytes[at..].starts_with(b"is "),
        Some(_) => key.starts_with('-') || key.eq_ignore_ascii_case("password"),
        None => false,
    }
}

fn values(
    text: &str,
    (start, key, end): (usize, &str, usize),
    secret: SecretKey,
) -> Vec<Hit<'static>> {
    let bytes = text.as_bytes();
    let quote = quote_at(bytes, end);
    let mut at = quote.map_or(end, |it| end + it.backslashes + 1);
    at = spaces(bytes, at);
    let separator: Option<&[u8]> = [&b"=>"[..], b":=", b"=", b":"]
        .into_iter()
        .find(|it| bytes[at..].starts_with(it));
    let hit = |at: Range<usize>| Hit {
        at,
        name: Name::Context(secret.kind),
    };
    let Some(separator) = separator else {
        if let Some(value) = value_of_named(text, at) {
            return judged(text, value, secret, hit);
        }
        // `"--password", "x"`
        if let Some(quote) = quote.filter(|_| key.starts_with('-') && bytes.get(at) == Some(&b','))
        {
            let from = spaces(bytes, at + 1);
            if quote_at(bytes, from) == Some(quote) {
                let from = from + quote.backslashes + 1;
                let value = from..closing(bytes, from, quote);
                let is_flag = text[value.clone()].starts_with('-');
                return if is_flag {
                    Vec::new()
                } else {
                    judged(text, value, secret, hit)
                };
            }
            // As YAML writes lists in a line.
            let value = bare(text, from, false);
            return judged(text, value, secret, hit);
        }
        if quote.is_some() || at == end {
            return element(text, start, end)
                .map(|it| judged(text, it, secret, hit))
                .unwrap_or_default();
        }
        // `the password is x`, where nobody would write it by chance.
        if let Some(from) = bytes[at..]
            .starts_with(b"is ")
            .then(|| spaces(bytes, at + 3))
        {
            let value = given(text, from);
            let random = Some(value).filter(|it| random::is_random(&text[it.clone()]));
            return random
                .map(|it| judged(text, it, secret, hit))
                .unwrap_or_default();
        }
        // `--password x`, `WITH PASSWORD 'x'`, and `login me password x` in a `.netrc`.
        let is_given = key.starts_with("--")
            || bytes.get(at) == Some(&b'\'') && ends_with_word(&bytes[..start], b"with ")
            || text[..start].split_whitespace().rev().nth(1) == Some("login");
        let value = is_given
            .then(|| given(text, at))
            .filter(|it| !text[it.clone()].starts_with('-'));
        return value
            .map(|it| judged(text, it, secret, hit))
            .unwrap_or_default();
    };
    // `a ? token : other`, `Token::New`
    if separator == b":" && bytes.get(at + 1) == Some(&b':') {
        return Vec::new();
    }
    at = spaces(bytes, at + separator.len());
    if let Some(lines) = block(text, start, at) {
        let lines = lines.into_iter();
        return lines.flat_map(|it| judged(text, it, secret, hit)).collect();
    }
    // As Python writes bytes: `b'x'`.
    if matches!(bytes.get(at), Some(b'b' | b'u')) && quote_at(bytes, at + 1).is_some() {
        at += 1;
    }
    if let Some(opening) = quote_at(bytes, at) {
        let from = at + opening.backslashes + 1;
        // The quote closes what ends with the key: `{"label": "Password:"}`.
        let closes = quote.is_none()
            && matches!(
                bytes.get(from),
                None | Some(b',' | b'}' | b']' | b'\n' | b'\r')
            );
        if closes {
            return Vec::new();
        }
        let value = from..closing(bytes, from, opening);
        return judged(text, value, secret, hit);
    }
    let is_header = ["cookie", "authorization"]
        .iter()
        .any(|it| key.to_ascii_lowercase().ends_with(it));
    let is_header = is_header && separator == b":";
    if is_header {
        let line = at..line_end(bytes, at);
        // A cookie has a name: `cookie: a small text file` is prose.
        if secret.kind == "cookie"
            && !text[line.clone()].contains('=')
            && text[line.clone()].contains(' ')
        {
            return Vec::new();
        }
        return judged(text, line, secret, hit);
    }
    let mut value = bare(text, at, begins_line(bytes, start));
    if bytes[..start].ends_with(b"//") || bytes[..start].ends_with(b"\\/") {
        // The user of an address: `https://x-access-token:x@host/path`.
        let authority = text[value.clone()].split('/').next().unwrap_or_default();
        let Some(password) = authority.rfind('@') else {
            return Vec::new();
        };
        value.end = value.start + password;
    }
    if is_prose(text, &value, separator) || is_code(text, key, &value) {
        return Vec::new();
    }
    judged(text, value, secret, hit)
}

/// The text of an element that is called so: `<password>x</password>`.
fn element(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let from = end + 1;
    let is_element = text[..start].ends_with('<') && text[end..].starts_with('>');
    let length = text.get(from..).filter(|_| is_element)?.find('<')?;
    let closes = text[from + length..].strip_prefix("</")?;
    closes
        .starts_with(&text[start..end])
        .then_some(from..from + length)
}

/// A value with or without quotes.
fn given(text: &str, from: usize) -> Range<usize> {
    match quote_at(text.as_bytes(), from) {
        Some(opening) => {
            let from = from + opening.backslashes + 1;
            from..closing(text.as_bytes(), from, opening)
        }
        None => bare(text, from, false),
    }
}

/// The lines of a block of YAML (`password: |`), which are indented more than the key.
fn block(text: &str, key: usize, from: usize) -> Option<Vec<Range<usize>>> {
    const HEADS: [&str; 6] = ["|\n", "|-\n", "|+\n", ">\n", ">-\n", ">+\n"];
    let head = HEADS.iter().find(|it| text[from..].starts_with(**it))?;
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let line = text[..key].rfind('\n').map_or(0, |it| it + 1);
    let own = indent(&text[line..]);
    let mut at = from + head.len();
    let limit = at + LONGEST_VALUE;
    let mut lines = Vec::new();
    for line in text[at..].split_inclusive('\n') {
        let value = line.trim();
        let before = line.len() - line.trim_start().len();
        if !value.is_empty() {
            if before <= own || at > limit {
                break;
            }
            lines.push(at + before..at + before + value.len());
        }
        at += line.len();
    }
    Some(lines)
}

/// Whether a text ends with a word and a space, in whatever case.
fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    let from = text.len().saturating_sub(word.len());
    text[from..].eq_ignore_ascii_case(word)
}

/// Keeps a value that is worth hiding, without the scheme of a header before it.
fn judged(
    text: &str,
    at: Range<usize>,
    key: SecretKey,
    hit: impl Fn(Range<usize>) -> Hit<'static>,
) -> Vec<Hit<'static>> {
    let value = &text[at.clone()];
    let scheme = keys::scheme(value);
    let secret = &value[scheme..];
    let is_secret = keys::is_secret_value(key, secret)
        && secret != "\\"
        && (scheme == 0 || !secret.starts_with('<'));
    // `Authorization: Bearer authentication is required`
    let is_sentence = scheme > 0 && secret.contains(' ') && !secret.contains('=');
    if is_secret && !is_sentence {
        vec![hit(at.start + scheme..at.end)]
    } else {
        Vec::new()
    }
}

/// `{"name": "DB_PASSWORD", "value": "x"}`, and the same in YAML: what looks like the key is a name, whose value comes next.
fn value_of_named(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = at;
    loop {
        match bytes.get(at..) {
            Some([b',' | b' ' | b'\t' | b'\n' | b'\r' | b'-', ..]) => at += 1,
            Some([b'\\', b'n' | b'r' | b't', ..]) => at += 2,
            _ => break,
        }
    }
    let quote = quote_at(bytes, at);
    let key = at + quote.map_or(0, |it| it.backslashes + 1);
    let end = key + 5;
    if !text.get(key..end)?.eq_ignore_ascii_case("value") || quote_at(bytes, end) != quote {
        return None;
    }
    let colon = spaces(bytes, end + quote.map_or(0, |it| it.backslashes + 1));
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let from = spaces(bytes, colon + 1);
    match quote_at(bytes, from) {
        Some(opening) => {
            let from = from + opening.backslashes + 1;
            Some(from..closing(bytes, from, opening))
        }
        None => Some(bare(text, from, true)),
    }
}

/// The texts inside an object or a list under a secret key, but for what only says of which kind they are; and up to where it was looked
/// through. Nothing in a program's table of tokens is one: `tokens = {'root': [(r'\s+', Text)]}`.
fn container(text: &str, from: usize, key: SecretKey) -> (Vec<Hit<'static>>, usize) {
    let bytes = text.as_bytes();
    let hit = |at: Range<usize>| Hit {
        at,
        name: Name::Context(key.kind),
    };
    let limit = bytes.len().min(from + LARGEST_CONTAINER);
    let mut hits = Vec::new();
    let mut depth = 0_usize;
    let mut member = String::new();
    let mut at = from;
    while at < limit {
        match bytes[at] {
            b'(' if !key.is_sure => return (Vec::new(), at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (hits, at);
                }
            }
            b'"' | b'\'' | b'\\' => {
                if let Some(quote) = quote_at(bytes, at) {
                    let start = at + quote.backslashes + 1;
                    let end = closing(bytes, start, quote);
                    at = (end + quote.backslashes + 1).min(bytes.len());
                    let behind = spaces(bytes, at);
                    let inner = text.get(start..end).unwrap_or_default();
                    if bytes.get(behind) == Some(&b':') {
                        inner.clone_into(&mut member);
                        continue;
                    }
                    if depth == 1 && member == "type" && keys::is_schema_type(inner) {
                        return (Vec::new(), at);
                    }
                    // A member may say more surely than the key above that it is secret.
                    let own = keys::secret_key(&member).filter(|it| it.is_sure && !key.is_sure);
                    if keys::is_secret_within(own.unwrap_or(key), &member, inner) {
                        hits.extend(judged(text, start..end, own.unwrap_or(key), hit));
                    }
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    // It was cut off.
    (hits, limit)
}

fn quote_at(bytes: &[u8], at: usize) -> Option<Quote> {
    let backslashes = bytes[at.min(bytes.len())..]
        .iter()
        .take_while(|it| **it == b'\\')
        .count();
    match bytes.get(at + backslashes) {
        Some(&sign @ (b'"' | b'\'')) => Some(Quote { sign, backslashes }),
        _ => None,
    }
}

/// Where the text ends that was opened by a quote: before the next one that is quoted as often. What is quoted deeper belongs to it, and
/// so do its own backslashes, of which there are a multiple: `\\\\\"` is two backslashes and a quote that is quoted once.
fn closing(bytes: &[u8], from: usize, opening: Quote) -> usize {
    let own = opening.backslashes;
    let mut backslashes = 0;
    let limit = bytes.len().min(from + LONGEST_VALUE);
    for (at, it) in bytes.iter().enumerate().take(limit).skip(from) {
        match it {
            b'\\' => backslashes += 1,
            it if *it == opening.sign
                && (backslashes < own || backslashes % (2 * (own + 1)) == own) =>
            {
                return at - backslashes.min(own);
            }
            _ => backslashes = 0,
        }
    }
    character_end(bytes, limit)
}

/// The end of the character that a place lies in.
fn character_end(bytes: &[u8], at: usize) -> usize {
    let is_within = |it: &&u8| **it & 0b1100_0000 == 0b1000_0000;
    at + bytes[at..].iter().take_while(is_within).count()
}

/// A value without quotes. At the beginning of a line, as in YAML and `.env` files, it goes to the next space; else what separates
/// parameters ends it, too.
fn bare(text: &str, from: usize, whole_line: bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let ends = |at: usize| {
        let it = bytes[at];
        let is_escape = it == b'\\'
            && matches!(
                bytes.get(at + 1),
                Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u')
            );
        it.is_ascii_whitespace()
            || b"\"'<>`".contains(&it)
            || is_escape
            || !whole_line && b",;&)}]|".contains(&it)
    };
    let limit = bytes.len().min(from + LONGEST_VALUE);
    let end = (from..limit).find(|at| ends(*at));
    let end = end.unwrap_or_else(|| character_end(bytes, limit));
    let value = text[from..end].trim_end_matches(['.', ',', ';']);
    from..from + value.len()
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    let ends = |at: &usize| {
        b"\n\r\"'<`".contains(&bytes[*at])
            || bytes[*at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b'"' | b'\\'))
    };
    let limit = bytes.len().min(from + LONGEST_VALUE);
    let end = (from..limit).find(ends);
    let end = end.unwrap_or_else(|| character_end(bytes, limit));
    let trailing = bytes[from..end]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_whitespace())
        .count();
    end - trailing
}

fn spaces(bytes: &[u8], from: usize) -> usize {
    from + bytes[from.min(bytes.len())..]
        .iter()
        .take_while(|it| b" \t".contains(it))
        .count()
}

/// Whether a key is the first word of its line, as in settings.
fn begins_line(bytes: &[u8], start: usize) -> bool {
    let before = bytes[..start].trim_ascii_end();
    let between = &bytes[before.len()..start];
    let is_first = |it: &[u8]| it.is_empty() || it.ends_with(b"\\n") || it.ends_with(b"\\r");
    let before = before
        .strip_suffix(b"export")
        .unwrap_or(before)
        .trim_ascii_end();
    is_first(before)
        || between.contains(&b'\n')
        || before.ends_with(b"-") && begins_line(bytes, before.len() - 1)
}

/// Whether a word and the next ones are a sentence: `password: must be given`.
fn is_prose(text: &str, value: &Range<usize>, separator: &[u8]) -> bool {
    let word = &text[value.clone()];
    let next = text[value.end..].trim_start_matches([' ', '\t', ',']);
    let goes_on =
        text[value.end..].starts_with([' ', ',']) && next.starts_with(|it: char| it.is_lowercase());
    separator == b":" && random::is_word(word) && goes_on
}

/// Whether a value is an expression of a program: `token=self.token`, `password = getpass()`, `key_password=key_password`.
fn is_code(text: &str, key: &str, value: &Range<usize>) -> bool {
    let word = &text[value.clone()];
    let behind = &text[value.end..];
    let is_name =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphabetic() || it == '_');
    let is_path = |it: &str| it.replace("::", ".").split('.').all(is_name);
    let callee = |it: &str| it.split(['(', '[']).next().is_some_and(is_path);
    let is_member = word.contains('.') && is_path(word);
    let is_call = word.contains(['(', '[']) && callee(word);
    // `await f(x)`
    let next = behind.strip_prefix(' ').unwrap_or_default();
    let next = next.split_inclusive(['(', ' ', '\n']).next();
    let is_called = random::is_word(word) && next.is_some_and(|it| it.ends_with('(') && callee(it));
    let is_variable = random::is_word(word) && keys::secret_key(word).is_some();
    // `DB_PASSWORD=my_password` is a setting, in which nothing stands for something else.
    let is_setting = !key.contains(char::is_lowercase);
    let is_named_alike = !is_setting && is_name(word) && keys::is_named_alike(key, word);
    // `Option<String>`
    let is_type = behind.starts_with('<') && word.chars().all(char::is_alphabetic);
    // As minifiers write `true` and `false`.
    let is_bool = ["!0", "!1"].contains(&word);
    is_member || is_call || is_called || is_variable || is_named_alike || is_type || is_bool
}

#[cfg(test)]
mod tests {
    use super::after_key;

    /// What is hidden behind the hint in a text.
    fn hidden<'t>(text: &'t str, hint: &str) -> Vec<&'t str> {
        let at = text.find(hint).unwrap();
        let values = after_key(text, at..at + hint.len(), 0).values;
        values.into_iter().map(|it| &text[it.at]).collect()
    }

    #[test]
    fn what_stands_behind_a_key_is_found_as_people_and_programs_write_it() {
        for (text, hint, expected) in [
            ("password: hunter2", "pass", &["hunter2"][..]),
            ("PASSWORD=zQ8!kk2p,x", "PASS", &["zQ8!kk2p,x"]),
            ("export DB_PASSWORD=abc", "PASS", &["abc"]),
            ("a\\npassword: hunter2\\nb: c", "pass", &["hunter2"]),
            ("run --password=abc --x", "pass", &["abc"]),
            ("run --password abc --x", "pass", &["abc"]),
            ("psql 'host=h password=abc'", "pass", &["abc"]),
            ("https://h/?access_token=abc123&x=1", "token", &["abc123"]),
            (r#"{"api_key": "v-1", "x": 1}"#, "key", &["v-1"]),
            (
                r#"{\"api_key\": \"v\\\"1\", \"x\": 1}"#,
                "key",
                &[r#"v\\\"1"#],
            ),
            (r"{'password': 'it is'}", "pass", &["it is"]),
            (
                r#"{"password": {"value": "x-1", "type": "plain"}}"#,
                "pass",
                &["x-1"],
            ),
            (
                r#"{"tokens": ["tok_9f8e", "the", "tok_7d6c"]}"#,
                "token",
                &["tok_9f8e", "tok_7d6c"],
            ),
            (
                r#"{"name": "DB_PASSWORD", "value": "x-1"}"#,
                "PASS",
                &["x-1"],
            ),
            ("- name: DB_PASSWORD\n  value: x-1\n", "PASS", &["x-1"]),
            (r#"["x", "--password", "abc", "y"]"#, "pass", &["abc"]),
            (r#"[\"--password\", \"abc\"]"#, "pass", &["abc"]),
            ("args: [\"--password\", hunter-22]", "pass", &["hunter-22"]),
            ("Cookie: a=b; c=d\nHost: x", "ookie", &["a=b; c=d"]),
            ("Authorization: Token abc", "uth", &["abc"]),
            ("  - password: x1 # of the database", "pass", &["x1"]),
            ("DB_PASSWORD=my_password", "PASS", &["my_password"]),
            ("run --password 'a b-1' --x", "pass", &["a b-1"]),
            (
                "<db><password>hunter2</password></db>",
                "pass",
                &["hunter2"],
            ),
            (
                "a:\n  client_secret: |\n    hunter2-x\n\n    abc-1\n  b: c",
                "secret",
                &["hunter2-x", "abc-1"],
            ),
            ("{'password': b'hunter2'}", "pass", &["hunter2"]),
            (
                "ALTER USER me WITH PASSWORD 'hunter2'",
                "PASS",
                &["hunter2"],
            ),
            ("machine h login me password hunter2", "pass", &["hunter2"]),
            ("Your new API key is Zx9k2Lq81pQ.", "key", &["Zx9k2Lq81pQ"]),
            ("API key: Zx9k2Lq8", "key", &["Zx9k2Lq8"]),
            ("https://x-access-token:abc-1@h/a.git", "token", &["abc-1"]),
            (r"https:\/\/api-key:abc-1@h\/a.git", "key", &["abc-1"]),
        ] {
            assert_eq!(hidden(text, hint), expected, "{text}");
        }
    }

    #[test]
    fn prose_code_and_counts_stay() {
        for (text, hint) in [
            ("max_tokens: 12", "token"),
            ("a token bucket: 5 per second", "token"),
            ("password: must be at least 8 characters", "pass"),
            ("the password.", "pass"),
            ("token = get_token()", "token"),
            ("password=self.password", "pass"),
            ("next_page_token: \"2\"", "token"),
            ("Authorization: Bearer authentication is required", "uth"),
            (
                r#"{"token": {"type": "string", "description": "of the API"}}"#,
                "token",
            ),
            ("secret: true", "secret"),
            ("tls(key_password=key_password, x)", "pass"),
            ("let secret = Secret::new(value);", "secret"),
            ("password = await ask(user)", "pass"),
            ("def f(user, password: bytes) -> None", "pass"),
            ("cookies: RequestsCookieJar | None", "ookie"),
            (
                "tokens = {'root': [(r'[a-z]1\\w+', Text), 'a1B2c3D4']}",
                "token",
            ),
            ("https://token:8080/x", "token"),
            ("the password is wrong", "pass"),
            ("a password 'of yours'", "pass"),
            ("<password>", "pass"),
            ("the login form's password field", "pass"),
            ("password:\n  policy: strict", "pass"),
        ] {
            assert_eq!(hidden(text, hint), [""; 0], "{text}");
        }
    }

    #[test]
    fn an_escape_that_is_cut_off_is_no_part_of_a_key() {
        for text in ["\\ukey: hunter2", "\\ukey", "é\\ukey=x"] {
            assert_eq!(hidden(text, "key"), [""; 0], "{text}");
        }
    }
}
