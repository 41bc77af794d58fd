//! Takes secrets out of values before they are stored or shown.
//!
//! Three things count as secrets: values that a scenario declares or gives under names that say so ([`Secrets`]), text of a known
//! shape, and what stands under a key that names a secret. Each is replaced by a [`placeholder`](mod@model::placeholder) with its name
//! or its kind, so that what is recorded with one secret compares with what is recorded with another.
//!
//! | file | what is there |
//! |---|---|
//! | `secrets` | values known to be secret, what they are called, and those that were met so far |
//! | `parts` | what of such a value is secret by itself: the password in an address |
//! | `spelling` | such a value, and how programs write it: escaped, encoded, within base64 |
//! | `shapes` | what vendors' keys look like |
//! | `keys`, `assigned`, `table` | keys that name secrets, and what they are given in texts |
//! | `structure` | masks, columns and pairs in JSON that say which of its places are secret |
//! | `marked` | objects in texts that say which of their members are secret |
//! | `encoded` | texts within base64 |
//! | `find` | one pass over a text that finds all of these |
//! | `random` | which values mean nothing but themselves |
//! | `ordinary` | which only stand where a secret would, and which clearly are none |
//! | `value` | values at any depth, by their keys |
//! | `walk` | what is stored: trajectories, calls, stamps |
//! | `shown` | what is shown: scenarios |
//! | `result` | results, in their own words |
//! | `restore` | secrets put back where what was recorded is sent again |
//! | `scan` | files that are already on disk |

mod assigned;
mod encoded;
mod escaped;
mod extent;
mod find;
mod hit;
mod keys;
mod marked;
mod ordinary;
mod parts;
mod random;
mod restore;
mod result;
pub mod scan;
mod secrets;
mod shapes;
mod shown;
mod spelling;
mod structure;
mod table;
mod value;
mod walk;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

pub use restore::Unknown;
pub use secrets::Secrets;
pub use shown::Shown;

use self::find::Finder;
use self::hit::{Hit, Name};
use self::secrets::Seen;
use model::placeholder::{self, placeholder, placeholders};
use model::{Redacted, Redaction, Trajectory};

/// Replaces secrets by placeholders.
#[derive(Debug)]
pub struct Redactor {
    finder: Arc<Finder>,
    /// The placeholders in the answers of recorded servers, where such answer.
    recorded: HashSet<String>,
    /// What it is given was redacted before.
    is_stored: bool,
    seen: Mutex<Seen>,
}

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From servers, agents and people: what looks like a placeholder there is none.
    Outside,
    /// From us: secrets were taken out already, and placeholders stay.
    Ours,
}

/// Hides what the environment of the program holds under names that say it is secret, for what is printed.
pub fn environment() -> &'static Redactor {
    static OURS: LazyLock<Redactor> =
        LazyLock::new(|| Redactor::new(&Secrets::of_environment(), &Redaction::default()));
    &OURS
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new(&Secrets::default(), &Redaction::default())
    }
}

impl Redactor {
    /// A redactor that hides these values and what a scenario declares to be secret, besides what it knows by shape and by key.
    pub fn new(secrets: &Secrets, redaction: &Redaction) -> Self {
        let mut all = secrets.clone();
        all.of_scenario(redaction);
        Self {
            recorded: HashSet::new(),
            is_stored: false,
            finder: Arc::new(Finder::new(
                all.known(),
                redaction.patterns.clone(),
                redaction.keep.clone(),
            )),
            seen: Mutex::default(),
        }
    }

