//! Questions to the database, and their answers.

use serde_json::Value;

use super::RunHead;
use super::connection::{Cell, Connection, Fault, Row, document, transaction, written};
use super::finished::text;
use crate::model::{Git, Redacted, Status};
use crate::published::kept::{ResultDetail, ResultEntry, RunEntry, Statistics};

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
        "SELECT id, document FROM results{} ORDER BY created_at DESC, id{}",
        filtered.sql(),
        filtered.limits()
    );
    let found = connection.query(&sql, &filtered.cells(&[filter.limit, filter.offset]))?;
    let rows = found
        .iter()
        .map(|row| Ok(row.document::<ResultDetail>()?.result));
    Ok(Page {
        rows: rows.collect::<Result<_, Fault>>()?,
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
    let sql = "SELECT id, document FROM results WHERE id = $1";
    let found = connection.query(sql, &[id.into()])?;
    found.first().map(Row::document).transpose()
}

/// Replaces what is said of a result.
pub(super) fn set_verdict(
    connection: &mut dyn Connection,
    id: &str,
    verdict: &Redacted<Value>,
    expected_tools: Option<&Redacted<Vec<String>>>,
) -> Result<bool, Fault> {
    transaction(connection, |connection| {
        let Some(mut detail) = detail(connection, id)? else {
            return Ok(false);
        };
        detail.result.verdict = (**verdict).clone();
        if let Some(expected) = expected_tools {
            detail.result.expected_tools = expected.to_vec();
        }
        let detail = verdict.derive(|_| detail);
        connection.execute(
            "UPDATE results SET verdict = $1, expected_tools = $2, document = $3 WHERE id = $4",
            &[
                text(&detail.result.verdict).into(),
                text(&detail.result.expected_tools).into(),
                document(&detail)?.into(),
                id.into(),
            ],
        )?;
        Ok(true)
    })
}

/// Runs, and how their results came out, but for those that decide nothing.
fn counted() -> String {
    let counted = [
        ("passed", "'passed'"),
        ("failed", "'failed'"),
        ("inconclusive", "'inconclusive'"),
        ("errors", "'error', 'timeout', 'interrupted'"),
        ("skipped", "'skipped'"),
        ("recorded", "'recorded'"),
    ];
    let counted = counted.map(|(column, statuses)| {
        format!(
            ", (SELECT COUNT(*) FROM results WHERE run_id = runs.id AND results.status IN ({statuses}) AND quarantined = 0) AS {column}"
        )
    });
    format!("SELECT runs.*{} FROM runs", counted.concat())
}

/// The runs, the latest first.
pub(super) fn runs(
    connection: &mut dyn Connection,
    limit: usize,
    offset: usize,
) -> Result<Page<RunEntry>, Fault> {
    let all = Where::default();
    let total = count(connection, "SELECT COUNT(*) AS count FROM runs", &[])?;
    let sql = format!("{} ORDER BY started_at DESC, id{}", counted(), all.limits());
    let found = connection.query(&sql, &all.cells(&[limit, offset]))?;
    Ok(Page {
        rows: found.iter().map(run_entry).collect::<Result<_, _>>()?,
        total,
    })
}

/// One run.
pub(super) fn run(connection: &mut dyn Connection, id: &str) -> Result<Option<RunEntry>, Fault> {
    let found = connection.query(&format!("{} WHERE id = $1", counted()), &[id.into()])?;
    found.first().map(run_entry).transpose()
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
        tool_calls: count(
            connection,
            "SELECT CAST(SUM(tool_calls) AS BIGINT) AS count FROM results",
            &[],
        )?,
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

fn run_entry(row: &Row) -> Result<RunEntry, Fault> {
    let head: RunHead = row.document()?;
    let commit = head.git.as_ref().and_then(Git::commit);
    let count = |column| row.count(column).unwrap_or(0);
    Ok(RunEntry {
        run_id: row.string("id"),
        status: row.string("status"),
        started_at: row.string("started_at"),
        completed_at: row.text("completed_at"),
        duration: head.duration_ms,
        exit_code: head.exit_code,
        total: count("total"),
        passed: count("passed"),
        failed: count("failed"),
        inconclusive: count("inconclusive"),
        errors: count("errors"),
        skipped: count("skipped"),
        recorded: count("recorded"),
        commit: commit.map(|at| at.commit.clone()),
        branch: commit.and_then(|at| at.branch.clone()),
        command: head.command,
    })
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
