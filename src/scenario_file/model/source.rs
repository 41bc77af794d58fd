//! The system under test: where its source lies, and what is done before it can be started.

use std::path::PathBuf;
use std::time::Duration;

/// How long each command may take that prepares something, unless the scenario says otherwise.
pub const PREPARE_TIMEOUT: Duration = Duration::from_secs(600);

/// The source of the system under test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The folder that `${source.dir}` stands for, in a git repository or not.
    pub repo: Option<PathBuf>,
    /// The version of it that is wanted; `None` for the folder as it stands.
    pub version: Option<Version>,
    /// What is done before its servers are started.
    pub prepare: Option<Prepare>,
}

/// A commit of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version {
    /// As the user named it.
    pub name: String,
    /// Its identity, in hexadecimal.
    pub commit: String,
}

/// Commands that make what is started later: a binary, a folder of packages. They run again when what they depend on has changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prepare {
    /// Each a program with its arguments, run in order; `${…}` not yet filled in.
    pub commands: Vec<Vec<String>>,
    /// The folder they run in; that of the source, or of the image's build, unless given.
    pub cwd: Option<PathBuf>,
    /// Set besides the variables of our own environment, which they inherit.
    pub env: Vec<(String, String)>,
    /// How long each may take.
    pub timeout: Duration,
    /// Files, folders and patterns of them that they depend on; empty for the state of the source's repository.
    pub inputs: Vec<PathBuf>,
}
