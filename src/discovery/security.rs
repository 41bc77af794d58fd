//! The measurement of scanners: what they said, held against what is so.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::detection::{Counts, Detection};
use super::statistics::{cases_above, cases_below, count, ends, mcnemar, mean, wilson, wilson_of};
use super::truth::{Labelled, Truth};
use super::verdicts::{Run, ScanStatus, Verdict};
use crate::published::measured::Status;
use crate::published::measured::security::{
    CategoryReport, Comparison, DetectorReport, Pairs, ScanError, Scores, Security, SecurityGate,
};

/// What is to be known of figures of several runs, and a precision that is asked for and of which nothing is known, in sentences.
pub fn doubts(security: &Security, prevalence: Option<f64>) -> Vec<String> {
    let mut told = Vec::new();
    let most = security.runs_averaged;
    if most > 1 {
        told.push(
            "of several runs, categories, missed entries, false alarms, pairs, curves and what compares or joins detectors are of the first"
                .to_owned(),
        );
    }
    let fewer = security.per_detector.iter().filter(|it| it.runs < most);
    told.extend(fewer.map(|it| {
        format!(
            "warning: {} has verdicts of {} of {most} runs alone",
            it.detector, it.runs
        )
    }));
    let Some(prevalence) = prevalence else {
        return told;
    };
    let lacking = security.per_detector.iter().filter_map(|it| {
        let why = match &it.scores {
            None => "not all of its verdicts have a score",
            Some(scores) if scores.precision_at_prevalence.is_empty() => "it flags nothing",
            Some(_) => return None,
        };
        let name = &it.detector;
        Some(format!(
            "{name}: its precision where {prevalence} of all tools are malicious is not known, as {why}"
        ))
    });
    told.extend(lacking);
    told
}

/// What is asked of scanners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demands {
    pub fpr_ceiling: f64,
    pub recall_floor: f64,
    /// How many scans of a detector may end in something else than a verdict.
    pub allow_errors: usize,
    /// The share of malicious tools for which a precision is told.
    pub prevalence: Option<f64>,
}

/// Why nothing can be measured, in sentences.
pub type Problems = Vec<String>;

/// Of one detector in one run, what it said of each entry, in the order of the corpus.
type Said<'a> = Vec<&'a Verdict>;

