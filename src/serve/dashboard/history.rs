//! `GET /history`, `GET /history/{name}`: the page of `mcp-eval history`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::bounded;
use super::latest::NOT_KEPT;
use super::reply::{frame, refused, report_page};
use crate::report::history::{Asked, measured};
use crate::report::html;
use crate::report::html::dashboard::Around;
use crate::serve::folder::shown;
use crate::serve::problem::Problem;
use crate::serve::server::Server;
use crate::serve::sessions::Visitor;
use crate::store::database::HistoryFilter;
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
    let rows = match bounded::answered(database.history(&filter)).await {
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
