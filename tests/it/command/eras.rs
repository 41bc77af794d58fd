//! Clients of both eras of MCP through the gateway: each request is passed on in its own.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use mcp_eval::model::{Client, Redacted, Trajectory};
use serde_json::{Value, json};

use super::through::{Answering, Session, child, events, recorded_run, respond, web};

const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";
const PATIENCE: Duration = Duration::from_secs(60);

/// The parameters of a request that stands by itself.
fn stateless(mut params: Value, can: &Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": can,
    });
    params
}

async fn ask(session: &Session, id: usize, method: &str, params: Value) -> (u16, Value) {
    let response = session.post(id, method, params).await;
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

fn client(run: &Redacted<Trajectory>) -> &Client {
    &run.catalogue.servers[0].client
}

fn spoken(run: &Redacted<Trajectory>) -> (Option<&str>, Option<&str>) {
    let client = client(run);
    (client.wanted.as_deref(), client.spoke.as_deref())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_no_session_is_passed_on_without_one() {
    for faults in [&["dual"][..], &["newer"]] {
        let run = recorded_run(child(faults), PATIENCE, false, |url| async move {
            let session = Session::at(&url);
            let plain = |params| stateless(params, &json!({}));
            let (status, discovered) = ask(&session, 1, "server/discover", plain(json!({}))).await;
            assert_eq!(status, 200);
            assert_eq!(discovered["result"]["supportedVersions"], json!([NEWER]));
            let (_, listed) = ask(&session, 2, "tools/list", plain(json!({}))).await;
            assert_eq!(listed["result"]["tools"][0]["name"], "echo");
            let call = json!({ "name": "echo", "arguments": { "a": 1 } });
            let (status, called) = ask(&session, 3, "tools/call", plain(call)).await;
            assert_eq!((status, &called["id"]), (200, &json!(3)));
            // What is no method there has the status that the revision gives it.
            let (status, refused) = ask(&session, 4, "ping", plain(json!({}))).await;
            assert_eq!((status, &refused["error"]["code"]), (404, &json!(-32601)));
        })
        .await;
        assert!(run.ending.is_complete(), "{:?}", run.ending);
        assert_eq!(run.calls().count(), 1);
        assert_eq!(spoken(&run), (Some(NEWER), Some(NEWER)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_new_era_is_told_to_begin_a_session_where_the_server_needs_one() {
    // One that answers with an error, and one that ends.
    for faults in [&[][..], &["strict"]] {
        let run = recorded_run(child(faults), PATIENCE, false, |url| async move {
            let session = Session::at(&url);
            for id in 1..3 {
                let params = stateless(json!({}), &json!({}));
                let (status, refused) = ask(&session, id, "server/discover", params).await;
                assert_eq!((status, &refused["error"]["code"]), (200, &json!(-32601)));
            }
            let session = Session::open(&url).await;
            let called = session.call(3, json!({ "a": 1 })).await;
            assert_eq!(called.status(), 200);
            assert!(called.text().await.unwrap().contains("content"));
        })
        .await;
        assert!(run.ending.is_complete(), "{:?}", run.ending);
        assert_eq!(run.calls().count(), 1);
        assert_eq!(spoken(&run), (Some(NEWER), Some(OLDER)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_said_of_a_client_that_wants_a_session() {
    let run = recorded_run(child(&["dual"]), PATIENCE, false, |url| async move {
        let session = Session::open(&url).await;
        session.call(1, json!({})).await.text().await.unwrap();
    })
    .await;
    assert_eq!(*client(&run), Client::default());
}

/// Calls, and where the server wants to know something, calls again with this answer.
async fn in_rounds(url: String, answer: Option<Value>) {
    let session = Session::at(&url);
    let can = json!({ "elicitation": {} });
    let call = json!({ "name": "echo", "arguments": { "a": 1 } });
    let first = stateless(call.clone(), &can);
    let (_, asked) = ask(&session, 1, "tools/call", first).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    let Some(answer) = answer else { return };
    let mut again = stateless(call, &can);
    again["inputResponses"] = json!({ "q": answer });
    again["requestState"] = asked["result"]["requestState"].clone();
    let (_, answered) = ask(&session, 2, "tools/call", again).await;
    let text = &answered["result"]["content"][0]["text"];
    assert!(text.as_str().unwrap().contains("Lisbon"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_questions_is_one_call_with_what_was_asked_and_answered() {
    let over_http: Arc<Answering> = Arc::new(|_, message, before| {
        let answers = message["params"]["inputResponses"].to_string();
        let result = match before {
            0 => json!({
                "resultType": "input_required",
                "requestState": "x",
                "inputRequests": { "q": { "method": "elicitation/create", "params": { "message": "Which city?" } } },
            }),
            _ => json!({
                "resultType": "complete",
                "content": [{ "type": "text", "text": answers }],
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "web", "version": "1" } },
            }),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        async move { respond(200, "application/json", answer.to_string()) }.boxed()
    });
    for launch in [
        child(&["newer", "input=elicitation/create"]),
        web(over_http).await,
    ] {
        let answer = json!({ "action": "accept", "content": { "city": "Lisbon" } });
        let given = answer.clone();
        let run = recorded_run(launch, PATIENCE, true, |url| in_rounds(url, Some(given))).await;
        let calls: Vec<_> = run.calls().collect();
        assert_eq!(calls.len(), 1, "{calls:#?}");
        let answered = calls[0].outcome.answer().unwrap();
        assert!(answered.text().contains("Lisbon"), "{answered:?}");
        let asked = answered.asked().unwrap();
        assert_eq!(asked["1 elicitation"]["message"], "Which city?");
        // The question is all that is kept beside the content.
        assert_eq!(answered.other.len(), 1, "{:?}", answered.other);
        let client = client(&run);
        assert!(client.capabilities.contains_key("elicitation"));
        assert_eq!(client.answers.len(), 1);
        assert_eq!(client.answers[0].result, Some(answer));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_not_made_again_has_failed() {
    let launch = child(&["newer", "input=elicitation/create"]);
    let run = recorded_run(launch, PATIENCE, false, |url| in_rounds(url, None)).await;
    let calls: Vec<_> = run.calls().collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        calls[0].outcome.said(),
        "asked for elicitation, and the client did not call again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn news_goes_to_its_subscription_which_ends_with_its_client() {
    let launch = child(&["newer", "listens"]);
    let run = recorded_run(launch, PATIENCE, false, |url| async move {
        let session = Session::at(&url);
        let plain = |params| stateless(params, &json!({}));
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let listening = session.post(1, "subscriptions/listen", plain(wanted));
        let listening = listening.await;
        let call = |id| ask(&session, id, "tools/call", plain(json!({ "name": "echo" })));
        // What comes before the answer, and is none of its business, is not in it.
        let (status, called) = call(2).await;
        assert_eq!((status, &called["id"]), (200, &json!(2)));
        let changed = "notifications/tools/list_changed";
        let heard = events(listening, |it| it["method"] == changed).await;
        assert_eq!(heard.len(), 2, "{heard:#?}");
        assert_eq!(
            heard[0]["method"],
            "notifications/subscriptions/acknowledged"
        );
        // The client has gone with the response, and the server gets to know.
        for id in 3.. {
            assert!(id < 3000, "the server never got to know");
            let (_, called) = call(id).await;
            let text = called["result"]["content"][0]["text"].as_str().unwrap();
            if text == r#"{"cancelled":1}"# {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(run.ending.is_complete(), "{:?}", run.ending);
}