/// Measures what was said in one or more files.
///
/// # Errors
///
/// What keeps them from being measured: an entry without a verdict, an entry judged twice, labels that are not known.
pub fn measure(
    runs: &[Run],
    corpus: Option<&Truth>,
    demands: &Demands,
) -> Result<Security, Problems> {
    let mut problems = Problems::new();
    let own;
    let truth = if let Some(it) = corpus {
        it
    } else {
        own = Truth::of_verdicts(runs, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        &own
    };
    for run in runs {
        if let (Some(has), Some(wants)) = (&truth.version, &run.corpus_version)
            && has != wants
        {
            problems.push(format!(
                "verdicts are of the corpus `{wants}`, and this is `{has}`"
            ));
        }
    }
    let clean = Verdict::default();
    let mut detectors: Vec<(String, Vec<Said<'_>>)> = Vec::new();
    for run in runs {
        for (name, said) in of_run(run, truth, runs, &clean, &mut problems) {
            match detectors.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(said),
                None => detectors.push((name, vec![said])),
            }
        }
    }
    if detectors.is_empty() && problems.is_empty() {
        problems.push("there are no verdicts".to_owned());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let per_detector: Vec<DetectorReport> = detectors
        .iter()
        .map(|(name, runs)| detector(name, runs, truth, demands))
        .collect();
    Ok(Security {
        corpus_version: truth.version.clone(),
        gate: SecurityGate {
            fpr_ceiling: demands.fpr_ceiling,
            recall_floor: demands.recall_floor,
            passed: per_detector.iter().all(|it| it.gate),
        },
        joined: joined(&detectors, truth, demands),
        compared: compared(&detectors, truth),
        per_detector,
        runs_averaged: detectors
            .iter()
            .map(|(_, runs)| runs.len())
            .max()
            .unwrap_or(0),
    })
}

/// What each detector of a run said of each entry. What is missing or there twice is a problem.
fn of_run<'a>(
    run: &'a Run,
    truth: &Truth,
    runs: &[Run],
    clean: &'a Verdict,
    problems: &mut Problems,
) -> Vec<(String, Said<'a>)> {
    let mut entries = HashMap::with_capacity(run.entries.len());
    for entry in &run.entries {
        if entries.insert(entry.id.as_str(), entry).is_some() {
            problems.push(format!("`{}` is judged twice in one run", entry.id));
        }
    }
    let known: HashSet<&str> = truth.entries.iter().map(|it| it.id.as_str()).collect();
    let strange: Vec<&str> = run
        .entries
        .iter()
        .filter(|it| !it.is_beside)
        .map(|it| it.id.as_str())
        .filter(|it| !known.contains(it))
        .collect();
    if let Some(first) = strange.first() {
        problems.push(match strange.len() {
            1 => format!("an entry that is judged is not in the corpus: `{first}`"),
            more => {
                format!("{more} of the entries judged are not in the corpus, such as `{first}`")
            }
        });
    }
    let dropped: Vec<&str> = known_order(truth)
        .filter(|it| !entries.contains_key(it) && unscanned(run, it).is_none())
        .collect();
    if let Some(first) = dropped.first().filter(|_| !run.lists_findings_only) {
        problems.push(format!(
            "silent drop: {} of {} entries of the corpus have no verdict, such as `{first}`",
            dropped.len(),
            truth.entries.len()
        ));
        return Vec::new();
    }
    let mut all = Vec::new();
    for detector in &run.detectors {
        let mut said: Said<'_> = Vec::with_capacity(truth.entries.len());
        let mut lacking = Vec::new();
        for labelled in &truth.entries {
            let entry = entries.get(labelled.id.as_str());
            let mut own = entry
                .into_iter()
                .flat_map(|it| it.verdicts.iter())
                .filter(|it| it.detector == detector.name);
            match own.next() {
                Some(verdict) => {
                    if own.next().is_some() {
                        let (id, name) = (&labelled.id, &detector.name);
                        problems.push(format!("`{name}` judges `{id}` twice in one run"));
                    }
                    said.push(verdict);
                }
                None if run.lists_findings_only => said.push(clean),
                None => match unscanned(run, &labelled.id) {
                    Some(verdict) if verdict.detector == detector.name => said.push(verdict),
                    _ => lacking.push(labelled.id.as_str()),
                },
            }
        }
        if let Some(first) = lacking.first() {
            problems.push(format!(
                "`{}` has no verdict on {} of {} entries, such as `{first}`",
                detector.name,
                lacking.len(),
                truth.entries.len()
            ));
        }
        all.push((name(detector, runs), said));
    }
    all
}

/// That an entry could not be scanned, as its server could not; what is said of that server counts before what is said of any.
fn unscanned<'a>(run: &'a Run, id: &str) -> Option<&'a Verdict> {
    let concerned = || run.unscanned.iter().filter(|it| it.concerns(id));
    let named = concerned().find(|it| it.server.is_some());
    named.or_else(|| concerned().next()).map(|it| &it.verdict)
}

/// What was scanned besides tools and is in no corpus, in sentences: it counts for nothing.
pub fn left_out(runs: &[Run], corpus: Option<&Truth>) -> Vec<String> {
    let known: HashSet<&str> = corpus.into_iter().flat_map(known_order).collect();
    let mut told = Vec::new();
    for run in runs {
        let beside = run.entries.iter().filter(|it| it.is_beside);
        let beside: Vec<&str> = beside
            .map(|it| it.id.as_str())
            .filter(|it| !known.contains(it))
            .collect();
        let Some(first) = beside.first() else {
            continue;
        };
        let line = format!(
            "prompts, resources and the like that are not in the corpus count for nothing: {}, such as `{first}`",
            beside.len()
        );
        if !told.contains(&line) {
            told.push(line);
        }
    }
    told
}

fn known_order(truth: &Truth) -> impl Iterator<Item = &str> {
    truth.entries.iter().map(|it| it.id.as_str())
}

