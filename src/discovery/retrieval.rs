//! The measurement of a search: what it answered, scored.

use std::collections::{HashMap, HashSet};

use super::baseline::{Baseline, BaselineQuery, graded};
use super::golden::Query;
use super::ground::Ground;
use super::measures::{
    AtCuts, CUTS, DEPTH, Figures, Grades, Ids, Ranking, bootstrap, count, ends, figures, mean,
    means, quantile, ties,
};
use super::search::Answer;
use crate::published::measured::Status;
use crate::published::measured::retrieval::{
    ByCut, Further, Latency, Metrics, Miss, QueryReport, Report, Tied, Ties, Why,
};

/// Among how many ids something must stand to count for the gate.
const GATED: usize = 5;

/// What else was learned about a search.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    /// The ids that the server has now, where it tells.
    pub live: Option<HashSet<String>>,
    /// What was answered when a hundred were asked for, by query id.
    pub deep: HashMap<String, Answer>,
}

/// The scored answers of a search.
pub struct Measured<'a> {
    pub(super) ground: Ground<'a>,
    /// The figures of each query, averaged over the runs.
    pub(super) per_query: Vec<Figures>,
    pub(super) overall: Figures,
    pub(super) report: Report,
}

/// Scores what a search answered: for each run, an answer per query, in the order of the golden set.
pub fn measure<'a>(ground: Ground<'a>, runs: &[Vec<Answer>], learned: &Learned) -> Measured<'a> {
    let ids = ground.ids();
    let queries = &ground.golden.queries;
    let grades: Vec<Grades> = queries.iter().map(|it| ground.grades(it)).collect();
    let mut by_run: Vec<Vec<Figures>> = Vec::new();
    let mut wanted: Vec<Vec<Figures>> = Vec::new();
    let mut as_answered: Vec<Vec<Figures>> = Vec::new();
    let mut further = Further::default();
    let (mut looked, mut unlabelled) = (0, 0);
    for run in runs {
        let mut scored = Vec::with_capacity(queries.len());
        let mut strict = Vec::with_capacity(queries.len());
        let mut plain = Vec::with_capacity(queries.len());
        for (answer, grades) in run.iter().zip(&grades) {
            let answered = answer.ids();
            let ranking = Ranking::new(&answered, &ids);
            scored.push(figures(ranking.top(), grades));
            let wanted = grades.only_wanted();
            if wanted.relevant() > 0 {
                strict.push(figures(ranking.top(), &wanted));
            }
            plain.push(figures(&Ranking::as_answered(&answered), grades));
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
        as_answered.push(plain);
    }
    if !further.unmapped.is_empty() || further.repeated > 0 {
        further.as_answered = Some(metrics(&over_runs(&as_answered)));
    }
    let overall = over_runs(&by_run);
    let answers = || runs.iter().flatten();
    let sizes: Vec<f64> = answers().map(|it| count(it.bytes)).collect();
    let times: Vec<f64> = answers().map(|it| it.took.as_secs_f64() * 1000.0).collect();
    further.hit_at = by_cut(&overall.hit);
    further.complete_at = by_cut(&overall.complete);
    further.ndcg_exp_at_10 = overall.ndcg_exp;
    further.grade_2_only = metrics(&over_runs(&wanted));
    further.with_grade_2 = wanted.first().map_or(0, Vec::len);
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
    for (name, figure) in TESTED.iter().chain(FURTHER) {
        let values: Vec<f64> = per_query.iter().map(figure).collect();
        if let Some(interval) = bootstrap(&values) {
            report.intervals.insert((*name).to_owned(), ends(interval));
        }
    }
    steadiness(&mut report, queries, runs, &ids);
    let mut tied = tied(ground, runs, learned, &by_run);
    report.ties = tied.ties.take();
    let first = runs.first().map(Vec::as_slice).unwrap_or_default();
    for ((query, answer), figures) in queries.iter().zip(first).zip(&per_query) {
        let answered = answer.ids();
        let ranking = Ranking::new(&answered, &ids);
        let relevant = ground.relevant(query);
        let top: Vec<String> = ranking.top().iter().map(|it| (*it).to_owned()).collect();
        let misses =
            relevant
                .iter()
                .filter_map(|(id, _)| match top.iter().position(|it| it == id) {
                    None => Some(miss(id, query, answer, &ids, learned)),
                    Some(at) if at >= GATED => Some(Miss {
                        tool_id: id.clone(),
                        why: Why::BelowFive,
                        rank: Some(at + 1),
                    }),
                    Some(_) => None,
                });
        report.per_query.push(QueryReport {
            id: query.id.clone(),
            query: query.text.clone(),
            recall_at: by_cut(&figures.recall),
            mrr: figures.mrr,
            ndcg_at_10: figures.ndcg,
            ap: figures.ap,
            misses: misses.collect(),
            tied: tied.of_queries.remove(query.id.as_str()),
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

/// The queries of which something relevant is not among the first ten, or has the score of the tenth, so that it need not be: worth a second
/// question.
pub fn worth_asking_more<'a>(ground: Ground<'a>, run: &[Answer]) -> Vec<&'a Query> {
    let ids = ground.ids();
    let queries = ground.golden.queries.iter().zip(run);
    let open = queries.filter(|(query, answer)| {
        let answered = answer.ids();
        let ranking = Ranking::new(&answered, &ids);
        let scores = scores(answer, &ranking);
        let at_the_cut = scores.get(DEPTH - 1).copied().flatten();
        let relevant = ground.relevant(query);
        relevant.iter().any(|(id, _)| {
            let place = ranking.top().iter().position(|it| it == id);
            place.is_none_or(|it| at_the_cut.is_some() && scores[it] == at_the_cut)
        })
    });
    open.map(|(query, _)| query).collect()
}

/// The scores of what is ranked.
fn scores(answer: &Answer, ranking: &Ranking<'_>) -> Vec<Option<f64>> {
    let places = ranking.places.iter();
    places.map(|it| answer.found[*it].score).collect()
}

fn miss(id: &str, query: &Query, answer: &Answer, corpus: &Ids, learned: &Learned) -> Miss {
    let deep = learned.deep.get(&query.id);
    let rank = deep.and_then(|it| {
        let answered = it.ids();
        let ranking = Ranking::new(&answered, corpus);
        ranking.ids.iter().position(|it| *it == id)
    });
    let is_gone = learned.live.as_ref().is_some_and(|it| !it.contains(id));
    let why = if !corpus.contains(id) {
        Why::LabelStale
    } else if is_gone {
        Why::NotInCatalogue
    } else if answer.found.is_empty() {
        Why::NoAnswer
    } else {
        match rank {
            None => Why::NotFound,
            Some(rank) if rank < DEPTH => Why::FoundWithMore,
            Some(_) => Why::RankedBelow,
        }
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
    if !report.unsteady.is_empty() {
        report.notes.push(
            "of several runs, figures are means, and the ranks, lists and misses of queries are of the first"
                .to_owned(),
        );
    }
}

/// What equal scores could change, over all queries and of each.
struct Cases<'a> {
    ties: Option<Ties>,
    of_queries: HashMap<&'a str, Tied>,
}

/// What equal scores could change. Where more was asked for, what has the score of the tenth and comes after it is looked at, too.
fn tied<'a>(
    ground: Ground<'a>,
    runs: &[Vec<Answer>],
    learned: &Learned,
    figures: &[Vec<Figures>],
) -> Cases<'a> {
    let ids = ground.ids();
    let mut found = Ties::default();
    let mut of_queries = HashMap::new();
    let (mut worst, mut best) = (figures.to_vec(), figures.to_vec());
    for (run, answers) in runs.iter().enumerate() {
        for (at, (query, answer)) in ground.golden.queries.iter().zip(answers).enumerate() {
            let answered = answer.ids();
            let ranking = Ranking::new(&answered, &ids);
            let mut ranked: Vec<&str> = ranking.ids.clone();
            let mut values = scores(answer, &ranking);
            if let (Some(deep), Some(Some(last))) = (
                learned.deep.get(&query.id),
                values
                    .get(DEPTH - 1)
                    .copied()
                    .filter(|_| values.len() == DEPTH),
            ) {
                let equal = deep.found.iter().filter(|it| it.score == Some(last));
                let equal = equal.map(|it| it.id.as_str()).filter(|it| ids.contains(it));
                for id in equal {
                    if !ranked.contains(&id) {
                        ranked.push(id);
                        values.push(Some(last));
                    }
                }
            }
            if let Some(cases) = ties(&ranked, &values, &ground.grades(query)) {
                (worst[run][at], best[run][at]) = cases;
                if !found.queries.contains(&query.id) {
                    found.queries.push(query.id.clone());
                }
            }
        }
    }
    for (at, query) in ground.golden.queries.iter().enumerate() {
        if !found.queries.contains(&query.id) {
            continue;
        }
        let of = |cases: &[Vec<Figures>]| {
            let over: Vec<Figures> = cases
                .iter()
                .filter_map(|run| run.get(at).copied())
                .collect();
            means(&over)
        };
        let (worst, best) = (of(&worst), of(&best));
        let tied = Tied {
            recall_at_5: [worst.recall.at(5), best.recall.at(5)],
            ndcg_at_10: [worst.ndcg, best.ndcg],
        };
        of_queries.insert(query.id.as_str(), tied);
    }
    found.worst = metrics(&over_runs(&worst));
    found.best = metrics(&over_runs(&best));
    Cases {
        ties: (!found.queries.is_empty()).then_some(found),
        of_queries,
    }
}

pub(super) type Tested = (&'static str, fn(&Figures) -> f64);

/// The figures that have intervals and tests.
pub(super) const TESTED: &[Tested] = &[
    ("recall_at_5", |it| it.recall.at(5)),
    ("mrr", |it| it.mrr),
    ("ndcg_at_10", |it| it.ndcg),
    ("map", |it| it.ap),
];

/// Further figures that have intervals.
const FURTHER: &[Tested] = &[
    ("recall_at_1", |it| it.recall.at(1)),
    ("recall_at_3", |it| it.recall.at(3)),
    ("recall_at_10", |it| it.recall.at(10)),
];

impl Measured<'_> {
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
            tied: query.tied,
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
