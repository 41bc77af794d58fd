//! Tools, prompts and resources that ask the client first: in a session by requests to it, and otherwise in rounds of its own request.

use serde_json::{Value, json};

use super::client::{Piped, Served, enveloped, request};
use crate::common::Project;

const ASKING: &str = r#"
tools:
  - name: order
    responses:
      - match: { what: tea }
        times: 1
        steps:
          - progress: { progress: 1 }
          - ask:
              user: { elicit: { message: "Who wants {{args.what}}?", requested_schema: { type: object, properties: { name: { type: string } } } } }
              model: { sample: { messages: [{ content: Which kind? }], max_tokens: 5 } }
          - progress: { progress: 2 }
          - elicit: { message: "{{asked.model.content.text}}, {{asked.user.content.name}}?", requested_schema: { type: object, properties: {} } }
          - elicit: { message: Really?, requested_schema: { type: object, properties: {} } }
          - list_roots: true
        content: "{{asked.user.content.name}} {{sampling.content.text}} {{elicitation.action}} {{roots.roots.0.uri}}"
  - name: page
    responses:
      - steps: [{ elicit: { message: Log in, url: "https://example.com/login", elicitation_id: e1 } }]
        content: "{{elicitation.action}}"
resources: [{ uri: "note://a", text: "for {{elicitation.content.who}}" }]
prompts: [{ name: greet, arguments: [{ name: mood, required: true }], messages: [{ content: "{{args.mood}}, {{elicitation.content.who}}" }] }]
methods:
  prompts/get: [{ steps: [{ elicit: { message: Who?, requested_schema: { type: object, properties: {} } } }] }]
  resources/read: [{ steps: [{ elicit: { message: Who?, requested_schema: { type: object, properties: {} } } }] }]
  tools/list: [{ match: { cursor: ask }, steps: [{ elicit: { message: Who?, requested_schema: { type: object, properties: {} } } }] }]
"#;

fn everything() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

fn accepted(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn said(text: &str) -> Value {
    json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "m" })
}

/// Parameters of the next round.
fn next(params: &Value, result: &Value, responses: Value) -> Value {
    let mut params = params.clone();
    params["inputResponses"] = responses;
    params["requestState"] = result["requestState"].clone();
    params
}

