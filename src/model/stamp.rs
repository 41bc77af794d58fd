//! The versions and environment of a run: repositories, an image, whose servers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the run ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stamp {
    /// When the run began (RFC 3339).
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub recorded_at: Timestamp,
    /// How far the local time of the machine was ahead of UTC then, in seconds; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utc_offset: Option<i32>,
    /// The version of mcp-eval.
    pub mcp_eval: String,
    /// The kind of agent.
    pub agent: String,
    /// SHA-256 of the calls it was to play, or of how its model was to be asked; absent where neither is known, and for a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_hash: Option<String>,
    /// The first 16 digits of such hashes for each part of how a model is asked or a program is started, by its name; absent where it is
    /// neither.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agent_parts: BTreeMap<String, String>,
    /// Whether the servers themselves answered; absent where they did.
    #[serde(default, skip_serializing_if = "Servers::are_live")]
    pub servers: Servers,
    /// The model it was to ask, or, where none was named, the one that answered first; absent for an agent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The repository of the scenario file.
    pub scenarios: Git,
    /// The repository of the system under test, or null where the scenario names none.
    pub source: Option<Git>,
    /// The image of the container the server under test ran in, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageStamp>,
}

/// Who answered in the name of the servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Servers {
    /// The servers themselves, or the mocks that the scenario declares.
    #[default]
    Live,
    /// What a baseline had recorded of them: the server side is held still.
    Recorded,
}

impl Servers {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
    fn are_live(&self) -> bool {
        *self == Self::Live
    }
}

/// The image of the container the server under test ran in, and what it says of the source it was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Image", expecting = "struct Image")]
pub struct ImageStamp {
    /// The name it was asked for by.
    pub name: String,
    /// What the engine knows it by.
    pub id: String,
    /// What registries know it by; null for one that was never pushed or pulled.
    pub digest: Option<String>,
    /// Its label `org.opencontainers.image.revision`, or null.
    pub revision: Option<String>,
    /// Its label `org.opencontainers.image.source`, or null.
    pub source: Option<String>,
    /// Its label `org.opencontainers.image.version`, or null.
    pub version: Option<String>,
}

impl ImageStamp {
    /// The image in words: `mcpproxy:latest (4f2a8c91d03b)`.
    pub fn words(&self) -> String {
        let id = self.id.strip_prefix("sha256:").unwrap_or(&self.id);
        format!(
            "{} ({})",
            self.name,
            id.chars().take(12).collect::<String>()
        )
    }
}

/// The state of a git repository, or why it is unknown.
///
/// Results of earlier programs have a member `state` beside, and call the reason `reason`; both are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Git {
    Known(GitCommit),
    Unknown {
        /// Why the state is unknown.
        #[serde(rename = "unknown", alias = "reason")]
        reason: String,
    },
}

impl Git {
    /// The commit, where it is known.
    pub fn commit(&self) -> Option<&GitCommit> {
        match self {
            Self::Known(commit) => Some(commit),
            Self::Unknown { .. } => None,
        }
    }
}

/// Ends the revision of what was made from files that differed from the commit, as `git describe --dirty` does it.
pub const DIRTY: &str = "-dirty";

/// The commit a repository stood at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, description = "")]
pub struct GitCommit {
    /// Full object id, in hexadecimal.
    pub commit: String,
    /// The id shortened as git does it.
    pub short: String,
    /// The branch, or null on a detached head.
    pub branch: Option<String>,
    /// `git describe --tags`, or null without a tag.
    pub describe: Option<String>,
    /// First line of the commit message.
    pub subject: String,
    /// When the commit was made, with the committer's offset (RFC 3339).
    pub committed_at: String,
    /// Whether tracked files differed from the commit; null where nobody knows.
    pub dirty: Option<bool>,
    /// Where it is fetched from, without what gives access there; absent without a remote, and for one on the same machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Git;

    #[test]
    fn repositories_are_read_as_earlier_results_tell_of_them() {
        let known = json!({
            "commit": "0123", "short": "01", "branch": null, "describe": null, "subject": "A change", "committed_at": "2026-01-02T03:04:05Z",
            "dirty": false,
        });
        let mut before = known.clone();
        before["state"] = "known".into();
        for (read, written) in [
            (before, known.clone()),
            (known.clone(), known),
            (
                json!({"state": "unknown", "reason": "no repository"}),
                json!({"unknown": "no repository"}),
            ),
        ] {
            let git: Git = serde_json::from_value(read).expect("it is known");
            assert_eq!(serde_json::to_value(git).expect("it is plain"), written);
        }
    }
}
