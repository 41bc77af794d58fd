//! The measurement of a search: what it answered, scored.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::baseline::{Baseline, BaselineQuery, graded};
use super::corpus::Corpus;
use super::golden::{Golden, Query};
use super::measures::{AtCuts, CUTS, DEPTH, Figures, Grades, Ids, Ranking, figures, means, ties};
use super::search::{Answer, Finds};
use super::statistics::{bootstrap, count, ends, holm, mean, quantile, randomisation};
use crate::model::number::is_at_most;
use crate::published::measured::Status;
use crate::published::measured::retrieval::{
    Allowed, Before, ByCut, Compared, Delta, Floor, Further, Gate, Latency, LostGate, Metrics,
    Miss, QueryReport, Report, Test, Ties, Why,
};

/// What the queries are measured against.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    pub corpus: &'a Corpus,
    pub golden: &'a Golden,
    pub finds: Finds,
}

/// What else was learned about a search.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// The ids that the server has now, where it tells.
    pub live: Option<HashSet<String>>,
    /// What was answered when a hundred were asked for, by query id.
    pub deep: HashMap<String, Vec<String>>,
}

/// What is asked of a measurement.
#[derive(Debug, Clone, Default)]
pub struct Demands {
    /// How much lower than the baseline's recall@5 may be; else what the baseline says, else 0.05.
    pub tolerance: Option<f64>,
    /// What recall@5 must be at least, whatever it was before.
    pub floor: Option<f64>,
    pub max_lost: Option<usize>,
    /// Queries that may be lost now.
    pub allowed: Vec<Allowed>,
}

/// The scored answers of a search.
pub struct Measured<'a> {
    ground: Ground<'a>,
    /// The figures of each query, averaged over the runs.
    per_query: Vec<Figures>,
    overall: Figures,
    report: Report,
}

/// Why answers cannot be scored, in a sentence.
pub type Problem = String;

/// The labels of a query as the search sees them: where it finds servers, those of the tools that are labelled.
fn grades(query: &Query, finds: Finds) -> Grades {
    match finds {
        Finds::Tools => query.grades(),
        Finds::Servers => {
            let mut best: BTreeMap<&str, u8> = BTreeMap::new();
            for label in &query.labels {
                let server = server(&label.tool_id);
                let grade = best.entry(server).or_default();
                *grade = label.grade.max(*grade);
            }
            Grades::new(best)
        }
    }
}

fn server(id: &str) -> &str {
    id.split_once(':').map_or(id, |(server, _)| server)
}

