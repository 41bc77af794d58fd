//! The lines on stdout. The first of them are those of the original tool, to the letter.

use std::fmt::Write as _;

use super::{case, queries};
use model::published::measured::retrieval::{Compared, Metrics, Report};
use model::published::measured::security::{self, Security};
use model::published::measured::{Measured, Status};
use model::text::plural;

/// A verdict in capitals.
fn verdict(passed: bool) -> &'static str {
    if passed { "PASS" } else { "FAIL" }
}

/// A probability, which is never 0.
fn chance(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("= {p:.3}")
    }
}

/// The verdict of a gate on a rate of nothing.
const NOT_MEASURED: &str = "NOT MEASURED";

fn figures(metrics: &Metrics) -> String {
    let cuts = [1, 3, 5, 10].map(|cut| format!("{:.3}", metrics.recall(cut)));
    format!(
        "Recall@1/3/5/10: {}\nMRR={:.3}  nDCG@10={:.3}  MAP={:.3}\n",
        cuts.join(" "),
        metrics.mrr,
        metrics.ndcg_at_10,
        metrics.map
    )
}

/// All that there is to say of a measurement.
pub fn all(measured: &Measured) -> String {
    match measured {
        Measured::Retrieval(report) => retrieval(report) + &more_of_retrieval(report),
        Measured::Security(report) => security(&report.security) + &more_of_security(report),
    }
}

/// The figures of a search and its gate.
pub fn retrieval(report: &Report) -> String {
    let mut out = report.metrics.as_ref().map(figures).unwrap_or_default();
    if let Some(gate) = &report.gate {
        let [value, threshold] = gate.shown();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "Gate ({}): {} (value={value} threshold={threshold})",
            gate.metric,
            verdict(gate.passed),
        );
    }
    out
}

/// Of how many queries a line says what moved in them; the reports have the others.
const EXPLAINED: usize = 5;

/// What moved in some of these queries, a line for each.
fn since(report: &Report, compared: &Compared, ids: &[String]) -> Vec<String> {
    let all = report.per_query.iter().filter(|it| ids.contains(&it.id));
    let moved = all.filter_map(|it| {
        let since = it.since();
        let tied = if compared.tied.contains(&it.id) {
            " (equal scores, so that this may be chance)"
        } else {
            ""
        };
        (!since.is_empty()).then(|| format!("  {}: {since}{tied}", it.id))
    });
    let mut moved: Vec<String> = moved.collect();
    let more = moved.len().saturating_sub(EXPLAINED);
    moved.truncate(EXPLAINED);
    if more > 0 {
        moved.push(format!(
            "  and {} more, which the reports have",
            queries(more)
        ));
    }
    moved
}

/// What else there is to say of it, after the reports are named.
pub fn more_of_retrieval(report: &Report) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    if let Some(gate) = &report.lost_gate {
        line(format!(
            "Gate (lost queries): {} ({} lost, at most {}{})",
            if gate.not_measured {
                NOT_MEASURED
            } else {
                verdict(gate.passed)
            },
            gate.lost.len(),
            gate.max_lost,
            if gate.allowed.is_empty() {
                String::new()
            } else {
                format!(", and {} allowed", gate.allowed.len())
            }
        ));
    }
    if let Some(floor) = &report.floor {
        let [value, least] = floor.shown();
        let verdict = verdict(floor.passed);
        line(format!(
            "Gate (recall_at_5, floor): {verdict} (value={value} floor={least})"
        ));
    }
    if report.status == Status::NoGate {
        line("no gate: nothing is demanded of these figures".to_owned());
    }
    for compared in report.compared.iter().chain(&report.beside) {
        if compared.is_equal() {
            let (with, queries) = (&compared.with, queries(report.per_query.len()));
            line(format!("equal, against {with}: {queries} got the same"));
        }
        for (what, ids) in [
            ("lost", &compared.lost),
            ("won", &compared.won),
            ("moved", &compared.moved),
            ("changed", &compared.changed),
            ("only here", &compared.only_here),
            ("only there", &compared.only_there),
        ] {
            if !ids.is_empty() {
                line(format!(
                    "{what}, against {}: {}",
                    compared.with,
                    ids.join(", ")
                ));
            }
            if report.compared.as_ref() == Some(compared) {
                since(report, compared, ids).into_iter().for_each(&mut line);
            }
        }
        if !compared.reordered.is_empty() {
            line(format!(
                "answered otherwise with the same figures, against {}: {}",
                compared.with,
                queries(compared.reordered.len())
            ));
        }
        for test in compared.tests.iter().filter(|it| it.difference != 0.0) {
            line(format!(
                "{} {:+.4}: p {} by the paired randomisation test, corrected p {}",
                test.metric,
                test.difference,
                chance(test.p),
                chance(test.p_holm)
            ));
        }
    }
    if let Some(ties) = &report.ties {
        line(format!(
            "equal scores in {}: at worst {}, at best {}",
            ties.queries.join(", "),
            case(&ties.worst),
            case(&ties.best)
        ));
    }
    let (all, unsteady) = (report.per_query.len(), report.unsteady.len());
    match report.deterministic {
        Some(true) => line(format!(
            "deterministic: all {} runs found the same ids in the same order for {}",
            report.runs_averaged,
            queries(all)
        )),
        Some(false) => line(format!(
            "not deterministic: {} answered otherwise in another run, which is {unsteady} of {}",
            report.unsteady.join(", "),
            queries(all)
        )),
        None => {}
    }
    if let Some(further) = report
        .further
        .as_ref()
        .filter(|it| !it.zero_hits.is_empty())
    {
        line(format!(
            "nothing relevant found: {}",
            further.zero_hits.join(", ")
        ));
    }
    for note in &report.notes {
        line(format!("note: {note}"));
    }
    out
}

