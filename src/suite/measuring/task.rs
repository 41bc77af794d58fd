//! A measurement under way.

use std::sync::Arc;

use parking_lot::Mutex;

use super::data_sets::SearchSets;
use super::scanning::{Scanned, Scanning};
use super::searching::{Asked, Searching};
use crate::discovery::search::Place;
use crate::model::measurement::Measurement;
use crate::model::scenario::Scenario;
use crate::run;
use crate::scenario_file::Finding;

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
