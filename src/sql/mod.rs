//! One query to a database that somebody else writes: its rows as JSON values, and nothing changed.
//!
//! | file | what it asks |
//! |---|---|
//! | `sqlite` | a file of SQLite |
//! | `postgres` | PostgreSQL, by URL |
//! | `mysql` | MariaDB and MySQL, by URL |
//! | `query` | nobody: what is asked, whether that opens files of this machine, and what comes of it |
//! | `statement` | nobody: whether a text is one query that only reads |
//!
//! Every query is one statement with bound parameters, in a transaction that only reads, and is given up after a while.

mod mysql;
pub(crate) mod postgres;
mod query;
mod sqlite;
mod statement;

pub use self::query::{Database, Query, named, no_address};
pub use self::statement::refused;
pub use query::{MOST_ROWS, Rows};

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

/// Parameters of URLs that name files, whether or not what reads the URL knows them.
const NAMES_OF_FILES: [&str; 8] = [
    "sslcert",
    "sslkey",
    "sslrootcert",
    "sslcrl",
    "passfile",
    "service",
    "servicefile",
    "socket",
];

impl Database {
    /// Whether asking it opens a file of this machine, or a socket that is one.
    pub fn is_of_files(&self) -> bool {
        let (url, is_of_a_socket) = match self {
            Self::Sqlite(_) => return true,
            Self::Postgres(url) => (url, postgres::is_of_sockets(url)),
            Self::MySql(url) => (url, mysql::is_of_a_socket(url)),
        };
        is_of_a_socket || named(url).any(|(name, _)| NAMES_OF_FILES.contains(&name))
    }
}
