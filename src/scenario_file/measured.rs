//! The kinds of scenarios, and the sections of those that measure something.

use std::path::PathBuf;
use std::time::Duration;

use jiff::civil::Date;
use schemars::json_schema;
use serde_json::Value;

use crate::scenario_file::decode::{
    At, Decode, Fraction, NO_HINT, Times, Word, choice, held, schema, section, wrong_kind,
};
use crate::scenario_file::yaml::{Content, Findings, Node, quoted};

/// What a scenario is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
    pub(super) fn of(document: &Node) -> Self {
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
pub(super) fn drop_foreign_defaults(document: &mut Node) {
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
pub(super) fn refuse_foreign(document: &Node, known: &[&str], findings: &mut Findings) {
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

section! {
    /// What must come of a measurement.
    GatesSection => SearchGates(Default) {
        /// Of a search: how much lower than the baseline's recall@5 may be; what the baseline says, else 0.05, unless given.
        tolerance: Option<At<Fraction>> as Option<f64>,
        /// Of a search: how many queries may have a lower recall@5 than in the baseline; any number unless given.
        max_lost: Option<At<Times>> as Option<usize>,
        /// Of a search: queries that may be lost, each with `id`, `reason` and `until`, the last day on which it may; or a file with such a list. Needs `max_lost`.
        allow_lost: Option<At<Allowance>>,
        /// Of a search: whether to measure although the live catalogue differs from the corpus; false unless given.
        allow_drift: Option<At<bool>> as bool = false,
        /// Of a search, what recall@5 must be at least, whatever it was before; of scanners, the least of what is malicious that must be flagged, 0.80 unless given.
        recall_floor: Option<At<Fraction>> as Option<f64>,
        /// Of scanners: the most of what is benign that may be flagged; 0.10 unless given.
        fpr_ceiling: Option<At<Fraction>>,
        /// Of scanners: how many scans of each may end without a verdict; none unless given.
        allow_errors: Option<At<Times>>,
        /// Of scanners: the share of malicious tools for which the precision is reported, too. It gates nothing.
        prevalence: Option<At<Fraction>>,
    } and {
        /// The queries that may be lost.
        allow_lost: Vec<AllowedLoss> = Vec::new(),
    }
}

section! {
    /// A query that may be lost until a day.
    AllowedSection => AllowedLoss(Eq) {
        /// The query's id.
        id: Word as String,
        /// Why it may.
        reason: Word as String,
        /// The last day on which it may: `2026-12-31`.
        until: Day as Date,
    }
}

choice! {
    /// A form in which scanners say something.
    VerdictFormWord for VerdictForm {
        "v1" => VerdictForm::V1,
        "v2" => VerdictForm::V2,
        "cisco" => VerdictForm::Cisco,
        "mcp-scan" => VerdictForm::McpScan,
        "sarif" => VerdictForm::Sarif,
    }
}

/// A day, such as `2026-12-31`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Day(pub(super) Date);

impl Decode for Day {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let text = String::decode(node, findings)?;
        let day: Option<Date> = text.parse().ok();
        if day.is_none() {
            let message = format!("{} is not a date such as 2026-12-31", quoted(&text));
            findings.error(node.at, message, NO_HINT);
        }
        day.map(Self)
    }
}

/// Queries that may be lost, or the file that lists them.
#[derive(Debug, Clone)]
pub(super) enum Allowance {
    Listed(Vec<AllowedSection>),
    File(Word),
}

impl Decode for Allowance {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(_) => Word::decode(node, findings).map(Self::File),
            Content::List(_) => Vec::decode(node, findings).map(Self::Listed),
            _ => wrong_kind(node, "a list of queries, or the path of a file", findings),
        }
    }
}

/// A search: its name, the path of a file that declares it, or its declaration.
#[derive(Debug, Clone)]
pub(super) enum SearchValue {
    Named(Word),
    Declared(Value),
}

impl Decode for SearchValue {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        match &node.content {
            Content::Text(_) => Word::decode(node, findings).map(Self::Named),
            Content::Map(_) => Some(Self::Declared(node.to_json())),
            _ => wrong_kind(
                node,
                "the name of a search, the path of a file, or keys that declare it",
                findings,
            ),
        }
    }
}

/// One file, or several.
#[derive(Debug, Clone)]
pub(super) struct Files(pub(super) Vec<At<Word>>);

