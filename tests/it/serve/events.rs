//! The stream of events.

use reqwest::Method;
use serde_json::json;

use super::desk::{Desk, Event, Events, Server, with};

fn of<'a>(events: &'a [Event], name: &str) -> Vec<&'a Event> {
    events.iter().filter(|it| it.data["name"] == name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_runs_is_sent_and_can_be_had_again() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let listen = |last: Option<&str>| {
        let request = server.request(Method::GET, "events");
        let request = match last {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        Events::open(request)
    };
    let mut events = listen(None).await;
    let one = with(&desk.case(&["get_price"]), &json!({ "name": "one" }));
    let reply = server.run(&one).await;
    let seen = events.until(|it| it.kind == "verdict").await;
    assert_eq!(seen[0].kind, "started");
    assert_eq!(seen[0].data["name"], "one");
    let calls: Vec<&Event> = seen.iter().filter(|it| it.kind == "tool_call").collect();
    assert_eq!(calls[0].data["state"], "calling");
    assert_eq!(calls[1].data["state"], "ok");
    assert_eq!(calls[1].data["tool"], "mcp__shop__get_price");
    assert!(seen.iter().any(|it| it.kind == "step"), "{seen:#?}");
    let verdict = seen.last().unwrap();
    assert_eq!(verdict.data["resultId"], reply["resultId"]);
    assert_eq!(verdict.data["success"], true);
    assert_eq!(verdict.data["verdict"], reply["verdict"]);
    for it in &seen {
        assert_eq!(it.data["runId"], reply["runId"], "{it:?}");
        assert!(!it.id.is_empty());
    }

    // Whoever was away gets what came behind the last that they saw, and nothing twice.
    let two = with(&one, &json!({ "name": "two" }));
    let _ = server.run(&two).await;
    let mut resumed = listen(Some(&seen[0].id)).await;
    let again = resumed
        .until(|it| it.kind == "verdict" && it.data["name"] == "two")
        .await;
    assert_eq!(of(&again, "one"), seen[1..].iter().collect::<Vec<_>>());
    assert_eq!(of(&again, "two")[0].kind, "started");
    let mut late = listen(Some(&again.last().unwrap().id)).await;
    let three = with(&one, &json!({ "name": "three" }));
    let _ = server.run(&three).await;
    assert_eq!(late.next().await.unwrap().data["name"], "three");

    // An id of which nobody knows gets one notice that something is lost, and what there is.
    for unknown in ["0-0", "nonsense"] {
        let mut reset = listen(Some(unknown)).await;
        let received = reset.until(|it| it.kind == "verdict").await;
        assert_eq!(received[0].kind, "reset");
        assert_eq!(received[0].id, "");
        assert_eq!(received.iter().filter(|it| it.kind == "reset").count(), 1);
        assert_eq!(received[1..], seen[..]);
    }
    // The stream ends with the server.
    server.signal("-TERM");
    while late.next().await.is_some() {}
    assert_eq!(server.end().0, Some(0));
}
