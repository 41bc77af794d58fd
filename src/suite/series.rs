//! Results over time, by what they are of.

use std::cmp::Reverse;

use crate::report::history::Series;
use crate::store::database::HistoryRow;

/// The results by what they are of, at most so many of each, the oldest first. They come by scenario, agent and model.
///
/// Where nothing ran, nobody knows the agent: such a result is of the one that ran just before it, or else of the first that ran after it.
pub fn series(rows: Vec<HistoryRow>, most: usize) -> Vec<Series> {
    let (known, unknown): (Vec<_>, Vec<_>) = rows.into_iter().partition(|it| it.agent.is_some());
    let mut all = by_agent(known);
    let unknown = unknown.into_iter().map(|it| (neighbour(&all, &it), it));
    let unknown: Vec<(Option<usize>, HistoryRow)> = unknown.collect();
    let mut unheard = Vec::new();
    for (at, row) in unknown {
        match at.and_then(|it| all.get_mut(it)) {
            Some(series) => series.results.push(row.result),
            None => unheard.push(row),
        }
    }
    all.extend(by_agent(unheard));
    for series in &mut all {
        let results = &mut series.results;
        results.sort_by(|a, b| (&a.at, &a.id).cmp(&(&b.at, &b.id)));
        results.drain(..results.len().saturating_sub(most));
    }
    all.sort_by(|a, b| (&a.id, &a.agent, &a.model).cmp(&(&b.id, &b.agent, &b.model)));
    all
}

/// Where the results of its scenario are beside which one lies of which nothing ran.
fn neighbour(all: &[Series], row: &HistoryRow) -> Option<usize> {
    let own = (0..all.len()).filter(|it| all[*it].id == row.scenario);
    own.max_by_key(|it| {
        let times = || all[*it].results.iter().map(|it| it.at.as_str());
        let before = times().filter(|it| *it <= row.result.at.as_str()).max();
        (before, Reverse(times().min()))
    })
}

/// Of rows by scenario, agent and model.
fn by_agent(rows: Vec<HistoryRow>) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let last = all.last_mut();
        match last
            .filter(|it| it.id == row.scenario && it.agent == row.agent && it.model == row.model)
        {
            Some(series) => {
                // What it is called may have changed.
                (series.name, series.path, series.tags) = (row.name, row.path, row.tags);
                series.results.push(row.result);
            }
            None => all.push(Series {
                id: row.scenario,
                name: row.name,
                path: row.path,
                tags: row.tags,
                agent: row.agent,
                model: row.model,
                results: vec![row.result],
            }),
        }
    }
    all
}
