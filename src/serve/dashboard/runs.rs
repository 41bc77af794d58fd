//! The pages of results: `GET /history`, `GET /history/{name}`, the page of `mcp-eval history`; `GET /results/{id}`, the page of one result out of the
//! database; and `GET /runs/{run}/…`, the pages of the report on a run that is stored, made when they are asked for, and the files they lead to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Path as InPath, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::reply::{self, elsewhere, file, frame, own_page, refused, report_page, sentence};
use super::served::history;
use crate::input;
use crate::model::Status;
use crate::published::kept::ResultEntry;
use crate::published::result::{self, ResultDocument, Scenario};
use crate::report::causes;
use crate::report::history::{Asked, measured};
use crate::report::html::dashboard::{self, Around, Frame};
use crate::report::html::{self, link, page_name};
use crate::serve::folder::shown;
use crate::serve::sessions::Visitor;
use crate::serve::{Problem, Server};
use crate::store::Runs;
use crate::store::database::{HistoryFilter, ResultFilter, id_in_files, scenario_of};
use crate::suite::{series, stored_sides};

const INDEX: &str = "index.html";

/// What has been found at an address.
enum Found {
    Page(String),
    File(Vec<u8>),
}

/// Whether the files of a result are there.
pub(super) enum Lies {
    There,
    /// The run has not come to its end.
    Unfinished,
    Gone,
}

/// A stored run.
struct Stored {
    result: ResultDocument,
    folder: PathBuf,
}

pub(super) async fn get(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    InPath((run, page)): InPath<(String, String)>,
) -> Response {
    let said = server.sessions.said(&visitor);
    let (looking, looker) = (Arc::clone(&server), visitor.clone());
    let name = shown(&run);
    let found = reply::read(move || {
        let frame = frame(&looker, said.as_deref());
        let stored = Stored::open(&looking.options.settings.runs, &run)?;
        stored.find(&page, frame)
    });
    match found.await {
        Ok(Some(Found::Page(html))) => report_page(html),
        Ok(Some(Found::File(content))) => file(content),
        Ok(None) => {
            let message = format!("there is no such page of a run `{name}`, or its files are gone");
            refused(&server, &visitor, Problem::unknown(message))
        }
        Err(why) => refused(
            &server,
            &visitor,
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, why),
        ),
    }
}

/// Whether the files of a result are there.
pub(super) fn lies(server: &Server, run: &str, scenario: &str) -> Lies {
    let root = &server.options.settings.runs;
    match Stored::open(root, run) {
        Some(stored) => {
            let mut scenarios = stored.result.scenarios.iter();
            if scenarios.any(|it| it.id == scenario) {
                Lies::There
            } else {
                Lies::Gone
            }
        }
        None if Runs::ids(root).iter().any(|it| it == run) => Lies::Unfinished,
        None => Lies::Gone,
    }
}

impl Stored {
    fn open(root: &Path, run: &str) -> Option<Self> {
        let text = Runs::document(root, run)?;
        let folder = root.join(run);
        let mut result = result::parse(&text).ok()?;
        causes::complete(&mut result);
        for scenario in &mut result.scenarios {
            let log = scenario.container_log.as_ref();
            if log.is_some_and(|it| !folder.join(it).exists()) {
                scenario.container_log = None;
            }
        }
        Some(Self { result, folder })
    }

    fn find(&self, page: &str, frame: Frame<'_>) -> Option<Found> {
        let around = Around {
            frame,
            has_index: true,
            history: None,
            decide: None,
            undecidable: None,
        };
        if page == INDEX {
            return Some(Found::Page(html::index_within(&around, &self.result)));
        }
        if let Some(rest) = page.strip_prefix("answers/") {
            let (stem, _) = rest.split_once('/')?;
            let made = self.page(self.scenario(&format!("{stem}.html"))?, around);
            let file = made.files.into_iter().find(|it| it.path == page)?;
            return Some(Found::File(file.content));
        }
        if let Some(scenario) = self.scenario(page) {
            return Some(Found::Page(self.page(scenario, around).html));
        }
        // What a page of the report leads to in the folder of the run: logs, and the trajectories of attempts.
        let path = self.folder.join(page);
        let extension = path.extension();
        let is_ours = extension.is_some_and(|it| it == "log" || it == "json");
        if !is_ours || !input::is_within(&path, &self.folder) {
            return None;
        }
        input::read(&path).ok().map(Found::File)
    }

    /// The scenario that a page is of.
    fn scenario(&self, page: &str) -> Option<&Scenario> {
        let mut scenarios = self.result.scenarios.iter();
        scenarios.find(|it| page_name(&it.id) == page)
    }

    fn page(&self, scenario: &Scenario, around: Around<'_>) -> html::Page {
        let sides = stored_sides(&self.folder, scenario, &mut Vec::new());
        let history = history(scenario_of(&scenario.id));
        let around = Around {
            history: Some(&history),
            ..around
        };
        let sides = sides.each_ref().map(Option::as_deref);
        html::scenario_within(&around, &self.result, scenario, sides)
    }
}

/// How many of the latest results of each scenario are looked at: of one alone, and beside others.
const ALONE: usize = 200;
const BESIDE: usize = 30;

pub(super) async fn all(State(server): State<Arc<Server>>, visitor: Visitor) -> Response {
    page(&server, &visitor, None).await
}

pub(super) async fn of(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    InPath(name): InPath<String>,
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
    InPath(id): InPath<String>,
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
