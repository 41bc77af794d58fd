//! The accepted measurement of a search: its figures and what each query got, where `record` keeps them.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::data_sets::{document, of_other_corpus};
use crate::discovery::baseline::Baseline;
use crate::discovery::golden::Golden;
use crate::json;
use crate::model::{Problem, Redacted};
use crate::published::measured::retrieval::Report;
use crate::scenario_file::measured::Measurement;
use crate::scenario_file::{Finding, Scenario};
use crate::store::{self, Baselines};
use crate::suite::replay;

/// The version of the file.
const FORMAT_VERSION: u32 = 1;

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
    let failed = |problem: String| {
        Problem::new(problem).hint(format!(
            "`{}` measures it again, and keeps that",
            replay::record_command(scenario)
        ))
    };
    let failed_for = |findings: Vec<Finding>| {
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        failed(findings.join("\n"))
    };
    let document = document(&path).map_err(failed_for)?;
    let baseline = Baseline::read(&document).map_err(failed_for)?;
    match of_other_corpus(&baseline, golden, &document) {
        Some(finding) => Err(failed(finding.to_string())),
        None => Ok(Some(baseline)),
    }
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
    // It has what `mcp-eval retrieval --baseline` reads, and nothing that is another each time.
    let document = report.derive(|report| {
        let mut accepted = json!({
            "format_version": FORMAT_VERSION,
            "kind": "retrieval",
            "mcp_eval": report.mcp_eval,
            "recorded_at": report.made_at,
            "duration_ms": duration_ms,
            "stamps": report.stamps,
            "search": report.search,
        });
        accepted.as_object_mut()?.append(&mut figures(report)?);
        Some(json::pretty(&accepted) + "\n")
    });
    if document.is_none() {
        return Ok("nothing was measured, so nothing is kept".to_owned());
    }
    let document = document.derive(|it| it.clone().unwrap_or_default());
    let path = baselines.save_measured(scenario, &document)?;
    Ok(format!("kept as {}", path.display()))
}

/// What is compared; `None` where nothing was measured.
fn figures(report: &Report) -> Option<Map<String, Value>> {
    let metrics = report.metrics.as_ref()?;
    let queries = report.per_query.iter().map(|query| {
        let mut query = json!(query);
        // What it was before, and what is reported of it besides.
        for of_this_time in ["before", "misses", "ms"] {
            query
                .as_object_mut()
                .map(|it| it.shift_remove(of_this_time));
        }
        query
    });
    let mut figures = json!({
        "corpus_version": report.corpus_version,
        "golden_version": report.golden_version,
    });
    let figures = figures.as_object_mut()?;
    figures.append(json!(metrics).as_object_mut()?);
    figures.insert("per_query".to_owned(), queries.collect());
    Some(std::mem::take(figures))
}

/// Whether a file has these figures already.
fn is_same(path: &Path, report: &Report) -> bool {
    let Ok(kept) = document(path) else {
        return false;
    };
    let now = figures(report);
    now.is_some_and(|now| {
        now.iter()
            .all(|(key, value)| kept.value.get(key) == Some(value))
    })
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
