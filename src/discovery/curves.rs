//! How well the scores of a detector tell malicious from benign, at every threshold.

use super::detection::{Demands, Detection};
use super::statistics::count;
use super::truth::Truth;
use super::verdicts::{ScanStatus, Verdict};
use crate::published::measured::security::Scores;

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
