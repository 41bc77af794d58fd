//! Streamable HTTP: methods, headers, sessions, streams, and the older transport.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::client::{Served, events, raw, request};
use crate::common::{Project, free_port};

const PROXY: &str = r#"
mcp_interactions:
  proxy:
    state: { servers: { everything: { name: everything } } }
    tools:
      - name: upstream_servers
        responses:
          - match: { operation: add }
            when: { "servers[args.name]": { any: true } }
            content: "{{args.name}} is there already"
            is_error: true
          - match: { operation: add }
            delay: 5ms
            set: { "servers[args.name]": { name: "{{args.name}}", number: "{{counter.server}}", id: "{{uuid}}" } }
            content: [{ json: { id: "{{uuid}}", number: "{{counter.server}}" } }]
          - match: { operation: list }
            content: [{ json: { servers: "{{get.servers | values}}", total: "{{get.servers | count}}" } }]
          - match: { operation: remove }
            when: { "servers[args.name]": { any: true } }
            unset: ["servers[args.name]"]
            content: removed
"#;

#[tokio::test]
async fn what_is_created_is_listed_until_it_is_deleted() {
    let (_project, served) = Served::of(PROXY, &[]);
    let operation = async |operation: &str, name: &str| {
        let arguments = json!({ "operation": operation, "name": name });
        let result = served.call("upstream_servers", arguments).await;
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let said: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        (said, result["isError"] == true)
    };
    let name = "odd \"name\" with.dots";
    let (added, failed) = operation("add", name).await;
    assert_eq!((&added["number"], failed), (&json!(1), false));
    let (listed, _) = operation("list", "").await;
    let expected = json!({ "servers": [
        { "name": "everything" },
        { "name": name, "number": 1, "id": added["id"] },
    ], "total": 2 });
    assert_eq!(listed, expected);
    let again = operation("add", name).await;
    assert_eq!(again, (json!(format!("{name} is there already")), true));
    let removed = operation("remove", "everything").await;
    assert_eq!(removed, (json!("removed"), false));
    assert!(operation("remove", "everything").await.1);
    assert_eq!(operation("list", "").await.0["total"], 1);
    assert_eq!(operation("add", "another").await.0["number"], 2);
}

