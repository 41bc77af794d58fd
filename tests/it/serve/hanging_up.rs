//! Clients that hang up before their runs have ended.

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Events, Server, with};
use crate::common::faulty_server;

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_any_more_is_interrupted() {
    let slow = Desk::with_model("llm_interactions: [{ fault: hang }]\n");
    let quick = Desk::new();
    // One at a time, so that the next waits until the last has gone.
    let arguments = ["--allow-programs", "--max-concurrent", "1"];
    let server = Server::start(&slow.project, &arguments);
    let before = slow.project.survivors().len();
    let program = json!([{ "type": "stdio", "name": "shop", "command": faulty_server() }]);
    let case = with(&slow.case(&[]), &json!({ "serverConfigs": program }));
    let batch = json!({ "testCases": [case, case] });
    let mut events = Events::open(server.request(Method::GET, "events")).await;
    for (route, body, streams) in [
        ("run", &case, false),
        ("run-batch", &batch, false),
        ("run-batch", &batch, true),
    ] {
        let asked = server.request(Method::POST, route).json(body);
        if streams {
            let stream = Events::open(asked).await;
            let _ = events.until(|it| it.kind == "started").await;
            drop(stream);
        } else {
            let waiting = tokio::spawn(asked.send());
            let _ = events.until(|it| it.kind == "started").await;
            waiting.abort();
        }
        let told = events.until(|it| it.kind == "verdict").await;
        let verdict = &told.last().unwrap().data;
        assert_eq!(verdict["status"], "interrupted", "{route}: {verdict:#}");
        // Its turn is over: others get theirs.
        let price = with(
            &quick.case(&["get_price"]),
            &json!({ "name": format!("{route} {streams}") }),
        );
        assert_eq!(server.run(&price).await["success"], true, "{route}");
        let _ = events
            .until(|it| it.kind == "verdict" && it.data["success"] == true)
            .await;
        let id = verdict["resultId"].as_str().unwrap();
        let (status, kept) = server.get(&format!("results/{id}")).await;
        assert_eq!(
            (status, &kept["status"]),
            (200, &Value::from("interrupted")),
            "{route}: {kept:#}"
        );
        let run = verdict["runId"].as_str().unwrap();
        let (_, run) = server.get(&format!("runs/{run}")).await;
        assert_eq!(run["status"], "interrupted", "{route}: {run:#}");
    }
    let after = slow.project.survivors();
    assert!(after.len() <= before, "{after:?}");
}
