//! The latest results, out of the database.

use std::collections::HashMap;

use super::bounded;
use super::reply::sentence;
use crate::published::kept::ResultEntry;
use crate::published::result::Status;
use crate::serve::server::Server;
use crate::store::database::ResultFilter;

/// How many are shown.
const SHOWN: usize = 20;

/// Among how many the latest of each scenario is looked for.
const LOOKED_AT: usize = 300;

/// What is said where results are not kept.
pub(super) const NOT_KEPT: &str =
    "Results are not kept, because the server was started with `--no-db`.";

pub(super) struct Latest {
    pub(super) results: Vec<ResultEntry>,
    /// How many there are in all.
    pub(super) total: u64,
    /// The latest of each scenario, by their ids: how it came out, and the id of the result.
    pub(super) of: HashMap<String, (Status, String)>,
}

/// The latest results.
///
/// # Errors
///
/// Why they are not known, in a sentence.
pub(super) async fn latest(server: &Server) -> Result<Latest, String> {
    let Some(database) = &server.options.settings.database else {
        return Err(NOT_KEPT.to_owned());
    };
    let filter = ResultFilter {
        limit: LOOKED_AT,
        ..ResultFilter::default()
    };
    let page = bounded::answered(database.results(&filter)).await;
    let page = page.map_err(|why| sentence(&why))?;
    let mut of = HashMap::new();
    for row in &page.rows {
        let latest = || (row.status, row.result_id.clone());
        of.entry(row.scenario.clone()).or_insert_with(latest);
    }
    let results = page.rows.into_iter().take(SHOWN);
    Ok(Latest {
        results: results.collect(),
        total: page.total,
        of,
    })
}
