//! What a scenario says of secrets: `redact`, and values that are marked `secret: true`.

use crate::model::redaction::Redaction;
use crate::scenario_file::decode::holders::Named;
use crate::scenario_file::decode::section::section;
use crate::scenario_file::decode::template::Template;
use crate::scenario_file::decode::values::{SecretPattern, Word};
use crate::scenario_file::decode::words::shapes;

shapes! {
    /// Regular expressions for texts that are secret, or a map that says what is never taken for a secret, too.
    RedactSection, "a list of regular expressions or a map with `patterns` and `keep`" {
        List => Patterns(Vec<SecretPattern>),
        Map => Rules(RedactRules),
    }
}

section! {
    /// What is secret, and what is not.
    RedactRules {
        /// Regular expressions for texts that are secret: what matches is replaced before anything is stored or shown.
        patterns: Option<Vec<SecretPattern>>,
        /// Texts that are never taken for secrets, although they look like some.
        keep: Option<Vec<Word>>,
    }
}

impl RedactSection {
    /// Adds what is said here.
    pub(in crate::scenario_file) fn add_to(&self, redaction: &mut Redaction) {
        let (patterns, keep) = match self {
            Self::Patterns(patterns) => (Some(patterns), None),
            Self::Rules(rules) => (rules.patterns.as_ref(), rules.keep.as_ref()),
        };
        let patterns = patterns.into_iter().flatten();
        redaction.patterns.extend(patterns.map(|it| it.0.clone()));
        let keep = keep.into_iter().flatten();
        redaction.keep.extend(keep.map(|it| it.0.clone()));
    }
}

shapes! {
    /// A text, or `{ value: …, secret: true }`.
    Given, "text or a map with `value` and `secret`" {
        Text => Text(Template),
        Map => Marked(MarkedSection),
    }
}

section! {
    /// A value that is secret although its name does not say so.
    MarkedSection {
        /// The value.
        value: Template,
        /// Whether the value is taken out of everything stored or shown. Without it, the name decides.
        secret: Option<bool>,
    }
}

impl Given {
    fn value(&self) -> &str {
        match self {
            Self::Text(text) => &text.value,
            Self::Marked(marked) => &marked.value.value,
        }
    }

    fn is_secret(&self) -> bool {
        matches!(
            self,
            Self::Marked(MarkedSection {
                secret: Some(true),
                ..
            })
        )
    }
}

/// Names with their values, as the model has them.
pub(in crate::scenario_file) fn given_pairs(named: Option<&Named<Given>>) -> Vec<(String, String)> {
    let named = named.iter().flat_map(|it| &it.0);
    named
        .map(|(name, given)| (name.value.clone(), given.value().to_owned()))
        .collect()
}

/// The names of values that are marked as secret.
pub(in crate::scenario_file) fn marked_names(
    named: Option<&Named<Given>>,
) -> impl Iterator<Item = String> {
    let named = named.into_iter().flat_map(|it| &it.0);
    let marked = named.filter(|(_, given)| given.is_secret());
    marked.map(|(name, _)| name.value.clone())
}
