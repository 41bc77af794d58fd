//! One query to a database that somebody else writes: its rows as JSON values, and nothing changed.
//!
//! | file | what it asks |
//! |---|---|
//! | `sqlite` | a file of SQLite |
//! | `postgres` | PostgreSQL, by URL |
//! | `mysql` | MariaDB and MySQL, by URL |
//! | `statement` | nobody: whether a text is one query that only reads |
//!
//! Every query is one statement with bound parameters, in a transaction that only reads, and is given up after a while.

mod mysql;
mod postgres;
mod sqlite;
mod statement;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

pub use self::statement::refused;

/// The most rows that are read; of more, the first so many, and that there are more.
pub const MOST_ROWS: usize = 10_000;

/// The most that is read of all rows together, in bytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub database: Database,
    /// One statement that only reads, with a placeholder for each parameter as the database writes it: `?`, or `$1` for PostgreSQL.
    pub text: String,
    /// Texts, numbers, booleans and nulls, in the order of the placeholders.
    pub parameters: Vec<Value>,
    /// From the connection to the last row.
    pub timeout: Duration,
}

/// Where a database is.
#[derive(Clone, PartialEq, Eq)]
pub enum Database {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// `postgres://user:password@host:port/name`
    Postgres(String),
    /// `mysql://user:password@host:port/name`, also for MariaDB.
    MySql(String),
}

/// What a query returned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<String>,
    /// A value per column, each as JSON: what a database has beyond that – dates, decimals, bytes – as text.
    pub rows: Vec<Vec<Value>>,
    /// There are more than were read.
    pub has_more: bool,
}

impl Database {
    /// Reads what a scenario names: a URL of PostgreSQL, MariaDB or MySQL; whatever is no URL is the path of a file, which may stand behind
    /// `sqlite:`.
    ///
    /// # Errors
    ///
    /// Which databases there are, for a URL of another kind.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            let path = text.strip_prefix("sqlite:").unwrap_or(text);
            return Ok(Self::Sqlite(PathBuf::from(path)));
        };
        match scheme {
            "postgres" | "postgresql" => Ok(Self::Postgres(text.to_owned())),
            "mysql" | "mariadb" => Ok(Self::MySql(format!("mysql://{rest}"))),
            "sqlite" | "file" => Ok(Self::Sqlite(PathBuf::from(rest))),
            _ => Err(format!(
                "`{scheme}://` is no database that can be asked: `postgres://…`, `mysql://…`, or the path of a file of SQLite"
            )),
        }
    }
}

/// Nothing of a URL but its kind: the rest may hold a password.
impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Self::Postgres(_) => f.write_str("Postgres(…)"),
            Self::MySql(_) => f.write_str("MySql(…)"),
        }
    }
}

/// Asks a database.
///
/// # Errors
///
/// Why there are no rows, in a sentence without what may be secret in the database's address.
pub async fn ask(query: &Query) -> Result<Rows, String> {
    if let Some(why) = refused(&query.text) {
        return Err(why);
    }
    let asked = async {
        match &query.database {
            Database::Sqlite(path) => sqlite::ask(path.clone(), query).await,
            Database::Postgres(url) => postgres::ask(url, query).await,
            Database::MySql(url) => mysql::ask(url, query).await,
        }
    };
    match tokio::time::timeout(query.timeout, asked).await {
        Ok(answered) => answered,
        Err(_) => Err(format!("the query took longer than {:?}", query.timeout)),
    }
}

/// Gathers rows as long as there is room for them.
#[derive(Default)]
struct Gathered {
    rows: Rows,
    bytes: usize,
}

impl Gathered {
    fn new(columns: Vec<String>) -> Self {
        Self {
            rows: Rows {
                columns,
                ..Rows::default()
            },
            bytes: 0,
        }
    }

    /// Takes a row; false where there was no room for it, and nothing more is to be read.
    fn take(&mut self, row: Vec<Value>) -> bool {
        self.bytes += row.iter().map(size).sum::<usize>();
        if self.rows.rows.len() == MOST_ROWS || self.bytes > MOST_BYTES {
            self.rows.has_more = true;
            return false;
        }
        self.rows.rows.push(row);
        true
    }
}

/// About what a value takes, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(_) | Value::Object(_) => value.to_string().len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// A number as databases print it, exactly, where JSON has one.
fn number(text: &str) -> Value {
    serde_json::from_str(text)
        .ok()
        .filter(Value::is_number)
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Bytes that are no text, in hexadecimal.
fn bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::String(text.to_owned()),
        Err(_) => Value::String(format!("0x{}", hex::encode(bytes))),
    }
}

/// What cannot be bound to a placeholder.
fn unbound(value: &Value) -> String {
    format!("{value} cannot be a parameter: only texts, numbers, booleans and null can")
}

/// What is wrong where a query has not as many placeholders as there are parameters.
fn wrong_count(wanted: usize, given: usize) -> String {
    let noun = if wanted == 1 {
        "placeholder"
    } else {
        "placeholders"
    };
    format!("the query has {wanted} {noun}, and {given} parameters are given")
}