impl Ground<'_> {
    /// The ids that may be found.
    pub fn ids(&self) -> Ids {
        match self.finds {
            Finds::Tools => self.corpus.ids(),
            Finds::Servers => Ids::new(self.corpus.tools.iter().map(|it| server(&it.id))),
        }
    }

    /// The relevant ids of a query, the best first.
    fn relevant(&self, query: &Query) -> Vec<(String, u8)> {
        let grades = grades(query, self.finds);
        let mut seen = HashSet::new();
        let mut all: Vec<(String, u8)> = Vec::new();
        for label in &query.labels {
            let id = match self.finds {
                Finds::Tools => label.tool_id.as_str(),
                Finds::Servers => server(&label.tool_id),
            };
            if grades.of(id) >= 1 && seen.insert(id) {
                all.push((id.to_owned(), grades.of(id)));
            }
        }
        all.sort_by_key(|it| std::cmp::Reverse(it.1));
        all
    }

    /// Whether nothing at all was found, whatever was asked, which is how a search looks that is asked wrongly, or has nothing indexed: a sentence.
    pub fn refuse_silence(&self, runs: &[Vec<Answer>]) -> Option<Problem> {
        let mut answers = runs.iter().flatten();
        let queries = self.golden.queries.len();
        let is_silent = queries > 0 && answers.all(|it| it.found.is_empty());
        is_silent.then(|| {
            let tools = self.corpus.tools.len();
            format!(
                "nothing was found for any of the {queries} queries, out of {tools} tools: the search is asked wrongly, or has nothing indexed yet"
            )
        })
    }

    /// What looks as if it were set up wrongly, in sentences.
    pub fn doubts(&self, runs: &[Vec<Answer>]) -> Vec<String> {
        let mut told = Vec::new();
        let shown = |ids: &[&str]| {
            let more = if ids.len() > 3 { ", …" } else { "" };
            let ids = ids.iter().take(3).map(|it| format!("`{it}`"));
            format!("{}{more}", ids.collect::<Vec<_>>().join(", "))
        };
        let queries = &self.golden.queries;
        let silent = queries.iter().enumerate().filter(|(at, _)| {
            let mut answers = runs.iter().filter_map(|run| run.get(*at));
            answers.all(|it| it.found.is_empty())
        });
        let silent: Vec<&str> = silent.map(|(_, it)| it.id.as_str()).collect();
        if 2 * silent.len() >= queries.len() && !silent.is_empty() {
            told.push(format!(
                "warning: nothing at all was found for {} of {} queries ({})",
                silent.len(),
                queries.len(),
                shown(&silent)
            ));
        }
        let labels = queries.iter().flat_map(|it| &it.labels);
        let stale = labels.filter(|it| it.grade >= 1 && self.corpus.tool(&it.tool_id).is_none());
        let mut stale: Vec<&str> = stale.map(|it| it.tool_id.as_str()).collect();
        stale.sort_unstable();
        stale.dedup();
        if !stale.is_empty() {
            told.push(format!(
                "warning: {} that queries should find cannot be found, because the corpus does not have them ({}): `mcp-eval datasets validate` says where they are labelled",
                if stale.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", stale.len()) },
                shown(&stale)
            ));
        }
        told
    }

    /// Whether so many answered ids are unknown that they are written otherwise than those of the corpus: a sentence that shows both.
    pub fn refuse_unmapped(&self, runs: &[Vec<Answer>]) -> Option<Problem> {
        let ids = self.ids();
        let answered = || runs.iter().flatten().flat_map(Answer::ids);
        let all = answered().count();
        let strange: Vec<&str> = answered().filter(|it| !ids.contains(it)).collect();
        if all == 0 || 2 * (all - strange.len()) >= all {
            return None;
        }
        let shown = |ids: Vec<&str>| {
            let mut seen = HashSet::new();
            let ids = ids.into_iter().filter(|it| seen.insert(*it)).take(3);
            ids.map(|it| format!("`{it}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let theirs = self.corpus.tools.iter().map(|it| match self.finds {
            Finds::Tools => it.id.as_str(),
            Finds::Servers => server(&it.id),
        });
        Some(format!(
            "{} of {all} answered ids are not in the corpus: the search answers {}, and the corpus has {}",
            strange.len(),
            shown(strange),
            shown(theirs.collect()),
        ))
    }
}

