//! `run --remote` takes no server's word for what its own answers speak against.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::desk::{SHOP, Server};
use crate::common::{Project, Ran, ran};

/// Changes an answer of this path below `/api/test`.
type Lie = fn(&str, &mut Value);

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// Stands before a server and changes its answers; returns where it is reached.
async fn liar(server: &Server, lie: Lie) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (to, client) = (server.url.clone(), Arc::new(client()));
    let router = Router::new().fallback(move |request: Request| {
        let (to, client) = (to.clone(), Arc::clone(&client));
        async move {
            let path = request.uri().path().to_owned();
            let mut asked = client.request(request.method().clone(), format!("{to}{path}"));
            for name in ["authorization", "content-type", "accept"] {
                if let Some(value) = request.headers().get(name) {
                    asked = asked.header(name, value);
                }
            }
            let body = to_bytes(request.into_body(), 1 << 24).await.unwrap();
            let answer = asked.body(body).send().await.unwrap();
            let status = answer.status();
            let mut value: Value = answer.json().await.unwrap();
            lie(path.strip_prefix("/api/test/").unwrap(), &mut value);
            Response::builder()
                .status(status)
                .header("content-type", "application/json")
                .body(Body::from(value.to_string()))
                .unwrap()
        }
    });
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

fn is_document(path: &str) -> bool {
    path.ends_with("/document")
}

/// Says in all answers that the first scenario failed.
fn failed(path: &str, value: &mut Value) {
    if path == "run-batch" {
        let first = &mut value["results"][0];
        first["status"] = json!("failed");
        first["success"] = json!(false);
        first["verdict"]["passed"] = json!(false);
    }
    if is_document(path) {
        value["scenarios"][0]["status"] = json!("failed");
    }
}

fn remove_first(list: &mut Value) {
    list.as_array_mut().unwrap().remove(0);
}

/// What a server says, and what is made of it.
const LIES: [(Lie, &str); 13] = [
    (
        |path, value| {
            if is_document(path) {
                value["scenarios"][0]["status"] = json!("failed");
            }
        },
        "contradicts itself: `price` is passed in its reply, and failed in its document",
    ),
    (
        failed,
        "contradicts itself: its summary counts otherwise than its scenarios came out",
    ),
    (
        |path, value| {
            failed(path, value);
            if is_document(path) {
                value["summary"]["passed"] = json!(1);
                value["summary"]["failed"] = json!(1);
            }
        },
        "contradicts itself: its gate says exit code 0, and its scenarios come to 1",
    ),
    (
        |path, value| {
            if path == "run-batch" {
                value["results"][0]["success"] = json!(false);
            }
        },
        "contradicts itself: `price` is passed, and its reply says otherwise",
    ),
    (
        |path, value| {
            if is_document(path) {
                value["scenarios"] = json!([]);
            }
        },
        "contradicts itself: its document lacks `price`",
    ),
    (
        |path, value| {
            if is_document(path) {
                value["scenarios"][0]["id"] = json!("other");
            }
        },
        "contradicts itself: it tells of `other`, which was not asked for",
    ),
    (
        |path, value| {
            if is_document(path) {
                let first = value["scenarios"][0].clone();
                value["scenarios"].as_array_mut().unwrap().push(first);
            }
        },
        "contradicts itself: it tells of `price` twice",
    ),
    (
        |path, value| {
            if path == "run-batch" {
                remove_first(&mut value["results"]);
            }
        },
        "contradicts itself: its reply lacks `price`",
    ),
    (
        |path, value| {
            if path == "run-batch" {
                remove_first(&mut value["results"]);
            }
            if is_document(path) {
                remove_first(&mut value["scenarios"]);
            }
        },
        "the server has not run `price`",
    ),
    (
        |path, value| {
            if path == "run-batch" {
                value["results"] = json!([]);
            }
        },
        "the server has run nothing",
    ),
    (
        |path, value| {
            if is_document(path) {
                let check = json!({ "name": "tea", "passed": false, "message": "no tea" });
                value["scenarios"][0]["checks"] = json!([check]);
            }
        },
        "contradicts itself: `price` has passed, and does not meet what it expects",
    ),
    (
        |path, value| {
            if is_document(path) {
                value["command"] = json!("compare");
            }
        },
        "contradicts itself: it was to `run`, and its result is one of `compare`",
    ),
    (
        |path, value| {
            if is_document(path) {
                value["run_id"] = json!("../../elsewhere");
            }
        },
        "contradicts itself: its run has a name that no run has",
    ),
];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_server_that_contradicts_itself_makes_nothing_green() {
    let (here, there) = (Project::new(), Project::new());
    for project in [&here, &there] {
        for name in ["price", "tea"] {
            project.file(
                &format!("scenarios/{name}.yaml"),
                format!(
                    "name: {name}\nservers: {{ shop: {{ type: mock }} }}\n\
                     expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: tea }} }}]\n{SHOP}"
                ),
            );
        }
    }
    let server = Server::start(&there, &[]);
    let token = server.token.clone().unwrap();
    let remote = |url: &str| -> Ran {
        tokio::task::block_in_place(|| {
            ran(here
                .command()
                .env("MCP_EVAL_TOKEN", &token)
                .args(["run", "--remote", url]))
        })
    };
    let honest = remote(&liar(&server, |_, _| {}).await);
    assert_eq!(honest.code, 0, "{honest:#?}");
    std::fs::remove_dir_all(here.path("reports")).unwrap();
    for (lie, why) in LIES {
        let done = remote(&liar(&server, lie).await);
        assert_eq!(done.code, 3, "{why}: {done:#?}");
        done.says(why);
        assert!(!here.path("reports").exists(), "{why}");
    }
}

