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
        .map(crate::model::redacted::Redacted::into_inner)
        .collect())
}

/// Whether a client wants results as they come.
fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter();
    let mut ranges = accepted
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','));
    ranges.any(|it| {
        let essence = it.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(EVENT_STREAM)
    })
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
                        .map(crate::model::redacted::Redacted::into_inner)
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
