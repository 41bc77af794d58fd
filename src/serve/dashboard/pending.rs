//! `GET /pending/…`: a run that waits for review beside its baseline, as the report shows it, with the form that decides on it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::reply::{self, elsewhere, file, frame, refused, report_page};
use super::served::{history, of_waiting, undecidable};
use super::visitor::{Fields, Sent};
use crate::report::html::dashboard::{Around, Frame};
use crate::report::html::{self, page_name};
use crate::report::{causes, document};
use crate::serve::commands::{self, waiting};
use crate::serve::folder::{Folder, shown};
use crate::serve::sessions::Visitor;
use crate::serve::wire::commands::ReviewRequest;
use crate::serve::{Problem, Server};
use crate::suite::Waiting;

pub(super) async fn get(
    State(server): State<Arc<Server>>,
    visitor: Visitor,
    Path(page): Path<String>,
) -> Response {
    let said = server.sessions.said(&visitor);
    let (looking, looker, asked) = (Arc::clone(&server), visitor.clone(), page.clone());
    let found = reply::read(move || {
        let frame = frame(&looker, said.as_deref());
        find(&looking, &asked, frame)
    });
    match found.await {
        Ok(Some(made)) if !page.starts_with(ANSWERS) => report_page(made.html),
        Ok(Some(made)) => match made.files.into_iter().find(|it| it.path == page) {
            Some(found) => file(found.content),
            None => refused(&server, &visitor, Problem::unknown("there is no such file")),
        },
        Ok(None) => {
            let message = "nothing of this scenario waits for review any more";
            refused(&server, &visitor, Problem::unknown(message))
        }
        Err(why) => refused(
            &server,
            &visitor,
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, why),
        ),
    }
}

/// Where a page has its files.
const ANSWERS: &str = "answers/";

/// The page of a scenario of which something waits, or the one that a file belongs to.
fn find(server: &Server, page: &str, frame: Frame<'_>) -> Option<html::Page> {
    let page = match page.strip_prefix(ANSWERS) {
        Some(rest) => format!("{}.html", rest.split('/').next()?),
        None => page.to_owned(),
    };
    let (scenarios, _) = Folder::new(&server.options.root).all();
    let waits = waiting(server, &scenarios);
    let mut waits = waits.iter().filter_map(|it| it.as_ref().ok());
    let found = waits.find(|it| page_name(&it.scenario().id) == page)?;
    made(server, found, frame)
}

fn made(server: &Server, waiting: &Waiting, frame: Frame<'_>) -> Option<html::Page> {
    let mut result = document::of(&waiting.judged());
    causes::complete(&mut result);
    let history = history(&waiting.scenario().id);
    let undecidable = undecidable(server);
    let around = Around {
        frame,
        has_index: false,
        history: Some(&history),
        decide: Some(&of_waiting(waiting)),
        undecidable: undecidable.as_deref(),
    };
    let scenario = result.scenarios.first()?;
    Some(html::scenario_within(
        &around,
        &result,
        scenario,
        waiting.sides(),
    ))
}

pub(super) async fn post(State(server): State<Arc<Server>>, sent: Sent) -> Response {
    match decide(&server, &sent.fields).await {
        Ok(said) => {
            server.sessions.say(&sent.visitor, said);
            elsewhere("/", None)
        }
        Err(problem) => refused(&server, &sent.visitor, problem),
    }
}

/// Decides, and says what was done.
async fn decide(server: &Server, fields: &Fields) -> Result<String, Problem> {
    let scenario = vec![fields.scenario.clone()];
    let mut request = ReviewRequest {
        allow_failing: fields.allow_failing.is_some(),
        ..ReviewRequest::default()
    };
    match fields.decision.as_str() {
        "accept" => request.accept = scenario,
        "reject" => request.reject = scenario,
        _ => return Err(Problem::at("", "The form does not say what to do.")),
    }
    let seen = Some(fields.run.as_str());
    let reply = commands::decide(server, &request, seen).await?;
    let accepted = reply.accepted.first();
    Ok(match accepted {
        Some(it) => format!("{} was accepted: {} holds it.", it.scenario, it.file),
        None => format!(
            "{} was rejected: its baseline stays as it is.",
            shown(&fields.scenario)
        ),
    })
}
