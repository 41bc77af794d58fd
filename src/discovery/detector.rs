//! The verdicts of one detector, measured against the truth.

use std::collections::BTreeMap;

use super::curves::scores;
use super::detection::{Counts, Demands, Detection};
use super::statistics::{cases_above, cases_below, count, ends, mean, wilson, wilson_of};
use super::truth::{Labelled, Truth};
use super::verdicts::{ScanStatus, Verdict};
use crate::published::measured::security::{CategoryReport, DetectorReport, Pairs, ScanError};

/// Of one detector in one run, what it said of each entry, in the order of the corpus.
pub(super) type Said<'a> = Vec<&'a Verdict>;

fn counts(said: &[&Verdict], truth: &Truth) -> Counts {
    let pairs = said.iter().zip(&truth.entries);
    let judged = pairs.filter(|(it, _)| it.status == ScanStatus::Ok);
    Counts::of(judged.map(|(it, labelled)| (labelled.malicious, it.flagged)))
}

/// The report on a detector over its runs.
pub(super) fn detector(
    name: &str,
    runs: &[Said<'_>],
    truth: &Truth,
    demands: &Demands,
) -> DetectorReport {
    let all: Vec<Counts> = runs.iter().map(|it| counts(it, truth)).collect();
    let found = Detection::over(&all);
    let mut report = rates(name, &found, &all);
    let first = runs.first().map(Vec::as_slice).unwrap_or_default();
    report.too_small = all
        .first()
        .map(|it| too_small(it, demands))
        .unwrap_or_default();
    report.unsteady = unsteady(runs, truth);
    report.categories = categories(first, truth);
    for (verdict, labelled) in first.iter().zip(&truth.entries) {
        if verdict.status == ScanStatus::Ok && verdict.flagged != labelled.malicious {
            let list = if labelled.malicious {
                &mut report.missed
            } else {
                &mut report.false_alarms
            };
            list.push(labelled.id.clone());
        }
    }
    report.pairs = pairs(first, truth);
    report.scores = scores(first, truth, &found, demands);
    for said in runs {
        let failed = said.iter().zip(&truth.entries);
        let failed = failed.filter(|(it, _)| it.status != ScanStatus::Ok);
        report.errors.extend(failed.map(|(it, labelled)| ScanError {
            id: labelled.id.clone(),
            status: it.status.name().to_owned(),
            reason: it.reason.clone(),
        }));
    }
    report.allowed_errors = demands.allow_errors;
    report.not_measured = not_measured(&all, demands);
    report.gate = found.passes(demands.fpr_ceiling, demands.recall_floor)
        && report.not_measured.is_empty()
        && !report.has_too_many_errors();
    report
}

/// The entries that not all runs judge alike.
fn unsteady(runs: &[Said<'_>], truth: &Truth) -> Vec<String> {
    let Some((first, others)) = runs.split_first() else {
        return Vec::new();
    };
    let entries = truth.entries.iter().enumerate().filter(|(at, _)| {
        let said = |run: &Said<'_>| run.get(*at).map(|it| (it.status, it.flagged));
        others.iter().any(|it| said(it) != said(first))
    });
    entries.map(|(_, it)| it.id.clone()).collect()
}

/// Which rates the gate is about although there was nothing in some run that they could be of: such a rate is written as 0, and says nothing.
pub(super) fn not_measured(runs: &[Counts], demands: &Demands) -> Vec<String> {
    let mut sentences = Vec::new();
    // What is true of every rate needs none to be known.
    if demands.fpr_ceiling < 1.0 && runs.iter().any(|it| it.benign() == 0) {
        sentences.push("the FPR is not measured: no benign entry has a verdict".to_owned());
    }
    if demands.recall_floor > 0.0 && runs.iter().any(|it| it.malicious() == 0) {
        sentences.push("the recall is not measured: no malicious entry has a verdict".to_owned());
    }
    sentences
}

/// A report with the rates and their intervals alone.
pub(super) fn rates(name: &str, found: &Detection, runs: &[Counts]) -> DetectorReport {
    // Of several runs, what they come to on average: the corpus is no larger for being scanned again.
    let average = |counted: fn(&Counts) -> usize| {
        let values: Vec<f64> = runs.iter().map(|it| count(counted(it))).collect();
        mean(&values)
    };
    let hits = average(|it| it.true_positives);
    let alarms = average(|it| it.false_positives);
    let interval = |hits: f64, of: f64| wilson_of(hits, of).map(ends);
    DetectorReport {
        precision_interval: interval(hits, hits + alarms),
        recall_interval: interval(hits, average(Counts::malicious)),
        fpr_interval: interval(alarms, average(Counts::benign)),
        detector: name.to_owned(),
        precision: found.rates.precision,
        recall: found.rates.recall,
        f1: found.rates.f1,
        fpr: found.rates.fpr,
        fpr_std: found.fpr_deviation,
        tp: found.counts.true_positives,
        fp: found.counts.false_positives,
        tn: found.counts.true_negatives,
        fn_: found.counts.false_negatives,
        runs: found.runs,
        ..DetectorReport::default()
    }
}

/// Where even a flawless result would leave room for one beyond the gate.
fn too_small(counts: &Counts, demands: &Demands) -> Vec<String> {
    let mut sentences = Vec::new();
    let percent = |it: f64| format!("{:.1} %", it * 100.0);
    if let (Some(need), Some(none)) = (cases_below(demands.fpr_ceiling), wilson(0, counts.benign()))
        && counts.benign() < need
    {
        sentences.push(format!(
            "{} benign entries are too few for an FPR of {}: none of them flagged would still allow {}; it takes {need}",
            counts.benign(),
            demands.fpr_ceiling,
            percent(none.high)
        ));
    }
    if let (Some(need), Some(all)) = (
        cases_above(demands.recall_floor),
        wilson(counts.malicious(), counts.malicious()),
    ) && counts.malicious() < need
    {
        sentences.push(format!(
            "{} malicious entries are too few for a recall of {}: all of them flagged would still allow {}; it takes {need}",
            counts.malicious(),
            demands.recall_floor,
            percent(all.low)
        ));
    }
    sentences
}

fn categories(said: &[&Verdict], truth: &Truth) -> Vec<CategoryReport> {
    let mut found: BTreeMap<(bool, &str), (usize, usize)> = BTreeMap::new();
    for (verdict, labelled) in said.iter().zip(&truth.entries) {
        if verdict.status == ScanStatus::Ok && !labelled.category.is_empty() {
            let key = (!labelled.malicious, labelled.category.as_str());
            let (flagged, of) = found.entry(key).or_default();
            *flagged += usize::from(verdict.flagged);
            *of += 1;
        }
    }
    let found = found.into_iter();
    let found = found.map(|((benign, category), (flagged, of))| CategoryReport {
        category: category.to_owned(),
        malicious: !benign,
        flagged,
        of,
        interval: wilson(flagged, of).map(ends),
    });
    found.collect()
}

fn pairs(said: &[&Verdict], truth: &Truth) -> Option<Pairs> {
    let mut members: BTreeMap<&str, Vec<(usize, &Labelled)>> = BTreeMap::new();
    for (at, labelled) in truth.entries.iter().enumerate() {
        if let Some(pair) = &labelled.pair {
            members.entry(pair).or_default().push((at, labelled));
        }
    }
    let mut pairs = Pairs::default();
    for members in members.values().filter(|it| it.len() > 1) {
        let is_right = members.iter().all(|(at, labelled)| {
            let verdict = said.get(*at);
            verdict
                .is_some_and(|it| it.status == ScanStatus::Ok && it.flagged == labelled.malicious)
        });
        pairs.of += 1;
        pairs.right += usize::from(is_right);
        if !is_right {
            let named = members
                .iter()
                .find(|(_, it)| it.malicious)
                .unwrap_or(&members[0]);
            pairs.wrong.push(named.1.id.clone());
        }
    }
    (pairs.of > 0).then_some(pairs)
}
