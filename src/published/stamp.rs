//! What a run ran on: repositories, an image, whose servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::stamp::{self, GitCommit, GitStamp, ImageStamp};

/// The state of a git repository, or why it is unknown.
///
/// Results of earlier programs have a member `state` beside, and call the reason `reason`; both are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Git {
    Known {
        /// Full object id, in hexadecimal.
        commit: String,
        /// The id shortened as git does it.
        short: String,
        /// The branch, or null on a detached head.
        branch: Option<String>,
        /// `git describe --tags`, or null without a tag.
        describe: Option<String>,
        /// First line of the commit message.
        subject: String,
        /// When the commit was made, with the committer's offset (RFC 3339).
        committed_at: String,
        /// Whether tracked files differed from the commit; null where nobody knows.
        dirty: Option<bool>,
        /// Where it is fetched from, without what gives access there; absent without a remote, and for one on the same machine.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remote: Option<String>,
    },
    Unknown {
        /// Why the state is unknown.
        #[serde(alias = "reason")]
        unknown: String,
    },
}

impl From<&GitStamp> for Git {
    fn from(it: &GitStamp) -> Self {
        match it {
            GitStamp::Known(it) => Self::Known {
                commit: it.commit.clone(),
                short: it.short.clone(),
                branch: it.branch.clone(),
                describe: it.describe.clone(),
                subject: it.subject.clone(),
                committed_at: it.committed_at.clone(),
                dirty: it.dirty,
                remote: it.remote.clone(),
            },
            GitStamp::Unknown { reason } => Self::Unknown {
                unknown: reason.clone(),
            },
        }
    }
}

impl From<Git> for GitStamp {
    fn from(it: Git) -> Self {
        match it {
            Git::Known {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
                remote,
            } => Self::Known(GitCommit {
                commit,
                short,
                branch,
                describe,
                subject,
                committed_at,
                dirty,
                remote,
            }),
            Git::Unknown { unknown } => Self::Unknown { reason: unknown },
        }
    }
}

/// The image of the container the server under test ran in, and what it says of the source it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
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

impl Image {
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

impl From<&ImageStamp> for Image {
    fn from(it: &ImageStamp) -> Self {
        Self {
            name: it.name.clone(),
            id: it.id.clone(),
            digest: it.digest.clone(),
            revision: it.revision.clone(),
            source: it.source.clone(),
            version: it.version.clone(),
        }
    }
}

impl From<Image> for ImageStamp {
    fn from(it: Image) -> Self {
        Self {
            name: it.name,
            id: it.id,
            digest: it.digest,
            revision: it.revision,
            source: it.source,
            version: it.version,
        }
    }
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
    pub(super) fn are_live(&self) -> bool {
        *self == Self::Live
    }
}

impl From<stamp::Servers> for Servers {
    fn from(it: stamp::Servers) -> Self {
        match it {
            stamp::Servers::Live => Self::Live,
            stamp::Servers::Recorded => Self::Recorded,
        }
    }
}

impl From<Servers> for stamp::Servers {
    fn from(it: Servers) -> Self {
        match it {
            Servers::Live => Self::Live,
            Servers::Recorded => Self::Recorded,
        }
    }
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
