//! `POST /api/test/run-batch`.

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

use super::asked;
use super::body;
use super::execute::{self, How, Running};
use super::folder::Folder;
use super::prepared::Prepared;
use super::problem::Problem;
use super::run;
use super::server::Server;
use super::wire::batch::{BatchReply, Parallel, Summary};
use super::wire::reply::RunReply;
use crate::http_server::{EVENT_STREAM, stream_response};
use crate::json;

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

pub(super) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Problem> {
    let streams = wants_stream(request.headers());
    let frame: Frame = body::checked(body::json(request).await?)?;
    let mut prepared: Vec<Prepared> = Vec::new();
    let folder = Folder::new(&server.options.root);
    for (number, value) in frame.test_cases.into_iter().enumerate() {
        let at = format!("/testCases/{number}");
        let one = run::read(value).and_then(|it| asked::prepare(it, &server.options, &folder));
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
        .map(model::redacted::Redacted::into_inner)
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
                    let all: Vec<RunReply> = all
                        .into_iter()
                        .map(model::redacted::Redacted::into_inner)
                        .collect();
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
