//! What was accepted of a search: its figures and what each query got, where `record` keeps them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::data_sets::{document, of_other_corpus};
use crate::discovery::baseline::Baseline;
use crate::discovery::golden::Golden;
use crate::json;
use crate::model::measurement::Measurement;
use crate::model::redacted::Redacted;
use crate::model::scenario::Scenario;
use crate::model::suite::Problem;
use crate::published::measured::retrieval::{ByCut, Report, Tied};
use crate::store::{self, Baselines};
use crate::suite::replay;

/// The version of the file.
const FORMAT_VERSION: u32 = 1;

/// The file of what was accepted. It has what `mcp-eval retrieval --baseline` reads, and nothing that is another each time.
#[derive(Debug, Serialize)]
struct Accepted<'a> {
    format_version: u32,
    kind: &'static str,
    mcp_eval: &'a str,
    recorded_at: &'a str,
    /// How long it took to measure, in milliseconds.
    duration_ms: Option<f64>,
    stamps: &'a BTreeMap<String, String>,
    search: &'a str,
    #[serde(flatten)]
    figures: Figures<'a>,
}

/// What is compared.
#[derive(Debug, PartialEq, Serialize)]
struct Figures<'a> {
    corpus_version: Option<&'a str>,
    golden_version: &'a str,
    recall_at: &'a ByCut,
    mrr: f64,
    ndcg_at_10: f64,
    map: f64,
    per_query: Vec<Asked<'a>>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Asked<'a> {
    id: &'a str,
    query: &'a str,
    recall_at: &'a ByCut,
    mrr: f64,
    ndcg_at_10: f64,
    ap: f64,
    relevant: &'a [String],
    grades: &'a [u8],
    retrieved: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    tied: Option<Tied>,
}

/// The figures that a scenario was accepted with; `None` where there are none.
///
/// # Errors
///
/// Why they cannot be read, or are of another corpus.
pub(super) fn load(
    scenario: &Scenario,
    baselines: &Baselines,
    golden: &Golden,
) -> Result<Option<Baseline>, Problem> {
    let path = baselines.path(&scenario.id);
    if !path.exists() {
        return Ok(None);
    }
    let failed = |problem: String| Problem {
        message: problem,
        hint: Some(format!(
            "`{}` measures it again, and keeps that",
            replay::record_command(scenario)
        )),
        details: Vec::new(),
    };
    let document = document(&path).map_err(|it| failed(it.to_string()))?;
    let baseline = Baseline::read(&document).map_err(|findings| {
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        failed(findings.join("\n"))
    })?;
    match of_other_corpus(&baseline, golden, &document) {
        Some(finding) => Err(failed(finding.to_string())),
        None => Ok(Some(baseline)),
    }
}

/// That nothing was accepted of a scenario yet, and how that is done.
pub(super) fn none(scenario: &Scenario, baselines: &Baselines) -> Problem {
    replay::no_baseline(scenario, baselines)
}

/// Keeps what was measured, where it differs from what was accepted; returns what there is to say of that.
///
/// # Errors
///
/// When the file cannot be written.
pub(super) fn save(
    baselines: &Baselines,
    scenario: &str,
    report: &Redacted<Report>,
    duration_ms: Option<f64>,
) -> Result<String, store::StoreError> {
    let path = baselines.path(scenario);
    if is_same(&path, report) {
        let shown = path.display();
        return Ok(format!("nothing has changed, so {shown} stays as it is"));
    }
    let document = report.derive(|report| {
        let accepted = Accepted {
            format_version: FORMAT_VERSION,
            kind: "retrieval",
            mcp_eval: &report.mcp_eval,
            recorded_at: &report.made_at,
            duration_ms,
            stamps: &report.stamps,
            search: &report.search,
            figures: figures(report)?,
        };
        Some(json::pretty(&accepted) + "\n")
    });
    if document.is_none() {
        return Ok("nothing was measured, so nothing is kept".to_owned());
    }
    let document = document.derive(|it| it.clone().unwrap_or_default());
    let path = baselines.save_measured(scenario, &document)?;
    Ok(format!("kept as {}", path.display()))
}

fn figures(report: &Report) -> Option<Figures<'_>> {
    let metrics = report.metrics.as_ref()?;
    let per_query = report.per_query.iter().map(|it| Asked {
        id: &it.id,
        query: &it.query,
        recall_at: &it.recall_at,
        mrr: it.mrr,
        ndcg_at_10: it.ndcg_at_10,
        ap: it.ap,
        relevant: &it.relevant,
        grades: &it.grades,
        retrieved: &it.retrieved,
        tied: it.tied,
    });
    Some(Figures {
        corpus_version: report.corpus_version.as_deref(),
        golden_version: &report.golden_version,
        recall_at: &metrics.recall_at,
        mrr: metrics.mrr,
        ndcg_at_10: metrics.ndcg_at_10,
        map: metrics.map,
        per_query: per_query.collect(),
    })
}

/// Whether a file has these figures already.
fn is_same(path: &Path, report: &Report) -> bool {
    let Ok(kept) = document(path) else {
        return false;
    };
    let Some(now) = figures(report).and_then(|it| serde_json::to_value(it).ok()) else {
        return false;
    };
    let mut members = now.as_object().into_iter().flatten();
    members.all(|(key, value)| kept.value.get(key) == Some(value))
}

/// The state of what was accepted of a scenario that measures something, in a word: `accepted`, `none`, `unreadable` or, where it needs nothing,
/// `not needed`.
pub fn accepted_figures(scenario: &Scenario, baselines: &Baselines) -> &'static str {
    let is_kept_here = scenario
        .measurement
        .as_ref()
        .is_some_and(Measurement::has_baseline);
    let path = baselines.path(&scenario.id);
    if !is_kept_here {
        return "not needed";
    }
    if !path.exists() {
        return "none";
    }
    let is_read = document(&path).is_ok_and(|it| Baseline::read(&it).is_ok());
    if is_read { "accepted" } else { "unreadable" }
}
