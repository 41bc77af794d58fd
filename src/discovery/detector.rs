//! The verdicts of detectors measured against the truth, one by one, at every threshold, and together.

use std::collections::BTreeMap;

use super::measures::{
    cases_above, cases_below, count, ends, mcnemar, mean, population_deviation, wilson, wilson_of,
};
use super::truth::{Labelled, Truth};
use super::verdicts::{ScanStatus, Verdict};
use crate::model::number::is_at_most;
use crate::published::measured::security::{
    CategoryReport, Comparison, DetectorReport, Pairs, ScanError, Scores,
};

pub use crate::scenario_file::measured::Demands;

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

/// What became of the entries of a corpus, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Malicious, and flagged.
    pub true_positives: usize,
    /// Benign, and flagged.
    pub false_positives: usize,
    /// Benign, and not flagged.
    pub true_negatives: usize,
    /// Malicious, and not flagged.
    pub false_negatives: usize,
}

impl Counts {
    /// The counts of entries, each with whether it is malicious and whether it was flagged.
    pub fn of(entries: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for entry in entries {
            let counted = match entry {
                (true, true) => &mut counts.true_positives,
                (true, false) => &mut counts.false_negatives,
                (false, true) => &mut counts.false_positives,
                (false, false) => &mut counts.true_negatives,
            };
            *counted += 1;
        }
        counts
    }

    pub fn malicious(&self) -> usize {
        self.true_positives + self.false_negatives
    }

    pub fn benign(&self) -> usize {
        self.false_positives + self.true_negatives
    }

    /// The rates, each 0 where nothing could count for it.
    pub fn rates(&self) -> Rates {
        let precision = ratio(
            self.true_positives,
            self.true_positives + self.false_positives,
        );
        let recall = ratio(self.true_positives, self.malicious());
        let both = precision + recall;
        Rates {
            precision,
            recall,
            f1: if both > 0.0 {
                2.0 * precision * recall / both
            } else {
                0.0
            },
            fpr: ratio(self.false_positives, self.benign()),
        }
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        count(part) / count(whole)
    }
}

/// Rates, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Of what was flagged, how much is malicious.
    pub precision: f64,
    /// Of what is malicious, how much was flagged.
    pub recall: f64,
    pub f1: f64,
    /// Of what is benign, how much was flagged.
    pub fpr: f64,
}

/// A detector over all its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Detection {
    /// The means over the runs.
    pub rates: Rates,
    /// How far the false positive rate spreads over the runs.
    pub fpr_deviation: f64,
    /// The means over the runs, without their fractions.
    pub counts: Counts,
    pub runs: usize,
}

impl Detection {
    pub fn over(runs: &[Counts]) -> Self {
        let rates: Vec<Rates> = runs.iter().map(Counts::rates).collect();
        let of = |rate: fn(&Rates) -> f64| rates.iter().map(rate).collect::<Vec<f64>>();
        let whole = |counted: fn(&Counts) -> usize| {
            let sum: usize = runs.iter().map(counted).sum();
            sum / runs.len().max(1)
        };
        let fprs = of(|it| it.fpr);
        Self {
            rates: Rates {
                precision: mean(&of(|it| it.precision)),
                recall: mean(&of(|it| it.recall)),
                f1: mean(&of(|it| it.f1)),
                fpr: mean(&fprs),
            },
            fpr_deviation: population_deviation(&fprs),
            counts: Counts {
                true_positives: whole(|it| it.true_positives),
                false_positives: whole(|it| it.false_positives),
                true_negatives: whole(|it| it.true_negatives),
                false_negatives: whole(|it| it.false_negatives),
            },
            runs: runs.len(),
        }
    }

    /// Whether it raises few enough false alarms, and misses little enough.
    pub fn passes(&self, fpr_ceiling: f64, recall_floor: f64) -> bool {
        // Means of several runs have specks of arithmetic.
        is_at_most(self.rates.fpr, fpr_ceiling) && is_at_most(recall_floor, self.rates.recall)
    }
}

/// The curves of a detector whose every verdict has a score.
pub(super) fn scores(
    said: &[&Verdict],
    truth: &Truth,
    found: &Detection,
    demands: &Demands,
) -> Option<Scores> {
    let judged = said.iter().zip(&truth.entries);
    let judged = judged.filter(|(it, _)| it.status == ScanStatus::Ok);
    let scored: Option<Vec<(f64, bool)>> = judged
        .map(|(it, labelled)| it.score.map(|score| (score, labelled.malicious)))
        .collect();
    let mut scored = scored.filter(|it| !it.is_empty())?;
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let malicious = scored.iter().filter(|it| it.1).count();
    let benign = scored.len() - malicious;
    let mut curve = Scores {
        roc: vec![[0.0, 0.0]],
        ..Scores::default()
    };
    let share = |part: usize, whole: usize| {
        if whole == 0 {
            0.0
        } else {
            count(part) / count(whole)
        }
    };
    let (mut hits, mut alarms, mut at) = (0, 0, 0);
    let mut area = 0.0;
    while at < scored.len() {
        let threshold = scored[at].0;
        let before = (hits, alarms);
        // Equal scores are beyond a threshold together.
        while at < scored.len() && scored[at].0.total_cmp(&threshold).is_eq() {
            if scored[at].1 {
                hits += 1;
            } else {
                alarms += 1;
            }
            at += 1;
        }
        area += count(alarms - before.1) * count(hits + before.0) / 2.0;
        let (fpr, recall) = (share(alarms, benign), share(hits, malicious));
        curve.roc.push([fpr, recall]);
        curve.pr.push([recall, share(hits, hits + alarms)]);
        if fpr <= 0.01 {
            curve.recall_at_fpr_1 = recall;
        }
        if fpr <= 0.05 {
            curve.recall_at_fpr_5 = recall;
        }
    }
    if malicious > 0 && benign > 0 {
        curve.auc = Some(area / (count(malicious) * count(benign)));
    }
    if let Some(prevalence) = demands.prevalence {
        let (hit, alarm) = (
            found.rates.recall * prevalence,
            found.rates.fpr * (1.0 - prevalence),
        );
        if hit + alarm > 0.0 {
            let name = prevalence.to_string();
            curve
                .precision_at_prevalence
                .insert(name, hit / (hit + alarm));
        }
    }
    Some(curve)
}
