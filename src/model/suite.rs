//! The result of a whole command: one result per scenario.

use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::repeated::Repeated;
use crate::usage::TotalUse;
use crate::{
    Called, Cell, Comparison, Direct, Evaluation, ExperimentChange, Git, Labels, NotRun, Overall,
    Places, Redacted, Status, Trajectory, Trouble, Unsteady,
};

/// The outcome of one `record`, `compare` or `run`.
#[derive(Debug, Clone)]
pub struct SuiteResult {
    /// Names the run's folders; sorts by time.
    pub run_id: String,
    /// The command that produced it: `record`, `compare` or `run`.
    pub command: String,
    pub mcp_eval: String,
    pub started_at: Timestamp,
    /// Wall time in milliseconds.
    pub duration_ms: f64,
    /// The repository the command was started in.
    pub git: Git,
    /// Somebody stopped the command; scenarios that had not finished are [`Status::Interrupted`].
    pub interrupted: bool,
    /// How it was called; `None` where nobody called it from a command line.
    pub called: Option<Called>,
    /// How many scenarios were to run: all but the disabled ones.
    pub selected: usize,
    /// In a stable order, by id.
    pub scenarios: Vec<ScenarioResult>,
}

/// The outcome of one scenario.
#[derive(Debug, Clone, Default)]
pub struct ScenarioResult {
    pub id: String,
    pub name: String,
    /// The scenario file, as the user named it.
    pub path: String,
    /// Where in that file what stands.
    pub places: Places,
    pub description: Option<String>,
    pub user_intent: Option<String>,
    /// The scenario of whose data set it is a row.
    pub row_of: Option<String>,
    /// The cell of a matrix that it is.
    pub cell: Option<Box<Cell>>,
    pub tags: Vec<String>,
    /// How the two runs that are compared are not the same experiment; empty where they are, or nothing is compared.
    pub experiment_changes: Vec<ExperimentChange>,
    pub status: Status,
    /// Wall time in milliseconds; `None` when nothing ran.
    pub duration_ms: Option<f64>,
    /// Why it was not run; `None` where it was, or could not be.
    pub not_run: Option<NotRun>,
    /// Why there is no verdict, for [`Status::Error`], [`Status::Timeout`] and [`Status::Interrupted`]; why not run, for [`Status::Skipped`].
    pub problem: Option<Problem>,
    /// Expectations of the scenario itself, met or not.
    pub checks: Vec<Check>,
    /// What the evaluators found, in their order, and what they come to together.
    pub evaluations: Vec<Evaluation>,
    pub evaluation: Option<Overall>,
    pub comparison: Option<Comparison>,
    /// What the calls of both sides are called by, besides their tools' names.
    pub labels: Labels,
    /// The accepted trajectory, or the expected one for `run`.
    pub baseline: Option<Arc<Redacted<Trajectory>>>,
    pub current: Option<Arc<Redacted<Trajectory>>>,
    /// The other version or run that takes the part of the baseline, in words; `None` where a baseline was accepted.
    pub compared_with: Option<String>,
    /// What a reader should know although it changes no status.
    pub notes: Vec<String>,
    /// What recording learned, and where it is kept: for readers who ask for more.
    pub details: Vec<String>,
    /// What of the calls failed, whatever the run was compared with; where the scenario passed, it failed as it did when the baseline was accepted.
    pub failing: Vec<String>,
    /// The scenario's rules that can have no effect, as far as the run shows it, a sentence each.
    pub idle_rules: Vec<String>,
    /// A stored run of it was scored without its file, so that nothing but the comparison counts.
    pub without_rules: bool,
    /// What all runs of the scenario came to, where it was run several times; the rest of the result is then about one of them.
    pub repeated: Option<Box<Repeated>>,
    /// What stood in the way of a run or a verdict, where another try may well go otherwise.
    pub trouble: Option<Trouble>,
    /// The earlier tries, which could not be run or judged, where this is a later one.
    pub retried: Vec<Retried>,
    /// What was answered in two ways, where that is why there is no verdict.
    pub unsteady: Option<Box<Unsteady>>,
    /// What asking judges took, in all runs; `None` where none was asked.
    pub judging: Option<TotalUse>,
    /// What the servers do to the answers of those behind them, where that was asked for.
    pub direct: Option<Box<Direct>>,
    /// What was measured, where it is about no conversation, as it is published: `{"kind": …, "report": …}`.
    pub measured: Option<Box<Value>>,
}

