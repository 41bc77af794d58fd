//! Finding a server, and the client in Rust.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use mcp_eval::client::{ClientError, TestClient};
use serde_json::json;

use super::desk::{Desk, Server, with};
use crate::common::{Project, ran};

#[tokio::test(flavor = "multi_thread")]
async fn the_client_runs_cases_and_tells_what_is_wrong() {
    let desk = Desk::new();
    let server = Server::start(&desk.project, &[]);
    let client = TestClient::new(&server.url, server.token.clone());
    assert!(client.health().await.unwrap().database);
    let reply = client.run(&desk.case(&["get_price"])).await.unwrap();
    assert!(reply.success, "{reply:#?}");
    let kept = client.result(&reply.result_id).await.unwrap();
    assert_eq!(kept.tool_calls, reply.tool_calls);
    let wrong = client.run(&desk.case(&["buy"])).await.unwrap();
    assert!(!wrong.success);
    let cases = [desk.case(&["get_price"]), desk.case(&["buy"])];
    let batch = client
        .run_batch(&json!({ "testCases": cases }))
        .await
        .unwrap();
    assert_eq!((batch.summary.passed, batch.summary.failed), (1, 1));
    assert_eq!(client.results().await.unwrap().total, 4);
    assert_eq!(client.stats().await.unwrap().failed, 2);
    let malformed = client
        .run(&with(&desk.case(&[]), &json!({ "name": 7 })))
        .await;
    let said = malformed.unwrap_err().to_string();
    assert!(said.starts_with("Test execution failed: 400: "), "{said}");
    assert!(said.contains("/name: "), "{said}");
    let stranger = TestClient::new(&server.url, None);
    let refused = stranger.run(&desk.case(&[])).await.unwrap_err();
    assert!(
        matches!(refused, ClientError::Status { status: 401, .. }),
        "{refused}"
    );
    // Another server that answers, and none at all.
    let other = format!("{}/mcp", desk.model);
    for url in [other.as_str(), "http://127.0.0.1:9"] {
        let error = TestClient::find(Some(url)).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("Provided URL {url} is not a test server")
        );
    }
    let found = TestClient::find(Some(&server.url)).await.unwrap();
    assert_eq!(found.url(), server.url);
    let slash = TestClient::new(format!("{}/", server.url), None);
    assert!(slash.health().await.unwrap().database);
    // One that is not well is none.
    let ill = crate::http::serve_app(|| {
        let answer = || async { (StatusCode::INTERNAL_SERVER_ERROR, r#"{"testing": true}"#) };
        Router::new().route("/api/test/health", get(answer))
    });
    assert!(
        TestClient::find(Some(&format!("http://{ill}")))
            .await
            .is_err()
    );
}

#[test]
fn a_server_is_found_where_there_is_one() {
    let project = Project::new();
    project
        .expect(3, &["discover", "--url", "http://127.0.0.1:9"])
        .says("Provided URL http://127.0.0.1:9 is not a test server");
    let server = Server::start(&project, &[]);
    let found = project.expect(0, &["discover"]);
    assert_eq!(
        found.stdout,
        format!("Found dedicated test server at {}\n", server.url)
    );
    let found = project.expect(0, &["discover", "--url", &server.url]);
    assert_eq!(
        found.stdout,
        format!("Found dedicated test server at {}\n", server.url)
    );
    // The file of a server that was killed leads nowhere.
    server.signal("-KILL");
    let _ = server.end();
    let mut gone = project.command();
    let gone = ran(gone.args(["discover"]));
    if gone.code == 3 {
        gone.says("No test server found. Please start a test server:")
            .says("mcp-eval serve");
    } else {
        // Somebody has one on a usual port of this machine.
        gone.says("server").says(":300");
    }
}

/// A scenario that asks a server over HTTP, with a mock beside.
fn scenario(desk: &Desk) -> String {
    format!(
        "name: Price\nvariables: {{ item: tea }}\nservers: {{ shop: {{ type: mock }}, far: {{ url: '{}' }} }}\n\
         expected_trajectory: [{{ tool: mcp__shop__get_price, args: {{ item: '{{{{item}}}}' }} }}, {{ tool: mcp__far__buy }}]\n{}",
        desk.shop,
        super::desk::SHOP
    )
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn scenarios_run_on_a_server_and_are_reported_here() {
    let desk = Desk::new();
    let (here, there) = (&desk.project, Project::new());
    for project in [here, &there] {
        project.file("scenarios/price.yaml", scenario(&desk)).file(
            "scenarios/wrong.yaml",
            scenario(&desk).replace(
                "name: Price",
                "name: Wrong\nsuccess_criteria: [{ text: 5 euros }]",
            ),
        );
    }
    let server = Server::start(&there, &[]);
    let token = server.token.clone().unwrap();
    let remote = |code: i32, arguments: &[&str]| {
        let mut command = here.command();
        command
            .env("MCP_EVAL_TOKEN", &token)
            .args(["run", "--remote", &server.url])
            .args(arguments);
        let ran = ran(&mut command);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:#?}");
        ran
    };
    let ran = remote(1, &["--report", "junit=junit.xml"]);
    ran.says("Wrong")
        .says(&format!("Running 2 scenarios at {}", server.url));
    assert!(here.read("junit.xml").contains("Wrong"));
    let ran = remote(
        0,
        &["scenarios/price.yaml", "--format", "json", "--no-report"],
    );
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["scenarios"][0]["status"], "passed", "{result:#}");
    // It has run there, and nothing is kept here.
    assert!(there.path(".mcp-eval/results.db").exists());
    assert!(!here.path(".mcp-eval/runs").exists());

    // Whatever makes it another scenario is refused, whichever side has changed.
    let price = "scenarios/price.yaml";
    for (from, to) in [
        ("name: Price", "name: Prices"),
        ("4 euros", "5 euros"),
        ("type: mock }, far", "type: mock, tool_timeout: 9s }, far"),
        ("item: tea }", "item: milk }"),
    ] {
        there.edit(price, from, to);
        remote(2, &[price])
            .says("the scenario `price` of the server")
            .says("is another one than here");
        there.edit(price, to, from);
    }
    remote(2, &[price, "--var", "item=milk"]).says("is another one than here");
    here.file("scenarios/_defaults.yaml", "tool_timeout: 7s\n");
    remote(2, &[price]).says("is another one than here");
    std::fs::remove_file(here.path("scenarios/_defaults.yaml")).unwrap();
    let servers =
        serde_json::json!({ "mcpServers": { "far": { "url": format!("{}?other", desk.shop) } } });
    here.file("servers.json", servers.to_string());
    remote(2, &[price, "--mcp-config", "servers.json"]).says("is another one than here");
    // So is what lies in the files that it names: programs, scripts, and what must stay as it is.
    for project in [here, &there] {
        project
            .file("scenarios/check.sh", "#!/bin/sh\necho fine\n")
            .file("scenarios/srv.py", "print()\n")
            .file("scenarios/kept.txt", "kept\n")
            .file(
                "scenarios/named.yaml",
                "name: Named\nservers: { own: { command: python3, args: [srv.py], cwd: . } }\n\
                 expected_trajectory: [{ tool: mcp__own__x }]\n\
                 evaluators: [{ type: command, command: [./check.sh] }, { type: file, path: kept.txt, unchanged: true }]\n",
            );
    }
    let named = "scenarios/named.yaml";
    remote(2, &[named]).says("--allow-programs");
    for (file, from, to) in [
        ("scenarios/check.sh", "fine", "wrong"),
        ("scenarios/srv.py", "print", "exit"),
        ("scenarios/kept.txt", "kept", "lost"),
    ] {
        there.edit(file, from, to);
        remote(2, &[named]).says("is another one than here");
        there.edit(file, to, from);
    }
    for file in [named, "scenarios/check.sh"] {
        std::fs::remove_file(here.path(file)).unwrap();
    }
    // The token of another server is not shown to this one.
    let _another = Server::start(here, &[]);
    remote(0, &[price]);
    // Nor is what an old one has left taken for what is given, whether its process is gone or its number is used again.
    for pid in [std::process::id(), u32::MAX >> 1] {
        let stale = serde_json::json!({
            "url": server.url, "port": 1, "pid": pid, "token": "of-somebody-who-is-gone",
        });
        here.file(".mcp-eval/serve.json", stale.to_string());
        remote(0, &[price]);
    }
    assert!(here.path(".mcp-eval/serve.json").exists());
    let mut without = here.command();
    let without = crate::common::ran(without.args(["run", price, "--remote", &server.url]));
    without.says("set MCP_EVAL_TOKEN");
    std::fs::remove_file(here.path(".mcp-eval/serve.json")).unwrap();
    // What is disabled here is not asked for.
    let off = here
        .read(price)
        .replace("name: Price", "name: Off\nenabled: false");
    here.file("scenarios/off.yaml", off);
    remote(0, &[price, "scenarios/off.yaml"]).says("Running 1 scenario at");
    here.file("scenarios/new.yaml", scenario(&desk));
    remote(2, &["scenarios/new.yaml"]).says("has no scenario `new`");
    remote(0, &[price]);
    remote(2, &[price, "--model", "m"]).says("--remote");
    // Nor does what says where results of runs here go.
    remote(2, &[price, "--db", "own.db"]).says("`--db` goes with what runs here");
    remote(2, &[price, "--no-identity"]).says("--remote");
    let mut elsewhere = here.command();
    elsewhere
        .env("MCP_EVAL_TOKEN", &token)
        .env("MCP_EVAL_DB", "own.db");
    let elsewhere = crate::common::ran(elsewhere.args(["run", price, "--remote", &server.url]));
    assert_eq!(elsewhere.code, 0, "{elsewhere:#?}");
    assert!(!here.path("own.db").exists());
    let mut nowhere = here.command();
    let nowhere = crate::common::ran(nowhere.args(["run", "--remote", "http://127.0.0.1:9"]));
    assert_eq!(nowhere.code, 3, "{nowhere:#?}");
    nowhere.says("Provided URL http://127.0.0.1:9 is not a test server");
    let mut stranger = here.command();
    let stranger = crate::common::ran(stranger.args(["run", price, "--remote", &server.url]));
    assert_eq!(stranger.code, 2, "{stranger:#?}");
    stranger
        .says("Test execution failed: 401")
        .says("set MCP_EVAL_TOKEN");
}
