//! Several detectors: joined as if they were one, and held against each other.

use super::detection::{Counts, Demands, Detection};
use super::detector::{Said, not_measured, rates};
use super::statistics::mcnemar;
use super::truth::Truth;
use super::verdicts::{ScanStatus, Verdict};
use crate::published::measured::security::{Comparison, DetectorReport};

/// What a detector is called, and what it said in each run.
pub(super) type Named<'a> = (String, Vec<Said<'a>>);

/// Whether an entry counts as flagged that so many of so many detectors flag.
type Decides = fn(usize, usize) -> bool;

/// All detectors as one, which flags what any of them flags, and as one that flags what all do.
pub(super) fn joined(
    detectors: &[Named<'_>],
    truth: &Truth,
    demands: &Demands,
) -> Vec<DetectorReport> {
    if detectors.len() < 2 {
        return Vec::new();
    }
    let firsts: Vec<&Said<'_>> = detectors
        .iter()
        .filter_map(|(_, runs)| runs.first())
        .collect();
    let ways: [(&str, Decides); 2] = [
        ("any of them", |flagged, _| flagged > 0),
        ("all of them", |flagged, all| flagged == all),
    ];
    let joined = ways.map(|(name, decides)| {
        let entries = truth
            .entries
            .iter()
            .enumerate()
            .filter_map(|(at, labelled)| {
                let verdicts: Vec<&Verdict> = firsts.iter().map(|it| it[at]).collect();
                let is_whole = verdicts.iter().all(|it| it.status == ScanStatus::Ok);
                let flagged = verdicts.iter().filter(|it| it.flagged).count();
                is_whole.then(|| (labelled.malicious, decides(flagged, verdicts.len())))
            });
        let counts = [Counts::of(entries)];
        let found = Detection::over(&counts);
        let not_measured = not_measured(&counts, demands);
        DetectorReport {
            gate: found.passes(demands.fpr_ceiling, demands.recall_floor)
                && not_measured.is_empty(),
            not_measured,
            ..rates(name, &found, &counts)
        }
    });
    joined.into()
}

/// Each two of them over the same entries.
pub(super) fn compared(detectors: &[Named<'_>], truth: &Truth) -> Vec<Comparison> {
    let mut all = Vec::new();
    for (at, (first, runs)) in detectors.iter().enumerate() {
        for (second, others) in &detectors[at + 1..] {
            let (Some(a), Some(b)) = (runs.first(), others.first()) else {
                continue;
            };
            let mut comparison = Comparison {
                first: first.clone(),
                second: second.clone(),
                ..Comparison::default()
            };
            for ((a, b), labelled) in a.iter().zip(b).zip(&truth.entries) {
                if a.status != ScanStatus::Ok || b.status != ScanStatus::Ok {
                    continue;
                }
                match (
                    a.flagged == labelled.malicious,
                    b.flagged == labelled.malicious,
                ) {
                    (true, false) => comparison.only_first += 1,
                    (false, true) => comparison.only_second += 1,
                    _ => {}
                }
            }
            comparison.p = mcnemar(comparison.only_first, comparison.only_second);
            all.push(comparison);
        }
    }
    all
}
