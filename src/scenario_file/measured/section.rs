//! The sections of scenarios that measure something.

use jiff::civil::Date;
use schemars::json_schema;
use serde_json::Value;

use crate::model::measurement::VerdictForm;
use crate::scenario_file::decode::values::{Fraction, Times, Word};
use crate::scenario_file::decode::{At, Decode, NO_HINT, choice, schema, section, wrong_kind};
use crate::scenario_file::yaml::finding::quoted;
use crate::scenario_file::yaml::node::{Content, Node};
use crate::scenario_file::yaml::source::Findings;

section! {
    /// What must come of a measurement.
    GatesSection {
        /// Of a search: how much lower than the baseline's recall@5 may be; what the baseline says, else 0.05, unless given.
        tolerance: Option<At<Fraction>>,
        /// Of a search: how many queries may have a lower recall@5 than in the baseline; any number unless given.
        max_lost: Option<At<Times>>,
        /// Of a search: queries that may be lost, each with `id`, `reason` and `until`, the last day on which it may; or a file with such a list. Needs `max_lost`.
        allow_lost: Option<At<Allowance>>,
        /// Of a search: whether to measure although the live catalogue differs from the corpus; false unless given.
        allow_drift: Option<At<bool>>,
        /// Of a search, what recall@5 must be at least, whatever it was before; of scanners, the least of what is malicious that must be flagged, 0.80 unless given.
        recall_floor: Option<At<Fraction>>,
        /// Of scanners: the most of what is benign that may be flagged; 0.10 unless given.
        fpr_ceiling: Option<At<Fraction>>,
        /// Of scanners: how many scans of each may end without a verdict; none unless given.
        allow_errors: Option<At<Times>>,
        /// Of scanners: the share of malicious tools for which the precision is reported, too. It gates nothing.
        prevalence: Option<At<Fraction>>,
    }
}

section! {
    /// A query that may be lost until a day.
    AllowedSection {
        /// The query's id.
        id: Word,
        /// Why it may.
        reason: Word,
        /// The last day on which it may: `2026-12-31`.
        until: Day,
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
pub(in crate::scenario_file) struct Day(pub(in crate::scenario_file) Date);

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
pub(in crate::scenario_file) enum Allowance {
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
pub(in crate::scenario_file) enum SearchValue {
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
pub(in crate::scenario_file) struct Files(pub(in crate::scenario_file) Vec<At<Word>>);

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
