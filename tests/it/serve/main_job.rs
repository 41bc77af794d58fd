//! Record, compare and review over HTTP: the same as from the command line.

use serde_json::{Value, json};

use super::desk::{Desk, Server, places};

const PRICE: &str = "name: Price\nservers: { shop: { type: mock } }\n\
    expected_trajectory: [{ tool: mcp__shop__get_price, args: { item: tea } }]\n";

fn shop(text: &str) -> String {
    format!("{PRICE}{}", super::desk::SHOP.replace("4 euros", text))
}

/// A result without what differs from run to run.
fn plain(mut result: Value) -> Value {
    for key in ["run_id", "started_at", "duration_ms", "called", "git"] {
        result.as_object_mut().unwrap().remove(key);
    }
    for scenario in result["scenarios"].as_array_mut().unwrap() {
        scenario.as_object_mut().unwrap().remove("duration_ms");
        for side in ["current", "baseline"] {
            scenario.as_object_mut().unwrap().remove(side);
        }
        if let Some(rows) = scenario["comparison"]["rows"].as_array_mut() {
            for row in rows {
                for side in ["expected", "current", "baseline"] {
                    if let Some(call) = row[side].as_object_mut() {
                        call.remove("duration_ms");
                        call.remove("start_ms");
                    }
                }
            }
        }
        if let Some(comparison) = scenario["comparison"].as_object_mut() {
            comparison.remove("slower");
            comparison.remove("durations");
        }
    }
    result
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn what_changed_is_found_reviewed_and_accepted() {
    let desk = Desk::new();
    let project = &desk.project;
    project.file("scenarios/price.yaml", shop("4 euros"));
    let server = Server::start(project, &["--allow-write"]);
    let (status, recorded) = server.post("record", &json!({})).await;
    assert_eq!(status, 200, "{recorded:#}");
    assert_eq!(recorded["command"], "record");
    assert_eq!(recorded["scenarios"][0]["status"], "recorded");
    assert!(project.path("baselines/price/baseline.json").is_file());

    let (status, same) = server
        .post("compare", &json!({ "scenarios": ["price"] }))
        .await;
    assert_eq!(status, 200, "{same:#}");
    assert_eq!(same["gate"]["name"], "passed");
    let own = project.result(0, &["compare", "--no-report"]);
    assert_eq!(plain(same), plain(own));

    project.file("scenarios/price.yaml", shop("5 euros"));
    let (_, changed) = server.post("compare", &json!({ "pending": true })).await;
    assert_eq!(changed["scenarios"][0]["status"], "failed", "{changed:#}");
    assert_eq!(changed["gate"]["exit_code"], 1);
    // It is kept as the command line keeps it.
    let run = changed["run_id"].as_str().unwrap();
    let kept = project.read(format!(".mcp-eval/runs/{run}/result.json"));
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), changed);

    let (status, waiting) = server.post("review", &json!({})).await;
    assert_eq!(status, 200, "{waiting:#}");
    let pending = &waiting["pending"][0];
    assert_eq!(
        (&pending["scenario"], &pending["runId"]),
        (&json!("price"), &changed["run_id"])
    );
    assert_eq!(pending["result"]["scenarios"][0]["status"], "failed");
    for (body, place) in [
        (json!({ "accept": ["nothing"] }), "/accept/0"),
        (
            json!({ "accept": ["price"], "reject": ["price"] }),
            "/accept",
        ),
        (json!({ "acept": ["price"] }), ""),
    ] {
        let (status, reply) = server.post("review", &body).await;
        assert_eq!(status, 400, "{body}: {reply}");
        assert!(places(&reply).contains(&place), "{body}: {reply}");
    }
    let (status, done) = server.post("review", &json!({ "accept": ["price"] })).await;
    assert_eq!(status, 200, "{done:#}");
    assert_eq!(done["accepted"][0]["scenario"], "price");
    assert_eq!(done["pending"], json!([]));
    let (_, same) = server.post("compare", &json!({})).await;
    assert_eq!(same["gate"]["exit_code"], 0, "{same:#}");

    project.file("scenarios/price.yaml", shop("6 euros"));
    let (_, _) = server.post("compare", &json!({ "pending": true })).await;
    let (_, done) = server.post("review", &json!({ "reject": ["price"] })).await;
    assert_eq!(
        (&done["rejected"], &done["pending"]),
        (&json!(["price"]), &json!([]))
    );
    let (_, still) = server.post("compare", &json!({})).await;
    assert_eq!(still["gate"]["exit_code"], 1, "{still:#}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn baselines_are_written_only_where_that_is_allowed_and_never_in_ci() {
    let desk = Desk::new();
    desk.project.file("scenarios/price.yaml", shop("4 euros"));
    let server = Server::start(&desk.project, &[]);
    for (route, body) in [
        ("record", json!({})),
        ("review", json!({})),
        ("review", json!({ "accept": ["price"] })),
        ("compare", json!({ "pending": true })),
    ] {
        let (status, reply) = server.post(route, &body).await;
        assert_eq!(status, 403, "{route}: {reply}");
    }
    let (status, reply) = server.post("compare", &json!({})).await;
    assert_eq!(status, 200);
    assert_eq!(
        reply["scenarios"][0]["status"], "error",
        "there is no baseline: {reply:#}"
    );
    assert_eq!(
        server
            .post("compare", &json!({ "scenarios": ["nothing"] }))
            .await
            .0,
        404
    );
    let server = Server::with(&desk.project, &["--allow-write"], &[("CI", "true")]);
    let (status, reply) = server.post("record", &json!({})).await;
    assert_eq!(status, 403, "{reply}");
    assert!(reply["error"].as_str().unwrap().contains("CI"));
    assert!(!desk.project.path("baselines").exists());
}
