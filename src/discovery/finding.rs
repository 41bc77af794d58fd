//! What is wrong with a data set, said so that it can be found and mended.

use std::fmt;

use serde::Serialize;

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
    pub(super) fn at(mut self, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |it| it + 1);
        let column = text[line_start..before.len()].chars().count();
        self.line = Some(before.matches('\n').count() + 1);
        self.column = Some(column + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let skipped = if line.chars().nth(SHOWN).is_some() {
            column.saturating_sub(SHOWN / 2)
        } else {
            line.chars().take_while(|it| it.is_whitespace()).count()
        };
        let shown: String = line.chars().skip(skipped).take(SHOWN).collect();
        self.indent = column - skipped.min(column);
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
