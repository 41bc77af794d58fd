//! The measurement of scanners: what they said, held against what is so.

use std::collections::{HashMap, HashSet};

use super::detector::{Demands, Named, Said, compared, detector, joined};
use super::truth::Truth;
use super::verdicts::{Detector, Run, Verdict};
use crate::published::measured::Status;
use crate::published::measured::security::{DetectorReport, Security, SecurityGate};

/// What is to be known of figures of several runs, and a precision that is asked for and of which nothing is known, in sentences.
pub fn doubts(security: &Security, prevalence: Option<f64>) -> Vec<String> {
    let mut notes = Vec::new();
    let most = security.runs_averaged;
    if most > 1 {
        notes.push(
            "of several runs, categories, missed entries, false alarms, pairs, curves and what compares or joins detectors are of the first"
                .to_owned(),
        );
    }
    let fewer = security.per_detector.iter().filter(|it| it.runs < most);
    notes.extend(fewer.map(|it| {
        format!(
            "warning: {} has verdicts of {} of {most} runs alone",
            it.detector, it.runs
        )
    }));
    let Some(prevalence) = prevalence else {
        return notes;
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
    notes.extend(lacking);
    notes
}

/// Why nothing can be measured, in sentences.
pub type Problems = Vec<String>;

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
            let problem =
                format!("these verdicts are of the corpus `{wants}`, and this is `{has}`");
            problems.push(placed(run, problem));
        }
    }
    let clean = Verdict::default();
    let mut detectors: Vec<Named<'_>> = Vec::new();
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
            problems.push(placed(
                run,
                format!("`{}` is judged twice in one run", entry.id),
            ));
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
        let problem = match strange.len() {
            1 => format!("an entry that is judged is not in the corpus: `{first}`"),
            more => {
                format!("{more} of the entries judged are not in the corpus, such as `{first}`")
            }
        };
        problems.push(placed(run, problem));
    }
    let dropped: Vec<&str> = known_order(truth)
        .filter(|it| !entries.contains_key(it) && unscanned(run, it).is_none())
        .collect();
    if let Some(first) = dropped.first().filter(|_| !run.lists_findings_only) {
        let (lacking, all) = (dropped.len(), truth.entries.len());
        let problem = format!(
            "silent drop: {lacking} of {all} entries of the corpus have no verdict, such as `{first}`: scan them, or say of each why not (`status`, `reason`)"
        );
        problems.push(placed(run, problem));
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
                        let problem = format!("`{name}` judges `{id}` twice in one run");
                        problems.push(placed(run, problem));
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
            let (name, all) = (&detector.name, truth.entries.len());
            let lacking = lacking.len();
            let problem =
                format!("`{name}` has no verdict on {lacking} of {all} entries, such as `{first}`");
            problems.push(placed(run, problem));
        }
        all.push((name(detector, runs), said));
    }
    all
}

/// What is wrong with a run, with the file that it is in.
fn placed(run: &Run, problem: String) -> String {
    if run.path.is_empty() {
        problem
    } else {
        format!("{}: {problem}", run.path)
    }
}

/// That an entry could not be scanned, as its server could not; what is said of that server counts before what is said of any.
fn unscanned<'a>(run: &'a Run, id: &str) -> Option<&'a Verdict> {
    let concerned = || run.unscanned.iter().filter(|it| it.concerns(id));
    let named = concerned().find(|it| it.server.is_some());
    named.or_else(|| concerned().next()).map(|it| &it.verdict)
}

/// What there is to know of what was said, in sentences: what is odd about it, and what was scanned besides tools and is in no corpus, which counts
/// for nothing.
pub fn oddities(runs: &[Run], corpus: Option<&Truth>) -> Vec<String> {
    let known: HashSet<&str> = corpus.into_iter().flat_map(known_order).collect();
    let mut notes = Vec::new();
    for run in runs {
        notes.extend(run.doubts.iter().cloned());
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
        if !notes.contains(&line) {
            notes.push(line);
        }
    }
    notes
}

fn known_order(truth: &Truth) -> impl Iterator<Item = &str> {
    truth.entries.iter().map(|it| it.id.as_str())
}

/// What a detector is called: with its version and its threshold, where there are several of these, as it is another one then.
fn name(detector: &Detector, runs: &[Run]) -> String {
    let same = || {
        let all = runs.iter().flat_map(|it| &it.detectors);
        all.filter(|it| it.name == detector.name)
    };
    let versions: HashSet<&Option<String>> = same().map(|it| &it.version).collect();
    let thresholds: HashSet<&Option<String>> = same().map(|it| &it.threshold).collect();
    let mut name = detector.name.clone();
    if let Some(version) = detector.version.as_ref().filter(|_| versions.len() > 1) {
        name.push('@');
        name.push_str(version);
    }
    if let Some(threshold) = detector.threshold.as_ref().filter(|_| thresholds.len() > 1) {
        name.push_str(" from ");
        name.push_str(threshold);
    }
    name
}

/// What became of the whole.
pub fn status(security: &Security) -> Status {
    if security.is_unknown() {
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
        let sentences = detector.not_measured.iter();
        sentences.map(|it| format!("{}: {it}", detector.detector))
    });
    each.collect()
}
