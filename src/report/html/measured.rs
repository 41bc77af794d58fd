//! One page per measurement, which needs nothing but itself: no script, no request to anywhere.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt::{Display, Write as _};

use askama::Template;
use askama::filters::Safe;

use super::render::{embedded, render};
use model::published::measured::retrieval::{ByCut, Further, QueryReport, Report};
use model::published::measured::{Measured, security};

/// The size of a curve, in pixels, and the room around it.
const CURVE: f64 = 200.0;
const MARGIN: f64 = 24.0;

/// How many queries the page of a search shows; its document has all.
const QUERIES: usize = 1000;

/// After how many ids figures are given.
const CUTS: [usize; 4] = [1, 3, 5, 10];

/// Of how many that lost something the rankings are shown at once.
const OPEN: usize = 20;

#[derive(Template)]
#[template(path = "discovery/retrieval.html")]
struct RetrievalPage<'a> {
    search: SearchView<'a>,
}

#[derive(Template)]
#[template(path = "discovery/security.html")]
struct SecurityPage<'a> {
    scanners: ScannersView<'a>,
}

/// What was measured, as a page shows it.
pub(super) enum MeasuredView<'a> {
    Search(Box<SearchView<'a>>),
    Scanners(ScannersView<'a>),
}

/// A search.
#[derive(Template)]
#[template(path = "discovery/search.html")]
pub(super) struct SearchView<'a> {
    pub(super) report: &'a Report,
    pub(super) measures: Vec<Measure>,
    pub(super) queries: Vec<Row<'a>>,
    /// How many more queries there are.
    pub(super) more: usize,
    /// It is a page by itself, on which nothing else tells the notes.
    pub(super) is_alone: bool,
}

/// Scanners.
#[derive(Template)]
#[template(path = "discovery/scanners.html")]
pub(super) struct ScannersView<'a> {
    pub(super) report: &'a security::Report,
    pub(super) detectors: Vec<Detector<'a>>,
}

impl SearchView<'_> {
    pub(super) fn html(&self) -> Safe<&Self> {
        embedded(self)
    }

    /// After how many ids figures are given.
    pub(super) fn cuts() -> [usize; 4] {
        CUTS
    }

    /// Figures at each of these, with their names.
    pub(super) fn at_cuts(&self, further: &Further) -> Vec<(&'static str, [f64; 4])> {
        let at = |of: &ByCut| CUTS.map(|cut| of.get(&cut.to_string()).copied().unwrap_or(0.0));
        let all = self.report.metrics.as_ref();
        let all = all.map(|it| ("Recall", at(&it.recall_at)));
        let others = [
            ("Recall, grade 2 alone", at(&further.grade_2_only.recall_at)),
            ("Queries with any relevant id (hit)", at(&further.hit_at)),
            (
                "Queries with all of them (complete)",
                at(&further.complete_at),
            ),
        ];
        let all = all.into_iter().chain(others);
        all.collect()
    }
}

impl<'a> MeasuredView<'a> {
    pub(super) fn new(measured: &'a Measured) -> Self {
        match measured {
            Measured::Retrieval(report) => Self::Search(Box::new(search(report))),
            Measured::Security(report) => Self::Scanners(scanners(report)),
        }
    }
}

/// A figure and where it stands.
pub(super) struct Measure {
    pub(super) name: &'static str,
    pub(super) now: f64,
    pub(super) before: Option<f64>,
    interval: Option<[f64; 2]>,
}

/// A query with its two rankings.
pub(super) struct Row<'a> {
    pub(super) query: &'a QueryReport,
    pub(super) change: Option<f64>,
    /// What moved since before, in words.
    pub(super) since: String,
    /// Ids had equal scores, so that what moved may be chance.
    pub(super) is_tied: bool,
    /// What became of it, as the class of a badge and in words.
    pub(super) mark: Option<(&'static str, &'static str)>,
    /// It found less than before, and is one of the first that did: its rankings are shown at once.
    pub(super) is_open: bool,
}

pub(super) struct Detector<'a> {
    pub(super) report: &'a security::DetectorReport,
    /// It is all of them, as if they were one.
    pub(super) is_joined: bool,
    pub(super) roc: Option<String>,
    pub(super) pr: Option<String>,
}

/// Three decimals.
pub(super) fn three(value: impl Display) -> String {
    format!("{value:.3}")
}

/// A probability, which is never 0, as it stands behind a `p`.
pub(super) fn chance(p: impl Borrow<f64>) -> String {
    let shown = bare_chance(p);
    if shown.starts_with('<') {
        shown
    } else {
        format!("= {shown}")
    }
}

/// The same in a table.
pub(super) fn bare_chance(p: impl Borrow<f64>) -> String {
    let p = *p.borrow();
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        three(p)
    }
}

/// No decimals.
pub(super) fn whole(value: impl Display) -> String {
    format!("{value:.0}")
}

/// The same of a difference, with its sign.
pub(super) fn signed(value: impl Display) -> String {
    format!("{value:+.4}")
}

impl Measure {
    /// A position between 0 and 1, in the units of the chart.
    fn at(value: impl Borrow<f64>) -> String {
        format!("{:.1}", 4.0 + value.borrow().clamp(0.0, 1.0) * 192.0)
    }

    /// Where it is now, and where it was.
    pub(super) fn at_now(&self) -> String {
        Self::at(self.now)
    }

    pub(super) fn at_before(&self) -> Option<String> {
        self.before.map(Self::at)
    }

    pub(super) fn low(&self) -> String {
        Self::at(self.interval.map_or(self.now, |it| it[0]))
    }

    pub(super) fn high(&self) -> String {
        Self::at(self.interval.map_or(self.now, |it| it[1]))
    }

