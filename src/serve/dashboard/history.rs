//! `GET /history`, `GET /history/{name}`: the page of `mcp-eval history`; and `GET /results/{id}`, the page of one result.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::reply::{self, elsewhere, frame, own_page, refused, report_page, sentence};
use super::runs::{Lies, lies};
use super::served::history;
use crate::published::kept::ResultEntry;
use crate::published::result::Status;
use crate::report::history::{Asked, measured};
use crate::report::html::dashboard::{self, Around};
use crate::report::html::{self, link, page_name};
use crate::serve::folder::shown;
use crate::serve::sessions::Visitor;
use crate::serve::{Problem, Server};
use crate::store::database::{HistoryFilter, ResultFilter, id_in_files};
use crate::suite::series;

/// How many of the latest results of each scenario are looked at: of one alone, and beside others.
const ALONE: usize = 200;
const BESIDE: usize = 30;

pub(super) async fn all(State(server): State<Arc<Server>>, visitor: Visitor) -> Response {
    page(&server, &visitor, None).await
}

pub(super) async fn of(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Response {
    page(&server, &visitor, Some(name)).await
}

async fn page(server: &Arc<Server>, visitor: &Visitor, name: Option<String>) -> Response {
    let refuse = |problem| refused(server, visitor, problem);
    let Some(database) = &server.options.settings.database else {
        return refuse(Problem::unknown(NOT_KEPT));
    };
    let filter = HistoryFilter {
        tags: Vec::new(),
        since: None,
        last: if name.is_some() { ALONE } else { BESIDE },
        name,
    };
    let rows = match reply::answered(database.history(&filter)).await {
        Ok(rows) => rows,
        Err(why) => return refuse(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why)),
    };
    let series = series(rows, filter.last);
    if series.is_empty() {
        return refuse(Problem::unknown(match &filter.name {
            Some(name) => format!("there are no results of `{}` yet", shown(name)),
            None => "there are no results yet: run a scenario".to_owned(),
        }));
    }
    let asked = Asked {
        database: database.place().to_string(),
        last: filter.last,
        max_slowdown: None,
    };
    let document = measured(&asked, series);
    let said = server.sessions.said(visitor);
    let around = Around {
        frame: frame(visitor, said.as_deref()),
        has_index: false,
        history: None,
        decide: None,
        undecidable: None,
    };
    report_page(html::history_within(&around, &document))
}

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
    let page = reply::answered(database.results(&filter)).await;
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

pub(super) async fn result(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let refuse = |problem| refused(&server, &visitor, problem);
    let Some(database) = &server.options.settings.database else {
        return refuse(Problem::unknown(NOT_KEPT));
    };
    let found = match reply::answered(database.result_of(&id)).await {
        Ok(Some(found)) => found,
        Ok(None) => {
            return refuse(Problem::unknown(format!(
                "there is no result `{}`",
                shown(&id)
            )));
        }
        Err(why) => return refuse(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why)),
    };
    let run = found.result.run_id.clone();
    let scenario = id_in_files(&run, &found.result.scenario, &found.result.result_id);
    let page = format!("/runs/{}/{}", link(&run), link(&page_name(&scenario)));
    let looking = Arc::clone(&server);
    let there = reply::read(move || lies(&looking, &run, &scenario)).await;
    let gone = match there {
        Ok(Lies::There) => return elsewhere(&page, None),
        Ok(Lies::Unfinished) => {
            "The run that it is part of goes on: its page is there once that has ended. This is what the database knows so far."
        }
        Ok(Lies::Gone) => {
            "The files of its run are gone: only those of the latest runs are kept (--keep). This is what the database knows."
        }
        Err(why) => return refuse(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why)),
    };
    let said = server.sessions.said(&visitor);
    let frame = frame(&visitor, said.as_deref());
    own_page(
        StatusCode::OK,
        dashboard::result(frame, &found, &history(&found.result.scenario), gone),
    )
}