    /// The same, that has met nothing yet.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self {
            finder: Arc::clone(&self.finder),
            recorded: self.recorded.clone(),
            is_stored: self.is_stored,
            seen: Mutex::default(),
        }
    }

    /// The same where recorded servers answer: the placeholders in their answers are ours, and come back in later calls.
    #[must_use]
    pub fn of_recorded_servers(self, recording: &Redacted<Trajectory>) -> Self {
        Self {
            recorded: placeholders_in_answers(recording),
            ..self
        }
    }

    /// The same for what was redacted when it was stored: what looks like a placeholder is one, and what was escaped stays so.
    #[must_use]
    pub fn of_stored(self) -> Self {
        Self {
            is_stored: true,
            ..self
        }
    }

    /// A text for people, without secrets. Placeholders in it stay.
    pub fn text(&self, text: &str) -> Redacted<String> {
        let mut clean = text.to_owned();
        self.words(&mut clean);
        Redacted::vouch_for(clean)
    }

    /// Takes secrets out of what servers, agents and people said.
    fn string(&self, text: &mut String) {
        if let Some(clean) = self.clean(text, None, Origin::Outside) {
            *text = clean;
        }
    }

    /// Takes secrets out of words for people, in which some may be replaced already.
    fn words(&self, text: &mut String) {
        if let Some(clean) = self.clean(text, None, Origin::Ours) {
            *text = clean;
        }
        self.shown_in(text);
    }

    /// The same in each of several.
    fn all_words<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        texts.into_iter().for_each(|it| self.words(it));
    }

    /// A name of a server or of a tool: a key of a known shape in it is a secret, another word is a name.
    fn name(&self, text: &mut String) {
        if let Some(clean) = self.sure(text, Origin::Ours) {
            *text = clean;
        }
    }

    /// A key or a name without secrets that are known for sure; `None` when it holds none.
    fn sure(&self, text: &str, origin: Origin) -> Option<String> {
        let origin = self.origin(origin);
        let mut hits = self.finder.find(text, None);
        hits.retain(|it| match it.name {
            Name::Shape(_) => true,
            // A word is a name of its own, whatever it is the secret of.
            Name::Declared(..) => !random::is_word(&text[it.at.clone()]),
            Name::Context(_) => false,
        });
        let is_forged = origin == Origin::Outside && placeholder::may_hold(text);
        (is_forged || !hits.is_empty()).then(|| self.written(text, &hits, &[], origin))
    }

    /// A text of the program's own without secrets that are known for sure: its words are no settings.
    pub fn known(&self, text: &str) -> Redacted<String> {
        let clean = self.sure(text, Origin::Ours);
        Redacted::vouch_for(clean.unwrap_or_else(|| text.to_owned()))
    }

    /// A text without secrets; `None` when it may stay as it is.
    ///
    /// What stands beside a placeholder may read as a secret where it did not before (`Cookie://Bearer tokeneyJ`), so a text that was
    /// changed is looked through again: redacting what is redacted changes nothing.
    fn clean(&self, text: &str, shown: Option<Hit<'static>>, origin: Origin) -> Option<String> {
        const ROUNDS: usize = 8;
        let origin = self.origin(origin);
        let mut clean = self.cleaner(text, shown, origin)?;
        for _ in 0..ROUNDS {
            match self.cleaner(&clean, None, Origin::Ours) {
                Some(cleaner) if cleaner != clean => clean = cleaner,
                _ => break,
            }
        }
        Some(clean)
    }

    /// Where a text comes from that came from there once.
    fn origin(&self, once: Origin) -> Origin {
        if self.is_stored { Origin::Ours } else { once }
    }

    /// A text without the secrets that show as it is written; `None` when there are none.
    fn cleaner(&self, text: &str, shown: Option<Hit<'static>>, origin: Origin) -> Option<String> {
        let mut hits = self.finder.find(text, shown);
        let alike: Vec<Range<usize>> = placeholders(text).map(|it| it.at).collect();
        let ours = alike.iter().cloned();
        let ours: Vec<Range<usize>> = ours
            .filter(|it| origin == Origin::Ours || self.recorded.contains(&text[it.clone()]))
            .collect();
        // What is inside of something that looks like a placeholder stands behind no key.
        hits.retain(|hit| {
            let next = alike.partition_point(|it| it.end <= hit.at.start);
            let is_within = alike.get(next).is_some_and(|it| it.start < hit.at.end);
            !(is_within && matches!(hit.name, Name::Context(_)))
        });
        hits.retain(|hit| {
            let next = ours.partition_point(|it| it.end <= hit.at.start);
            ours.get(next).is_none_or(|it| hit.at.end <= it.start)
        });
        let is_forged = origin == Origin::Outside && placeholder::may_hold(text);
        (is_forged || !hits.is_empty()).then(|| self.written(text, &hits, &ours, origin))
    }

    /// A text with placeholders for what was found in it. What is `ours` stays, all else that looks like a placeholder is escaped.
    fn written(
        &self,
        text: &str,
        hits: &[Hit<'_>],
        ours: &[Range<usize>],
        origin: Origin,
    ) -> String {
        let mut written = String::with_capacity(text.len());
        let mut hits = hits.iter().peekable();
        let mut ours = ours.iter().peekable();
        let mut begins = 0;
        loop {
            let next = match (hits.peek(), ours.peek()) {
                (Some(hit), own) if own.is_none_or(|it| hit.at.start < it.start) => hit.at.clone(),
                (_, Some(own)) => (*own).clone(),
                (_, None) => text.len()..text.len(),
            };
            let between = &text[begins..next.start];
            match origin {
                Origin::Outside => written.push_str(&placeholder::escaped(between)),
                Origin::Ours => written.push_str(between),
            }
            if let Some(hit) = hits.next_if(|it| it.at == next) {
                let quote = quote_of_number(text, &next).unwrap_or_default();
                let placeholder = self.placeholder(hit.name, &text[next.clone()]);
                written.extend([quote, &placeholder, quote]);
            } else if ours.next_if(|it| **it == next).is_some() {
                written.push_str(&text[next.clone()]);
            } else {
                return written;
            }
            begins = next.end;
        }
    }

    fn placeholder(&self, name: Name<'_>, secret: &str) -> String {
        let (kind, is_by_context) = match name {
            Name::Declared(name, spelling) => {
                let spelling = (!spelling.is_empty()).then_some(spelling);
                return placeholder(name, spelling, 1);
            }
            Name::Shape(kind) => (kind, false),
            Name::Context(kind) => (kind, true),
        };
        let mut seen = self.seen.lock();
        if is_by_context && random::is_random(secret) {
            seen.show(kind, secret);
        }
        placeholder(kind, None, seen.number(kind, secret))
    }

    /// Hides what keys have shown to be secret where it stands without such a key.
    fn shown_in(&self, text: &mut String) {
        let mut seen = self.seen.lock();
        for (at, kind) in seen.shown_in(text).into_iter().rev() {
            let number = seen.number(kind, &text[at.clone()]);
            text.replace_range(at, &placeholder(kind, None, number));
        }
    }
}

