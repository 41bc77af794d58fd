//! The gateway's records of calls that do not go the usual way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use futures_util::{FutureExt, StreamExt, stream};
use mcp_eval::model::{Ending, FailureKind, Outcome, ToolCall, Trajectory};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::through::{Answering, Session, child, events, recorded_run, respond, web};
use crate::common::Project;

const LONG: Duration = Duration::from_secs(30);
const STREAM: &str = "text/event-stream";

fn outcome(call: &ToolCall) -> String {
    said(&call.outcome)
}

fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answer(answer) => answer.text(),
        Outcome::Failure(failure) => format!("{:?}: {}", failure.kind, failure.message),
    }
}

#[track_caller]
fn only(trajectory: &Trajectory) -> &ToolCall {
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    assert_eq!(calls.len(), 1, "{trajectory:#?}");
    calls[0]
}

fn reply(id: &Value, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_client_that_does_not_wait_has_no_answer() {
    let work = |url: String| async move {
        let session = Session::open(&url).await;
        let _ = timeout(Duration::from_secs(1), session.call(1, json!({}))).await;
        sleep(Duration::from_secs(1)).await;
    };
    let trajectory = recorded_run(child(&["hang"]), LONG, false, work).await;
    let said = outcome(only(&trajectory));
    assert_eq!(
        said,
        "Disconnected: the agent went away before the answer came"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_server_is_notified_that_nobody_waits_any_more() {
    // Both for the client's call and for the gateway's own.
    for (faults, again, id) in [
        (["hang", "tell"], false, 1),
        (["hang-after=1", "tell"], true, 2_147_483_647_i64),
    ] {
        let received = Arc::new(Mutex::new(Vec::new()));
        let then = Arc::clone(&received);
        let work = move |url: String| async move {
            let session = Session::open(&url).await;
            session.call(1, json!({})).await.bytes().await.unwrap();
            let news = session.news().await;
            let cancelled = |it: &Value| it["params"]["requestId"].is_i64();
            *then.lock().unwrap() = events(news, cancelled).await;
        };
        let trajectory = recorded_run(child(&faults), Duration::from_secs(1), again, work).await;
        let received = received.lock().unwrap().clone();
        assert_eq!(received.last().unwrap()["params"]["requestId"], id);
        let call = only(&trajectory);
        let last = call.again.first().unwrap_or(&call.outcome);
        assert!(
            matches!(last, Outcome::Failure(it) if it.kind == FailureKind::Timeout),
            "{call:?}"
        );
    }
}

/// The answers of a server over HTTP without sessions: to a list that takes its time, and to a call that takes longer.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn without_sessions_an_answer_belongs_to_its_own_request() {
    let answering: Arc<Answering> = Arc::new(|_, message: Value, _| {
        async move {
            let is_call = message["method"] == "tools/call";
            sleep(Duration::from_millis(if is_call { 1500 } else { 500 })).await;
            let text = if is_call {
                "of the call"
            } else {
                "of the other"
            };
            let event = format!("data: {}\n\n", reply(&message["id"], text));
            let mut response = respond(200, STREAM, event);
            response.headers_mut().remove("mcp-session-id");
            response
        }
        .boxed()
    });
    let work = |url: String| async move {
        let session = Session::at(&url);
        let other = session.post(1, "tools/list", json!({ "slow": true }));
        tokio::join!(session.call(1, json!({})), other);
    };
    let trajectory = recorded_run(web(answering).await, LONG, false, work).await;
    assert_eq!(outcome(only(&trajectory)), "of the call");
}

/// A body of pieces, each of which comes after a while.
fn pieces(pieces: Vec<(u64, String)>) -> Body {
    let pieces = stream::iter(pieces).then(|(ms, piece)| async move {
        sleep(Duration::from_millis(ms)).await;
        Ok::<_, std::io::Error>(piece)
    });
    Body::from_stream(pieces)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_stream_may_go_on_after_its_answer() {
    let answering: Arc<Answering> = Arc::new(|_, message: Value, _| {
        let later = json!({ "jsonrpc": "2.0", "method": "notifications/later" });
        let answer = format!("data: {}\n\n", reply(&message["id"], "here"));
        let body = pieces(vec![(0, answer), (1500, format!("data: {later}\n\n"))]);
        std::future::ready(respond(200, STREAM, body)).boxed()
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let then = Arc::clone(&seen);
    let work = |url: String| async move {
        let response = Session::open(&url).await.call(1, json!({})).await;
        *then.lock().unwrap() = events(response, |_| false).await;
    };
    let trajectory = recorded_run(
        web(answering).await,
        Duration::from_millis(700),
        false,
        work,
    )
    .await;
    assert_eq!(outcome(only(&trajectory)), "here");
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[1]["method"], "notifications/later");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_with_ids_that_breaks_off_can_be_taken_up_again() {
    for (with_ids, expected) in [
        (true, "by another way"),
        (false, "Disconnected: the stream ended without an answer"),
    ] {
        let answering: Arc<Answering> = Arc::new(move |method: &str, message: Value, _| {
            let body = if method == "GET" {
                format!("data: {}\n\n", reply(&json!(77), "by another way"))
            } else {
                let progress = json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": message["id"] });
                let id = if with_ids { "id: 7\n" } else { "" };
                format!("{id}data: {progress}\n\n")
            };
            std::future::ready(respond(200, STREAM, body)).boxed()
        });
        let work = |url: String| async move {
            let session = Session::open(&url).await;
            session.call(77, json!({})).await.bytes().await.unwrap();
            // With an id that no other session has.
            session.news().await.bytes().await.unwrap();
        };
        // Asked again, it would come by a way that only a client can go: that is no news of the server.
        let trajectory = recorded_run(web(answering).await, LONG, true, work).await;
        assert_eq!(outcome(only(&trajectory)), expected);
        assert_eq!(only(&trajectory).again, []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_access_is_recognized_by_its_status() {
    for (before, expected) in [(0, "HTTP 401 Unauthorized"), (1, "in")] {
        let answering: Arc<Answering> = Arc::new(move |_, message: Value, asked| {
            let id = &message["id"];
            let response = if asked < before {
                respond(200, "application/json", reply(id, "in").to_string())
            } else {
                let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": "who?" } });
                respond(401, "application/json", error.to_string())
            };
            std::future::ready(response).boxed()
        });
        let work = |url: String| async move {
            let session = Session::open(&url).await;
            session.call(1, json!({})).await.bytes().await.unwrap();
        };
        let trajectory = recorded_run(web(answering).await, LONG, true, work).await;
        let call = only(&trajectory);
        assert!(outcome(call).contains(expected), "{call:?}");
        // A third time, too: an answer and a failure are not of a kind.
        assert_eq!(call.again.len(), 2 * before, "{call:?}");
        let again = call.again.iter().map(said);
        assert!(
            again.into_iter().all(|it| it.contains("HTTP 401")),
            "{call:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_gateway_asks_itself_is_answered_to_it_alone() {
    for stream in [false, true] {
        let ids = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&ids);
        let answering: Arc<Answering> = Arc::new(move |_, message: Value, asked| {
            if message["method"] == "tools/call" {
                seen.lock().unwrap().push(message.clone());
            }
            let answer = reply(&message["id"], &format!("answer {asked}"));
            let response = if stream {
                // What is not its answer is passed over.
                let other = reply(&json!("other"), "other");
                respond(200, STREAM, format!("data: {other}\n\ndata: {answer}\n\n"))
            } else {
                respond(200, "application/json", answer.to_string())
            };
            std::future::ready(response).boxed()
        });
        let work = |url: String| async move {
            let session = Session::open(&url).await;
            let text = session.call(1, json!({})).await.text().await.unwrap();
            assert!(text.contains("answer 0") && !text.contains("answer 1"));
            let call = json!({ "jsonrpc": "2.0", "id": "text", "method": "tools/call", "params": { "name": "echo" } });
            session.send(&call).await.bytes().await.unwrap();
        };
        let trajectory = recorded_run(web(answering).await, LONG, true, work).await;
        let again: Vec<String> = trajectory.calls().map(|it| said(&it.again[0])).collect();
        assert_eq!(again, ["answer 1", "answer 3"], "{:?}", trajectory.ending);
        let asked = ids.lock().unwrap();
        // Ids are of the type that the client uses, and progress is asked for by the client alone.
        assert!(
            asked[1]["id"].is_i64() && asked[3]["id"].is_string(),
            "{asked:?}"
        );
        assert_eq!(asked[0]["params"]["_meta"]["progressToken"], 1);
        assert_eq!(asked[1]["params"]["_meta"], json!({}));
        assert_eq!(asked[1]["params"]["arguments"], json!({}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_client_can_answer_is_no_news_of_the_server() {
    let answering: Arc<Answering> = Arc::new(|_, message: Value, asked| {
        let answer = reply(&message["id"], "told");
        let question =
            json!({ "jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage", "params": {} });
        let body = match asked {
            0 => pieces(vec![(0, format!("data: {answer}\n\n"))]),
            _ => pieces(vec![
                (0, format!("data: {question}\n\n")),
                (20_000, String::new()),
            ]),
        };
        std::future::ready(respond(200, STREAM, body)).boxed()
    });
    let begun = Instant::now();
    let work = |url: String| async move {
        let session = Session::open(&url).await;
        session.call(1, json!({})).await.bytes().await.unwrap();
    };
    let trajectory = recorded_run(web(answering).await, LONG, true, work).await;
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert_eq!(only(&trajectory).again, []);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn what_an_effect_meanwhile_may_have_changed_is_not_taken_for_variation() {
    // The effect comes between the two answers of the read, whichever of the calls began first.
    for effect_first in [true, false] {
        for (matters, expected) in [(true, vec![]), (false, vec!["before".to_owned()])] {
            let is_written = Arc::new(AtomicBool::new(false));
            let answering: Arc<Answering> = Arc::new(move |_, message: Value, _| {
                let is_written = Arc::clone(&is_written);
                async move {
                    let writes = message["params"]["name"] == "write";
                    sleep(Duration::from_millis(if writes { 1000 } else { 700 })).await;
                    let seen = is_written.fetch_or(writes && matters, Ordering::SeqCst);
                    let text = if seen { "after" } else { "before" };
                    respond(
                        200,
                        "application/json",
                        reply(&message["id"], text).to_string(),
                    )
                }
                .boxed()
            });
            let work = move |url: String| async move {
                let session = Session::open(&url).await;
                let tools = if effect_first {
                    ["write", "look"]
                } else {
                    ["look", "write"]
                };
                let second = async {
                    sleep(Duration::from_millis(100)).await;
                    session.call_of(2, tools[1]).await
                };
                tokio::join!(session.call_of(1, tools[0]), second);
            };
            let trajectory = recorded_run(web(answering).await, LONG, true, work).await;
            let read = trajectory.calls().find(|it| it.tool == "look").unwrap();
            assert_eq!(outcome(read), "before");
            let again: Vec<String> = read.again.iter().map(said).collect();
            assert_eq!(again, expected, "{effect_first}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_a_batch_have_their_own_answers() {
    let answering: Arc<Answering> = Arc::new(|_, message: Value, _| {
        let calls = message.as_array().cloned().unwrap_or_default();
        let answers = calls
            .iter()
            .rev()
            .map(|it| reply(&it["id"], &it["id"].to_string()));
        let answers: Value = answers.collect();
        std::future::ready(respond(200, "application/json", answers.to_string())).boxed()
    });
    let work = |url: String| async move {
        let session = Session::open(&url).await;
        let call = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "write" } });
        session.send(&json!([call(3), call(4)])).await;
    };
    let trajectory = recorded_run(web(answering).await, LONG, true, work).await;
    let answers: Vec<String> = trajectory.calls().map(outcome).collect();
    assert_eq!(answers, ["3", "4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_asks_while_only_the_gateway_waits_is_refused() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let then = Arc::clone(&received);
    let work = |url: String| async move {
        let session = Session::open(&url).await;
        session.call(1, json!({})).await.bytes().await.unwrap();
        let news = session.news().await;
        *then.lock().unwrap() = events(news, |it| it["params"]["error"].is_object()).await;
    };
    let trajectory = recorded_run(child(&["ask-after=1", "tell"]), LONG, true, work).await;
    let received = received.lock().unwrap();
    assert_eq!(received.last().unwrap()["params"]["error"]["code"], -32601);
    assert!(
        received
            .iter()
            .all(|it| it["method"] != "sampling/createMessage"),
        "{received:?}"
    );
    assert_eq!(only(&trajectory).again.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_server_that_is_gone_or_never_ready_ends_the_run() {
    let project = Project::new();
    let runs = format!("runs={}:.s", project.path("runs").display());
    for (fault, expected) in [
        (runs.as_str(), "did not get ready within 5s"),
        ("die-after=0", "exited with code 7"),
    ] {
        let begun = Instant::now();
        let work = |url: String| async move {
            let session = Session::open(&url).await;
            let _ = session.call(1, json!({})).await;
            sleep(LONG).await;
        };
        let trajectory = recorded_run(child(&[fault]), LONG, false, work).await;
        let Ending::Error { message, .. } = &trajectory.ending else {
            panic!("{:?}", trajectory.ending);
        };
        assert!(message.contains(expected), "{message}");
        assert!(begun.elapsed() < LONG);
    }
}
