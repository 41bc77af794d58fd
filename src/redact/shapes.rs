//! What secrets look like, and what the keys that hold them are called.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::{Captures, Regex};

/// Key shapes by kind. The named group `secret`, where there is one, is what gets replaced; else the whole match.
///
/// Prefixes nobody writes by chance may follow anything, such as the `n` of an escaped line break.
/// The shapes are those the vendors document for secret scanning: fixed prefixes, then long runs of a narrow alphabet.
const SHAPES: &[(&str, &str)] = &[
    (
        "private-key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----",
    ),
    ("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    (
        "openai-key",
        r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    ),
    (
        "github-token",
        r"(?:github_pat_[A-Za-z0-9_]{20,}|gh[pousr]_[A-Za-z0-9]{20,})",
    ),
    ("gitlab-token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("aws-key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("slack-token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}"),
    (
        "jwt",
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    ),
    (BEARER, r"(?i)\bbearer\s+(?<secret>[a-z0-9._~+/-]{8,}=*)"),
    (
        BASIC,
        r"(?i)(?<header>\bauthorization:\s*)?\bbasic\s+(?<secret>[a-z0-9+/]{4,}=*)",
    ),
    (
        "url-password",
        r"\b[a-z][a-z0-9+.-]*://[^\s/:@]*:(?<secret>[^\s/:@<]+)@",
    ),
];

/// The kind of a secret of no known shape that was found by its key.
pub(super) const BY_KEY: &str = "value";

/// The kind of a secret that a scenario's own pattern has found.
pub(super) const BY_PATTERN: &str = "pattern";

/// The kind of a secret behind the word `Bearer`.
pub(super) const BEARER: &str = "bearer-token";

/// The kind of a name and a password behind the word `Basic`.
const BASIC: &str = "basic-credentials";

/// `"some_token": "…"` inside a text, quotes escaped any number of times.
const EMBEDDED: &str = r#"(?<key>[A-Za-z0-9_-]+)\\*"\s*:\s*\\*"(?<secret>[^"\\<][^"\\]*)"#;

static PATTERNS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    SHAPES
        .iter()
        .map(|(kind, pattern)| (*kind, Regex::new(pattern).expect("a valid pattern")))
        .collect()
});

/// `?token=…` in an address, percent signs and all.
const QUERY: &str = r#"[?&;](?<key>[A-Za-z0-9_.-]+)=(?<secret>[^&#\s"'<>\\;]+)"#;

/// `API_KEY=…` in a shell, a log or a list of environment variables.
const VARIABLE: &str = r#"\b(?<key>[A-Z][A-Z0-9_]*)=["']?(?<secret>[^\s"'<>&;,\\$]{6,})"#;

/// A line of an HTTP header that carries a credential.
const HEADER: &str = r#"(?i)\b(?<key>(?:set-)?cookie|(?:x-)?(?:api-key|auth-token)):\s*(?<secret>[^\s"'<>\\]*[=0-9][^\s"'<>\\]*)"#;

/// How a placeholder reads.
const PLACEHOLDER: &str = r"<redacted:[a-z-]+:[0-9]+>";

static KEYED_PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [EMBEDDED, QUERY, VARIABLE, HEADER]
        .iter()
        .map(|pattern| Regex::new(pattern).expect("a valid pattern"))
        .collect()
});

static PLACEHOLDER_PATTERN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(PLACEHOLDER).expect("a valid pattern"));

/// Where placeholders stand.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Range<usize>> {
    PLACEHOLDER_PATTERN.find_iter(text).map(|it| it.range())
}

