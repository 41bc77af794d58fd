//! Servers of the older transport, HTTP with SSE, well-behaved and not.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::routing::{any, post};
use futures_util::StreamExt as _;
use mcp_eval::mcp::{Launch, Observed, Target};
use mcp_eval::scenario_file::servers::HttpStyle;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::common::{Project, Ran, ran, served, small_agent};
use crate::faults::calls_at_once;
use crate::http::serve_app;

/// How the server behaves.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    /// Answers on the stream.
    Stream,
    /// Answers a POST with the answer, as JSON.
    InBody,
    /// The same, as an event.
    InEvents,
    /// Answers on the stream, and only then takes the POST.
    TakesLate,
    /// Asks the client something before it answers a call.
    Asks,
    /// Ends the stream in place of an answer to a call.
    Ends,
    /// Ends the stream once it has answered the first call.
    Drops,
    /// Does not know the session any more that the second call comes in.
    Forgets,
    /// Knows no session when a call comes in.
    ForgetsAlways,
    /// Does not answer calls.
    Hangs,
    /// Does not even take a call.
    Keeps,
    /// Answers calls with a text that is no UTF-8.
    Latin1,
    ServerError,
    /// Refuses calls with a JSON-RPC error.
    RpcError,
    Unauthorized,
    /// Names an endpoint on another server.
    Elsewhere,
    /// Names no endpoint.
    NoEndpoint,
    /// Begins with a message.
    MessageFirst,
    /// Sends an event longer than any message may be, in place of an answer.
    Endless,
    /// Keeps its answers until there are so many, and gives the last of them first.
    Reverse(usize),
}

type Out = mpsc::UnboundedSender<Vec<u8>>;

/// An answer that waits to be sent.
type Kept = (Out, Vec<u8>);

#[derive(Clone)]
struct Server {
    mode: Mode,
    sessions: Arc<Mutex<Vec<Option<Out>>>>,
    seen: Arc<Mutex<Vec<(Method, HeaderMap, Value)>>>,
    kept: Arc<Mutex<Vec<Kept>>>,
}

impl Server {
    fn seen(&self) -> Vec<(Method, HeaderMap, Value)> {
        self.seen.lock().unwrap().clone()
    }

    /// What was asked, by method.
    fn asked(&self, method: &str) -> usize {
        let seen = self.seen();
        seen.iter().filter(|it| it.2["method"] == method).count()
    }

    fn gets(&self) -> usize {
        let seen = self.seen();
        seen.iter().filter(|it| it.0 == Method::GET).count()
    }
}

fn serve(mode: Mode) -> (SocketAddr, Server) {
    let server = Server {
        mode,
        sessions: Arc::default(),
        seen: Arc::default(),
        kept: Arc::default(),
    };
    let state = server.clone();
    let address = serve_app(move || {
        Router::new()
            .route("/sse", any(open))
            .route("/mcp", any(open))
            .route("/messages", post(message))
            .with_state(state)
    });
    (address, server)
}

fn respond(status: StatusCode, kind: &str, body: impl Into<Body>) -> Response<Body> {
    let response = Response::builder().status(status);
    response
        .header("content-type", kind)
        .body(body.into())
        .unwrap()
}

