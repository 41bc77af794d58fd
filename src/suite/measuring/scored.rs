//! The answers of a search, scored and held against something.

use super::task::Measuring;
use crate::discovery::baseline::Baseline;
use crate::discovery::gates::Demands;
use crate::discovery::ground::Ground;
use crate::discovery::retrieval::measure;
use crate::discovery::search::doubts;
use crate::published::measured::Status;
use crate::published::measured::retrieval::Report;

/// What a search is held against.
#[derive(Default)]
pub(super) struct Held {
    /// What it is called.
    pub(super) name: String,
    pub(super) baseline: Option<Baseline>,
    pub(super) gates: Gates,
    /// Another search that was measured before, and what it got: reported besides.
    pub(super) beside: Option<(String, Baseline)>,
}

/// Which gates hold a search against something else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Gates {
    /// What differs is reported, and no more.
    #[default]
    None,
    /// Queries may not be lost, where that is demanded.
    Lost,
    All,
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
    if let Some(problem) = ground.refuse_silence(&asked.runs) {
        return Err(vec![problem]);
    }
    let mut found = measure(ground, &asked.runs, &asked.learned);
    let report = found.report();
    if let Some(further) = &report.further {
        report.notes.extend(ground.doubts(&asked.runs, further));
    }
    report.notes.extend(doubts(&sets.search, &asked.runs));
    report.notes.extend(asked.notes.iter().cloned());
    report.catalogue = asked.catalogue.clone();
    let figures = found.figures();
    if let Some(held) = held {
        match &held.baseline {
            Some(baseline) if held.gates == Gates::All => {
                found.judge(&held.name, baseline, demands);
            }
            Some(baseline) => {
                found.tell_difference(baseline);
                if !baseline.queries.is_empty() {
                    found.compare(&held.name, baseline);
                }
                if held.gates == Gates::Lost {
                    found.judge_lost(demands);
                }
            }
            // The search that was named first could not be measured.
            None if held.gates == Gates::Lost && demands.max_lost.is_some() => {
                let report = found.report();
                report.status = Status::Incomplete;
                let problem = format!(
                    "lost queries cannot be determined: {} could not be measured",
                    held.name
                );
                report.problems.push(problem);
            }
            None => {}
        }
        if let Some((name, baseline)) = &held.beside {
            found.compare_beside(name, baseline);
        }
        found.hold_floor(demands);
        let gating = held.baseline.as_ref();
        found.refuse_idle(gating.filter(|_| held.gates == Gates::All), demands);
    }
    Ok((found.into_report(), figures))
}
