//! Findings: problems in a file, reported so that they can be found and fixed.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::model::Place;
use crate::redact::{self, Redactor};
use crate::text;

/// How much of a line is kept on each side of a place, in characters: secrets are found whole there, for they are shorter.
const NEAR: usize = 16 * 1024;
/// The longest part of a line that is shown, in characters.
const SHOWN_LINE: usize = 100;
/// The longest word of a file that a message repeats, in characters.
const SHOWN_WORD: usize = 60;

/// One thing that is wrong, or looks wrong, in a file or an argument.
///
/// Its texts are safe to print: control characters are replaced by visible ones, long lines are cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// The file as the user named it, or the argument the finding is about.
    pub path: String,
    /// Counted from 1; `None` when the finding is about the file as a whole.
    pub line: Option<usize>,
    /// In characters, counted from 1.
    pub column: Option<usize>,
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// The offending line; of a long one the part around the column.
    pub line_text: Option<String>,
    /// How far the offending place is from the start of `line_text`, in columns of a terminal.
    #[serde(skip)]
    indent: usize,
    /// The line, until it is known what of it is secret; of a very long one what is around the place. And how many of its characters are
    /// before the place.
    #[serde(skip)]
    unhidden: Option<(String, usize)>,
}

/// Whether a finding makes its file unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

impl Finding {
    /// A finding about a file or an argument as a whole.
    pub fn about(path: impl fmt::Display, severity: Severity, message: impl AsRef<str>) -> Self {
        Self {
            severity,
            path: visible(&path.to_string()),
            line: None,
            column: None,
            message: visible(message.as_ref()),
            hint: None,
            line_text: None,
            indent: 0,
            unhidden: None,
        }
    }

    /// A finding about a word in the `scoring` section of a file, for those who judge what was read; without its place when the word
    /// is not to be found there, because it comes from a file of defaults.
    pub fn at_word(path: &Path, severity: Severity, message: impl AsRef<str>, word: &str) -> Self {
        let finding = Self::about(path.display(), severity, message);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text
            .lines()
            .enumerate()
            .skip_while(|(_, line)| !line.starts_with("scoring"));
        let place = lines.find_map(|(index, line)| Some((index, line, line.find(word)?)));
        match place {
            Some((index, line, byte)) => {
                finding.at(index + 1, line[..byte].chars().count() + 1, line)
            }
            None => finding,
        }
    }

    /// A finding at a place of a file, for those who judge what was read.
    pub fn at_place(
        path: &Path,
        place: Place,
        severity: Severity,
        message: impl AsRef<str>,
    ) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().nth(place.line.saturating_sub(1));
        Self::about(path.display(), severity, message).at(
            place.line,
            place.column,
            line.unwrap_or_default(),
        )
    }

    /// Adds what to try.
    #[must_use]
    pub fn with_hint(mut self, hint: Option<impl AsRef<str>>) -> Self {
        self.hint = hint.map(|it| visible(it.as_ref()));
        self
    }

    /// Adds the place, and the line there; both numbers count from 1.
    #[must_use]
    pub(in crate::scenario_file) fn at(self, line: usize, column: usize, text: &str) -> Self {
        self.within(line, column, text, column.saturating_sub(1))
    }

    /// Adds the place, and the part of the line around it, so many characters of which are before it.
    #[must_use]
    pub fn within(mut self, line: usize, column: usize, part: &str, before: usize) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        let skipped = before.saturating_sub(NEAR);
        let near: String = part.chars().skip(skipped).take(2 * NEAR).collect();
        self.unhidden = Some((near, before - skipped)).filter(|(near, _)| !near.trim().is_empty());
        self.without_secrets(redact::environment())
    }

    /// The finding without what is secret in what it repeats of the file.
    pub(in crate::scenario_file) fn without_secrets(mut self, redactor: &Redactor) -> Self {
        if let Some((line, before)) = &self.unhidden {
            let before: String = line.chars().take(*before).collect();
            let place = redactor.text(&before).chars().count();
            let (shown, before) = excerpt(&redactor.text(line), place);
            self.indent = before.width();
            self.line_text = Some(shown);
        }
        self.message = redactor.text(&self.message).into_inner();
        self.hint = self.hint.map(|it| redactor.text(&it).into_inner());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Sorts by path, line and column, and removes what is said twice.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| {
        let key = |it: &Finding| (it.line, it.column);
        a.path
            .cmp(&b.path)
            .then_with(|| key(a).cmp(&key(b)))
            .then_with(|| a.message.cmp(&b.message))
    });
    findings.dedup();
}

impl fmt::Display for Finding {
    /// `path:line:column: severity: message`, the line with a caret under the place, the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}: {}", self.severity, self.message)?;
        if let (Some(text), Some(line)) = (&self.line_text, self.line) {
            let number = line.to_string();
            let gutter = " ".repeat(number.len());
            let indent = " ".repeat(self.indent);
            write!(f, "\n  {number} | {text}\n  {gutter} | {indent}^")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// A word of a file between backticks, shortened when it is long.
pub(in crate::scenario_file) fn quoted(word: &str) -> String {
    match word.char_indices().nth(SHOWN_WORD) {
        Some((end, _)) => format!("`{}…`", &word[..end]),
        None => format!("`{word}`"),
    }
}

/// The part of a line around a place, and what of it stands before the place.
fn excerpt(line: &str, place: usize) -> (String, String) {
    let start = if line.chars().nth(SHOWN_LINE).is_some() {
        place.saturating_sub(SHOWN_LINE / 2)
    } else {
        0
    };
    let mut rest = line.chars().skip(start);
    let mut shown: String = rest.by_ref().take(SHOWN_LINE).collect();
    let mut before: String = shown.chars().take(place - start.min(place)).collect();
    if start > 0 {
        shown.insert(0, '…');
        before.insert(0, '…');
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    (visible(shown.trim_end()), visible(&before))
}

/// The text as it can be printed. A tab is one space wide, so that the caret stands under its place.
fn visible(text: &str) -> String {
    text::line(&text.replace('\t', " ")).into_owned()
}
