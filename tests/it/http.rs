//! Streamable HTTP servers, well-behaved and not.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};

use mcp_eval::mcp::Launch;
use tokio::sync::oneshot;

use crate::common::{Project, free_port, ran, small_agent};
use crate::faults::calls_at_once;

/// How the server behaves.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    Json,
    Events,
    Hang,
    ServerError,
    Html,
    BrokenJson,
    RpcErrorWithStatus,
    Unauthorized,
    /// Does not know its session any more when a tool is called.
    Forgets,
    /// Ends each session after so many calls.
    EndsSessions(usize),
    /// Ends its session after the first call, and begins no other.
    EndsForGood,
    /// Answers calls with a text that is no UTF-8.
    Latin1,
    /// The same, as events.
    Latin1Events,
    /// Keeps its answers until there are so many, and gives the last of them first; as events.
    Reverse(usize),
}

#[derive(Clone)]
pub(crate) struct Server {
    mode: Mode,
    /// The headers of every request.
    pub(crate) seen: Arc<Mutex<Vec<HeaderMap>>>,
    kept: Arc<Mutex<Vec<oneshot::Sender<()>>>>,
    /// How many sessions it has begun, and how many calls came in the last of them.
    used: Arc<Mutex<(usize, usize)>>,
}

/// A server on a free port that lives as long as the test process.
pub(crate) fn serve(mode: Mode) -> (SocketAddr, Server) {
    serve_at("127.0.0.1:0".parse().unwrap(), mode)
}

fn serve_at(address: SocketAddr, mode: Mode) -> (SocketAddr, Server) {
    let (app, server) = routes("/mcp", mode);
    (serve_app_at(address, move || app), server)
}

/// What such a server answers at this path.
pub(crate) fn routes(path: &str, mode: Mode) -> (Router, Server) {
    let server = Server {
        mode,
        seen: Arc::default(),
        kept: Arc::default(),
        used: Arc::default(),
    };
    let app = Router::new().route(path, post(answer));
    (app.with_state(server.clone()), server)
}

/// Serves this on a free port as long as the test process lives.
pub(crate) fn serve_app(app: impl FnOnce() -> Router + Send + 'static) -> SocketAddr {
    serve_app_at("127.0.0.1:0".parse().unwrap(), app)
}

fn serve_app_at(address: SocketAddr, app: impl FnOnce() -> Router + Send + 'static) -> SocketAddr {
    let (ready, bound) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(address).await.unwrap();
            ready.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, app()).await.unwrap();
        });
    });
    bound.recv().unwrap()
}

async fn answer(State(server): State<Server>, headers: HeaderMap, body: Bytes) -> Response<Body> {
    server.seen.lock().unwrap().push(headers);
    let request: Value = serde_json::from_slice(&body).unwrap();
    let respond = |status: StatusCode, kind: &str, body: Vec<u8>| {
        Response::builder()
            .status(status)
            .header("content-type", kind)
            .header("mcp-session-id", "s-1")
            .body(Body::from(body))
            .unwrap()
    };
    if server.mode == Mode::Unauthorized {
        return respond(
            StatusCode::UNAUTHORIZED,
            "application/json",
            r#"{"error":"token expired"}"#.into(),
        );
    }
    let Some(id) = request.get("id") else {
        return respond(StatusCode::ACCEPTED, "text/plain", Vec::new());
    };
    let method = request["method"].as_str().unwrap();
    if server.refuses(method) {
        return respond(
            StatusCode::NOT_FOUND,
            "text/plain",
            "no such session".into(),
        );
    }
    let result = match method {
        "initialize" => json!({
            "protocolVersion": request["params"]["protocolVersion"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "web", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "big", "inputSchema": { "type": "object" }, "execution": { "kept": true } }] })
        }
        _ => match server.mode {
            Mode::Hang => {
                tokio::time::sleep(Duration::from_secs(300)).await;
                Value::Null
            }
            Mode::ServerError => {
                return respond(
                    StatusCode::BAD_GATEWAY,
                    "text/plain",
                    "upstream is gone".into(),
                );
            }
            Mode::Html => {
                return respond(StatusCode::OK, "text/html", "<h1>It works!</h1>".into());
            }
            Mode::BrokenJson => {
                return respond(
                    StatusCode::OK,
                    "application/json",
                    r#"{"jsonrpc": "2.0", "#.into(),
                );
            }
            Mode::RpcErrorWithStatus => {
                let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32007, "message": "not today" } });
                return respond(
                    StatusCode::BAD_REQUEST,
                    "application/json",
                    error.to_string().into(),
                );
            }
            Mode::Forgets => return respond("404".parse().unwrap(), "text/plain", Vec::new()),
            Mode::Latin1 | Mode::Latin1Events => {
                json!({ "content": [{ "type": "text", "text": "café" }] })
            }
            Mode::Reverse(most) => return server.reversed(most, &request),
            // A number that a typed model would round, and a member it would drop.
            _ => {
                json!({ "content": [{ "type": "text", "text": "ok", "vendor": 1 }], "structuredContent": { "n": 12_345_678_901_234_567_890_u64 } })
            }
        },
    };
    let message = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    let mut latin_1 = message.clone().into_bytes();
    if let Some(at) = message.find('é') {
        latin_1.splice(at..at + 2, [0xe9]);
    }
    if server.mode == Mode::Latin1Events {
        let events = [b"data: ", latin_1.as_slice(), b"\n\n"].concat();
        return respond(StatusCode::OK, "text/event-stream", events);
    }
    if server.mode == Mode::Latin1 {
        return respond(StatusCode::OK, "application/json", latin_1);
    }
    if server.mode == Mode::Events {
        let progress = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "working" } });
        let events = format!(
            ": hello\n\nevent: message\ndata: {progress}\n\nid: 7\nevent: message\ndata: {message}\n\n"
        );
        return respond(StatusCode::OK, "text/event-stream", events.into());
    }
    respond(StatusCode::OK, "application/json", message.into())
}

