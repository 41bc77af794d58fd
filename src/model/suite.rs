//! The result of a whole command: one result per scenario.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use jiff::Timestamp;

use crate::published::result::Scenario;
use crate::{
    Called, Comparison, Git, Labels, Overall, Places, Redacted, Status, Trajectory, Trouble,
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

/// The outcome of one scenario: what is published of it, and what that is made of.
#[derive(Debug, Clone, Default)]
pub struct ScenarioResult {
    /// What is published, but for what is computed of the trajectories: its sides, its comparison, and the words on them.
    pub scenario: Scenario,
    /// Where in the scenario's file what stands.
    pub places: Places,
    /// What the calls of both sides are called by, besides their tools' names.
    pub labels: Labels,
    /// What the evaluators come to together.
    pub overall: Option<Overall>,
    pub comparison: Option<Comparison>,
    /// The accepted trajectory, or the expected one for `run`.
    pub baseline: Option<Arc<Redacted<Trajectory>>>,
    pub current: Option<Arc<Redacted<Trajectory>>>,
    /// What stood in the way of a run or a verdict, where another try may well go otherwise.
    pub trouble: Option<Trouble>,
}

impl Deref for ScenarioResult {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl DerefMut for ScenarioResult {
    fn deref_mut(&mut self) -> &mut Scenario {
        &mut self.scenario
    }
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
        let scenario = Scenario {
            id: id.into(),
            name: name.into(),
            path: path.into(),
            status,
            ..Scenario::default()
        };
        Self {
            scenario,
            ..Self::default()
        }
    }

    /// The same with something else in it.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
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
