//! Settings for running and judging scenarios.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::stored_run::StoredRun;
use crate::model::rules::{Preset, Rules};
use crate::model::{Called, Servers};
use crate::scenario_file::servers::{Protocol, Server};
use crate::scenario_file::suites::{Around, Retries};
use crate::store::database::Database;
use crate::store::own;

/// The default folder of baselines.
pub const BASELINES: &str = "baselines";

/// The folder of reports, unless the user says otherwise.
pub const REPORTS: &str = "reports";

/// The default folder of runs.
pub static RUNS: LazyLock<PathBuf> = LazyLock::new(|| own("runs"));

/// The default folder of what judges have answered.
pub static CACHE: LazyLock<PathBuf> = LazyLock::new(|| own("cache"));

/// How scenarios are run and judged. [`Settings::default`] is what a command without options does.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The `mcp-eval` program: it serves mock servers, and it supervises the processes of servers and agents, so that all they start ends
    /// with them. `None` finds `mcp-eval` in `PATH` for mock servers, and supervises nothing: see [`ChildCommand::supervisor`].
    ///
    /// [`ChildCommand::supervisor`]: crate::process::ChildCommand::supervisor
    pub program: Option<PathBuf>,
    /// Servers that win over a scenario's own of the same name.
    pub servers: Vec<Server>,
    /// The revisions of MCP that all servers are spoken to in; `None` for what each says, or its baseline.
    pub protocol: Option<Protocol>,
    pub jobs: Jobs,
    /// How often each scenario is run, at least 1.
    pub times: u16,
    /// Whether no further scenario is started once one has not passed.
    pub fail_fast: bool,
    /// The ids of scenarios in the order in which they begin; those that it does not name come behind them. Results keep theirs.
    pub order: Vec<String>,
    /// What is run again that could not be run or judged.
    pub retries: Option<Retries>,
    /// What is run once before all scenarios, and once after them.
    pub around: Around,
    /// The ids of scenarios that decide nothing, so that `fail_fast` goes on behind them.
    pub quarantined: BTreeSet<String>,
    /// Whether containers are started and reset; else servers are used as they stand.
    pub containers: bool,
    /// What all requests to models may cost together, in the currency of the scenarios' prices.
    pub budget: Option<f64>,
    pub judges: Judges,
    /// The stored run whose trajectories are judged in place of those of new runs.
    pub judged: Option<Arc<StoredRun>>,
    /// Who answers when scenarios are compared.
    pub answered_by: Servers,
    pub judging: Judging,
    /// Whether a run that failed, or changed something, is kept beside its baseline for review. Without that, it can still be accepted from
    /// its report.
    pub keep_pending: bool,
    pub recording: Recording,
    /// The folder of all baselines or, where a single scenario is run, its own.
    pub baselines: PathBuf,
    /// The folder that runs are kept in.
    pub runs: PathBuf,
    /// Where results are written as they come, besides; `None` writes them nowhere else.
    pub database: Option<Database>,
    /// What the result says of how it was called.
    pub called: Option<Called>,
}

/// How many scenarios run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jobs {
    /// As many as there are processors, at least 2 and at most 8, but of those that share something with others only one at a time; with
    /// `fail_fast`, one after another.
    Auto,
    /// This many, whatever they share; at least 1.
    AtMost(u16),
    /// This many, but of those that share something with others only one at a time; at least 1.
    Sharing(u16),
}

/// What the models that judge runs have at hand.
#[derive(Debug, Clone)]
pub struct Judges {
    /// What all their requests may cost together; [`Settings::budget`] counts them, too.
    pub budget: Option<f64>,
    /// Where their answers are kept and taken from; `None` asks each time.
    pub cache: Option<PathBuf>,
}

impl Default for Judges {
    fn default() -> Self {
        Self {
            budget: None,
            cache: Some(CACHE.clone()),
        }
    }
}

/// How runs are judged.
#[derive(Debug, Clone, Default)]
pub struct Judging {
    pub scoring: ScoreSettings,
    /// Whether to gate where the baseline is of another experiment.
    pub allow_changed: bool,
    /// Whether what is inconclusive has not passed.
    pub strict_statistics: bool,
}

/// How runs become baselines.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// How often each scenario is played to learn what varies; `None` for what suits it.
    pub takes: Option<u16>,
    /// How long after one take the next one begins; `None` for what the scenario says.
    pub takes_apart: Option<Duration>,
    /// Whether runs that failed become baselines, too.
    pub allow_failing: bool,
    /// Whether [`Settings::baselines`] is the folder of a single scenario's baseline.
    pub of_one_scenario: bool,
}

/// Scoring options that go beyond what scenarios say.
#[derive(Debug, Clone, Default)]
pub struct ScoreSettings {
    /// The lowest score that passes, 0 to 1.
    pub threshold: Option<f64>,
    /// The lowest share of runs that passes, 0 to 1.
    pub pass_threshold: Option<f64>,
    /// Whether every change fails.
    pub strict: bool,
    pub preset: Option<Preset>,
}

impl Settings {
    /// The same, by which nothing is started, and nothing is told to the results database.
    #[must_use]
    pub(super) fn running_nothing(self) -> Self {
        Self {
            containers: false,
            retries: None,
            around: Around::default(),
            database: None,
            ..self
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            program: None,
            servers: Vec::new(),
            protocol: None,
            jobs: Jobs::Auto,
            times: 1,
            fail_fast: false,
            order: Vec::new(),
            retries: None,
            around: Around::default(),
            quarantined: BTreeSet::new(),
            containers: true,
            budget: None,
            judges: Judges::default(),
            judged: None,
            answered_by: Servers::Live,
            judging: Judging::default(),
            keep_pending: false,
            recording: Recording::default(),
            baselines: PathBuf::from(BASELINES),
            runs: RUNS.clone(),
            database: None,
            called: None,
        }
    }
}

impl ScoreSettings {
    /// The rules with these options applied.
    pub fn over(&self, rules: &Rules) -> Rules {
        let mut rules = rules.clone();
        rules.threshold = self.threshold.unwrap_or(rules.threshold);
        rules.pass_threshold = self.pass_threshold.unwrap_or(rules.pass_threshold);
        rules.strict |= self.strict;
        rules.preset = self.preset.unwrap_or(rules.preset);
        rules
    }
}
