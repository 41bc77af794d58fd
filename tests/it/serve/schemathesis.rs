//! A stranger reads the `OpenAPI` document and tries everything it says, and what it does not say.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::desk::{Desk, Server};
use crate::common::{ran_within, skipped, takes_its_time};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_document_and_the_routes_agree() {
    let what = "the routes of the test server were not tried by schemathesis";
    let Ok(program) = std::env::var("MCP_EVAL_SCHEMATHESIS") else {
        return skipped(what, "`MCP_EVAL_SCHEMATHESIS` does not name it");
    };
    if !Path::new(&program).exists() {
        return skipped(what, "it is not installed");
    }
    if !takes_its_time(what) {
        return;
    }
    let desk = Desk::new();
    desk.project.file(
        "scenarios/price.yaml",
        "name: Price\nservers: { shop: { type: mock } }\n\
        agent: { kind: scripted }\n\
        expected_trajectory: [{ tool: mcp__shop__get_price, args: { item: tea } }]\n"
            .to_owned()
            + super::desk::SHOP,
    );
    let servers = serde_json::json!({ "mcpServers": { "shop": { "url": desk.shop } } });
    desk.project
        .file("servers.json", servers.to_string())
        .file(
            "scenarios/_defaults.yaml",
            format!(
                "agent: {{ kind: openai, model: m, base_url: '{}' }}\n",
                desk.model
            ),
        )
        // That a text is a valid scenario no schema can say, so that is 400 as well; and a body may be too long for us.
        .file(
            "schemathesis.toml",
            "[checks.positive_data_acceptance]\nexpected-statuses = [\"2xx\", 400, 401, 403, 404, 409, 429]\n\
             [checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 406, 413, 415]\n",
        );
    let server = Server::start(
        &desk.project,
        &["--timeout", "5", "--mcp-config", "servers.json"],
    );
    let token = format!("Authorization: Bearer {}", server.token.as_deref().unwrap());
    // Events have no end, so nobody can wait for it.
    let document = format!("{}/api/test/openapi.json", server.url);
    let mut command = Command::new(program);
    command.current_dir(desk.project.path("")).args([
        "run",
        &document,
        "--header",
        &token,
        "--exclude-operation-id",
        "events",
        "--max-examples",
        "10",
        "--seed",
        "7",
        "--no-color",
        "--request-timeout",
        "30",
    ]);
    let ran = ran_within(&mut command, Duration::from_secs(300));
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Test cases:"), "{}", ran.stdout);
}
