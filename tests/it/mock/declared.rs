//! Files of mock servers: what is read, and what is wrong with them.

use serde_json::json;

use super::client::Piped;
use crate::common::Project;

#[test]
fn mocks_are_found_wherever_a_file_may_hold_them() {
    let project = Project::new();
    project.file("scenario.yaml", "name: s\nservers: { one: { type: mock } }\nexpected_trajectory: [{ tool: a }]\nmcp_interactions: { one: { tools: [{ name: a }] } }\n");
    project.file(
        "section.yaml",
        "mcp_interactions: { one: { tools: [{ name: a }] }, two: { tools: [{ name: b }] } }\n",
    );
    project.file(
        "block.yaml",
        "one: { tools: [{ name: a }] }\ntools: { tools: [{ name: b }] }\n",
    );
    project.file("server.yaml", "tools: [{ name: a }]\n");
    let cases = [
        (&["scenario.yaml"][..], "one", "a"),
        (&["section.yaml", "--server", "two"], "two", "b"),
        (&["block.yaml", "--server", "tools"], "tools", "b"),
        (&["server.yaml"], "mock", "a"),
    ];
    for (arguments, name, tool) in cases {
        let mut piped = Piped::start(&project, arguments);
        assert_eq!(
            piped.ask("initialize", &json!({}))["result"]["serverInfo"]["name"],
            name
        );
        assert_eq!(
            piped.ask("tools/list", &json!({}))["result"]["tools"][0]["name"],
            tool
        );
    }
    project
        .expect(2, &["mock", "section.yaml"])
        .says("--server takes one of `one`, `two`");
    project
        .expect(2, &["mock", "section.yaml", "--server", "three"])
        .says("`one`, `two`");
    project
        .expect(2, &["mock", "server.yaml", "--server", "one"])
        .says("leave --server out");
    project
        .expect(2, &["mock", "nowhere.yaml"])
        .says("nowhere.yaml");
}

#[test]
fn files_without_mocks_are_refused_with_a_way_out() {
    let project = Project::new();
    let cases = [
        ("", "empty"),
        ("[]", "a list"),
        ("mcp_interaction: { one: 5 }", "mcp_interactions"),
        (
            "name: s\nservers: { s: { type: mock } }\n",
            "declare it under `mcp_interactions`",
        ),
        ("mcp_interactions: {}", "declares no mock server"),
        (
            "mcp_interactions: { one: { tools: [{ nam: a }] } }",
            "m.yaml:1:38: error: unknown key `nam`",
        ),
        (
            "mcp_interactions: { one: { tols: [] } }",
            "did you mean `tools`?",
        ),
        (
            "mcp_interactions: { one: { tools: [] } }\nexpected_trajectry: []\n",
            "did you mean `expected_trajectory`?",
        ),
        (
            "supports: []\ntools: []",
            "m.yaml:1:11: error: a server speaks at least one era",
        ),
        (
            "supports: [2025-11-25]\ntools: []",
            "expected one of legacy, 2026-07-28",
        ),
    ];
    for (text, message) in cases {
        project.file("m.yaml", text);
        project.expect(2, &["mock", "m.yaml"]).says(message);
    }
}

#[test]
fn there_are_at_most_a_thousand_tools() {
    let project = Project::new();
    let tools = |count: usize| {
        let tools: Vec<String> = (0..count).map(|it| format!("{{ name: t{it} }}")).collect();
        format!("tools: [{}]", tools.join(", "))
    };
    project.file("m.yaml", tools(1001));
    project
        .expect(2, &["mock", "m.yaml"])
        .says("at most 1000 tools");
    project.file("m.yaml", tools(1000));
    let mut piped = Piped::start(&project, &["m.yaml"]);
    let listed = piped.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1000);
}

#[test]
fn a_misspelt_reference_is_reported_and_served_as_it_is() {
    let project = Project::new();
    project.file(
        "m.yaml",
        "tools: [{ name: a, responses: [{ content: '{{arg.x}}' }] }]",
    );
    project
        .expect(0, &["mock", "m.yaml"])
        .says("did you mean `args`?");
    let mut piped = Piped::start(&project, &["m.yaml"]);
    assert_eq!(
        piped.call("a", &json!({}))["content"][0]["text"],
        "{{arg.x}}"
    );
}
