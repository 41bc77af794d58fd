//! The published result, format version 3: what `result.json` holds.
//!
//! Numbers that are not known are `null`, never 0. Within a version members may be added; a member never changes its
//! meaning and never goes away.
//!
//! | version | what is new |
//! |---|---|
//! | 1 | |
//! | 2 | `causes` tell what each is, where, and whose doing. `changes`: whatever differs, whether it fails or not; reasons that follow from another; drift with what was and what is. What a trajectory tells, too, is spelled as there: a call's outcome is `ok` (it was `answer`) or `transport_error` (`transport`), and a repository that is not known is `{"unknown": reason}` (`{"state": "unknown", "reason": …}`) |
//! | 3 | Changes, losses and drift have a `code`, and reasons a `why`: a value that says what happened, beside the sentence. What follows from a change names it in `follows`, and stands beside it in one list |
//!
//! Results of versions 1 and 2 are read as [`earlier`] says: what they have in sentences alone becomes values there.

mod bisected;
mod cause;
mod comparison;
mod dataset;
pub mod earlier;
mod evaluation;
mod matrix;
mod repeated;
mod row;
mod scenario;
mod shard;
mod side;
mod suite;

pub use crate::comparison::UpstreamCall;
pub use bisected::{Bisected, Commit, SkippedCommit};
pub use cause::{Cause, CauseKind, CausePlace, Whose};
pub use comparison::Comparison;
pub use dataset::Dataset;
pub use evaluation::EvaluationSummary;
pub use matrix::{Matrix, MatrixCell, MatrixPair};
pub use row::{
    Call, Causes, ContractChange, Difference, Parameter, RequestComparison, ResponseComparison, Row,
};
pub use scenario::Scenario;
pub use shard::{Merged, MergedShard, PlannedScenario, Shard, ShardPlan};
pub use side::{
    BindingSummary, CallLabel, LearnedSummary, ModelUse, RequestUse, ServerSummary, Side, SideStamp,
};
pub use suite::{GateKind, GateState, Link, Quarantine, QuarantineOf, SuiteGate, SuiteOf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::json::{self, JsonError};
use crate::usage::TotalUse;
use crate::{Called, Git, Problem, Selection, Status};

/// The version this program writes; it reads the earlier ones, too.
pub const FORMAT_VERSION: u32 = 3;

/// The outcome of one `record`, `compare`, `run` or `bisect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-eval result")]
pub struct ResultDocument {
    /// The version of this format.
    #[schemars(extend("const" = 3))]
    pub format_version: u32,
    /// The version of mcp-eval that wrote the document.
    pub mcp_eval: String,
    /// Names the run's folders; sorts by time.
    pub run_id: String,
    /// The command that produced it: `record`, `compare`, `run` or `bisect`; `run` also for `compare --direct`, which judges alike.
    pub command: String,
    /// When the command began (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Wall time in milliseconds.
    pub duration_ms: Option<f64>,
    /// Somebody stopped the command; scenarios that had not finished are `interrupted`.
    pub interrupted: bool,
    /// The repository the command was started in.
    pub git: Git,
    /// Pages elsewhere that belong to the run: the commit, the pull request, the job of CI; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// How it was called, as far as that decides what stands here; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Called>,
    /// What part of the scenarios it is about; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// How many scenarios came out in which way.
    pub summary: Summary,
    /// What the command told the shell; `null` when the document was written before it was known.
    pub gate: Option<Gate>,
    /// Why the command could not do what it was asked, where it could not; there are no scenarios then.
    pub problem: Option<Problem>,
    /// What `bisect` has found; the scenarios are those of the first bad commit, compared with the good one. Absent for other commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bisected: Option<Bisected>,
    /// The suite file that was followed, with `--suite`, and what became of its gates; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteOf>,
    /// Which part of a suite this is, with `--shard`, and what the other parts are; absent where nothing is parted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The number that made the random order in which scenarios began, with `--shuffle`, which gives the same order again; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle_seed: Option<u32>,
    /// The results of several parts that `merge` has made this one of; absent for all other results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
    /// What failed or changed, each root cause once: first those that scenarios failed for, and of these the one of the most scenarios.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// What the rows of each data set came to, in sum; absent where no scenario has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<Dataset>,
    /// What the cells of a matrix came to, side by side, with `--matrix`; absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Matrix>,
    /// In a stable order, by id.
    pub scenarios: Vec<Scenario>,
}

/// How many scenarios came out in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How many scenarios were to run: all but the disabled ones, also those that an interruption or `--fail-fast` left out.
    pub selected: usize,
    pub passed: usize,
    /// How many of those that passed, or were recorded, differ from their baseline all the same.
    #[serde(default)]
    pub changed: usize,
    pub failed: usize,
    /// Absent when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inconclusive: usize,
    pub error: usize,
    pub timeout: usize,
    /// Stopped before they had finished, or not started any more. Absent when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupted: usize,
    pub skipped: usize,
    pub recorded: usize,
    /// How many were recorded although something speaks against them.
    #[serde(default)]
    pub recorded_failing: usize,
    /// How many of those that passed did so on a later try. Absent when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flaky: usize,
    /// How many did not pass and decide nothing, because they are quarantined; they are counted in no other way. Absent when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quarantined: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The name of the exit code where nothing was there to decide: all scenarios are quarantined, and the suite has no other gate.
pub const UNDECIDED: &str = "undecided";

/// What the command told the shell, and on what ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// The threshold given on the command line, 0 to 1; `null` where each scenario's own one was used.
    pub threshold: Option<f64>,
    pub exit_code: u8,
    /// The exit code's name: `passed`.
    pub name: String,
    /// The exit code in words.
    pub sentence: String,
    /// What is inconclusive counted as not judged (`--strict-statistics`); absent where it did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict_statistics: bool,
    /// Whatever changed counted as failed, and what passed on a later try alone (`--strict`); absent where it did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

/// Why a text is not a result this program can read.
#[derive(Debug, Error)]
pub enum DocumentError {
    #[error("the JSON ends too early, in line {line}: the file was cut off")]
    CutOff { line: usize },
    #[error("not JSON: {0}")]
    NotJson(JsonError),
    #[error("no `format_version`: this is not a result of mcp-eval")]
    NoVersion,
    /// The format is newer than this program, or not known at all.
    #[error(
        "format version {found} is not known here: this mcp-eval reads versions 1 to {FORMAT_VERSION}; \
         {}", reader(.written_by.as_deref())
    )]
    UnknownVersion {
        found: u64,
        /// The version of mcp-eval that wrote it, where the document says so.
        written_by: Option<String>,
    },
    #[error("not a result of format version {version}: {error}")]
    Shape { version: u64, error: JsonError },
}