/// Whether a batch was refused.
static TRIED: AtomicBool = AtomicBool::new(false);

/// A server that answers a path with a status, some headers and nothing that can be used, and all else with what `server` answers.
async fn refusing(
    server: &Server,
    refused: fn(&str) -> Option<(u16, &'static str, &'static str)>,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (to, client) = (server.url.clone(), Arc::new(client()));
    let router = Router::new().fallback(move |request: Request| {
        let (to, client) = (to.clone(), Arc::clone(&client));
        async move {
            let path = request.uri().path().to_owned();
            if let Some((status, name, value)) = refused(path.strip_prefix("/api/test/").unwrap()) {
                let error = json!({ "error": "not now" });
                return Response::builder()
                    .status(status)
                    .header(name, value)
                    .body(Body::from(error.to_string()))
                    .unwrap();
            }
            let mut asked = client.request(request.method().clone(), format!("{to}{path}"));
            for name in ["authorization", "content-type", "accept"] {
                if let Some(value) = request.headers().get(name) {
                    asked = asked.header(name, value);
                }
            }
            let body = to_bytes(request.into_body(), 1 << 24).await.unwrap();
            let answer = asked.body(body).send().await.unwrap();
            Response::builder()
                .status(answer.status())
                .body(Body::from(answer.bytes().await.unwrap()))
                .unwrap()
        }
    });
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn what_a_server_cannot_do_now_is_nobodys_wrong_use() {
    let project = Project::new();
    project.file(
        "scenarios/price.yaml",
        format!(
            "name: price\nservers: {{ shop: {{ type: mock }} }}\n\
             expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: tea }} }}]\n{SHOP}"
        ),
    );
    let server = Server::start(&project, &[]);
    let token = server.token.clone().unwrap();
    let remote = |url: &str, format: &str| -> Ran {
        tokio::task::block_in_place(|| {
            ran(project.command().env("MCP_EVAL_TOKEN", &token).args([
                "run",
                "--remote",
                url,
                "--format",
                format,
                "--no-report",
            ]))
        })
    };
    let full = refusing(&server, |path| {
        (path == "run-batch").then_some((429, "retry-after", "600"))
    });
    let done = remote(&full.await, "terminal");
    assert_eq!(done.code, 3, "{done:#?}");
    done.says("429: not now");
    // The second time there is room.
    let soon = refusing(&server, |path| {
        let is_first = path == "run-batch" && !TRIED.swap(true, Ordering::SeqCst);
        is_first.then_some((429, "retry-after", "1"))
    });
    let done = remote(&soon.await, "terminal");
    assert_eq!(done.code, 0, "{done:#?}");
    done.says("The server is full");
    let gone = refusing(&server, |path| {
        is_document(path).then_some((404, "x-none", ""))
    });
    let done = remote(&gone.await, "terminal");
    assert_eq!(done.code, 3, "{done:#?}");
    done.says("the server has no result of the run");
    for path in ["health", "cases"] {
        let elsewhere = if path == "health" {
            refusing(&server, |path| {
                (path == "health").then_some((
                    307,
                    "location",
                    "https://elsewhere.example/?key=s3cret",
                ))
            })
        } else {
            refusing(&server, |path| {
                (path == "cases").then_some((
                    307,
                    "location",
                    "https://elsewhere.example/?key=s3cret",
                ))
            })
        };
        let done = remote(&elsewhere.await, "terminal");
        assert_eq!(done.code, 3, "{done:#?}");
        done.says("redirects to https://elsewhere.example/ (HTTP 307)");
        assert!(!done.all().contains("s3cret"), "{done:#?}");
    }
    // What is refused is told once, on one line.
    project.file(
        "scenarios/price.yaml",
        format!(
            "name: price\nbefore: [[touch, touched]]\nservers: {{ shop: {{ type: mock }} }}\n\
             expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: tea }} }}]\n{SHOP}"
        ),
    );
    let done = remote(&server.url, "e2e");
    assert_eq!(done.code, 2, "{done:#?}");
    let verdict = done.stdout.lines().find(|it| it.starts_with("Verdict:"));
    let verdict = verdict.unwrap_or_else(|| panic!("{done:#?}"));
    assert_eq!(verdict.matches("--allow-programs").count(), 1, "{verdict}");
    assert!(!verdict.contains("\\n"), "{verdict}");
}
