//! What is kept, and where, unless somebody says otherwise.

use std::path::PathBuf;
use std::sync::LazyLock;

use crate::store::own;

/// The file, unless the user names another database.
pub static DEFAULT: LazyLock<PathBuf> = LazyLock::new(|| own("results.db"));

/// What is kept besides what always is.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Not who ran it, and where (`--no-identity`).
    pub anonymous: bool,
    /// The folder of the runs, from which a damaged file is made anew; `None` leaves the new one empty.
    pub runs: Option<PathBuf>,
    /// Only one that is there is used: where there is none, none is made.
    pub existing: bool,
}
