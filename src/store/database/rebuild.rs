//! The database made from the files of the runs: what it lacks is added, and nothing goes.
//!
//! Facts that the database knows of a run and its document does not are kept beside the document, so that a database that is made anew knows
//! them, too.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::{Connection, Fault, transaction};
use super::finished::Ready;
use super::head::Identity;
use super::write;
use super::{Declared, FinishedScenario, RunHead, RunState, result_id};
use crate::input;
use crate::model::{Redacted, Status};
use crate::published::result::{ResultDocument, Scenario};
use crate::store::read::{load_ended, load_result};
use crate::store::runs::is_held;
use crate::store::{self, CURRENT, Runs, load};

/// What was added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// How many runs have files that could be read.
    pub read: u64,
    /// How many folders have none.
    pub unread: u64,
    /// How many runs and results were not there before.
    pub runs: u64,
    pub results: u64,
}

/// Adds what the files of the runs hold and the database does not.
pub(super) fn rebuild(connection: &mut dyn Connection, runs: &Path) -> Result<Rebuilt, Fault> {
    let mut rebuilt = Rebuilt::default();
    for id in Runs::ids(runs).into_iter().rev() {
        let folder = runs.join(&id);
        let document = match load_result(&folder) {
            Ok(document) if document.run_id == id => document,
            _ => {
                rebuilt.unread += 1;
                continue;
            }
        };
        rebuilt.read += 1;
        if is_executed(&document, &folder) {
            add(connection, &document, &folder, &mut rebuilt)?;
        }
    }
    Ok(rebuilt)
}

/// Whether the run has run anything: one that puts others together, or scores stored ones again, has not.
fn is_executed(document: &ResultDocument, folder: &Path) -> bool {
    let has_run = document.scenarios.iter().any(|it| it.current.is_some());
    let is_of_others = has_run && !folder.join(CURRENT).is_dir();
    document.merged.is_none() && !is_of_others && document.problem.is_none()
}

/// Whether it has come to its end, and not only begun.
fn has_ended(document: &ResultDocument) -> bool {
    document.gate.is_some() || !document.interrupted
}

/// Adds what the files of a run hold: all of it, so that nobody who asks meanwhile finds that it was killed, and not of which scenario.
pub(super) fn add(
    connection: &mut dyn Connection,
    document: &Redacted<ResultDocument>,
    folder: &Path,
    rebuilt: &mut Rebuilt,
) -> Result<(), Fault> {
    let has_ended = has_ended(document);
    let mut head = document.derive(if has_ended {
        RunHead::ended
    } else {
        RunHead::begun
    });
    let is_over = has_ended || !is_held(folder);
    let was_killed = !has_ended && is_over;
    let beside = Beside::read(folder);
    head.refine(|it| {
        it.identity.clone_from(&beside.identity);
        if was_killed {
            it.state = RunState::Interrupted;
        }
    });
    let (runs, results) = transaction(connection, |connection| {
        let id = write::id_of(connection, &head.run, &head.began())?;
        let known = connection.query(
            "SELECT status FROM runs WHERE id = $1",
            &[id.as_str().into()],
        )?;
        match known.first() {
            // One that is complete is known better than its files tell.
            Some(it) if it.string("status") != "running" || !is_over => {}
            Some(_) if was_killed => {
                connection.execute(
                    "UPDATE runs SET status = 'interrupted' WHERE id = $1",
                    &[id.as_str().into()],
                )?;
            }
            _ => write::run(connection, &head)?,
        }
        let mut results = 0;
        for index in 0..document.scenarios.len() {
            let mut scenario = document.derive(|it| it.scenarios[index].clone());
            if !has_ended && let Some(ended) = load_ended(folder, &scenario.id) {
                scenario = ended;
            }
            let found = connection.query(
                "SELECT status FROM results WHERE id = $1",
                &[result_id(&id, &scenario.id).into()],
            )?;
            let found = found.first().map(|it| it.string("status"));
            let interrupted = Status::Interrupted.name();
            let is_known = found.as_ref().is_some_and(|it| {
                it != interrupted || (!has_ended && scenario.status.name() == interrupted)
            });
            // Of one that goes on, it is not known yet what comes of the others.
            if is_known || (!is_over && scenario.status.name() == interrupted) {
                continue;
            }
            results += u64::from(found.is_none());
            let ready = ready(document, scenario, folder, &beside);
            write::result(connection, &id, &ready)?;
        }
        if has_ended && (!head.quarantined.is_empty() || head.is_end_of_search) {
            // What a run says of its results finds them only now.
            write::marks(connection, &head, &id)?;
        }
        Ok((u64::from(known.is_empty()), results))
    })?;
    rebuilt.runs += runs;
    rebuilt.results += results;
    Ok(())
}

