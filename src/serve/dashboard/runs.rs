//! `GET /runs/{run}/…`: the pages of the report on a run that is stored, made when they are asked for, and the files they lead to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Path as InPath, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::reply::{self, file, frame, refused, report_page};
use super::served::history;
use crate::input;
use crate::published::result::{self, ResultDocument, Scenario};
use crate::report::causes;
use crate::report::html::dashboard::{Around, Frame};
use crate::report::html::{self, page_name};
use crate::serve::folder::shown;
use crate::serve::sessions::Visitor;
use crate::serve::{Problem, Server};
use crate::store::Runs;
use crate::store::database::scenario_of;
use crate::suite::stored_sides;

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
