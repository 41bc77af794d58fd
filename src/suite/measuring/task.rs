//! A measurement under way, what commands do with it, and the agent that reads what scanners said.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use super::data_sets::{ScannerSets, SearchSets, shown};
use super::searching::{Asked, Searching};
use crate::discovery::baseline::Baseline;
use crate::discovery::search::Place;
use crate::discovery::security::{measure, oddities};
use crate::published::measured::security;
use crate::run::{self, Conversation, Stop};
use crate::scenario_file::measured::{Measurement, Security};
use crate::scenario_file::{Finding, Scenario};

/// A measurement under way: what is to be asked, and what came of it so far.
pub(crate) struct Measuring {
    task: Measurement,
    pub(super) sets: Option<Arc<SearchSets>>,
    pub(super) asked: Arc<Mutex<Asked>>,
    pub(super) scanned: Arc<Mutex<Scanned>>,
}

impl Measuring {
    /// Reads what a scenario is measured with.
    ///
    /// # Errors
    ///
    /// Everything that keeps it from being measured.
    pub(super) fn new(task: &Measurement) -> Result<Self, Vec<Finding>> {
        let sets = match task {
            Measurement::Retrieval(retrieval) => Some(Arc::new(SearchSets::read(retrieval)?)),
            // What scanners say may be made by the commands that are run before.
            Measurement::Security(_) => None,
        };
        Ok(Self {
            task: task.clone(),
            sets,
            asked: Arc::default(),
            scanned: Arc::default(),
        })
    }

    /// Who measures, at the place where a search over HTTP is.
    pub(crate) fn agent(&self, place: Place, scenario: &Scenario) -> Box<dyn run::Agent> {
        match (&self.task, &self.sets) {
            (Measurement::Retrieval(task), Some(sets)) => Box::new(Searching {
                sets: Arc::clone(sets),
                task: (**task).clone(),
                place,
                limit: scenario.timeouts.tool,
                asked: Arc::clone(&self.asked),
            }),
            (Measurement::Retrieval(_), None) => unreachable!("its data sets were read"),
            (Measurement::Security(task), _) => Box::new(Scanning {
                task: (**task).clone(),
                scanned: Arc::clone(&self.scanned),
            }),
        }
    }
}

/// What came of it: the figures and what there is to know of them, or why there are none, in sentences.
pub(super) type Scanned = Option<Result<(security::Security, Vec<String>), Vec<String>>>;

/// Reads and measures what scanners said.
pub(super) struct Scanning {
    pub(super) task: Security,
    pub(super) scanned: Arc<Mutex<Scanned>>,
}

impl run::Agent for Scanning {
    fn drive<'a>(&'a mut self, _: &'a mut Conversation<'_>) -> BoxFuture<'a, Result<(), Stop>> {
        Box::pin(async move {
            let measured = tokio::task::block_in_place(|| measured(&self.task));
            *self.scanned.lock() = Some(measured);
            Ok(())
        })
    }
}

fn measured(task: &Security) -> Result<(security::Security, Vec<String>), Vec<String>> {
    let sets = ScannerSets::read(task)
        .map_err(|findings| findings.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let truth = sets.truth.as_ref();
    let security = measure(&sets.runs, truth, &task.demands)?;
    Ok((
        security,
        [twice(task), oddities(&sets.runs, truth)].concat(),
    ))
}

/// That a file is given several times, which makes runs of it that are none.
fn twice(task: &Security) -> Vec<String> {
    let mut times: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for file in &task.verdicts {
        let same = file.canonicalize().unwrap_or_else(|_| file.clone());
        *times.entry(same).or_default() += 1;
    }
    let twice = times.into_iter().filter(|(_, times)| *times > 1);
    let warnings = twice.map(|(file, times)| {
        format!(
            "warning: {} is given {times} times, and counts as {times} runs",
            shown(&file)
        )
    });
    warnings.collect()
}

/// What a command does with scenarios that measure something.
#[derive(Debug, Clone)]
pub(crate) enum Doing {
    /// They are held against what they demand themselves, and what was accepted, where anything was.
    Run,
    /// They are held against what was accepted, too, which must be there.
    Compare,
    /// What comes of them is accepted.
    Record,
    /// They are held against the figures that they name, and each search against the first that could be measured.
    Alone(First),
    /// They are held against another version of their system under test.
    Against(Arc<Others>),
    /// They are left out, for this reason.
    Leave(&'static str),
}

/// The first of several searches.
pub(crate) type First = Arc<Mutex<FirstSearch>>;

/// What the first of several searches got.
#[derive(Debug, Default)]
pub(crate) struct FirstSearch {
    /// Of the first that could be measured: its name and its figures.
    pub(crate) got: Option<(String, Baseline)>,
    /// The name of one before that could not be.
    pub(crate) failed: Option<String>,
}

/// The other version of each scenario, with its name, by the scenario's id.
pub(crate) type Others = BTreeMap<String, (Arc<Scenario>, String)>;