/// A rate as people write it: no more digits than needed.
fn short(rate: f64) -> String {
    format!("{rate}")
}

/// The rates of detectors and their gate.
pub fn security(report: &Security) -> String {
    let mut out = String::new();
    for it in &report.per_detector {
        let verdict = if it.is_unknown(&report.gate) {
            NOT_MEASURED
        } else {
            verdict(it.gate)
        };
        let unfinished = it.unfinished();
        let why = if unfinished.is_empty() {
            String::new()
        } else {
            format!(" ({unfinished})")
        };
        let [recall, fpr] = it.shown(&report.gate);
        let _ = writeln!(
            out,
            "{}: P={:.3} R={recall} F1={:.3} FPR={fpr} [{verdict}]{why}",
            it.detector, it.precision, it.f1,
        );
    }
    let passed = if report.is_unknown() {
        NOT_MEASURED
    } else {
        verdict(report.gate.passed)
    };
    // A gate of rates that fails for another reason says so.
    let failing = report.per_detector.iter();
    let failing = failing.filter(|it| it.has_too_many_errors());
    let failing: Vec<&str> = failing.map(|it| it.detector.as_str()).collect();
    let why = if failing.is_empty() {
        String::new()
    } else {
        format!(" (scans without a verdict: {})", failing.join(", "))
    };
    let _ = writeln!(
        out,
        "Overall gate (fpr<={} AND recall>={}): {passed}{why}",
        short(report.gate.fpr_ceiling),
        short(report.gate.recall_floor),
    );
    out
}

/// What else there is to say of them, after the reports are named.
pub fn more_of_security(report: &security::Report) -> String {
    let mut out = String::new();
    let security = &report.security;
    for it in &security.per_detector {
        let mut line = |text: String| {
            let _ = writeln!(out, "{}: {text}", it.detector);
        };
        it.why_failed(&security.gate)
            .into_iter()
            .for_each(&mut line);
        if let (Some([low, high]), Some([least, most])) = (it.recall_interval, it.fpr_interval) {
            line(format!(
                "95 % of recall {low:.3}–{high:.3}, of FPR {least:.3}–{most:.3}"
            ));
        }
        for sentence in &it.too_small {
            line(format!("too small to say: {sentence}"));
        }
        if !it.unsteady.is_empty() {
            let ids = it.unsteady.join(", ");
            line(format!("its runs do not judge alike: {ids}"));
        }
        if let Some(auc) = it.scores.as_ref().and_then(|it| it.auc) {
            line(format!("area under the ROC curve {auc:.3}"));
        }
        if let Some(first) = it.errors.first() {
            let why = if first.reason.is_empty() {
                &first.status
            } else {
                &first.reason
            };
            let (scans, id) = (plural(it.errors.len(), "scan"), &first.id);
            line(format!("{scans} without a verdict, such as `{id}` ({why})"));
        }
        for (share, precision) in it.scores.iter().flat_map(|it| &it.precision_at_prevalence) {
            line(format!(
                "where {share} of all tools are malicious, {precision:.3} of what it flags is"
            ));
        }
        if let Some(pairs) = &it.pairs {
            let (right, of) = (pairs.right, pairs.of);
            line(format!("{right} of {of} pairs right on both sides"));
        }
    }
    for it in &security.compared {
        let _ = writeln!(
            out,
            "{} and {}: only the first right on {}, only the second on {}; p {} by McNemar's test",
            it.first,
            it.second,
            it.only_first,
            it.only_second,
            chance(it.p)
        );
    }
    for note in &report.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}
