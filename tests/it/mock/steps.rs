//! Events between a call and its answer.

use serde_json::{Value, json};

use super::client::{Piped, Served, events, request};

const STEPS: &str = r#"
resources: [{ uri: "note://a", text: "{{get.note}}" }, { uri: "note://b", text: b }]
state: { note: old }
tools:
  - name: work
    responses:
      - steps:
          - log: "working on {{args.what}}"
          - wait: 5ms
          - log: { level: warning, logger: shop, data: { some_key: "{{args.what}}" } }
          - progress: { progress: 1, total: 2, message: "half of {{args.what}}" }
          - progress: { progress: 2 }
          - notify: { method: notifications/x-mine, params: { some_key: "{{args.what}}" } }
        content: done
  - name: ask
    responses:
      - steps:
          - sample:
              messages: [{ content: "{{args.q}}" }, { role: assistant, content: { type: text, text: well } }]
              max_tokens: 5
              system_prompt: Be brief
              stop_sequences: [END]
              model_preferences: { hints: [small], cost_priority: 1, intelligence_priority: 0.5 }
              metadata: { some_key: 1 }
          - elicit:
              message: "Sure about {{sampling.content.text}}?"
              requested_schema: { type: object, properties: { some_key: { type: boolean } } }
          - list_roots: true
        content: "{{sampling.content.text}} {{elicitation.action}} {{elicitation.content.some_key}} {{roots.roots.0.uri}}"
  - name: change
    responses:
      - set: { note: "{{args.note}}" }
        steps: [{ update_resource: "note://a" }, { show_tools: [secret] }, { hide_tools: [work] }]
        content: changed
  - { name: secret, hidden: true }
"#;

#[test]
fn logs_and_progress_come_before_the_answer_in_order() {
    let (_project, mut piped) = Piped::of(STEPS);
    let hello = piped.ask("initialize", &json!({}));
    assert_eq!(hello["result"]["capabilities"]["logging"], json!({}));
    let call = |token: Option<Value>| {
        let mut params = json!({ "name": "work", "arguments": { "what": "tea" } });
        if let Some(token) = token {
            params["_meta"] = json!({ "progressToken": token });
        }
        request(2, "tools/call", &params)
    };
    piped.send(call(Some(json!("t-1"))));
    let expected = [
        json!({ "method": "notifications/message", "params": { "level": "info", "data": "working on tea" } }),
        json!({ "method": "notifications/message", "params": { "level": "warning", "logger": "shop", "data": { "some_key": "tea" } } }),
        json!({ "method": "notifications/progress", "params": { "progressToken": "t-1", "progress": 1, "total": 2, "message": "half of tea" } }),
        json!({ "method": "notifications/progress", "params": { "progressToken": "t-1", "progress": 2 } }),
        json!({ "method": "notifications/x-mine", "params": { "some_key": "tea" } }),
    ];
    for expected in expected {
        let mut message = piped.next();
        message.as_object_mut().unwrap().remove("jsonrpc").unwrap();
        assert_eq!(message, expected);
    }
    assert_eq!(piped.next()["result"]["content"][0]["text"], "done");
    // Without a token there is no progress, and a level is respected.
    assert_eq!(
        piped.ask("logging/setLevel", &json!({ "level": "error" }))["result"],
        json!({})
    );
    assert_eq!(
        piped.ask("logging/setLevel", &json!({ "level": "loud" }))["error"]["code"],
        -32602
    );
    piped.send(call(None));
    assert_eq!(piped.next()["method"], "notifications/x-mine");
    assert_eq!(piped.next()["id"], 2);
}

#[test]
fn the_client_is_asked_and_its_answers_are_used() {
    let (_project, mut piped) = Piped::of(STEPS);
    let call = request(
        9,
        "tools/call",
        &json!({ "name": "ask", "arguments": { "q": "tea or {{coffee}}" } }),
    );
    // A client that cannot be asked is not asked.
    piped.send(&call);
    let refused = piped.next();
    assert_eq!(refused["result"]["isError"], true);
    assert_eq!(
        refused["result"]["content"][0]["text"],
        "the client does not support sampling"
    );
    piped.ask(
        "initialize",
        &json!({ "capabilities": { "sampling": {}, "elicitation": {}, "roots": {} } }),
    );
    piped.send(&call);
    let asked = piped.next();
    assert_eq!(asked["method"], "sampling/createMessage");
    let expected = json!({
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "tea or {{coffee}}" } },
            { "role": "assistant", "content": { "type": "text", "text": "well" } },
        ],
        "modelPreferences": { "hints": [{ "name": "small" }], "costPriority": 1.0, "intelligencePriority": 0.5 },
        "systemPrompt": "Be brief",
        "maxTokens": 5,
        "stopSequences": ["END"],
        "metadata": { "some_key": 1 },
    });
    assert_eq!(asked["params"], expected);
    let answer = |id: &Value, result: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
    };
    piped.send(answer(
        &asked["id"],
        json!({ "role": "assistant", "content": { "type": "text", "text": "tea" }, "model": "m" }),
    ));
    let asked = piped.next();
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Sure about tea?");
    assert_eq!(
        asked["params"]["requestedSchema"]["properties"]["some_key"]["type"],
        "boolean"
    );
    piped.send(answer(
        &asked["id"],
        json!({ "action": "accept", "content": { "some_key": true } }),
    ));
    let asked = piped.next();
    assert_eq!(
        (&asked["method"], asked.get("params")),
        (&json!("roots/list"), None)
    );
    piped.send(answer(
        &asked["id"],
        json!({ "roots": [{ "uri": "file:///a" }] }),
    ));
    assert_eq!(
        piped.next()["result"]["content"][0]["text"],
        "tea accept true file:///a"
    );
    // A refusal is the tool's failure.
    piped.send(&call);
    let asked = piped.next();
    piped.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -1, "message": "not now" } }).to_string());
    let refused = piped.next();
    assert_eq!(
        (&refused["id"], &refused["result"]["isError"]),
        (&json!(9), &json!(true))
    );
    assert_eq!(
        refused["result"]["content"][0]["text"],
        "the client refused sampling: not now"
    );
}

