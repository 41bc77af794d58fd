//! The context that all runs of one command share: servers of the command line, containers, the budget, and the stamps of repositories.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Zoned;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::patience::Patience;
use super::prepare::Prepared;
use super::{Settings, StoredRun, recorded, source};
use crate::docker::Session;
use crate::git;
use crate::model::{Git, Redacted, Redaction, ScenarioResult, Servers, Stamp, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::run::Budget;
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::servers::{Protocol, Server};
use crate::scenario_file::suites::Retries;

/// What all runs of one command share.
pub(crate) struct SuiteContext {
    /// Servers given on the command line; they win over a scenario's own.
    pub(crate) servers: Vec<Server>,
    /// The revisions of MCP that all servers are spoken to in; `None` for what each says, or its baseline.
    pub(super) protocol: Option<Protocol>,
    /// The `mcp-eval` program, which is also the mock server behind others and the supervisor of processes; `None` supervises nothing.
    pub(crate) program: Option<PathBuf>,
    pub(super) interrupt: CancellationToken,
    /// Where containers are reset; `None` to use the servers as they stand.
    pub(crate) containers: Option<Arc<Session>>,
    /// Folders we write to: changes there do not make a repository dirty.
    pub(super) ours: Vec<PathBuf>,
    /// What was done before servers could be started.
    pub(super) prepared: Prepared,
    pub(super) budget: Option<Arc<Budget>>,
    pub(super) judges: JudgesInUse,
    /// What is run again that could not be run or judged.
    pub(super) retries: Option<Retries>,
    /// The stored run whose trajectories take the place of new runs.
    pub(crate) judged: Option<Arc<StoredRun>>,
    /// How long after one take the next one begins; `None` for what the scenario says.
    pub(crate) takes_apart: Option<Duration>,
    /// How many scenarios were about to fail so far.
    failing: AtomicUsize,
    stamps: Mutex<HashMap<PathBuf, Git>>,
    /// What its scenarios, by id, with their servers and agents were given so far.
    secrets: Mutex<BTreeMap<String, Secrets>>,
}

/// What the models that judge the runs of one command share.
pub(super) struct JudgesInUse {
    pub(super) budget: Option<Arc<Budget>>,
    /// Where their answers are kept.
    pub(super) cache: Option<PathBuf>,
}

impl SuiteContext {
    pub(crate) fn new(
        settings: &Settings,
        ours: Vec<PathBuf>,
        containers: Option<Arc<Session>>,
        interrupt: CancellationToken,
    ) -> Self {
        let budget = settings.budget.map(|it| Arc::new(Budget::new(it)));
        let of_judges = Budget::of_judges(settings.judges.budget, budget.clone());
        Self {
            judges: JudgesInUse {
                budget: of_judges.map(Arc::new),
                cache: settings.judges.cache.clone(),
            },
            servers: settings.servers.clone(),
            protocol: settings.protocol,
            program: settings.program.clone(),
            interrupt,
            containers,
            ours,
            prepared: Prepared::default(),
            budget,
            judged: settings.judged.clone(),
            retries: settings.retries.clone(),
            takes_apart: settings.recording.takes_apart,
            failing: AtomicUsize::new(0),
            stamps: Mutex::default(),
            secrets: Mutex::default(),
        }
    }

    /// How long work on a finished run may take.
    pub(crate) fn patience(&self, scenario: &Scenario, run: &Trajectory) -> Patience {
        Patience::after(run, scenario, &self.interrupt)
    }

    /// Counts a scenario that is about to fail, and returns how many those are.
    pub(super) fn failing(&self) -> usize {
        self.failing.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether everything is to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_cancelled()
    }

    /// Remembers the secrets that a scenario is given.
    pub(crate) fn remember(&self, scenario: &Scenario, secrets: &Secrets) {
        let mut by_id = self.secrets.lock();
        let own = by_id.entry(scenario.id.clone()).or_default();
        own.extend(secrets);
        own.of_scenario(&scenario.redaction);
    }

    /// The secrets that a scenario was given so far.
    pub(crate) fn remembered(&self, scenario: &Scenario) -> Secrets {
        let by_id = self.secrets.lock();
        by_id.get(&scenario.id).cloned().unwrap_or_default()
    }

    /// The result of a scenario as it may be shown at once: without the secrets that this scenario was given, as in what is stored of it.
    pub(crate) fn redacted_result(&self, result: ScenarioResult) -> Redacted<ScenarioResult> {
        let own = self.secrets.lock().get(&result.id).cloned();
        Redactor::new(&own.unwrap_or_default(), &Redaction::default()).result(result)
    }

    /// A redactor that hides the secrets of all scenarios.
    pub(crate) fn redactor(&self) -> Redactor {
        let mut all = Secrets::default();
        for of_scenario in self.secrets.lock().values() {
            all.extend(of_scenario);
        }
        Redactor::new(&all, &Redaction::default())
    }

    /// Why no model may be asked any more; `None` while money is left.
    pub(crate) fn exhausted(&self) -> Option<String> {
        self.budget.as_ref()?.exhausted()
    }

    pub(crate) fn stamp(&self, scenario: &Scenario) -> Stamp {
        let folder = scenario
            .path
            .parent()
            .filter(|it| *it != Path::new(""))
            .unwrap_or(Path::new("."));
        let servers = recorded::servers(scenario);
        let source = source::folder(scenario);
        let now = Zoned::now();
        Stamp {
            recorded_at: now.timestamp(),
            utc_offset: Some(now.offset().seconds()),
            mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
            agent: match &scenario.measurement {
                Some(measurement) => measurement.kind().to_owned(),
                None => scenario.agent.kind().to_owned(),
            },
            agent_hash: scenario_file::agent_hash(&scenario.agent, &scenario.redaction),
            agent_parts: scenario_file::agent_parts(&scenario.agent, &scenario.redaction),
            servers,
            model: scenario.agent.model_name().map(str::to_owned),
            scenarios: self.git(folder),
            // With recorded servers, the system under test does not run.
            source: source
                .filter(|_| servers == Servers::Live)
                .map(|it| self.git(&it)),
            image: None,
        }
    }

    /// The state of the repository around a folder; asked once per command, so that all runs of it carry the same.
    pub(crate) fn git(&self, folder: &Path) -> Git {
        let mut stamps = self.stamps.lock();
        let ours: Vec<&Path> = self.ours.iter().map(PathBuf::as_path).collect();
        stamps
            .entry(folder.to_owned())
            .or_insert_with(|| git::stamp(folder, &ours))
            .clone()
    }
}
