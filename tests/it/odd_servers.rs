//! Servers that are not quite what they should be, and that official clients live with.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};

use crate::common::{Project, small_agent};
use crate::http::serve_app;

/// A server over HTTP with one tool, that does this otherwise than others.
fn serve(oddity: &'static str) -> SocketAddr {
    let answer =
        move |headers: HeaderMap, body: Bytes| async move { answer(oddity, &headers, &body) };
    serve_app(move || Router::new().route("/mcp", post(answer)))
}

fn answer(oddity: &str, headers: &HeaderMap, body: &Bytes) -> Response {
    let message: Value = serde_json::from_slice(body).unwrap();
    let method = message["method"].as_str().unwrap_or_default();
    let id = &message["id"];
    let result = |result: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    let typed =
        |kind: &str, text: String| ([("content-type", kind.to_owned())], text).into_response();
    let plain = |it: &Value| typed("application/json", it.to_string());
    if oddity == "cookie" && method != "initialize" && !headers.contains_key("cookie") {
        return StatusCode::NOT_FOUND.into_response();
    }
    match method {
        "initialize" => {
            if oddity == "closed" {
                return closed();
            }
            let mut said = json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "odd", "version": "1" },
            });
            if oddity == "nameless" {
                said.as_object_mut().unwrap().remove("serverInfo");
            }
            match oddity {
                "heartbeat" => typed(
                    "text/event-stream",
                    format!(
                        "event: keepalive\ndata: {{}}\n\ndata: {}\n\n",
                        result(&said)
                    ),
                ),
                "cookie" => {
                    let cookie = [("set-cookie", "node=a7; Path=/; HttpOnly")];
                    (cookie, plain(&result(&said))).into_response()
                }
                _ => plain(&result(&said)),
            }
        }
        "tools/list" if oddity == "closed list" => closed(),
        "tools/list" => {
            let tools = json!([{ "name": "look", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }]);
            let mut page = json!({ "tools": tools });
            if oddity == "empty cursor" {
                page["nextCursor"] = json!("");
            }
            plain(&result(&page))
        }
        "tools/call" => match oddity {
            "foreign error" => {
                let error = json!({ "code": -32600, "message": "no valid session" });
                let foreign = json!({ "jsonrpc": "2.0", "id": "server-error", "error": error });
                (StatusCode::BAD_REQUEST, plain(&foreign)).into_response()
            }
            "closed call" => closed(),
            "too much" => {
                let numbers = vec![0; 1_000_000];
                let content = json!({ "content": [], "structuredContent": { "n": numbers } });
                plain(&result(&content))
            }
            "foreign result" => {
                plain(&json!({ "jsonrpc": "2.0", "id": 99, "result": { "content": [] } }))
            }
            _ => plain(&result(
                &json!({ "content": [{ "type": "text", "text": "seen" }] }),
            )),
        },
        _ if oddity == "refused notification" => {
            (StatusCode::BAD_REQUEST, "params are required").into_response()
        }
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

/// What is not let in, with what it is asked for.
fn closed() -> Response {
    let challenge = r#"Bearer realm="odd", resource_metadata="http://odd.example/.well-known/x", scope="mcp:read""#;
    let header = [("www-authenticate", challenge)];
    (StatusCode::UNAUTHORIZED, header, "who are you?").into_response()
}

fn project(address: SocketAddr) -> Project {
    let project = Project::new();
    let scenario = json!({
        "name": "odd",
        "servers": { "odd": { "type": "http", "url": format!("http://{address}/mcp") } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "look", "args": {} }] },
    });
    project.file("scenarios/odd.yaml", scenario.to_string());
    project
}

#[test]
fn what_official_clients_live_with_is_recorded() {
    for (oddity, said) in [
        ("heartbeat", None),
        ("cookie", None),
        ("empty cursor", None),
        ("nameless", Some("without `serverInfo`")),
    ] {
        let project = project(serve(oddity));
        let recorded = project.expect(0, &["record"]);
        if let Some(said) = said {
            recorded.says(said).says("strict clients refuse that");
        }
        project.expect(0, &["compare"]);
    }
}

