//! Reports of measurements apart from their page: by themselves, and among the results of a suite.

pub mod junit;
pub mod markdown;
pub mod terminal;

use std::borrow::Borrow;

use model::published::measured::retrieval::{Metrics, Report};
use model::published::measured::{Measured, security};
use model::text::several;

/// So many queries, in words.
pub(crate) fn queries(count: impl Borrow<usize>) -> String {
    several(*count.borrow(), "query", "queries")
}

/// The figures of the best or the worst case of equal scores, in a fragment.
pub(crate) fn case(metrics: &Metrics) -> String {
    format!(
        "Recall@5 {:.4}, MRR {:.4}, nDCG@10 {:.4}",
        metrics.recall(5),
        metrics.mrr,
        metrics.ndcg_at_10
    )
}

/// One sentence on what it came to, and what became of its queries; `None` where nothing was measured.
pub fn words(measured: &Measured) -> Option<String> {
    match measured {
        Measured::Retrieval(report) => {
            let metrics = report.metrics.as_ref()?;
            let now = format!("Recall@5 is {:.3}", metrics.recall(5));
            let all = queries(report.per_query.len());
            let Some(compared) = &report.compared else {
                return Some(format!("{now}, over {all}."));
            };
            if measured.is_unchanged() {
                return Some(format!("Unchanged: {all} got what they got before; {now}."));
            }
            let moved = measured.moved_words();
            let others = compared.only_here.len() + compared.only_there.len();
            let others = match others {
                0 => String::new(),
                _ => several(
                    others,
                    "query is of one side alone",
                    "queries are of one side alone",
                ),
            };
            let changed = match compared.changed.len() {
                0 => String::new(),
                count => several(count, "query was another one", "queries were other ones"),
            };
            let parts: Vec<String> = [moved, others, changed]
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect();
            let against = &compared.with;
            Some(format!(
                "{now}{}; against {against}, {}.",
                change(report),
                parts.join(", ")
            ))
        }
        Measured::Security(report) => {
            let (name, f1) = measured.main()?;
            let all = report.security.per_detector.len();
            let failing = report
                .security
                .per_detector
                .iter()
                .filter(|it| !it.gate)
                .count();
            let weakest = if all == 1 { "" } else { " of the weakest" };
            let mut detectors = report.security.per_detector.iter();
            let is_unknown = detectors.any(|it| it.is_unknown(&report.security.gate));
            let gate = match (all, failing) {
                (1, 1) if is_unknown => "The gate of the detector is not measured".to_owned(),
                (1, 0) => "The detector passes the gate".to_owned(),
                (1, _) => "The detector fails the gate".to_owned(),
                _ => format!("{} of {all} detectors pass the gate", all - failing),
            };
            Some(format!("{gate}; {name}{weakest} is {f1:.3}."))
        }
    }
}

/// How much recall@5 differs from before.
fn change(report: &Report) -> String {
    let delta = report.baseline_delta.as_ref().and_then(|it| it.recall_at_5);
    delta.map_or_else(String::new, |it| format!(" ({it:+.3})"))
}

/// The figures, a line each for a table of text.
pub fn lines(measured: &Measured) -> Vec<String> {
    match measured {
        Measured::Retrieval(report) => of_search(report),
        Measured::Security(report) => report
            .security
            .per_detector
            .iter()
            .map(of_detector)
            .collect(),
    }
}

fn of_search(report: &Report) -> Vec<String> {
    let Some(metrics) = &report.metrics else {
        return Vec::new();
    };
    let cuts = [1, 3, 5, 10].map(|cut| format!("{:.3}", metrics.recall(cut)));
    let mut lines = vec![format!(
        "Recall@1/3/5/10 {}, MRR {:.3}, nDCG@10 {:.3}, MAP {:.3}",
        cuts.join(" "),
        metrics.mrr,
        metrics.ndcg_at_10,
        metrics.map
    )];
    if let Some(compared) = &report.compared {
        for (what, ids) in [
            ("lost", &compared.lost),
            ("won", &compared.won),
            ("moved", &compared.moved),
        ] {
            if !ids.is_empty() {
                lines.push(format!("{what}: {}", ids.join(", ")));
            }
        }
    }
    lines
}

fn of_detector(it: &security::DetectorReport) -> String {
    format!(
        "{}: precision {:.3}, recall {:.3}, F1 {:.3}, FPR {:.3}",
        it.detector, it.precision, it.recall, it.f1, it.fpr
    )
}
