//! The gateway holds messages that no client fetches, up to a bound, and answers always.

use std::time::{Duration, Instant};

use mcp_eval::mcp::{GatewayPlace, Launch, Target, open_gateway};
use mcp_eval::run::Gateway;
use serde_json::{Value, json};

use super::through::{Session, child, events};
use crate::common::Project;

/// How many messages may wait.
const BOUND: usize = 1024;
/// How many the server sends.
const SENT: usize = 3000;

/// A session with a talkative server behind the gateway.
async fn open(faults: &[&str]) -> (Box<dyn Gateway>, Session) {
    let gateway = gateway(child(faults)).await;
    let session = Session::open(&gateway.endpoints()[0].url).await;
    (gateway, session)
}

async fn gateway(launch: Launch) -> Box<dyn Gateway> {
    let target = Target {
        name: "s".to_owned(),
        launch,
        protocol: None,
        inputs: Vec::new(),
        may_be_starting: false,
        if_late: Target::GIVE_MORE,
        connect_timeout: Duration::from_secs(5),
        tool_timeout: Duration::from_secs(30),
        observed: mcp_eval::mcp::Observed::default(),
    };
    open_gateway(
        &[target],
        None,
        GatewayPlace::new(None).unwrap(),
        None,
        &|_| (),
    )
    .await
    .unwrap()
}

fn number(message: &Value) -> usize {
    let number = message["params"]["data"]["n"].as_u64();
    usize::try_from(number.unwrap_or_else(|| panic!("{message}"))).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn an_answer_comes_however_much_came_before_it() {
    // It is not known when the last of them has arrived.
    for patience in [3, 10, 30] {
        // More than pipes and sockets hold, and no client reads.
        let (_gateway, session) = open(&[&format!("talk={SENT}:0:20000")]).await;
        let response = session.call(1, json!({})).await;
        tokio::time::sleep(Duration::from_secs(patience)).await;
        let mut events = events(response, |it| it["id"] == 1).await;
        assert_eq!(events.pop().unwrap()["result"]["content"][0]["text"], "{}");
        let numbers: Vec<usize> = events.iter().map(number).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert!(numbers.len() >= BOUND - 1, "{} of {SENT}", numbers.len());
        if numbers.len() < SENT {
            return;
        }
    }
    panic!("all were held");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn of_what_belongs_to_no_request_the_latest_are_held() {
    // It is not known when the last of them has arrived.
    for patience in [1, 4, 16] {
        let (_gateway, session) = open(&[&format!("talk=0:{SENT}:10")]).await;
        session.call(1, json!({})).await.bytes().await.unwrap();
        tokio::time::sleep(Duration::from_secs(patience)).await;
        let news = session.news().await;
        let news = events(news, |it| number(it) == SENT).await;
        let numbers: Vec<usize> = news.iter().map(number).collect();
        if numbers == (SENT - BOUND + 1..=SENT).collect::<Vec<_>>() {
            return;
        }
        let first = numbers.first();
        assert!(patience < 16, "{} from {first:?}", numbers.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_goes_to_the_request_that_it_is_of() {
    let (_gateway, session) = open(&["reverse=2", "progress"]).await;
    let calls = [session.call(7, json!({})), session.call(8, json!({}))];
    for response in futures_util::future::join_all(calls).await {
        let messages = events(response, |it| it["id"].is_u64()).await;
        let id = &messages.last().unwrap()["id"];
        let tokens = messages.iter().map(|it| &it["params"]["progressToken"]);
        assert_eq!(tokens.collect::<Vec<_>>(), [id, &Value::Null]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_at_a_time_listens_to_what_belongs_to_no_request() {
    let (_gateway, session) = open(&[]).await;
    let first = session.news().await;
    let _second = session.news().await;
    assert_eq!(events(first, |_| false).await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_client_that_went_away_takes_nothing_with_it() {
    let (_gateway, session) = open(&["hang", "tell"]).await;
    let call = tokio::time::timeout(Duration::from_secs(1), session.call(1, json!({})));
    assert!(call.await.is_err());
    let notification =
        json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "n": 1 } });
    // On a busy machine it takes a moment until it is known that the client went away.
    let again_and_again = async {
        loop {
            assert_eq!(session.send(&notification).await.status(), 202);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let news = events(session.news().await, |it| it["params"]["n"] == 1);
    let news = tokio::select! {
        it = news => it,
        () = again_and_again => unreachable!("it has no end"),
    };
    assert_eq!(news.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_after_the_end_of_its_server_is_answered_at_once() {
    let (_gateway, session) = open(&["die-after=0"]).await;
    let begun = Instant::now();
    for id in 1..=2 {
        let answer = session.call(id, json!({})).await.text().await.unwrap();
        assert!(answer.contains("exited with code 7"), "{answer}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_ended_is_gone() {
    let (_gateway, session) = open(&[]).await;
    let end = session.client.delete(&session.url);
    let end = end.header("Mcp-Session-Id", &session.id).send().await;
    assert_eq!(end.unwrap().status(), 204);
    assert_eq!(session.call(1, json!({})).await.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_session_that_cannot_begin_leaves_nothing() {
    let project = Project::new();
    let runs = format!("runs={}:.s", project.path("runs").display());
    let mut launch = child(&[&runs]);
    if let Launch::Child(command) = &mut launch {
        command.cwd = Some(project.path(""));
    }
    let gateway = gateway(launch).await;
    let answer = Session::at(&gateway.endpoints()[0].url).hello().await;
    assert_eq!(answer.status(), 502);
    let said = answer.text().await.unwrap();
    assert!(said.contains("did not get ready within 5s"), "{said}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(project.survivors(), [""; 0]);
}
