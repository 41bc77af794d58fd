//! Servers have to prove that they are ready before a run begins, whatever their type and with no container.

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use serde_json::{Value, json};

use crate::common::{Project, StandIn, faulty_server, free_port, served, small_agent, whole};

/// A call that is answered with a list of tools once the server is ready.
fn search() -> Value {
    json!({ "tool": "echo", "args": { "q": "anything" }, "expect": { "path": "/tools", "min_items": 1 } })
}

/// A scenario `s` with one call to a server that has this `ready` section.
fn one_call(project: &Project, faults: &[&str], ready: &Value, more: &Value) {
    let servers = json!({ "servers": { "s": {
        "type": "stdio", "command": faulty_server(), "args": faults, "ready": ready,
    } } });
    let mut all = servers.as_object().unwrap().clone();
    all.extend(more.as_object().unwrap().clone());
    let calls = [("echo", json!({ "q": "environment" }))];
    project.faulty_with("s", faults, &calls, &Value::Object(all));
}

fn recorded(project: &Project) -> Value {
    let text = project.read("baselines/s/baseline.json");
    serde_json::from_str(&text).unwrap()
}

fn calls(trajectory: &Value) -> Vec<&Value> {
    let steps = trajectory["steps"].as_array().unwrap().iter();
    steps.filter(|it| it["kind"] == "tool_call").collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_comes_late_is_waited_for_in_the_session_of_the_run_and_is_no_part_of_it() {
    let project = Project::new();
    let late = &["late=700"];
    // Without, the empty answer would become the baseline.
    one_call(&project, late, &Value::Null, &json!({}));
    project.expect(0, &["record"]);
    assert!(recorded(&project).to_string().contains("null"));

    for place in ["server", "scenario"] {
        let ready = json!({ "calls": [search()], "timeout": "20s" });
        match place {
            "server" => one_call(&project, late, &ready, &json!({})),
            _ => one_call(&project, late, &Value::Null, &json!({ "ready": ready })),
        }
        let ran = project.expect(0, &["record", "-v"]);
        ran.says("waiting for s: `echo`: /tools has no items");
        let baseline = recorded(&project);
        assert_eq!(calls(&baseline).len(), 1, "{baseline}");
        let said = baseline.to_string();
        assert!(
            said.contains("look") && !said.contains("anything"),
            "{said}"
        );
        assert!(
            !project
                .read("baselines/s/trajectory.txt")
                .contains("anything")
        );
        // Before every take, in compare and in run.
        for command in [&["compare"][..], &["run"], &["compare", "--repeat", "2"]] {
            let result = project.result(0, command);
            assert!(!result.to_string().contains("anything"), "{result:#}");
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn servers_that_never_get_ready_are_an_error_that_says_why() {
    let secret = "s3cr3t-value-of-mine";
    let long = format!("text={secret} {}", "x".repeat(3000));
    let call = |expect: Value| json!([{ "tool": "count", "args": { "a": 1 }, "expect": expect }]);
    let cases = [
        (
            &["late=90000"][..],
            json!({ "calls": call(json!({ "path": "$.tools", "min_items": 1 })) }),
            "server `s` did not get ready within 900ms: still waiting for `count`: $.tools has no items",
            r#"its last answer: {"tools":null}"#,
        ),
        (
            &["tool-error"],
            json!({ "calls": [{ "tool": "echo" }] }),
            "still waiting for `echo`: it answers with an error",
            "its last answer: the disk is on fire",
        ),
        (
            &[&long],
            json!({ "calls": call(json!({ "text": "ready" })) }),
            "still waiting for `count`: the answer does not hold `ready`",
            "its last answer: <secret:var.mine>",
        ),
        (
            &["rpc-error"],
            json!({ "calls": call(json!({ "text": "ready" })) }),
            "still waiting for `count`: JSON-RPC error: quota exceeded",
            "asked ",
        ),
        (
            &["hang"],
            json!({ "calls": [{ "tool": "echo" }] }),
            "did not get ready within 900ms: still waiting for an answer of `echo`",
            "",
        ),
        (
            &[],
            json!({ "tools": ["echo", "teleport"] }),
            "still waiting for tools 1/2, missing `teleport`",
            "listed are `echo`, `count`",
        ),
        (
            &[],
            json!({ "min_tools": 5 }),
            "still waiting for tools 2/5",
            "listed are",
        ),
        (
            &["silent"],
            json!({ "tools": ["echo"] }),
            "server `s` did not get ready within 900ms",
            "stderr: faulty server starting",
        ),
        (
            &["random"],
            json!({ "calls": [{ "tool": "echo" }, { "tool": "count" }], "settle": "500ms" }),
            "still waiting for 2 tools and 2 answers to stay the same for 500ms (the answer to call 2 has changed)",
            "",
        ),
    ];
    std::thread::scope(|scope| {
        for (faults, ready, why, last) in cases {
            scope.spawn(move || never_gets_ready(secret, faults, ready, why, last));
        }
    });
}

fn never_gets_ready(secret: &str, faults: &[&str], mut ready: Value, why: &str, last: &str) {
    let project = Project::new();
    ready["timeout"] = json!("900ms");
    let more = json!({ "variables": { "mine": { "value": secret, "secret": true } } });
    one_call(&project, faults, &ready, &more);
    let ran = project.expect(3, &["record"]);
    ran.says(why).says(last).says("(`ready.timeout` changes");
    ran.says("[1 error]".replace(['[', ']'], "").as_str());
    assert!(!ran.all().contains(secret), "{ran:#?}");
    assert!(ran.all().len() < 2500, "{ran:#?}");
    assert!(!project.path("baselines").exists(), "{why}");
    assert!(ran.took < Duration::from_secs(10), "{why}: {:?}", ran.took);
    assert_eq!(project.survivors(), [""; 0], "{why}");
    let result = project.result(3, &["run"]);
    assert_eq!(result["scenarios"][0]["status"], "error", "{why}");
}

#[test]
fn a_server_that_ends_while_it_is_asked_is_not_waited_for() {
    let project = Project::new();
    let ready = json!({ "calls": [{ "tool": "count", "expect": { "text": "7" } }] });
    one_call(&project, &["die-after=2"], &ready, &json!({}));
    let ran = project.expect(3, &["run"]);
    ran.says("it exited with code 7 when it was asked whether it is ready")
        .says("stderr: panic: index out of range");
    assert!(ran.took < Duration::from_secs(10), "{ran:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn catalogue_and_answers_have_to_stay_the_same_for_a_while() {
    let project = Project::new();
    let faults = &["late-list=600"];
    let listed =
        |project: &Project| whole(project, "baselines/s/baseline.json")["catalogue"].to_string();
    one_call(&project, faults, &json!({ "tools": ["echo"] }), &json!({}));
    project.expect(0, &["record"]);
    assert!(listed(&project).contains(r#""enum":[]"#));
    one_call(&project, faults, &json!({ "settle": "900ms" }), &json!({}));
    project
        .expect(0, &["record", "-v"])
        .says("2 tools to stay the same for 900ms")
        .says("(what is said of `echo` has changed)");
    assert!(listed(&project).contains(r#""enum":["fast","slow"]"#));

    // The same of answers, without a word of what they should hold.
    let ready = json!({ "calls": [{ "tool": "echo" }], "settle": "900ms", "interval": "50ms" });
    one_call(&project, &["late=600"], &ready, &json!({}));
    project.expect(0, &["record"]);
    assert!(recorded(&project).to_string().contains("look"));

    // What the scenario does not look at may vary.
    let ready = json!({ "calls": [{ "tool": "count" }], "settle": "300ms", "timeout": "5s" });
    let ignore = json!({ "scoring": { "ignore": ["..calls", "..ticket"] } });
    one_call(&project, &["random"], &ready, &ignore);
    project.expect(0, &["run"]);
}

/// A proxy: its tools are there at once, and what is behind it at the fourth search.
const PROXY: &str = r#"
name: proxy
tools:
  - name: retrieve_tools
    annotations: { read_only_hint: true }
    responses:
      - times: 3
        content: [{ json: { tools: null, session: "sk-live-4f9a8b7c6d5e4f3a2b1c" } }]
      - content: [{ json: { tools: [{ name: "everything:echo" }], query: "{{args.query}}" } }]
  - name: call_tool
    responses: [{ content: done }]
"#;

fn serve(project: &Project, port: u16) -> (StandIn, String) {
    project.file("proxy.yaml", PROXY);
    let port = port.to_string();
    served(
        project,
        &["mock", "proxy.yaml", "--transport", "http", "--port", &port],
    )
}

fn over_http(project: &Project, url: &str, ready: &Value) {
    let scenario = json!({
        "name": "S",
        "servers": { "proxy": { "type": "http", "url": url } },
        "ready": ready,
        "expected_trajectory": [{ "tool": "retrieve_tools", "args": { "query": "env" } }],
    });
    project.file("scenarios/s.yaml", scenario.to_string());
}

#[test]
fn a_proxy_over_http_is_asked_in_sessions_of_their_own_until_it_finds_something() {
    let project = Project::new();
    let (_mock, url) = serve(&project, 0);
    let call = json!({ "tool": "mcp__proxy__retrieve_tools", "args": { "query": "{{what}}" },
        "expect": { "path": "$.tools[*].name", "equals": "everything:{{what}}" } });
    let ready = json!({ "calls": [call], "tools": ["retrieve_tools"], "interval": "20ms" });
    over_http(&project, &url, &ready);
    project.edit(
        "scenarios/s.yaml",
        "\"name\":\"S\"",
        r#""name":"S","variables":{"what":"echo"}"#,
    );
    let ran = project.expect(0, &["record", "-v"]);
    ran.says("waiting for proxy: `retrieve_tools`: there is nothing at $.tools[*].name");
    let baseline = recorded(&project);
    assert_eq!(calls(&baseline).len(), 1);
    assert!(
        baseline.to_string().contains("everything:echo"),
        "{baseline}"
    );
    project.expect(0, &["compare"]);
}

#[test]
fn a_server_that_does_not_listen_yet_is_waited_for() {
    let project = Project::new();
    let port = free_port();
    over_http(
        &project,
        &format!("http://127.0.0.1:{port}/mcp"),
        &json!({ "timeout": "20s" }),
    );
    let mut run = project
        .command()
        .args(["run", "-v"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines();
    let waits = said.any(|line| line.unwrap().contains("Connection refused"));
    assert!(waits);
    let _mock = serve(&project, port);
    assert!(run.wait().unwrap().success());
}

/// Pages of a server that is healthy at the third request.
fn pages() -> SocketAddr {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let health = |headers: HeaderMap| async move {
                if headers
                    .get("x-api-key")
                    .is_none_or(|it| it != "key-0123456789")
                {
                    return (StatusCode::UNAUTHORIZED, "who are you?".to_owned());
                }
                match ASKED.fetch_add(1, Ordering::Relaxed) {
                    0 => (StatusCode::SERVICE_UNAVAILABLE, "starting".to_owned()),
                    1 => (StatusCode::OK, r#"{"upstreams": []}"#.to_owned()),
                    _ => (
                        StatusCode::OK,
                        r#"{"upstreams": ["everything"]}"#.to_owned(),
                    ),
                }
            };
            let app = Router::new().route("/api/v1/health", get(health));
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, app).await.unwrap();
        });
    });
    address
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_page_says_that_a_server_is_ready() {
    let project = Project::new();
    let address = pages();
    let page = json!({
        "path": "api/v1/health?deep=1", "headers": { "X-API-Key": "${HEALTH_KEY}" },
        "expect": { "path": "/upstreams", "min_items": 1 },
    });
    // The page belongs to the server's origin; that there is no MCP beside it is found next.
    let ready = json!({ "http": page, "timeout": "3s", "interval": "20ms" });
    over_http(&project, &format!("http://{address}/mcp"), &ready);
    let mut command = project.command();
    command.env("HEALTH_KEY", "key-0123456789");
    let ran = crate::common::ran(command.args(["run", "-v"]));
    assert_eq!(ran.code, 3, "{ran:#?}");
    let page = format!("http://{address}/api/v1/health");
    ran.says(&format!(
        "waiting for proxy: {page}: HTTP 503, and 200 is expected"
    ))
    .says(&format!("{page}: /upstreams has no items"))
    .says("still waiting for an answer to MCP `initialize`");

    let wrong = crate::common::ran(
        project
            .command()
            .env("HEALTH_KEY", "not-the-right-key")
            .arg("run"),
    );
    assert_eq!(wrong.code, 3);
    wrong
        .says("HTTP 401, and 200 is expected")
        .says("its last answer: who are you?")
        .says_not("not-the-right-key");
    project.expect(3, &["run"]).says("`HEALTH_KEY` is not set");
    project.edit(
        "scenarios/s.yaml",
        "\"path\":\"api/v1/health?deep=1\"",
        "\"url\":\"http://127.0.0.1:1/\"",
    );
    let gone = crate::common::ran(project.command().env("HEALTH_KEY", "x").arg("run"));
    gone.says("still waiting for a page (http://127.0.0.1:1/: Connection refused");
}

#[test]
fn ctrl_c_ends_the_waiting_at_once() {
    let project = Project::new();
    let ready = json!({ "calls": [search()], "timeout": "5m" });
    one_call(&project, &["late=900000"], &ready, &json!({}));
    let mut run = project
        .command()
        .args(["run", "-v"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("has no items")));
    let signalled = Instant::now();
    let id = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(signalled.elapsed() < Duration::from_secs(2));
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn waiting_is_shown_now_and_then_without_a_terminal_and_does_not_count_for_the_scenario() {
    let project = Project::new();
    let ready = json!({ "calls": [search()], "timeout": "20s" });
    one_call(
        &project,
        &["late=3000"],
        &ready,
        &json!({ "timeout": "2s" }),
    );
    let ran = project.expect(0, &["run"]);
    ran.says("waiting for s: `echo`: /tools has no items (2 s)");
}

#[test]
fn recorded_servers_are_ready_and_mocks_are_asked_like_others() {
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        r#"
name: S
servers: { proxy: { type: mock, ready: { calls: [{ tool: find, expect: { text: echo } }], interval: 5ms } } }
expected_trajectory: [{ tool: find, args: { what: env } }]
mcp_interactions:
  proxy:
    tools:
      - name: find
        annotations: { read_only_hint: true }
        responses: [{ times: 3, content: nothing }, { content: "everything:echo" }]
"#,
    );
    project.expect(0, &["record"]);
    assert!(recorded(&project).to_string().contains("everything:echo"));
    project.expect(0, &["compare", "--servers", "recorded"]);
}

#[test]
fn calls_that_may_change_something_are_reported() {
    let project = Project::new();
    let ready = json!({ "calls": [{ "tool": "count" }, { "tool": "echo" }] });
    one_call(&project, &["text=fine"], &ready, &json!({}));
    project
        .expect(0, &["run", "-v"])
        .says_not("under `ready.calls`");
    let (_mock, url) = serve(&project, 0);
    over_http(
        &project,
        &url,
        &json!({ "calls": [{ "tool": "call_tool" }], "timeout": "5s" }),
    );
    project
        .expect(0, &["run", "-v"])
        .says("`call_tool` under `ready.calls` may change something");
    over_http(
        &project,
        &url,
        &json!({ "calls": [{ "tool": "create_order" }], "timeout": "5s" }),
    );
    project
        .expect(0, &["validate"])
        .says("`create_order` changes something, and would be called before every run");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn everything_wrong_with_a_ready_section_is_found_with_its_place() {
    let project = Project::new();
    let cases = [
        (
            "ready: { call: [] }",
            7,
            "10: error: unknown key `call`",
            "did you mean `calls`?",
        ),
        (
            "ready: { calls: [{ tool: find, expect: { path: /a } }] }",
            7,
            "`path` does not say what must be there",
            "min_items: 1",
        ),
        (
            "ready: { calls: [{ tool: find, expect: { exists: true } }] }",
            7,
            "`exists` needs a `path`",
            "",
        ),
        (
            "ready: { calls: [{ tool: find, expect: { path: /a, equals: null, exists: true } }] }",
            7,
            "`equals` and `exists` exclude each other",
            "",
        ),
        (
            "ready: { calls: [{ tool: find, expect: { path: '$.a[', exists: true } }] }",
            7,
            "`$.a[` is not a path: `]` is missing",
            "",
        ),
        (
            "ready: { calls: [{ tool: find, expect: {} }] }",
            7,
            "expects nothing",
            "",
        ),
        (
            "ready: { calls: [{ tool: fnd }] }",
            7,
            "the mock `m` has no tool `fnd`",
            "did you mean `find`?",
        ),
        (
            "ready: { calls: [{ tool: find, server: n }] }",
            7,
            "no server is named `n`",
            "did you mean `m`?",
        ),
        (
            "ready: { calls: [{ tool: mcp__n__find }] }",
            7,
            "no server is named `n`",
            "",
        ),
        (
            "ready: { calls: [{ tool: wipe }] }",
            7,
            "`wipe` changes something",
            "`scoring.reads` says of one that it does",
        ),
        (
            "ready: { http: { path: /healthz } }",
            7,
            "no server has an address",
            "give `url`",
        ),
        ("ready: { http: {} }", 7, "does not say which page", ""),
        (
            "ready: { http: { url: 'ftp://x' } }",
            7,
            "is not the address of a page",
            "",
        ),
        (
            "ready: { http: { url: 'http://${docker.port}/' } }",
            7,
            "nothing in the scenario provides `docker.port`",
            "",
        ),
        (
            "ready: { http: [{ url: 'http://x/', status: 20 }] }",
            7,
            "expected an HTTP status",
            "",
        ),
        (
            "ready: { http: { url: 'http://x/', expect: { is_error: true } } }",
            7,
            "`is_error` means nothing for a page",
            "",
        ),
        (
            "ready: { settle: 2m }",
            7,
            "must be shorter than `timeout`",
            "",
        ),
        (
            "ready: { settle: soon }",
            7,
            "`soon` is not a length of time",
            "",
        ),
    ];
    let head = "name: S\nservers: { m: { type: mock } }\nexpected_trajectory: [{ tool: find }]\n\
        mcp_interactions:\n  m:\n    tools: [{ name: find }, { name: wipe, annotations: { read_only_hint: false } }]\n";
    for (section, line, message, hint) in cases {
        project.file("scenarios/s.yaml", format!("{head}{section}\n"));
        let ran = project.run(&["validate"]);
        ran.says(&format!("s.yaml:{line}:"))
            .says(message)
            .says(hint);
    }
    let of_server = format!("{head}ready: {{}}\n").replace(
        "type: mock }",
        "type: mock, ready: { calls: [{ tool: find, server: other }] } }",
    );
    project.file("scenarios/s.yaml", of_server);
    project
        .expect(2, &["validate"])
        .says("s.yaml:2:")
        .says("this section is about `m` alone");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_agent_of_its_own_meets_servers_that_are_ready_in_each_of_its_sessions() {
    let project = Project::new();
    let agent = |steps: &[&str]| {
        let command: Vec<String> = std::iter::once(small_agent())
            .chain(steps.iter().map(|it| (*it).to_owned()))
            .collect();
        json!({ "agent": { "kind": "command", "command": command }, "user_intent": "Look." })
    };
    // Each session has a process of its own.
    let steps = ["call s echo {}", "end s", "call s echo {}"];
    let ready = json!({ "calls": [search()], "timeout": "20s", "settle": "50ms" });
    for place in ["server", "scenario"] {
        let mut more = agent(&steps);
        let own = if place == "server" {
            &ready
        } else {
            more["ready"] = ready.clone();
            &Value::Null
        };
        one_call(&project, &["late=600"], own, &more);
        let ran = project.expect(0, &["record", "--takes", "1"]);
        let baseline = recorded(&project);
        let calls = calls(&baseline);
        assert_eq!(calls.len(), 2, "{ran:#?} {baseline:#}");
        for call in calls {
            assert!(call["outcome"].to_string().contains("look"), "{call}");
        }
    }
    // One that is ready at first, and not in the session of the agent.
    let letters = format!("runs={}:.t", project.path("starts").display());
    let ready = json!({ "calls": [{ "tool": "echo" }], "timeout": "3s" });
    one_call(&project, &[&letters], &ready, &agent(&["call s echo {}"]));
    project
        .expect(3, &["run"])
        .says("server `s` did not get ready within 3s: still waiting for `echo`: it answers with an error")
        .says("in the session of the agent");
}