async fn open(
    State(server): State<Server>,
    method: Method,
    headers: HeaderMap,
    Query(query): Query<HashMap<String, String>>,
    body: Bytes,
) -> Response<Body> {
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let seen = (method.clone(), headers, body);
    server.seen.lock().unwrap().push(seen);
    if method != Method::GET {
        return respond(
            StatusCode::METHOD_NOT_ALLOWED,
            "text/plain",
            "Method Not Allowed",
        );
    }
    if server.mode == Mode::Unauthorized {
        return respond(StatusCode::UNAUTHORIZED, "text/plain", "who are you?");
    }
    let (out, messages) = mpsc::unbounded_channel::<Vec<u8>>();
    let mut sessions = server.sessions.lock().unwrap();
    let id = sessions.len();
    let key = query.get("key").cloned().unwrap_or_default();
    let first = match server.mode {
        Mode::Elsewhere => {
            "event: endpoint\ndata: http://other.example/messages?key=canary-query\n\n".to_owned()
        }
        Mode::NoEndpoint => ": nothing yet\n\n".to_owned(),
        Mode::MessageFirst => "event: message\ndata: {}\n\n".to_owned(),
        _ => format!(
            ": hello\r\n\r\nevent: endpoint\r\ndata: /messages?session={id}&key={key}\r\n\r\nevent: ping\ndata: 1\n\n"
        ),
    };
    out.send(first.into()).unwrap();
    sessions.push(Some(out));
    drop(sessions);
    let messages = futures_util::stream::unfold(messages, async |mut messages| {
        messages.recv().await.map(|it| (it, messages))
    });
    let events = messages.map(Ok::<_, std::convert::Infallible>);
    respond(
        StatusCode::OK,
        "text/event-stream; charset=utf-8",
        Body::from_stream(events),
    )
}

fn event(message: &Value) -> Vec<u8> {
    format!("event: message\ndata: {message}\n\n").into()
}

async fn message(
    State(server): State<Server>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let seen = (Method::POST, headers, request.clone());
    server.seen.lock().unwrap().push(seen);
    let accepted = || respond(StatusCode::ACCEPTED, "text/plain", "Accepted");
    let number: usize = query["session"].parse().unwrap();
    let is_call = request["method"] == "tools/call";
    let calls = server.asked("tools/call");
    let forgets = match server.mode {
        Mode::Forgets => calls == 2 && number == 0,
        Mode::ForgetsAlways => true,
        _ => false,
    };
    let out = server.sessions.lock().unwrap()[number].clone();
    let Some(out) = out.filter(|_| !(is_call && forgets)) else {
        return respond(
            StatusCode::NOT_FOUND,
            "text/plain",
            "Could not find session",
        );
    };
    if request["method"].is_null() || request.get("id").is_none() {
        return accepted();
    }
    let id = &request["id"];
    let result = match request["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2024-11-05", "capabilities": { "tools": {} },
            "serverInfo": { "name": "old", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "big", "inputSchema": { "type": "object" } }] })
        }
        _ => match server.mode {
            Mode::Hangs => return accepted(),
            Mode::Keeps => {
                tokio::time::sleep(Duration::from_secs(300)).await;
                return accepted();
            }
            Mode::Ends => {
                server.sessions.lock().unwrap()[number] = None;
                return accepted();
            }
            Mode::Endless => {
                tokio::spawn(async move {
                    out.send(b"data: ".to_vec()).unwrap();
                    // Ends with the client.
                    while out.send(vec![b'x'; 1024 * 1024]).is_ok() {
                        tokio::task::yield_now().await;
                    }
                });
                return accepted();
            }
            Mode::ServerError => {
                return respond(StatusCode::BAD_GATEWAY, "text/plain", "upstream is gone");
            }
            Mode::RpcError => {
                let error = json!({ "code": -32007, "message": "not today" });
                let error = json!({ "jsonrpc": "2.0", "id": id, "error": error });
                return respond(
                    StatusCode::BAD_REQUEST,
                    "application/json",
                    error.to_string(),
                );
            }
            Mode::Reverse(_) => {
                let text = request["params"]["arguments"].to_string();
                json!({ "content": [{ "type": "text", "text": text, "vendor": 1 }] })
            }
            // A number that a typed model would round, and a member it would drop.
            _ => json!({
                "content": [{ "type": "text", "text": "café", "vendor": 1 }],
                "structuredContent": { "n": 12_345_678_901_234_567_890_u64 },
            }),
        },
    };
    let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let mut bytes = event(&message);
    match server.mode {
        Mode::Latin1 if is_call => {
            let at = bytes
                .windows(2)
                .position(|it| it == "é".as_bytes())
                .unwrap();
            bytes.splice(at..at + 2, [0xe9]);
        }
        Mode::InBody => {
            return respond(StatusCode::OK, "application/json", message.to_string());
        }
        Mode::InEvents => return respond(StatusCode::OK, "text/event-stream", bytes),
        Mode::TakesLate => {
            out.send(bytes).unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            return accepted();
        }
        Mode::Asks if is_call => {
            let question = json!({ "jsonrpc": "2.0", "id": "p-1", "method": "roots/list" });
            out.send(event(&question)).unwrap();
            tokio::spawn(async move {
                let answered = || server.seen().iter().any(|it| it.2["id"] == "p-1");
                while !answered() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                out.send(bytes).unwrap();
            });
            return accepted();
        }
        Mode::Drops if is_call && number == 0 => {
            // Whoever has the answer finds the session gone.
            server.sessions.lock().unwrap()[number] = None;
            out.send(bytes).unwrap();
            return accepted();
        }
        Mode::Reverse(most) if is_call => {
            let mut kept = server.kept.lock().unwrap();
            kept.push((out, bytes));
            if kept.len() == most {
                for (out, bytes) in kept.drain(..).rev() {
                    out.send(bytes).unwrap();
                }
            }
            return accepted();
        }
        _ => {}
    }
    // Fails when the client has gone.
    let _ = out.send(bytes);
    accepted()
}

