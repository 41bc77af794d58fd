//! Measurements over the results of scenarios: flakiness, slowdowns, costs and first bad results.

use crate::command::quoted;
use model::Status;
use model::number::{share, tidy};
use model::published::history::{
    Commit, CommitRange, FORMAT_VERSION, FirstBad, History, HistoryDocument, HistoryResult,
    RECORDED, Ranked, Slowdown, SlowdownGate, TooSlow, Unmeasured,
};

/// How many scenarios each ranking names.
const RANKED: usize = 10;

/// With fewer results before, nothing is said of a slowdown.
const FEWEST: usize = 3;

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The database, without what gives access to it.
    pub database: String,
    /// How many of the latest results of each scenario were looked at.
    pub last: usize,
    /// How many times as long as usual the latest result may take.
    pub max_slowdown: Option<f64>,
}

/// The document of these results, of which nothing is made yet.
pub fn measured(asked: &Asked, series: Vec<History>) -> HistoryDocument {
    let scenarios: Vec<History> = series.into_iter().map(history).collect();
    let gate = asked
        .max_slowdown
        .map(|max_factor| gate(&scenarios, max_factor));
    HistoryDocument {
        format_version: FORMAT_VERSION,
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        database: asked.database.clone(),
        last: asked.last,
        slowest: ranked(&scenarios, |it| it.median_duration_ms),
        flakiest: ranked(&scenarios, |it| it.flakiness.filter(|it| *it > 0.0)),
        most_expensive: ranked(&scenarios, |it| it.known_cost.filter(|it| *it > 0.0)),
        gate,
        scenarios,
    }
}

fn history(series: History) -> History {
    let results = &series.results;
    let verdicts = results.iter().filter_map(HistoryResult::verdict);
    let (judged, passed) =
        verdicts.fold((0, 0), |(all, good), it| (all + 1, good + usize::from(it)));
    let count = |status| results.iter().filter(|it| it.status == status).count();
    let costs: Vec<f64> = results.iter().filter_map(|it| it.cost).collect();
    History {
        judged,
        passed,
        pass_rate: share(passed, judged),
        errors: count(Status::Error),
        timeouts: count(Status::Timeout),
        interrupted: count(Status::Interrupted),
        flakiness: flakiness(results),
        median_duration_ms: median(results.iter().filter_map(HistoryResult::took)),
        median_score: median(results.iter().filter_map(|it| it.score)),
        known_cost: (!costs.is_empty()).then(|| tidy(costs.iter().sum())),
        first_bad: first_bad(&series),
        slowdown: slowdown(results),
        ..series
    }
}

/// The middle of some values; the mean of the two in the middle where there are two.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// How often verdicts flip although the code is the same.
fn flakiness(results: &[HistoryResult]) -> Option<f64> {
    let judged: Vec<&HistoryResult> = results
        .iter()
        .filter(|it| it.verdict().is_some() || it.flaky)
        .collect();
    let (mut pairs, mut flips) = (0_u32, 0_u32);
    for pair in judged.windows(2) {
        let [before, now] = pair else {
            continue;
        };
        if is_same_state(before, now) {
            pairs += 1;
            flips += u32::from(before.verdict() != now.verdict());
        }
    }
    // The runs of such a result are neighbours of one state.
    for _ in judged.iter().filter(|it| it.flaky) {
        pairs += 1;
        flips += 1;
    }
    (pairs > 0).then(|| f64::from(flips) / f64::from(pairs))
}

/// Whether two results are of the same code, as far as their stamps tell. Where no repository is known, nothing tells them apart.
fn is_same_state(before: &HistoryResult, now: &HistoryResult) -> bool {
    let is_clean = |it: &HistoryResult| {
        [&it.source, &it.scenarios]
            .into_iter()
            .flatten()
            .all(|it| it.dirty != Some(true))
    };
    let ids = |it: &HistoryResult| {
        [&it.source, &it.scenarios].map(|it| it.as_ref().map(|it| it.commit.clone()))
    };
    before.servers == now.servers && is_clean(before) && is_clean(now) && ids(before) == ids(now)
}

/// Since when a scenario does not pass: what broke or took too long is as bad as what failed.
fn first_bad(series: &History) -> Option<FirstBad> {
    let decided: Vec<&HistoryResult> = series
        .results
        .iter()
        .filter(|it| it.went_well().is_some())
        .collect();
    if decided.last()?.went_well() != Some(false) {
        return None;
    }
    let last_good = decided.iter().rposition(|it| it.went_well() == Some(true));
    let first = decided[last_good.map_or(0, |at| at + 1)];
    let good = last_good.map(|at| decided[at]);
    let range = good.and_then(|good| range(good, first));
    // Which runs the servers, and those have not failed where what was recorded of them answered.
    let is_recorded = series.servers.as_deref() == Some(RECORDED);
    let by_source = range.as_ref().filter(|it| it.of_source && !is_recorded);
    let bisect = by_source.map(|it| {
        // The row of a data set and the cell of a matrix are in the file of their scenario.
        let path = quoted(&series.path);
        format!(
            "mcp-eval bisect {path} --good {} --bad {}",
            it.good.short, it.bad.short
        )
    });
    Some(FirstBad {
        run: first.run.clone(),
        at: first.at.clone(),
        reason: first.reason.clone(),
        last_good: good.map(|it| it.run.clone()),
        range,
        bisect,
    })
}

