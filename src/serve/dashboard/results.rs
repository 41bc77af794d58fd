//! `GET /results/{id}`: the page of the report, or what the database knows where the files of the run are gone.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::bounded;
use super::latest::NOT_KEPT;
use super::reply::{elsewhere, frame, own_page, refused};
use super::runs::{Lies, lies};
use super::served::history;
use crate::report::html::dashboard;
use crate::report::html::{link, page_name};
use crate::serve::folder::shown;
use crate::serve::problem::Problem;
use crate::serve::server::Server;
use crate::serve::sessions::Visitor;
use crate::store::database::id_in_files;

pub(super) async fn get(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let refuse = |problem| refused(&server, &visitor, problem);
    let Some(database) = &server.options.settings.database else {
        return refuse(Problem::unknown(NOT_KEPT));
    };
    let found = match bounded::answered(database.result_of(&id)).await {
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
    let there = bounded::read(move || lies(&looking, &run, &scenario)).await;
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
