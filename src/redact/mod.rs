//! Takes secrets out of values before they are stored or shown.
//!
//! Three things count as secrets: the values the caller names (tokens, headers, environment values it used), text of a known key
//! shape, and text under a key that names a secret. Each is replaced by a placeholder such as `<redacted:github-token:1>`; the same
//! secret gets the same placeholder throughout one trajectory, so comparisons still work.

mod example;
pub mod scan;
mod shapes;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::model::Object;
use crate::model::redaction::{Pattern, Redaction};
use crate::model::scenario::{Criterion, Scenario};
use crate::model::stamp::{GitStamp, ImageStamp};
use crate::model::trajectory::{Ending, Outcome, Step, ToolCall, Trajectory};

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

    /// Takes secrets out of everything a trajectory holds.
    ///
    /// What only a later step shows to be a secret is one in the steps before it, too: a token that an answer calls by another name.
    pub fn trajectory(&self, trajectory: &mut Trajectory) {
        let known = self.known().len();
        self.pass(trajectory);
        if self.known().len() > known {
            self.pass(trajectory);
        }
    }

    fn pass(&self, trajectory: &mut Trajectory) {
        self.string(&mut trajectory.name);
        self.git(&mut trajectory.stamp.scenarios);
        trajectory
            .stamp
            .source
            .iter_mut()
            .for_each(|it| self.git(it));
        if let Some(image) = &mut trajectory.stamp.image {
            self.image(image);
        }
        for step in &mut trajectory.steps {
            match step {
                Step::User { text } | Step::Assistant { text } => self.string(text),
                Step::ToolCall(call) => self.call(call),
            }
        }
        for server in &mut trajectory.catalogue.servers {
            self.string(&mut server.server);
            server.info.iter_mut().for_each(|it| self.value(it));
            server
                .instructions
                .iter_mut()
                .for_each(|it| self.string(it));
            for tool in &mut server.tools {
                // Not by key: a schema may well describe a property named `token`.
                tool.served.values_mut().for_each(|it| self.texts(it));
            }
        }
        trajectory
            .stamp
            .model
            .iter_mut()
            .for_each(|it| self.string(it));
        for request in &mut trajectory.requests {
            let texts = request.model.iter_mut().chain(&mut request.stop_reason);
            texts.for_each(|it| self.string(it));
            let problems = request.attempts.iter_mut();
            problems
                .filter_map(|it| it.problem.as_mut())
                .for_each(|it| self.string(it));
        }
        match &mut trajectory.ending {
            Ending::Blocked { message }
            | Ending::LimitReached { message }
            | Ending::TimedOut { message } => self.string(message),
            Ending::Error { message, details } => {
                self.string(message);
                for line in details {
                    self.string(line);
                }
            }
            Ending::Completed | Ending::Interrupted => {}
        }
    }

    /// Takes secrets out of a call and what became of it.
    pub fn call(&self, call: &mut ToolCall) {
        self.string(&mut call.tool);
        call.server.iter_mut().for_each(|it| self.string(it));
        self.object(&mut call.arguments);
        self.outcome(&mut call.outcome);
    }

    /// Takes secrets out of what a scenario says, for telling people; the result is not for running.
    pub fn scenario(&self, scenario: &mut Scenario) {
        self.string(&mut scenario.name);
        scenario
            .description
            .iter_mut()
            .for_each(|it| self.string(it));
        scenario
            .user_intent
            .iter_mut()
            .chain(&mut scenario.turns)
            .for_each(|it| self.string(it));
        for expected in &mut scenario.expected_trajectory {
            self.object(&mut expected.arguments);
        }
        for criterion in &mut scenario.success_criteria {
            if let Criterion::Text(text) = criterion {
                self.string(text);
            }
        }
    }

    /// What a repository says of itself was written by people, as anything else.
    fn image(&self, stamp: &mut ImageStamp) {
        let ImageStamp {
            name,
            id: _,
            digest,
            revision,
            source,
            version,
        } = stamp;
        self.string(name);
        for label in [digest, revision, source, version].into_iter().flatten() {
            self.string(label);
        }
    }

    fn git(&self, stamp: &mut GitStamp) {
        match stamp {
            GitStamp::Known(commit) => {
                for text in [
                    &mut commit.commit,
                    &mut commit.short,
                    &mut commit.subject,
                    &mut commit.committed_at,
                ] {
                    self.string(text);
                }
                let optional = commit.branch.iter_mut().chain(&mut commit.describe);
                optional.for_each(|it| self.string(it));
            }
            GitStamp::Unknown { reason } => self.string(reason),
        }
    }

    fn outcome(&self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Answer(answer) => {
                answer.content.iter_mut().for_each(|it| self.value(it));
                answer
                    .structured_content
                    .iter_mut()
                    .for_each(|it| self.value(it));
                self.object(&mut answer.other);
            }
            Outcome::Failure(failure) => {
                self.string(&mut failure.message);
                failure.data.iter_mut().for_each(|it| self.value(it));
            }
        }
    }

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
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
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
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let next = seen.keys().filter(|(known, _)| *known == kind).count() + 1;
        let number = *seen.entry((kind, secret.to_owned())).or_insert(next);
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
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::Redactor;
    use crate::model::Object;
    use crate::model::catalogue::Catalogue;
    use crate::model::stamp::{GitCommit, GitStamp, ImageStamp, Stamp};
    use crate::model::trajectory::{Answer, Ending, Outcome, Step, ToolCall, Trajectory};

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
    fn a_secret_that_is_shown_late_is_hidden_from_the_start() {
        let redactor = Redactor::default();
        let call = |arguments: Value, answer: Value| {
            Step::ToolCall(Box::new(ToolCall {
                server: None,
                tool: "t".to_owned(),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                outcome: Outcome::Answer(Answer {
                    structured_content: Some(answer),
                    ..Answer::default()
                }),
                start_ms: None,
                duration_ms: None,
            }))
        };
        let mut first = call(json!({}), json!({ "access": "tok_ab12" }));
        let mut second = call(json!({ "header": "Bearer tok_ab12" }), json!({}));
        for _ in 0..2 {
            for step in [&mut first, &mut second] {
                let Step::ToolCall(call) = step else { continue };
                redactor.call(call);
            }
        }
        let hidden = "<redacted:bearer-token:1>";
        let header = format!("Bearer {hidden}");
        assert_eq!(first, call(json!({}), json!({ "access": hidden })));
        assert_eq!(second, call(json!({ "header": header }), json!({})));
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

    #[test]
    fn names_and_commits_are_texts_too() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let mut trajectory = Trajectory {
            scenario: "s".to_owned(),
            name: format!("Use {token}"),
            scenario_hash: None,
            stamp: Stamp {
                recorded_at: Timestamp::UNIX_EPOCH,
                mcp_eval: "0.0.0".to_owned(),
                agent: "scripted".to_owned(),
                model: None,
                scenarios: GitStamp::Unknown {
                    reason: format!("{token} is no folder"),
                },
                source: Some(GitStamp::Known(GitCommit {
                    commit: "c0ffee".repeat(7),
                    short: "c0ffeec".to_owned(),
                    branch: Some(format!("with-{token}")),
                    describe: None,
                    subject: format!("Drop {token}"),
                    committed_at: String::new(),
                    dirty: None,
                })),
                image: Some(ImageStamp {
                    name: format!("image:{token}"),
                    source: Some(format!("https://{token}@host/repository")),
                    version: Some(token.clone()),
                    ..ImageStamp::default()
                }),
            },
            catalogue: Catalogue::default(),
            steps: vec![Step::ToolCall(Box::new(ToolCall {
                server: Some(token.clone()),
                tool: token.clone(),
                arguments: Object::new(),
                outcome: Outcome::Answer(Answer::default()),
                start_ms: None,
                duration_ms: None,
            }))],
            ending: Ending::Completed,
            duration_ms: None,
            volatile: Vec::new(),
            bindings: Vec::new(),
            requests: Vec::new(),
        };
        Redactor::default().trajectory(&mut trajectory);
        assert!(
            !format!("{trajectory:?}").contains(&token),
            "{trajectory:?}"
        );
    }
}
