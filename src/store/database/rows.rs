//! What is in the results database, as those who ask it get it.
//!
//! Numbers that are not known are `None`, never 0. Times are RFC 3339 in UTC. All of it was free of secrets when it was written.

use serde_json::Value;

use crate::published::result::Status;

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

/// One scenario in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    /// See [`result_id`](super::result_id).
    pub id: String,
    pub run: String,
    /// The command of the run: `record`, `compare`, `run` or `bisect`.
    pub command: String,
    /// The scenario's id.
    pub scenario: String,
    /// The scenario's name.
    pub name: String,
    /// The scenario's file, as the user named it.
    pub path: String,
    /// What the user wanted.
    pub prompt: Option<String>,
    pub tags: Vec<String>,
    /// The scenario of whose data set it is a row.
    pub row_of: Option<String>,
    pub status: Status,
    /// The first thing that speaks against it.
    pub reason: Option<String>,
    /// The tools that were to be called, in order, by their full names: `mcp__shop__get_price`.
    pub expected_tools: Vec<String>,
    /// The tools that were called.
    pub actual_tools: Vec<String>,
    /// `{passed, confidence, reasoning, toolAccuracy, suggestions}`; what is not known is `null`.
    pub verdict: Value,
    /// 0 to 1; `None` where nothing was compared.
    pub score: Option<f64>,
    /// How many things differ from the baseline.
    pub changes: u64,
    /// How many calls were made; `None` where nothing ran.
    pub calls: Option<u64>,
    pub failed_calls: Option<u64>,
    /// Wall time in milliseconds; `None` where nothing ran.
    pub duration_ms: Option<f64>,
    /// When the result was there.
    pub created_at: String,
    /// The kind of agent; `None` where nothing ran.
    pub agent: Option<String>,
    pub model: Option<String>,
    /// How often it was run, with `--repeat`; else 1, and 0 where nothing ran.
    pub attempts: u64,
    /// How many of these runs passed, and how many have a verdict.
    pub attempts_passed: u64,
    pub attempts_judged: u64,
    /// It passed on a later try, or its runs did not agree.
    pub flaky: bool,
    /// What models took, judges included.
    pub usage: UsageRow,
    /// The repository of the system under test, or else that of the scenario's file.
    pub git: Option<GitRow>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitRow {
    pub commit: String,
    pub short: String,
    pub branch: Option<String>,
    pub subject: String,
    /// Whether files differed from the commit.
    pub dirty: Option<bool>,
    /// It is that of the system under test (`source` of the scenario), and not of the scenario's file.
    pub is_source: bool,
}

/// What models took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsageRow {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cache_read_tokens: Option<u64>,
    pub cache_write_tokens: Option<u64>,
    pub total_tokens: Option<u64>,
    /// In the currency of the scenario's price.
    pub cost: Option<f64>,
    pub requests: Option<u64>,
}

/// A result with all that is kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultDetail {
    pub result: ResultRow,
    pub attempts: Vec<AttemptRow>,
    pub evaluators: Vec<EvaluatorRow>,
    /// Those of the attempt that is shown, in order.
    pub tool_calls: Vec<ToolCallRow>,
}

/// One of several runs of a scenario, or an earlier try that could not be run or judged.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRow {
    /// Counted from 1; earlier tries have numbers of their own.
    pub number: u64,
    /// It could not be run or judged, and was made again.
    pub is_retried: bool,
    pub status: Status,
    pub score: Option<f64>,
    pub duration_ms: Option<f64>,
    pub reason: Option<String>,
    pub usage: UsageRow,
}

/// What an evaluator found.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatorRow {
    pub name: String,
    /// Its type, as scenario files spell it.
    pub kind: String,
    pub gates: bool,
    /// `passed`, `failed`, `skipped` or `error`.
    pub status: String,
    pub score: Option<f64>,
    pub message: String,
    pub duration_ms: Option<f64>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallRow {
    /// Of which attempt, counted from 1.
    pub attempt: u64,
    /// Its number in the run, counted from 1.
    pub number: u64,
    /// `None` for an agent's own tools.
    pub server: Option<String>,
    pub tool: String,
    /// `ok`, `error` or what else trajectories call an outcome.
    pub status: String,
    pub start_ms: Option<f64>,
    pub duration_ms: Option<f64>,
    /// Bytes of the arguments and of the answer as JSON.
    pub arguments_bytes: u64,
    pub answer_bytes: u64,
}

/// One run of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    pub id: String,
    pub name: String,
    pub command: String,
    /// `running`, `completed` or `interrupted`. One that was killed stays `running`.
    pub status: String,
    pub started_at: String,
    pub completed_at: Option<String>,
    pub duration_ms: Option<f64>,
    pub exit_code: Option<u8>,
    /// How many scenarios were to run.
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
    pub inconclusive: u64,
    pub errors: u64,
    pub timeouts: u64,
    pub interrupted: u64,
    pub skipped: u64,
    pub recorded: u64,
    /// The repository that the command was started in.
    pub git: Option<GitRow>,
    /// `None` with `--no-identity`.
    pub host: Option<String>,
    pub who: Option<String>,
}

/// All results in numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    pub runs: u64,
    pub results: u64,
    pub scenarios: u64,
    pub tool_calls: u64,
    pub passed: u64,
    pub failed: u64,
    pub inconclusive: u64,
    /// Errors, timeouts and interruptions.
    pub errors: u64,
    pub recorded: u64,
    /// `passed / (passed + failed)`; `None` without a verdict.
    pub pass_rate: Option<f64>,
    /// Of the results that have one.
    pub mean_duration_ms: Option<f64>,
    /// Of the results whose cost is known; `None` where none is.
    pub known_cost: Option<f64>,
    pub first_at: Option<String>,
    pub last_at: Option<String>,
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
    pub stats: Stats,
}
