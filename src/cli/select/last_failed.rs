//! Scenarios that did not pass when they were last run.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::input;
use crate::model::{Called, NotRun, Status};
use crate::published::result::{self, ResultDocument, Scenario};
use crate::store::{RESULT, Runs};

/// How many runs are looked through, the latest first.
const MOST_RUNS: usize = 100;

/// What came of scenarios when they were last run.
#[derive(Debug, Default)]
pub(super) struct LastRuns {
    /// Of the scenarios that were run, by id: whether they did not pass.
    failed: HashMap<String, bool>,
    /// The latest of those runs.
    pub(super) latest: Option<String>,
}

impl LastRuns {
    /// Looks scenarios up, by id, in the runs that are kept in a folder: those of one command, or of any. Runs with `--against` say nothing
    /// of how scenarios stand against their baselines, and those with `--run` ran nothing: neither count.
    ///
    /// Of a scenario that was run in cells of a matrix, any cell that failed tells; of a cell, only that one.
    pub(super) fn find(folder: &Path, command: Option<&str>, scenarios: &[&str]) -> Self {
        let mut last = Self::default();
        let wanted: HashSet<&str> = scenarios.iter().copied().collect();
        let is_missing = |last: &Self| scenarios.iter().any(|it| !last.failed.contains_key(*it));
        for id in Runs::ids(folder).into_iter().take(MOST_RUNS) {
            if !is_missing(&last) {
                break;
            }
            let path = folder.join(&id).join(RESULT);
            if !path.is_file() {
                continue;
            }
            let Some(result) = read(&path) else {
                last.know_nothing(&id, scenarios);
                break;
            };
            let is_other = |it: &Called| it.is_against_another() || it.is_of_stored();
            let is_other = result.called.as_ref().is_some_and(is_other);
            if is_other || command.is_some_and(|it| it != result.command) {
                continue;
            }
            let mut failed: HashMap<String, bool> = HashMap::new();
            for run in result.scenarios {
                let did_not_pass = did_not_pass(&run);
                let is_wanted = wanted.contains(run.id.as_str());
                let cell = run.cell.filter(|_| !is_wanted);
                let of = cell.map_or(run.id, |it| it.scenario);
                *failed.entry(of).or_default() |= did_not_pass;
            }
            for (scenario, did_not_pass) in failed {
                if !wanted.contains(scenario.as_str()) || last.failed.contains_key(&scenario) {
                    continue;
                }
                last.failed.insert(scenario, did_not_pass);
                last.latest.get_or_insert_with(|| id.clone());
            }
        }
        last
    }

    /// Takes all scenarios for failed of which no later run is known: nobody can read what came of them in this one.
    fn know_nothing(&mut self, run: &str, scenarios: &[&str]) {
        for scenario in scenarios {
            self.failed.entry((*scenario).to_owned()).or_insert(true);
        }
        self.latest.get_or_insert_with(|| run.to_owned());
    }

    /// Of how many scenarios something is known.
    pub(super) fn known(&self) -> usize {
        self.failed.len()
    }

    /// Whether a scenario did not pass when it was last run.
    pub(super) fn has_failed(&self, scenario: &str) -> bool {
        self.failed.get(scenario).copied().unwrap_or(false)
    }
}

fn did_not_pass(scenario: &Scenario) -> bool {
    match scenario.status {
        Status::Passed | Status::Recorded => false,
        // One that is disabled, or cannot run here, is not run the next time either.
        Status::Skipped => scenario.not_run.is_some_and(NotRun::is_not_started),
        Status::Failed
        | Status::Inconclusive
        | Status::Error
        | Status::Timeout
        | Status::Interrupted => true,
    }
}

fn read(path: &Path) -> Option<ResultDocument> {
    result::parse(&input::read_to_string(path).ok()?).ok()
}