impl Server {
    /// Whether the session has ended in which this is asked.
    fn refuses(&self, method: &str) -> bool {
        let most = match self.mode {
            Mode::EndsSessions(most) => most,
            Mode::EndsForGood => 1,
            _ => return false,
        };
        let mut used = self.used.lock().unwrap();
        let (begun, calls) = *used;
        match method {
            "initialize" => *used = (begun + 1, 0),
            "tools/call" => *used = (begun, calls + 1),
            _ => {}
        }
        let ended_for_good = self.mode == Mode::EndsForGood && used.0 > 1;
        used.1 > most || ended_for_good
    }

    fn reversed(&self, most: usize, request: &Value) -> Response<Body> {
        let (release, released) = oneshot::channel();
        let text = request["params"]["arguments"].to_string();
        let result = json!({ "content": [{ "type": "text", "text": text, "vendor": 1 }] });
        let message = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        let mut kept = self.kept.lock().unwrap();
        kept.push(release);
        if kept.len() == most {
            let kept = std::mem::take(&mut *kept);
            tokio::spawn(async move {
                for release in kept.into_iter().rev() {
                    release.send(()).unwrap();
                    tokio::task::yield_now().await;
                }
            });
        }
        let event = futures_util::stream::once(async move {
            released.await.map(|()| format!("data: {message}\n\n"))
        });
        Response::builder()
            .header("content-type", "text/event-stream")
            .body(Body::from_stream(event))
            .unwrap()
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn answers_to_many_calls_at_once_are_all_kept_as_served() {
    let (address, _) = serve(Mode::Reverse(300));
    let launch = Launch::Http {
        style: mcp_eval::scenario_file::servers::HttpStyle::default(),
        url: format!("http://{address}/mcp"),
        headers: Vec::new(),
        bearer_token: None,
    };
    calls_at_once(launch, 300);
}

fn project(address: SocketAddr) -> Project {
    let project = Project::new();
    let scenario = json!({
        "name": "web",
        "servers": { "web": { "type": "http", "url": "http://${HOST:-127.0.0.1}:${PORT}/mcp", "headers": { "X-Team": "blue" }, "bearer_token_env": "MY_TOKEN", "tool_timeout": "2s" } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "big", "args": {} }] },
    });
    project
        .file("scenarios/web.yaml", scenario.to_string())
        .file("port", address.port().to_string());
    project
}

fn run(project: &Project) -> (crate::common::Ran, Value) {
    let port = project.read("port");
    let ran = ran(project
        .command()
        .args(["run", "--format", "json"])
        .env("PORT", port)
        .env("MY_TOKEN", "bearer-canary"));
    let result: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let scenario = result["scenarios"][0].clone();
    (ran, scenario)
}

fn stored(project: &Project, scenario: &Value) -> Value {
    let file = scenario["current"]["file"].as_str().unwrap();
    serde_json::from_str(
        &project.read(
            project
                .path("reports/latest")
                .canonicalize()
                .unwrap()
                .join(file),
        ),
    )
    .unwrap()
}

