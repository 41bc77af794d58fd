//! Clients that hang up before their runs have ended.

use reqwest::Method;
use serde_json::json;

use super::desk::{Desk, Events, Server, with};
use crate::common::faulty_server;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
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
    let routes = [
        ("run", &case, false),
        ("run-batch", &batch, false),
        ("run-batch", &batch, true),
    ];
    for ((route, body, streams), interrupted) in routes.into_iter().zip([1, 3, 5]) {
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
        // Its turn is over: others get theirs.
        assert_eq!(
            server.run(&quick.case(&["get_price"])).await["success"],
            true
        );
        // Who listens gets the verdict of each.
        let verdicts = events.until(|it| it.data["success"] == true).await;
        let verdicts = verdicts.iter().filter(|it| it.kind == "verdict");
        let verdicts: Vec<&str> = verdicts
            .map(|it| it.data["status"].as_str().unwrap())
            .collect();
        let (stopped, last) = verdicts.split_at(if route == "run" { 1 } else { 2 });
        assert!(
            stopped.iter().all(|it| *it == "interrupted"),
            "{verdicts:?}"
        );
        assert_eq!(last, ["passed"], "{verdicts:?}");
        let (_, kept) = server.get("results?status=interrupted").await;
        assert_eq!(kept["total"], interrupted, "{route}: {kept:#}");
        let (_, runs) = server.get("runs").await;
        let statuses = [0, 1].map(|it| &runs["runs"][it]["status"]);
        assert_eq!(statuses, ["completed", "interrupted"], "{route}: {runs:#}");
    }
    let after = slow.project.survivors();
    assert!(after.len() <= before, "{after:?}");
}
