//! The results of scenarios over time.

use jiff::Timestamp;

use super::connection::{Cell, Connection, Fault, Row, written};
use super::results::{Where, status};
use crate::model::usage::Usage;
use crate::published::history::{Commit, HistoryResult, RECORDED};
use crate::published::result::Tokens;

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

/// A result, and what it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRow {
    /// The scenario's id.
    pub scenario: String,
    pub name: String,
    pub path: String,
    pub tags: Vec<String>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub result: HistoryResult,
}

impl HistoryRow {
    /// Whether what was recorded of the servers answered in their place, or would have.
    pub fn is_recorded(&self) -> bool {
        self.result.servers.as_deref() == Some(RECORDED)
    }
}

/// What is read of a result.
const COLUMNS: &str = "id, run_id, scenario_id, test_name, path, tags, command, created_at, status, reason, score, duration_ms, changes, \
     attempts, attempts_judged, attempts_passed, flaky, servers, agent, model, input_tokens, output_tokens, cache_read_tokens, \
     cache_write_tokens, total_tokens, cost, source_commit, source_short, source_branch, source_subject, source_dirty, scenarios_commit, \
     scenarios_short, scenarios_branch, scenarios_subject, scenarios_dirty";

/// What tells results that are held against each other from the others of one agent and model: what was recorded of servers, and what was
/// skipped, is no result of the system under test.
const IS_RECORDED: &str = "CASE servers WHEN 'recorded' THEN 1 ELSE 0 END";
const IS_SKIPPED: &str = "CASE status WHEN 'skipped' THEN 1 ELSE 0 END";

/// The results, by scenario, agent, model and who answered, the oldest first, and when each scenario was last skipped. What a search for a bad
/// commit came by is not among them.
pub(super) fn rows(
    connection: &mut dyn Connection,
    filter: &HistoryFilter,
) -> Result<Vec<HistoryRow>, Fault> {
    let mut filtered = Where::default();
    if let Some(name) = &filter.name {
        filtered.and_either(["scenario_id", "test_name"], name);
    }
    filtered.and_that("is_final = 1");
    filtered.and_that("command <> 'bisect'");
    if let Some(since) = filter.since {
        filtered.and("created_at >= ?", written(since));
    }
    let place = filtered.cells(&[]).len() + 1;
    let sql = format!(
        "SELECT * FROM (SELECT {COLUMNS}, {IS_RECORDED} AS is_recorded, ROW_NUMBER() OVER (PARTITION BY scenario_id, agent, model, \
         {IS_RECORDED}, {IS_SKIPPED} ORDER BY created_at DESC, id) AS place FROM results{}) AS ranked \
         WHERE place <= ${place} AND (place = 1 OR status <> 'skipped') ORDER BY scenario_id, agent, model, is_recorded, created_at, id",
        filtered.sql()
    );
    let found = connection.query(&sql, &filtered.cells(&[filter.last]))?;
    let rows = found.iter().map(row);
    let is_tagged = |it: &HistoryRow| {
        filter.tags.is_empty() || it.tags.iter().any(|it| filter.tags.contains(it))
    };
    Ok(rows.filter(is_tagged).collect())
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

fn row(row: &Row) -> HistoryRow {
    let count = |column| row.count(column).unwrap_or(0);
    HistoryRow {
        scenario: row.string("scenario_id"),
        name: row.string("test_name"),
        path: row.string("path"),
        tags: row.texts("tags"),
        agent: row.text("agent"),
        model: row.text("model"),
        result: HistoryResult {
            id: row.string("id"),
            run: row.string("run_id"),
            command: row.string("command"),
            at: row.string("created_at"),
            status: status(&row.string("status")),
            reason: row.text("reason"),
            score: row.real("score"),
            duration_ms: row.real("duration_ms"),
            changes: count("changes"),
            attempts: count("attempts"),
            attempts_judged: count("attempts_judged"),
            attempts_passed: count("attempts_passed"),
            flaky: row.flag("flaky").unwrap_or(false),
            servers: row.text("servers"),
            tokens: Tokens {
                each: Usage {
                    input: row.count("input_tokens"),
                    output: row.count("output_tokens"),
                    cache_read: row.count("cache_read_tokens"),
                    cache_write: row.count("cache_write_tokens"),
                },
                total_tokens: row.count("total_tokens"),
            },
            cost: row.real("cost"),
            source: commit(row, "source"),
            scenarios: commit(row, "scenarios"),
        },
    }
}

fn commit(row: &Row, of: &str) -> Option<Commit> {
    let column = |name: &str| format!("{of}_{name}");
    Some(Commit {
        commit: row.text(&column("commit"))?,
        short: row.string(&column("short")),
        branch: row.text(&column("branch")),
        subject: row.string(&column("subject")),
        dirty: row.flag(&column("dirty")),
    })
}
