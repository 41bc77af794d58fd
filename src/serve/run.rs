//! `POST /api/test/run`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde_json::Value;

use super::asked;
use super::body;
use super::execute::{self, How, Running};
use super::folder::{Folder, shown};
use super::problem::Problem;
use super::server::Server;
use super::wire::case::{CaseRequest, RunRequest, ScenarioRequest, TestCase, YamlRequest};
use super::wire::error::Misfit;
use super::wire::reply::RunReply;
use super::wire::server::{ServerConfig, TYPES};

pub(super) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Json<RunReply>, Problem> {
    let asked = read(body::json(request).await?)?;
    let folder = Folder::new(&server.options.root);
    let prepared = asked::only(asked::prepare(asked, &server.options, &folder)?)?;
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
    T: serde::de::DeserializeOwned + schemars::JsonSchema + 'static,
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
