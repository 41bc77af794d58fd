//! One page per measurement, which needs nothing but itself: no script, no request to anywhere.

use std::borrow::Borrow;
use std::fmt::{Display, Write as _};

use askama::Template;

use super::retrieval::{QueryReport, Report};
use super::security;

/// The size of a curve, in pixels, and the room around it.
const CURVE: f64 = 200.0;
const MARGIN: f64 = 24.0;

#[derive(Template)]
#[template(path = "discovery/retrieval.html", config = "templates/askama.toml")]
struct RetrievalPage<'a> {
    report: &'a Report,
    measures: Vec<Measure>,
    queries: Vec<Row<'a>>,
}

#[derive(Template)]
#[template(path = "discovery/security.html", config = "templates/askama.toml")]
struct SecurityPage<'a> {
    report: &'a security::Report,
    detectors: Vec<Detector<'a>>,
}

/// A figure and where it stands.
struct Measure {
    name: &'static str,
    now: f64,
    before: Option<f64>,
    interval: Option<[f64; 2]>,
}

/// A query with its two rankings.
struct Row<'a> {
    query: &'a QueryReport,
    change: Option<f64>,
    now: Vec<Ranked<'a>>,
    before: Vec<Ranked<'a>>,
}

struct Ranked<'a> {
    id: &'a str,
    wanted: bool,
}

struct Detector<'a> {
    told: &'a security::DetectorReport,
    roc: Option<String>,
    pr: Option<String>,
}

/// Three decimals.
fn three(value: impl Display) -> String {
    format!("{value:.3}")
}

fn signed(value: impl Display) -> String {
    format!("{value:+.4}")
}

impl Measure {
    /// A position between 0 and 1, in the units of the chart.
    fn at(value: impl Borrow<f64>) -> String {
        format!("{:.1}", 4.0 + value.borrow().clamp(0.0, 1.0) * 192.0)
    }

    fn low(&self) -> String {
        Self::at(self.interval.map_or(self.now, |it| it[0]))
    }

    fn high(&self) -> String {
        Self::at(self.interval.map_or(self.now, |it| it[1]))
    }

    fn change(&self) -> Option<f64> {
        self.before.map(|it| self.now - it)
    }

    /// What the chart shows, for those who do not see it.
    fn words(&self) -> String {
        let before = self
            .before
            .map_or_else(String::new, |it| format!(", before {it:.3}"));
        let interval = self.interval.map_or_else(String::new, |[low, high]| {
            format!(", 95 % interval {low:.3} to {high:.3}")
        });
        format!("{}: now {:.3}{before}{interval}", self.name, self.now)
    }
}

/// The page of a search.
pub fn retrieval(report: &Report) -> String {
    let delta = report.baseline_delta.clone().unwrap_or_default();
    let measures = report.metrics.as_ref().map(|metrics| {
        let measure = |name, key: &str, now: f64, change: Option<f64>| Measure {
            name,
            now,
            before: change.map(|it| now - it),
            interval: report.intervals.get(key).copied(),
        };
        let alone = |name, now| measure(name, "", now, None);
        vec![
            alone("Recall@1", metrics.recall(1)),
            alone("Recall@3", metrics.recall(3)),
            measure(
                "Recall@5",
                "recall_at_5",
                metrics.recall(5),
                delta.recall_at_5,
            ),
            alone("Recall@10", metrics.recall(10)),
            measure("MRR", "mrr", metrics.mrr, delta.mrr),
            measure(
                "nDCG@10",
                "ndcg_at_10",
                metrics.ndcg_at_10,
                delta.ndcg_at_10,
            ),
            measure("MAP", "map", metrics.map, delta.map),
        ]
    });
    let mut queries: Vec<Row<'_>> = report.per_query.iter().map(row).collect();
    // What lost most comes first; where nothing is known of before, what is worst.
    queries.sort_by(|a, b| {
        let key = |it: &Row<'_>| it.change.unwrap_or(it.query.ndcg_at_10);
        key(a).total_cmp(&key(b))
    });
    render(&RetrievalPage {
        report,
        measures: measures.unwrap_or_default(),
        queries,
    })
}

fn row(query: &QueryReport) -> Row<'_> {
    Row {
        query,
        change: query
            .before
            .as_ref()
            .map(|it| query.ndcg_at_10 - it.ndcg_at_10),
        now: rankings(&query.retrieved, query),
        before: query
            .before
            .as_ref()
            .map(|it| rankings(&it.retrieved, query))
            .unwrap_or_default(),
    }
}

fn rankings<'a>(ids: &'a [String], query: &QueryReport) -> Vec<Ranked<'a>> {
    ids.iter()
        .map(|id| Ranked {
            id,
            wanted: query.relevant.contains(id),
        })
        .collect()
}

/// The page of scanners.
pub fn security(report: &security::Report) -> String {
    let all = report
        .security
        .per_detector
        .iter()
        .chain(&report.security.joined);
    let detectors = all.map(|told| Detector {
        told,
        roc: told.scores.as_ref().map(|it| points(&it.roc)),
        pr: told.scores.as_ref().map(|it| points(&it.pr)),
    });
    render(&SecurityPage {
        report,
        detectors: detectors.collect(),
    })
}

/// The points of a curve, both coordinates from 0 to 1, as SVG writes them.
fn points(curve: &[[f64; 2]]) -> String {
    let mut text = String::new();
    for [x, y] in curve {
        let (x, y) = (MARGIN + x * CURVE, MARGIN + (1.0 - y) * CURVE);
        // Writing to a string cannot fail.
        let _ = write!(text, "{x:.1},{y:.1} ");
    }
    text
}

/// Renders a page. It fails only if the formatting of a value does, which none of ours can.
fn render(page: &impl Template) -> String {
    page.render().unwrap_or_else(|error| error.to_string())
}
