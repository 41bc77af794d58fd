//! `POST /api/test/run` and `POST /api/test/run-batch`.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::case::Prepared;
use super::execute::{self, How, Running};
use super::folder::{Folder, shown};
use super::wire::case::{
    CaseRequest, RunRequest, ScenarioRequest, ServerConfig, TYPES, TestCase, YamlRequest,
};
use super::wire::reply::{BatchReply, Misfit, Parallel, RunReply, Summary};
use super::{Problem, Server, body};
use crate::http_server::{EVENT_STREAM, stream_response};
use crate::json;

pub(super) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Json<RunReply>, Problem> {
    let asked = read(body::json(request).await?)?;
    let folder = Folder::new(&server.options.root);
    let prepared = execute::only(execute::prepare(asked, &server.options, &folder)?)?;
    let how = How {
        beside: 1,
        fail_fast: false,
    };
    let Running { work, client, .. } = execute::begin(&server, vec![prepared], how).await?;
    let done = work.await;
    drop(client);
    let mut replies =
        done.unwrap_or_else(|_| Err(Problem::ours("the run itself failed: this is a bug")))?;
    let reply = replies.pop();
    let reply = reply.ok_or_else(|| Problem::ours("the run has no result: this is a bug"))?;
    Ok(Json(reply.into_inner()))
}

/// What is to be run.
///
/// # Errors
///
/// All that is wrong with it.
pub(super) fn read(value: Value) -> Result<RunRequest, Problem> {
    let has = |key: &str| value.get(key).is_some();
    if has("testCase") {
        unsupported(value.get("testCase"), "/testCase")?;
        return refined::<CaseRequest>(value, "/testCase").map(RunRequest::Case);
    }
    if has("scenario") {
        return body::checked::<ScenarioRequest>(value).map(RunRequest::Scenario);
    }
    if has("yaml") {
        return body::checked::<YamlRequest>(value).map(RunRequest::Yaml);
    }
    unsupported(Some(&value), "")?;
    refined::<TestCase>(value, "").map(RunRequest::Bare)
}

/// Refuses servers that are reached in a way that nobody knows.
fn unsupported(case: Option<&Value>, at: &str) -> Result<(), Problem> {
    let configs = case.and_then(|it| it.get("serverConfigs")?.as_array());
    for (number, config) in configs.into_iter().flatten().enumerate() {
        let kind = config.get("type").and_then(Value::as_str);
        if let Some(kind) = kind.filter(|it| !TYPES.contains(it)) {
            return Err(Problem::at(
                format!("{at}/serverConfigs/{number}/type"),
                format!("Unsupported transport type: {}", shown(kind)),
            ));
        }
    }
    Ok(())
}

/// A value as its schema allows it. Of a server that none of the ways allows, it is said why not in the way that it names.
fn refined<T>(value: Value, at: &str) -> Result<T, Problem>
where
    T: serde::de::DeserializeOwned + JsonSchema + 'static,
{
    let mut findings = Vec::new();
    for misfit in body::misfits::<T>(&value)? {
        let within = misfit.path.strip_prefix(at);
        let is_server = within
            .and_then(|it| it.strip_prefix("/serverConfigs/"))
            .is_some_and(|it| it.parse::<usize>().is_ok());
        let config = value.pointer(&misfit.path).filter(|_| is_server);
        match config.map(|it| why_not(it, &misfit)) {
            Some(why) => findings.push(why),
            None => findings.push(misfit),
        }
    }
    if findings.is_empty() {
        return body::checked(value);
    }
    Err(Problem::malformed(findings))
}

/// Why a server is none of those there may be.
fn why_not(config: &Value, misfit: &Misfit) -> Misfit {
    let message = if !config.is_object() {
        "a server is an object with `type`".to_owned()
    } else if config.get("type").and_then(Value::as_str).is_none() {
        format!("`type` says how a server is reached: {}", TYPES.join(", "))
    } else {
        match serde_json::from_value::<ServerConfig>(config.clone()) {
            Err(error) => error.to_string(),
            Ok(_) => misfit.message.clone(),
        }
    };
    Misfit {
        path: misfit.path.clone(),
        message,
    }
}

