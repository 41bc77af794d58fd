//! The revision 2026-07-28: requests that speak for themselves, and the headers that repeat them.

use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

use super::client::{Piped, Served, enveloped, events, raw, request};

const DECLARED: &str = r#"
name: shop
version: 2.0.0
instructions: Buy tea.
state: { sold: none }
tools:
  - name: work
    responses:
      - steps: [{ log: working }, { log: { level: error, data: broken } }, { progress: { progress: 1 } }]
        content: done
        _meta: { some_key: 1 }
  - name: sell
    input_schema: { type: object, properties: { what: { type: string, x-mcp-header: What }, size: { type: object, properties: { n: { type: integer, x-mcp-header: N }, fresh: { type: boolean, x-mcp-header: Fresh } } } } }
    responses: [{ set: { sold: "{{args.what}}" }, content: sold }]
  - { name: odd, responses: [{ raw_result: { content: [] } }] }
  - { name: "größe", responses: [{ fault: bad_item }] }
resources: [{ uri: "note://a", text: "{{get.sold}}" }]
prompts: [{ name: greet, messages: [{ content: hello }] }]
"#;

const SERVER: &str = "io.modelcontextprotocol/serverInfo";

fn ask(piped: &mut Piped, method: &str, params: Value) -> Value {
    piped.ask(method, &enveloped(params, &json!({})))
}

#[test]
fn every_result_says_that_it_is_complete_and_who_gives_it() {
    let (_project, mut piped) = Piped::of(DECLARED);
    let info = json!({ SERVER: { "name": "shop", "version": "2.0.0" } });
    let discovered = ask(&mut piped, "server/discover", json!({}));
    let expected = json!({
        "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        "capabilities": {
            "tools": { "supported": true, "listChanged": false },
            "resources": { "subscribe": true, "listChanged": false },
            "prompts": { "listChanged": false },
            "logging": {},
        },
        "instructions": "Buy tea.",
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": info,
    });
    assert_eq!(discovered["result"], expected);
    for (method, params, is_cached) in [
        ("tools/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({ "uri": "note://a" }), true),
        ("prompts/list", json!({}), true),
        ("prompts/get", json!({ "name": "greet" }), false),
        ("tools/call", json!({ "name": "größe" }), false),
    ] {
        let result = ask(&mut piped, method, params)["result"].clone();
        assert_eq!(result["resultType"], "complete", "{method}: {result}");
        assert_eq!(result["_meta"], info, "{method}");
        assert_eq!(result["ttlMs"] == 0, is_cached, "{method}");
        assert_eq!(result["cacheScope"] == "private", is_cached, "{method}");
    }
    let called = ask(&mut piped, "tools/call", json!({ "name": "work" }))["result"].clone();
    assert_eq!(called["_meta"]["some_key"], 1);
    assert_eq!(called["_meta"][SERVER]["name"], "shop");
    // What goes over the wire as declared stays so.
    let odd = ask(&mut piped, "tools/call", json!({ "name": "odd" }));
    assert_eq!(odd["result"], json!({ "content": [] }));
    // Sessions are what they were, beside requests without one.
    let hello = piped.ask("initialize", &json!({ "protocolVersion": "2025-06-18" }));
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    let read = piped.ask("resources/read", &json!({ "uri": "note://a" }));
    let expected = json!({ "contents": [{ "uri": "note://a", "text": "none" }] });
    assert_eq!(read["result"], expected);
}

#[test]
fn what_is_remembered_belongs_to_the_server() {
    let (_project, mut piped) = Piped::of(DECLARED);
    let params = json!({ "name": "sell", "arguments": { "what": "tea" } });
    ask(&mut piped, "tools/call", params);
    let read = ask(&mut piped, "resources/read", json!({ "uri": "note://a" }));
    assert_eq!(read["result"]["contents"][0]["text"], "tea");
    let read = piped.ask("resources/read", &json!({ "uri": "note://a" }));
    assert_eq!(read["result"]["contents"][0]["text"], "tea");
}

