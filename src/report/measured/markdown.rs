//! The results of a measurement, as a comment on a pull request.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::case;
use model::published::measured::{retrieval, security};
use model::text;

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

/// How many queries are listed of which the same became; the report has all.
const LISTED: usize = 20;

/// What is demanded of a search and what became of that, in sentences.
fn gates(report: &retrieval::Report) -> Vec<String> {
    let verdict = |passed: bool| if passed { "passed" } else { "failed" };
    let gate = report.gate.iter().map(|it| {
        let [value, threshold] = it.shown();
        let verdict = verdict(it.passed);
        format!("Recall@5 is {value}, and must be {threshold} at least, a tolerance of {} below the baseline: {verdict}", it.tolerance)
    });
    let floor = report.floor.iter().map(|it| {
        let [value, floor] = it.shown();
        let verdict = verdict(it.passed);
        format!("Recall@5 is {value}, and must be {floor} at least: {verdict}")
    });
    let lost = report.lost_gate.iter().map(|it| {
        let (lost, most) = (it.lost.len(), it.max_lost);
        let verdict = if it.not_measured {
            "not measured"
        } else {
            verdict(it.passed)
        };
        format!("Lost are {lost} queries, and may be {most} at most: {verdict}")
    });
    gate.chain(floor).chain(lost).collect()
}

/// A search.
pub fn retrieval(report: &retrieval::Report) -> String {
    let mut out = format!(
        "### Tool search {}: {}\n\n",
        cell(&report.search),
        report.status.name()
    );
    for problem in &report.problems {
        let _ = writeln!(out, "- {}", cell(problem));
    }
    let gates = gates(report);
    for gate in &gates {
        let _ = writeln!(out, "- {}", cell(gate));
    }
    if report.problems.len() + gates.len() > 0 {
        out.push('\n');
    }
    if let Some(metrics) = &report.metrics {
        out.push_str("| figure | now | 95 % | change |\n|---|---|---|---|\n");
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
            let _ = writeln!(out, "| {name} | {value:.4} | {ends} | {change} |");
        }
    }
    if let Some(compared) = &report.compared {
        for (what, ids) in [
            ("Lost", &compared.lost),
            ("Won", &compared.won),
            ("Moved", &compared.moved),
            ("Asked otherwise than before", &compared.changed),
            ("Asked no more", &compared.only_there),
        ] {
            if !ids.is_empty() {
                let all = ids.len();
                let queries = report.per_query.iter();
                let since: HashMap<&str, String> = queries
                    .map(|it| (it.id.as_str(), it.since()))
                    .filter(|(_, since)| !since.is_empty())
                    .collect();
                let ids = ids
                    .iter()
                    .take(LISTED)
                    .map(|id| match since.get(id.as_str()) {
                        Some(since) => format!("{} ({})", cell(id), cell(since)),
                        None => cell(id),
                    });
                let shown: Vec<String> = ids.collect();
                let more = match all.saturating_sub(LISTED) {
                    0 => String::new(),
                    more => format!("; and {more} more"),
                };
                let _ = writeln!(out, "\n{what}: {}{more}", shown.join("; "));
            }
        }
    }
    for it in report.lost_gate.iter().flat_map(|it| &it.allowed) {
        let (id, until, reason) = (cell(&it.id), cell(&it.until), cell(&it.reason));
        let _ = writeln!(out, "\nMay be lost until {until}: {id} ({reason})");
    }
    if let Some(ties) = &report.ties {
        let (ids, worst, best) = (ties.queries.join(", "), case(&ties.worst), case(&ties.best));
        let line = format!("Equal scores in {ids}: at worst {worst}, at best {best}");
        let _ = writeln!(out, "\n{}", cell(&line));
    }
    for note in &report.notes {
        let _ = writeln!(out, "\n{}", cell(note));
    }
    out
}

/// Scanners.
pub fn security(report: &security::Report) -> String {
    let mut out = format!("### Scanners: {}\n\n", report.status.name());
    for problem in &report.problems {
        let _ = writeln!(out, "- {}", cell(problem));
    }
    let detectors = &report.security.per_detector;
    for it in detectors.iter().filter(|it| !it.errors.is_empty()) {
        let _ = writeln!(out, "- {}: {}", cell(&it.detector), cell(&it.unfinished()));
    }
    if !report.problems.is_empty() || detectors.iter().any(|it| !it.errors.is_empty()) {
        out.push('\n');
    }
    out.push_str("| detector | precision | recall | 95 % | FPR | 95 % | gate |\n|---|---|---|---|---|---|---|\n");
    for it in detectors {
        let [recall, fpr] = it.shown(&report.security.gate);
        let _ = writeln!(
            out,
            "| {} | {:.3} | {recall} | {} | {fpr} | {} | {} |",
            cell(&it.detector),
            it.precision,
            interval(it.recall_interval.as_ref()),
            interval(it.fpr_interval.as_ref()),
            it.verdict(&report.security.gate)
        );
    }
    for it in detectors.iter().filter(|it| !it.unsteady.is_empty()) {
        let (name, ids) = (cell(&it.detector), cell(&it.unsteady.join(", ")));
        let _ = writeln!(out, "\n{name}: its runs do not judge alike: {ids}");
    }
    for it in detectors {
        for sentence in &it.too_small {
            let (name, sentence) = (cell(&it.detector), cell(sentence));
            let _ = writeln!(out, "\n{name}: too small to say: {sentence}");
        }
    }
    for it in detectors {
        for (share, precision) in it.scores.iter().flat_map(|it| &it.precision_at_prevalence) {
            let name = cell(&it.detector);
            let _ = writeln!(
                out,
                "\n{name}: where {share} of all tools are malicious, {precision:.3} of what it flags is"
            );
        }
    }
    for note in &report.notes {
        let _ = writeln!(out, "\n{}", cell(note));
    }
    out
}