/// Scores what a search answered: for each run, an answer per query, in the order of the golden set.
pub fn measure<'a>(ground: Ground<'a>, runs: &[Vec<Answer>], learned: &Learned) -> Measured<'a> {
    let ids = ground.ids();
    let queries = &ground.golden.queries;
    let grades: Vec<Grades> = queries.iter().map(|it| grades(it, ground.finds)).collect();
    let mut by_run: Vec<Vec<Figures>> = Vec::new();
    let mut wanted: Vec<Vec<Figures>> = Vec::new();
    let mut further = Further::default();
    let (mut looked, mut unlabelled) = (0, 0);
    for run in runs {
        let mut scored = Vec::with_capacity(queries.len());
        let mut strict = Vec::with_capacity(queries.len());
        for (answer, grades) in run.iter().zip(&grades) {
            let answered = answer.ids();
            let ranking = Ranking::new(&answered, &ids);
            scored.push(figures(ranking.top(), grades));
            strict.push(figures(ranking.top(), &grades.only_wanted()));
            looked += ranking.top().len();
            let unknown = ranking.top().iter().filter(|it| !grades.is_labelled(it));
            unlabelled += unknown.count();
            further.repeated += usize::from(!ranking.repeated.is_empty());
            for id in &ranking.unmapped {
                *further.unmapped.entry((*id).to_owned()).or_default() += 1;
            }
        }
        by_run.push(scored);
        wanted.push(strict);
    }
    let overall = over_runs(&by_run);
    let answers = || runs.iter().flatten();
    let sizes: Vec<f64> = answers().map(|it| count(it.bytes)).collect();
    let times: Vec<f64> = answers().map(|it| it.took.as_secs_f64() * 1000.0).collect();
    further.hit_at = by_cut(&overall.hit);
    further.complete_at = by_cut(&overall.complete);
    further.ndcg_exp_at_10 = overall.ndcg_exp;
    further.grade_2_only = metrics(&over_runs(&wanted));
    further.unlabelled_share = if looked == 0 {
        0.0
    } else {
        count(unlabelled) / count(looked)
    };
    further.bytes = mean(&sizes);
    further.tokens = further.bytes / 4.0;
    if let (Some(p50), Some(p95)) = (quantile(&times, 0.5), quantile(&times, 0.95)) {
        further.latency_ms = Some(Latency { p50, p95 });
    }
    let per_query: Vec<Figures> = (0..queries.len())
        .map(|at| {
            let over: Vec<Figures> = by_run
                .iter()
                .filter_map(|run| run.get(at).copied())
                .collect();
            means(&over)
        })
        .collect();
    let zero = queries
        .iter()
        .zip(&per_query)
        .filter(|(_, it)| it.mrr == 0.0);
    further.zero_hits = zero.map(|(query, _)| query.id.clone()).collect();
    let mut report = Report {
        runs_averaged: runs.len(),
        metrics: Some(metrics(&overall)),
        further: Some(further),
        ..Report::default()
    };
    for (name, figure) in TESTED {
        let values: Vec<f64> = per_query.iter().map(figure).collect();
        if let Some(interval) = bootstrap(&values) {
            report.intervals.insert((*name).to_owned(), ends(interval));
        }
    }
    steadiness(&mut report, queries, runs, &ids);
    report.ties = tied(queries, runs, &grades, &ids, &by_run);
    let first = runs.first().map(Vec::as_slice).unwrap_or_default();
    for ((query, answer), figures) in queries.iter().zip(first).zip(&per_query) {
        let answered = answer.ids();
        let ranking = Ranking::new(&answered, &ids);
        let relevant = ground.relevant(query);
        let top: Vec<String> = ranking.top().iter().map(|it| (*it).to_owned()).collect();
        let missing = relevant.iter().filter(|(id, _)| !top.contains(id));
        let misses = missing.map(|(id, _)| miss(id, query, answer, &ids, learned));
        report.per_query.push(QueryReport {
            id: query.id.clone(),
            query: query.text.clone(),
            recall_at: by_cut(&figures.recall),
            mrr: figures.mrr,
            ndcg_at_10: figures.ndcg,
            ap: figures.ap,
            misses: misses.collect(),
            grades: relevant.iter().map(|it| it.1).collect(),
            relevant: relevant.into_iter().map(|(id, _)| id).collect(),
            retrieved: top,
            before: None,
            ms: Some(answer.took.as_secs_f64() * 1000.0),
        });
    }
    Measured {
        ground,
        per_query,
        overall,
        report,
    }
}

/// The means over queries, then over runs.
fn over_runs(runs: &[Vec<Figures>]) -> Figures {
    let each: Vec<Figures> = runs.iter().map(|it| means(it)).collect();
    means(&each)
}

/// The queries of which something relevant is not among the first ten: worth a second question.
pub fn with_misses<'a>(ground: Ground<'a>, run: &[Answer]) -> Vec<&'a Query> {
    let ids = ground.ids();
    let queries = ground.golden.queries.iter().zip(run);
    let missing = queries.filter(|(query, answer)| {
        let answered = answer.ids();
        let ranking = Ranking::new(&answered, &ids);
        let relevant = ground.relevant(query);
        relevant
            .iter()
            .any(|(id, _)| !ranking.top().contains(&id.as_str()))
    });
    missing.map(|(query, _)| query).collect()
}

fn miss(id: &str, query: &Query, answer: &Answer, corpus: &Ids, learned: &Learned) -> Miss {
    let deep = learned.deep.get(&query.id);
    let rank = deep.and_then(|ids| {
        let ranking = Ranking::new(ids, corpus);
        ranking.ids.iter().position(|it| *it == id)
    });
    let is_gone = learned.live.as_ref().is_some_and(|it| !it.contains(id));
    let why = if !corpus.contains(id) {
        Why::LabelStale
    } else if is_gone {
        Why::NotInCatalogue
    } else if answer.found.is_empty() {
        Why::NoAnswer
    } else if rank.is_some_and(|it| it >= DEPTH) {
        Why::RankedBelow
    } else {
        Why::NotFound
    };
    Miss {
        tool_id: id.to_owned(),
        why,
        rank: rank.map(|it| it + 1),
    }
}

