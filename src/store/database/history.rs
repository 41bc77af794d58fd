//! The results of scenarios over time.

use jiff::Timestamp;

use super::connection::{Cell, Connection, Fault, Row, written};
use super::results::Where;
use crate::published::kept::ResultDetail;

/// Which results are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryFilter {
    /// The id or the name of a scenario.
    pub name: Option<String>,
    /// Only scenarios with one of these tags; empty for all.
    pub tags: Vec<String>,
    /// No result that is older than this.
    pub since: Option<Timestamp>,
    /// How many of the latest of each scenario with each agent and model.
    pub last: usize,
}

/// What tells results that are held against each other from the others of one agent and model: what was recorded of servers, and what was
/// skipped, is no result of the system under test.
const IS_RECORDED: &str = "CASE servers WHEN 'recorded' THEN 1 ELSE 0 END";
const IS_SKIPPED: &str = "CASE status WHEN 'skipped' THEN 1 ELSE 0 END";

/// The results, by scenario, agent, model and who answered, the oldest first, and when each scenario was last skipped. What a search for a bad
/// commit came by is not among them.
pub(super) fn rows(
    connection: &mut dyn Connection,
    filter: &HistoryFilter,
) -> Result<Vec<ResultDetail>, Fault> {
    let mut filtered = Where::default();
    if let Some(name) = &filter.name {
        filtered.and_either(["scenario_id", "test_name"], name);
    }
    filtered.and_that("is_final = 1");
    filtered.and_that("run_id NOT IN (SELECT id FROM runs WHERE command = 'bisect')");
    if let Some(since) = filter.since {
        filtered.and("created_at >= ?", written(since));
    }
    let place = filtered.cells(&[]).len() + 1;
    let sql = format!(
        "SELECT id, document FROM results WHERE id IN (SELECT id FROM (SELECT id, status, ROW_NUMBER() OVER (PARTITION BY scenario_id, agent, \
         model, {IS_RECORDED}, {IS_SKIPPED} ORDER BY created_at DESC, id) AS place FROM results{}) AS ranked \
         WHERE place <= ${place} AND (place = 1 OR status <> 'skipped')) ORDER BY scenario_id, agent, model, {IS_RECORDED}, created_at, id",
        filtered.sql()
    );
    let found = connection.query(&sql, &filtered.cells(&[filter.last]))?;
    let mut rows: Vec<ResultDetail> = found.iter().map(Row::document).collect::<Result<_, _>>()?;
    rows.retain(|row| {
        filter.tags.is_empty() || row.result.tags.iter().any(|tag| filter.tags.contains(tag))
    });
    Ok(rows)
}

/// The ids and names of all scenarios that have results.
pub(super) fn names(connection: &mut dyn Connection) -> Result<Vec<String>, Fault> {
    let no_cells: [Cell; 0] = [];
    let found = connection.query("SELECT id, name FROM scenarios ORDER BY id", &no_cells)?;
    let mut names: Vec<String> = found
        .iter()
        .flat_map(|it| [it.string("id"), it.string("name")])
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}
