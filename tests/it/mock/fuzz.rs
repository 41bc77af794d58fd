//! Arbitrary messages to the mock server, for as long as one likes: a moment by default, a minute in the gate
//! (`MCP_EVAL_FUZZ_SECONDS=60 cargo test fuzz`).

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::client::{PATIENCE, http_client, posting, request};
use mcp_eval::mock::{Mock, MockServer, Options, echo};
use mcp_eval::scenario_file::mock::{AnswerBlock, MockReply, MockResponse, MockTool, Reference};

/// Messages, most of them nearly right.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("2.0".to_owned()),
        Just("tools/call".to_owned()),
        Just("tools/list".to_owned()),
        Just("initialize".to_owned()),
        Just("ping".to_owned()),
        Just("notifications/cancelled".to_owned()),
        Just("remember".to_owned()),
        Just("mcp_echo_tool".to_owned()),
        Just("{{args.a}}{{get.x[args.a]}}".to_owned()),
        ".{0,12}",
    ];
    let key = prop_oneof![
        Just("jsonrpc".to_owned()),
        Just("id".to_owned()),
        Just("method".to_owned()),
        Just("params".to_owned()),
        Just("name".to_owned()),
        Just("arguments".to_owned()),
        Just("message".to_owned()),
        Just("cursor".to_owned()),
        Just("requestId".to_owned()),
        Just("protocolVersion".to_owned()),
        Just("result".to_owned()),
        ".{0,4}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        word.clone().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    let id = prop_oneof![
        Just("1".to_owned()),
        Just("1e400".to_owned()),
        Just("-0.0".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just("null".to_owned()),
        Just("{}".to_owned()),
        any::<i64>().prop_map(|it| it.to_string()),
        ".{0,8}".prop_map(|it| json!(it).to_string()),
    ];
    let request =
        (id, word, value.clone(), value.clone()).prop_map(|(id, method, params, args)| {
            let params = match params {
                Value::Object(mut members) if members.len() % 2 == 0 => {
                    members.insert("name".to_owned(), json!("remember"));
                    members.insert("arguments".to_owned(), json!({ "a": args }));
                    Value::Object(members)
                }
                other => other,
            };
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#,
                json!(method)
            )
        });
    let text = prop_oneof![
        4 => request,
        2 => value.prop_map(|it| it.to_string()),
        1 => ".{0,40}",
        1 => (1..3000_usize).prop_map(|depth| "[".repeat(depth)),
        1 => (1..3000_usize).prop_map(|depth| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth)),
    ];
    let edit = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    (text, prop::collection::vec(edit, 0..3)).prop_map(|(text, edits)| {
        let mut bytes = text.into_bytes();
        for (place, byte, kind) in edits {
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                2 => {
                    bytes.remove(place);
                }
                _ => bytes.truncate(place),
            }
        }
        bytes.retain(|it| *it != b'\n');
        bytes
    })
}

/// A server that remembers arguments, so that arbitrary ones pass through most of its code.
fn server() -> Mock {
    let mut declared = echo();
    let response = MockResponse {
        set: vec![(
            Reference::state("x[args.a].y").unwrap(),
            json!("{{args.a}}"),
        )],
        reply: MockReply::content(vec![
            AnswerBlock::text("{{args.a}} {{get.x | keys}}"),
            AnswerBlock::json(json!({ "a": "{{args.a}}", "n": "{{counter[args.a]}}" })),
        ]),
        ..MockResponse::default()
    };
    let forget = MockResponse {
        times: Some(1),
        unset: vec![Reference::state("x").unwrap()],
        ..MockResponse::default()
    };
    declared.tools.push(MockTool {
        responses: vec![response, forget],
        ..MockTool::new("remember", None)
    });
    Mock::new(
        "fuzzed",
        declared,
        Options {
            validate: true,
            ..Options::default()
        },
    )
    .unwrap()
}