impl Decode for Files {
    fn decode(node: &Node, findings: &mut Findings) -> Option<Self> {
        let files = match &node.content {
            Content::Text(_) => vec![At::decode(node, findings)?],
            Content::List(items) if items.is_empty() => {
                return findings.refuse(node.at, "lists no file", NO_HINT);
            }
            Content::List(_) => Vec::decode(node, findings)?,
            _ => return wrong_kind(node, "the path of a file, or a list of such", findings),
        };
        Some(Self(files))
    }
}

held!(Day as Date);

schema!(Day, {"type": "string", "format": "date"});
schema!(Allowance, |generator| {
    let listed = generator.subschema_for::<Vec<AllowedSection>>();
    json_schema!({"anyOf": [listed, {"type": "string", "pattern": r"\S"}]})
});
schema!(SearchValue, {"anyOf": [{"type": "string", "pattern": r"\S"}, {"type": "object"}]});
schema!(Files, {"anyOf": [
    {"type": "string", "pattern": r"\S"},
    {"type": "array", "items": {"type": "string", "pattern": r"\S"}, "minItems": 1},
]});

/// What is measured, and what must come of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Measurement {
    /// Does a tool search find the right tools?
    Retrieval(Box<Retrieval>),
    /// Do scanners of tool descriptions catch what they should, and that alone?
    Security(Box<Security>),
}

/// A tool search, asked by labelled queries.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieval {
    /// The file of the tools.
    pub corpus: PathBuf,
    /// The file of the labelled queries.
    pub golden: PathBuf,
    /// How the search is asked, as it is declared.
    pub search: Value,
    /// What the search is called that has no name of its own.
    pub search_name: String,
    /// Where a search over HTTP is, with `${…}` not yet filled in; `None` for where the first server over HTTP is, or the usual place.
    pub base_url: Option<String>,
    /// The key that it is asked with, with `${…}` not yet filled in; `None` for the usual one.
    pub api_key: Option<String>,
    /// How often every query is asked, at least once.
    pub runs: u16,
    /// How long it is waited at most until the live catalogue is complete and stays so; `None` for not at all.
    pub wait: Option<Duration>,
    pub gates: SearchGates,
    /// The file that the figures are held against; `None` for what was accepted of the scenario.
    pub baseline: Option<PathBuf>,
}

/// What scanners said.
#[derive(Debug, Clone, PartialEq)]
pub struct Security {
    /// The files of what they said, each of one run.
    pub verdicts: Vec<PathBuf>,
    /// The form of these, where it is not recognised.
    pub form: Option<VerdictForm>,
    /// The file of the labelled entries; without one, the labels in the verdicts count.
    pub corpus: Option<PathBuf>,
    pub demands: Demands,
}

/// What is asked of scanners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demands {
    /// The most of what is benign that may be flagged, 0 to 1.
    pub fpr_ceiling: f64,
    /// The least of what is malicious that must be flagged, 0 to 1.
    pub recall_floor: f64,
    /// How many scans of a detector may end in something else than a verdict.
    pub allow_errors: usize,
    /// The share of malicious tools for which a precision is reported.
    pub prevalence: Option<f64>,
}

/// What the gates of scanners are unless somebody says otherwise.
pub const FPR_CEILING: f64 = 0.10;
pub const RECALL_FLOOR: f64 = 0.80;

/// Searches that are known by name, the usual one first.
pub const SEARCHES: [&str; 5] = [
    "mcpproxy-rest",
    "mcpproxy",
    "toolhive",
    "docker-find",
    "fastmcp",
];

/// A form in which scanners say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictForm {
    /// The verdicts of the original tool.
    V1,
    /// The same with more: a status, scores.
    V2,
    /// The raw output of Cisco's MCP scanner.
    Cisco,
    /// The JSON of mcp-scan.
    McpScan,
    Sarif,
}

impl Demands {
    /// Why nothing that is demanded can fail, in a sentence; `None` where something can.
    pub fn idle(&self) -> Option<&'static str> {
        let is_idle = self.fpr_ceiling >= 1.0 && self.recall_floor <= 0.0;
        is_idle.then_some("the gate cannot fail: the FPR may be 1, and recall must be 0 at least")
    }
}

impl Measurement {
    /// The kind, as scenario files spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Retrieval(_) => "retrieval",
            Self::Security(_) => "security",
        }
    }

    /// Whether what is accepted of it is held against what comes of it.
    pub fn has_baseline(&self) -> bool {
        matches!(self, Self::Retrieval(it) if it.baseline.is_none())
    }
}
