//! The main commands over HTTP: record, compare, review.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;

use super::case::give_servers;
use super::cases::may_write;
use super::execute::{self, Waiting as Placed};
use super::folder::{Folder, shown};
use super::programs::{self, Permitted};
use super::wire::commands::{
    Accepted, CompareRequest, PendingReply, RecordRequest, ReviewReply, ReviewRequest,
};
use super::{Problem, Server, body};
use crate::published::result::ResultDocument;
use crate::redact;
use crate::report::document;
use crate::scenario_file::Scenario;
use crate::store::Baselines;
use crate::suite::ci::known_by;
use crate::suite::{
    self, Despite, Judging, Pending, Recording, Refusal, ScoreSettings, Settings, Waiting, replay,
    scenario_of,
};

/// `POST /api/test/record`.
pub(super) async fn record(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Json<ResultDocument>, Problem> {
    may_write(&server)?;
    let RecordRequest {
        scenarios,
        takes,
        allow_failing,
    } = body::read(request).await?;
    if let Some(variable) = known_by() {
        let message = format!("nothing is recorded in CI, which this is by `{variable}`");
        return Err(Problem::forbidden(message));
    }
    let scenarios = selected(&server, &scenarios)?;
    let settings = Settings {
        recording: Recording {
            takes,
            allow_failing,
            of_one_scenario: false,
            takes_apart: server.options.settings.recording.takes_apart,
        },
        ..server.options.settings.clone()
    };
    let work = |suite, settings| async move { suite::record(suite, &settings).await };
    let waiting = execute::admit_command(&server, "record", scenarios)?;
    let done = execute::command(&server, waiting, settings, work).await?;
    Ok(Json(done))
}

/// `POST /api/test/compare`.
pub(super) async fn compare(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Json<ResultDocument>, Problem> {
    let request: CompareRequest = body::read(request).await?;
    let waiting = comparison(&server, &request)?;
    Ok(Json(compared(&server, waiting, &request).await?))
}

/// Gives a comparison a place.
///
/// # Errors
///
/// When it is not allowed, there is no such scenario, or no room for it.
pub(super) fn comparison(server: &Server, request: &CompareRequest) -> Result<Placed, Problem> {
    if request.pending {
        may_write(server)?;
    }
    let scenarios = selected(server, &request.scenarios)?;
    execute::admit_command(server, "compare", scenarios)
}

/// A comparison that has a place, to its end.
///
/// # Errors
///
/// When the server is ending, or it could not be run at all.
pub(super) async fn compared(
    server: &Arc<Server>,
    waiting: Placed,
    request: &CompareRequest,
) -> Result<ResultDocument, Problem> {
    let settings = Settings {
        judging: Judging {
            scoring: ScoreSettings {
                threshold: request.threshold,
                strict: request.strict,
                ..ScoreSettings::default()
            },
            ..Judging::default()
        },
        times: request.repeat.unwrap_or(1),
        fail_fast: request.fail_fast,
        keep_pending: request.pending,
        ..server.options.settings.clone()
    };
    let work = |suite, settings| async move { suite::compare(suite, &settings).await };
    execute::command(server, waiting, settings, work).await
}

/// The scenarios of these names, or all.
///
/// # Errors
///
/// When there is none of a name, one is not valid, or one does what is not allowed.
fn selected(server: &Server, names: &[String]) -> Result<Vec<Scenario>, Problem> {
    let options = &server.options;
    let folder = Folder::new(&options.root);
    let mut scenarios: Vec<Scenario> = Vec::new();
    if names.is_empty() {
        let (all, findings) = folder.all();
        if findings.iter().any(crate::scenario_file::Finding::is_error) {
            return Err(folder.invalid("/scenarios", None, &findings));
        }
        scenarios = all;
    }
    for (number, name) in names.iter().enumerate() {
        let found = folder.named(name, &format!("/scenarios/{number}"))?;
        let known = |it: &Scenario| scenarios.iter().any(|known| known.id == it.id);
        let found: Vec<Scenario> = found.into_iter().filter(|it| !known(it)).collect();
        scenarios.extend(found);
    }
    if scenarios.is_empty() {
        return Err(Problem::unknown("there are no scenarios"));
    }
    let (bound, said_by) = options.bounds.timeout(None);
    for scenario in &mut scenarios {
        give_servers(&mut scenario.servers, &options.servers);
        if bound < scenario.timeouts.scenario {
            scenario.timeouts.scenario = bound;
            scenario.timeouts.said_by = said_by;
        }
        let enabled = scenario.enabled;
        if enabled {
            let permitted = Permitted::to_served(options);
            programs::refuse(scenario, &options.servers, &folder, permitted)
                .map_err(|it| Problem::forbidden_at("/scenarios", it))?;
        }
    }
    Ok(scenarios)
}

/// `POST /api/test/review`.
pub(super) async fn review(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Json<ReviewReply>, Problem> {
    may_write(&server)?;
    let request: ReviewRequest = body::read(request).await?;
    Ok(Json(decide(&server, &request, None).await?))
}

/// What waits for review of these scenarios.
pub(super) fn waiting(server: &Server, scenarios: &[Scenario]) -> Vec<Pending> {
    let waiting = scenarios.iter().map(|it| {
        let of = &server.options.settings.baselines;
        Waiting::of(it, &replay::baselines(of, it, scenarios.len()))
    });
    waiting.filter_map(Result::transpose).collect()
}

/// Decides on what waits for review, and tells what does by then. Whoever has `seen` a run decides on that one alone.
///
/// # Errors
///
/// When that is not allowed, nothing of such a name waits, or it cannot be accepted.
pub(super) async fn decide(
    server: &Server,
    request: &ReviewRequest,
    seen: Option<&str>,
) -> Result<ReviewReply, Problem> {
    may_write(server)?;
    let decides = !(request.accept.is_empty() && request.reject.is_empty());
    if let Some(variable) = known_by().filter(|_| decides) {
        let message = format!("nothing is accepted in CI, which this is by `{variable}`");
        return Err(Problem::forbidden(message));
    }
    let _writing = server.writing.lock().await;
    let folder = Folder::new(&server.options.root);
    let (scenarios, _) = folder.all();
    let pending = waiting(server, &scenarios);
    let again = |it: &Scenario| {
        // As it is by now.
        let folder = Folder::new(&server.options.root);
        let found = folder.named(&it.id, "").ok()?;
        found.into_iter().find(|other| other.id == it.id)
    };
    let despite = Despite {
        moved: false,
        failing: request.allow_failing,
    };
    let both = request.accept.iter().find(|it| request.reject.contains(it));
    if let Some(both) = both {
        let message = format!("`{}` is both accepted and rejected", shown(both));
        return Err(Problem::at("/accept", message));
    }
    // None is accepted or rejected unless all can be.
    let accepted = of_names(&request.accept, "/accept", &pending)?;
    let rejected = of_names(&request.reject, "/reject", &pending)?;
    let unseen = |it: &&&Pending| {
        let run = it.as_ref().map_or("", Waiting::run_id);
        seen.is_some_and(|seen| seen != run)
    };
    if let Some(other) = accepted.iter().chain(&rejected).find(unseen) {
        let id = shown(&scenario_of(other).id);
        let message = format!("another run of `{id}` is waiting now: look at that one first");
        return Err(Problem::new(StatusCode::CONFLICT, message));
    }
    for it in &accepted {
        let waiting = it.as_ref().map_err(|it| refused(it.why()))?;
        waiting.refuse(despite).map_err(|it| refused(&it))?;
    }
    let mut reply = ReviewReply {
        accepted: Vec::new(),
        rejected: Vec::new(),
        pending: Vec::new(),
    };
    let clean = |text: &str| redact::environment().text(text).into_inner();
    for waiting in accepted.iter().filter_map(|it| it.as_ref().ok()) {
        let kept = if request.variant {
            waiting.accept_beside(despite, &again)
        } else {
            waiting.accept(despite, &again)
        };
        let kept = kept.map_err(|it| refused(&it))?;
        reply.accepted.push(Accepted {
            scenario: clean(&waiting.scenario().id),
            file: clean(&kept.display().to_string()),
        });
    }
    Baselines::new(&server.options.settings.baselines).settle();
    for it in rejected {
        let done = match it {
            Ok(waiting) => waiting.reject(&again),
            Err(broken) => broken.reject(),
        };
        done.map_err(|it| refused(&it))?;
        reply.rejected.push(clean(&scenario_of(it).id));
    }
    for waiting in waiting(server, &scenarios)
        .iter()
        .filter_map(|it| it.as_ref().ok())
    {
        reply.pending.push(PendingReply {
            scenario: clean(&waiting.scenario().id),
            run_id: waiting.run_id().to_owned(),
            moved: waiting.moved().map(|it| clean(&it)),
            failing: waiting.failing(),
            result: document::of(&waiting.judged()),
        });
    }
    Ok(reply)
}

/// What waits of the scenarios of these ids.
fn of_names<'a>(
    names: &[String],
    at: &str,
    pending: &'a [Pending],
) -> Result<Vec<&'a Pending>, Problem> {
    let found = names.iter().enumerate().map(|(number, name)| {
        let it = pending.iter().find(|it| scenario_of(it).id == *name);
        it.ok_or_else(|| {
            let message = format!("nothing of `{}` is pending", shown(name));
            Problem::at(format!("{at}/{number}"), message)
        })
    });
    found.collect()
}

fn refused(why: &Refusal) -> Problem {
    match why {
        Refusal::Store(error) => Problem::ours(error.to_string()),
        Refusal::Other { message, .. } => Problem::new(StatusCode::CONFLICT, message.clone()),
    }
}
