//! What a run ran on.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// The surroundings of one run, kept with its trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamp {
    /// When the run began.
    pub recorded_at: Timestamp,
    /// How far the local time of the machine was ahead of UTC then, in seconds; `None` where nobody knows.
    pub utc_offset: Option<i32>,
    /// The version of mcp-eval that recorded it.
    pub mcp_eval: String,
    /// The kind of agent that drove the run: `scripted`.
    pub agent: String,
    /// SHA-256 of the calls it was to play, or of how its model was to be asked, in hexadecimal; `None` where neither is known, and for a
    /// replay.
    pub agent_hash: Option<String>,
    /// The beginnings of such hashes for each part of how a model is asked or a program is started, by its name.
    pub agent_parts: BTreeMap<String, String>,
    /// Whether the servers themselves answered.
    pub servers: Servers,
    /// The model it was to ask, or, where none was named, the one that answered first; `None` for an agent without one.
    pub model: Option<String>,
    /// The repository the scenario file lies in.
    pub scenarios: GitStamp,
    /// The repository of the system under test, where the scenario names one.
    pub source: Option<GitStamp>,
    /// The image of the container the server under test ran in, where there was one.
    pub image: Option<ImageStamp>,
}

/// Who answers in the name of the servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Servers {
    /// The servers themselves, or the mocks that the scenario declares.
    #[default]
    Live,
    /// What a baseline has recorded of them: the server side is held still.
    Recorded,
}

/// An image, and what it says of the source it was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageStamp {
    /// The name it was asked for by.
    pub name: String,
    /// What the engine knows it by: `sha256:…`.
    pub id: String,
    /// What registries know it by: `name@sha256:…`; `None` for one that was never pushed or pulled.
    pub digest: Option<String>,
    /// Its label `org.opencontainers.image.revision`.
    pub revision: Option<String>,
    /// Its label `org.opencontainers.image.source`.
    pub source: Option<String>,
    /// Its label `org.opencontainers.image.version`.
    pub version: Option<String>,
}

/// The state of a git repository, or why it could not be determined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitStamp {
    Known(GitCommit),
    Unknown { reason: String },
}

/// Ends the revision of what was made from files that differed from the commit, as `git describe --dirty` does it.
pub const DIRTY: &str = "-dirty";

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
    /// Where it is fetched from, without what gives access there; `None` without a remote, and for one on this machine.
    pub remote: Option<String>,
}