#[test]
fn logs_and_progress_come_where_the_request_asks_for_them() {
    let (_project, mut piped) = Piped::of(DECLARED);
    let mut methods = |meta: Value| {
        let params = enveloped(json!({ "name": "work", "_meta": meta }), &json!({}));
        piped.send(request(3, "tools/call", &params));
        let mut methods = Vec::new();
        loop {
            let message = piped.next();
            match message["method"].as_str() {
                Some(method) => methods.push(method.to_owned()),
                None => return (methods, message),
            }
        }
    };
    let level = "io.modelcontextprotocol/logLevel";
    let (message, progress) = ("notifications/message", "notifications/progress");
    assert_eq!(methods(json!({})).0, [""; 0]);
    assert_eq!(methods(json!({ level: "debug" })).0, [message, message]);
    assert_eq!(methods(json!({ level: "error" })).0, [message]);
    assert_eq!(methods(json!({ "progressToken": 1 })).0, [progress]);
    for level in [json!({ level: "loud" }), json!({ level: 3 })] {
        assert_eq!(methods(level).1["error"]["code"], -32602);
    }
}

/// Methods and parameters, and the error code they get.
fn refused() -> Vec<(&'static str, Value, i64)> {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let whole = |params| enveloped(params, &json!({}));
    let removed = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "nope",
        "completion/nope",
    ];
    let mut cases = vec![
        ("server/discover", json!({}), -32602),
        (
            "tools/list",
            json!({ "_meta": { version: "2026-07-28" } }),
            -32602,
        ),
        (
            "tools/list",
            json!({ "_meta": { capabilities: {} } }),
            -32602,
        ),
        (
            "tools/list",
            json!({ "_meta": { version: 5, capabilities: {} } }),
            -32602,
        ),
        (
            "tools/list",
            json!({ "_meta": { version: "2026-07-28", capabilities: [] } }),
            -32602,
        ),
        ("tools/call", whole(json!({ "name": "nope" })), -32602),
        ("prompts/get", whole(json!({ "name": "nope" })), -32602),
        (
            "resources/read",
            whole(json!({ "uri": "note://nope" })),
            -32602,
        ),
        ("tools/list", whole(json!({ "cursor": "nope" })), -32602),
    ];
    cases.extend(removed.map(|it| (it, whole(json!({})), -32601)));
    cases
}

#[test]
fn what_is_refused_over_pipes_has_the_codes_of_the_revision() {
    let (_project, mut piped) = Piped::of(DECLARED);
    for (method, params, code) in refused() {
        let reply = piped.ask(method, &params);
        assert_eq!(reply["error"]["code"], code, "{method} {params}: {reply}");
        assert_eq!(reply["id"], 1);
    }
    let mut params = enveloped(json!({}), &json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let reply = piped.ask("tools/list", &params);
    assert_eq!(reply["error"]["code"], -32022);
    assert_eq!(reply["error"]["data"]["requested"], "1900-01-01");
    assert_eq!(reply["error"]["data"]["supported"][0], "2026-07-28");
    let missing = ask(
        &mut piped,
        "resources/read",
        json!({ "uri": "note://nope" }),
    );
    assert_eq!(missing["error"]["data"]["uri"], "note://nope");
}

#[tokio::test]
async fn what_is_refused_over_http_has_a_status_and_a_body() {
    let (_project, served) = Served::of(DECLARED, &[]);
    for (method, params, code) in refused() {
        let name = params.get("name").or(params.get("uri")).cloned();
        let posting = served
            .posting(request(1, method, &params))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method)
            .header(
                "mcp-name",
                name.as_ref().and_then(Value::as_str).unwrap_or("none"),
            );
        let response = posting.send().await.unwrap();
        let expected = if code == -32601 { 404 } else { 400 };
        assert_eq!(response.status(), expected, "{method} {params}");
        assert_eq!(response.headers()["content-type"], "application/json");
        let reply: Value = response.json().await.unwrap();
        assert_eq!(reply["error"]["code"], code, "{method} {params}: {reply}");
    }
}

