//! Control over a running server: over HTTP, as a Rust API, and in the log of calls.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Piped, Served, http_client, posting, request};
use crate::common::Project;
use mcp_eval::mock::{MockServer, Options};
use mcp_eval::scenario_file::mock::{
    AnswerBlock, DeclaredServer, MockReply, MockResponse, MockTool,
};

#[tokio::test]
async fn tools_come_and_go_by_the_admin_routes() {
    let (_project, served) = Served::of("tools: [{ name: a }]", &["--admin"]);
    let admin = async |method: Method, path: &str, body: &str| {
        let asking = served
            .client
            .request(method, served.at(path))
            .body(body.to_owned());
        let response = asking.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (
            status,
            serde_json::from_str::<Value>(&text).unwrap_or_default(),
        )
    };
    let names = async || {
        let (_, listed) = admin(Method::GET, "/__mock/tools", "").await;
        let tools = listed["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let hello = served.ask("initialize", json!({})).await;
    assert_eq!(
        hello["result"]["capabilities"]["tools"]["listChanged"],
        true
    );
    let b = r#"{ "name": "b", "annotations": { "read_only_hint": true }, "responses": [{ "content": "one" }] }"#;
    assert_eq!(admin(Method::POST, "/__mock/tools", b).await.0, 201);
    assert_eq!(admin(Method::POST, "/__mock/tools", b).await.0, 409);
    assert_eq!(names().await, ["a", "b"]);
    assert_eq!(
        served.call("b", json!({ "x": 1 })).await["content"][0]["text"],
        "one"
    );
    let two = "name: b\nresponses:\n  - content: two\n";
    assert_eq!(admin(Method::PUT, "/__mock/tools/b", two).await.0, 204);
    assert_eq!(
        served.call("b", json!({})).await["content"][0]["text"],
        "two"
    );
    assert_eq!(admin(Method::PUT, "/__mock/tools/c", two).await.0, 400);
    assert_eq!(
        admin(Method::PUT, "/__mock/tools/c", "name: c").await.0,
        404
    );
    let (status, problem) = admin(Method::POST, "/__mock/tools", "{ \"nam\": 5 }").await;
    let problem = problem["error"].as_str().unwrap();
    assert_eq!(status, 400);
    assert!(
        problem.contains("did you mean `name`") && problem.contains("tool:1:3"),
        "{problem}"
    );
    let (_, calls) = admin(Method::GET, "/__mock/calls", "").await;
    assert_eq!(calls["total"], 2);
    assert_eq!(
        (&calls["calls"][0]["tool"], &calls["calls"][0]["arguments"]),
        (&json!("b"), &json!({ "x": 1 }))
    );
    assert_eq!(admin(Method::DELETE, "/__mock/tools/b", "").await.0, 204);
    assert_eq!(admin(Method::DELETE, "/__mock/tools/b", "").await.0, 404);
    assert_eq!(names().await, ["a"]);
    assert_eq!(admin(Method::POST, "/__mock/reset", "").await.0, 204);
    assert_eq!(
        admin(Method::GET, "/__mock/calls", "").await.1,
        json!({ "total": 0, "calls": [] })
    );
    assert_eq!(admin(Method::DELETE, "/__mock/tools", "").await.0, 204);
    assert!(names().await.is_empty());
    let stranger = served
        .client
        .get(served.at("/__mock/tools"))
        .header("origin", "http://evil.example");
    assert_eq!(stranger.send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn without_admin_there_is_no_control() {
    let (_project, served) = Served::of("tools: []", &[]);
    let response = served
        .client
        .get(served.at("/__mock/tools"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 404);
}

#[tokio::test]
async fn a_reset_forgets_state_and_used_up_responses() {
    let declared = "state: { n: 0 }\ntools: [{ name: a, responses: [{ times: 1, set: { n: 1 }, content: first }, { content: 'then {{get.n}} {{counter.c}}' }] }]";
    let (_project, served) = Served::of(declared, &["--admin"]);
    let say = async || served.call("a", json!({})).await["content"][0]["text"].clone();
    for _ in 0..2 {
        assert_eq!(
            (say().await, say().await),
            (json!("first"), json!("then 1 1"))
        );
        served
            .client
            .post(served.at("/__mock/reset"))
            .send()
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_tool_that_is_sent_names_no_file() {
    let (project, served) = Served::of("tools: []", &["--admin"]);
    project.file("secret.txt", "canary");
    let path = project.path("secret.txt");
    for block in [
        json!({ "type": "image", "data_file": path, "mime_type": "image/png" }),
        json!({ "type": "audio", "data_file": path, "mime_type": "audio/wav" }),
        json!({ "type": "resource", "resource": { "uri": "x://y", "blob_file": path } }),
    ] {
        let tool = json!({ "name": "t", "responses": [{ "content": [block] }] });
        let sending = served.client.post(served.at("/__mock/tools"));
        let response = sending.body(tool.to_string()).send().await.unwrap();
        assert_eq!(response.status(), 400, "{block}");
        let said = response.text().await.unwrap();
        assert!(said.contains("cannot name a file"), "{said}");
    }
}

#[tokio::test]
async fn other_machines_control_it_with_the_token_alone() {
    let remote = ["--admin", "--allow-remote", "--allow-host", "Proxy.Example"];
    let (_project, served) = Served::of("tools: []", &remote);
    let token = served.ready["token"].as_str().unwrap();
    assert_eq!(token.len(), 32);
    let right = format!("Bearer {token}");
    let cases = [
        (None, None, 401),
        (None, Some("Bearer 0123456789abcdef0123456789abcdef"), 401),
        (None, Some(token), 401),
        (None, Some(right.as_str()), 200),
        (Some("proxy.example:80"), Some(right.as_str()), 200),
        (Some("proxy.example"), None, 401),
        (Some("evil.example"), Some(right.as_str()), 403),
    ];
    for (host, authorization, status) in cases {
        let mut asking = served.client.get(served.at("/__mock/tools"));
        if let Some(host) = host {
            asking = asking.header("host", host);
        }
        if let Some(authorization) = authorization {
            asking = asking.header("authorization", authorization);
        }
        let response = asking.send().await.unwrap();
        assert_eq!(response.status(), status, "{host:?} {authorization:?}");
    }
    // The server itself is as open as it was.
    served.ask("ping", json!({})).await;
}

fn answering(name: &str, text: &str) -> MockTool {
    let response = MockResponse {
        reply: MockReply::content(vec![AnswerBlock::text(text)]),
        ..MockResponse::default()
    };
    MockTool::new(name, Some(response))
}

#[tokio::test]
async fn a_server_in_the_process_starts_changes_tells_and_stops() {
    let declared = DeclaredServer {
        tools: vec![answering("a", "from a")],
        ..DeclaredServer::default()
    };
    let server = MockServer::start(declared, Options::default()).unwrap();
    let (client, url) = (http_client(), server.url());
    let call = async |tool: &str| {
        let message = request(
            1,
            "tools/call",
            &json!({ "name": tool, "arguments": { "x": 1 } }),
        );
        let response = posting(&client, &url, message).send().await.unwrap();
        response.json::<Value>().await.unwrap()
    };
    assert_eq!(call("a").await["result"]["content"][0]["text"], "from a");
    assert_eq!(call("b").await["error"]["code"], -32602);
    server.add_tool(answering("b", "from b")).unwrap();
    assert_eq!(call("b").await["result"]["content"][0]["text"], "from b");
    assert!(server.remove_tool("a") && !server.remove_tool("a"));
    assert_eq!(call("a").await["error"]["code"], -32602);
    let calls = server.calls();
    let logged: Vec<_> = calls
        .iter()
        .map(|it| (it.tool.as_str(), it.response))
        .collect();
    assert_eq!(logged, [("a", Some(1)), ("b", Some(1))]);
    server.clear_tools();
    assert_eq!(call("b").await["error"]["code"], -32602);
    for number in 0..1000 {
        server
            .add_tool(MockTool::new(&format!("t{number}"), None))
            .unwrap();
    }
    assert!(server.add_tool(MockTool::new("one more", None)).is_err());
    server.stop();
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    // A child of another test, between its fork and its exec, may hold the port a little longer.
    let started = std::time::Instant::now();
    while std::net::TcpStream::connect(address).is_ok() {
        assert!(started.elapsed().as_secs() < 30, "the port is not free");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[test]
fn every_call_is_a_line_of_the_log_and_holds_no_secret() {
    let project = Project::new();
    project.file("mock.yaml", "redact: ['acme_\\d{4}']\nvariables: { pin: { value: open-sesame, secret: true }, city: null }\nmcp_interactions: { desk: { tools: [{ name: a, responses: [{ match: { q: 1 }, content: x }, { content: y }] }, { name: b }] } }");
    let mut piped = Piped::start(&project, &["mock.yaml", "--call-log", "calls.jsonl"]);
    let secret = "Bearer abcdefghijklmnopqrstuvwxyz0123456789";
    piped.call(
        "a",
        &json!({ "q": 2, "header": secret, "api_key": "hunter2hunter2", "say": "acme_1234 open-sesame" }),
    );
    piped.call("a", &json!({ "q": 1 }));
    piped.call("b", &json!({}));
    piped.close();
    let text = fs::read_to_string(project.path("calls.jsonl")).unwrap();
    for secret in ["abcdefghijklmnop", "hunter2", "acme_1", "sesame"] {
        assert!(!text.contains(secret), "{text}");
    }
    let lines: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let logged: Vec<_> = lines
        .iter()
        .map(|it| {
            (
                &it["server"],
                &it["tool"],
                &it["arguments"]["q"],
                &it["response"],
            )
        })
        .collect();
    assert_eq!(
        logged,
        [
            (&json!("desk"), &json!("a"), &json!(2), &json!(2)),
            (&json!("desk"), &json!("a"), &json!(1), &json!(1)),
            (&json!("desk"), &json!("b"), &json!(null), &json!(null)),
        ]
    );
    for line in &lines {
        line["time"]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap();
    }
    project
        .expect(
            2,
            &[
                "mock",
                "mock.yaml",
                "--call-log",
                "no/such/folder/calls.jsonl",
            ],
        )
        .says("cannot be written");
}

#[tokio::test]
async fn a_reset_shows_again_what_was_declared_to_be_seen() {
    let declared = "tools: [{ name: swap, responses: [{ steps: [{ hide_tools: [a] }, { show_tools: [b] }], content: done }] }, { name: a }, { name: b, hidden: true }]";
    let (_project, served) = Served::of(declared, &["--admin"]);
    let listed = async || -> Vec<String> {
        let tools = served.client.get(served.at("/__mock/tools")).send().await;
        let tools: Value = tools.unwrap().json().await.unwrap();
        let tools = tools["tools"].as_array().unwrap().iter();
        tools
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(listed().await, ["swap", "a"]);
    served.call("swap", json!({})).await;
    assert_eq!(listed().await, ["swap", "b"]);
    let reset = served.client.post(served.at("/__mock/reset")).send().await;
    assert_eq!(reset.unwrap().status(), 204);
    assert_eq!(listed().await, ["swap", "a"]);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_everywhere() {
    let (_project, served) = Served::of("tools: []", &["--admin", "--max-body", "1000"]);
    for path in ["/__mock/tools", "/mcp"] {
        let request = served.client.post(served.at(path));
        let request = request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body("x".repeat(1001));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 413, "{path}");
        let said = answer.text().await.unwrap();
        assert!(said.contains("longer than 1000 bytes"), "{path}: {said}");
        serde_json::from_str::<Value>(&said).unwrap();
    }
}