/// A scenario that calls the tool so often.
fn project(address: SocketAddr, server: &Value, calls: usize) -> Project {
    let calls: Vec<Value> = vec![json!({ "tool": "big", "args": {}, "critical": false }); calls];
    let agent = json!({ "kind": "scripted", "calls": calls });
    project_of(address, server, &agent)
}

fn project_of(address: SocketAddr, server: &Value, agent: &Value) -> Project {
    let project = Project::new();
    let mut web = json!({
        "type": "sse", "url": format!("http://{address}/sse?key=query-canary"),
        "headers": { "X-Key": "${KEY}" }, "bearer_token_env": "MY_TOKEN",
    });
    let members = web.as_object_mut().unwrap();
    members.extend(server.as_object().unwrap().clone());
    let scenario =
        json!({ "name": "web", "user_intent": "Go.", "servers": { "web": web }, "agent": agent });
    project.file("scenarios/web.yaml", scenario.to_string());
    project
}

fn run(project: &Project) -> (Ran, Value) {
    let ran = ran(project
        .command()
        .args(["run", "--format", "json"])
        .env("KEY", "header-canary")
        .env("MY_TOKEN", "bearer-canary"));
    let result: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (ran, result["scenarios"][0].clone())
}

fn stored(project: &Project, scenario: &Value) -> Value {
    let file = scenario["current"]["file"].as_str().unwrap();
    let folder = project.path("reports/latest").canonicalize().unwrap();
    let text = project.read(folder.join(file));
    assert!(!text.contains("canary"), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The tool calls of a stored run, by their outcomes.
fn outcomes(project: &Project, scenario: &Value) -> Vec<Value> {
    let stored = stored(project, scenario);
    let steps = stored["steps"].as_array().unwrap().iter();
    let outcomes = steps.map(|it| it["outcome"].clone());
    outcomes.filter(Value::is_object).collect()
}

fn call_agent() -> Value {
    let command = json!([small_agent(), "call web big {}", "call web big {}"]);
    json!({ "kind": "command", "command": command })
}

#[test]
fn answers_come_on_the_stream_and_in_the_answers_to_posts_and_are_kept_as_served() {
    for mode in [
        Mode::Stream,
        Mode::InBody,
        Mode::InEvents,
        Mode::TakesLate,
        Mode::Asks,
    ] {
        let (address, server) = serve(mode);
        let project = project(address, &json!({}), 2);
        let (ran, scenario) = run(&project);
        assert_eq!(ran.code, 0, "{mode:?}: {ran:#?}");
        let outcomes = outcomes(&project, &scenario);
        let stored = stored(&project, &scenario);
        assert_eq!(outcomes.len(), 2);
        for outcome in &outcomes {
            assert_eq!(outcome["content"][0]["vendor"], 1, "{mode:?}");
            let number = outcome["structured_content"]["n"].to_string();
            assert_eq!(number, "12345678901234567890");
        }
        assert_eq!(stored["catalogue"][0]["protocol_version"], "2024-11-05");
        for (method, headers, _) in server.seen() {
            assert_eq!(headers["authorization"], "Bearer bearer-canary");
            assert_eq!(headers["x-key"], "header-canary");
            if method == Method::GET {
                assert_eq!(headers["accept"], "text/event-stream");
            }
        }
        assert_eq!(server.gets(), 1);
        assert!(
            !project
                .read("reports/latest/result.json")
                .contains("canary")
        );
    }
}

#[test]
fn answers_to_many_calls_at_once_are_all_kept_as_served() {
    let (address, _) = serve(Mode::Reverse(200));
    let launch = Launch::Http {
        style: HttpStyle::Sse,
        url: format!("http://{address}/sse"),
        headers: Vec::new(),
        bearer_token: None,
    };
    calls_at_once(launch, 200);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn failures_are_outcomes_of_the_call() {
    let cases = [
        (Mode::Hangs, "timeout", "no answer within 2s"),
        (Mode::Keeps, "timeout", "no answer within 2s"),
        (Mode::Latin1, "invalid_response", "is not valid UTF-8"),
        (
            Mode::ServerError,
            "transport_error",
            "HTTP 502 Bad Gateway, text/plain: `upstream is gone`",
        ),
        (Mode::RpcError, "rpc_error", "not today"),
    ];
    for (mode, status, message) in cases {
        let (address, _) = serve(mode);
        let project = project(address, &json!({ "tool_timeout": "2s" }), 1);
        let (ran, scenario) = run(&project);
        assert!(ran.took < Duration::from_secs(20), "{mode:?}");
        let outcome = outcomes(&project, &scenario).remove(0);
        assert_eq!(outcome["status"], status, "{mode:?} {outcome}");
        let found = outcome["error"]["message"].as_str().unwrap();
        assert!(found.contains(message), "{outcome}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_stream_that_ends_in_the_middle_of_a_call_is_the_end_of_the_run() {
    for (mode, why) in [
        (
            Mode::Ends,
            "closed the connection: it ended its event stream",
        ),
        (
            Mode::Endless,
            "closed the connection: it sent an event of more than 67108864 bytes",
        ),
        (Mode::ForgetsAlways, "has lost the session"),
    ] {
        let (address, server) = serve(mode);
        let project = project(address, &json!({}), 2);
        let (ran, scenario) = run(&project);
        assert_eq!(ran.code, 3, "{mode:?} {ran:#?}");
        let problem = scenario["problem"]["message"].as_str().unwrap();
        assert!(problem.contains(why), "{mode:?} {problem}");
        let outcomes = outcomes(&project, &scenario);
        let (status, sessions) = match mode {
            Mode::ForgetsAlways => ("transport_error", 2),
            _ => ("disconnected", 1),
        };
        assert_eq!(outcomes[0]["status"], status);
        assert_eq!(server.gets(), sessions, "{mode:?}");
    }
}

#[test]
fn a_session_that_ends_between_calls_is_opened_again_and_that_is_reported() {
    let ended = "server `web` ended the session before its call 2; it was opened again";
    let dropped = "server `web` dropped its event stream before its call 2; it was opened again";
    // The first call may come before the end of the stream is noticed.
    for (mode, expected) in [
        (Mode::Drops, vec![ended, dropped]),
        (Mode::Forgets, vec![ended]),
    ] {
        let (address, server) = serve(mode);
        let project = project(address, &json!({}), 3);
        let (ran, scenario) = run(&project);
        assert_eq!(ran.code, 0, "{mode:?} {ran:#?}");
        assert_eq!(outcomes(&project, &scenario).len(), 3);
        assert_eq!(server.asked("initialize"), 2, "{mode:?}");
        let notes = scenario["notes"].as_array().unwrap();
        assert!(
            notes
                .iter()
                .any(|it| expected.iter().any(|expected| it == expected)),
            "{notes:?}"
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_stream_that_is_dropped_while_nothing_is_asked_is_opened_anew() {
    let (address, server) = serve(Mode::Drops);
    let launch = Launch::Http {
        style: HttpStyle::Sse,
        url: format!("http://{address}/sse"),
        headers: Vec::new(),
        bearer_token: None,
    };
    let target = Target {
        name: "web".to_owned(),
        launch,
        protocol: None,
        inputs: Vec::new(),
        may_be_starting: false,
        if_late: Target::GIVE_MORE,
        connect_timeout: Duration::from_secs(5),
        tool_timeout: Duration::from_secs(5),
        observed: Observed::default(),
    };
    let observed = target.observed.clone();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let tools = mcp_eval::mcp::connect(&[target], &|_| ()).await.unwrap();
        for _ in 0..3 {
            let called = tools.call("web", "big", &model::Object::new()).await;
            assert!(!called.outcome.is_failure(), "{called:?}");
            tokio::time::sleep(Duration::from_millis(1500)).await;
        }
        tools.close().await;
    });
    let note = "server `web` dropped its event stream before its call 2; it was opened again";
    assert_eq!(observed.notes(), [note]);
    assert_eq!(server.asked("tools/call"), 3);
    assert_eq!(server.gets(), 2);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn servers_that_open_no_session_are_errors() {
    let cases = [
        (
            Mode::Unauthorized,
            "HTTP 401 Unauthorized, text/plain: `who are you?`",
        ),
        (
            Mode::Elsewhere,
            "it wants messages at http://other.example/messages, which is another server",
        ),
        (Mode::NoEndpoint, "did not get ready within 1s"),
        (
            Mode::MessageFirst,
            "names no endpoint: its first event is `message`",
        ),
    ];
    for (mode, message) in cases {
        let (address, server) = serve(mode);
        for agent in [
            json!({ "kind": "scripted", "calls": [{ "tool": "big" }] }),
            call_agent(),
        ] {
            let server = json!({ "connect_timeout": "1s" });
            let (ran, scenario) = run(&project_of(address, &server, &agent));
            assert_eq!(ran.code, 3, "{mode:?}: {ran:#?}");
            let problem = scenario["problem"]["message"].as_str().unwrap();
            assert!(problem.contains(message), "{mode:?}: {problem}");
            ran.says_not("canary");
        }
        let posts = server
            .seen()
            .iter()
            .filter(|it| it.0 == Method::POST)
            .count();
        assert_eq!(posts, 0, "{mode:?}");
    }
}

#[test]
fn a_server_that_is_declared_as_http_is_spoken_to_in_the_older_way_where_it_knows_no_other() {
    for (path, agent) in [
        (
            "sse",
            json!({ "kind": "scripted", "calls": [{ "tool": "big" }] }),
        ),
        (
            "mcp",
            json!({ "kind": "scripted", "calls": [{ "tool": "big" }] }),
        ),
        ("mcp", call_agent()),
    ] {
        let (address, server) = serve(Mode::Stream);
        let over_http = json!({ "type": "http", "url": format!("http://{address}/{path}") });
        let project = project_of(address, &over_http, &agent);
        let (ran, scenario) = run(&project);
        assert_eq!(ran.code, 0, "{path} {ran:#?}");
        let notes = scenario["notes"].to_string();
        assert!(
            notes.contains("server `web` answered POST with HTTP 405 Method Not Allowed and is spoken to over the older HTTP with SSE"),
            "{notes}"
        );
        let calls = outcomes(&project, &scenario).len();
        assert_eq!(server.asked("tools/call"), calls);
    }
    // What is not there at all is reported as it is.
    let (address, _) = serve(Mode::Stream);
    let nowhere = json!({ "type": "http", "url": format!("http://{address}/nowhere") });
    let (ran, scenario) = run(&project(address, &nowhere, 1));
    assert_eq!(ran.code, 3);
    let problem = scenario["problem"]["message"].as_str().unwrap();
    assert!(problem.contains("HTTP 404 Not Found"), "{problem}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_gateway_stands_in_front_of_such_servers() {
    for mode in [
        Mode::Stream,
        Mode::InBody,
        Mode::InEvents,
        Mode::TakesLate,
        Mode::Asks,
    ] {
        let (address, server) = serve(mode);
        let project = project_of(address, &json!({}), &call_agent());
        let (ran, scenario) = run(&project);
        assert_eq!(ran.code, 0, "{mode:?}: {ran:#?}");
        let outcomes = outcomes(&project, &scenario);
        assert_eq!(outcomes.len(), 2, "{mode:?}");
        let number = outcomes[1]["structured_content"]["n"].to_string();
        assert_eq!(number, "12345678901234567890");
        assert_eq!(server.asked("tools/call"), 2);
        let seen = server.seen();
        assert!(seen.iter().all(|it| it.1["x-key"] == "header-canary"));
        // Our own session for the catalogue, and that of the agent.
        assert_eq!(server.gets(), 2);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_goes_wrong_behind_the_gateway_is_recorded() {
    let cases = [
        (Mode::Hangs, "timeout", "no answer within 1s"),
        (Mode::Latin1, "invalid_response", "is not valid UTF-8"),
        (Mode::ServerError, "transport_error", "HTTP 502 Bad Gateway"),
        (Mode::RpcError, "rpc_error", "not today"),
        (Mode::Ends, "disconnected", "it ended its event stream"),
        (Mode::ForgetsAlways, "disconnected", "has lost the session"),
    ];
    for (mode, status, message) in cases {
        let (address, _) = serve(mode);
        let project = project_of(address, &json!({ "tool_timeout": "1s" }), &call_agent());
        let (ran, scenario) = run(&project);
        let outcomes = outcomes(&project, &scenario);
        let outcome = outcomes.first();
        let outcome = outcome.unwrap_or_else(|| panic!("{mode:?} {ran:#?}"));
        assert_eq!(outcome["status"], status, "{mode:?} {outcome}");
        assert!(outcome.to_string().contains(message), "{mode:?} {outcome}");
        if status == "disconnected" {
            assert_eq!(ran.code, 3, "{mode:?} {ran:#?}");
        }
    }
}

#[test]
fn our_own_mock_server_is_spoken_to_in_the_older_way() {
    let project = Project::new();
    project.file(
        "mock.yaml",
        "tools: [{ name: slow, responses: [{ delay: 20ms, steps: [{ log: working }], content: done }] }]\n",
    );
    let arguments = ["mock", "mock.yaml", "--transport", "http", "--legacy-sse"];
    let (_mock, url) = served(&project, &arguments);
    let url = url.replace("/mcp", "/sse");
    let scenario = json!({
        "name": "S", "servers": { "s": { "type": "sse", "url": url } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "slow" }] },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["run"]);
    let config = json!({ "mcpServers": { "s": { "type": "sse", "url": url } } });
    project.file("mcp.json", config.to_string());
    project.file(
        "scenarios/s.yaml",
        "name: S\nconfig_file: mcp.json\nagent: { kind: scripted, calls: [{ tool: slow }] }\n",
    );
    project.expect(0, &["run"]);
}
