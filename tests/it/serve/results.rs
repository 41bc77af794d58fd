//! Results that were kept.

use serde_json::{Value, json};

use super::desk::{Desk, Server, with};
use crate::common::copy;

#[tokio::test(flavor = "multi_thread")]
async fn results_are_found_by_what_is_known_of_them() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let case = |name: &str, expected: &[&str]| with(&desk.case(expected), &json!({ "name": name }));
    let one = server.run(&case("one", &["get_price"])).await;
    let two = server.run(&case("two", &["buy"])).await;
    let again = server.run(&case("one", &["get_price"])).await;
    assert_eq!(
        one["scenario"], again["scenario"],
        "its results belong together"
    );
    assert_ne!(one["resultId"], again["resultId"]);
    let ids = |reply: &Value| -> Vec<Value> {
        let results = reply["results"].as_array().unwrap();
        results.iter().map(|it| it["resultId"].clone()).collect()
    };
    let id = |reply: &Value| reply["resultId"].clone();
    let run = two["runId"].as_str().unwrap();
    let later = again["timestamp"].as_str().unwrap();
    for (filter, expected, total) in [
        ("", vec![id(&again), id(&two), id(&one)], 3),
        ("?name=one", vec![id(&again), id(&one)], 2),
        ("?name=nobody", vec![], 0),
        ("?status=failed", vec![id(&two)], 1),
        ("?status=passed&name=two", vec![], 0),
        (&format!("?runId={run}"), vec![id(&two)], 1),
        (
            "?scenario=%40test-cases%2Fone",
            vec![id(&again), id(&one)],
            2,
        ),
        (&format!("?since={later}"), vec![id(&again)], 1),
        ("?since=2999-01-01T00:00:00Z", vec![], 0),
        ("?limit=1", vec![id(&again)], 3),
        ("?limit=1&offset=2", vec![id(&one)], 3),
        ("?offset=3", vec![], 3),
    ] {
        let (status, reply) = server.get(&format!("results{filter}")).await;
        assert_eq!(status, 200, "{filter}: {reply}");
        assert_eq!(ids(&reply), expected, "{filter}");
        assert_eq!(reply["total"], total, "{filter}");
    }
    let (_, list) = server.get("results?name=two").await;
    let entry = &list["results"][0];
    assert_eq!(entry["expectedTools"], json!(["buy"]));
    assert_eq!(entry["verdict"], two["verdict"]);
    assert_eq!(
        (&entry["success"], &entry["prompt"]),
        (&json!(false), &json!("What does tea cost?"))
    );

    let (status, kept) = server
        .get(&format!("results/{}", id(&two).as_str().unwrap()))
        .await;
    assert_eq!(status, 200, "{kept}");
    for key in [
        "toolCalls",
        "verdict",
        "duration",
        "success",
        "timestamp",
        "resultId",
        "runId",
        "status",
    ] {
        assert_eq!(kept[key], two[key], "{key}");
    }
    let (_, runs) = server.get("runs?limit=2").await;
    assert_eq!(
        (&runs["total"], runs["runs"].as_array().unwrap().len()),
        (&json!(3), 2)
    );
    let (_, own) = server.get(&format!("runs/{run}")).await;
    assert_eq!(
        (&own["failed"], &own["status"], &own["command"]),
        (&json!(1), &json!("completed"), &json!("run")),
        "{own}"
    );
    let (_, all) = server.get("stats").await;
    assert_eq!(
        (&all["results"], &all["passed"], &all["failed"]),
        (&json!(3), &json!(2), &json!(1)),
        "{all}"
    );
    let (_, health) = server.get("health").await;
    assert_eq!(health["database"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_command_line_ran_is_there_too() {
    let desk = Desk::new();
    desk.project.file(
        "scenarios/price.yaml",
        "name: Price\nservers: { shop: { type: mock } }\n\
        expected_trajectory: [{ tool: mcp__shop__get_price, args: { item: tea } }]\n"
            .to_owned()
            + super::desk::SHOP,
    );
    let ran = desk.project.result(0, &["run", "--no-report"]);
    let server = Server::start(&desk.project, &[]);
    let (_, list) = server.get("results").await;
    let entry = &list["results"][0];
    assert_eq!(
        (&entry["scenario"], &entry["runId"]),
        (&json!("price"), &ran["run_id"]),
        "{list}"
    );
    let (_, kept) = server
        .get(&format!("results/{}", entry["resultId"].as_str().unwrap()))
        .await;
    assert_eq!(
        kept["toolCalls"][0]["response"]["content"][0]["text"], "4 euros for tea",
        "{kept}"
    );
    assert_eq!(kept["success"], true);
    // Its document is there, and none from beside the runs.
    let run = ran["run_id"].as_str().unwrap();
    let runs = desk.project.path(".mcp-eval/runs");
    copy(&runs.join(run), &desk.project.path(".mcp-eval/beside"));
    let document = async |id: &str| server.get(&format!("runs/{id}/document")).await;
    let (status, found) = document(run).await;
    assert_eq!((status, &found["run_id"]), (200, &ran["run_id"]));
    let (status, found) = document("..%2Fbeside").await;
    assert_eq!(status, 404, "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn health_says_whether_there_is_a_database() {
    let desk = Desk::new();
    let without = Server::start(&desk.project, &["--no-db"]);
    assert_eq!(without.get("health").await.1["database"], false);
    let reply = without.run(&desk.case(&["get_price"])).await;
    assert_eq!(reply["success"], true, "it works without one: {reply:#}");
    let (status, reply) = without.get("results").await;
    assert_eq!(status, 404, "{reply}");
    assert!(reply["error"].as_str().unwrap().contains("--no-db"));
    // A folder is no database.
    std::fs::create_dir(desk.project.path("folder.db")).unwrap();
    let broken = Server::start(&desk.project, &["--db", "folder.db"]);
    assert_eq!(broken.get("health").await.1["database"], false);
    let reply = broken.run(&desk.case(&["get_price"])).await;
    assert_eq!(
        reply["success"], true,
        "a database that cannot be written spoils no run: {reply:#}"
    );
    assert_eq!(broken.get("results").await.0, 503);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "left to .ci/run, which has the time"]
async fn a_database_made_anew_knows_what_replies_said() {
    let desk = Desk::new();
    let judged = "select r.id, r.expected_tools, r.document ->> '$.result.verdict', r.status, u.document ->> '$.exit_code', \
        u.document ->> '$.identity.host', s.server_configs \
        from results r join runs u on u.id = r.run_id join scenarios s on s.id = r.scenario_id order by r.id";
    let rows = || {
        let file = rusqlite::Connection::open(desk.project.path(".mcp-eval/results.db")).unwrap();
        let mut asked = file.prepare(judged).unwrap();
        let rows = asked.query_map([], |row| {
            (0..7)
                .map(|it| row.get::<_, rusqlite::types::Value>(it))
                .collect::<Result<Vec<_>, _>>()
        });
        rows.unwrap().collect::<Result<Vec<_>, _>>().unwrap()
    };
    let server = Server::start(&desk.project, &[]);
    for (name, expected, model) in [
        ("right", "get_price", ""),
        ("wrong", "buy", ""),
        ("gone", "buy", "http://127.0.0.1:9"),
    ] {
        let mut case = with(&desk.case(&[expected]), &json!({ "name": name }));
        if !model.is_empty() {
            case["agentConfig"]["baseUrl"] = json!(model);
        }
        let _ = server.run(&case).await;
    }
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
    let before = rows();
    assert_eq!(before.len(), 3);
    desk.project.file(".mcp-eval/results.db", "x");
    let rebuilt = desk.project.expect(0, &["db", "rebuild"]);
    rebuilt.says("3 results");
    assert_eq!(rows(), before);
}
