//! What is asked, and of whom.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

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

/// The parts of a database's address that have names, those of its parameters, and the address itself, so that secrets in it are known.
pub fn named(address: &str) -> impl Iterator<Item = (&str, &str)> {
    let parameters = address.split_once('?').map_or("", |it| it.1);
    let parameters = parameters.split('&').filter_map(|it| it.split_once('='));
    std::iter::once(("address", address)).chain(parameters)
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

/// What cannot be bound to a placeholder.
pub(super) fn unbound(value: &Value) -> String {
    format!("{value} cannot be a parameter: only texts, numbers, booleans and null can")
}

/// What is wrong where a query has not as many placeholders as there are parameters.
pub(super) fn wrong_count(wanted: usize, given: usize) -> String {
    let noun = if wanted == 1 {
        "placeholder"
    } else {
        "placeholders"
    };
    format!("the query has {wanted} {noun}, and {given} parameters are given")
}
