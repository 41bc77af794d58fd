//! What a run ran on.

use jiff::Timestamp;

/// The surroundings of one run, kept with its trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamp {
    /// When the run began.
    pub recorded_at: Timestamp,
    /// The version of mcp-eval that recorded it.
    pub mcp_eval: String,
    /// The kind of agent that drove the run: `scripted`.
    pub agent: String,
    /// The model it was to ask; `None` for an agent without one.
    pub model: Option<String>,
    /// The repository the scenario file lies in.
    pub scenarios: GitStamp,
    /// The repository of the system under test, where the scenario names one.
    pub source: Option<GitStamp>,
}

/// The state of a git repository, or why it could not be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitStamp {
    Known(GitCommit),
    Unknown { reason: String },
}

/// The commit a repository stood at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommit {
    /// Full object id, in hexadecimal.
    pub commit: String,
    /// The id shortened as git does it.
    pub short: String,
    /// The branch; `None` on a detached head.
    pub branch: Option<String>,
    /// `git describe --tags`, where a tag is reachable.
    pub describe: Option<String>,
    /// First line of the commit message.
    pub subject: String,
    /// When the commit was made, with the committer's offset (RFC 3339).
    pub committed_at: String,
    /// Whether tracked files differ from the commit, leaving out what mcp-eval itself writes; `None` where
    /// nobody knows.
    pub dirty: Option<bool>,
}
