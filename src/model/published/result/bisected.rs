//! The outcome of a search for the first bad commit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a search for the first bad commit has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bisected {
    /// The first bad commit; or several, the oldest first, of which one is it, where those before the last could not be run.
    pub first_bad: Vec<Commit>,
    /// What speaks against the last of them.
    pub reason: String,
    /// The commits that could not be built or run.
    pub skipped: Vec<SkippedCommit>,
}

/// A commit of the source of the system under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its whole identity, in hexadecimal.
    pub commit: String,
    pub short: String,
    /// The first line of its message.
    pub subject: String,
}

/// A commit of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedCommit {
    #[serde(flatten)]
    pub commit: Commit,
    /// Why it could not be built or run.
    pub why: String,
}
