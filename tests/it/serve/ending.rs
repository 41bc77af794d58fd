//! The end of a server: by a signal, and by force.

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Events, Server, with};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn what_runs_may_end_within_the_grace() {
    for signal in ["-INT", "-TERM"] {
        let desk = Desk::with_model(
            "llm_interactions:\n  - { tool_calls: [{ name: mcp__shop__buy, arguments: {} }], delay: 1s }\n  - { text: Done. }\n",
        );
        let server = Server::start(&desk.project, &["--grace", "100"]);
        let mut events = Events::open(server.request(Method::GET, "events")).await;
        let running = tokio::spawn(
            server
                .request(Method::POST, "run")
                .json(&desk.case(&["buy"]))
                .send(),
        );
        let _ = events.until(|it| it.kind == "started").await;
        server.signal(signal);
        let reply: Value = running.await.unwrap().unwrap().json().await.unwrap();
        assert_eq!(reply["success"], true, "{reply:#}");
        // Those who look on get events to the end.
        let received = events.until(|it| it.kind == "verdict").await;
        assert_eq!(received.last().unwrap().data["success"], true);
        assert_eq!(events.next().await, None);
        assert_eq!(server.end().0, Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_second_signal_stops_what_runs() {
    let desk = Desk::with_model("llm_interactions: [{ fault: hang }]\n");
    let server = Server::start(&desk.project, &["--grace", "1000"]);
    let mut events = Events::open(server.request(Method::GET, "events")).await;
    let running = tokio::spawn(
        server
            .request(Method::POST, "run")
            .json(&desk.case(&[]))
            .send(),
    );
    let _ = events.until(|it| it.kind == "started").await;
    server.signal("-INT");
    // Those that pass signals on let one come twice; the second is one when it comes later.
    let mut second = std::process::Command::new("sleep")
        .arg("0.7")
        .spawn()
        .unwrap();
    second.wait().unwrap();
    server.signal("-INT");
    let reply: Value = running.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(reply["status"], "interrupted", "{reply:#}");
    assert_eq!(server.end().0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_loses_no_result_that_was_finished() {
    let desk = Desk::with_model(
        "llm_interactions:\n  - { tool_calls: [{ name: mcp__shop__buy, arguments: {} }], expect: { user: { contains: quick } } }\n  - { text: Done. }\n",
    );
    let slow = Desk::with_model("llm_interactions: [{ fault: hang }]\n");
    let server = Server::start(&desk.project, &[]);
    let quick = |number: usize| {
        with(
            &desk.case(&["buy"]),
            &json!({ "name": format!("quick {number}"), "prompt": "Be quick." }),
        )
    };
    let before = server.run(&quick(0)).await;
    // A batch whose last case hangs.
    let cases = [
        quick(1),
        quick(2),
        with(&slow.case(&[]), &json!({ "name": "slow" })),
    ];
    let body = json!({ "testCases": cases });
    let mut events = Events::open(server.request(Method::POST, "run-batch").json(&body)).await;
    let (one, two) = (events.next().await.unwrap(), events.next().await.unwrap());
    // They are written behind the event; whoever asks for them waits for that.
    for it in [&one, &two] {
        let id = it.data["resultId"].as_str().unwrap();
        assert_eq!(server.get(&format!("results/{id}")).await.0, 200);
    }
    server.signal("-KILL");
    assert_eq!(server.end().0, None);
    let file = desk.project.path(".mcp-eval/serve.json");
    assert!(file.exists(), "nobody could remove it");

    // Who asks before anybody else writes gets to know that nobody knows what would have come of the last.
    desk.project
        .expect(3, &["history", "--format", "e2e"])
        .says("[INTERRUPTED] slow")
        .says_not("Test ");
    let server = Server::start(&desk.project, &[]);
    for reply in [&before, &one.data, &two.data] {
        let id = reply["resultId"].as_str().unwrap();
        let (status, kept) = server.get(&format!("results/{id}")).await;
        assert_eq!(status, 200, "{kept}");
        assert_eq!(
            (&kept["success"], &kept["toolCalls"]),
            (&json!(true), &reply["toolCalls"])
        );
    }
    let (_, list) = server.get("results").await;
    assert_eq!(list["total"], 4, "{list:#}");
    // What went on then goes on no more.
    let killed = one.data["runId"].as_str().unwrap();
    let (_, killed) = server.get(&format!("runs/{killed}")).await;
    assert_eq!(killed["status"], "interrupted", "{killed:#}");
    let announced: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(announced["url"], server.url);
    assert_eq!(server.run(&quick(3)).await["success"], true);
}
