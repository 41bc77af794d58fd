//! Secrets that a scenario itself declares.

use regex::Regex;

/// What is taken out of everything stored or shown, besides what is known to be secret anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Texts that are secret.
    pub patterns: Vec<RedactionPattern>,
    /// The variables declared with `secret: true`.
    pub secrets: Vec<SecretVariable>,
    /// Names of environment variables, headers and the like whose values are secret although the names do not say so.
    pub marked: Vec<String>,
    /// Texts that are never taken for secrets.
    pub keep: Vec<String>,
    /// Environment variables that secret variables refer to and that are not set: the scenario cannot run without them.
    pub unset: Vec<String>,
}

/// A variable of a scenario whose value is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretVariable {
    pub name: String,
    pub value: String,
}

impl Redaction {
    /// The values of its secret variables.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|it| it.value.as_str())
    }
}

/// A regular expression for secrets: one that leaves ordinary text alone.
#[derive(Debug, Clone)]
pub struct RedactionPattern(Regex);

/// Two ordinary texts with nothing in common: what matches both says nothing of secrets.
const ORDINARY: [&str; 2] = [
    "lorem ipsum dolor sit amet lorem ipsum dolor sit amet",
    "2026 1234567 2026 1234567 2026 1234567 2026 1234567",
];

impl RedactionPattern {
    /// # Errors
    ///
    /// What is wrong with it, in words that go behind the pattern itself: it is no regular expression, or matches anything.
    pub fn new(text: &str) -> Result<Self, String> {
        let regex = Regex::new(text).map_err(|error| {
            // The message draws the pattern with a caret; its last line says what is wrong.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            format!("is not a regular expression: {reason}")
        })?;
        if regex.is_match("") || ORDINARY.iter().all(|it| regex.is_match(it)) {
            return Err("matches any text, so that nothing would be left".to_owned());
        }
        Ok(Self(regex))
    }

    pub fn regex(&self) -> &Regex {
        &self.0
    }
}

impl PartialEq for RedactionPattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for RedactionPattern {}
