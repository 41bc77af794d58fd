//! What is a request and what is none, and what each of them gets, over both transports.

use serde_json::{Value, json};

use super::client::{Piped, Served};
use crate::common::Project;

const TOOLS: &str = "tools: [{ name: plain }, { name: strict, input_schema: { type: object, properties: { n: { type: integer } }, required: [n] } }]";

/// Messages, the id that comes back, and the error code; 0 for a result.
fn cases() -> Vec<(String, &'static str, i64)> {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let call = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
    };
    vec![
        ("{".to_owned(), "null", -32700),
        ("not json".to_owned(), "null", -32700),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#.to_owned(),
            "null",
            -32700,
        ),
        ("null".to_owned(), "null", -32600),
        ("[]".to_owned(), "null", -32600),
        ("1e9999".to_owned(), "null", -32600),
        (deep.clone(), "null", -32600),
        ("\"text\"".to_owned(), "null", -32600),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_owned(),
            "null",
            -32600,
        ),
        ("{}".to_owned(), "null", -32600),
        (r#"{"id":"x","method":"ping"}"#.to_owned(), "\"x\"", -32600),
        (
            r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#.to_owned(),
            "3",
            -32600,
        ),
        (
            r#"{"jsonrpc":2.0,"id":3,"method":"ping"}"#.to_owned(),
            "3",
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":7}"#.to_owned(), "7", -32600),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":5}"#.to_owned(),
            "7",
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned(),
            "null",
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_owned(),
            "null",
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"nope"}"#.to_owned(),
            "7",
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"resources/list"}"#.to_owned(),
            "7",
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[1]}"#.to_owned(),
            "7",
            -32602,
        ),
        (call("{}"), "7", -32602),
        (call(r#"{"name":5}"#), "7", -32602),
        (call(r#"{"name":"missing"}"#), "7", -32602),
        (call(r#"{"name":"plain","arguments":[]}"#), "7", -32602),
        (
            call(&format!(r#"{{"name":"plain","arguments":{{"a":{deep}}}}}"#)),
            "7",
            -32602,
        ),
        (
            call(r#"{"name":"plain","arguments":{"n":1e9999}}"#),
            "7",
            -32602,
        ),
        (
            call(r#"{"name":"plain","arguments":{"n":123456789012345678901234567890}}"#),
            "7",
            0,
        ),
        (call(r#"{"name":"plain","arguments":null}"#), "7", 0),
        (call(r#"{"name":"plain"}"#), "7", 0),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#.to_owned(),
            "0",
            0,
        ),
        (
            r#"{"jsonrpc":"2.0","id":-1.50,"method":"ping"}"#.to_owned(),
            "-1.50",
            0,
        ),
        (
            r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}"#.to_owned(),
            "123456789012345678901234567890",
            0,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"\u00e9\"","method":"ping","params":null}"#.to_owned(),
            r#""\u00e9\"""#,
            0,
        ),
    ]
}

#[track_caller]
fn check(reply: &str, message: &str, id: &str, code: i64) {
    let shown: String = message.chars().take(200).collect();
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
    assert!(reply.starts_with(&start), "{shown}: {reply}");
    let value: Value = serde_json::from_str(reply).unwrap();
    assert_eq!(
        value["error"]["code"].as_i64().unwrap_or(0),
        code,
        "{shown}: {reply}"
    );
    assert_eq!(value.get("result").is_some(), code == 0, "{shown}: {reply}");
}

#[test]
fn every_message_gets_what_it_deserves_over_pipes_and_the_next_one_works() {
    let (_project, mut piped) = Piped::of(TOOLS);
    for (message, id, code) in cases() {
        piped.send(&message);
        check(&piped.line(), &message, id, code);
        assert_eq!(piped.ask("ping", &json!({}))["result"], json!({}));
    }
    piped.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    check(&piped.line(), "invalid UTF-8", "null", -32700);
    // These get no answer, so the next answer is that to the ping after them.
    piped.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    piped.send(r#"{"jsonrpc":"2.0","method":"no/such/notification","params":[]}"#);
    piped.send(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    piped.send("\r");
    assert_eq!(piped.ask("ping", &json!({}))["result"], json!({}));
    assert_eq!(piped.close(), (String::new(), 0));
}

#[tokio::test]
async fn every_message_gets_what_it_deserves_over_http_and_the_next_one_works() {
    let (_project, served) = Served::of(TOOLS, &[]);
    for (message, id, code) in cases() {
        let response = served.post(message.clone()).await;
        let is_message = code != -32700
            && code != -32600
            && !(code == -32602 && message.len() > 10_000 || message.contains("1e9999"));
        let shown: String = message.chars().take(100).collect();
        assert_eq!(response.status() == 200, is_message, "{shown}");
        check(&response.text().await.unwrap(), &message, id, code);
    }
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
    ] {
        let response = served.post(message).await;
        assert_eq!(response.status(), 202);
        assert_eq!(response.bytes().await.unwrap().len(), 0);
    }
    assert_eq!(served.ask("ping", json!({})).await["result"], json!({}));
}

#[test]
fn the_handshake_takes_the_clients_version_where_it_is_known() {
    let (_project, mut piped) = Piped::of(TOOLS);
    let cases = [
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("1999-01-01"), "2025-11-25"),
        (json!(null), "2025-11-25"),
    ];
    for (asked, given) in cases {
        let reply = piped.ask("initialize", &json!({ "protocolVersion": asked }));
        let expected = json!({
            "protocolVersion": given,
            "capabilities": { "tools": { "supported": true, "listChanged": false } },
            "serverInfo": { "name": "mock", "version": "1.0.0" },
        });
        assert_eq!(reply["result"], expected);
    }
}

#[test]
fn without_a_file_it_echoes() {
    let project = Project::new();
    let mut piped = Piped::start(&project, &[]);
    let hello = piped.ask("initialize", &json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(
        hello["result"]["serverInfo"],
        json!({ "name": "MockMcpServer", "version": "1.0.0" })
    );
    let listed = piped.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["name"], "mcp_echo_tool");
    assert_eq!(
        tools[0]["inputSchema"]["properties"]["message"]["type"],
        "string"
    );
    for message in ["hello", "", "{{args.message}} \u{1f980}\n\"", "{{now}}"] {
        let result = piped.call("mcp_echo_tool", &json!({ "message": message }));
        let content = result["content"].as_array().unwrap();
        assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")));
        let said: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(
            (&said["echoed"], &said["testSuccess"]),
            (&json!(message), &json!(true))
        );
        let time: jiff::Timestamp = said["timestamp"].as_str().unwrap().parse().unwrap();
        assert!(jiff::Timestamp::now().duration_since(time).as_secs() < 120);
    }
    for arguments in [json!({}), json!({ "message": 5 })] {
        let params = json!({ "name": "mcp_echo_tool", "arguments": arguments });
        let error = piped.ask("tools/call", &params)["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["tool"]),
            (&json!(-32602), &json!("mcp_echo_tool"))
        );
        assert!(
            error["data"]["details"]
                .as_str()
                .unwrap()
                .contains("message")
                || error["data"]["details"]
                    .as_str()
                    .unwrap()
                    .contains("string")
        );
        assert!(error["message"].as_str().unwrap().contains("mcp_echo_tool"));
    }
}

#[test]
fn a_tool_without_answers_tells_what_it_was_called_with() {
    let (_project, mut piped) = Piped::of(TOOLS);
    let result = piped.call("plain", &json!({ "a": [1, null], "b": "{{now}}" }));
    let said: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said["tool"], "plain");
    assert_eq!(said["result"], "Mock tool execution successful");
    assert_eq!(said["arguments"], json!({ "a": [1, null], "b": "{{now}}" }));
    assert!(said["timestamp"].is_string());
    assert_eq!(result.as_object().unwrap().len(), 1);
}

#[test]
fn arguments_are_checked_when_asked_for() {
    let project = Project::new();
    project.file("mock.yaml", TOOLS);
    let mut piped = Piped::start(&project, &["mock.yaml", "--validate"]);
    piped.call("strict", &json!({ "n": 1 }));
    let refused = piped.ask(
        "tools/call",
        &json!({ "name": "strict", "arguments": { "n": "x" } }),
    );
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(refused["error"]["data"]["tool"], "strict");
    let details = refused["error"]["data"]["details"].as_str().unwrap();
    assert!(
        details.contains("/n") && details.contains("integer"),
        "{details}"
    );
    let mut careless = Piped::start(&project, &["mock.yaml"]);
    careless.call("strict", &json!({ "n": "x" }));
}
