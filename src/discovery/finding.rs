//! What is wrong with a data set, said so that it can be found and mended.

use std::fmt;

use serde::Serialize;

use super::lines::Lines;
use crate::text;

/// The longest part of a line that is shown, in characters.
const SHOWN: usize = 100;

/// Whether a finding makes its file unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// One thing that is wrong, or looks wrong, in a data set. Its texts are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// The file as the user named it.
    pub path: String,
    /// Counted from 1; `None` when the finding is about the file as a whole.
    pub line: Option<usize>,
    /// In characters, counted from 1.
    pub column: Option<usize>,
    pub message: String,
    /// The part of the line around the place.
    pub line_text: Option<String>,
    /// How far the place is from the start of `line_text`, in characters.
    #[serde(skip)]
    indent: usize,
}

impl Finding {
    /// A finding about a file as a whole.
    pub fn about(path: &str, severity: Severity, message: impl AsRef<str>) -> Self {
        Self {
            severity,
            path: text::line(path).into_owned(),
            line: None,
            column: None,
            message: text::line(message.as_ref()).into_owned(),
            line_text: None,
            indent: 0,
        }
    }

    /// Adds the place, as an offset in bytes in the text of the file.
    #[must_use]
    pub(super) fn at(mut self, text: &str, lines: &Lines, offset: usize) -> Self {
        let spot = lines.spot(text, offset);
        self.line = Some(spot.line);
        self.column = Some(spot.column + 1);
        let (before, after) = text[spot.start..spot.end].split_at(spot.at - spot.start);
        let is_long = spot.end - spot.start > SHOWN && spot.text(text).chars().nth(SHOWN).is_some();
        let (shown, indent): (String, usize) = if is_long {
            let start = before.char_indices().rev().take(SHOWN / 2).last();
            let start = start.map_or(before.len(), |(at, _)| at);
            let around = before[start..].chars().chain(after.chars());
            (
                around.take(SHOWN).collect(),
                before[start..].chars().count(),
            )
        } else {
            let line = spot.text(text).trim_start();
            let skipped = spot.text(text).chars().count() - line.chars().count();
            (line.to_owned(), spot.column.saturating_sub(skipped))
        };
        self.indent = indent;
        // A tab is one character wide, so that the caret stands under its place.
        self.line_text = Some(text::line(&shown.replace('\t', " ")).into_owned());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Sorts by path, line and column.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| {
        (&a.path, a.line, a.column, &a.message).cmp(&(&b.path, b.line, b.column, &b.message))
    });
    findings.dedup();
}

impl fmt::Display for Finding {
    /// `path:line:column: severity: message`, and the line with a caret under the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, ": {severity}: {}", self.message)?;
        if let (Some(text), Some(line)) = (&self.line_text, self.line) {
            let number = line.to_string();
            let gutter = " ".repeat(number.len());
            let indent = " ".repeat(self.indent);
            write!(f, "\n  {number} | {text}\n  {gutter} | {indent}^")?;
        }
        Ok(())
    }
}
