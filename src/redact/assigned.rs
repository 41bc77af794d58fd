//! Secrets behind a key in a text: `password: x`, `TOKEN=x`, `--password x`, `"api_key": "x"`, in JSON however deeply it is quoted.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::extent::{
    Quote, bare, begins_line, block, character_end, closing, element, given, line_break, line_end,
    quote_at, spaces,
};
use super::hit::Hit;
use super::keys::{self, SecretKey};
use super::{random, table};

/// The longest key that is looked at.
const LONGEST_KEY: usize = 64;

/// The largest object or list under a secret key that is looked into, in bytes.
const LARGEST_CONTAINER: usize = 1024 * 1024;

/// What stands behind a key.
pub(super) struct Assigned {
    /// Up to where the text need not be looked at for keys again.
    pub(super) end: usize,
    /// Up to where an object or a list has been looked through.
    pub(super) looked_through: usize,
    pub(super) values: Vec<Hit<'static>>,
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
    if !may_be_given(bytes, start, key, end) || key.ends_with('.') {
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
    if let Some(cells) = table::cells(text, &(start..end)) {
        let cells = cells.into_iter();
        return Assigned {
            values: cells.filter_map(|it| judged(text, it, secret)).collect(),
            ..nothing
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
    let at = behind_quote(bytes, end);
    let from = spaces(bytes, at + separator_at(bytes, at)?.len());
    matches!(bytes.get(from), Some(b'{' | b'[')).then_some(from)
}

/// Whether something may be given to the key that ends here: a quick look.
fn may_be_given(bytes: &[u8], start: usize, key: &str, end: usize) -> bool {
    let at = behind_quote(bytes, end);
    // `<password x="y">`, and columns.
    let is_named = bytes[..start].ends_with(b"<")
        || bytes[end..].starts_with(b"\t")
        || bytes[end..].starts_with(b"  ");
    match bytes.get(at) {
        Some(
            b'=' | b':' | b',' | b'\n' | b'\r' | b'\\' | b'>' | b'<' | b'\'' | b'`' | b'*' | b'|'
            | b';' | b')' | b'v',
        ) => true,
        Some(b'i') if bytes[at..].starts_with(b"is ") => true,
        Some(_) if is_named => true,
        Some(_) => key.starts_with('-') || key.eq_ignore_ascii_case("password"),
        None => false,
    }
}

/// The values that a key is given which is no object and no list.
fn values(
    text: &str,
    (start, key, end): (usize, &str, usize),
    secret: SecretKey,
) -> Vec<Hit<'static>> {
    let at = behind_quote(text.as_bytes(), end);
    let value = match separator_at(text.as_bytes(), at) {
        // `a ? token : other`, `Token::New`
        Some(b":") if text[at + 1..].starts_with(':') => None,
        Some(separator) => {
            let from = spaces(text.as_bytes(), at + separator.len());
            let mark = MARK.find(&text[from..]).filter(|_| separator == b":");
            let from = from + mark.map_or(0, |it| it.len());
            if let Some(lines) = block(text, start, from) {
                let lines = lines.into_iter();
                return lines.filter_map(|it| judged(text, it, secret)).collect();
            }
            separated(text, (start, key, end), secret, (from, separator))
        }
        None => beside(text, (start, key, end), at),
    };
    let value = value.and_then(|it| judged(text, it, secret));
    value.into_iter().collect()
}

/// What sets a value off in Markdown, and its tag or anchor in YAML: `!!str x`, `&name x`.
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:\*\*[ \t]*)?`?(?:[!&][a-z_!]{1,64} +)*").expect("a valid pattern")
});

/// Where the quote, or what sets it off in Markdown, and the spaces end that follow a key.
fn behind_quote(bytes: &[u8], end: usize) -> usize {
    let quote = quote_at(bytes, end).map_or(0, Quote::len);
    let is_bold = bytes[end..].starts_with(b"**:");
    spaces(bytes, end + if is_bold { 2 } else { quote })
}

/// What stands between a key and its value.
fn separator_at(bytes: &[u8], at: usize) -> Option<&'static [u8]> {
    const SEPARATORS: [&[u8]; 4] = [b"=>", b":=", b"=", b":"];
    let mut separators = SEPARATORS.into_iter();
    separators.find(|it| bytes[at..].starts_with(it))
}

/// The value that follows a key without a separator: `"--password", "x"`, `--password x`, `<password>x</password>`.
fn beside(text: &str, (start, key, end): (usize, &str, usize), at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let value = value_of_named(text, at).or_else(|| element(text, start, end));
    if value.is_some() {
        return value;
    }
    let quote = quote_at(bytes, end);
    // `"--password", "x"`
    if let Some(quote) = quote.filter(|_| key.starts_with('-') && bytes.get(at) == Some(&b',')) {
        let from = spaces(bytes, at + 1);
        if quote_at(bytes, from) == Some(quote) {
            let from = from + quote.len();
            let value = from..closing(bytes, from, quote);
            return Some(value).filter(|it| !text[it.clone()].starts_with('-'));
        }
        // As YAML writes lists in a line.
        return Some(bare(text, from, false));
    }
    if let Some(value) = element_of_list(text, start, end, at).filter(|_| key.starts_with('-')) {
        return Some(value).filter(|it| !text[it.clone()].starts_with('-'));
    }
    if quote.is_some() || at == end {
        return None;
    }
    // `the password is x`, where nobody would write it by chance.
    if bytes[at..].starts_with(b"is ") {
        let value = given(text, spaces(bytes, at + 3));
        return Some(value).filter(|it| random::is_random(&text[it.clone()]));
    }
    // `--password x`, `WITH PASSWORD 'x'`, and `login me password x` in a `.netrc`.
    let is_given = key.starts_with("--")
        || bytes.get(at) == Some(&b'\'') && ends_with_word(&bytes[..start], b"with ")
        || text[..start].split_whitespace().rev().nth(1) == Some("login");
    let value = is_given.then(|| given(text, at));
    value.filter(|it| !text[it.clone()].starts_with('-'))
}

/// How far before an element the bracket of its list is looked for, in bytes.
const LONGEST_LIST: usize = 2048;

/// The element behind this one in a list of YAML, in a line or in lines: `[--token, x]`, `- --token`.
fn element_of_list(text: &str, start: usize, end: usize, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = text[..start].trim_end_matches(['"', '\'']);
    if bytes.get(at) == Some(&b',') {
        let from = character_end(bytes, before.len().saturating_sub(LONGEST_LIST));
        let line = before.get(from..)?.rsplit('\n').next()?;
        let is_list = line.contains('[') && line.trim_end().ends_with(['[', ',']);
        return is_list.then(|| given(text, spaces(bytes, at + 1)));
    }
    let line = line_break(bytes, end.max(at)).filter(|_| before.ends_with("- "))?;
    let item = spaces(bytes, at + line);
    text.get(item..)?
        .starts_with("- ")
        .then(|| given(text, spaces(bytes, item + 2)))
}

/// The value behind a key and a separator: `password: x`, `"password": "x"`.
fn separated(
    text: &str,
    (start, key, end): (usize, &str, usize),
    secret: SecretKey,
    (mut at, separator): (usize, &[u8]),
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // As Python writes bytes: `b'x'`.
    if matches!(bytes.get(at), Some(b'b' | b'u')) && quote_at(bytes, at + 1).is_some() {
        at += 1;
    }
    if let Some(opening) = quote_at(bytes, at) {
        let from = at + opening.len();
        // The quote closes what ends with the key: `{"label": "Password:"}`.
        let closes = quote_at(bytes, end).is_none()
            && matches!(
                bytes.get(from),
                None | Some(b',' | b'}' | b']' | b'\n' | b'\r')
            );
        return (!closes).then(|| from..closing(bytes, from, opening));
    }
    let is_header = ["cookie", "authorization"]
        .iter()
        .any(|it| key.to_ascii_lowercase().ends_with(it));
    if is_header && separator == b":" {
        let line = at..line_end(bytes, at);
        // A cookie has a name: `cookie: a small text file` is prose.
        let is_prose = secret.kind == "cookie"
            && !text[line.clone()].contains('=')
            && text[line.clone()].contains(' ');
        return (!is_prose).then_some(line);
    }
    let mut value = bare(text, at, begins_line(bytes, start));
    if bytes[..start].ends_with(b"//") || bytes[..start].ends_with(b"\\/") {
        // The user of an address: `https://x-access-token:x@host/path`.
        let authority = text[value.clone()].split('/').next().unwrap_or_default();
        value.end = value.start + authority.rfind('@')?;
    }
    let is_none = is_prose(text, &value, separator) || is_code(text, key, &value);
    (!is_none).then_some(value)
}