/// The quotes that a placeholder needs in the place of a number that is a member of a JSON object, so that it stays JSON: those of its key.
fn quote_of_number<'t>(text: &'t str, at: &Range<usize>) -> Option<&'t str> {
    let is_number = text[at.clone()]
        .bytes()
        .all(|it| it.is_ascii_digit() || b"+-.eE".contains(&it));
    let ends = text[at.end..].trim_ascii_start().starts_with([',', '}']);
    let key = text[..at.start].trim_ascii_end().strip_suffix(':');
    let key = key.filter(|_| is_number && ends)?.trim_ascii_end();
    let name = key.strip_suffix('"')?.trim_end_matches('\\');
    Some(&key[name.len()..])
}

/// The placeholders in the answers of a recording.
fn placeholders_in_answers(recording: &Trajectory) -> HashSet<String> {
    let mut found = HashSet::new();
    for call in recording.calls() {
        call.outcome.each_text(&mut |text| {
            found.extend(placeholders(text).map(|it| text[it.at].to_owned()));
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use regex::Regex;
    use serde_json::{Value, json};

    use super::{Redactor, Secrets};
    use model::{Redaction, RedactionPattern};

    fn redactor() -> Redactor {
        let mut secrets = Secrets::default();
        secrets.declare("var.token", "", "hunter2!");
        secrets.named("env", "db", [("PGPASSWORD", "postgres"), ("MODE", "test")]);
        Redactor::new(&secrets, &Redaction::default())
    }

    #[test]
    fn secrets_leave_and_the_rest_stays() {
        let github = format!("github_pat_{}", "11AAAAAAA0".repeat(4));
        let anthropic = format!("sk-ant-api03-{}", "a1B2".repeat(8));
        let telegram = format!("110201543:AA{}", "HdqTcv1CHGv".repeat(3));
        let cases = [
            (
                "the word is hunter2! indeed".to_owned(),
                "the word is <secret:var.token> indeed".to_owned(),
            ),
            (
                format!("a {github} b {github}"),
                "a <secret:github-token> b <secret:github-token>".to_owned(),
            ),
            (
                format!("MY_{github} first\\n{github}"),
                "MY_<secret:github-token> first\\n<secret:github-token>".to_owned(),
            ),
            (
                format!("key={anthropic}."),
                "key=<secret:anthropic-key>.".to_owned(),
            ),
            (
                format!("/bot{telegram}/getMe"),
                "/bot<secret:telegram-token>/getMe".to_owned(),
            ),
            (
                r#"{"env": {"API_KEY": "v1234567"}}"#.to_owned(),
                r#"{"env": {"API_KEY": "<secret:api-key>"}}"#.to_owned(),
            ),
            (
                r#"{"env": "{\"MY_TOKEN\": \"v1234567\"}"}"#.to_owned(),
                r#"{"env": "{\"MY_TOKEN\": \"<secret:token>\"}"}"#.to_owned(),
            ),
            (
                "Authorization: Bearer abcdefgh12345678".to_owned(),
                "Authorization: Bearer <secret:token>".to_owned(),
            ),
            (
                "say Bearer abcdefgh12345678 aloud".to_owned(),
                "say Bearer <secret:token> aloud".to_owned(),
            ),
            (
                r#"{"auth": "Basic dXNlcjpodW50ZXIy"}"#.to_owned(),
                r#"{"auth": "Basic <secret:token>"}"#.to_owned(),
            ),
            (
                "https://user:pa55word@example.org/x".to_owned(),
                "https://user:<secret:url-password>@example.org/x".to_owned(),
            ),
            (
                "postgres://postgres:postgres@postgres/x".to_owned(),
                "postgres://postgres:<secret:env.PGPASSWORD>@postgres/x".to_owned(),
            ),
            (
                "curl -u me:pa55word https://x".to_owned(),
                "curl -u me:<secret:password> https://x".to_owned(),
            ),
            (
                "at https://x/?sv=2&sig=abcDEF%2Bghi0123456789abcdefghijklmno&se=1".to_owned(),
                "at https://x/?sv=2&sig=<secret:azure-signature>&se=1".to_owned(),
            ),
            (
                "password=hunter2!".to_owned(),
                "password=<secret:var.token>".to_owned(),
            ),
        ];
        for (text, expected) in cases {
            let clean = redactor().text(&text);
            assert_eq!(*clean, expected);
            assert_eq!(
                *redactor().text(&clean),
                expected,
                "placeholders are left alone"
            );
        }
        for stays in [
            r#"{"max_tokens": "100", "token": "", "password_policy": "strict"}"#,
            "a basic introduction: basic dXNlcg== and Basic authentication",
            "Bearer authentication is required",
            "a token bucket, sk-learn-pipeline-of-2024 and a tokenizer: bpe",
            "git@github.com, ssh://git@github.com/x and https://jane.doe@example.org",
            "commit cc9decf0e4ab43355b7ad66314ca1573b10cc9de of 123e4567-e89b-12d3-a456-426614174000",
            "/var/lib/postgres in test mode",
            "docker run -u 1000:1000 x",
        ] {
            assert_eq!(*redactor().text(stays), stays);
        }
    }

    #[test]
    fn patterns_and_what_is_to_be_kept() {
        let redaction = Redaction {
            patterns: vec![RedactionPattern::new("acme_[0-9a-f]{8}").unwrap()],
            keep: vec!["sk-ant-not-a-secret-at-all".to_owned()],
            ..Redaction::default()
        };
        let redactor = Redactor::new(&Secrets::default(), &redaction);
        let text = redactor.text("acme_01234567, sk-ant-not-a-secret-at-all");
        assert_eq!(*text, "<secret:pattern>, sk-ant-not-a-secret-at-all");
    }

    #[test]
    fn what_only_looks_like_a_placeholder_is_stored_as_what_it_is() {
        let forged = json!(["say <secret:env.A> and <redacted:value:1>", { "x": "<secret::y>" }]);
        let stored =
            json!(["say <secret::env.A> and <redacted::value:1>", { "x": "<secret:::y>" }]);
        assert_eq!(*redactor().value(forged), stored);
    }

    #[test]
    fn secrets_are_found_in_whatever_form_a_text_has() {
        let github = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let config = STANDARD.encode("user: bob\npassword: hunter2\n");
        for (text, expected) in [
            (format!("file {config} read"), "file <secret:password> read"),
            (
                format!(
                    "/x/{}/y",
                    URL_SAFE_NO_PAD.encode(format!("the key is {github}"))
                ),
                "/x/<secret:github-token>/y",
            ),
            (
                "| API_KEY | abc123def |\n| MODE | test |".to_owned(),
                "| API_KEY | <secret:api-key> |\n| MODE | test |",
            ),
            (
                "<add key=\"Password\" value=\"hunter2\"/>".to_owned(),
                "<add key=\"Password\" value=\"<secret:password>\"/>",
            ),
            (
                "<db:password>hunter2</db:password>".to_owned(),
                "<db:password><secret:password></db:password>",
            ),
            (
                "args: [--token, abc12345x, y]".to_owned(),
                "args: [--token, <secret:token>, y]",
            ),
            (
                "args:\n  - --token\n  - abc12345x\n  - y".to_owned(),
                "args:\n  - --token\n  - <secret:token>\n  - y",
            ),
            (
                "env: { DB_PASSWORD: a&b-7, X: y }".to_owned(),
                "env: { DB_PASSWORD: <secret:password>, X: y }",
            ),
            (
                "x: \"password=p&w2\"".to_owned(),
                "x: \"password=<secret:password>\"",
            ),
            (
                "/?token=abc-123&verbose, q=a&token=abc-124&b=c".to_owned(),
                "/?token=<secret:token>&verbose, q=a&token=<secret:token#2>&b=c",
            ),
        ] {
            assert_eq!(*redactor().text(&text), expected);
        }
    }

    #[test]
    fn what_is_marked_in_the_list_of_places_is_hidden_and_nothing_else() {
        let secret = Regex::new("«([^»]*)»").unwrap();
        let placeholder = Regex::new("<secret:[^>]*>").unwrap();
        let cases = include_str!("places.txt").lines();
        let mut wrong = Vec::new();
        for case in cases.filter(|it| !it.is_empty() && !it.starts_with("# ")) {
            let marked = case.replace("\\n", "\n").replace("\\t", "\t");
            let text = marked.replace(['«', '»'], "");
            let clean = Redactor::default().text(&text).to_string();
            let expected = secret.replace_all(&marked, "«»");
            if placeholder.replace_all(&clean, "«»") != expected {
                wrong.push(clean);
            }
            let quoted = json!([{ "text": text }]).to_string();
            let quoted = Redactor::default().text(&quoted).to_string();
            let value = serde_json::from_str::<Value>(&text).unwrap_or_default();
            let value = Redactor::default().value(value).to_string();
            for it in [quoted, value] {
                let mut secrets = secret.captures_iter(&marked);
                if secrets.any(|secret| it.contains(&secret[1])) {
                    wrong.push(it);
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn what_almost_is_a_table_takes_no_longer_for_being_long() {
        // Where each of these is looked at to the end for each that begins, it takes minutes.
        for piece in [
            "<password ",
            "<password>",
            "<password x=\"",
            "<key>password</key>",
            ":password>",
            "password,",
            "password,x\n",
            "apassword,x\nx,password\n",
            "PASSWORD  X\n",
            "password\t",
            "<property name=\"password\"",
            "<input type=\"password\"",
            "mysql -p -u ",
            "\"password\",\"columns\":[",
            "{\"columns\":[\"password\"],\"rows\":[",
            "[[\"password\",",
            "<tr><th>password</th></tr><tr><td></td>",
            "(password) values ('",
            "(password) values (x),",
            "private-lines: 9\n",
            "sshpass -p ",
            "password: !! & ",
            "**password**: `",
        ] {
            let text = piece.repeat(60_000 / piece.len());
            assert!(!Redactor::default().text(&text).is_empty());
        }
    }

    #[test]
    fn names_types_and_patterns_of_secrets_stay() {
        for stays in [
            "existingSecret: my-release-postgresql-2",
            "secretName: tls-cert-2024",
            "secret: Buffer",
            "interface A { password: string; secret: Uint8Array }",
            "token: ^[a-z0-9]{32}$",
            "max_tokens: 4096, tokenizer: cl100k",
            "sk-ipping-stones-across-the-lake-of-2024",
            "| password | string | of the user |",
            "Give --token, --password or --api-key, in this order.",
        ] {
            assert_eq!(*redactor().text(stays), stays);
        }
    }
}