#[tokio::test]
#[ignore = "left to .ci/run, which has the time"]
async fn fuzzed_messages_get_errors_of_the_protocol_and_never_end_the_server() {
    let seconds = std::env::var("MCP_EVAL_FUZZ_SECONDS")
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(1);
    let until = Instant::now() + Duration::from_secs(seconds);
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .subsec_nanos();
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(u64::from(seed)),
        ..Config::default()
    });
    let strategy = message();
    let mut sent = 0_u64;
    while Instant::now() < until {
        // What is remembered grows with each server's age, as asked; each gets a thousand messages.
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let serving = tokio::spawn(server().serve_stdio(input, output, 100_000));
        let (replies, mut messages) = tokio::io::split(ours);
        let mut replies = BufReader::new(replies).lines();
        for number in 0..1000 {
            if Instant::now() >= until {
                break;
            }
            let message = strategy.new_tree(&mut runner).unwrap().current();
            let shown = format!("seed {seed}: {}", String::from_utf8_lossy(&message));
            let ping =
                json!({ "jsonrpc": "2.0", "id": format!("ping {number}"), "method": "ping" });
            messages.write_all(&message).await.unwrap();
            messages
                .write_all(format!("\n{ping}\n").as_bytes())
                .await
                .unwrap();
            let mut answers = 0;
            loop {
                let line = tokio::time::timeout(PATIENCE, replies.next_line()).await;
                let line = line.expect(&shown).expect(&shown).expect(&shown);
                let is_pong =
                    line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":"ping {number}""#));
                assert!(
                    line.starts_with(r#"{"jsonrpc":"2.0","id":"#),
                    "{line}\n{shown}"
                );
                if is_pong {
                    break;
                }
                answers += 1;
                // An id that JSON allows may be more than our reader takes; it goes back to the letter all the same.
                if let Ok(reply) = serde_json::from_str::<Value>(&line) {
                    let code = reply["error"]["code"].as_i64();
                    let known = [-32700, -32600, -32601, -32602].map(Some);
                    assert!(
                        reply.get("result").is_some() || known.contains(&code),
                        "{line}\n{shown}"
                    );
                }
            }
            assert!(answers <= 1, "{answers} answers\n{shown}");
            sent += 1;
        }
        drop((messages, replies));
        let ended = tokio::time::timeout(PATIENCE, serving)
            .await
            .unwrap()
            .unwrap();
        ended.unwrap();
    }
    println!("{sent} messages in {seconds} s, seed {seed}");
}

/// Headers, most of them right.
fn headers() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let header = prop_oneof![
        ("[a-z*/,;= ]{0,20}").prop_map(|it| ("accept", it)),
        ("[a-z/;=]{0,20}").prop_map(|it| ("content-type", it)),
        ("[!-~]{0,20}").prop_map(|it| ("mcp-session-id", it)),
        ("[0-9-]{0,12}").prop_map(|it| ("mcp-protocol-version", it)),
        ("[a-z:/.]{0,20}").prop_map(|it| ("origin", it)),
        ("[!-~]{0,20}").prop_map(|it| ("last-event-id", it)),
    ];
    prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec(header, 1..3),
    ]
}

#[tokio::test]
#[ignore = "left to .ci/run, which has the time"]
async fn fuzzed_requests_over_http_get_statuses_of_the_protocol_and_never_end_the_server() {
    let seconds = std::env::var("MCP_EVAL_FUZZ_SECONDS")
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(1);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut runner = TestRunner::default();
    let strategy = (message(), headers(), 0..6_u8);
    let server = MockServer::start(echo(), Options::default()).unwrap();
    let client = http_client();
    let known = [200, 202, 204, 400, 403, 404, 405, 406, 415];
    let mut sent = 0_u64;
    while Instant::now() < until {
        let (body, headers, method) = strategy.new_tree(&mut runner).unwrap().current();
        let shown = format!("{}\n{headers:?}", String::from_utf8_lossy(&body));
        let method = [Method::GET, Method::DELETE, Method::PUT]
            .into_iter()
            .nth(method.into());
        let mut asking = client
            .request(method.unwrap_or(Method::POST), server.url())
            .body(body);
        if !headers.iter().any(|it| it.0 == "content-type") {
            asking = asking.header("content-type", "application/json");
        }
        for (name, value) in headers {
            asking = asking.header(name, value);
        }
        let Ok(request) = asking.build() else {
            continue;
        };
        let response = client.execute(request).await.expect(&shown);
        let status = response.status().as_u16();
        assert!(known.contains(&status), "{status}: {shown}");
        sent += 1;
    }
    let ping = posting(&client, &server.url(), request(1, "ping", &json!({})));
    assert_eq!(ping.send().await.unwrap().status(), 200);
    println!("{sent} requests in {seconds} s");
}
