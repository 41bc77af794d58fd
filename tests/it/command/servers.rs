//! Servers behind the gateway: over HTTP, and those that fail.

use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::kit::{Stage, faulty, mock, steps};
use crate::common::{Project, served};
use crate::http::{Mode, serve};

fn over_http(mode: Mode, keys: &Value) -> (Stage, crate::http::Server) {
    let (address, server) = serve(mode);
    let mut web = json!({ "url": format!("http://{address}/mcp") });
    let keys = keys.as_object().unwrap().clone();
    web.as_object_mut().unwrap().extend(keys);
    let stage = Stage::new(&["call web big {}"], &json!({ "web": web }));
    (stage, server)
}

#[test]
fn answers_are_recorded_as_they_came_whatever_their_form() {
    for mode in [Mode::Json, Mode::Events] {
        let headers = json!({ "headers": { "X-Team": "blue" } });
        let (stage, server) = over_http(mode, &headers);
        let (_, recorded) = stage.run(0);
        let call = &recorded["steps"][1];
        let outcome = &call["outcome"];
        assert_eq!(outcome["content"][0]["vendor"], 1, "{call}");
        let number = outcome["structured_content"]["n"].to_string();
        assert_eq!(number, "12345678901234567890");
        assert_eq!(
            recorded["steps"][2]["text"]
                .as_str()
                .map(|it| it.ends_with("ok")),
            Some(true)
        );
        let seen = server.seen.lock().unwrap();
        assert!(seen.iter().all(|it| it["x-team"] == "blue"));
        assert!(
            seen.iter()
                .all(|it| it["host"].to_str().unwrap().starts_with("127.0.0.1:"))
        );
    }
}

