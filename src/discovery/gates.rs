//! A search compared with what it was before, query by query, and its gates: what its figures have to reach.

use std::collections::{HashMap, HashSet};

use super::baseline::{Baseline, BaselineQuery, graded};
use super::measures::{CUTS, Figures, count, holm, mean, randomisation};
use super::retrieval::{Measured, TESTED};
use crate::model::number::is_at_most;
use crate::published::measured::Status;
use crate::published::measured::retrieval::{
    Allowed, Before, Compared, Delta, Floor, Gate, LostGate, Test, Tied,
};
use crate::scenario_file::measured::SearchGates;

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

impl Demands {
    /// What gates ask, but for what may be lost today.
    pub fn of(gates: &SearchGates) -> Self {
        Self {
            tolerance: gates.tolerance,
            floor: gates.recall_floor,
            max_lost: gates.max_lost,
            allowed: Vec::new(),
        }
    }

    /// Why nothing that is demanded can fail, in a sentence; `None` where something can, or where nothing is demanded. `queries` is how many
    /// there are.
    pub fn idle(&self, baseline: Option<&Baseline>, queries: usize) -> Option<String> {
        let mut idle = Vec::new();
        if let Some(baseline) = baseline {
            let (tolerance, threshold) = baseline.gate(self.tolerance);
            if threshold > 0.0 {
                return None;
            }
            let before = baseline.recall_at(5).unwrap_or_default();
            idle.push(format!(
                "recall@5 is {before:.3} in the baseline, and may be {tolerance} lower"
            ));
        }
        if let Some(floor) = self.floor {
            if floor > 0.0 {
                return None;
            }
            idle.push("recall@5 must be 0 at least".to_owned());
        }
        if let Some(most) = self.max_lost {
            if most < queries {
                return None;
            }
            idle.push(format!("{most} of {queries} queries may be lost"));
        }
        (!idle.is_empty()).then(|| format!("the gate cannot fail: {}", idle.join(", and ")))
    }
}

impl Measured<'_> {
    /// Holds the measurement against a baseline, or what takes its part: the gate, and what became of each query where it knows.
    pub fn judge(&mut self, name: &str, baseline: &Baseline, demands: &Demands) {
        let (tolerance, threshold) = baseline.gate(demands.tolerance);
        let value = self.overall.recall.at(5);
        let report = &mut self.report;
        if baseline.failed {
            report.notes.push(
                "warning: the baseline is a report of a measurement that failed what was demanded of it"
                    .to_owned(),
            );
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
            self.compare(name, baseline);
        }
        self.judge_lost(demands);
        self.tell_other_queries(demands.max_lost.is_some());
        let report = &mut self.report;
        // Where nobody can say which queries are lost, the means are of other queries, too.
        if report.status == Status::Passed && report.gate.as_ref().is_some_and(|it| !it.passed) {
            report.status = Status::Failed;
        }
    }

    /// Says that nothing could fail, where that is so: then nothing has passed.
    pub fn refuse_idle(&mut self, baseline: Option<&Baseline>, demands: &Demands) {
        let queries = self.ground.golden.queries.len();
        if let Some(why) = demands.idle(baseline, queries) {
            self.report.status = Status::Incomplete;
            self.report.problems.push(why);
        }
    }

    /// Holds the queries that are lost against how many may be, where that is demanded.
    pub fn judge_lost(&mut self, demands: &Demands) {
        let Some(most) = demands.max_lost else {
            return;
        };
        self.gate_lost(most, &demands.allowed);
        let report = &mut self.report;
        let failed = |it: &LostGate| !it.passed && !it.not_measured;
        if report.lost_gate.as_ref().is_some_and(failed) {
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
        // What gates says so by itself.
        let parts = [
            ("other words or labels", &compared.changed, !is_gated),
            ("no such query there", &compared.only_here, true),
            ("asked no more", &compared.only_there, !is_gated),
        ];
        let parts = parts
            .iter()
            .filter(|(_, ids, is_listed)| *is_listed && !ids.is_empty());
        let parts: Vec<String> = parts
            .map(|(what, ids, _)| format!("{what}: {}", ids.join(", ")))
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
                "the baseline does not list its queries, so lost ones cannot be found: use a `report.json` as the baseline"
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
            passed: lost.len() <= most && unknown.is_empty(),
            not_measured: lost.len() <= most && !unknown.is_empty(),
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
                "lost queries cannot be determined ({}): measure the baseline again, or name them in `--allow-lost` (`allow_lost`)",
                unknown.join("; ")
            ));
        }
    }
}

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
