//! Questions to the database, and their answers.

use super::connection::{Cell, Connection, Fault, Row, transaction, written};
use crate::published::kept::{
    EvaluatorRow, ResultDetail, ResultEntry, RunEntry, Statistics, ToolCallRow,
};
use crate::published::result::Status;

/// Conditions with their values, joined by `AND`.
#[derive(Debug, Default)]
pub(super) struct Where {
    conditions: Vec<String>,
    cells: Vec<Cell>,
}

impl Where {
    /// Adds a condition, in which `?` stands for the value.
    pub(super) fn and(&mut self, condition: &str, value: impl Into<Cell>) {
        self.cells.push(value.into());
        let place = format!("${}", self.cells.len());
        self.conditions.push(condition.replace('?', &place));
    }

    /// Adds that one of two columns has this value.
    pub(super) fn and_either(&mut self, columns: [&str; 2], value: &str) {
        let places = columns.map(|it| {
            self.cells.push(value.into());
            format!("{it} = ${}", self.cells.len())
        });
        self.conditions.push(format!("({})", places.join(" OR ")));
    }

    /// Adds a condition without a value.
    pub(super) fn and_that(&mut self, condition: &str) {
        self.conditions.push(condition.to_owned());
    }

    pub(super) fn sql(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!(" WHERE {}", self.conditions.join(" AND "))
    }

    /// The values, and more behind them.
    pub(super) fn cells(&self, more: &[usize]) -> Vec<Cell> {
        self.cells
            .iter()
            .cloned()
            .chain(
                more.iter()
                    .map(|it| Cell::Integer(i64::try_from(*it).unwrap_or(i64::MAX))),
            )
            .collect()
    }

    /// `LIMIT` and `OFFSET` with the places behind those of the values.
    fn limits(&self) -> String {
        let behind = self.cells.len();
        format!(" LIMIT ${} OFFSET ${}", behind + 1, behind + 2)
    }
}

/// The results that a filter leaves.
pub(super) fn page(
    connection: &mut dyn Connection,
    filter: &ResultFilter,
) -> Result<Page<ResultEntry>, Fault> {
    let mut filtered = Where::default();
    filtered.and_that("is_final = 1");
    for (condition, value) in [
        ("test_name = ?", &filter.name),
        ("scenario_id = ?", &filter.scenario),
        ("run_id = ?", &filter.run),
    ] {
        if let Some(value) = value {
            filtered.and(condition, value.as_str());
        }
    }
    if let Some(status) = filter.status {
        filtered.and("status = ?", status.name());
    }
    if let Some(since) = filter.since {
        filtered.and("created_at >= ?", written(since));
    }
    let total = count(
        connection,
        &format!("SELECT COUNT(*) AS count FROM results{}", filtered.sql()),
        &filtered.cells(&[]),
    )?;
    let sql = format!(
        "SELECT * FROM results{} ORDER BY created_at DESC, id{}",
        filtered.sql(),
        filtered.limits()
    );
    let found = connection.query(&sql, &filtered.cells(&[filter.limit, filter.offset]))?;
    Ok(Page {
        rows: found.iter().map(entry).collect(),
        total,
    })
}

fn count(connection: &mut dyn Connection, sql: &str, cells: &[Cell]) -> Result<u64, Fault> {
    let found = connection.query(sql, cells)?;
    Ok(found.first().and_then(|it| it.count("count")).unwrap_or(0))
}

/// One result with all that belongs to it.
pub(super) fn detail(
    connection: &mut dyn Connection,
    id: &str,
) -> Result<Option<ResultDetail>, Fault> {
    let id = [Cell::from(id)];
    let found = connection.query("SELECT * FROM results WHERE id = $1", &id)?;
    let Some(result) = found.first() else {
        return Ok(None);
    };
    let evaluations = "SELECT * FROM evaluations WHERE result_id = $1 ORDER BY number";
    let calls = "SELECT * FROM tool_calls WHERE result_id = $1 ORDER BY attempt, number";
    Ok(Some(ResultDetail {
        result: entry(result),
        path: result.string("path"),
        evaluators: connection
            .query(evaluations, &id)?
            .iter()
            .map(evaluator_row)
            .collect(),
        tool_calls: connection
            .query(calls, &id)?
            .iter()
            .map(tool_call_row)
            .collect(),
    }))
}

