//! A suite of the original tool is moved: its scenarios load as they are, and its recordings become the baselines of its scenarios.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Project, copy, manual, ran};
use crate::import_log::fixture;

/// A checkout of the original tool in a folder of the project: a scenario and a recording of the shape that it has, and its file of servers,
/// which leads to a mock here.
pub(crate) fn old_suite(project: &Project, folder: &str) {
    let at = |path: &str| format!("{folder}/{path}");
    project.file(
        &at("scenarios/tool_management/greet_guest.yaml"),
        r#"enabled: true
name: "Greet a guest, and say so"
description: "User has a guest greeted"
config_file: "configs/minimal_config.json"
user_intent: "Greet Ada and note it down"

expected_trajectory:
  - action: "greet"
    tool: "mcp__front__desk__greet"
    args:
      guest: "Ada"

success_criteria:
  - "mcp__front__desk__greet"
  - "hello"
  - "The guest feels welcome afterwards"

tags:
  - "guests"
"#,
    );
    project.file(
        &at("scenarios/multi_turn/quick_check.yaml"),
        r#"enabled: true
name: "Quick check, with questions"
type: "multi_turn_dialog"
config_file: "configs/minimal_config.json"

initial_user_intent: "Is everything fine?"

expected_dialog_flow:
  - turn: 1
    agent_action: "Look"
    expected_tools: ["mcp__front__desk__greet"]
    user_response_pattern: "And the book?"

max_turns: 4

success_criteria:
  - "The agent looks first"
"#,
    );
    let recording = "greet_guest_baseline/greet_guest_baseline/detailed_log.json";
    project.file(&at(&format!("baselines/{recording}")), fixture("greeting"));
    project.file(&at("testing/docker/Dockerfile"), "FROM scratch\n");
    project.file(
        &at("configs/minimal_config.json"),
        json!({ "listen": ":8080", "mcpServers": [] }).to_string(),
    );
    let answer = |name: &str, responses: Value| json!({ "name": name, "responses": responses });
    let mocks = json!({ "mcp_interactions": {
        "desk": { "tools": [answer("greet", json!([{ "content": [{ "json": { "said": "hello" } }] }]))] },
        "book": { "tools": [answer("note", json!([{ "content": "the book is closed", "is_error": true }]))] },
    } });
    project.file(&at("mocks.yaml"), mocks.to_string());
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let mock = |name: &str| {
        let args = ["mock", "mocks.yaml", "--server", name];
        json!({ "command": program, "args": args })
    };
    let servers = json!({ "mcpServers": { "front__desk": mock("desk"), "front": mock("book") } });
    project.file(&at("mcp_servers.json"), servers.to_string());
}

/// The program, in the folder of the suite.
fn run(project: &Project, arguments: &[&str]) -> crate::common::Ran {
    let mut command = project.command();
    command.args(arguments).current_dir(project.path("old"));
    ran(&mut command)
}

