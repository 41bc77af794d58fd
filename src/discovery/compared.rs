//! A search compared with what it was before, or with another: query by query.

use std::collections::{HashMap, HashSet};

use super::baseline::{Baseline, BaselineQuery, graded};
use super::measures::Figures;
use super::retrieval::{Measured, TESTED};
use super::statistics::{holm, mean, randomisation};
use crate::published::measured::retrieval::{Before, Compared, Test, Tied};

impl Measured<'_> {
    /// Compares query by query with another measurement, which is what it was before.
    pub fn compare(&mut self, with: &str, baseline: &Baseline) {
        let before = &baseline.queries;
        let compared = self.compared_with(with, baseline);
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
    pub fn compare_beside(&mut self, with: &str, other: &Baseline) {
        self.report.beside = Some(self.compared_with(with, other));
    }

    fn compared_with(&self, with: &str, baseline: &Baseline) -> Compared {
        let before = &baseline.queries;
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
            let (recall, recall_then) = (figures.recall.at(5), then.recall.at(5));
            let mut tested = TESTED.iter();
            let list = if differ(recall, recall_then) {
                if recall < recall_then {
                    Some((&mut compared.lost, true))
                } else {
                    Some((&mut compared.won, true))
                }
            } else if tested.any(|(_, figure)| differ(figure(figures), figure(&then))) {
                Some((&mut compared.moved, true))
            } else if query.retrieved != before.retrieved {
                Some((&mut compared.reordered, false))
            } else {
                None
            };
            let may_be_chance = if differ(recall, recall_then) {
                let of = |it: &Tied| it.recall_at_5;
                meet((recall, query.tied), (recall_then, before.tied), of)
            } else {
                let of = |it: &Tied| it.ndcg_at_10;
                meet((figures.ndcg, query.tied), (then.ndcg, before.tied), of)
            };
            if let Some((list, is_judged)) = list {
                list.push(query.id.clone());
                if may_be_chance && is_judged {
                    compared.tied.push(query.id.clone());
                }
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
}

/// Whether equal scores on one of two sides, or on both, could make both the same: each is a figure, and what equal scores could make of it.
fn meet(
    here: (f64, Option<Tied>),
    there: (f64, Option<Tied>),
    of: impl Fn(&Tied) -> [f64; 2],
) -> bool {
    if here.1.is_none() && there.1.is_none() {
        return false;
    }
    let range = |(own, tied): (f64, Option<Tied>)| tied.map_or([own, own], |it| of(&it));
    let ([low, high], [least, most]) = (range(here), range(there));
    low <= most + 1e-12 && least <= high + 1e-12
}

/// Whether figures differ by more than the last bits that a mean of several runs costs.
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