/// Whether several runs answered alike.
fn steadiness(report: &mut Report, queries: &[Query], runs: &[Vec<Answer>], ids: &Ids) {
    if runs.len() < 2 {
        return;
    }
    for (at, query) in queries.iter().enumerate() {
        let rankings = runs.iter().filter_map(|run| run.get(at)).map(|answer| {
            let answered = answer.ids();
            let ranking = Ranking::new(&answered, ids);
            let top: Vec<String> = ranking.top().iter().map(|it| (*it).to_owned()).collect();
            top
        });
        let rankings: HashSet<Vec<String>> = rankings.collect();
        if rankings.len() > 1 {
            report.unsteady.push(query.id.clone());
        }
    }
    report.deterministic = Some(report.unsteady.is_empty());
}

fn tied(
    queries: &[Query],
    runs: &[Vec<Answer>],
    grades: &[Grades],
    ids: &Ids,
    scored: &[Vec<Figures>],
) -> Option<Ties> {
    let mut found = Ties::default();
    let (mut worst, mut best) = (scored.to_vec(), scored.to_vec());
    for (run, answers) in runs.iter().enumerate() {
        for (at, answer) in answers.iter().enumerate() {
            let answered = answer.ids();
            let ranking = Ranking::new(&answered, ids);
            let places = ranking.places.iter();
            let values: Vec<Option<f64>> = places.map(|it| answer.found[*it].score).collect();
            if let Some(cases) = ties(&ranking.ids, &values, &grades[at]) {
                (worst[run][at], best[run][at]) = cases;
                if !found.queries.contains(&queries[at].id) {
                    found.queries.push(queries[at].id.clone());
                }
            }
        }
    }
    found.worst = metrics(&over_runs(&worst));
    found.best = metrics(&over_runs(&best));
    (!found.queries.is_empty()).then_some(found)
}