#[test]
fn an_unfit_answer_is_reported_at_once() {
    for (oddity, said) in [
        ("foreign error", "no valid session"),
        ("foreign result", "another id than its request: 99"),
    ] {
        let project = project(serve(oddity));
        let ran = project.expect(0, &["record", "--allow-failing"]);
        ran.says(said).says_not("no answer within");
    }
    let project = project(serve("refused notification"));
    let ran = project.expect(3, &["record"]);
    ran.says("refused `notifications/initialized`: HTTP 400")
        .says("params are required")
        .says_not("did not answer");
}

#[test]
fn lines_that_are_not_quite_messages_are_taken_or_quoted() {
    let content = r#"{"content":[{"type":"text","text":"x"}]}"#;
    let taken = [
        (
            format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{content},"error":null}}"#),
            "`\"error\": null`",
        ),
        (format!(r#"{{"id":ID,"result":{content}}}"#), "without `\"jsonrpc\""),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\ud83d cut"}]}}"#.to_owned(),
            "half a character",
        ),
        (
            format!(r#"[{{"jsonrpc":"2.0","id":ID,"result":{content}}}]"#),
            "an answer in a list",
        ),
        (
            format!(r#"{{"jsonrpc":"2.0","id":null,"result":{content}}}"#),
            "an answer whose id is null",
        ),
    ];
    for (raw, said) in taken {
        let project = Project::new();
        project.faulty("s", &[&format!("raw={raw}")], &[("echo", json!({}))]);
        project.expect(0, &["record"]).says(said);
        project.expect(0, &["compare"]);
        let project = by_program(&raw);
        project.expect(0, &["record"]);
        let recorded = project.read("baselines/s/trajectory.txt");
        // It is the answer for the agent, too.
        let answers = ["AGENT: x", "AGENT: \u{fffd} cut"];
        assert!(answers.iter().any(|it| recorded.contains(it)), "{recorded}");
    }
    let lost = [
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"mean":NaN}}}"#,
            "NaN",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot parse"}}"#,
            "cannot parse",
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"id":ID,"result":{"content":[]}}"#,
            "no JSON-RPC message",
        ),
        (
            r#"[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}},{"jsonrpc":"2.0","method":"x"}]"#,
            "no JSON-RPC message",
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"error":"out of paper"}"#,
            "out of paper",
        ),
    ];
    for (raw, said) in lost {
        let project = Project::new();
        project.faulty("s", &[&format!("raw={raw}")], &[("echo", json!({}))]);
        for project in [project, by_program(raw)] {
            let ran = project.expect(0, &["record", "--allow-failing"]);
            ran.says_not("no answer within");
            let recorded = project.read("baselines/s/trajectory.txt");
            assert!(recorded.contains(said), "{recorded}");
        }
    }
    // Nobody knows whether the answer is still to come.
    let raw = format!(r#"{{"jsonrpc":"2.0","id":9999,"result":{content}}}"#);
    let project = Project::new();
    let soon = json!({ "tool_timeout": "500ms" });
    project.faulty_with("s", &[&format!("raw={raw}")], &[("echo", json!({}))], &soon);
    let ran = project.expect(0, &["record", "--allow-failing"]);
    ran.says("no answer within 500ms; it answered request 9999, which was not made");
}

/// The same server asked by a program, through the gateway.
fn by_program(raw: &str) -> Project {
    let project = Project::new();
    let agent = json!({ "kind": "command", "command": [small_agent(), "call s echo {}"] });
    let by_program = json!({ "agent": agent, "user_intent": "Echo." });
    project.faulty_with("s", &[&format!("raw={raw}")], &[], &by_program);
    project
}