fn range(good: &HistoryResult, bad: &HistoryResult) -> Option<CommitRange> {
    between(good.source.as_ref(), bad.source.as_ref(), true)
        .or_else(|| between(good.scenarios.as_ref(), bad.scenarios.as_ref(), false))
}

/// What lies between two commits; `None` where one is not known, or they are one and the same.
fn between(good: Option<&Commit>, bad: Option<&Commit>, of_source: bool) -> Option<CommitRange> {
    let (good, bad) = (good?, bad?);
    (good.commit != bad.commit).then(|| CommitRange {
        good: good.clone(),
        bad: bad.clone(),
        of_source,
    })
}

/// The latest duration by the median of those before; `None` where too little is known, of the latest result or of those before.
fn slowdown(results: &[HistoryResult]) -> Option<Slowdown> {
    let latest_ms = results.last()?.took()?;
    let before = usual(results);
    let of = before.len();
    let median_ms = median(before.into_iter()).filter(|it| *it > 0.0)?;
    (of >= FEWEST).then(|| Slowdown {
        latest_ms,
        median_ms,
        of,
        factor: latest_ms / median_ms,
    })
}

/// The durations that the latest run of a scenario is held to.
fn usual_of(it: &History) -> Vec<f64> {
    if it.skipped.is_none() {
        return usual(&it.results);
    }
    // It would have come after all of them.
    let passed = it.results.iter().filter(|it| it.status == Status::Passed);
    passed.filter_map(HistoryResult::took).collect()
}

/// The durations of the results before the latest one that are like it. Only what passed tells how long it takes.
fn usual(results: &[HistoryResult]) -> Vec<f64> {
    let Some((latest, before)) = results.split_last() else {
        return Vec::new();
    };
    let before = before.iter().filter(|it| {
        it.status == Status::Passed
            // What never came as far as a server does not tell which it would have been.
            && (latest.servers.is_none() || it.servers == latest.servers)
            // Nor does what did not run tell how often it would have.
            && (latest.took().is_none() || it.attempts == latest.attempts.max(1))
    });
    before.filter_map(HistoryResult::took).collect()
}

fn gate(scenarios: &[History], max_factor: f64) -> SlowdownGate {
    // What was left out since then was not measured when it was last to be.
    let ran = scenarios.iter().filter(|it| it.skipped.is_none());
    let measured = ran.filter_map(|it| Some((it, it.slowdown?)));
    let too_slow = measured
        .clone()
        .filter(|(_, it)| it.factor > max_factor)
        .map(|(it, slowdown)| TooSlow {
            of: it.subject(),
            slowdown,
        });
    let too_slow: Vec<TooSlow> = too_slow.collect();
    let measured = measured.count();
    let unmeasured: Vec<Unmeasured> = scenarios.iter().filter_map(unmeasured).collect();
    let disabled = scenarios.iter();
    let disabled = disabled.filter(|it| it.is_disabled() && usual_of(it).len() >= FEWEST);
    let is_known = measured > 0 && unmeasured.is_empty();
    SlowdownGate {
        max_factor,
        passed: (is_known || !too_slow.is_empty()).then_some(too_slow.is_empty()),
        measured,
        needed: FEWEST,
        most: (scenarios.iter().map(|it| usual_of(it).len()).max()).unwrap_or(0),
        too_slow,
        unmeasured,
        disabled: disabled.map(|it| it.id.clone()).collect(),
    }
}

/// What there is to say of a scenario whose latest run has no duration, where there would be one to hold it to. One that somebody has disabled
/// was not to run.
fn unmeasured(it: &History) -> Option<Unmeasured> {
    let status = match &it.skipped {
        Some(skipped) => (!skipped.disabled).then_some(Status::Skipped)?,
        None => it.latest().filter(|it| it.took().is_none())?.status,
    };
    (usual_of(it).len() >= FEWEST).then(|| Unmeasured {
        of: it.subject(),
        status,
    })
}

/// The scenarios with the largest values.
fn ranked(scenarios: &[History], value: impl Fn(&History) -> Option<f64>) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = scenarios
        .iter()
        .filter_map(|it| {
            Some(Ranked {
                of: it.subject(),
                value: value(it)?,
            })
        })
        .collect();
    ranked.sort_by(|a, b| {
        b.value
            .total_cmp(&a.value)
            .then_with(|| a.of.id.cmp(&b.of.id))
    });
    ranked.truncate(RANKED);
    ranked
}