type Tested = (&'static str, fn(&Figures) -> f64);

/// The figures that have intervals and tests.
const TESTED: &[Tested] = &[
    ("recall_at_5", |it| it.recall.at(5)),
    ("mrr", |it| it.mrr),
    ("ndcg_at_10", |it| it.ndcg),
    ("map", |it| it.ap),
];

impl Measured<'_> {
    /// Holds the measurement against a baseline, or what takes its part: the gate, and what became of each query where it knows.
    pub fn judge(&mut self, name: &str, baseline: &Baseline, demands: &Demands) {
        let (tolerance, threshold) = baseline.gate(demands.tolerance);
        let value = self.overall.recall.at(5);
        let report = &mut self.report;
        if threshold <= 0.0 {
            report.notes.push(format!(
                "warning: the gate of recall@5 cannot fail, as it allows {threshold:.3}"
            ));
        }
        report.gate = Some(Gate {
            metric: "recall_at_5".to_owned(),
            passed: is_at_most(threshold, value),
            tolerance,
            value,
            threshold,
        });
        self.tell_difference(baseline);
        let report = &mut self.report;
        let queries = self.ground.golden.queries.len();
        let allowed = (0..=queries)
            .rev()
            .find(|it| count(*it) <= tolerance * count(queries) + 1e-9);
        report.notes.push(format!(
            "a tolerance of {tolerance} lets {} of {queries} queries be lost as a whole, and more where others are won; it is so much {}",
            allowed.unwrap_or_default(),
            baseline.who_tolerates(demands.tolerance)
        ));
        if !baseline.queries.is_empty() {
            self.compare(name, &baseline.queries);
        }
        self.judge_lost(demands);
        self.tell_other_queries(demands.max_lost.is_some());
        let report = &mut self.report;
        if report.gate.as_ref().is_some_and(|it| !it.passed) {
            report.status = Status::Failed;
        }
    }

    /// Holds the queries that are lost against how many may be, where that is demanded.
    pub fn judge_lost(&mut self, demands: &Demands) {
        let Some(most) = demands.max_lost else {
            return;
        };
        self.gate_lost(most, &demands.allowed);
        let report = &mut self.report;
        if report.lost_gate.as_ref().is_some_and(|it| !it.passed) {
            report.status = Status::Failed;
        }
    }

    /// Holds recall@5 against what it must be at least, whatever it was before.
    pub fn hold_floor(&mut self, demands: &Demands) {
        let Some(floor) = demands.floor else {
            return;
        };
        let value = self.overall.recall.at(5);
        let passed = is_at_most(floor, value);
        let report = &mut self.report;
        report.floor = Some(Floor {
            metric: "recall_at_5".to_owned(),
            passed,
            value,
            floor,
        });
        if !passed && report.status == Status::Passed {
            report.status = Status::Failed;
        }
    }

    /// Says how much each figure differs from an earlier one.
    pub fn tell_difference(&mut self, before: &Baseline) {
        let less = |now: f64, then: Option<f64>| then.map(|it| now - it);
        let recall_at = CUTS.iter().filter_map(|cut| {
            let then = before.recall_at(*cut)?;
            Some((cut.to_string(), self.overall.recall.at(*cut) - then))
        });
        self.report.baseline_delta = Some(Delta {
            recall_at: recall_at.collect(),
            recall_at_5: less(self.overall.recall.at(5), before.recall_at(5)),
            mrr: less(self.overall.mrr, before.mrr),
            ndcg_at_10: less(self.overall.ndcg, before.ndcg),
            map: less(self.overall.ap, before.map),
        });
    }

    /// Says that means are held against those of other queries.
    fn tell_other_queries(&mut self, is_gated: bool) {
        let Some(compared) = &self.report.compared else {
            return;
        };
        let parts = [
            ("other words or labels", &compared.changed),
            ("no such query there", &compared.only_here),
            ("asked no more", &compared.only_there),
        ];
        // What gates says so by itself.
        let parts = parts
            .iter()
            .filter(|(what, ids)| !ids.is_empty() && (!is_gated || *what == "no such query there"));
        let parts: Vec<String> = parts
            .map(|(what, ids)| format!("{what}: {}", ids.join(", ")))
            .collect();
        if !parts.is_empty() {
            self.report.notes.push(format!(
                "warning: {} has other queries, so that its recall@5 is of something else ({})",
                compared.with,
                parts.join("; ")
            ));
        }
    }

    fn gate_lost(&mut self, most: usize, allowed: &[Allowed]) {
        let report = &mut self.report;
        let Some(compared) = &report.compared else {
            report.status = Status::Incomplete;
            report.problems.push(
                "the baseline does not know its queries, so that nobody can say which are lost: take a `report.json` for one"
                    .to_owned(),
            );
            return;
        };
        let is_allowed = |id: &str| allowed.iter().any(|it| it.id == id);
        // Of a query that is another now, or is asked no more, nobody can say whether it is lost.
        let shown = |ids: &[String]| -> Option<String> {
            let ids = ids.iter().filter(|it| !is_allowed(it));
            let ids: Vec<String> = ids.map(|it| format!("`{it}`")).collect();
            (!ids.is_empty()).then(|| ids.join(", "))
        };
        let changed = shown(&compared.changed)
            .map(|it| format!("with other words or labels than in {}: {it}", compared.with));
        let gone = shown(&compared.only_there).map(|it| format!("asked no more: {it}"));
        let unknown: Vec<String> = changed.into_iter().chain(gone).collect();
        let (excused, lost): (Vec<String>, Vec<String>) =
            compared.lost.iter().cloned().partition(|it| is_allowed(it));
        report.lost_gate = Some(LostGate {
            max_lost: most,
            passed: lost.len() <= most,
            lost,
            allowed: allowed
                .iter()
                .filter(|it| excused.contains(&it.id))
                .cloned()
                .collect(),
        });
        if !unknown.is_empty() {
            report.status = Status::Incomplete;
            report.problems.push(format!(
                "nobody can say which queries are lost ({}): measure the baseline again, or name them in `--allow-lost` (`allow_lost`)",
                unknown.join("; ")
            ));
        }
    }

    /// Compares query by query with another measurement, which is what it was before.
    pub fn compare(&mut self, with: &str, before: &[BaselineQuery]) {
        let compared = self.compared_with(with, before);
        let known: HashMap<&str, &BaselineQuery> =
            before.iter().map(|it| (it.id.as_str(), it)).collect();
        for query in &mut self.report.per_query {
            let Some(before) = known.get(query.id.as_str()) else {
                continue;
            };
            if compared.changed.contains(&query.id) {
                continue;
            }
            query.before = Some(Before {
                recall_at_5: before.recall.at(5),
                mrr: before.mrr,
                ndcg_at_10: before.ndcg,
                ap: before.ap,
                retrieved: before.retrieved.clone(),
            });
        }
        self.report.compared = Some(compared);
    }

    /// Compares with another measurement besides.
    pub fn compare_beside(&mut self, with: &str, other: &[BaselineQuery]) {
        self.report.beside = Some(self.compared_with(with, other));
    }

    fn compared_with(&self, with: &str, before: &[BaselineQuery]) -> Compared {
        let known: HashMap<&str, &BaselineQuery> =
            before.iter().map(|it| (it.id.as_str(), it)).collect();
        let mut compared = Compared {
            with: with.to_owned(),
            ..Compared::default()
        };
        let mut pairs: Vec<(Figures, Figures)> = Vec::new();
        for (query, figures) in self.report.per_query.iter().zip(&self.per_query) {
            let Some(before) = known.get(query.id.as_str()) else {
                compared.only_here.push(query.id.clone());
                continue;
            };
            if before.is_other(&query.query, &graded(&query.relevant, &query.grades)) {
                compared.changed.push(query.id.clone());
                continue;
            }
            let then = Figures {
                recall: before.recall,
                mrr: before.mrr,
                ndcg: before.ndcg,
                ap: before.ap,
                ..Figures::default()
            };
            let list = match figures.recall.at(5).total_cmp(&then.recall.at(5)) {
                std::cmp::Ordering::Less => Some(&mut compared.lost),
                std::cmp::Ordering::Greater => Some(&mut compared.won),
                std::cmp::Ordering::Equal => {
                    let differs = TESTED
                        .iter()
                        .any(|(_, figure)| differ(figure(figures), figure(&then)))
                        || query.retrieved != before.retrieved;
                    differs.then_some(&mut compared.moved)
                }
            };
            if let Some(list) = list {
                list.push(query.id.clone());
            }
            pairs.push((*figures, then));
        }
        let here: HashSet<&str> = self
            .report
            .per_query
            .iter()
            .map(|it| it.id.as_str())
            .collect();
        let gone = before.iter().filter(|it| !here.contains(it.id.as_str()));
        compared.only_there = gone.map(|it| it.id.clone()).collect();
        compared.tests = tests(&pairs);
        compared
    }

    /// The figures, for another measurement to be held against.
    pub fn figures(&self) -> Baseline {
        Baseline::of(
            &self.overall,
            self.ground.golden.corpus_version.clone(),
            self.as_baseline(),
        )
    }

    /// What each query got.
    fn as_baseline(&self) -> Vec<BaselineQuery> {
        let queries = self.report.per_query.iter().zip(&self.per_query);
        let queries = queries.map(|(query, figures)| BaselineQuery {
            id: query.id.clone(),
            text: Some(query.query.clone()),
            labels: Some(graded(&query.relevant, &query.grades)),
            recall: AtCuts(CUTS.map(|cut| figures.recall.at(cut))),
            mrr: figures.mrr,
            ndcg: figures.ndcg,
            ap: figures.ap,
            retrieved: query.retrieved.clone(),
        });
        queries.collect()
    }

    pub fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    pub fn into_report(mut self) -> Report {
        if self.report.status == Status::Passed && !self.report.is_gated() {
            self.report.status = Status::NoGate;
        }
        self.report
    }
}