/// Replaces what is said of a result.
pub(super) fn set_verdict(
    connection: &mut dyn Connection,
    id: &str,
    verdict: &str,
    expected_tools: Option<&str>,
) -> Result<bool, Fault> {
    transaction(connection, |connection| {
        if let Some(expected) = expected_tools {
            connection.execute(
                "UPDATE results SET expected_tools = $1 WHERE id = $2",
                &[expected.into(), id.into()],
            )?;
        }
        let changed = connection.execute(
            "UPDATE results SET verdict = $1 WHERE id = $2",
            &[verdict.into(), id.into()],
        )?;
        Ok(changed > 0)
    })
}

/// The runs, the latest first.
pub(super) fn runs(
    connection: &mut dyn Connection,
    limit: usize,
    offset: usize,
) -> Result<Page<RunEntry>, Fault> {
    let all = Where::default();
    let total = count(connection, "SELECT COUNT(*) AS count FROM runs", &[])?;
    let sql = format!(
        "SELECT * FROM runs ORDER BY started_at DESC, id{}",
        all.limits()
    );
    let found = connection.query(&sql, &all.cells(&[limit, offset]))?;
    Ok(Page {
        rows: found.iter().map(run_entry).collect(),
        total,
    })
}

/// One run.
pub(super) fn run(connection: &mut dyn Connection, id: &str) -> Result<Option<RunEntry>, Fault> {
    let found = connection.query("SELECT * FROM runs WHERE id = $1", &[id.into()])?;
    Ok(found.first().map(run_entry))
}

/// All final results in numbers.
pub(super) fn stats(connection: &mut dyn Connection) -> Result<Statistics, Fault> {
    let of_results = "SELECT COUNT(*) AS results, COUNT(DISTINCT scenario_id) AS scenarios, \
         CAST(SUM(CASE WHEN status = 'passed' THEN 1 ELSE 0 END) AS BIGINT) AS passed, \
         CAST(SUM(CASE WHEN status = 'failed' THEN 1 ELSE 0 END) AS BIGINT) AS failed, \
         CAST(SUM(CASE WHEN status = 'inconclusive' THEN 1 ELSE 0 END) AS BIGINT) AS inconclusive, \
         CAST(SUM(CASE WHEN status IN ('error', 'timeout', 'interrupted') THEN 1 ELSE 0 END) AS BIGINT) AS errors, \
         CAST(SUM(CASE WHEN status = 'recorded' THEN 1 ELSE 0 END) AS BIGINT) AS recorded, \
         AVG(duration_ms) AS mean_duration_ms, SUM(cost) AS known_cost, MIN(created_at) AS first_at, MAX(created_at) AS last_at \
         FROM results WHERE is_final = 1";
    let found = connection.query(of_results, &[])?;
    let mut stats = Statistics {
        runs: count(connection, "SELECT COUNT(*) AS count FROM runs", &[])?,
        tool_calls: count(connection, "SELECT COUNT(*) AS count FROM tool_calls", &[])?,
        ..Statistics::default()
    };
    if let Some(row) = found.first() {
        let count = |column| row.count(column).unwrap_or(0);
        stats.results = count("results");
        stats.scenarios = count("scenarios");
        stats.passed = count("passed");
        stats.failed = count("failed");
        stats.inconclusive = count("inconclusive");
        stats.errors = count("errors");
        stats.recorded = count("recorded");
        stats.pass_rate = rate(stats.passed, stats.passed + stats.failed);
        stats.mean_duration = row.real("mean_duration_ms");
        stats.known_cost = row.real("known_cost");
        stats.first_at = row.text("first_at");
        stats.last_at = row.text("last_at");
    }
    Ok(stats)
}

