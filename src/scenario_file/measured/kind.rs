//! The kinds of scenarios, and which keys of a file fit each.

use crate::scenario_file::decode::choice;
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::Findings;

/// What a scenario is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario_file) enum Kind {
    /// What an agent does with the tools.
    Trajectory,
    /// What a tool search finds.
    Retrieval,
    /// What scanners of tool descriptions say.
    Security,
}

choice! {
    /// What a scenario is about.
    KindWord for Kind {
        "trajectory" => Kind::Trajectory,
        "retrieval" => Kind::Retrieval,
        "security" => Kind::Security,
    }
}

/// Keys of every kind.
const OF_ALL: [&str; 12] = [
    "kind",
    "name",
    "description",
    "enabled",
    "tags",
    "variables",
    "environments",
    "redact",
    "source",
    "before",
    "after",
    "timeout",
];

/// Keys of both that have a system under test, besides.
const OF_SYSTEMS: [&str; 8] = [
    "config_file",
    "servers",
    "mcp_interactions",
    "docker",
    "containers",
    "ready",
    "connect_timeout",
    "tool_timeout",
];

/// Keys of searches alone.
const OF_SEARCHES: [&str; 6] = ["golden", "search", "base_url", "api_key", "runs", "wait"];

/// Keys of scanners alone.
const OF_SCANNERS: [&str; 2] = ["verdicts", "format"];

impl Kind {
    /// The kind that a document says it is of; that of a trajectory where it says nothing, or nothing that there is.
    pub(in crate::scenario_file) fn of(document: &Node) -> Self {
        match document.get("kind").map(|it| &it.content) {
            Some(Content::Text(word)) if word == "retrieval" => Self::Retrieval,
            Some(Content::Text(word)) if word == "security" => Self::Security,
            _ => Self::Trajectory,
        }
    }

    /// The kind, as files spell it.
    fn word(self) -> &'static str {
        match self {
            Self::Trajectory => "trajectory",
            Self::Retrieval => "retrieval",
            Self::Security => "security",
        }
    }

    /// Whether a key that is known has a meaning for this kind.
    fn takes(self, key: &str) -> bool {
        let of_measurements = ["corpus", "gates"].contains(&key);
        match self {
            // Whatever is not of measurements alone.
            Self::Trajectory => {
                !(of_measurements
                    || key == "baseline"
                    || OF_SEARCHES.contains(&key)
                    || OF_SCANNERS.contains(&key))
            }
            Self::Retrieval => {
                of_measurements
                    || key == "baseline"
                    || OF_ALL.contains(&key)
                    || OF_SYSTEMS.contains(&key)
                    || OF_SEARCHES.contains(&key)
            }
            Self::Security => {
                of_measurements || OF_ALL.contains(&key) || OF_SCANNERS.contains(&key)
            }
        }
    }
}

/// Takes out of a document over its defaults what these say for scenarios of other kinds.
pub(in crate::scenario_file) fn drop_foreign_defaults(document: &mut Node) {
    let kind = Kind::of(document);
    // A merged map stands where the file on top has it.
    let own = document.at.source;
    if let Content::Map(entries) = &mut document.content {
        entries.retain(|it| {
            it.key_at.source == own || kind.takes(&it.key) || it.key.starts_with("x-")
        });
    }
}

/// Says which keys mean nothing for the kind, among those that are `known` at all.
pub(in crate::scenario_file) fn refuse_foreign(
    document: &Node,
    known: &[&str],
    findings: &mut Findings,
) {
    let kind = Kind::of(document);
    let others = [Kind::Trajectory, Kind::Retrieval, Kind::Security];
    for entry in document.entries() {
        let key = entry.key.as_str();
        let is_null = matches!(entry.value.content, Content::Null);
        if is_null || kind.takes(key) || !known.contains(&key) {
            continue;
        }
        let takers = others.iter().filter(|it| it.takes(key));
        let takers: Vec<String> = takers.map(|it| format!("`kind: {}`", it.word())).collect();
        let message = format!(
            "{} means nothing in a scenario of `kind: {}`",
            quoted(key),
            kind.word()
        );
        let hint = format!("it belongs to {}", takers.join(" and "));
        findings.error(entry.key_at, message, Some(hint));
    }
}
