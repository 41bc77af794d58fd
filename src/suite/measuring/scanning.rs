//! The agent of a run that measures scanners: it reads what they said, once all that is run before has been.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use super::data_sets::{ScannerSets, shown};
use crate::discovery::security::{measure, oddities};
use crate::model::measurement::Security;
use crate::published::measured::security;
use crate::run::{self, Conversation, Stop};

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
