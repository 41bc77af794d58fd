//! Scenarios of the original tool: `mcp_servers.json` beside them gives their servers, and dialogues are written otherwise.

use serde_json::json;

use crate::common::{Project, faulty_server};

const CALL: &str = "expected_trajectory: [{ tool: echo, args: { text: x } }]\n";

/// A project whose `mcp_servers.json` names a server that runs.
fn project() -> Project {
    let project = Project::new();
    let servers = json!({ "mcpServers": { "s": { "command": faulty_server(), "args": [] } } });
    project.file("mcp_servers.json", servers.to_string());
    project
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn servers_beside_the_scenarios_are_those_of_scenarios_that_name_none() {
    let project = project();
    project.file("scenarios/a.yaml", format!("name: a\n{CALL}"));
    project.file("scenarios/deep/b.yaml", format!("name: b\n{CALL}"));
    project.file("proxy.json", r#"{ "listen": ":8080", "mcpServers": [] }"#);
    project.file(
        "scenarios/c.yaml",
        format!("name: c\nconfig_file: proxy.json\nconnect_timeout: 2\n{CALL}"),
    );
    project
        .expect(0, &["run"])
        .says("3 scenarios name no servers, and get those of mcp_servers.json: s");
    project
        .expect(0, &["run", "scenarios/a.yaml"])
        .says("1 scenario names no servers, and gets those of mcp_servers.json: s");
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    let listed = project.result(0, &["list"]);
    assert_eq!(listed["scenarios"][0]["servers"], json!(["s"]));

    // Who names servers has these alone, in whatever way.
    project.file(
        "own.json",
        json!({ "mcpServers": { "own": { "command": faulty_server() } } }).to_string(),
    );
    project.file(
        "scenarios/a.yaml",
        format!("name: a\nconfig_file: own.json\n{CALL}"),
    );
    let own = format!(
        "name: b\nservers: {{ mine: {{ command: '{}' }} }}\n{CALL}",
        faulty_server()
    );
    project.file("scenarios/deep/b.yaml", own);
    let listed = project.result(0, &["list"]);
    assert_eq!(listed["scenarios"][0]["servers"], json!(["own"]));
    assert_eq!(listed["scenarios"][2]["servers"], json!(["mine"]));
    project
        .expect(0, &["run", "-k", "not c"])
        .says_not("mcp_servers.json");
    // The command line's are in the place of the usual ones, and not beside them.
    let broken = json!({ "mcpServers": { "gone": { "url": "http://127.0.0.1:1/mcp" } } });
    project.file("mcp_servers.json", broken.to_string());
    project.expect(3, &["run", "scenarios/c.yaml"]);
    project
        .expect(0, &["run", "scenarios/c.yaml", "--mcp-config", "own.json"])
        .says_not("mcp_servers.json");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_file_that_gives_no_servers_is_reported() {
    let project = project();
    project.file("scenarios/a.yaml", format!("name: a\n{CALL}"));
    for broken in [
        "[]",
        "{",
        r#"{ "mcpServers": { "s": { "url": 1, "type": "nope" } } }"#,
    ] {
        project.file("mcp_servers.json", broken);
        project
            .expect(3, &["run"])
            .says("mcp_servers.json")
            .says_not("\\n");
        project.file(
            "own.json",
            json!({ "mcpServers": { "own": { "command": faulty_server() } } }).to_string(),
        );
        project.expect(0, &["run", "--mcp-config", "own.json"]);
    }
    // In the folder of the scenarios it is found as well, but not above a folder of another name.
    std::fs::remove_file(project.path("mcp_servers.json")).unwrap();
    let servers = json!({ "mcpServers": { "s": { "command": faulty_server() } } }).to_string();
    project.file("scenarios/mcp_servers.json", &servers);
    project.expect(0, &["run"]);
    project.file("mcp_servers.json", &servers);
    project.file("evals/a.yaml", format!("name: a\n{CALL}"));
    project.expect(3, &["run", "evals"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn dialogues_of_the_original_tool_are_shown_the_way_to_turns() {
    let project = project();
    project.file(
        "scenarios/multi_turn/check.yaml",
        "name: Check\ntype: multi_turn_dialog\ninitial_user_intent: Are my servers running?\n\
         expected_dialog_flow:\n  - { turn: 1, expected_tools: [echo], user_response_pattern: Thanks }\nmax_turns: 4\n",
    );
    let ran = project.expect(0, &["validate"]);
    ran.says("check.yaml:2:1: warning: skipped: it is a dialogue of the original tool")
        .says("list what the user says under `turns`")
        .says("check.yaml:3:1: warning: unknown key `initial_user_intent`")
        .says("it is the first message of `turns`")
        .says("4:1: warning: unknown key `expected_dialog_flow`")
        .says("6:1: warning: unknown key `max_turns`")
        .says("1 valid scenario, 0 errors, 4 warnings");

    // A suite runs without them, and says so; alone they are nothing that could be green.
    project.file("scenarios/a.yaml", format!("name: a\n{CALL}"));
    project.expect(0, &["record"]);
    let result = project.result(0, &["compare"]);
    let check = &result["scenarios"][1];
    assert_eq!(check["status"], "skipped", "{check}");
    assert!(check["problem"].to_string().contains("`turns`"), "{check}");
    project
        .expect(0, &["compare"])
        .says("check.yaml:2:1: warning: skipped")
        .says_not("unknown key")
        .says("1/1 tests passed");
    project.expect(3, &["compare", "scenarios/multi_turn"]);

    // One of their keys elsewhere is wrong.
    project.file("scenarios/b.yaml", format!("name: b\nmax_turns: 3\n{CALL}"));
    project
        .expect(2, &["validate"])
        .says("b.yaml:2:1: error: unknown key `max_turns`");
}
