//! What a measurement came to, as a comment on a pull request.

use std::fmt::Write as _;

use crate::published::measured::{retrieval, security};
use crate::text;

/// A text within a table, of which nothing acts as Markdown or HTML.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for it in text::line(text).chars() {
        if "\\`*_{}[]<>()#+-!|~@&".contains(it) {
            escaped.push('\\');
        }
        escaped.push(it);
    }
    escaped
}

fn interval(ends: Option<&[f64; 2]>) -> String {
    ends.map_or_else(String::new, |[low, high]| format!("{low:.3}–{high:.3}"))
}

/// A search.
pub fn retrieval(report: &retrieval::Report) -> String {
    let mut told = format!(
        "### Tool search {}: {}\n\n",
        cell(&report.search),
        report.status.name()
    );
    for problem in &report.problems {
        let _ = writeln!(told, "- {}", cell(problem));
    }
    if let Some(metrics) = &report.metrics {
        told.push_str("| figure | now | 95 % | change |\n|---|---|---|---|\n");
        let delta = report.baseline_delta.clone().unwrap_or_default();
        for (name, key, value, change) in [
            (
                "Recall@5",
                "recall_at_5",
                metrics.recall(5),
                delta.recall_at_5,
            ),
            ("MRR", "mrr", metrics.mrr, delta.mrr),
            (
                "nDCG@10",
                "ndcg_at_10",
                metrics.ndcg_at_10,
                delta.ndcg_at_10,
            ),
            ("MAP", "map", metrics.map, delta.map),
        ] {
            let change = change.map_or_else(String::new, |it| format!("{it:+.4}"));
            let ends = interval(report.intervals.get(key));
            let _ = writeln!(told, "| {name} | {value:.4} | {ends} | {change} |");
        }
    }
    if let Some(compared) = &report.compared {
        for (what, ids) in [
            ("Lost", &compared.lost),
            ("Won", &compared.won),
            ("Asked otherwise than before", &compared.changed),
            ("Asked no more", &compared.only_there),
        ] {
            if !ids.is_empty() {
                let ids: Vec<String> = ids.iter().map(|it| cell(it)).collect();
                let _ = writeln!(told, "\n{what}: {}", ids.join(", "));
            }
        }
    }
    for it in report.lost_gate.iter().flat_map(|it| &it.allowed) {
        let (id, until, reason) = (cell(&it.id), cell(&it.until), cell(&it.reason));
        let _ = writeln!(told, "\nMay be lost until {until}: {id} ({reason})");
    }
    told
}

/// Scanners.
pub fn security(report: &security::Report) -> String {
    let mut told = format!("### Scanners: {}\n\n", report.status.name());
    for problem in &report.problems {
        let _ = writeln!(told, "- {}", cell(problem));
    }
    let detectors = &report.security.per_detector;
    for it in detectors.iter().filter(|it| !it.errors.is_empty()) {
        let _ = writeln!(told, "- {}: {}", cell(&it.detector), cell(&it.unfinished()));
    }
    if !report.problems.is_empty() || detectors.iter().any(|it| !it.errors.is_empty()) {
        told.push('\n');
    }
    told.push_str("| detector | precision | recall | 95 % | FPR | 95 % | gate |\n|---|---|---|---|---|---|---|\n");
    for it in detectors {
        let [recall, fpr] = it.shown(&report.security.gate);
        let _ = writeln!(
            told,
            "| {} | {:.3} | {recall} | {} | {fpr} | {} | {} |",
            cell(&it.detector),
            it.precision,
            interval(it.recall_interval.as_ref()),
            interval(it.fpr_interval.as_ref()),
            it.verdict()
        );
    }
    for it in detectors {
        for (share, precision) in it.scores.iter().flat_map(|it| &it.precision_at_prevalence) {
            let name = cell(&it.detector);
            let _ = writeln!(
                told,
                "\n{name}: where {share} of all tools are malicious, {precision:.3} of what it flags is"
            );
        }
    }
    for note in &report.notes {
        let _ = writeln!(told, "\n{}", cell(note));
    }
    told
}