/// A share; `None` of nothing.
#[expect(
    clippy::cast_precision_loss,
    reason = "nobody has so many results that a double could not count them"
)]
fn rate(passed: u64, judged: u64) -> Option<f64> {
    (judged > 0).then(|| passed as f64 / judged as f64)
}

/// The status of this name; what somebody else has written there is an error.
pub(super) fn status(name: &str) -> Status {
    serde_json::from_value(name.into()).unwrap_or(Status::Error)
}

fn entry(row: &Row) -> ResultEntry {
    let status = status(&row.string("status"));
    ResultEntry {
        result_id: row.string("id"),
        run_id: row.string("run_id"),
        command: row.string("command"),
        scenario: row.string("scenario_id"),
        name: row.string("test_name"),
        prompt: row.text("prompt"),
        tags: row.texts("tags"),
        status,
        success: status == Status::Passed,
        reason: row.text("reason"),
        verdict: row.json("verdict"),
        expected_tools: row.texts("expected_tools"),
        actual_tools: row.texts("actual_tools"),
        score: row.real("score"),
        duration: row.real("duration_ms"),
        timestamp: row.string("created_at"),
        agent: row.text("agent"),
        model: row.text("model"),
        flaky: row.flag("flaky").unwrap_or(false),
        total_tokens: row.count("total_tokens"),
        cost: row.real("cost"),
    }
}

fn evaluator_row(row: &Row) -> EvaluatorRow {
    EvaluatorRow {
        name: row.string("name"),
        gates: row.flag("gating").unwrap_or(false),
        status: row.string("status"),
        message: row.string("message"),
    }
}

fn tool_call_row(row: &Row) -> ToolCallRow {
    ToolCallRow {
        number: row.count("number").unwrap_or(0),
        server: row.text("server"),
        tool: row.string("tool"),
        status: row.string("status"),
        duration_ms: row.real("duration_ms"),
        answer_bytes: row
            .count("answer_bytes")
            .map_or(0, |it| it.try_into().unwrap_or(usize::MAX)),
    }
}

fn run_entry(row: &Row) -> RunEntry {
    let count = |column| row.count(column).unwrap_or(0);
    let commit = row.text("git_commit");
    RunEntry {
        run_id: row.string("id"),
        command: row.string("command"),
        status: row.string("status"),
        started_at: row.string("started_at"),
        completed_at: row.text("completed_at"),
        duration: row.real("duration_ms"),
        exit_code: row.count("exit_code").and_then(|it| it.try_into().ok()),
        total: count("total"),
        passed: count("passed"),
        failed: count("failed"),
        inconclusive: count("inconclusive"),
        errors: count("errors") + count("timeouts") + count("interrupted"),
        skipped: count("skipped"),
        recorded: count("recorded"),
        branch: commit.as_ref().and_then(|_| row.text("git_branch")),
        commit,
    }
}

/// Which results are asked for. [`ResultFilter::default`] asks for the latest hundred of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFilter {
    /// The name of the scenario, as it is.
    pub name: Option<String>,
    /// The id of the scenario, as it is.
    pub scenario: Option<String>,
    /// The id of the run.
    pub run: Option<String>,
    pub status: Option<Status>,
    /// No result that is older than this.
    pub since: Option<jiff::Timestamp>,
    /// How many at most.
    pub limit: usize,
    /// How many of the latest are passed over.
    pub offset: usize,
}

impl Default for ResultFilter {
    fn default() -> Self {
        Self {
            name: None,
            scenario: None,
            run: None,
            status: None,
            since: None,
            limit: 100,
            offset: 0,
        }
    }
}

/// Some of what was asked for, the latest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub rows: Vec<T>,
    /// How many there are in all, whatever limit and offset were.
    pub total: u64,
}

/// The state of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// `sqlite` or `postgresql`.
    pub kind: &'static str,
    /// The number of its latest migration.
    pub schema: u32,
}

/// The same, and what is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    pub health: Health,
    /// How much it takes; `None` where it does not tell.
    pub bytes: Option<u64>,
    /// What is wrong with it; empty where nothing is known to be.
    pub damage: Vec<String>,
    pub stats: Statistics,
}
