//! What a search has answered, scored and held against something.

use super::task::Measuring;
use crate::discovery::baseline::Baseline;
use crate::discovery::retrieval::{Demands, Ground, measure};
use crate::published::measured::retrieval::Report;

/// What a search is held against.
#[derive(Default)]
pub(super) struct Held {
    /// What it is called.
    pub(super) name: String,
    pub(super) baseline: Option<Baseline>,
    /// Whether it decides: else it is told what differs, and no more.
    pub(super) gates: bool,
}

/// Scores what a search has answered, and holds it against something; also its figures, for others to be held against.
///
/// # Errors
///
/// Why nothing can be scored, in sentences.
pub(super) fn scored(
    measuring: &Measuring,
    held: Option<&Held>,
    demands: &Demands,
) -> Result<(Report, Baseline), Vec<String>> {
    let asked = measuring.asked.lock();
    let Some(sets) = &measuring.sets else {
        return Err(vec!["there are no data sets".to_owned()]);
    };
    if !asked.problems.is_empty() {
        return Err(asked.problems.clone());
    }
    if !asked.is_done {
        return Err(vec!["not every query was asked".to_owned()]);
    }
    let ground = Ground {
        corpus: &sets.corpus,
        golden: &sets.golden,
        finds: sets.search.finds,
    };
    if let Some(problem) = ground.refuse_unmapped(&asked.runs) {
        return Err(vec![problem]);
    }
    let mut found = measure(ground, &asked.runs, &asked.learned);
    found.report().notes.extend(asked.notes.iter().cloned());
    found.report().catalogue = asked.catalogue.clone();
    let figures = found.figures();
    if let Some(held) = held {
        match &held.baseline {
            Some(baseline) if held.gates => found.judge(&held.name, baseline, demands),
            Some(baseline) => {
                found.tell_difference(baseline);
                if !baseline.queries.is_empty() {
                    found.compare(&held.name, &baseline.queries);
                }
            }
            None => {}
        }
        found.hold_floor(demands);
    }
    Ok((found.into_report(), figures))
}
