//! Commands around each run, which reset what outlives it.

use std::path::PathBuf;
use std::time::Duration;

/// A command that is run before or after each run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The program and its arguments, with `${…}` not yet filled in.
    pub command: Vec<String>,
    /// Resolved against the folder of the file that names it; `None` for the current one.
    pub cwd: Option<PathBuf>,
    pub env: Vec<(String, String)>,
    /// How long it may take.
    pub timeout: Duration,
}

impl Hook {
    /// How long a command may take unless the scenario says otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(60);
}
