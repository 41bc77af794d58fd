//! Values as both kinds of databases have them.

use std::borrow::Cow;

use serde_json::Value;

use crate::json;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

/// One row of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) columns: std::sync::Arc<[String]>,
    pub(super) cells: Vec<Cell>,
}

/// A row that is to be written: its columns with their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Record {
    pub(super) columns: Vec<Cow<'static, str>>,
    pub(super) cells: Vec<Cell>,
}

impl Record {
    /// The same with one more column.
    #[must_use]
    pub(super) fn with(
        mut self,
        column: impl Into<Cow<'static, str>>,
        value: impl Into<Cell>,
    ) -> Self {
        self.columns.push(column.into());
        self.cells.push(value.into());
        self
    }

    /// The same with all columns of another one.
    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        self.columns.extend(other.columns);
        self.cells.extend(other.cells);
        self
    }

    /// The value of a column; what is not there is null.
    pub(super) fn get(&self, column: &str) -> &Cell {
        let at = self.columns.iter().position(|it| *it == column);
        at.map_or(&Cell::Null, |at| &self.cells[at])
    }

    pub(super) fn set(&mut self, column: impl Into<Cow<'static, str>>, value: impl Into<Cell>) {
        let column = column.into();
        if let Some(at) = self.columns.iter().position(|it| *it == column) {
            self.cells[at] = value.into();
        } else {
            self.columns.push(column);
            self.cells.push(value.into());
        }
    }
}

impl Row {
    pub(super) fn cell(&self, column: &str) -> &Cell {
        let at = self.columns.iter().position(|it| it == column);
        at.and_then(|at| self.cells.get(at)).unwrap_or(&Cell::Null)
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        match self.cell(column) {
            Cell::Text(it) => Some(it.clone()),
            _ => None,
        }
    }

    /// A text that is never null; empty where somebody else has made it so.
    pub(super) fn string(&self, column: &str) -> String {
        self.text(column).unwrap_or_default()
    }

    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Cell::Integer(it) => Some(*it),
            _ => None,
        }
    }

    /// A count; `None` where there is none, or somebody else has made it negative.
    pub(super) fn count(&self, column: &str) -> Option<u64> {
        self.integer(column).and_then(|it| it.try_into().ok())
    }

    pub(super) fn real(&self, column: &str) -> Option<f64> {
        match self.cell(column) {
            Cell::Real(it) => Some(*it),
            #[expect(
                clippy::cast_precision_loss,
                reason = "a number that was written without its point"
            )]
            Cell::Integer(it) => Some(*it as f64),
            _ => None,
        }
    }

    pub(super) fn flag(&self, column: &str) -> Option<bool> {
        self.integer(column).map(|it| it != 0)
    }

    /// A text that is JSON; null where it is none.
    pub(super) fn json(&self, column: &str) -> Value {
        let text = self.string(column);
        json::read(text.as_bytes()).unwrap_or(Value::Null)
    }

    /// A text that is a list of texts in JSON; empty where it is none.
    pub(super) fn texts(&self, column: &str) -> Vec<String> {
        let Value::Array(items) = self.json(column) else {
            return Vec::new();
        };
        let texts = items.into_iter().filter_map(|it| match it {
            Value::String(it) => Some(it),
            _ => None,
        });
        texts.collect()
    }
}

impl From<i64> for Cell {
    fn from(it: i64) -> Self {
        Self::Integer(it)
    }
}

impl From<bool> for Cell {
    fn from(it: bool) -> Self {
        Self::Integer(it.into())
    }
}

/// What is too large for a database to count is not known.
impl From<u64> for Cell {
    fn from(it: u64) -> Self {
        i64::try_from(it).map_or(Self::Null, Self::Integer)
    }
}

impl From<usize> for Cell {
    fn from(it: usize) -> Self {
        i64::try_from(it).map_or(Self::Null, Self::Integer)
    }
}

/// What is no number is not known.
impl From<f64> for Cell {
    fn from(it: f64) -> Self {
        if it.is_finite() {
            Self::Real(it)
        } else {
            Self::Null
        }
    }
}

/// A character that ends texts in C is refused by PostgreSQL, and would end the text for others who read a file of SQLite.
impl From<String> for Cell {
    fn from(it: String) -> Self {
        if it.contains('\0') {
            return Self::Text(it.replace('\0', "\u{fffd}"));
        }
        Self::Text(it)
    }
}

impl From<&str> for Cell {
    fn from(it: &str) -> Self {
        it.to_owned().into()
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(it: Option<T>) -> Self {
        it.map_or(Self::Null, Into::into)
    }
}
