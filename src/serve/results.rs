//! Results that were kept, out of the database; their calls with arguments and answers out of the files of their runs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::cases::{Named, named};
use super::folder::shown;
use super::wire::reply::{RunReply, ToolCall, Verdict};
use super::wire::results::{PageQuery, ResultList, ResultQuery, RunList};
use super::{Problem, Server, body, reply};
use crate::published::kept::{ResultDetail, ResultEntry, RunEntry, Statistics, ToolCallRow};
use crate::published::result::{self, ResultDocument};
use crate::store::database::{Database, DatabaseError, ResultFilter, id_in_files};
use crate::store::{self, Runs};

/// How many are sent at once, unless it is said.
const LIMIT: u32 = 100;

impl From<DatabaseError> for Problem {
    fn from(error: DatabaseError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
    }
}

/// The database.
///
/// # Errors
///
/// When results are not kept in any.
fn database(server: &Server) -> Result<&Database, Problem> {
    let database = server.options.settings.database.as_ref();
    database.ok_or_else(|| {
        Problem::unknown("results are not kept, because the server was started with --no-db")
    })
}

/// `GET /api/test/results`.
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    uri: Uri,
) -> Result<Json<ResultList>, Problem> {
    let query: ResultQuery = body::query(&uri)?;
    let since = query.since.as_deref().map(str::parse::<Timestamp>);
    let since = since
        .transpose()
        .map_err(|_| Problem::at("query/since", "write a time such as 2026-11-22T10:00:00Z"))?;
    let (limit, offset) = (query.limit.unwrap_or(LIMIT), query.offset.unwrap_or(0));
    let filter = ResultFilter {
        name: query.name,
        scenario: query.scenario,
        run: query.run_id,
        status: query.status,
        since,
        limit: index(limit),
        offset: index(offset),
    };
    let page = database(&server)?.results(&filter).await?;
    Ok(Json(ResultList {
        results: page.rows,
        total: page.total,
        limit,
        offset,
    }))
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// `GET /api/test/results/{id}`.
pub(super) async fn get(
    State(server): State<Arc<Server>>,
    id: Named,
) -> Result<Json<RunReply>, Problem> {
    let id = named(id)?;
    let found = database(&server)?.result_of(&id).await?;
    let none = || Problem::unknown(format!("there is no result `{}`", shown(&id)));
    let found = found.ok_or_else(none)?;
    Ok(Json(replied(found, &server)))
}

/// A result as its run was replied to.
fn replied(found: ResultDetail, server: &Server) -> RunReply {
    let ResultDetail {
        result, tool_calls, ..
    } = found;
    // Retention may have removed the files, and what the database has stays.
    let runs = Runs::at(&server.options.settings.runs.join(&result.run_id));
    let own = id_in_files(&result.run_id, &result.scenario, &result.result_id);
    let run = tokio::task::block_in_place(|| store::load(&runs.path(&own)).ok());
    let (calls, began) = if let Some(run) = &run {
        (reply::calls(run), run.stamp.recorded_at.to_string())
    } else {
        let calls = tool_calls.into_iter().map(call).collect();
        (calls, result.timestamp.clone())
    };
    RunReply {
        test_case: json!({
            "name": result.name,
            "prompt": result.prompt,
            "expectedTools": result.expected_tools,
        }),
        tool_calls: calls,
        verdict: verdict(&result),
        duration: result.duration,
        success: result.success,
        timestamp: began,
        result_id: result.result_id,
        run_id: result.run_id,
        scenario: result.scenario,
        status: result.status,
        error: result.reason.filter(|_| reply::is_error(result.status)),
    }
}

fn verdict(result: &ResultEntry) -> Verdict {
    let said = &result.verdict;
    let text = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| said.get(key).and_then(Value::as_f64);
    let suggestions = said.get("suggestions").and_then(Value::as_array);
    let suggestions = suggestions.into_iter().flatten().filter_map(Value::as_str);
    Verdict {
        passed: said.get("passed").and_then(Value::as_bool).unwrap_or(false),
        confidence: number("confidence"),
        reasoning: text("reasoning")
            .or_else(|| result.reason.clone())
            .unwrap_or_default(),
        tool_accuracy: number("toolAccuracy"),
        suggestions: suggestions.map(str::to_owned).collect(),
    }
}

/// A call of which the arguments and the answer are not kept any more.
fn call(row: ToolCallRow) -> ToolCall {
    let success = row.status == "ok";
    ToolCall {
        tool_name: row.tool,
        server_id: row.server.unwrap_or_else(|| "unknown".to_owned()),
        parameters: Value::Null,
        response: Value::Null,
        execution_time_ms: row.duration_ms,
        success,
        error: (!success).then_some(row.status),
        timestamp: None,
    }
}

/// `GET /api/test/runs`.
pub(super) async fn runs(
    State(server): State<Arc<Server>>,
    uri: Uri,
) -> Result<Json<RunList>, Problem> {
    let query: PageQuery = body::query(&uri)?;
    let (limit, offset) = (query.limit.unwrap_or(LIMIT), query.offset.unwrap_or(0));
    let page = database(&server)?.runs(index(limit), index(offset)).await?;
    Ok(Json(RunList {
        runs: page.rows,
        total: page.total,
        limit,
        offset,
    }))
}

/// `GET /api/test/runs/{id}`.
pub(super) async fn run(
    State(server): State<Arc<Server>>,
    id: Named,
) -> Result<Json<RunEntry>, Problem> {
    let id = named(id)?;
    let found = database(&server)?.run(&id).await?;
    let none = || Problem::unknown(format!("there is no run `{}`", shown(&id)));
    found.map(Json).ok_or_else(none)
}

/// `GET /api/test/runs/{id}/document`.
pub(super) async fn document(
    State(server): State<Arc<Server>>,
    id: Named,
) -> Result<Json<ResultDocument>, Problem> {
    let id = named(id)?;
    let none = || {
        Problem::unknown(format!(
            "the files of the run `{}` are not there",
            shown(&id)
        ))
    };
    let root = &server.options.settings.runs;
    let found = tokio::task::block_in_place(|| Runs::document(root, &id));
    let text = found.ok_or_else(none)?;
    let document = result::parse(&text);
    Ok(Json(
        document.map_err(|error| Problem::ours(error.to_string()))?,
    ))
}

/// `GET /api/test/stats`.
pub(super) async fn stats(State(server): State<Arc<Server>>) -> Result<Json<Statistics>, Problem> {
    Ok(Json(database(&server)?.stats().await?))
}