#[test]
fn changes_are_sent_to_those_they_concern() {
    let (_project, mut piped) = Piped::of(STEPS);
    let hello = piped.ask("initialize", &json!({}));
    assert_eq!(
        hello["result"]["capabilities"]["tools"]["listChanged"],
        true
    );
    assert_eq!(
        hello["result"]["capabilities"]["resources"],
        json!({ "subscribe": true, "listChanged": true })
    );
    let names = |piped: &mut Piped| {
        let listed = piped.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&mut piped), ["work", "ask", "change"]);
    assert_eq!(
        piped.ask("tools/call", &json!({ "name": "secret" }))["error"]["code"],
        -32602
    );
    let subscribe =
        |piped: &mut Piped, method: &str| piped.ask(method, &json!({ "uri": "note://a" }));
    assert_eq!(
        subscribe(&mut piped, "resources/subscribe")["result"],
        json!({})
    );
    assert_eq!(
        piped.ask("resources/subscribe", &json!({ "uri": "note://zzz" }))["error"]["code"],
        -32002
    );
    let change = |note: &str| {
        request(
            5,
            "tools/call",
            &json!({ "name": "change", "arguments": { "note": note } }),
        )
    };
    piped.send(change("new"));
    let mut received: Vec<String> = (0..4).map(|_| piped.line()).collect();
    received.sort();
    let count = |what: &str| received.iter().filter(|it| it.contains(what)).count();
    assert_eq!(
        (
            count("resources/updated"),
            count("tools/list_changed"),
            count("\"id\":5")
        ),
        (1, 2, 1),
        "{received:?}"
    );
    let read = piped.ask("resources/read", &json!({ "uri": "note://a" }));
    assert_eq!(read["result"]["contents"][0]["text"], "new");
    assert_eq!(names(&mut piped), ["ask", "change", "secret"]);
    assert_eq!(
        subscribe(&mut piped, "resources/unsubscribe")["result"],
        json!({})
    );
    piped.send(change("newer"));
    // Nothing else changes any more.
    assert_eq!(piped.next()["id"], 5);
}

#[tokio::test]
async fn over_http_all_of_it_comes_on_the_stream_of_the_call() {
    let (_project, served) = Served::of(STEPS, &[]);
    let session = served
        .open(json!({ "sampling": {}, "elicitation": {}, "roots": {} }))
        .await;
    let params =
        json!({ "name": "work", "arguments": { "what": "tea" }, "_meta": { "progressToken": 1 } });
    let response = served.post(request(3, "tools/call", &params)).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let messages = events(&response.text().await.unwrap());
    assert_eq!(messages.len(), 6);
    assert_eq!(messages[2]["params"]["progress"], 1);
    assert_eq!(messages[5]["result"]["content"][0]["text"], "done");
    let params = json!({ "name": "ask", "arguments": { "q": "?" } });
    let asking = served
        .posting(request(4, "tools/call", &params))
        .header("mcp-session-id", &session);
    let mut response = asking.send().await.unwrap();
    let mut text = String::new();
    let mut answered = 0;
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        let messages = events(&text);
        let Some(message) = messages.get(answered).filter(|it| it["method"].is_string()) else {
            continue;
        };
        answered += 1;
        let result = match message["method"].as_str().unwrap() {
            "sampling/createMessage" => json!({ "content": { "type": "text", "text": "s" } }),
            "elicitation/create" => json!({ "action": "decline" }),
            _ => json!({ "roots": [] }),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
        let answering = served.posting(answer).header("mcp-session-id", &session);
        assert_eq!(answering.send().await.unwrap().status().as_u16(), 202);
    }
    assert_eq!(
        events(&text)[3]["result"]["content"][0]["text"],
        "s decline  "
    );
}