/// Whether a text ends with a word and a space, in whatever case.
pub(super) fn ends_with_word(text: &[u8], word: &[u8]) -> bool {
    let from = text.len().saturating_sub(word.len());
    text[from..].eq_ignore_ascii_case(word)
}

/// Keeps a value that is worth hiding, without the scheme of a header before it.
pub(super) fn judged(text: &str, at: Range<usize>, key: SecretKey) -> Option<Hit<'static>> {
    let value = &text[at.clone()];
    let scheme = keys::scheme(value);
    let secret = &value[scheme..];
    let is_secret = keys::is_secret_value(key, secret)
        && secret != "\\"
        && (scheme == 0 || !secret.starts_with('<'));
    // `Authorization: Bearer authentication is required`
    let is_sentence = scheme > 0 && secret.contains(' ') && !secret.contains('=');
    (is_secret && !is_sentence).then(|| Hit::context(at.start + scheme..at.end, key.kind))
}

/// What stands between a name and the value that comes next: `{"name": "DB_PASSWORD", "value": "x"}`, and the same in YAML and in
/// attributes of XML.
static TO_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r#"^(?:[,\s-]|\\[nrt])*(?:\\*["'])?(?i:(?:parameter)?value)(?:\\*["'])?[ \t]*[:=][ \t]*"#;
    Regex::new(pattern).expect("a valid pattern")
});

/// What looks like the key is a name, whose value comes next.
fn value_of_named(text: &str, at: usize) -> Option<Range<usize>> {
    let from = at + TO_VALUE.find(text.get(at..)?)?.len();
    let is_quoted = quote_at(text.as_bytes(), from).is_some();
    Some(if is_quoted {
        given(text, from)
    } else {
        bare(text, from, true)
    })
}

/// The texts inside an object or a list under a secret key, but for what only says of which kind they are; and up to where it was looked
/// through. Nothing in a program's table of tokens is one: `tokens = {'root': [(r'\s+', Text)]}`.
pub(super) fn container(text: &str, from: usize, key: SecretKey) -> (Vec<Hit<'static>>, usize) {
    let bytes = text.as_bytes();
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
                    let start = at + quote.len();
                    let end = closing(bytes, start, quote);
                    at = (end + quote.len()).min(bytes.len());
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
                        hits.extend(judged(text, start..end, own.unwrap_or(key)));
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
