//! What of this machine's files asking a database opens.

use super::query::{Database, named};
use super::{mysql, postgres};

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