/// Tells every secret known by its shape or by the key before it: its kind and where it stands.
pub(super) fn find(text: &str, mut tell: impl FnMut(&'static str, Range<usize>)) {
    for (kind, pattern) in PATTERNS.iter() {
        for found in pattern.captures_iter(text).filter(|it| is_meant(kind, it)) {
            if let Some(secret) = found.name("secret").or_else(|| found.get(0)) {
                tell(kind, secret.range());
            }
        }
    }
    for pattern in KEYED_PATTERNS.iter() {
        for found in pattern.captures_iter(text).filter(names_secret) {
            if let Some(secret) = found.name("secret") {
                tell(kind_of(secret.as_str()), secret.range());
            }
        }
    }
}

/// Whether the match of a shape is a secret. `Basic` is also a word like others: without a header before it, what follows has to be a name
/// and a password (RFC 7617, section 2).
fn is_meant(kind: &str, found: &Captures<'_>) -> bool {
    kind != BASIC || found.name("header").is_some() || is_name_and_password(&found["secret"])
}

fn is_name_and_password(encoded: &str) -> bool {
    let decoded = STANDARD_NO_PAD.decode(encoded.trim_end_matches('='));
    let decoded = decoded.ok().and_then(|it| String::from_utf8(it).ok());
    decoded.is_some_and(|it| it.contains(':') && !it.contains(char::is_control))
}

/// Whether the key of a match says that what follows is secret, and that is worth hiding.
fn names_secret(found: &Captures<'_>) -> bool {
    is_secret_key(&found["key"]) && is_secret_value(&found["secret"])
}

/// Replaces every secret known by its shape or by the key before it. `None` when there is none.
pub(super) fn replace(
    text: &str,
    mut placeholder: impl FnMut(&'static str, &str) -> String,
) -> Option<String> {
    let mut changed: Option<String> = None;
    for (kind, pattern) in PATTERNS.iter() {
        let current = changed.as_deref().unwrap_or(text);
        if pattern.is_match(current) {
            let replaced = pattern.replace_all(current, |found: &Captures<'_>| {
                if is_meant(kind, found) {
                    swap(found, |secret| placeholder(kind, secret))
                } else {
                    found[0].to_owned()
                }
            });
            changed = Some(replaced.into_owned());
        }
    }
    for pattern in KEYED_PATTERNS.iter() {
        let current = changed.as_deref().unwrap_or(text);
        if pattern.captures_iter(current).any(|it| names_secret(&it)) {
            let replaced = pattern.replace_all(current, |found: &Captures<'_>| {
                if names_secret(found) {
                    swap(found, |secret| placeholder(kind_of(secret), secret))
                } else {
                    found[0].to_owned()
                }
            });
            changed = Some(replaced.into_owned());
        }
    }
    changed.filter(|it| it != text)
}

/// The match with its secret replaced.
fn swap(found: &Captures<'_>, placeholder: impl FnOnce(&str) -> String) -> String {
    let Some(secret) = found.name("secret").or_else(|| found.get(0)) else {
        return String::new();
    };
    let whole = &found[0];
    let start = secret.start() - found.get(0).map_or(0, |it| it.start());
    format!(
        "{}{}{}",
        &whole[..start],
        placeholder(secret.as_str()),
        &whole[start + secret.len()..]
    )
}

/// Whether a key says that its value is a secret: its last word is `token`, `secret`, `password`, `authorization`, `cookie` or
/// `api_key`, in any spelling of several words. `max_tokens` and `tokenizer` are not among them.
pub(super) fn is_secret_key(key: &str) -> bool {
    let words = words(key);
    let words = words.iter().map(String::as_str).collect::<Vec<_>>();
    matches!(
        words.as_slice(),
        [
            ..,
            "token" | "secret" | "password" | "passwd" | "authorization" | "cookie" | "apikey"
        ] | [.., "api" | "access" | "private" | "secret", "key"]
    )
}

/// Whether an environment variable, a header or a parameter of this name holds a secret. Looser than for keys of answers: who names a
/// variable so means it.
pub(super) fn is_secret_name(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "token",
        "secret",
        "secrets",
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "pat",
        "credential",
        "credentials",
        "cookie",
        "authorization",
        "key",
    ];
    const ENDINGS: [&str; 4] = ["password", "passwd", "apikey", "secret"];
    words(name)
        .iter()
        .any(|word| WORDS.contains(&word.as_str()) || ENDINGS.iter().any(|it| word.ends_with(it)))
}

/// A header's credentials: the scheme with what follows it, and the secret. All of it is secret where no known scheme begins it.
pub(super) fn credentials(text: &str) -> (&str, &str) {
    const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];
    let secret = text
        .split_once(' ')
        .map(|(scheme, rest)| (scheme, rest.trim_start()));
    match secret {
        Some((scheme, secret))
            if SCHEMES.contains(&scheme.to_lowercase().as_str())
                && !secret.is_empty()
                && !secret.contains(char::is_whitespace) =>
        {
            text.split_at(text.len() - secret.len())
        }
        _ => ("", text),
    }
}

/// Whether a value under such a key is worth hiding: not empty, and not hidden already.
pub(super) fn is_secret_value(value: &str) -> bool {
    !value.trim().is_empty() && !value.starts_with("<redacted:")
}

/// The kind of a secret that was found by its key: by its shape, else just a value.
pub(super) fn kind_of(secret: &str) -> &'static str {
    PATTERNS
        .iter()
        .find(|(_, pattern)| {
            pattern
                .find(secret)
                .is_some_and(|it| it.len() == secret.len())
        })
        .map_or(BY_KEY, |(kind, _)| kind)
}

/// The words of a key in snake, kebab or camel case, in lower case.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for it in key.chars() {
        if !it.is_alphanumeric() {
            words.push(String::new());
        } else if let Some(word) = words
            .last_mut()
            .filter(|_| !(it.is_uppercase() && before_lower))
        {
            word.extend(it.to_lowercase());
        } else {
            words.push(it.to_lowercase().collect());
        }
        before_lower = it.is_lowercase() || it.is_numeric();
    }
    words.retain(|it| !it.is_empty());
    words
}
