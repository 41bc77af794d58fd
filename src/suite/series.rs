//! Results over time, by what they are of.

use crate::report::history::Series;
use crate::store::database::HistoryRow;

/// The results by what they are of. They come by scenario, agent and model, the oldest first.
pub fn series(rows: Vec<HistoryRow>) -> Vec<Series> {
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