#[tokio::test]
async fn sessions_begin_are_used_and_end() {
    let (_project, served) = Served::of("tools: []", &[]);
    let session = served.open(json!({})).await;
    let other = served.open(json!({})).await;
    assert_ne!(session, other);
    let ping = async |session: &str| {
        let message = request(1, "ping", &json!({}));
        let response = served
            .posting(message)
            .header("mcp-session-id", session)
            .send();
        response.await.unwrap().status()
    };
    let end = async |session: Option<&str>| {
        let mut deleting = served.client.delete(&served.url);
        if let Some(session) = session {
            deleting = deleting.header("mcp-session-id", session);
        }
        deleting.send().await.unwrap().status()
    };
    assert_eq!(ping(&session).await, StatusCode::OK);
    assert_eq!(ping("unknown").await, StatusCode::NOT_FOUND);
    assert_eq!(end(None).await, StatusCode::BAD_REQUEST);
    assert_eq!(end(Some(&session)).await, StatusCode::NO_CONTENT);
    assert_eq!(end(Some(&session)).await, StatusCode::NOT_FOUND);
    assert_eq!(ping(&session).await, StatusCode::NOT_FOUND);
    assert_eq!(ping(&other).await, StatusCode::OK);
    // Whoever does not care for sessions needs none, at either place.
    let root = super::client::posting(
        &served.client,
        &served.at("/"),
        request(1, "ping", &json!({})),
    );
    assert_eq!(root.send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn what_the_specification_refuses_is_refused() {
    let (_project, served) = Served::of("tools: []", &["--max-body", "2000"]);
    let ping = || request(1, "ping", &json!({}));
    let with = async |headers: &[(&str, &str)]| {
        let mut posting = served.client.post(&served.url).body(ping());
        for (name, value) in headers {
            posting = posting.header(*name, *value);
        }
        posting.send().await.unwrap().status().as_u16()
    };
    let json = ("content-type", "application/json");
    let both = ("accept", "application/json, text/event-stream");
    let cases = [
        (&[json, both][..], 200),
        (&[json], 200),
        (&[both], 415),
        (&[("content-type", "text/plain"), both], 415),
        (&[json, ("accept", "application/json")], 406),
        (&[json, ("accept", "text/event-stream")], 406),
        (&[json, both, ("host", "evil.example")], 403),
        (&[json, both, ("origin", "http://evil.example")], 403),
        (&[json, both, ("origin", "http://localhost:1")], 200),
        (&[json, both, ("mcp-protocol-version", "2025-06-18")], 200),
        (&[json, both, ("mcp-protocol-version", "1.0")], 400),
    ];
    for (headers, status) in cases {
        assert_eq!(with(headers).await, status, "{headers:?}");
    }
    let long = served
        .post(request(1, "ping", &json!({ "x": "y".repeat(3000) })))
        .await;
    assert_eq!(long.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let put = served
        .client
        .request(Method::PUT, &served.url)
        .send()
        .await
        .unwrap();
    assert_eq!(put.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(put.headers()["allow"], "GET, POST, DELETE");
    let nowhere = served
        .client
        .get(served.at("/elsewhere"))
        .send()
        .await
        .unwrap();
    assert_eq!(nowhere.status(), StatusCode::NOT_FOUND);
    for (accept, status) in [("application/json", 406), ("text/event-stream", 400)] {
        let getting = served.client.get(&served.url).header("accept", accept);
        assert_eq!(getting.send().await.unwrap().status(), status);
    }
    assert_eq!(served.ask("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn news_come_by_the_stream_of_the_session() {
    let declared = "tools: [{ name: go, responses: [{ steps: [{ list_changed: tools }, { update_resource: 'a:b' }], content: ok }] }]\nresources: [{ uri: 'a:b', text: x }]";
    let (_project, served) = Served::of(declared, &[]);
    let session = served.open(json!({})).await;
    let in_session = async |method: &str, params: Value| {
        let posting = served.posting(request(1, method, &params));
        let response = posting
            .header("mcp-session-id", &session)
            .send()
            .await
            .unwrap();
        response.text().await.unwrap()
    };
    in_session("resources/subscribe", json!({ "uri": "a:b" })).await;
    let getting = || {
        let getting = served
            .client
            .get(&served.url)
            .header("accept", "text/event-stream");
        getting.header("mcp-session-id", &session).send()
    };
    let response = getting().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.bytes_stream();
    in_session("tools/call", json!({ "name": "go" })).await;
    let mut text = String::new();
    while events(&text).len() < 2 {
        text.push_str(std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap());
    }
    let news = events(&text);
    assert_eq!(news[0]["method"], "notifications/tools/list_changed");
    assert_eq!(news[1]["method"], "notifications/resources/updated");
    assert_eq!(news[1]["params"], json!({ "uri": "a:b" }));
    // Another stream takes over, and the end of the session ends it.
    let mut second = getting().await.unwrap().bytes_stream();
    assert!(stream.next().await.is_none());
    served
        .client
        .delete(&served.url)
        .header("mcp-session-id", &session)
        .send()
        .await
        .unwrap();
    assert!(second.next().await.is_none());
}

#[tokio::test]
async fn answers_can_be_event_streams_throughout() {
    let declared = "http_responses: event_stream\ntools: [{ name: go, responses: [{ content: \"two\\nlines\" }] }]";
    let (_project, served) = Served::of(declared, &[]);
    let response = served
        .post(request(1, "tools/call", &json!({ "name": "go" })))
        .await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let messages = events(&response.text().await.unwrap());
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["result"]["content"][0]["text"], "two\nlines");
}

#[tokio::test]
async fn the_older_transport_is_there_on_request() {
    let declared = "tools: [{ name: slow, responses: [{ delay: 20ms, steps: [{ log: working }], content: done }] }]";
    let (_project, served) = Served::of(declared, &["--legacy-sse"]);
    let response = served.client.get(served.at("/sse")).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.bytes_stream();
    let mut text = String::new();
    let mut read_until = async |what: &str| {
        while !text.contains(what) {
            text.push_str(std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap());
        }
        text.clone()
    };
    let opening = read_until("\n\n").await;
    let endpoint = opening
        .strip_prefix("event: endpoint\ndata: ")
        .unwrap()
        .trim();
    let post = async |message: String| {
        let posting = super::client::posting(&served.client, &served.at(endpoint), message);
        posting.send().await.unwrap().status().as_u16()
    };
    assert_eq!(
        post(request(
            1,
            "initialize",
            &json!({ "protocolVersion": "2024-11-05" })
        ))
        .await,
        202
    );
    assert!(read_until("serverInfo").await.contains("2024-11-05"));
    assert_eq!(
        post(request(2, "tools/call", &json!({ "name": "slow" }))).await,
        202
    );
    read_until("done").await;
    assert_eq!(post("{".to_owned()).await, 202);
    let received = read_until("-32700").await;
    assert!(received.find("working").unwrap() < received.find("done").unwrap());
    let elsewhere = super::client::posting(
        &served.client,
        &served.at("/messages?sessionId=x"),
        request(1, "ping", &json!({})),
    );
    assert_eq!(elsewhere.send().await.unwrap().status(), 404);
    let (_project, plain) = Served::of(declared, &[]);
    assert_eq!(
        plain
            .client
            .get(plain.at("/sse"))
            .send()
            .await
            .unwrap()
            .status(),
        404
    );
}

#[test]
fn signals_end_it_cleanly_with_streams_open_and_free_its_port() {
    let project = Project::new();
    project.file(
        "mock.yaml",
        "tools: [{ name: slow, responses: [{ delay: 1h, content: late }] }]",
    );
    for signal in ["-INT", "-TERM"] {
        let port = free_port().to_string();
        let mut served = Served::start(&project, &["mock.yaml", "--port", &port]);
        let body = request(1, "tools/call", &json!({ "name": "slow" }));
        let waiting = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let url = served.url.clone();
        let waiting = std::thread::spawn(move || raw(&url, &waiting));
        std::thread::sleep(Duration::from_millis(50));
        let id = served.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(served.child.wait().unwrap().code(), Some(0), "{signal}");
        assert_eq!(waiting.join().unwrap(), "");
        TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    }
}

#[test]
fn a_port_can_be_asked_for_and_a_taken_one_is_an_error() {
    let project = Project::new();
    let port = free_port().to_string();
    let taken = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    project
        .expect(3, &["mock", "--transport", "http", "--port", &port])
        .says("cannot listen");
    drop(taken);
    let served = Served::start(
        &project,
        &["--port", &port, "--host", "0.0.0.0", "--allow-remote"],
    );
    assert_eq!(served.url, format!("http://127.0.0.1:{port}/mcp"));
}

#[test]
fn our_own_client_talks_to_it_over_http() {
    let project = Project::new();
    project.file("proxy.yaml", PROXY);
    let served = Served::start(&project, &["proxy.yaml"]);
    let calls = json!([
        { "tool": "upstream_servers", "args": { "operation": "add", "name": "github" } },
        { "tool": "upstream_servers", "args": { "operation": "list" } },
    ]);
    let scenario = json!({
        "name": "s",
        "servers": { "proxy": { "type": "http", "url": served.url } },
        "expected_trajectory": calls,
        "success_criteria": ["\"total\":2"],
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["run"]);
}
