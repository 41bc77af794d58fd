//! The HTTP routes that control a running mock server, at `/__mock/`.

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::endpoint::{Front, refused};
use crate::http_server::{Refusal, host_is_known, read_body, respond, same_site, shows_token};
use crate::scenario_file::mock::MockTool;

type Answer = Result<Response<Body>, (StatusCode, Json<Value>)>;

pub(super) fn routes(front: &Front) -> Router<Front> {
    Router::new()
        .route("/__mock/tools", get(list).post(add).delete(clear))
        .route("/__mock/tools/{name}", put(replace).delete(remove))
        .route("/__mock/calls", get(calls))
        .route("/__mock/reset", post(reset))
        // Bodies are read, as long as they may be, before anybody is asked.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(front.clone(), let_in))
}

async fn let_in(State(front): State<Front>, request: Request, next: Next) -> Response<Body> {
    if let Err(refusal) = check(&front, request.headers()) {
        return refused(&refusal);
    }
    let (parts, body) = request.into_parts();
    match read_body(body, front.options.max_body).await {
        Ok(body) => next.run(Request::from_parts(parts, body.into())).await,
        Err(refusal) => problem(refusal.status, &refusal.message).into_response(),
    }
}

fn check(front: &Front, headers: &HeaderMap) -> Result<(), Refusal> {
    let admin = front.options.admin.as_ref();
    if let Some(remote) = admin.and_then(|it| it.remote.as_ref()) {
        host_is_known(headers, &remote.hosts)?;
        shows_token(headers, &remote.token)?;
    }
    same_site(headers, front.options.any_host)
}

async fn list(State(front): State<Front>) -> Json<Value> {
    Json(json!({ "tools": front.service.core().tools.listed() }))
}

async fn add(State(front): State<Front>, body: Bytes) -> Answer {
    let tool = read(&front, &body)?;
    let name = tool.name.clone();
    if front.service.core().tools.contains(&name) {
        return Err(problem(
            StatusCode::CONFLICT,
            &format!("there is a tool `{name}` already; PUT replaces it"),
        ));
    }
    put_tool(&front, tool)?;
    Ok(respond(StatusCode::CREATED, None, Body::empty()))
}

async fn replace(State(front): State<Front>, Path(name): Path<String>, body: Bytes) -> Answer {
    let tool = read(&front, &body)?;
    if tool.name != name {
        let message = format!("the tool is called `{}`, not `{name}`", tool.name);
        return Err(problem(StatusCode::BAD_REQUEST, &message));
    }
    if !front.service.core().tools.contains(&name) {
        return Err(unknown(&name));
    }
    put_tool(&front, tool)?;
    Ok(done())
}

async fn remove(State(front): State<Front>, Path(name): Path<String>) -> Answer {
    if front.service.remove_tool(&name) {
        Ok(done())
    } else {
        Err(unknown(&name))
    }
}

async fn clear(State(front): State<Front>) -> Response<Body> {
    front.service.clear_tools();
    done()
}

async fn calls(State(front): State<Front>) -> Json<Value> {
    let log = front.service.calls();
    let calls = log.redacted();
    Json(json!({ "total": log.total(), "calls": calls }))
}

async fn reset(State(front): State<Front>) -> Response<Body> {
    front.service.reset();
    done()
}

fn read(front: &Front, body: &[u8]) -> Result<MockTool, (StatusCode, Json<Value>)> {
    let refuse = |message: &str| problem(StatusCode::BAD_REQUEST, message);
    let text = std::str::from_utf8(body).map_err(|_| refuse("the tool is not UTF-8 text"))?;
    let admin = front.options.admin.as_ref();
    let admin = admin.ok_or_else(|| refuse("tools cannot be read here"))?;
    (admin.read_tool)(text).map_err(|problem| refuse(&problem))
}

fn put_tool(front: &Front, tool: MockTool) -> Result<(), (StatusCode, Json<Value>)> {
    let put = front.service.put_tool(tool);
    put.map_err(|message| problem(StatusCode::BAD_REQUEST, &message))
}

fn done() -> Response<Body> {
    respond(StatusCode::NO_CONTENT, None, Body::empty())
}

fn unknown(name: &str) -> (StatusCode, Json<Value>) {
    problem(StatusCode::NOT_FOUND, &format!("there is no tool `{name}`"))
}

fn problem(status: StatusCode, message: &str) -> (StatusCode, Json<Value>) {
    (status, Json(json!({ "error": message })))
}