async fn code(posting: RequestBuilder) -> (StatusCode, i64) {
    let response = posting.send().await.unwrap();
    let status = response.status();
    assert!(!response.headers().contains_key("mcp-session-id"));
    let reply: Value = response.json().await.unwrap();
    (status, reply["error"]["code"].as_i64().unwrap_or_default())
}

const FINE: (StatusCode, i64) = (StatusCode::OK, 0);
const MISMATCH: (StatusCode, i64) = (StatusCode::BAD_REQUEST, -32020);

#[tokio::test]
async fn headers_must_repeat_the_body() {
    let (_project, served) = Served::of(DECLARED, &[]);
    let listing = || served.posting(request(1, "tools/list", &enveloped(json!({}), &json!({}))));
    let with = |headers: &[(&str, &str)]| {
        let headers = headers.iter();
        headers.fold(listing(), |it, (name, value)| it.header(*name, *value))
    };
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let method = ("mcp-METHOD", "tools/list");
    let cases = [
        (&[version, method][..], FINE),
        (
            &[
                version,
                method,
                ("mcp-session-id", "unknown"),
                ("last-event-id", "5"),
            ],
            FINE,
        ),
        (&[version, method, ("origin", "http://localhost:1")], FINE),
        (&[method], MISMATCH),
        (&[version], MISMATCH),
        (&[version, method, method], MISMATCH),
        (&[version, ("mcp-method", "tools/List")], MISMATCH),
        (
            &[version, ("mcp-method", "=?base64?dG9vbHMvbGlzdA==?=")],
            MISMATCH,
        ),
        (&[("mcp-protocol-version", "2025-11-25"), method], MISMATCH),
        (&[("mcp-protocol-version", "1900-01-01"), method], MISMATCH),
    ];
    for (headers, expected) in cases {
        assert_eq!(code(with(headers)).await, expected, "{headers:?}");
    }
    let foreign = with(&[version, method, ("origin", "http://evil.example")]);
    assert_eq!(
        foreign.send().await.unwrap().status(),
        StatusCode::FORBIDDEN
    );
    // A revision that is not spoken is named alike in both places.
    let mut params = enveloped(json!({}), &json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let unknown = served.posting(request(1, "tools/list", &params));
    let unknown = unknown
        .header("mcp-protocol-version", "1900-01-01")
        .header("mcp-method", "tools/list");
    assert_eq!(code(unknown).await, (StatusCode::BAD_REQUEST, -32022));
    // The header alone tells that `_meta` is missing.
    let bare = served.posting(request(1, "tools/list", &json!({})));
    let bare = bare.header("mcp-protocol-version", "2026-07-28");
    assert_eq!(code(bare).await, (StatusCode::BAD_REQUEST, -32602));
    let notification = served.posting(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    let notification = notification.header("mcp-protocol-version", "2026-07-28");
    assert_eq!(
        notification.send().await.unwrap().status(),
        StatusCode::ACCEPTED
    );
}

#[tokio::test]
async fn names_and_arguments_are_repeated_in_headers() {
    let (_project, served) = Served::of(DECLARED, &[]);
    let calling = |tool: &str, arguments: Value, headers: &[(&str, &str)]| {
        let params = enveloped(json!({ "name": tool, "arguments": arguments }), &json!({}));
        let posting = served
            .posting(request(1, "tools/call", &params))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call");
        headers
            .iter()
            .fold(posting, |it, (name, value)| it.header(*name, *value))
    };
    let encoded = "=?base64?Z3LDtsOfZQ==?=";
    for (value, expected) in [
        (Some(encoded), FINE),
        (Some("größe"), MISMATCH),
        (Some("=?BASE64?Z3LDtsOfZQ==?="), MISMATCH),
        (Some("=?base64?Z3LDtsOfZQ?="), MISMATCH),
        (Some("work"), MISMATCH),
        (None, MISMATCH),
    ] {
        let headers: Vec<_> = value.into_iter().map(|it| ("mcp-name", it)).collect();
        let called = code(calling("größe", json!({}), &headers)).await;
        assert_eq!(called, expected, "{value:?}");
    }
    let sell = ("mcp-name", "sell");
    let (what, n, fresh) = (
        ("mcp-param-what", "tea"),
        ("mcp-param-n", "42"),
        ("mcp-param-fresh", "true"),
    );
    let all = json!({ "what": "tea", "size": { "n": 42, "fresh": true } });
    let cases = [
        (json!({}), &[sell][..], FINE),
        (json!({ "what": null }), &[sell], FINE),
        (all.clone(), &[sell, what, n, fresh], FINE),
        (
            all.clone(),
            &[
                sell,
                ("Mcp-Param-What", "=?base64?dGVh?="),
                ("mcp-param-n", "42.0"),
                fresh,
                ("mcp-param-other", "x"),
            ],
            FINE,
        ),
        (all.clone(), &[sell, n, fresh], MISMATCH),
        (
            all.clone(),
            &[sell, ("mcp-param-what", "Tea"), n, fresh],
            MISMATCH,
        ),
        (
            all.clone(),
            &[sell, what, ("mcp-param-n", "43"), fresh],
            MISMATCH,
        ),
        (
            all.clone(),
            &[sell, what, ("mcp-param-n", "many"), fresh],
            MISMATCH,
        ),
        (
            all.clone(),
            &[sell, what, n, ("mcp-param-fresh", "True")],
            MISMATCH,
        ),
        (json!({ "what": null }), &[sell, what], MISMATCH),
    ];
    for (arguments, headers, expected) in cases {
        let called = code(calling("sell", arguments, headers)).await;
        assert_eq!(called, expected, "{headers:?}");
    }
    // Sessions know nothing of such headers.
    assert_eq!(
        served.call("sell", json!({ "what": "tea" })).await["content"][0]["text"],
        "sold"
    );
}

#[tokio::test]
async fn what_comes_before_an_answer_is_in_the_stream_of_its_request() {
    let (_project, served) = Served::of(DECLARED, &[]);
    let level = json!({ "io.modelcontextprotocol/logLevel": "debug", "progressToken": "t" });
    let params = json!({ "name": "work", "_meta": level });
    let response = served.stateless("tools/call", params).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    assert!(!response.headers().contains_key("mcp-session-id"));
    let messages = events(&response.text().await.unwrap());
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2]["params"]["progressToken"], "t");
    assert_eq!(messages[3]["result"]["resultType"], "complete");
    // Space around the values of headers is no part of them.
    let body = request(1, "tools/list", &enveloped(json!({}), &json!({})));
    let spaced = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nMCP-Protocol-Version:   2026-07-28 \r\nMcp-Method: \ttools/list\t\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answered = raw(&served.url, &spaced);
    assert!(answered.starts_with("HTTP/1.1 200 OK"), "{answered}");
}