/// What a detector is called: with its version, where there are several.
fn name(detector: &super::verdicts::Detector, runs: &[Run]) -> String {
    let same = runs
        .iter()
        .flat_map(|it| &it.detectors)
        .filter(|it| it.name == detector.name);
    let versions: HashSet<&Option<String>> = same.map(|it| &it.version).collect();
    match &detector.version {
        Some(version) if versions.len() > 1 => format!("{}@{version}", detector.name),
        _ => detector.name.clone(),
    }
}

fn counts(said: &[&Verdict], truth: &Truth) -> Counts {
    let pairs = said.iter().zip(&truth.entries);
    let judged = pairs.filter(|(it, _)| it.status == ScanStatus::Ok);
    Counts::of(judged.map(|(it, labelled)| (labelled.malicious, it.flagged)))
}

fn detector(name: &str, runs: &[Said<'_>], truth: &Truth, demands: &Demands) -> DetectorReport {
    let all: Vec<Counts> = runs.iter().map(|it| counts(it, truth)).collect();
    let found = Detection::over(&all);
    let mut report = rates(name, &found);
    let first = runs.first().map(Vec::as_slice).unwrap_or_default();
    // Of several runs, what they come to on average: the corpus is no larger for being scanned again.
    let average = |counted: fn(&Counts) -> usize| {
        let values: Vec<f64> = all.iter().map(|it| count(counted(it))).collect();
        mean(&values)
    };
    let hits = average(|it| it.true_positives);
    let alarms = average(|it| it.false_positives);
    let interval = |hits: f64, of: f64| wilson_of(hits, of).map(ends);
    report.precision_interval = interval(hits, hits + alarms);
    report.recall_interval = interval(hits, average(Counts::malicious));
    report.fpr_interval = interval(alarms, average(Counts::benign));
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
fn not_measured(runs: &[Counts], demands: &Demands) -> Vec<String> {
    let mut told = Vec::new();
    // What is true of every rate needs none to be known.
    if demands.fpr_ceiling < 1.0 && runs.iter().any(|it| it.benign() == 0) {
        told.push("the FPR is not measured: no benign entry has a verdict".to_owned());
    }
    if demands.recall_floor > 0.0 && runs.iter().any(|it| it.malicious() == 0) {
        told.push("the recall is not measured: no malicious entry has a verdict".to_owned());
    }
    told
}

fn rates(name: &str, found: &Detection) -> DetectorReport {
    DetectorReport {
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
    let mut told = Vec::new();
    let percent = |it: f64| format!("{:.1} %", it * 100.0);
    if let (Some(need), Some(none)) = (cases_below(demands.fpr_ceiling), wilson(0, counts.benign()))
        && counts.benign() < need
    {
        told.push(format!(
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
        told.push(format!(
            "{} malicious entries are too few for a recall of {}: all of them flagged would still allow {}; it takes {need}",
            counts.malicious(),
            demands.recall_floor,
            percent(all.low)
        ));
    }
    told
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

/// The curves of a detector whose every verdict has a score.
fn scores(
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

/// Whether an entry counts as flagged that so many of so many detectors flag.
type Decides = fn(usize, usize) -> bool;

/// All detectors as one, which flags what any of them flags, and as one that flags what all do.
fn joined(
    detectors: &[(String, Vec<Said<'_>>)],
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
            ..rates(name, &found)
        }
    });
    joined.into()
}

fn compared(detectors: &[(String, Vec<Said<'_>>)], truth: &Truth) -> Vec<Comparison> {
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

/// What became of the whole.
pub fn status(security: &Security) -> Status {
    let mut detectors = security.per_detector.iter();
    if detectors.any(|it| !it.not_measured.is_empty()) {
        Status::Incomplete
    } else if security.gate.passed {
        Status::Passed
    } else {
        Status::Failed
    }
}

/// What the gate is about and was not measured, in sentences.
pub fn problems(security: &Security) -> Problems {
    let each = security.per_detector.iter().flat_map(|detector| {
        let told = detector.not_measured.iter();
        told.map(|it| format!("{}: {it}", detector.detector))
    });
    each.collect()
}
