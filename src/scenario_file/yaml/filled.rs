//! The texts that variables put into a document, so that what is wrong there is reported with where it comes from.

use std::collections::HashMap;
use std::ops::Range;

use super::finding::quoted;
use super::mark::Mark;

/// What begins the names that a row of a data set gives.
pub(in crate::scenario_file) const ROW: &str = "row.";

/// The values of variables in one document.
#[derive(Debug, Clone, Default)]
pub(in crate::scenario_file) struct Filled {
    /// Where values with braces stand in texts, in bytes.
    values: HashMap<Mark, Vec<Range<usize>>>,
    /// The names of what was put into a text.
    names: HashMap<Mark, Vec<String>>,
    row: Option<FilledRow>,
}

/// The row of a data set whose values are put in.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct FilledRow {
    /// Which one, as people say it.
    pub(in crate::scenario_file) words: String,
    /// Nothing was wrong with the document for the rows before it.
    pub(in crate::scenario_file) is_to_blame: bool,
}

impl Filled {
    /// Forgets all, before the values of the next row are put in, or of a document without rows.
    pub(super) fn begin(&mut self, row: Option<FilledRow>) {
        self.values.clear();
        self.names.clear();
        self.row = row;
    }

    pub(super) fn note_values(&mut self, at: Mark, values: Vec<Range<usize>>) {
        self.values.insert(at, values);
    }

    pub(super) fn values(&self, at: Mark) -> &[Range<usize>] {
        self.values.get(&at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn note_name(&mut self, at: Mark, name: &str) {
        let names = self.names.entry(at).or_default();
        if names.iter().all(|it| it != name) {
            names.push(name.to_owned());
        }
    }

    /// Whose doing it may be that something is wrong at a place; `None` where nothing was put in.
    pub(super) fn origin(&self, at: Mark) -> Option<String> {
        let Some(names) = self.names.get(&at) else {
            let row = self.row.as_ref().filter(|it| it.is_to_blame)?;
            return Some(format!("so it is for {}", row.words));
        };
        let shown: Vec<_> = names.iter().map(|it| quoted(it)).collect();
        let filled_in = format!("filled in from {}", shown.join(" and "));
        let of_row = names.iter().any(|it| it.starts_with(ROW));
        Some(match self.row.as_ref().filter(|_| of_row) {
            Some(row) => format!("{filled_in} of {}", row.words),
            None => filled_in,
        })
    }
}
