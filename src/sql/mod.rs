//! One query to a database that somebody else writes: its rows as JSON values, and nothing changed.
//!
//! | file | what it asks |
//! |---|---|
//! | `sqlite` | a file of SQLite |
//! | `postgres` | PostgreSQL, by URL |
//! | `mysql` | MariaDB and MySQL, by URL |
//! | `query`, `rows` | nobody: what is asked, and what comes of it |
//! | `files` | nobody: whether asking opens files of this machine |
//! | `statement` | nobody: whether a text is one query that only reads |
//!
//! Every query is one statement with bound parameters, in a transaction that only reads, and is given up after a while.

mod files;
mod mysql;
pub(crate) mod postgres;
mod query;
mod rows;
mod sqlite;
mod statement;

pub use self::query::{Database, Query, named, no_address};
pub use self::rows::{MOST_ROWS, Rows};
pub use self::statement::refused;

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