/// The means as they are written.
fn metrics(figures: &Figures) -> Metrics {
    Metrics {
        recall_at: by_cut(&figures.recall),
        mrr: figures.mrr,
        ndcg_at_10: figures.ndcg,
        map: figures.ap,
    }
}

/// Figures under the names of their cuts.
fn by_cut(at: &AtCuts) -> ByCut {
    let cuts = CUTS.iter().map(|cut| (cut.to_string(), at.at(*cut)));
    cuts.collect()
}

fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-12
}

fn tests(pairs: &[(Figures, Figures)]) -> Vec<Test> {
    let mut tests: Vec<Test> = TESTED
        .iter()
        .map(|(name, figure)| {
            let differences: Vec<f64> = pairs
                .iter()
                .map(|(now, then)| figure(now) - figure(then))
                .map(|it| if it.abs() <= 1e-12 { 0.0 } else { it })
                .collect();
            let found = randomisation(&differences);
            Test {
                metric: (*name).to_owned(),
                difference: mean(&differences),
                p: found.p,
                p_holm: found.p,
                exact: found.is_exact,
            }
        })
        .collect();
    let adjusted = holm(&tests.iter().map(|it| it.p).collect::<Vec<_>>());
    for (test, p) in tests.iter_mut().zip(adjusted) {
        test.p_holm = p;
    }
    tests
}