#[tokio::test]
async fn a_server_may_speak_the_older_revisions_alone() {
    let (_project, served) = Served::of(&format!("supports: [legacy]\n{DECLARED}"), &[]);
    let reply = |response: reqwest::Response| async {
        let status = response.status().as_u16();
        (status, response.json::<Value>().await.unwrap())
    };
    // What a client finds out by asking: an unknown method here, an unknown version there, and nothing about the revision it wants.
    let discovering = served.stateless("server/discover", json!({}));
    let (status, unknown) = reply(discovering.send().await.unwrap()).await;
    assert_eq!((status, &unknown["error"]["code"]), (200, &json!(-32601)));
    let listing = served.stateless("tools/list", json!({}));
    let (status, refused) = reply(listing.send().await.unwrap()).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32600)));
    let (_project, mut piped) = Piped::of(&format!("supports: [legacy]\n{DECLARED}"));
    assert_eq!(
        ask(&mut piped, "server/discover", json!({}))["error"]["code"],
        -32601
    );
    let listed = ask(&mut piped, "tools/list", json!({}));
    assert!(listed["result"].get("resultType").is_none());
    let missing = ask(
        &mut piped,
        "resources/read",
        json!({ "uri": "note://nope" }),
    );
    assert_eq!(missing["error"]["code"], -32002);
}