impl ScenarioResult {
    /// Nothing judged it, or its servers are unsteady, so that it decides as what could not be judged does.
    pub fn is_undecided(&self) -> bool {
        let is_asked = match &self.unsteady {
            Some(unsteady) => unsteady.gates,
            None => self.problem.is_some() && self.measured.is_none(),
        };
        self.status == Status::Inconclusive && is_asked
    }

    /// A result of which no more is known than what it is of, and how it came out.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        path: impl Into<String>,
        status: Status,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            path: path.into(),
            status,
            ..Self::default()
        }
    }
}

/// A try at a scenario that could not be run or judged, so that another one was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Retried {
    pub status: Status,
    /// What stood in the way: `transport`, `rate_limit` or `timeout`.
    #[schemars(with = "String")]
    pub trouble: Trouble,
    /// The same in a sentence.
    pub reason: String,
    /// Wall time in milliseconds; `null` when nothing ran.
    pub duration_ms: Option<f64>,
    /// What models took for it, judges included; absent where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TotalUse>,
}

/// Something that stood in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// Last lines of a server's stderr and the like.
    pub details: Vec<String>,
    /// What records the baseline that is missing; absent where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Box<RecordCommand>>,
    /// The line of the scenario's file that it is about, such as that of an evaluator; absent where it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// The options of the command `record` that make one baseline, and no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordCommand {
    /// The scenario's file; absent where its name is enough.
    pub file: Option<String>,
    /// The row of a data set, as a word of an expression.
    pub row: Option<String>,
    /// What else is said, each word by itself.
    pub options: Vec<String>,
}

impl Problem {
    /// One of one message, without hint and details.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            details: Vec::new(),
            record: None,
            line: None,
        }
    }

    /// The same, with what to try.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

/// One expectation of the scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The expectation, as the scenario says it.
    pub name: String,
    /// The line of the scenario's file that says it; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub passed: bool,
    /// It was not checked and decides nothing, because nothing shows that it can be met; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// The call of the run that it is about; absent where it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// It asks for something that is to be there, a text or a call; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_for_more: bool,
    /// What it asks for, where the name says less; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// What was found instead, or why it was not checked; empty when passed.
    pub message: String,
}

/// What an expectation asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// That this text is said.
    Text(String),
    /// That the answer to an expected call holds this, as JSON.
    Answer(String),
    /// That a call of the tool with this full name succeeds.
    Success(String),
}

/// What became of an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Passed,
    Failed,
    /// It decides nothing, because nothing shows that it can be met.
    Unchecked,
}

impl Check {
    /// One that came out so; `message` says what was found instead.
    pub fn new(name: impl Into<String>, state: CheckState, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            line: None,
            passed: state == CheckState::Passed,
            unchecked: state == CheckState::Unchecked,
            call: None,
            asks_for_more: false,
            asked: None,
            message: message.into(),
        }
    }

    /// Whether it speaks against the run.
    pub fn fails(&self) -> bool {
        !self.passed && !self.unchecked
    }
}

impl CheckState {
    /// Of what is checked.
    pub fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

impl SuiteResult {
    /// Of a command that has begun, and done nothing yet.
    pub fn new(command: &str, started_at: Timestamp, git: Git) -> Self {
        Self {
            run_id: String::new(),
            command: command.to_owned(),
            mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
            started_at,
            duration_ms: 0.0,
            git,
            interrupted: false,
            called: None,
            selected: 0,
            scenarios: Vec::new(),
        }
    }
}
