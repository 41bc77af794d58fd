//! The page of results over time, with small charts.

use std::fmt::Write as _;

use askama::Template;

use super::dashboard::Around;
use crate::duration;
use crate::history::{add_measures, rankings};
use crate::moment;
use model::number::{count, fixed};
use model::published::history::{History, HistoryDocument, HistoryResult, Ranked};
use model::usage::cost_words;

/// The size of a chart, and how far its line stays from its edges.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 96.0;
const EDGE: f64 = 8.0;

/// The template's view of a history.
#[derive(Template)]
#[template(path = "history.html")]
pub(super) struct HistoryPage<'a> {
    document: &'a HistoryDocument,
    scenarios: Vec<Section<'a>>,
    rankings: Vec<Ranking<'a>>,
    around: Option<&'a Around<'a>>,
}

/// A scenario.
struct Section<'a> {
    history: &'a History,
    driver: String,
    counts: String,
    charts: Vec<Chart>,
    rows: Vec<Line<'a>>,
}

/// A chart of one number over the results.
struct Chart {
    title: &'static str,
    /// The chart in words, for those who do not see it.
    words: String,
    highest: String,
    line: String,
    points: Vec<Point>,
    marks: Vec<Mark>,
}

struct Point {
    x: String,
    y: String,
    status: &'static str,
    title: String,
}

/// Where another commit begins.
struct Mark {
    x: String,
    title: String,
}

/// A result in the table.
struct Line<'a> {
    result: &'a HistoryResult,
    at: String,
    score: String,
    duration: String,
    cost: String,
    commit: String,
}

impl HistoryPage<'_> {
    /// How many scenarios fail now.
    fn failing(&self) -> usize {
        let scenarios = self.document.scenarios.iter();
        scenarios.filter(|it| it.first_bad.is_some()).count()
    }
}

struct Ranking<'a> {
    title: &'static str,
    rows: Vec<(String, &'a Ranked)>,
}

impl<'a> HistoryPage<'a> {
    pub(super) fn new(document: &'a HistoryDocument, around: Option<&'a Around<'a>>) -> Self {
        let rankings = (rankings(document).into_iter()).filter(|(_, ranked, _)| !ranked.is_empty());
        Self {
            document,
            around,
            scenarios: document.scenarios.iter().map(section).collect(),
            rankings: rankings
                .map(|(title, ranked, words)| Ranking {
                    title,
                    rows: ranked.iter().map(|it| (words(it.value), it)).collect(),
                })
                .collect(),
        }
    }
}

fn section(history: &History) -> Section<'_> {
    let rows = history.results.iter().rev().map(|it| Line {
        result: it,
        at: moment::words(&it.at),
        score: it.score.map_or_else(String::new, |it| fixed(it, 2)),
        duration: duration::known(it.duration_ms),
        cost: it.cost.map_or_else(String::new, cost_words),
        commit: it
            .commit()
            .map_or_else(String::new, |it| format!("{} {}", it.words(), it.subject)),
    });
    let longest = history
        .results
        .iter()
        .filter_map(|it| it.duration_ms)
        .fold(0.0, f64::max);
    let charts = [
        chart("Score", &history.results, |it| it.score, 1.0, &|it| {
            fixed(it, 2)
        }),
        chart(
            "Duration",
            &history.results,
            |it| it.duration_ms,
            longest,
            &duration::words,
        ),
    ];
    Section {
        history,
        driver: history.driver(),
        counts: counts(history),
        charts: charts.into_iter().flatten().collect(),
        rows: rows.collect(),
    }
}

fn counts(it: &History) -> String {
    let mut words = it.passed_words();
    add_measures(&mut words, it);
    words
}

/// A chart; `None` where fewer than two results have such a number.
fn chart(
    title: &'static str,
    results: &[HistoryResult],
    value: impl Fn(&HistoryResult) -> Option<f64>,
    highest: f64,
    words: &dyn Fn(f64) -> String,
) -> Option<Chart> {
    let known = results.iter().filter_map(&value);
    if known.clone().count() < 2 || highest <= 0.0 {
        return None;
    }
    let (first, last) = (known.clone().next()?, known.last()?);
    let steps = count((results.len() - 1).max(1));
    let x = |at: usize| EDGE + (WIDTH - 2.0 * EDGE) * count(at) / steps;
    let y = |value: f64| HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * (value / highest).clamp(0.0, 1.0);
    let mut line = String::new();
    let mut points = Vec::new();
    let mut marks = Vec::new();
    for (at, it) in results.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| results[at].commit());
        if let (Some(before), Some(now)) = (before, it.commit())
            && before.commit != now.commit
        {
            marks.push(Mark {
                x: fixed(x(at), 1),
                title: format!("{} {}", now.words(), now.subject),
            });
        }
        let Some(value) = value(it) else {
            continue;
        };
        let (x, y) = (fixed(x(at), 1), fixed(y(value), 1));
        let _ = write!(line, "{}{x} {y}", if line.is_empty() { "M" } else { " L" });
        points.push(Point {
            title: format!(
                "{}: {}, {}",
                moment::words(&it.at),
                it.status.name(),
                words(value)
            ),
            status: it.status.name(),
            x,
            y,
        });
    }
    Some(Chart {
        title,
        words: format!(
            "{title} of {} results, from {} to {}",
            points.len(),
            words(first),
            words(last)
        ),
        highest: words(highest),
        line,
        points,
        marks,
    })
}
