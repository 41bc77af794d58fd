//! Several runs in one request.

use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, Events, Server, places, with};

fn named(desk: &Desk, name: &str, expected: &[&str]) -> Value {
    with(&desk.case(expected), &json!({ "name": name }))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn results_come_in_the_order_of_the_request_with_a_sum() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    for parallel in [json!(false), json!(true), json!(2), Value::Null] {
        let cases = [
            named(&desk, "one", &["get_price"]),
            json!({ "testCase": named(&desk, "two", &["buy"]) }),
            named(&desk, "three", &[]),
            // The same once more is a result of its own.
            named(&desk, "one", &["get_price"]),
        ];
        let body = json!({ "testCases": cases, "parallel": parallel });
        let (status, reply) = server.post("run-batch", &body).await;
        assert_eq!(status, 200, "{reply:#}");
        let results = reply["results"].as_array().unwrap();
        let names: Vec<&Value> = results.iter().map(|it| &it["testCase"]["name"]).collect();
        assert_eq!(names, ["one", "two", "three", "one"]);
        let success: Vec<&Value> = results.iter().map(|it| &it["success"]).collect();
        assert_eq!(success, [true, false, true, true]);
        let summary = &reply["summary"];
        assert_eq!(
            (&summary["total"], &summary["passed"], &summary["failed"]),
            (&json!(4), &json!(3), &json!(1))
        );
        assert!(summary["duration"].as_f64().unwrap() > 0.0);
        let runs: Vec<&Value> = results.iter().map(|it| &it["runId"]).collect();
        assert!(runs.iter().all(|it| *it == runs[0]), "{runs:?}");
        assert_ne!(results[0]["resultId"], results[3]["resultId"]);
    }
    for (body, place) in [
        (json!({}), ""),
        (json!({ "testCases": [] }), "/testCases"),
        (json!({ "testCases": [7] }), "/testCases/0"),
        (
            json!({ "testCases": [named(&desk, "a", &[]), {}] }),
            "/testCases/1",
        ),
        (
            json!({ "testCases": [named(&desk, "a", &[])], "parallel": 0 }),
            "/parallel",
        ),
        (
            json!({ "testCases": [named(&desk, "a", &[])], "paralel": 2 }),
            "",
        ),
    ] {
        let (status, reply) = server.post("run-batch", &body).await;
        assert_eq!(status, 400, "{body}");
        assert!(places(&reply).contains(&place), "{body}: {reply:#}");
        assert!(!reply.to_string().contains("schemas listed"), "{reply:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_streamed_as_they_come() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let cases = [
        named(&desk, "one", &["get_price"]),
        named(&desk, "two", &["buy"]),
    ];
    let body = json!({ "testCases": cases, "parallel": false });
    let mut events = Events::open(server.request(Method::POST, "run-batch").json(&body)).await;
    let seen = events.until(|it| it.kind == "summary").await;
    let kinds: Vec<&str> = seen.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["result", "result", "summary"]);
    assert_eq!(seen[0].data["testCase"]["name"], "one");
    assert_eq!(seen[1].data["success"], false);
    assert_eq!(seen[2].data["failed"], 1);
    assert_eq!(events.next().await, None);
    // Who refuses a stream gets none.
    let asked = server.request(Method::POST, "run-batch").json(&body);
    let asked = asked.header("accept", "text/event-stream;q=0, application/json");
    let reply = asked.send().await.unwrap();
    assert_eq!(reply.headers()["content-type"], "application/json");
    let reply: Value = reply.json().await.unwrap();
    assert_eq!(reply["summary"]["failed"], 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn no_command_takes_longer_than_the_server_allows() {
    let desk = Desk::new();
    desk.project.file(
        "scenarios/price.yaml",
        format!(
            "name: Price\nservers: {{ shop: {{ type: mock }} }}\n\
             expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: tea }} }}]\n{}",
            super::desk::SHOP
        ),
    );
    desk.project.expect(0, &["record"]);
    desk.project.file(
        "scenarios/price.yaml",
        "name: Price\nservers: { shop: { type: mock } }\n\
         expected_trajectory: [{ tool: mcp__shop__get_price, args: { item: tea } }]\n\
         mcp_interactions: { shop: { tools: [{ name: get_price, responses: [{ delay: 600s, content: late }] }] } }\n",
    );
    let server = Server::start(&desk.project, &["--allow-write", "--timeout", "1"]);
    for command in ["compare", "record"] {
        let (status, reply) = server
            .post(command, &json!({ "scenarios": ["price"] }))
            .await;
        assert_eq!(status, 200, "{command}: {reply:#}");
        let ended = &reply["scenarios"][0];
        assert_eq!(ended["status"], "timeout", "{command}: {reply:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_fail_fast_nothing_is_begun_behind_the_first_that_has_not_passed() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let cases = [
        named(&desk, "one", &["get_price"]),
        named(&desk, "two", &["buy"]),
        named(&desk, "three", &["get_price"]),
    ];
    let body = json!({ "testCases": cases, "failFast": true });
    let (_, reply) = server.post("run-batch", &body).await;
    let results = reply["results"].as_array().unwrap();
    let statuses: Vec<&Value> = results.iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, ["passed", "failed", "skipped"]);
    let summary = &reply["summary"];
    let counts = ["total", "passed", "failed", "skipped"].map(|it| &summary[it]);
    assert_eq!(counts, [3, 1, 1, 1], "{reply:#}");
    assert_eq!(results[2]["toolCalls"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_data_set_are_runs_of_a_batch() {
    let desk = Desk::new();
    desk.project.file(
        "scenarios/rows.yaml",
        format!(
            "name: Rows\nservers: {{ shop: {{ type: mock }} }}\n\
             expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: '{{{{row.item}}}}' }} }}]\n\
             dataset: [{{ id: a, item: tea }}, {{ id: b, item: milk }}]\n{}",
            super::desk::SHOP
        ),
    );
    let server = Server::start(&desk.project, &[]);
    let body = json!({ "testCases": [{ "scenario": "rows" }], "parallel": true });
    let (status, reply) = server.post("run-batch", &body).await;
    assert_eq!(status, 200, "{reply:#}");
    let results = reply["results"].as_array().unwrap();
    let ids: Vec<&Value> = results.iter().map(|it| &it["scenario"]).collect();
    assert_eq!(ids, ["rows/a", "rows/b"]);
    assert_eq!(reply["summary"]["passed"], 2);
    let one = server.run(&json!({ "scenario": "rows/b" })).await;
    assert_eq!(one["toolCalls"][0]["parameters"]["item"], "milk");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_several_times_has_results_of_one_scenario() {
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
    let again = json!({ "scenario": "price" });
    let body = json!({ "testCases": [again, again, again], "parallel": true });
    let (status, reply) = server.post("run-batch", &body).await;
    assert_eq!(status, 200, "{reply:#}");
    let results = reply["results"].as_array().unwrap();
    let mut ids: Vec<&str> = results
        .iter()
        .map(|it| it["resultId"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3, "{reply:#}");
    let (_, kept) = server.get("results?scenario=price").await;
    assert_eq!(kept["total"], 3, "{kept:#}");
    for reply in results {
        assert_eq!(reply["scenario"], "price");
        let id = reply["resultId"].as_str().unwrap();
        let (status, again) = server.get(&format!("results/{id}")).await;
        assert_eq!((status, &again["scenario"]), (200, &json!("price")));
        // With its calls, out of its own files.
        assert_eq!(again["toolCalls"], reply["toolCalls"], "{again:#}");
    }
    let history = desk
        .project
        .expect(0, &["history", "price", "--format", "json"]);
    assert!(!history.stdout.contains("price~"), "{}", history.stdout);
    let name = desk.project.expect(0, &["history", "--format", "csv"]);
    assert!(name.stdout.matches("price").count() >= 3, "{}", name.stdout);
    // Made anew from the files of the run, they are the same.
    let rebuilt = ["db", "rebuild", "--db", "other.db"];
    desk.project.expect(0, &rebuilt).says("3 results added");
    let history = ["history", "price", "--db", "other.db", "--format", "json"];
    let history = desk.project.expect(0, &history);
    let history: Value = serde_json::from_str(&history.stdout).unwrap();
    assert_eq!(
        history["scenarios"][0]["results"].as_array().unwrap().len(),
        3,
        "{history:#}"
    );
}
