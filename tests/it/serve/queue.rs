//! The queue: how many run at once, and how many wait.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Events, Server, with};
use crate::common::{Project, faulty_server, many, served};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn requests_without_room_learn_when_to_come_again() {
    let desk = Desk::with_model("llm_interactions: [{ fault: hang }]\n");
    let server = Server::start(
        &desk.project,
        &["--max-concurrent", "1", "--queue", "1", "--grace", "0"],
    );
    let mut events = Events::open(server.request(Method::GET, "events")).await;
    let hanging = desk.case(&[]);
    let first = tokio::spawn(server.request(Method::POST, "run").json(&hanging).send());
    let _ = events.until(|it| it.kind == "started").await;
    let second = tokio::spawn(server.request(Method::POST, "run").json(&hanging).send());
    let state = async || server.get("status").await.1;
    while state().await["queued"] != 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(state().await["running"], 1);
    let refused = server.request(Method::POST, "run").json(&hanging);
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "1");
    let reply: Value = refused.json().await.unwrap();
    assert!(
        reply["error"].as_str().unwrap().contains("try again later"),
        "{reply}"
    );
    // What waits in vain is refused, and what runs is stopped; both get an answer.
    server.signal("-TERM");
    let first = first.await.unwrap().unwrap();
    assert_eq!(first.status(), 200);
    let first: Value = first.json().await.unwrap();
    assert_eq!(first["status"], "interrupted", "{first:#}");
    assert_eq!(second.await.unwrap().unwrap().status(), 503);
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        desk.project.survivors().len() <= 2,
        "the shop and the model alone are left"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_can_never_have_room_is_malformed() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &["--max-concurrent", "1", "--queue", "1"]);
    let cases = vec![desk.case(&[]); 3];
    let (status, reply) = server
        .post("run-batch", &json!({ "testCases": cases }))
        .await;
    assert_eq!(status, 400, "{reply:#}");
    assert!(
        reply["error"].as_str().unwrap().contains("2 runs at most"),
        "{reply:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn many_runs_at_once_are_all_right() {
    let desk = Desk::new();
    desk.project.file(
        "scenarios/price.yaml",
        format!(
            "name: Price\nservers: {{ shop: {{ type: mock }} }}\n\
             expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: tea }} }}]\n{}",
            super::desk::SHOP
        ),
    );
    let server = Server::start(&desk.project, &[]);
    let all = many(200);
    let asked = (0..all).map(|number| {
        let body = if number % 2 == 0 {
            json!({ "scenario": "price" })
        } else {
            let expected = if number % 4 == 1 { "get_price" } else { "buy" };
            with(
                &desk.case(&[expected]),
                &json!({ "name": format!("case {number}") }),
            )
        };
        let request = server.request(Method::POST, "run").json(&body);
        tokio::spawn(async move { (number, super::desk::answer(request).await) })
    });
    let asked: Vec<_> = asked.collect();
    let mut ids = std::collections::HashSet::new();
    for it in asked {
        let (number, (status, reply)) = it.await.unwrap();
        assert_eq!(status, 200, "{reply:#}");
        assert_eq!(reply["success"], number % 4 != 3, "{number}: {reply:#}");
        ids.insert(reply["resultId"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), all);
    let (_, results) = server.get("results?limit=1").await;
    assert_eq!(results["total"], all);
    assert_eq!(results["results"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn requests_wait_for_what_others_use_and_for_nothing_else() {
    let project = Project::new();
    let (_mock, url) = served(&project, &["mock", "--transport", "http"]);
    let elsewhere = url.replace("127.0.0.1", "localhost");
    let scenario = |name: &str, server: Value, script: &str, before: Value| {
        let text = json!({ "name": name, "servers": { "s": server }, "user_intent": "work", "before": before,
            "evaluators": [{ "type": "within", "duration": "1h" }],
            "agent": { "kind": "command", "command": ["sh", "-c", script], "cwd": ".." } });
        project.file(&format!("scenarios/{name}.yaml"), text.to_string());
    };
    // They work only while nobody else does.
    let alone = |lock: &str| format!("mkdir {lock} || exit 9; sleep 0.3; rmdir {lock}");
    let over_http = |url: &str| json!({ "type": "http", "url": url });
    let own = || json!({ "type": "stdio", "command": faulty_server() });
    scenario("a", over_http(&url), &alone("server"), json!([]));
    scenario("b", over_http(&elsewhere), &alone("server"), json!([]));
    scenario("c", own(), &alone("reset"), json!([["true"]]));
    scenario("d", own(), &alone("reset"), json!([["true"]]));
    // These work only while both do.
    let beside = |own: &str, other: &str| {
        format!(
            "touch {own}; for i in $(seq 1000); do test -e {other} && exit 0; sleep 0.02; done; exit 9"
        )
    };
    scenario("e", own(), &beside("e", "f"), json!([]));
    scenario("f", own(), &beside("f", "e"), json!([]));
    let arguments = ["--allow-programs", "--max-concurrent", "8"];
    let server = Server::start(&project, &arguments);
    let asked = ["a", "b", "c", "d", "e", "f"].map(|name| {
        let request = server.request(Method::POST, "run");
        let request = request.json(&json!({ "scenario": name }));
        tokio::spawn(super::desk::answer(request))
    });
    for (it, name) in asked.into_iter().zip('a'..) {
        let (_, reply) = it.await.unwrap();
        assert_eq!(reply["success"], true, "{name}: {reply:#}");
    }
    // Within a batch it is the same, however many are asked for.
    for name in ["e", "f"] {
        std::fs::remove_file(project.path(name)).unwrap();
    }
    let all = ["a", "b", "c", "d", "e", "f", "a", "c"];
    let all: Vec<Value> = all.iter().map(|it| json!({ "scenario": it })).collect();
    for parallel in [json!(true), json!(8)] {
        let body = json!({ "testCases": all, "parallel": parallel });
        let (_, reply) = server.post("run-batch", &body).await;
        assert_eq!(reply["summary"]["passed"], 8, "{reply:#}");
    }
}