    pub(super) fn change(&self) -> Option<f64> {
        self.before.map(|it| self.now - it)
    }

    /// What the chart shows, for those who do not see it.
    pub(super) fn words(&self) -> String {
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
    render(&RetrievalPage {
        search: SearchView {
            is_alone: true,
            ..search(report)
        },
    })
}

fn search(report: &Report) -> SearchView<'_> {
    let delta = report.baseline_delta.clone().unwrap_or_default();
    let measures = report.metrics.as_ref().map(|metrics| {
        let measure = |name, key: &str, now: f64, change: Option<f64>| Measure {
            name,
            now,
            before: change.map(|it| now - it),
            interval: report.intervals.get(key).copied(),
        };
        let recall = |name, cut: usize| {
            let key = format!("recall_at_{cut}");
            let change = delta.recall_at.get(&cut.to_string()).copied();
            let change = change.or(delta.recall_at_5.filter(|_| cut == 5));
            measure(name, &key, metrics.recall(cut), change)
        };
        vec![
            recall("Recall@1", 1),
            recall("Recall@3", 3),
            recall("Recall@5", 5),
            recall("Recall@10", 10),
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
    let fates = fates(report);
    let compared = report.compared.as_ref();
    let mut queries: Vec<(Fate, Row<'_>)> = report
        .per_query
        .iter()
        .map(|query| {
            let fate = fates
                .get(query.id.as_str())
                .copied()
                .unwrap_or(Fate::Stayed);
            let is_tied = compared.is_some_and(|it| it.tied.contains(&query.id));
            (fate, row(query, fate, is_tied))
        })
        .collect();
    // What is lost comes first, as it gates; then what differs most from before; where nothing is known of before, what is worst.
    queries.sort_by(|(a_fate, a), (b_fate, b)| {
        let gates = |it: Fate| it.min(Fate::Changed);
        let (a_rank, b_rank) = (rank(a), rank(b));
        gates(*a_fate)
            .cmp(&gates(*b_fate))
            .then(a_rank.0.cmp(&b_rank.0))
            .then(a_rank.1.total_cmp(&b_rank.1))
    });
    let mut queries: Vec<Row<'_>> = queries.into_iter().map(|it| it.1).collect();
    for it in queries.iter_mut().take(OPEN) {
        let is_lost = it.mark == Fate::Lost.mark() || it.mark == Fate::Excused.mark();
        it.is_open = is_lost || it.change.is_some_and(|it| it < 0.0);
    }
    let more = queries.len().saturating_sub(QUERIES);
    queries.truncate(QUERIES);
    SearchView {
        report,
        measures: measures.unwrap_or_default(),
        queries,
        more,
        is_alone: false,
    }
}

/// Where a query stands among those of which the same became: what lost most first, then what won most, then what stayed as it was.
fn rank(row: &Row<'_>) -> (u8, f64) {
    match row.change {
        Some(change) if change < 0.0 => (0, change),
        Some(change) if change > 0.0 => (1, -change),
        Some(_) => (2, row.query.ndcg_at_10),
        None => (3, row.query.ndcg_at_10),
    }
}

/// What became of a query, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Lost,
    Excused,
    Changed,
    Moved,
    Won,
    New,
    Reordered,
    Stayed,
}

impl Fate {
    fn mark(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Lost => ("status-failed", "lost"),
            Self::Excused => ("status-inconclusive", "lost, as allowed"),
            Self::Changed => ("status-inconclusive", "another query before"),
            Self::Moved => ("status-recorded", "moved"),
            Self::Won => ("status-passed", "won"),
            Self::New => ("status-skipped", "not there before"),
            Self::Reordered => ("status-skipped", "answered otherwise, same figures"),
            Self::Stayed => return None,
        })
    }
}

/// What became of each query, by its id.
fn fates(report: &Report) -> HashMap<&str, Fate> {
    let mut fates = HashMap::new();
    let Some(compared) = &report.compared else {
        return fates;
    };
    for (ids, fate) in [
        (&compared.lost, Fate::Lost),
        (&compared.changed, Fate::Changed),
        (&compared.moved, Fate::Moved),
        (&compared.won, Fate::Won),
        (&compared.reordered, Fate::Reordered),
        (&compared.only_here, Fate::New),
    ] {
        fates.extend(ids.iter().map(|it| (it.as_str(), fate)));
    }
    let allowed = report.lost_gate.iter().flat_map(|it| &it.allowed);
    fates.extend(allowed.map(|it| (it.id.as_str(), Fate::Excused)));
    fates
}

fn row(query: &QueryReport, fate: Fate, is_tied: bool) -> Row<'_> {
    Row {
        query,
        mark: fate.mark(),
        is_open: false,
        since: query.since(),
        is_tied,
        change: query
            .before
            .as_ref()
            .map(|it| query.ndcg_at_10 - it.ndcg_at_10),
    }
}

/// The page of scanners.
pub fn security(report: &security::Report) -> String {
    render(&SecurityPage {
        scanners: scanners(report),
    })
}

fn scanners(report: &security::Report) -> ScannersView<'_> {
    let detector = |report, is_joined| {
        let report: &security::DetectorReport = report;
        Detector {
            report,
            is_joined,
            roc: report.scores.as_ref().map(|it| points(&it.roc)),
            pr: report.scores.as_ref().map(|it| points(&it.pr)),
        }
    };
    let security = &report.security;
    let alone = security.per_detector.iter().map(|it| detector(it, false));
    let detectors = alone.chain(security.joined.iter().map(|it| detector(it, true)));
    ScannersView {
        report,
        detectors: detectors.collect(),
    }
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