#[test]
fn a_call_goes_through_its_rounds_once() {
    let project = Project::new();
    project.file("mock.yaml", ASKING);
    let mut piped = Piped::start(&project, &["mock.yaml", "--call-log", "calls.jsonl"]);
    let mut params = enveloped(
        json!({ "name": "order", "arguments": { "what": "tea" } }),
        &everything(),
    );
    params["_meta"]["progressToken"] = json!("first");
    piped.send(request(1, "tools/call", &params));
    assert_eq!(piped.next()["params"]["progressToken"], "first");
    let asked = piped.next()["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(
        asked["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "mock"
    );
    let expected = json!({
        "user": { "method": "elicitation/create", "params": {
            "message": "Who wants tea?",
            "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
        } },
        "model": { "method": "sampling/createMessage", "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Which kind?" } }],
            "maxTokens": 5,
        } },
    });
    assert_eq!(asked["inputRequests"], expected);
    let ask = |piped: &mut Piped, params: &Value| piped.ask("tools/call", params)["result"].clone();
    // What is missing is asked again, and nothing else.
    let user = accepted(&json!({ "name": "Ada" }));
    params["_meta"]
        .as_object_mut()
        .unwrap()
        .remove("progressToken");
    let second = next(&params, &asked, json!({ "user": user, "other": 1 }));
    let missing = ask(&mut piped, &second);
    assert_eq!(
        missing["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["model"]
    );
    assert_ne!(missing["requestState"], asked["requestState"]);
    // Progress goes with the request that is under way.
    let mut third = next(&params, &missing, json!({ "model": said("green") }));
    third["_meta"]["progressToken"] = json!("third");
    piped.send(request(3, "tools/call", &third));
    let progress = piped.next();
    assert_eq!(
        progress["params"],
        json!({ "progressToken": "third", "progress": 2 })
    );
    let asked = piped.next()["result"].clone();
    let question =
        |result: &Value| result["inputRequests"]["elicitation"]["params"]["message"].clone();
    assert_eq!(question(&asked), "green, Ada?");
    // An answer is the answer to one question.
    let asked = ask(
        &mut piped,
        &next(
            &params,
            &asked,
            json!({ "elicitation": accepted(&json!({})) }),
        ),
    );
    assert_eq!(question(&asked), "Really?");
    let declined = json!({ "elicitation": { "action": "decline" } });
    let asked = ask(&mut piped, &next(&params, &asked, declined));
    let roots = json!({ "roots": { "method": "roots/list", "params": {} } });
    assert_eq!(asked["inputRequests"], roots);
    let roots = json!({ "roots": { "roots": [{ "uri": "file:///a" }] } });
    let last = next(&params, &asked, roots);
    let done = ask(&mut piped, &last);
    assert_eq!(done["resultType"], "complete");
    assert_eq!(done["content"][0]["text"], "Ada green decline file:///a");
    // Neither the round nor the response can be used twice.
    assert_eq!(piped.ask("tools/call", &last)["error"]["code"], -32602);
    assert_eq!(ask(&mut piped, &params)["isError"], true);
    piped.close();
    let log = std::fs::read_to_string(project.path("calls.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
}

#[test]
fn the_same_steps_are_requests_to_the_client_in_a_session() {
    let (_project, mut piped) = Piped::of(ASKING);
    piped.ask("initialize", &json!({ "capabilities": everything() }));
    let params = json!({ "name": "order", "arguments": { "what": "tea" } });
    piped.send(request(9, "tools/call", &params));
    for (method, result) in [
        ("elicitation/create", accepted(&json!({ "name": "Ada" }))),
        ("sampling/createMessage", said("green")),
        ("elicitation/create", accepted(&json!({}))),
        ("elicitation/create", json!({ "action": "decline" })),
        ("roots/list", json!({ "roots": [{ "uri": "file:///a" }] })),
    ] {
        let asked = piped.next();
        assert_eq!(asked["method"], method);
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
        piped.send(answer.to_string());
    }
    let done = piped.next()["result"].clone();
    assert_eq!(done["content"][0]["text"], "Ada green decline file:///a");
    assert!(done.get("resultType").is_none());
}

#[test]
fn what_does_not_belong_to_a_round_is_refused() {
    let (_project, mut piped) = Piped::of(ASKING);
    let params = |what: &str| {
        enveloped(
            json!({ "name": "order", "arguments": { "what": what } }),
            &everything(),
        )
    };
    let asked = piped.ask("tools/call", &params("tea"))["result"].clone();
    let mut other = next(&params("coffee"), &asked, json!({}));
    let code = |piped: &mut Piped, params: &Value| {
        piped.ask("tools/call", params)["error"]["code"].clone()
    };
    assert_eq!(code(&mut piped, &other), -32602);
    other = next(&params("tea"), &asked, json!({}));
    other["requestState"] = json!(format!("{}x", asked["requestState"].as_str().unwrap()));
    assert_eq!(code(&mut piped, &other), -32602);
    other["requestState"] = json!(5);
    assert_eq!(code(&mut piped, &other), -32602);
    assert_eq!(
        code(&mut piped, &next(&params("tea"), &asked, Value::Null)),
        -32602
    );
    // The state is as good as before, and the response is none.
    let bad = next(
        &params("tea"),
        &asked,
        json!({ "user": { "action": "maybe" } }),
    );
    let refused = piped.ask("tools/call", &bad)["error"].clone();
    assert_eq!(refused["code"], -32602);
    assert_eq!(
        refused["message"],
        "`user` is no response to what was asked"
    );
    // Only some requests may take rounds.
    let listing = enveloped(json!({ "cursor": "ask" }), &everything());
    assert_eq!(piped.ask("tools/list", &listing)["error"]["code"], -32603);
}

#[test]
fn prompts_and_resources_ask_too() {
    let (_project, mut piped) = Piped::of(ASKING);
    let who = json!({ "elicitation": accepted(&json!({ "who": "Ada" })) });
    for (method, params, text) in [
        (
            "prompts/get",
            json!({ "name": "greet", "arguments": { "mood": "Hi" } }),
            "Hi, Ada",
        ),
        ("resources/read", json!({ "uri": "note://a" }), "for Ada"),
    ] {
        let params = enveloped(params, &everything());
        let asked = piped.ask(method, &params)["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{method}");
        assert!(asked.get("ttlMs").is_none());
        let done = piped.ask(method, &next(&params, &asked, who.clone()))["result"].clone();
        assert_eq!(done["resultType"], "complete", "{method}");
        let found = done
            .pointer("/messages/0/content/text")
            .or(done.pointer("/contents/0/text"));
        assert_eq!(found, Some(&json!(text)));
        // Who knows what will be asked may say it at once.
        let mut at_once = params.clone();
        at_once["inputResponses"] = who.clone();
        assert_eq!(
            piped.ask(method, &at_once)["result"]["resultType"],
            "complete"
        );
    }
}

#[tokio::test]
async fn only_what_the_client_declares_is_asked() {
    let (_project, served) = Served::of(ASKING, &[]);
    let call = async |tool: &str, capabilities: Value| {
        let params = enveloped(
            json!({ "name": tool, "arguments": { "what": "tea" } }),
            &capabilities,
        );
        let posting = served
            .posting(request(1, "tools/call", &params))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", tool);
        let response = posting.send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json::<Value>().await.unwrap())
    };
    let (status, page) = call("page", json!({ "elicitation": {} })).await;
    assert_eq!((status, &page["error"]["code"]), (400, &json!(-32021)));
    let needed = json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
    assert_eq!(page["error"]["data"], needed);
    let (status, page) = call("page", json!({ "elicitation": { "url": {} } })).await;
    assert_eq!(status, 200);
    let expected =
        json!({ "mode": "url", "message": "Log in", "url": "https://example.com/login" });
    assert_eq!(
        page["result"]["inputRequests"]["elicitation"]["params"],
        expected
    );
    let (status, some) = call("order", json!({ "sampling": {} })).await;
    assert_eq!(status, 200);
    let asked = some["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["model"]);
    let (_project, served) = Served::of(ASKING, &[]);
    let params = json!({ "name": "order", "arguments": { "what": "tea" } });
    let response = served.stateless("tools/call", params).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 400);
    let none: Value = response.json().await.unwrap();
    let needed = json!({ "requiredCapabilities": { "elicitation": {}, "sampling": {} } });
    assert_eq!(none["error"]["data"], needed);
}