fn reader(written_by: Option<&str>) -> String {
    match written_by {
        Some(version) => format!("mcp-eval {version} wrote it and can read it"),
        None => "a newer mcp-eval may read it".to_owned(),
    }
}

/// Reads a result document.
///
/// # Errors
///
/// When the text is cut off, is not JSON, is of a version not known here, or is not a result at all.
pub fn parse(text: &str) -> Result<ResultDocument, DocumentError> {
    let mut document: ResultDocument = part(text)?;
    for it in &mut document.scenarios {
        it.unchanged |= it.in_words.as_deref().is_some_and(earlier::is_unchanged);
        it.not_run = earlier::why_not_run(it.not_run, it.status, it.problem.as_ref());
    }
    Ok(document)
}

/// Reads of a result document what the type has of its keys.
///
/// # Errors
///
/// As [`parse`].
pub fn part<T: DeserializeOwned>(text: &str) -> Result<T, DocumentError> {
    /// What has had its place in every version, past and future.
    #[derive(Deserialize)]
    struct Head {
        format_version: Option<u64>,
        mcp_eval: Option<Value>,
    }

    let not_json = |error: JsonError| match &error {
        JsonError::Other(it) if it.is_eof() => DocumentError::CutOff { line: it.line() },
        JsonError::Other(it) if it.is_data() => DocumentError::NoVersion,
        _ => DocumentError::NotJson(error),
    };
    let head: Head = json::read(text.as_bytes()).map_err(not_json)?;
    match head.format_version {
        None => Err(DocumentError::NoVersion),
        Some(version) if (1..=u64::from(FORMAT_VERSION)).contains(&version) => {
            let read = if version < u64::from(FORMAT_VERSION) {
                json::read(text.as_bytes()).and_then(|it| {
                    serde_json::from_value(earlier::upgraded(it)).map_err(JsonError::Other)
                })
            } else {
                json::read(text.as_bytes())
            };
            read.map_err(|error| DocumentError::Shape { version, error })
        }
        Some(found) => Err(DocumentError::UnknownVersion {
            found,
            written_by: head
                .mcp_eval
                .and_then(|it| it.as_str().map(ToOwned::to_owned)),
        }),
    }
}