/// A batch whose test cases are read one by one, so that it is said in which of them something is wrong.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Frame {
    #[schemars(length(min = 1))]
    test_cases: Vec<Value>,
    #[serde(default)]
    parallel: Option<Parallel>,
    #[serde(default)]
    fail_fast: bool,
}

pub(super) async fn post_batch(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Problem> {
    let streams = wants_stream(request.headers());
    let frame: Frame = body::checked(body::json(request).await?)?;
    let mut prepared: Vec<Prepared> = Vec::new();
    let folder = Folder::new(&server.options.root);
    for (number, value) in frame.test_cases.into_iter().enumerate() {
        let at = format!("/testCases/{number}");
        let one = read(value).and_then(|it| execute::prepare(it, &server.options, &folder));
        prepared.extend(one.map_err(|it| it.below(&at))?);
    }
    let how = How {
        beside: match frame.parallel {
            None | Some(Parallel::Any(false)) => 1,
            Some(Parallel::Any(true)) => server.queue.concurrent(),
            Some(Parallel::AtMost(most)) => most.into(),
        },
        fail_fast: frame.fail_fast,
    };
    let began = Instant::now();
    let running = execute::begin(&server, prepared, how).await?;
    if streams {
        return Ok(streamed(running, began));
    }
    let replies = all(running).await?;
    let duration = began.elapsed().as_secs_f64() * 1000.0;
    let summary = Summary::of(&replies, duration);
    Ok(Json(BatchReply {
        results: replies,
        summary,
    })
    .into_response())
}

async fn all(running: Running) -> Result<Vec<RunReply>, Problem> {
    let Running { work, client, .. } = running;
    let done = work.await;
    drop(client);
    let replies =
        done.unwrap_or_else(|_| Err(Problem::ours("the batch itself failed: this is a bug")))?;
    Ok(replies
        .into_iter()
        .map(model::Redacted::into_inner)
        .collect())
}

/// Whether a client wants results as they come: it names a stream of events, and does not refuse it with `q=0`.
fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    let mut ranges = accepted
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','));
    ranges.any(|it| {
        let mut parts = it.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default();
        essence.eq_ignore_ascii_case(EVENT_STREAM) && !parts.any(is_refusal)
    })
}

/// Whether a parameter of what a client accepts says that it does not: a weight of nothing.
fn is_refusal(parameter: &str) -> bool {
    let weight = parameter.split_once('=');
    let weight = weight.filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    weight.is_some_and(|(_, weight)| weight.trim().parse::<f64>().is_ok_and(|it| it <= 0.0))
}

/// The replies as they come, and the sum behind them.
fn streamed(running: Running, began: Instant) -> Response {
    let Running {
        replies,
        work,
        client,
    } = running;
    let events = stream::unfold(
        (replies, Some(work), client),
        move |(mut replies, mut work, client)| async move {
            if let Some(reply) = replies.recv().await {
                let reply = event("result", &json!(*reply));
                return Some((reply, (replies, work, client)));
            }
            let all = work.take()?.await;
            let all = all.unwrap_or_else(|_| Err(Problem::ours("the batch itself failed")));
            let piece = match all {
                Err(problem) => event("error", &json!(problem.into_reply())),
                Ok(all) => {
                    let all: Vec<RunReply> =
                        all.into_iter().map(model::Redacted::into_inner).collect();
                    let duration = began.elapsed().as_secs_f64() * 1000.0;
                    let summary = Summary::of(&all, duration);
                    event("summary", &json!(summary))
                }
            };
            Some((piece, (replies, work, client)))
        },
    );
    let events = events.map(|it| Ok::<_, std::convert::Infallible>(Bytes::from(it)));
    stream_response(Body::from_stream(events))
}

fn event(kind: &str, data: &Value) -> String {
    // A JSON text has no line breaks of its own.
    format!(
        "event: {kind}\ndata: {}\n\n",
        json::escaped(data.to_string())
    )
}