#[tokio::test]
async fn a_server_may_speak_the_new_revision_alone() {
    let declared = format!("supports: [2026-07-28]\n{DECLARED}");
    let (_project, mut piped) = Piped::of(&declared);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    let refused = piped.ask("initialize", &hello)["error"].clone();
    assert_eq!(refused["code"], -32022);
    let expected = json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" });
    assert_eq!(refused["data"], expected);
    assert_eq!(piped.ask("tools/list", &json!({}))["error"]["code"], -32602);
    let listed = ask(&mut piped, "tools/list", json!({}));
    assert_eq!(listed["result"]["resultType"], "complete");
    let (_project, served) = Served::of(&declared, &[]);
    let opening = served.post(request(1, "initialize", &hello)).await;
    assert_eq!(opening.status(), StatusCode::BAD_REQUEST);
    assert!(!opening.headers().contains_key("mcp-session-id"));
    let refused: Value = opening.json().await.unwrap();
    assert_eq!(refused["error"]["data"], expected);
    for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
        let asking = served.client.request(method, &served.url);
        let response = asking
            .header("accept", "text/event-stream")
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()["allow"], "POST");
    }
    let discovering = served.stateless("server/discover", json!({}));
    let discovered: Value = discovering.send().await.unwrap().json().await.unwrap();
    assert_eq!(
        discovered["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
}

#[tokio::test]
async fn servers_on_their_way_to_the_new_revision_misbehave() {
    let (_project, mut piped) = Piped::of("first_message_decides: true\ntools: []");
    assert!(ask(&mut piped, "server/discover", json!({}))["result"].is_object());
    let hello = json!({ "protocolVersion": "2025-11-25" });
    let refused = piped.ask("initialize", &hello)["error"].clone();
    assert_eq!(
        (&refused["code"], &refused["data"]["supported"]),
        (&json!(-32022), &json!(["2026-07-28"]))
    );
    let (_project, mut piped) = Piped::of("first_message_decides: true\ntools: []");
    assert!(piped.ask("initialize", &hello)["result"].is_object());
    assert_eq!(
        ask(&mut piped, "server/discover", json!({}))["error"]["code"],
        -32601
    );
    let probed =
        "supports: [legacy]\ntools: []\nmethods: { server/discover: [{ fault: { exit: 4 } }] }";
    let (_project, mut piped) = Piped::of(probed);
    piped.send(request(
        1,
        "server/discover",
        &enveloped(json!({}), &json!({})),
    ));
    assert_eq!(piped.end(), (String::new(), 4));
    let declared = "checks_headers: false\ncache: { ttl: 5m, scope: public }\ntools: [{ name: odd, responses: [{ fault: wrong_result_type, content: odd }] }]\nresources: [{ uri: 'a:b', text: x }]\nmethods: { server/discover: [{ fault: { http_status: 503 } }], resources/list: [{ fault: no_cache_hints }] }";
    let (_project, served) = Served::of(declared, &[]);
    let discovering = served.stateless("server/discover", json!({}));
    assert_eq!(discovering.send().await.unwrap().status(), 503);
    let bare = served.posting(request(1, "tools/list", &enveloped(json!({}), &json!({}))));
    let listed: Value = bare.send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["result"]["ttlMs"], 300_000);
    assert_eq!(listed["result"]["cacheScope"], "public");
    let listing = served
        .stateless("resources/list", json!({}))
        .send()
        .await
        .unwrap();
    let unhinted = listing.json::<Value>().await.unwrap()["result"].clone();
    assert_eq!(
        (unhinted.get("ttlMs"), unhinted.get("cacheScope")),
        (None, None)
    );
    assert_eq!(unhinted["resultType"], "complete");
    let calling = served
        .stateless("tools/call", json!({ "name": "odd" }))
        .send()
        .await
        .unwrap();
    let odd = calling.json::<Value>().await.unwrap()["result"].clone();
    assert_eq!(
        (&odd["resultType"], &odd["content"][0]["text"]),
        (&json!("no_such_type"), &json!("odd"))
    );
}
