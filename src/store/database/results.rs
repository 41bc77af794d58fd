//! What is asked of the database.

use super::cell::{Cell, Row};
use super::connection::{Connection, transaction};
use super::error::Fault;
use super::rows::{
    AttemptRow, EvaluatorRow, GitRow, Page, ResultDetail, ResultFilter, ResultRow, RunRow, Stats,
    ToolCallRow, UsageRow,
};
use super::time::written;
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
) -> Result<Page<ResultRow>, Fault> {
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
        rows: found.iter().map(result_row).collect(),
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
    let attempts = "SELECT * FROM attempts WHERE result_id = $1 ORDER BY is_retried DESC, number";
    let evaluations = "SELECT * FROM evaluations WHERE result_id = $1 ORDER BY number";
    let calls = "SELECT * FROM tool_calls WHERE result_id = $1 ORDER BY attempt, number";
    Ok(Some(ResultDetail {
        result: result_row(result),
        attempts: connection
            .query(attempts, &id)?
            .iter()
            .map(attempt_row)
            .collect(),
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
) -> Result<Page<RunRow>, Fault> {
    let all = Where::default();
    let total = count(connection, "SELECT COUNT(*) AS count FROM runs", &[])?;
    let sql = format!(
        "SELECT * FROM runs ORDER BY started_at DESC, id{}",
        all.limits()
    );
    let found = connection.query(&sql, &all.cells(&[limit, offset]))?;
    Ok(Page {
        rows: found.iter().map(run_row).collect(),
        total,
    })
}

/// One run.
pub(super) fn run(connection: &mut dyn Connection, id: &str) -> Result<Option<RunRow>, Fault> {
    let found = connection.query("SELECT * FROM runs WHERE id = $1", &[id.into()])?;
    Ok(found.first().map(run_row))
}

/// All final results in numbers.
pub(super) fn stats(connection: &mut dyn Connection) -> Result<Stats, Fault> {
    let of_results = "SELECT COUNT(*) AS results, COUNT(DISTINCT scenario_id) AS scenarios, \
         CAST(SUM(CASE WHEN status = 'passed' THEN 1 ELSE 0 END) AS BIGINT) AS passed, \
         CAST(SUM(CASE WHEN status = 'failed' THEN 1 ELSE 0 END) AS BIGINT) AS failed, \
         CAST(SUM(CASE WHEN status = 'inconclusive' THEN 1 ELSE 0 END) AS BIGINT) AS inconclusive, \
         CAST(SUM(CASE WHEN status IN ('error', 'timeout', 'interrupted') THEN 1 ELSE 0 END) AS BIGINT) AS errors, \
         CAST(SUM(CASE WHEN status = 'recorded' THEN 1 ELSE 0 END) AS BIGINT) AS recorded, \
         AVG(duration_ms) AS mean_duration_ms, SUM(cost) AS known_cost, MIN(created_at) AS first_at, MAX(created_at) AS last_at \
         FROM results WHERE is_final = 1";
    let found = connection.query(of_results, &[])?;
    let mut stats = Stats {
        runs: count(connection, "SELECT COUNT(*) AS count FROM runs", &[])?,
        tool_calls: count(connection, "SELECT COUNT(*) AS count FROM tool_calls", &[])?,
        ..Stats::default()
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
        stats.mean_duration_ms = row.real("mean_duration_ms");
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
    [
        Status::Passed,
        Status::Failed,
        Status::Inconclusive,
        Status::Timeout,
        Status::Interrupted,
        Status::Skipped,
        Status::Recorded,
    ]
    .into_iter()
    .find(|it| it.name() == name)
    .unwrap_or(Status::Error)
}

fn result_row(row: &Row) -> ResultRow {
    ResultRow {
        id: row.string("id"),
        run: row.string("run_id"),
        command: row.string("command"),
        scenario: row.string("scenario_id"),
        name: row.string("test_name"),
        path: row.string("path"),
        prompt: row.text("prompt"),
        tags: row.texts("tags"),
        row_of: row.text("row_of"),
        status: status(&row.string("status")),
        reason: row.text("reason"),
        expected_tools: row.texts("expected_tools"),
        actual_tools: row.texts("actual_tools"),
        verdict: row.json("verdict"),
        score: row.real("score"),
        changes: row.count("changes").unwrap_or(0),
        calls: row.count("calls"),
        failed_calls: row.count("failed_calls"),
        duration_ms: row.real("duration_ms"),
        created_at: row.string("created_at"),
        agent: row.text("agent"),
        model: row.text("model"),
        attempts: row.count("attempts").unwrap_or(0),
        attempts_passed: row.count("attempts_passed").unwrap_or(0),
        attempts_judged: row.count("attempts_judged").unwrap_or(0),
        flaky: row.flag("flaky").unwrap_or(false),
        usage: usage_row(row),
        git: git_row(row, "source", true).or_else(|| git_row(row, "scenarios", false)),
    }
}

fn usage_row(row: &Row) -> UsageRow {
    UsageRow {
        input_tokens: row.count("input_tokens"),
        output_tokens: row.count("output_tokens"),
        cache_read_tokens: row.count("cache_read_tokens"),
        cache_write_tokens: row.count("cache_write_tokens"),
        total_tokens: row.count("total_tokens"),
        cost: row.real("cost"),
        requests: row.count("requests"),
    }
}

fn git_row(row: &Row, of: &str, is_source: bool) -> Option<GitRow> {
    let column = |name: &str| format!("{of}_{name}");
    Some(GitRow {
        commit: row.text(&column("commit"))?,
        short: row.string(&column("short")),
        branch: row.text(&column("branch")),
        subject: row.string(&column("subject")),
        dirty: row.flag(&column("dirty")),
        is_source,
    })
}

fn attempt_row(row: &Row) -> AttemptRow {
    AttemptRow {
        number: row.count("number").unwrap_or(0),
        is_retried: row.flag("is_retried").unwrap_or(false),
        status: status(&row.string("status")),
        score: row.real("score"),
        duration_ms: row.real("duration_ms"),
        reason: row.text("reason"),
        usage: usage_row(row),
    }
}

fn evaluator_row(row: &Row) -> EvaluatorRow {
    EvaluatorRow {
        name: row.string("name"),
        kind: row.string("kind"),
        gates: row.flag("gating").unwrap_or(false),
        status: row.string("status"),
        score: row.real("score"),
        message: row.string("message"),
        duration_ms: row.real("duration_ms"),
    }
}

fn tool_call_row(row: &Row) -> ToolCallRow {
    ToolCallRow {
        attempt: row.count("attempt").unwrap_or(0),
        number: row.count("number").unwrap_or(0),
        server: row.text("server"),
        tool: row.string("tool"),
        status: row.string("status"),
        start_ms: row.real("start_ms"),
        duration_ms: row.real("duration_ms"),
        arguments_bytes: row.count("arguments_bytes").unwrap_or(0),
        answer_bytes: row.count("answer_bytes").unwrap_or(0),
    }
}

fn run_row(row: &Row) -> RunRow {
    let count = |column| row.count(column).unwrap_or(0);
    RunRow {
        id: row.string("id"),
        name: row.string("name"),
        command: row.string("command"),
        status: row.string("status"),
        started_at: row.string("started_at"),
        completed_at: row.text("completed_at"),
        duration_ms: row.real("duration_ms"),
        exit_code: row.count("exit_code").and_then(|it| it.try_into().ok()),
        total: count("total"),
        passed: count("passed"),
        failed: count("failed"),
        inconclusive: count("inconclusive"),
        errors: count("errors"),
        timeouts: count("timeouts"),
        interrupted: count("interrupted"),
        skipped: count("skipped"),
        recorded: count("recorded"),
        git: git_row(row, "git", false),
        host: row.text("host"),
        who: row.text("who"),
    }
}