/// The document as `result.json` holds it: one JSON object, indented, with a line break at its end.
pub fn json(result: &ResultDocument) -> String {
    let mut text = json::pretty(result);
    text.push('\n');
    text
}

/// The same in one line: what lies beside the pages of a report.
pub fn compact_json(result: &ResultDocument) -> String {
    let mut text = json::compact(result);
    text.push('\n');
    text
}

/// The JSON Schema (draft 2020-12) of the document, made from the types.
pub fn json_schema() -> Value {
    schemars::schema_for!(ResultDocument).to_value()
}

impl Gate {
    /// Whether nothing was there to decide, so that exit code 0 says nothing of the scenarios.
    pub fn is_undecided(&self) -> bool {
        self.name == UNDECIDED
    }
}

impl ResultDocument {
    /// Whether nothing gated: all scenarios are quarantined.
    pub fn is_undecided(&self) -> bool {
        self.gate.as_ref().is_some_and(Gate::is_undecided)
    }

    /// The document with the exit code of the command.
    #[must_use]
    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// What an interruption has left undone, in words.
    pub fn interrupted_words(&self) -> String {
        match self.summary.interrupted {
            0 => "Interrupted, when all scenarios had finished.".to_owned(),
            1 => "Interrupted: 1 scenario had not finished.".to_owned(),
            count => format!("Interrupted: {count} scenarios had not finished."),
        }
    }

    /// What all models of the run used, judges included, in words; `None` where there were none.
    pub fn model_use(&self) -> Option<String> {
        let uses = self.scenarios.iter().flat_map(Scenario::all_usage);
        // Where all answers were remembered, nothing was asked.
        let is_something = |it: &TotalUse| {
            let tokens = &it.tokens;
            it.requests > 0
                || tokens.total_tokens.is_some()
                || it.cost.is_some_and(|cost| cost > 0.0)
        };
        TotalUse::sum(uses.filter(is_something)).map(|it| it.words())
    }

    /// Whether the servers of any run were recorded ones.
    pub fn has_recorded_servers(&self) -> bool {
        self.scenarios.iter().any(Scenario::has_recorded_servers)
    }

    /// The causes of what happened in one scenario.
    pub fn causes_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Cause> {
        let causes = self.causes.iter();
        causes.filter(move |it| it.scenarios.iter().any(|of| of == id))
    }

    /// The last lines, at most `most`, of what a server wrote that kept scenarios from a verdict, which often say why; of the first scenario.
    pub fn last_lines(&self, cause: &Cause, most: usize) -> Vec<&str> {
        let first = cause.scenarios.first().and_then(|it| self.scenario(it));
        let problem = first.and_then(|it| it.problem.as_ref());
        let problem = problem.filter(|_| cause.kind == Some(CauseKind::Problem));
        let details = problem.iter().flat_map(|it| &it.details);
        let mut lines: Vec<&str> = details.flat_map(|it| it.lines()).collect();
        lines.drain(..lines.len().saturating_sub(most));
        lines
    }

    /// The scenario of this id, if the document has it.
    pub fn scenario(&self, id: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|it| it.id == id)
    }
}

impl Summary {
    /// Counts scenarios, of which so many were to run.
    pub fn of(scenarios: &[Scenario], selected: usize) -> Self {
        let is_counted = |it: &&Scenario| !it.is_tolerated();
        let counted = || scenarios.iter().filter(is_counted);
        let count = |status| counted().filter(|it| it.status == status).count();
        Self {
            changed: scenarios.iter().filter(|it| it.is_changed()).count(),
            recorded_failing: scenarios.iter().filter(|it| it.is_failing()).count(),
            flaky: scenarios.iter().filter(|it| it.flaky).count(),
            quarantined: scenarios.iter().filter(|it| it.is_tolerated()).count(),
            selected,
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            inconclusive: count(Status::Inconclusive),
            error: count(Status::Error),
            timeout: count(Status::Timeout),
            interrupted: count(Status::Interrupted),
            skipped: count(Status::Skipped),
            recorded: count(Status::Recorded),
        }
    }

    /// How many did what they should: passed, or recorded without failing.
    pub fn succeeded(self) -> usize {
        self.passed + self.recorded
    }
}