#[test]
fn failures_of_http_servers_are_recorded_and_passed_on() {
    let cases = [
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
            "transport_error",
            "HTTP 200 OK, application/json: `{\"jsonrpc\": \"2.0\",`",
        ),
        (Mode::RpcErrorWithStatus, "rpc_error", "not today"),
    ];
    for (mode, status, message) in cases {
        let (stage, _) = over_http(mode, &json!({}));
        let (_, recorded) = stage.run(1);
        let outcome = &recorded["steps"][1]["outcome"];
        assert_eq!(outcome["status"], status, "{outcome}");
        assert_eq!(outcome["error"]["message"], message);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_server_that_does_not_answer_in_time_is_answered_for() {
    for servers in [
        faulty(&["hang"]),
        json!({ "s": { "url": format!("http://{}/mcp", serve(Mode::Hang).0) } }),
    ] {
        let more = json!({ "agent": { "tool_timeout": "300ms" } });
        let stage = Stage::with(&["call s echo {}"], &servers, &more);
        let (_, recorded) = stage.run(1);
        assert_eq!(
            steps(&recorded)[1..],
            ["s.echo {} timeout", "assistant: no answer within 300ms"]
        );
    }
}

#[test]
fn a_server_that_dies_ends_the_run_as_an_error() {
    let stage = Stage::new(
        &["call s echo {}", "call s echo {}", "sleep"],
        &faulty(&["die-after=1"]),
    );
    let (ran, recorded) = stage.run(3);
    ran.says("server `s` closed the connection: it exited with code 7");
    ran.says("stderr: panic: index out of range");
    // The agent may still have said what it was answered.
    let steps = steps(&recorded);
    assert_eq!(steps[1..3], ["s.echo {} ok", "s.echo {} disconnected"]);
    assert!(steps[3].starts_with("assistant: {}"), "{steps:?}");
    assert_eq!(stage.project.survivors(), [""; 0]);
}

#[test]
fn a_server_that_cannot_be_started_is_reported_before_the_agent_is_started() {
    let stage = Stage::new(&["complain I am here"], &faulty(&["exit"]));
    let (ran, recorded) = stage.run(3);
    ran.says("server `s` (").says("exited with code");
    ran.says_not("I am here");
    assert_eq!(recorded["steps"], json!([]));
}

#[test]
fn malformed_answers_are_recorded_as_such() {
    for (fault, message) in [
        ("no-content", "no valid tool result: `content` is missing"),
        ("both", "the answer holds both a result and an error"),
        ("latin-1", "the answer is not valid UTF-8"),
    ] {
        let stage = Stage::new(&["call s echo {}"], &faulty(&[fault]));
        let (_, recorded) = stage.run(1);
        let outcome = &recorded["steps"][1]["outcome"];
        assert_eq!(outcome["status"], "invalid_response", "{outcome}");
        let said = outcome["error"]["message"].as_str().unwrap();
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn pages_from_elsewhere_are_not_let_in() {
    let shell = "stat -c %a $MCP_EVAL_MCP_CONFIG > mode; \
        grep -o 'http:[^\"]*' $MCP_EVAL_MCP_CONFIG > some; mv some url; exec sleep 1000";
    let more = json!({ "agent": { "command": ["sh", "-c", shell], "cwd": "." } });
    let stage = Stage::with(&[], &faulty(&[]), &more);
    let mut command = stage.project.command();
    let mut running = command
        .args(["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let url = stage.url();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = mcp_eval::http_client::builder(&url, std::time::Duration::from_secs(5));
    let client = client.build().unwrap();
    let asked = |name: &'static str, value: &'static str| {
        let request = client.get(&url).header(name, value);
        runtime.block_on(request.send()).unwrap().status().as_u16()
    };
    assert_eq!(stage.project.read("scenarios/mode"), "600\n");
    assert_eq!(asked("Origin", "http://evil.example"), 403);
    assert_eq!(asked("Host", "evil.example"), 403);
    assert_eq!(asked("Origin", "http://localhost:1"), 403);
    let site = url.split('/').nth(2).unwrap().to_owned();
    let own: &'static str = format!("http://{site}").leak();
    assert_eq!(asked("Origin", own), 400);
    // Nobody who does not know the address learns anything by trying.
    let secret = url.split('/').nth(3).unwrap().to_owned();
    assert_eq!(secret.len(), 32, "{url}");
    let elsewhere = [
        url.replace("/s/", "/t/"),
        url.replace(&secret, &"0".repeat(32)),
        url.replace(&format!("{secret}/"), ""),
        format!("http://{site}/"),
    ];
    let answers = elsewhere.map(|it| {
        let answer = runtime.block_on(client.get(&it).send()).unwrap();
        assert_eq!(answer.status().as_u16(), 404, "{it}");
        runtime.block_on(answer.text()).unwrap()
    });
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
    interrupt(&running);
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(stage.project.survivors(), [""; 0]);
}

#[test]
fn an_http_answer_that_is_no_text_is_reported_at_once() {
    for mode in [Mode::Latin1, Mode::Latin1Events] {
        let (address, _) = serve(mode);
        let servers = json!({ "s": { "url": format!("http://{address}/mcp") } });
        let stage = Stage::new(&["call s big {}"], &servers);
        let (ran, recorded) = stage.run(1);
        let outcome = &recorded["steps"][1]["outcome"];
        assert_eq!(outcome["status"], "invalid_response", "{outcome}");
        assert!(
            outcome.to_string().contains("is not valid UTF-8"),
            "{outcome}"
        );
        assert!(ran.took.as_secs() < 20, "{ran:#?}");
    }
}

#[test]
fn a_session_that_an_http_server_has_lost_ends_the_run_without_a_verdict() {
    let (address, _) = serve(Mode::Forgets);
    let servers = json!({ "s": { "url": format!("http://{address}/mcp") } });
    let stage = Stage::new(&["call s big {}"], &servers);
    let (ran, _) = stage.run(3);
    ran.says("server `s` has lost the session");
}

#[test]
fn a_mock_over_http_is_reached_with_all_it_does() {
    let (_, interactions) = mock();
    let project = Project::new();
    project.file(
        "mock.yaml",
        json!({ "mcp_interactions": interactions }).to_string(),
    );
    let (_served, url) = served(&project, &["mock", "mock.yaml", "--transport", "http"]);
    let servers = json!({ "the weather/1": { "url": url } });
    let more = json!({ "agent": { "cwd": "." } });
    let stage = Stage::with(&["config"], &servers, &more);
    let (_, recorded) = stage.run(0);
    let said = recorded["steps"][1]["text"].as_str().unwrap().to_owned();
    // The rest of the address is known to the agent alone.
    assert!(
        said.contains("/<secret:gateway.path>/the%20weather%2F1/mcp"),
        "{said}"
    );
    let servers = json!({ "weather": { "url": url } });
    let stage = Stage::new(&["call weather slow {}", "call weather ask {}"], &servers);
    let (_, recorded) = stage.run(0);
    let lines = steps(&recorded);
    assert_eq!(lines[1..3], ["weather.slow {} ok", "weather.ask {} ok"]);
    assert!(lines[3].contains("heard sampling/createMessage"));
    assert!(lines[3].ends_with("sampled big"), "{}", lines[3]);
}

fn interrupt(child: &Child) {
    let id = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
}
