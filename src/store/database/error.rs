//! Errors of asking or writing a database.

use thiserror::Error;

/// Why a database cannot be asked or written, in a sentence without what gives access to it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DatabaseError {
    message: String,
}

impl DatabaseError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// The same, as those see it who may do something about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum Fault {
    /// The file cannot be what was written.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// A later program has changed the schema.
    #[error(
        "its schema is version {found}, and this mcp-eval knows versions up to {known}: a newer mcp-eval can read it; to start again, move it away \
         or name another one with `--db`"
    )]
    Newer { found: u32, known: u32 },
    /// Its tables are not those of its version.
    #[error("{why}: {way}")]
    Misshapen { why: String, way: &'static str },
    /// Only a damaged file, or a mistake of ours, makes it so.
    #[error("{0}")]
    Doubtful(String),
    /// It does not answer: another try would wait as long again.
    #[error("{0}")]
    Silent(String),
    /// The connection has ended, or somebody else holds the database for too long: another try may go otherwise.
    #[error("{0}")]
    Lost(String),
    #[error("{0}")]
    Other(String),
}