#[test]
fn what_a_server_asks_its_client_is_kept_with_the_call_and_a_difference_is_shown() {
    let project = Project::new();
    let asks = |fault: &str| {
        project.faulty("s", &[fault], &[("echo", json!({ "a": 1 }))]);
    };
    asks("ask=Which city?");
    let declined = "server `s` asked its client `elicitation/create`: declined";
    project.expect(0, &["record"]).says(declined);
    let baseline: Value = serde_json::from_str(&project.read("baselines/s/baseline.json")).unwrap();
    let outcome = &baseline["steps"][0]["outcome"];
    assert_eq!(
        outcome["other"]["_meta"]["asked_its_client"]["1 elicitation"]["message"], "Which city?",
        "{outcome:#}"
    );
    let dialogue = project.read("baselines/s/trajectory.txt");
    assert!(
        dialogue.contains("ASKED ITS CLIENT: 1 elicitation {\"message\":\"Which city?\""),
        "{dialogue}"
    );
    project
        .expect(0, &["compare", "-v"])
        .says("nothing changed")
        .says(declined);
    let page = project.read("reports/latest/s.html");
    assert!(page.contains("asked its client: 1 elicitation"), "{page}");
    for (fault, now) in [
        ("ask=Which town?", Some("Which town?")),
        ("noise", None),
        ("ask=Which city?", Some("Which city?")),
    ] {
        asks(fault);
        let ran = project.expect(0, &["compare"]);
        if now == Some("Which city?") {
            ran.says_not("asked_its_client");
            continue;
        }
        ran.says("asked_its_client").says("Which city?");
        if let Some(now) = now {
            ran.says(now);
        }
    }
    // One that asked nothing when it was recorded.
    asks("noise");
    project.expect(0, &["record"]);
    asks("ask=Which city?");
    project
        .expect(0, &["compare"])
        .says("asked_its_client")
        .says("Which city?");
}

#[test]
fn the_access_that_a_server_demands_is_reported() {
    for (oddity, code) in [("closed", 3), ("closed list", 3), ("closed call", 0)] {
        let project = project(serve(oddity));
        let ran = project.expect(code, &["record", "--allow-failing"]);
        ran.says("HTTP 401 Unauthorized")
            .says(r#"the server asks for `Bearer realm="odd", resource_metadata="http://odd.example/.well-known/x", scope="mcp:read"`"#)
            .says("headers: { Authorization: \"Bearer ${TOKEN}\" }")
            .says_not("unexpected server response");
    }
}

#[test]
fn more_values_than_can_be_held_are_no_answer() {
    let said = "the answer holds more than 1,000,000 values";
    let over_http = project(serve("too much"));
    over_http
        .expect(0, &["record", "--allow-failing"])
        .says(said);
    let project = Project::new();
    project.faulty("s", &["values=1000000"], &[("echo", json!({}))]);
    project.expect(0, &["record", "--allow-failing"]).says(said);
    let fewer = Project::new();
    fewer.faulty("s", &["values=1000"], &[("echo", json!({}))]);
    fewer.expect(0, &["record"]).says_not(said);
    fewer.expect(0, &["compare"]);
}

#[test]
fn what_is_no_answer_to_initialize_is_quoted_at_once() {
    let whole = r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#;
    for (line, said) in [
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"proto"#.to_owned(),
            "it breaks off",
        ),
        (r#"{"jsonrpc":"2.0","#.to_owned(), "it breaks off"),
        (format!("Starting server… {whole}"), "`Starting server… {"),
        (
            whole.replace("ID", "\"other\""),
            "it answered a request that it was not asked",
        ),
        (
            whole.replace("2.0", "1.0"),
            "the answer is not JSON-RPC 2.0",
        ),
    ] {
        let project = Project::new();
        project.faulty("s", &[&format!("begin={line}")], &[("echo", json!({}))]);
        let ran = project.expect(3, &["record"]);
        ran.says("did not answer `initialize` as MCP asks")
            .says(said);
        ran.says_not("did not get ready").says_not("uncorrelated");
    }
    let project = Project::new();
    project.faulty("s", &["begin=half {\"jsonrpc\""], &[("echo", json!({}))]);
    let ran = project.expect(3, &["record"]);
    ran.says("servers must write only messages to standard output");
}