#[test]
fn answers_come_as_json_and_as_events_and_are_kept_as_served() {
    for mode in [Mode::Json, Mode::Events] {
        let (address, server) = serve(mode);
        let project = project(address);
        let (ran, scenario) = run(&project);
        assert_eq!(ran.code, 0, "{ran:?}");
        let stored = stored(&project, &scenario);
        let outcome = &stored["steps"][0]["outcome"];
        assert_eq!(outcome["content"][0]["vendor"], 1);
        assert_eq!(
            outcome["structured_content"]["n"].to_string(),
            "12345678901234567890"
        );
        assert_eq!(
            stored["catalogue"][0]["tools"][0]["execution"]["kept"],
            true
        );
        let seen = server.seen.lock().unwrap();
        assert!(
            seen.iter()
                .all(|it| it["authorization"] == "Bearer bearer-canary" && it["x-team"] == "blue")
        );
        assert!(
            seen.iter().skip(1).all(|it| it["mcp-session-id"] == "s-1"),
            "the session is kept"
        );
        assert!(
            !project
                .read("reports/latest/result.json")
                .contains("bearer-canary")
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn http_failures_are_outcomes_of_the_call() {
    let cases = [
        (Mode::Hang, "timeout", "no answer within 2s"),
        (
            Mode::ServerError,
            "transport_error",
            "HTTP 502 Bad Gateway, text/plain: `upstream is gone`",
        ),
        (
            Mode::Html,
            "transport_error",
            "HTTP 200 OK, text/html: `<h1>It works!</h1>`",
        ),
        (
            Mode::BrokenJson,
            "invalid_response",
            r#"`{"jsonrpc": "2.0",`"#,
        ),
        (Mode::RpcErrorWithStatus, "rpc_error", "not today"),
        (Mode::Latin1, "invalid_response", "is not valid UTF-8"),
        (Mode::Latin1Events, "invalid_response", "is not valid UTF-8"),
    ];
    for (mode, status, message) in cases {
        let (address, _) = serve(mode);
        let project = project(address);
        let (ran, scenario) = run(&project);
        assert_eq!(ran.code, 1, "{status}: {ran:?}");
        let outcome = stored(&project, &scenario)["steps"][0]["outcome"].clone();
        assert_eq!(outcome["status"], status, "{outcome}");
        assert!(
            outcome["error"]["message"]
                .as_str()
                .unwrap()
                .contains(message),
            "{outcome}"
        );
    }
}

#[test]
fn a_session_that_is_lost_in_the_middle_is_an_error_and_no_verdict() {
    let (address, _) = serve(Mode::Forgets);
    let (ran, scenario) = run(&project(address));
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(scenario["status"], "error");
    assert!(scenario["comparison"].is_null());
    let message = scenario["problem"]["message"].as_str().unwrap();
    assert!(
        message.contains("server `web` has lost the session"),
        "{message}"
    );
}

/// The same scenario with so many calls.
fn calling(address: SocketAddr, calls: usize) -> Project {
    let project = project(address);
    let call = r#"{"tool":"big","args":{}}"#;
    project.edit("scenarios/web.yaml", call, &vec![call; calls].join(","));
    project
}

#[test]
fn a_session_that_the_server_ends_is_opened_anew_and_that_is_reported() {
    let (address, server) = serve(Mode::EndsSessions(2));
    let project = calling(address, 6);
    let (ran, scenario) = run(&project);
    assert_eq!(ran.code, 0, "{ran:?}");
    let steps = stored(&project, &scenario)["steps"].clone();
    let steps = steps.as_array().unwrap();
    assert_eq!(steps.len(), 6);
    assert!(
        steps.iter().all(|it| it["outcome"]["status"] == "ok"),
        "{steps:?}"
    );
    let expected = [3, 5].map(|call| {
        format!("server `web` ended the session before its call {call}; it was opened again")
    });
    assert_eq!(scenario["notes"], json!(expected), "{scenario}");
    assert_eq!(server.used.lock().unwrap().0, 3);
}

#[test]
fn a_server_that_ends_its_sessions_again_and_again_is_an_error() {
    let (address, server) = serve(Mode::EndsSessions(1));
    let (ran, scenario) = run(&calling(address, 6));
    assert_eq!(ran.code, 3, "{ran:?}");
    let message = scenario["problem"]["message"].as_str().unwrap();
    assert!(message.contains("has lost the session"), "{message}");
    assert_eq!(
        server.used.lock().unwrap().0,
        4,
        "the first, and three more"
    );
}

#[test]
fn a_session_that_cannot_be_opened_anew_is_an_error_and_no_verdict() {
    let (address, _) = serve(Mode::EndsForGood);
    let (ran, scenario) = run(&calling(address, 2));
    assert_eq!(ran.code, 3, "{ran:?}");
    let problem = &scenario["problem"];
    let message = problem["message"].as_str().unwrap();
    assert!(
        message.contains("server `web` has lost the session"),
        "{message}"
    );
    assert!(
        problem["details"]
            .to_string()
            .contains("it was not opened again"),
        "{problem}"
    );
    assert!(scenario["comparison"].is_null());
}

#[test]
fn a_server_that_lets_nobody_in_is_an_error() {
    let (address, server) = serve(Mode::Unauthorized);
    let (ran, scenario) = run(&project(address));
    assert_eq!(ran.code, 3);
    let asked = server.seen.lock().unwrap().len();
    assert_eq!(asked, 1, "it was told, and is not asked again");
    assert!(
        scenario["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("HTTP 401 Unauthorized"),
        "{scenario}"
    );
}

/// An address where no server listens.
fn unused_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], free_port()))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_is_not_there_is_an_error() {
    let project = project(unused_address());
    project.edit("scenarios/web.yaml", "2s", "2s\",\"connect_timeout\":\"5s");
    let (ran, scenario) = run(&project);
    assert_eq!(ran.code, 3);
    let message = scenario["problem"]["message"].as_str().unwrap();
    assert!(
        message.contains("server `web` cannot be reached") && message.contains("refused"),
        "{message}"
    );
    assert!(message.contains("tried for 5s"), "{message}");
    assert!(ran.took > Duration::from_secs(5));
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_is_still_starting_is_waited_for() {
    for agent in [
        json!({ "kind": "scripted", "calls": [{ "tool": "big" }] }),
        json!({ "kind": "command", "command": [small_agent(), "call web big {}"] }),
    ] {
        let address = unused_address();
        let project = Project::new();
        let server = json!({ "url": format!("http://{address}/mcp") });
        let scenario = json!({ "name": "S", "user_intent": "Go.", "servers": { "web": server }, "agent": agent });
        project.file("scenarios/s.yaml", scenario.to_string());
        let starting = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(1500));
            serve_at(address, Mode::Json)
        });
        project.expect(0, &["run", "-v"]).says(&format!(
            "waiting for server `web` at http://{address}/mcp: Connection refused"
        ));
        let (_, server) = starting.join().unwrap();
        // Its handshake, its tools, one call.
        assert!(server.seen.lock().unwrap().len() >= 3);
    }
}