/// The lines of the README that put an old suite into containers.
fn two_lines() -> String {
    let readme = manual();
    let lines = readme.lines();
    let lines: Vec<&str> = lines
        .skip_while(|it| !it.starts_with("docker: { build: ../testing/docker"))
        .take(2)
        .collect();
    assert_eq!(lines.len(), 2);
    format!("{}\n", lines.join("\n"))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_old_suite_moves_in_five_commands() {
    let project = Project::new();
    old_suite(&project, "old");
    let validated = run(&project, &["validate"]);
    assert_eq!(validated.code, 0, "{validated:#?}");
    validated.says("quick_check.yaml:3:1: warning: skipped: it is a dialogue");
    let imported = run(&project, &["import", "original", "baselines"]);
    assert_eq!(imported.code, 0, "{imported:#?}");
    imported
        .says("● tool_management/greet_guest: 2 calls")
        .says(
            "the baseline of scenarios/tool_management/greet_guest.yaml by the name of its folder",
        );
    let again = run(&project, &["import", "original", "baselines"]);
    assert_eq!(again.code, 2, "{again:#?}");
    again.says("is there already (--force replaces it)");
    let listed = run(&project, &["list"]);
    listed.says("tool_management/greet_guest");
    let compare = [
        "compare",
        "--agent",
        "replay",
        "--mcp-config",
        "mcp_servers.json",
    ];
    let compared = run(&project, &compare);
    assert_eq!(compared.code, 0, "{compared:#?}");
    compared.says("Suite Results: 1/1 tests passed");

    let mocks = project.read("old/mocks.yaml").replace("hello", "go away");
    project.file("old/mocks.yaml", mocks);
    let compared = run(&project, &compare);
    assert_eq!(compared.code, 1, "{compared:#?}");
    compared.says("go away");
}

#[test]
fn two_lines_put_it_into_containers() {
    let project = Project::new();
    old_suite(&project, "old");
    project.file("old/scenarios/_defaults.yaml", two_lines());
    // Its servers are those of the proxy alone now.
    project.edit(
        "old/scenarios/tool_management/greet_guest.yaml",
        "mcp__front__desk__",
        "mcp__mcpproxy__",
    );
    let validated = run(&project, &["validate"]);
    assert_eq!(validated.code, 0, "{validated:#?}");
    validated.says("2 valid scenarios, 0 errors");
    let listed = run(&project, &["list", "--format", "json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert!(listed.to_string().contains("mcpproxy"), "{listed}");
}

#[test]
fn a_recording_finds_its_scenario() {
    let scenario = |name: &str, intent: &str| {
        json!({ "name": name, "user_intent": intent, "servers": { "s": { "command": "x" } }, "expected_trajectory": [{ "tool": "t" }] })
            .to_string()
    };
    let (name, intent) = ("Greet a guest", "Greet Ada  and\nnote it down");
    let other = scenario("Other", "something else");
    for (files, recording, id, because) in [
        // What it says of itself in full wins over where it lies.
        (
            vec![("a", scenario(name, intent)), ("x", other.clone())],
            "x",
            "a",
            Some("its name and what it asks"),
        ),
        (
            vec![("team/x", other.clone()), ("b", scenario(name, "?"))],
            "x_baseline/x_baseline",
            "team/x",
            Some("the name of its folder"),
        ),
        (
            vec![("a", scenario(name, "?")), ("b", other.clone())],
            "x",
            "a",
            Some("its name"),
        ),
        (
            vec![("a", scenario("A", intent)), ("b", other.clone())],
            "x",
            "a",
            Some("what it asks"),
        ),
        // Of two, nobody knows which.
        (
            vec![("a", scenario(name, "?")), ("b", scenario(name, "!"))],
            "x_baseline/x_baseline",
            "x",
            None,
        ),
        (
            vec![("one/x", other.clone()), ("two/x", other.clone())],
            "x",
            "x",
            None,
        ),
        // A file that is not valid has a name all the same.
        (
            vec![("x", "name: [".to_owned())],
            "x_baseline",
            "x",
            Some("the name of its folder"),
        ),
    ] {
        let project = Project::new();
        for (file, text) in &files {
            project.file(&format!("scenarios/{file}.yaml"), text);
        }
        project.file(
            &format!("recordings/{recording}/detailed_log.json"),
            fixture("greeting"),
        );
        let result = project.result(0, &["import", "original", "recordings"]);
        let imported = &result["recordings"][0];
        assert_eq!(imported["id"], id, "{files:?}");
        assert_eq!(imported["because"], json!(because), "{files:?}");
        let baseline: Value =
            serde_json::from_str(&project.read(format!("baselines/{id}/baseline.json"))).unwrap();
        assert_eq!(baseline["scenario"]["id"], id);
    }
}

#[test]
fn of_two_recordings_the_one_that_says_more_is_its_scenarios() {
    for (weak, strong) in [
        ("greet", "later"),
        ("greet_baseline/greet_baseline", "another"),
    ] {
        let project = Project::new();
        let scenario = json!({ "name": "Greet a guest", "user_intent": "Greet Ada and note it down", "servers": { "s": { "command": "x" } }, "expected_trajectory": [{ "tool": "t" }] });
        project.file("scenarios/greet.yaml", scenario.to_string());
        let log = |change: &str| fixture("greeting").replace("Greet a guest", change);
        // It lies in a folder of that name, and comes from another scenario.
        project.file(
            &format!("recordings/{weak}/detailed_log.json"),
            log("Something else"),
        );
        project.file(
            &format!("recordings/{strong}/detailed_log.json"),
            log("Greet a guest"),
        );
        let result = project.result(2, &["import", "original", "recordings"]);
        let recordings = result["recordings"].as_array().unwrap();
        let kept: Vec<&Value> = recordings
            .iter()
            .filter(|it| !it["baseline"].is_null())
            .collect();
        let [kept] = kept.as_slice() else {
            panic!("{result:#}")
        };
        assert_eq!(
            kept["path"],
            format!("recordings/{strong}/detailed_log.json")
        );
        assert_eq!(kept["because"], "its name and what it asks");
        let other = recordings
            .iter()
            .find(|it| it["baseline"].is_null())
            .unwrap();
        assert!(
            other["problem"].as_str().unwrap().contains(strong),
            "{other}"
        );
    }
}

#[test]
fn what_its_scenario_calls_secret_is_no_part_of_a_baseline() {
    let project = Project::new();
    project.file(
        "scenarios/greeting.yaml",
        json!({ "name": "G", "redact": { "patterns": ["greet[a-z]*d"] }, "servers": { "s": { "command": "x" } }, "expected_trajectory": [{ "tool": "t" }] }).to_string(),
    );
    project.file("recordings/greeting/detailed_log.json", fixture("greeting"));
    project.expect(0, &["import", "original", "recordings"]);
    assert!(
        !project
            .read("baselines/greeting/baseline.json")
            .contains("greeted")
    );
}

/// On a checkout of the original tool where one is named, and on two files of the same shape otherwise.
#[test]
fn a_whole_checkout_is_valid_before_and_after_it_is_put_into_containers() {
    let project = Project::new();
    old_suite(&project, "old");
    let checkout = std::env::var_os("MCP_EVAL_ORIGINAL").map(PathBuf::from);
    for folder in ["scenarios", "configs", "testing"] {
        let from = checkout.as_ref().map(|it| it.join(folder));
        if let Some(from) = from.filter(|it| it.is_dir()) {
            copy(&from, &project.path(Path::new("old").join(folder)));
        }
    }
    let count = |validated: &crate::common::Ran| {
        let last = validated.stdout.lines().last().unwrap();
        let count = last.split(' ').next().unwrap();
        count.parse::<usize>().unwrap()
    };
    let validated = run(&project, &["validate"]);
    assert_eq!(validated.code, 0, "{validated:#?}");
    let scenarios = count(&validated);
    assert!(checkout.is_none() || scenarios > 10, "{validated:#?}");
    run(&project, &["import", "original", "baselines"]).says("by the name of its folder");
    project.file("old/scenarios/_defaults.yaml", two_lines());
    let validated = run(&project, &["validate"]);
    assert_eq!(
        (validated.code, count(&validated)),
        (0, scenarios),
        "{validated:#?}"
    );
}