fn ready(
    document: &Redacted<ResultDocument>,
    scenario: Redacted<Scenario>,
    folder: &Path,
    beside: &Beside,
) -> Ready {
    let beside = beside
        .results
        .get(&result_id(&document.run_id, &scenario.id));
    let declared = beside.and_then(|it| it.declared.as_ref());
    let current = load(&Runs::at(folder).path(&scenario.id)).ok();
    let finished = FinishedScenario {
        run: document.run_id.clone(),
        command: document.command.clone(),
        at: finished_at(document, &scenario),
        current: current.filter(|_| scenario.current.is_some()).map(Arc::new),
        is_recorded: is_recorded(document),
        scenario,
        // It was free of secrets when it was written, as the document was.
        declared: declared.map(|it| Arc::new(document.derive(|_| it.clone()))),
        folder: folder.to_owned(),
    };
    let mut ready = Ready::of(&finished);
    if let Some(verdict) = beside.and_then(|it| it.verdict.as_ref()) {
        ready
            .detail
            .refine(|it| it.result.verdict.clone_from(verdict));
    }
    ready
}

/// Whether what was recorded of servers was to answer in a run, however far it came.
fn is_recorded(document: &ResultDocument) -> bool {
    let options = document.called.iter().flat_map(|it| &it.options);
    let mut servers = options.filter(|it| it.name == "--servers");
    servers.any(|it| it.value.as_deref() == Some("recorded"))
}

/// When a result was there, as far as its files tell.
fn finished_at(document: &ResultDocument, scenario: &Scenario) -> Timestamp {
    let began = scenario
        .current
        .as_ref()
        .map(|it| it.stamp.recorded_at.as_str());
    let began = began.unwrap_or(&document.started_at);
    let began: Timestamp = began.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let took = scenario.duration_ms.unwrap_or(0.0) / 1000.0;
    let took = Duration::try_from_secs_f64(took).unwrap_or_default();
    began.checked_add(took).unwrap_or(began)
}

/// The file in the folder of the run.
const FILE: &str = "database.json";

/// What is known of a run besides. All of it is free of secrets.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Beside {
    #[serde(default)]
    pub(super) identity: Identity,
    /// By the ids of the results, made with the name of the folder.
    #[serde(default)]
    pub(super) results: BTreeMap<String, BesideResult>,
}

/// What is known of a result besides.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct BesideResult {
    /// What its scenario was declared as.
    pub(super) declared: Option<Declared>,
    /// The verdict of the reply, where it was asked for as a test case.
    pub(super) verdict: Option<Value>,
}

impl Beside {
    /// What lies in a folder; nothing, where that cannot be read.
    pub(super) fn read(folder: &Path) -> Self {
        let text = input::read_to_string(&folder.join(FILE));
        let read = text.ok().and_then(|it| serde_json::from_str(&it).ok());
        read.unwrap_or_default()
    }

    /// Keeps it in a folder that is there. What goes wrong is no loss while the database is there.
    pub(super) fn keep(&self, folder: &Path) {
        if let (true, Ok(text)) = (folder.is_dir(), serde_json::to_string(self)) {
            let _ = store::write(&folder.join(FILE), text.as_bytes());
        }
    }
}
