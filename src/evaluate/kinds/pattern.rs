//! Texts and regular expressions that are looked for in texts.

use regex::{Regex, RegexBuilder};

use crate::scenario_file::evaluators::TextMatch;

/// A text or regular expression that is ready to be looked for. Expressions take time in proportion to the text, whatever they are.
pub(super) struct Wanted<'a> {
    matching: &'a TextMatch,
    any_case: bool,
    /// The text in lower case, where case does not matter.
    text: String,
    regex: Option<Regex>,
}

/// A regular expression.
///
/// # Errors
///
/// Why it is none, in a sentence.
pub(super) fn regex(pattern: &str, any_case: bool) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(any_case)
        .build();
    built.map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        let reason = reason.trim_start_matches("error: ");
        format!("`{pattern}` is not a regular expression: {reason}")
    })
}

impl<'a> Wanted<'a> {
    /// # Errors
    ///
    /// Why it cannot be looked for, in a sentence.
    pub(super) fn new(matching: &'a TextMatch, any_case: bool) -> Result<Self, String> {
        let compiled = match matching {
            TextMatch::Regex(pattern) => Some(regex(pattern, any_case)?),
            _ => None,
        };
        Ok(Self {
            matching,
            any_case,
            text: cased(matching.text(), any_case),
            regex: compiled,
        })
    }

    /// How often it is in a text.
    pub(super) fn count(&self, text: &str) -> usize {
        if let Some(regex) = &self.regex {
            return regex.find_iter(text).count();
        }
        let text = &cased(text, self.any_case);
        match self.matching {
            TextMatch::Contains(_) => text.matches(self.text.as_str()).count(),
            TextMatch::Equals(_) => usize::from(text.trim() == self.text.trim()),
            TextMatch::StartsWith(_) => usize::from(text.trim_start().starts_with(&self.text)),
            TextMatch::Regex(_) => 0,
        }
    }
}

fn cased(text: &str, any_case: bool) -> String {
    if any_case {
        text.to_lowercase()
    } else {
        text.to_owned()
    }
}
