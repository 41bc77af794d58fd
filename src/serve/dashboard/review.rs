//! `POST /review`: accepts or rejects a run that waits, as `POST /api/test/review` does it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::reply::{elsewhere, refused};
use super::visitor::{Fields, Sent};
use crate::serve::commands;
use crate::serve::folder::shown;
use crate::serve::problem::Problem;
use crate::serve::server::Server;
use crate::serve::wire::commands::ReviewRequest;

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
