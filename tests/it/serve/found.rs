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
