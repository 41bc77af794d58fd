//! Servers over HTTP that send their clients elsewhere.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse as _;
use axum::routing::any;
use serde_json::{Value, json};

use crate::common::{Project, ran, small_agent};
use crate::http::{Mode, routes, serve_app};

/// A server at `/mcp/` that its other paths lead to with this status: `/mcp` at once, `/far/N` after N steps, `/away` on another server.
fn redirecting(status: StatusCode, elsewhere: SocketAddr) -> SocketAddr {
    serve_app(move || {
        let leads = move |to: String| (status, [("location", to)]).into_response();
        let far = move |path: axum::extract::Path<usize>| async move {
            leads(match path.0 {
                1 => "/mcp/".to_owned(),
                steps => format!("/far/{}", steps - 1),
            })
        };
        let away = format!("http://{elsewhere}/mcp?key=canary-query");
        Router::new()
            .route(
                "/mcp",
                any(move |_: Request| async move { leads("/mcp/".to_owned()) }),
            )
            .route("/away", any(move |_: Request| async move { leads(away) }))
            .route("/far/{steps}", any(far))
            .merge(routes("/mcp/", Mode::Json).0)
    })
}

fn project(url: &str, agent: &Value) -> Project {
    let project = Project::new();
    let scenario = json!({
        "name": "web", "user_intent": "Go.",
        "servers": { "web": { "type": "http", "url": url, "headers": { "X-Key": "${KEY}" } } },
        "agent": agent,
    });
    project.file("scenarios/web.yaml", scenario.to_string());
    project
}

fn scripted() -> Value {
    json!({ "kind": "scripted", "calls": [{ "tool": "big", "args": {} }] })
}

fn command() -> Value {
    json!({ "kind": "command", "command": [small_agent(), "call web big {}"] })
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_same_origin_is_followed_with_method_and_body() {
    let (elsewhere, _) = crate::http::serve(Mode::Json);
    for status in [
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ] {
        let address = redirecting(status, elsewhere);
        for (path, agent) in [
            ("mcp", scripted()),
            ("far/5", scripted()),
            ("mcp", command()),
        ] {
            let project = project(&format!("http://{address}/{path}"), &agent);
            let ran = ran(project.command().arg("run").env("KEY", "header-canary"));
            assert_eq!(ran.code, 0, "{path}: {ran:#?}");
        }
    }
}

#[test]
fn other_redirections_are_refused_and_named() {
    let (elsewhere, other) = crate::http::serve(Mode::Json);
    let cases = [
        (
            StatusCode::TEMPORARY_REDIRECT,
            "away",
            format!(
                "HTTP 307 Temporary Redirect leads to http://{elsewhere}/mcp, and is not followed: that is another server"
            ),
        ),
        (
            StatusCode::PERMANENT_REDIRECT,
            "far/6",
            "/mcp/, and is not followed: it is one of too many".to_owned(),
        ),
        (
            StatusCode::FOUND,
            "mcp",
            "HTTP 302 Found leads to http://".to_owned(),
        ),
        (
            StatusCode::MOVED_PERMANENTLY,
            "mcp",
            "only 307 and 308 keep what is asked".to_owned(),
        ),
        (
            StatusCode::SEE_OTHER,
            "mcp",
            "HTTP 303 See Other leads to".to_owned(),
        ),
    ];
    for (status, path, expected) in cases {
        let address = redirecting(status, elsewhere);
        let project = project(&format!("http://{address}/{path}"), &scripted());
        let ran = ran(project.command().arg("run").env("KEY", "header-canary"));
        assert_eq!(ran.code, 3, "{status} {path}: {ran:#?}");
        ran.says(&expected).says_not("canary");
    }
    let seen: Vec<HeaderMap> = other.seen.lock().unwrap().clone();
    assert!(seen.is_empty(), "the other server was not asked: {seen:?}");
}
