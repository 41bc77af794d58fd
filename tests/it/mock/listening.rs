//! `subscriptions/listen`: news for those that ask for them by a request.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::client::{Piped, Served, enveloped, events, request};

const CHANGING: &str = r#"
tools:
  - name: change
    responses:
      - steps: [{ list_changed: tools }, { list_changed: prompts }, { update_resource: "note://a" }, { update_resource: "note://b" }]
        content: changed
resources: [{ uri: "note://a", text: a }, { uri: "note://b", text: b }]
"#;

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listening(id: u64, wanted: &Value) -> String {
    let params = enveloped(json!({ "notifications": wanted }), &json!({}));
    request(id, "subscriptions/listen", &params)
}

fn changing() -> String {
    let params = enveloped(json!({ "name": "change" }), &json!({}));
    request(100, "tools/call", &params)
}

#[test]
fn each_subscription_gets_what_it_asked_for_and_an_end() {
    let (_project, mut piped) = Piped::of(CHANGING);
    let uris = json!(["note://a", "note://nope"]);
    piped.send(listening(
        7,
        &json!({ "resourceSubscriptions": uris, "promptsListChanged": true, "taskIds": ["x"] }),
    ));
    let granted = piped.next();
    assert_eq!(
        granted["method"],
        "notifications/subscriptions/acknowledged"
    );
    // The server has no prompts, and no such resource.
    let expected =
        json!({ "_meta": { ID: 7 }, "notifications": { "resourceSubscriptions": ["note://a"] } });
    assert_eq!(granted["params"], expected);
    piped.send(listening(8, &json!({ "toolsListChanged": true })));
    let expected = json!({ "_meta": { ID: 8 }, "notifications": { "toolsListChanged": true } });
    assert_eq!(piped.next()["params"], expected);
    piped.send(changing());
    let mut came: Vec<Value> = (0..3).map(|_| piped.next()).collect();
    came.sort_by_key(|it| it["params"]["_meta"][ID].as_u64());
    assert_eq!(came[0]["id"], 100);
    assert_eq!(came[1]["method"], "notifications/resources/updated");
    assert_eq!(
        came[1]["params"],
        json!({ "uri": "note://a", "_meta": { ID: 7 } })
    );
    assert_eq!(came[2]["method"], "notifications/tools/list_changed");
    assert_eq!(came[2]["params"], json!({ "_meta": { ID: 8 } }));
    // Nothing more comes for what is cancelled; the server ends the other when the client leaves.
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 8 } });
    piped.send(cancelled.to_string());
    piped.send(changing());
    let mut came = [piped.next(), piped.next()];
    came.sort_by_key(|it| it["id"].as_u64());
    assert_eq!(came[0]["params"]["_meta"][ID], 7);
    assert_eq!(came[1]["id"], 100);
    let (rest, code) = piped.close();
    let rest: Vec<Value> = rest
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!((rest.len(), code), (2, 0), "{rest:?}");
    assert_eq!(
        (&rest[0]["method"], &rest[0]["params"]["requestId"]),
        (&json!("notifications/cancelled"), &json!(7))
    );
    let expected = json!({ "resultType": "complete", "_meta": { ID: 7 } });
    assert_eq!((&rest[1]["id"], &rest[1]["result"]), (&json!(7), &expected));
}

#[test]
fn without_a_subscription_there_are_no_news() {
    let (_project, mut piped) = Piped::of(CHANGING);
    piped.send(changing());
    assert_eq!(piped.next()["id"], 100);
    let bad = enveloped(json!({ "notifications": [] }), &json!({}));
    assert_eq!(
        piped.ask("subscriptions/listen", &bad)["error"]["code"],
        -32602
    );
    // In a session there are no such streams.
    let (_project, mut old) = Piped::of(&format!("supports: [legacy]\n{CHANGING}"));
    let wanted = enveloped(json!({ "notifications": {} }), &json!({}));
    assert_eq!(
        old.ask("subscriptions/listen", &wanted)["error"]["code"],
        -32601
    );
}

#[tokio::test]
async fn over_http_the_stream_stays_open() {
    let (_project, served) = Served::of(CHANGING, &[]);
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let response = served
        .stateless("subscriptions/listen", wanted)
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.bytes_stream();
    let called = served
        .stateless("tools/call", json!({ "name": "change" }))
        .send()
        .await
        .unwrap();
    assert_eq!(called.status(), 200);
    let mut text = String::new();
    while events(&text).len() < 2 {
        text.push_str(std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap());
    }
    let came = events(&text);
    assert_eq!(
        came[0]["params"]["notifications"],
        json!({ "toolsListChanged": true })
    );
    assert_eq!(came[1]["method"], "notifications/tools/list_changed");
    assert_eq!(came[1]["params"]["_meta"][ID], 1);
    let more = tokio::time::timeout(Duration::from_millis(100), stream.next()).await;
    assert!(more.is_err(), "neither an end nor other news: {more:?}");
}
