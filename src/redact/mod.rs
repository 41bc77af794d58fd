//! Takes secrets out of values before they are stored or shown.
//!
//! Three things count as secrets: the values the caller names (tokens, headers, environment values it used), text of a known key
//! shape, and text under a key that names a secret. Each is replaced by a placeholder such as `<redacted:github-token:1>`; the same
//! secret gets the same placeholder throughout one trajectory, so comparisons still work.

mod example;
pub mod scan;
mod shapes;
mod walk;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use serde_json::Value;

use crate::model::Object;
use crate::model::redaction::{Pattern, Redaction};

/// The shortest value the caller can name: shorter ones would tear holes into innocent text.
const SHORTEST_SECRET: usize = 6;

/// The same for values that a key has shown to be secret: nobody has named them, so they must be less likely to be a common word.
const SHORTEST_BY_KEY: usize = 10;

/// Replaces secrets, numbering them in the order it meets them.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Values to hide, longest first, so that a secret within a secret is not left half.
    secrets: Vec<String>,
    patterns: Vec<Pattern>,
    /// Placeholder by kind and secret.
    seen: Mutex<HashMap<(&'static str, String), usize>>,
}

impl Redactor {
    /// A redactor that hides these values, besides what it knows by shape. Values shorter than six bytes are left alone.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let plain = secrets.into_iter().filter(|it| it.len() >= SHORTEST_SECRET);
        let mut secrets: Vec<String> = plain.flat_map(spellings).collect();
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self {
            secrets,
            patterns: Vec::new(),
            seen: Mutex::default(),
        }
    }

    /// The same, with what a scenario declares to be secret.
    pub fn declared(secrets: impl IntoIterator<Item = String>, redaction: &Redaction) -> Self {
        let secrets = secrets.into_iter().chain(redaction.secrets.clone());
        Self {
            patterns: redaction.patterns.clone(),
            ..Self::new(secrets)
        }
    }

    /// Whether a header, variable or key of this name holds a secret.
    pub fn is_secret_name(name: &str) -> bool {
        shapes::is_secret_name(name)
    }

    /// The text without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text =
                    Cow::Owned(text.replace(secret.as_str(), &self.placeholder("secret", secret)));
            }
        }
        for (secret, placeholder) in self.known() {
            if text.contains(&secret) {
                text = Cow::Owned(text.replace(&secret, &placeholder));
            }
        }
        for pattern in &self.patterns {
            if let Some(clean) = self.by_pattern(pattern, &text) {
                text = Cow::Owned(clean);
            }
        }
        let by_shape = shapes::replace(&text, |kind, secret| self.placeholder(kind, secret));
        by_shape.map_or(text, Cow::Owned)
    }

    /// The text without what matches the pattern; `None` when nothing does. Placeholders are left alone.
    fn by_pattern(&self, pattern: &Pattern, text: &str) -> Option<String> {
        let mut clean = String::new();
        let mut from = 0;
        let end = text.len()..text.len();
        for hidden in shapes::placeholders(text).chain([end]) {
            let between = &text[from..hidden.start];
            let replaced = pattern
                .regex()
                .replace_all(between, |found: &regex::Captures<'_>| {
                    self.placeholder(shapes::BY_PATTERN, &found[0])
                });
            clean.push_str(&replaced);
            clean.push_str(&text[hidden.clone()]);
            from = hidden.end;
        }
        (clean != text).then_some(clean)
    }

    /// Takes secrets out of a value, at any depth; keys are searched, too.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.value(it)),
            Value::Object(members) => self.object(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Takes secrets out of an object.
    pub fn object(&self, members: &mut Object) {
        for (key, value) in members.iter_mut() {
            match value {
                Value::String(text)
                    if shapes::is_secret_key(key) && shapes::is_secret_value(text) =>
                {
                    let (scheme, secret) = shapes::credentials(text);
                    *text = format!("{scheme}{}", self.hidden(secret));
                }
                other => self.value(other),
            }
        }
        if members
            .keys()
            .any(|key| matches!(self.text(key), Cow::Owned(_)))
        {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(key, value)| (self.text(&key).into_owned(), value))
                .collect();
        }
    }

    /// Takes secrets out of a text in its place.
    fn string(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    /// Like [`Self::value`], judging texts alone and no keys.
    fn texts(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items.iter_mut().for_each(|it| self.texts(it)),
            Value::Object(members) => members.values_mut().for_each(|it| self.texts(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// What a key, or the word `Bearer`, has shown to be a secret is one wherever it stands.
    fn known(&self) -> Vec<(String, String)> {
        let seen = self.seen.lock();
        let shown = seen.iter().filter(|((kind, secret), _)| match *kind {
            shapes::BY_KEY => secret.len() >= SHORTEST_BY_KEY,
            // `Bearer authentication` is no secret.
            shapes::BEARER => secret.bytes().any(|it| it.is_ascii_digit()),
            _ => false,
        });
        let mut known: Vec<_> = shown
            .map(|((kind, secret), number)| (secret.clone(), format!("<redacted:{kind}:{number}>")))
            .collect();
        known.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        known
    }

    /// The placeholder of a secret that a key has shown; the one it has already, whatever showed it.
    fn hidden(&self, secret: &str) -> String {
        if !shapes::is_secret_value(secret) {
            return secret.to_owned();
        }
        let known = |kind: &'static str| {
            let seen = self.seen.lock();
            seen.contains_key(&(kind, secret.to_owned()))
        };
        let kind = shapes::kind_of(secret);
        let kind = if kind == shapes::BY_KEY && known(shapes::BEARER) {
            shapes::BEARER
        } else {
            kind
        };
        self.placeholder(kind, secret)
    }

    fn placeholder(&self, kind: &'static str, secret: &str) -> String {
        let mut seen = self.seen.lock();
        let secret = (kind, secret.to_owned());
        let number = seen.get(&secret).copied().unwrap_or_else(|| {
            let number = seen.keys().filter(|(known, _)| *known == kind).count() + 1;
            seen.insert(secret, number);
            number
        });
        format!("<redacted:{kind}:{number}>")
    }
}

/// A secret as it is, and as addresses and headers spell it.
fn spellings(secret: String) -> Vec<String> {
    let mut escaped = String::new();
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    let mut spellings = vec![escaped];
    spellings.extend([STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD].map(|it| it.encode(&secret)));
    spellings.push(secret);
    spellings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Redactor;

    #[test]
    fn secrets_leave_and_the_rest_stays() {
        let github = format!("github_pat_{}", "11AAAAAAA0".repeat(4));
        let anthropic = format!("sk-ant-api03-{}", "a1B2".repeat(8));
        let redactor = Redactor::new(["hunter2!".to_owned(), "ab".to_owned()]);
        let cases = [
            (
                "the password is hunter2! indeed",
                "the password is <redacted:secret:1> indeed".to_owned(),
            ),
            (
                "ab is too short to hide",
                "ab is too short to hide".to_owned(),
            ),
            (
                &*format!("a {github} b {github}"),
                "a <redacted:github-token:1> b <redacted:github-token:1>".to_owned(),
            ),
            (
                &*format!("MY_{github} first\\n{github}"),
                "MY_<redacted:github-token:1> first\\n<redacted:github-token:1>".to_owned(),
            ),
            (
                &*format!("key={anthropic}"),
                "key=<redacted:anthropic-key:1>".to_owned(),
            ),
            (
                r#"{"env": {"API_KEY": "v1234567"}}"#,
                r#"{"env": {"API_KEY": "<redacted:value:1>"}}"#.to_owned(),
            ),
            (
                r#"{"env": "{\"MY_TOKEN\": \"v1234567\"}"}"#,
                r#"{"env": "{\"MY_TOKEN\": \"<redacted:value:1>\"}"}"#.to_owned(),
            ),
            (
                r#"{"max_tokens": "100", "token": ""}"#,
                r#"{"max_tokens": "100", "token": ""}"#.to_owned(),
            ),
            (
                "Authorization: Bearer abcdefgh12345678",
                "Authorization: Bearer <redacted:bearer-token:1>".to_owned(),
            ),
            (
                r#"{"auth": "Basic dXNlcjpodW50ZXIy"}"#,
                r#"{"auth": "Basic <redacted:basic-credentials:1>"}"#.to_owned(),
            ),
            (
                "a basic introduction: basic dXNlcg== and Basic authentication",
                "a basic introduction: basic dXNlcg== and Basic authentication".to_owned(),
            ),
            (
                "https://user:pa55word@example.org/x",
                "https://user:<redacted:url-password:1>@example.org/x".to_owned(),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(redactor.text(text), expected);
            assert_eq!(
                redactor.text(&expected),
                expected,
                "placeholders are left alone"
            );
        }
    }

    #[test]
    fn names_of_variables_and_headers_tell_secrets() {
        for name in [
            "PGPASSWORD",
            "DB_PASS",
            "GITHUB_PAT",
            "SECRET_KEY_BASE",
            "CREDENTIALS",
            "API_TOKEN",
            "X-Api-Key",
            "Authorization",
            "key",
        ] {
            assert!(Redactor::is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "LOG_LEVEL",
            "MAX_TOKENS",
            "KEYBOARD",
            "PASSENGER",
            "TOKENIZER",
        ] {
            assert!(!Redactor::is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn keys_that_name_secrets_hide_their_values() {
        let redactor = Redactor::default();
        let mut value = json!({
            "api_key": "v-1", "apiKey": "v-1", "Authorization": "Basic dTpw", "set-cookie": "id=1",
            "input_tokens": 12, "token": 12, "tokens": "x", "secret": true, "tokenizer": "bpe", "next": { "clientSecret": "v-2" },
        });
        redactor.value(&mut value);
        assert_eq!(
            value,
            json!({
                "api_key": "<redacted:value:1>", "apiKey": "<redacted:value:1>", "Authorization": "Basic <redacted:value:2>",
                "set-cookie": "<redacted:value:3>", "input_tokens": 12, "token": 12, "tokens": "x", "secret": true,
                "tokenizer": "bpe", "next": { "clientSecret": "<redacted:value:4>" },
            })
        );
    }
}