#[test]
fn waiting_for_a_server_ends_with_an_interruption() {
    let project = project(unused_address());
    let port = project.read("port");
    let mut command = project.command();
    let mut running = command
        .args(["run", "-v"])
        .env("PORT", port)
        .env("MY_TOKEN", "t")
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(running.stderr.take().unwrap()).lines();
    let waits = |line: &String| line.contains("waiting for server");
    assert!(lines.map_while(Result::ok).any(|it| waits(&it)));
    let begun = Instant::now();
    let id = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_name_that_leads_nowhere_is_not_tried_again() {
    let project = project(unused_address());
    let ran = ran(project
        .command()
        .args(["run", "-v"])
        .env("HOST", "no-such-host.invalid")
        .env("PORT", "80")
        .env("MY_TOKEN", "t"));
    assert_eq!(ran.code, 3, "{ran:?}");
    ran.says("server `web` cannot be reached")
        .says_not("waiting for server")
        .says_not("tried for");
}

#[test]
fn everything_that_is_missing_in_the_environment_is_reported_at_once() {
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        "name: s\nservers:\n  a: { type: http, url: \"http://${A_HOST}/mcp\" }\n  b: { type: stdio, command: \"${B_COMMAND}\", env: { K: \"${C_KEY}\" } }\n\
         agent: { kind: scripted, calls: [{ tool: mcp__a__t }] }\n",
    );
    project
        .expect(3, &["run"])
        .says("`A_HOST`, `B_COMMAND`, `C_KEY`");
}

#[test]
fn servers_can_come_from_a_client_configuration() {
    let (address, _) = serve(Mode::Json);
    let project = Project::new();
    project.file("configuration.json", json!({ "mcpServers": { "web": { "url": format!("http://{address}/mcp"), "autoApprove": [] } } }).to_string());
    project.file(
        "scenarios/s.yaml",
        "name: s\nexpected_trajectory:\n  - { action: a, tool: mcp__web__big, args: {} }\n",
    );
    project
        .expect(3, &["run"])
        .says("no servers")
        .says("--mcp-config");
    project.expect(0, &["run", "--mcp-config", "configuration.json"]);
    project.file("scenarios/s.yaml", "name: s\nconfig_file: configuration.json\nexpected_trajectory:\n  - { action: a, tool: mcp__web__big, args: {} }\n");
    project.expect(0, &["run"]);
    project.file("mcp_servers.json", "[]");
    project
        .expect(2, &["run", "--mcp-config", "mcp_servers.json"])
        .says("mcp_servers.json");
}
