//! The evaluator that checks the contents of a database after a run.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Number, Value};

use super::compared::{self, quoted};
use crate::model::Object;
use crate::model::redacted::ShownText;

/// A database is asked one query, and what it answers is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlValidate {
    pub asked: SqlQuestion,
    pub wanted: WantedRows,
}

/// What a database is asked.
#[derive(Clone, PartialEq)]
pub struct SqlQuestion {
    /// The path of a file of SQLite or a URL, in which `${…}` may stand for something. It may hold a password.
    pub database: String,
    /// The folder that a path begins in.
    pub folder: PathBuf,
    pub query: String,
    /// What is bound to its placeholders, in their order.
    pub parameters: Vec<Value>,
    pub timeout: Duration,
}

/// Without the address, which may hold a password.
impl std::fmt::Debug for SqlQuestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlQuestion")
            .field("query", &self.query)
            .finish_non_exhaustive()
    }
}

/// What the rows of a query must be; all that is given must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WantedRows {
    /// The only value of the only row.
    pub equals: Option<Value>,
    /// That value is this number or a larger one.
    pub at_least: Option<Number>,
    /// That value is this number or a smaller one.
    pub at_most: Option<Number>,
    /// All rows, in their order.
    pub rows: Option<Vec<WantedRow>>,
    /// How many rows there are.
    pub count: Option<usize>,
    /// Whether there is none.
    pub empty: Option<bool>,
}

/// What one row must be.
#[derive(Debug, Clone, PartialEq)]
pub enum WantedRow {
    /// These values, in the order of the columns.
    Values(Vec<Value>),
    /// These columns have these values; there may be others.
    Named(Object),
}

impl WantedRow {
    /// Whether every row is as this one is.
    pub fn is_any(&self) -> bool {
        matches!(self, Self::Named(columns) if columns.is_empty())
    }
}

impl WantedRows {
    /// Whether a single value is asked for.
    pub fn is_of_one_value(&self) -> bool {
        self.equals.is_some() || self.at_least.is_some() || self.at_most.is_some()
    }
}

impl SqlValidate {
    pub(super) fn each_text(&mut self, visit: &mut dyn FnMut(ShownText<'_>)) {
        let wanted = &mut self.wanted;
        if let Some(value) = &mut wanted.equals {
            visit(ShownText::Value(value));
        }
        for row in wanted.rows.iter_mut().flatten() {
            match row {
                WantedRow::Values(values) => {
                    for value in values {
                        visit(ShownText::Value(value));
                    }
                }
                WantedRow::Named(columns) => visit(ShownText::Object(columns)),
            }
        }
    }

    pub(super) fn words(&self) -> String {
        let it = &self.wanted;
        let mut said: Vec<String> = Vec::new();
        said.extend((it.equals.as_ref()).map(|it| format!("is {}", compared::value(it))));
        said.extend(it.at_least.as_ref().map(|it| format!("is at least {it}")));
        said.extend(it.at_most.as_ref().map(|it| format!("is at most {it}")));
        said.extend(it.rows.as_ref().map(|it| match it.len() {
            1 => "has the one row that is expected".to_owned(),
            rows => format!("has the {rows} rows that are expected"),
        }));
        said.extend(it.count.map(|it| match it {
            1 => "has 1 row".to_owned(),
            count => format!("has {count} rows"),
        }));
        said.extend(it.empty.map(|it| {
            let words = if it { "has no row" } else { "has rows" };
            words.to_owned()
        }));
        format!(
            "the query {} {}",
            quoted(&self.asked.query),
            said.join(", ")
        )
    }
}
