//! The document of a run as a whole, and the ids of its results.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::connection::{Fault, Record, document, rewritten, written};
use crate::model::{Called, Git, Redacted, SuiteResult};
use crate::published::result::ResultDocument;

/// Who runs it, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub host: Option<String>,
    pub who: Option<String>,
}

impl Identity {
    /// Of this process.
    pub(super) fn own() -> Self {
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        Self {
            host: Some(host).filter(|it| !it.is_empty()),
            who: variable("USER").or_else(|| variable("LOGNAME")),
        }
    }
}

/// A run as a whole, which is its document in the database: what is known when it begins, and more when it has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The name of its folder.
    pub run: String,
    pub command: String,
    /// The version of mcp-eval.
    pub mcp_eval: String,
    /// When it began (RFC 3339).
    pub started_at: String,
    pub state: RunState,
    /// Wall time in milliseconds; `None` while it goes on.
    pub duration_ms: Option<f64>,
    /// `None` while it goes on, and where nobody has asked for one.
    pub exit_code: Option<u8>,
    /// How many scenarios were to run.
    pub total: usize,
    /// The repository that it was started in; `None` while it goes on.
    pub git: Option<Git>,
    pub called: Option<Called>,
    /// The ids of scenarios that did not pass, and decide nothing.
    pub quarantined: Vec<String>,
    /// It is the one that a search for a bad commit has ended with.
    pub is_end_of_search: bool,
    /// Who ran it, which the database adds.
    pub identity: Identity,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Running,
    Completed,
    /// Somebody has stopped it.
    Interrupted,
}

impl RunState {
    fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
        }
    }
}

impl RunHead {
    /// Of a run that has begun.
    pub fn begun(document: &ResultDocument) -> Self {
        Self {
            state: RunState::Running,
            duration_ms: None,
            exit_code: None,
            git: None,
            ..Self::ended(document)
        }
    }

    /// Of a run that has ended, as its document tells.
    pub fn ended(document: &ResultDocument) -> Self {
        let tolerated = document.scenarios.iter().filter(|it| it.is_tolerated());
        Self {
            run: document.run_id.clone(),
            command: document.command.clone(),
            mcp_eval: document.mcp_eval.clone(),
            started_at: document.started_at.clone(),
            state: if document.interrupted {
                RunState::Interrupted
            } else {
                RunState::Completed
            },
            duration_ms: document.duration_ms,
            exit_code: document.gate.as_ref().map(|it| it.exit_code),
            total: document.summary.selected,
            git: Some(document.git.clone()),
            called: document.called.clone(),
            quarantined: tolerated.map(|it| it.id.clone()).collect(),
            is_end_of_search: document.bisected.is_some(),
            identity: Identity::default(),
        }
    }

    /// Of a run whose scenarios have all come out, before anything is made of that.
    pub fn played(suite: &SuiteResult) -> Self {
        Self {
            run: suite.run_id.clone(),
            command: suite.command.clone(),
            mcp_eval: suite.mcp_eval.clone(),
            started_at: suite.started_at.to_string(),
            state: if suite.interrupted {
                RunState::Interrupted
            } else {
                RunState::Completed
            },
            duration_ms: Some(suite.duration_ms),
            exit_code: None,
            total: suite.selected,
            git: Some(suite.git.clone()),
            called: None,
            quarantined: Vec::new(),
            is_end_of_search: false,
            identity: Identity::default(),
        }
    }

    /// When it began, as the database has it.
    pub(super) fn began(&self) -> String {
        rewritten(&self.started_at)
    }

    /// The command with the paths that it was given: `compare scenarios/search`.
    fn name(&self) -> String {
        let paths = self.called.iter().flat_map(|it| &it.paths);
        let words: Vec<&str> = std::iter::once(self.command.as_str())
            .chain(paths.map(String::as_str))
            .collect();
        words.join(" ")
    }

    /// When it ended, which is as long after its beginning as it took.
    fn completed_at(&self) -> Option<String> {
        if self.state == RunState::Running {
            return None;
        }
        let started: Timestamp = self.started_at.parse().ok()?;
        let took = self.duration_ms.filter(|it| it.is_finite() && *it >= 0.0)?;
        let ended =
            started.checked_add(std::time::Duration::try_from_secs_f64(took / 1000.0).ok()?);
        ended.ok().map(written)
    }
}

/// The row of a run.
pub(super) fn record(head: &Redacted<RunHead>, id: &str) -> Result<Record, Fault> {
    Ok(Record::default()
        .with("id", id)
        .with("run", head.run.as_str())
        .with("name", head.name())
        .with("command", head.command.as_str())
        .with("status", head.state.name())
        .with("started_at", head.began())
        .with("completed_at", head.completed_at())
        .with("total", head.total)
        .with("document", document(head)?))
}

/// The stable id of a result: 20 hexadecimal digits made of the id of its run and that of its scenario. Rows of data sets and cells of a matrix
/// have ids of scenarios of their own.
pub fn result_id(run: &str, scenario: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(run.as_bytes());
    hash.update([0]);
    hash.update(scenario.as_bytes());
    let mut id = hex::encode(hash.finalize());
    id.truncate(20);
    id
}

/// What stands between the id of a scenario and the number of the run of it, where one command runs it several times.
const AGAIN: &str = "~again-";

/// How often a scenario is looked for in one run of the program: as often as a request may hold it.
const MOST: usize = 20_000;

/// The id under which a scenario is run within a command that runs it for this time, counted from 1. Files of the run have it.
pub fn run_again(scenario: &str, number: usize) -> String {
    match number {
        0 | 1 => scenario.to_owned(),
        number => format!("{scenario}{AGAIN}{number}"),
    }
}

/// The id of the scenario of which this is a run, in whatever number: the one that its results have in common.
pub fn scenario_of(id: &str) -> &str {
    match id.rsplit_once(AGAIN) {
        Some((scenario, number)) if number.parse::<usize>().is_ok_and(|it| it > 1) => scenario,
        _ => id,
    }
}

/// The id that a result has in the files of its run, by that of its scenario.
pub fn id_in_files(run: &str, scenario: &str, result: &str) -> String {
    let mut ids = (1..=MOST).map(|it| run_again(scenario, it));
    let found = ids.find(|it| result_id(run, it) == result);
    found.unwrap_or_else(|| scenario.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{id_in_files, result_id, run_again, scenario_of};

    #[test]
    fn ids_of_results_stay_what_they_are() {
        assert_eq!(
            result_id("2026-11-22T10-00-00.000Z", "a/b"),
            result_id("2026-11-22T10-00-00.000Z", "a/b")
        );
        assert_ne!(result_id("r", "ab"), result_id("ra", "b"));
        assert_eq!(
            result_id("2026-11-22T10-00-00.000Z", "search"),
            "519846f20b93ca3c0aae"
        );
    }

    #[test]
    fn what_runs_again_is_a_result_of_the_same_scenario() {
        for id in ["weather", "a/b~2", "weather~again-1", "weather~again-x"] {
            assert_eq!(scenario_of(id), id);
            assert_eq!(run_again(id, 1), id);
            let third = run_again(id, 3);
            assert_eq!(scenario_of(&third), id);
            assert_eq!(id_in_files("r", id, &result_id("r", &third)), third);
        }
        assert_eq!(id_in_files("r", "weather", "another"), "weather");
    }
}
