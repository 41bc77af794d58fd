//! The versions and environment of the two sides, row by row.

use crate::duration;
use crate::moment;
use model::published::result::{ModelUse, ServerSummary, Side};
use model::text::plural;
use model::{Git, Servers};

/// One row of the table: a subject and what it was on either side.
#[derive(Debug)]
pub(super) struct StampRow {
    pub(super) subject: &'static str,
    /// `None` where that side is not known at all.
    pub(super) baseline: Option<Vec<String>>,
    pub(super) current: Option<Vec<String>>,
    /// Both sides are known and differ, and the row is one whose changes are marked.
    pub(super) changed: bool,
    /// They do not differ there.
    pub(super) same: bool,
}

/// Gives the lines that a row shows of a side.
type Column = fn(&Side) -> Vec<String>;

/// The subjects in order; the last member says whether a change is marked.
const SUBJECTS: &[(&str, Column, bool)] = &[
    (
        "Recorded",
        |side| {
            let often = side.repeated.map(|it| it.words());
            let when = moment::words(&side.stamp.recorded_at);
            std::iter::once(when).chain(often).collect()
        },
        false,
    ),
    (
        "System under test",
        |side| match &side.stamp.source {
            Some(git) => git_words(git),
            None => vec!["no repository named".to_owned()],
        },
        true,
    ),
    ("Image", image, true),
    ("Servers", servers, true),
    ("Scenarios", |side| git_words(&side.stamp.scenarios), true),
    (
        "Scenario content",
        |side| {
            let hash = side.scenario_hash.as_deref().unwrap_or("unknown");
            vec![hash.chars().take(12).collect()]
        },
        true,
    ),
    ("Agent", agent, true),
    ("mcp-eval", |side| vec![side.stamp.mcp_eval.clone()], true),
    ("Ending", ending, true),
    ("Calls", calls, true),
    (
        "Duration",
        |side| {
            let known = side.duration_ms.map(duration::words);
            vec![known.unwrap_or_else(|| "unknown".to_owned())]
        },
        false,
    ),
    (
        "Model use",
        |side| side.usage.iter().map(ModelUse::words).collect(),
        false,
    ),
    (
        "Trajectory",
        |side| {
            let file = side.file.clone();
            vec![file.unwrap_or_else(|| "not stored".to_owned())]
        },
        false,
    ),
];

/// The table for two sides, of which either may be missing.
pub(super) fn rows(baseline: Option<&Side>, current: Option<&Side>) -> Vec<StampRow> {
    SUBJECTS
        .iter()
        .map(|(subject, column, is_compared)| {
            let baseline = baseline.map(column);
            let current = current.map(column);
            let are_compared = *is_compared && baseline.is_some() && current.is_some();
            StampRow {
                subject,
                changed: are_compared && baseline != current,
                same: are_compared && baseline == current,
                baseline,
                current,
            }
        })
        // A run without a container has no image.
        .filter(|row| {
            [&row.baseline, &row.current]
                .iter()
                .any(|it| it.as_ref().is_some_and(|it| !it.is_empty()))
        })
        .collect()
}

/// A git stamp in lines: where it stood, what the commit says, when it was made.
pub(super) fn git_words(stamp: &Git) -> Vec<String> {
    match stamp {
        Git::Known(it) => {
            let branch = match &it.branch {
                Some(branch) => format!("on {branch}"),
                None => "on a detached head".to_owned(),
            };
            let describe = it.describe.iter().map(|it| format!(", {it}"));
            let describe = describe.collect::<String>();
            let dirty = if it.dirty == Some(true) {
                ", with uncommitted changes"
            } else {
                ""
            };
            vec![
                format!("{} {branch}{describe}{dirty}", it.short),
                format!("“{}”, {}", it.subject, moment::words(&it.committed_at)),
            ]
        }
        Git::Unknown { reason } => vec![format!("unknown: {reason}")],
    }
}

/// What a container was made from; empty for a server that runs in none.
fn image(side: &Side) -> Vec<String> {
    let Some(image) = &side.stamp.image else {
        return Vec::new();
    };
    let mut lines = vec![image.words()];
    lines.extend(image.digest.clone());
    let labels = [
        ("version", &image.version),
        ("revision", &image.revision),
        ("source", &image.source),
    ];
    let labels = labels.into_iter();
    lines.extend(labels.filter_map(|(name, it)| Some(format!("{name} {}", it.as_ref()?))));
    lines
}

fn agent(side: &Side) -> Vec<String> {
    vec![match &side.stamp.model {
        Some(model) => format!("{}, {model}", side.stamp.agent),
        None => side.stamp.agent.clone(),
    }]
}

fn servers(side: &Side) -> Vec<String> {
    let recorded =
        (side.stamp.servers == Servers::Recorded).then(|| "recorded, held still".to_owned());
    recorded
        .into_iter()
        .chain(side.servers.iter().map(server))
        .collect()
}

fn server(server: &ServerSummary) -> String {
    let protocol = server.protocol_version.as_deref().unwrap_or("unknown");
    let itself = match (&server.name, &server.version) {
        (Some(name), Some(version)) => format!("{name} {version}"),
        (Some(name), None) => name.clone(),
        (None, _) => "unnamed".to_owned(),
    };
    let tools = plural(server.tools, "tool");
    format!("{}: {itself} ({tools}, MCP {protocol})", server.server)
}

fn ending(side: &Side) -> Vec<String> {
    let words = side.ending.words().to_owned();
    std::iter::once(words)
        .chain(side.ending_message.clone())
        .collect()
}

fn calls(side: &Side) -> Vec<String> {
    vec![match side.failed_calls {
        0 => side.calls.to_string(),
        failed => format!("{}, {failed} failed", side.calls),
    }]
}
