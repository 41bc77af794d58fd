//! Results over time, by what they are of.

use std::cmp::Reverse;

use crate::model::{NotRun, Status};
use crate::published::history::{History, RECORDED, Skipped};
use crate::published::kept::ResultDetail;
use crate::published::result::earlier;

/// The results by what they are of, at most so many of each, the oldest first. They come by scenario, agent, model and who answered. Where the
/// servers answered is a course of its own: what was recorded of them makes up for no failure of theirs.
///
/// Where nothing ran, nobody knows the agent: such a result is of the one that ran just before it, or else of the first that ran after it.
pub fn series(rows: Vec<ResultDetail>, most: usize) -> Vec<History> {
    let is_skipped = |it: &ResultDetail| it.history.status == Status::Skipped;
    let (skipped, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_skipped);
    let (known, unknown): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|it| it.result.agent.is_some());
    let mut all = by_agent(known);
    let unknown = unknown.into_iter().map(|it| (neighbour(&all, &it), it));
    let unknown: Vec<(Option<usize>, ResultDetail)> = unknown.collect();
    let mut left_over = Vec::new();
    for (at, row) in unknown {
        match at.and_then(|it| all.get_mut(it)) {
            Some(series) => series.results.push(row.history),
            None => left_over.push(row),
        }
    }
    all.extend(by_agent(left_over));
    for series in &mut all {
        let results = &mut series.results;
        results.sort_by(|a, b| (&a.at, &a.id).cmp(&(&b.at, &b.id)));
        results.drain(..results.len().saturating_sub(most));
    }
    for row in skipped {
        let series = neighbour(&all, &row).and_then(|it| all.get_mut(it));
        let is_last = |it: &&mut History| it.results.last().is_none_or(|it| it.at < row.history.at);
        if let Some(series) = series.filter(is_last) {
            series.skipped = Some(Skipped {
                run: row.history.run,
                at: row.history.at,
                disabled: row
                    .history
                    .reason
                    .as_deref()
                    .and_then(|why| earlier::not_run(Status::Skipped, why))
                    == Some(NotRun::Disabled),
                reason: row.history.reason,
            });
        }
    }
    all.sort_by(|a, b| key(a).cmp(&key(b)));
    all
}

/// What tells one series from the others, in their order.
fn key(it: &History) -> (&str, Option<&str>, Option<&str>, bool) {
    let is_recorded = it.servers.as_deref() == Some(RECORDED);
    (
        &it.id,
        it.agent.as_deref(),
        it.model.as_deref(),
        is_recorded,
    )
}

/// Where the results of its scenario are beside which one lies of which nothing ran.
fn neighbour(all: &[History], row: &ResultDetail) -> Option<usize> {
    let is_own =
        |it: &History| it.id == row.result.scenario && key(it).3 == row.history.is_recorded();
    let own = (0..all.len()).filter(|it| is_own(&all[*it]));
    own.max_by_key(|it| {
        let times = || all[*it].results.iter().map(|it| it.at.as_str());
        let before = times().filter(|it| *it <= row.history.at.as_str()).max();
        (before, Reverse(times().min()))
    })
}

/// Of rows by scenario, agent, model and who answered.
fn by_agent(rows: Vec<ResultDetail>) -> Vec<History> {
    let mut all: Vec<History> = Vec::new();
    for row in rows {
        let own = (
            row.result.scenario.as_str(),
            row.result.agent.as_deref(),
            row.result.model.as_deref(),
            row.history.is_recorded(),
        );
        let last = all.last_mut();
        match last.filter(|it| key(it) == own) {
            Some(series) => {
                // What it is called may have changed.
                (series.name, series.path, series.tags) =
                    (row.result.name, row.path, row.result.tags);
                series.servers = row.history.servers.clone().or(series.servers.take());
                series.results.push(row.history);
            }
            None => all.push(History {
                id: row.result.scenario,
                name: row.result.name,
                path: row.path,
                tags: row.result.tags,
                agent: row.result.agent,
                model: row.result.model,
                servers: row.history.servers.clone(),
                results: vec![row.history],
                ..History::default()
            }),
        }
    }
    all
}
