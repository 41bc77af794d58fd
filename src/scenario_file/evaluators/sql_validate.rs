//! `type: sql-validate`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Number, Value};

use super::compared;
use crate::model::{Object, ShownText};
use crate::scenario_file::decode::{
    At, Decode, NO_HINT, Template, Timeout, Times, Word, schema, section, wrong_kind,
};
use crate::scenario_file::servers::ready::Wanted;
use crate::scenario_file::yaml::{Content, Findings, Mark, Node};
use crate::sql::{self, Database};

/// How long a query may take unless that is said.
const TIMEOUT: Duration = Duration::from_secs(30);

section! {
    /// A query to a database after the run. All that is said of its rows must hold. It is asked while servers that outlive a run are still up, and before the commands under `after` are run.
    SqlKeys {
        /// The file of SQLite, relative to this one; or `postgres://user:password@host:port/name`, `mysql://…`, `mariadb://…`. `${NAME}` is an environment variable.
        database: Template<Word>,
        /// One `select`, with a placeholder for each parameter: `?`, or `$1` for PostgreSQL. Nothing is changed: the transaction only reads.
        query: At<Word>,
        /// What is bound to the placeholders, in their order: texts, numbers, true, false and null.
        parameters: Option<Vec<At<Parameter>>>,
        /// The only value of the only row; a list gives all rows, as `rows` does.
        equals: Option<At<Wanted>>,
        /// All rows in their order: each a list of its values, or a map of the columns that matter.
        rows: Option<At<Vec<At<Row>>>>,
        /// How many rows there are.
        count: Option<Times>,
        /// Whether there is no row.
        empty: Option<bool>,
        /// The only value of the only row is this number or a larger one.
        at_least: Option<AnyNumber>,
        /// The only value of the only row is this number or a smaller one.
        at_most: Option<AnyNumber>,
        /// How long it may take, from the connection to the last row; 30s unless given.
        timeout: Option<Timeout>,
    }
}

impl SqlKeys {
    pub(super) fn sql_validate(&self, at: Mark, findings: &mut Findings) -> Option<SqlValidate> {
        if let Some(why) = sql::refused(&self.query.0) {
            findings.error(self.query.at, why, NO_HINT);
        }
        let database = &self.database;
        // What is filled in later may be anything.
        if !database.0.contains("${")
            && let Err(why) = Database::parse(&database.0)
        {
            // The line that is shown holds it, and it may hold a password.
            findings.is_secret("database", &database.0);
            findings.error(database.at, why, NO_HINT);
        }
        let wanted = self.wanted(at, findings)?;
        let parameters = self.parameters.iter().flatten();
        Some(SqlValidate {
            asked: SqlQuestion {
                database: database.0.clone(),
                folder: findings.folder(database.at),
                query: self.query.0.clone(),
                parameters: parameters.map(|it| it.value.0.clone()).collect(),
                timeout: self.timeout.map_or(TIMEOUT, |it| it.0),
            },
            wanted,
        })
    }

    /// What is said of the rows; `None` after saying what is wrong with it.
    fn wanted(&self, at: Mark, findings: &mut Findings) -> Option<WantedRows> {
        let (equals, listed) = match &self.equals {
            None => (None, None),
            Some(it) => match &it.value.0 {
                Value::Array(rows) => (None, Some(listed(rows, it.at, findings)?)),
                value => (Some((it.at, value.clone())), None),
            },
        };
        if let Some(rows) = self.rows.as_ref().filter(|_| listed.is_some()) {
            findings.error(rows.at, "`equals` says already what the rows are", NO_HINT);
        }
        if let Some(rows) = self.rows.as_ref()
            && !rows.is_empty()
            && rows.iter().all(|it| it.value.0.is_any())
        {
            let message = "says only how many rows there are";
            let hint = format!("name columns, or write `count: {}`", rows.len());
            findings.warning(rows.at, message, Some(hint));
        }
        let rows = self.rows.as_ref();
        let rows = rows.map(|it| it.iter().map(|it| it.value.0.clone()).collect());
        if let Some((at, Value::Object(_))) = &equals {
            let message = "a row is not a single value";
            findings.error(*at, message, Some("write `rows: [{ column: value }]`"));
        }
        let wanted = WantedRows {
            equals: equals.map(|(_, it)| it),
            at_least: self.at_least.clone().map(|it| it.0),
            at_most: self.at_most.clone().map(|it| it.0),
            rows: rows.or(listed),
            count: self.count.map(|it| it.0 as usize),
            empty: self.empty,
        };
        if wanted == WantedRows::default() {
            let hint = "give `equals`, `rows`, `count`, `empty`, `at_least` or `at_most`";
            return findings.refuse(at, "says nothing of the rows", Some(hint));
        }
        Some(wanted)
    }
}

/// Rows that stand in `equals`.
fn listed(rows: &[Value], at: Mark, findings: &mut Findings) -> Option<Vec<WantedRow>> {
    let read: Option<Vec<WantedRow>> = rows.iter().map(row).collect();
    if read.is_none() {
        let message =
            "a list holds rows, and each row is a list of its values or a map of its columns";
        findings.error(at, message, Some("write `equals: [[1, paid]]`"));
    }
    read
}

fn row(value: &Value) -> Option<WantedRow> {
    match value {
        Value::Array(values) => Some(WantedRow::Values(values.clone())),
        Value::Object(columns) => Some(WantedRow::Named(columns.clone())),
        _ => None,
    }
}

/// A row that is expected.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Row(WantedRow);

impl Decode for Row {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let read = row(&node.to_json()).map(Self);
        read.or_else(|| wrong_kind(node, "a list of values, or a map of columns", findings))
    }
}

schema!(Row as "SqlRow", {
    "description": "A row: its values in the order of the columns, or the columns that matter.",
    "type": ["array", "object"],
});

/// What can be bound to a placeholder.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct Parameter(Value);

impl Decode for Parameter {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Map(_) | Content::List(_) => {
                wrong_kind(node, "a text, a number, true, false or null", findings)
            }
            _ => Some(Self(node.to_json())),
        }
    }

    fn of_null() -> Option<Self> {
        Some(Self(Value::Null))
    }
}

schema!(Parameter as "SqlParameter", { "type": ["string", "number", "boolean", "null"] });

/// A number of any size.
#[derive(Debug, Clone)]
pub(in crate::scenario_file) struct AnyNumber(Number);

impl Decode for AnyNumber {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let Content::Number(number) = &node.content else {
            return wrong_kind(node, "a number", findings);
        };
        Some(Self(number.clone()))
    }
}

schema!(AnyNumber, { "type": "number" });

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
            compared::quoted(&self.asked.query),
            said.join(", ")
        )
    }
}
