//! What a scenario says of an agent that is a program.

use serde_json::{Value, json};

use super::kit::{Stage, faulty, mock, steps};
use crate::common::ran;

#[test]
fn placeholders_are_filled_in() {
    let more = json!({ "agent": {
        "model": "${SIZE:-small}",
        "env": { "ASKED": "<${prompt}>", "WHICH": "${model}", "WHERE": "${mcp_config}", "GIVEN": "${GIVEN:-none}" },
    } });
    let agent = [
        "read",
        "print ${prompt} ${model} $${literal}",
        "env ASKED",
        "env WHICH",
        "env GIVEN",
        "env MCP_EVAL_PROMPT",
        "env CANARY",
        "folder",
        "config",
    ];
    let stage = Stage::with(&agent, &faulty(&[]), &more);
    let mut command = stage.project.command();
    command
        .args(["run"])
        .env("CANARY", "x")
        .env("GIVEN", "this");
    let done = ran(&mut command);
    assert_eq!(done.code, 0, "{done:#?}");
    let recorded = stage.recorded();
    assert_eq!(recorded["stamp"]["model"], "small");
    let said = recorded["steps"][1]["text"].as_str().unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines[..7],
        [
            // The prompt is on its command line, so it is not on stdin.
            "stdin: ",
            "Do I need an umbrella? small ${literal}",
            "ASKED=Some(\"<Do I need an umbrella?>\")",
            "WHICH=Some(\"small\")",
            "GIVEN=Some(\"this\")",
            "MCP_EVAL_PROMPT=Some(\"Do I need an umbrella?\")",
            "CANARY=None",
        ]
    );
    assert!(lines[7].starts_with("0 files in "), "{said}");
    let [path, rights, config] = lines[8].splitn(3, ' ').collect::<Vec<_>>()[..] else {
        panic!("{said}");
    };
    assert_eq!(rights, "600");
    let config: Value = serde_json::from_str(config).unwrap();
    assert_eq!(config["mcpServers"]["s"]["type"], "http");
    assert!(
        !std::path::Path::new(path).exists(),
        "{path} is left behind"
    );
    assert!(!std::path::Path::new(lines[7].split_once(" in ").unwrap().1).exists());
}

#[test]
fn folders_and_programs_belong_to_the_scenario() {
    let more = json!({ "agent": { "command": ["bin/agent", "${prompt}"], "cwd": "here" } });
    let stage = Stage::with(&[], &faulty(&[]), &more);
    stage.project.file("scenarios/here/a", "");
    let script = "#!/bin/sh\npwd; ls; echo \"$1\"\n";
    stage.project.file("scenarios/bin/agent", script);
    let path = stage.project.path("scenarios/bin/agent");
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, all).unwrap();
    let (_, recorded) = stage.run(0);
    let said = recorded["steps"][1]["text"].as_str().unwrap();
    assert!(
        said.ends_with("/scenarios/here\na\nDo I need an umbrella?"),
        "{said}"
    );
}

#[test]
fn what_makes_no_sense_is_found_when_the_file_is_read() {
    let cases = [
        (
            json!({ "agent": { "command": null } }),
            "missing key `command`",
        ),
        (json!({ "agent": { "command": [] } }), "names no program"),
        (
            json!({ "agent": { "command": "agent" } }),
            "expected a list",
        ),
        (
            json!({ "agent": { "format": "generc" } }),
            "did you mean `generic`?",
        ),
        (
            json!({ "agent": { "comand": ["x"] } }),
            "did you mean `command`?",
        ),
        (
            json!({ "agent": { "env": { "A": "${B" } } }),
            "has no closing",
        ),
        (
            json!({ "agent": { "system": "x" } }),
            "`system` means nothing for this kind of agent",
        ),
        (
            json!({ "agent": { "price": { "input": 1, "output": 1 } } }),
            "how many tokens this agent uses is unknown",
        ),
        (
            json!({ "limits": { "max_total_tokens": 5 } }),
            "`max_total_tokens` cannot be kept",
        ),
        (
            json!({ "limits": { "max_cost": 5 } }),
            "`max_cost` cannot be kept",
        ),
        (
            json!({ "user_intent": null, "turns": ["a", "b"] }),
            "is given one message",
        ),
        (
            json!({ "user_intent": null }),
            "the agent has nothing to do",
        ),
        (
            json!({ "agent": { "kind": "replay" } }),
            "`command` means nothing for this kind of agent",
        ),
    ];
    for (more, message) in cases {
        let stage = Stage::with(&[], &faulty(&[]), &more);
        stage.project.expect(2, &["validate"]).says(message);
    }
    let stage = Stage::with(
        &[],
        &faulty(&[]),
        &json!({ "user_intent": null, "turns": ["a"] }),
    );
    stage.project.expect(0, &["validate"]);
}

#[test]
fn the_command_line_chooses_model_and_agent() {
    let more = json!({ "expected_trajectory": [{ "tool": "echo" }] });
    let stage = Stage::with(&["print ${model}"], &faulty(&[]), &more);
    stage
        .project
        .expect(3, &["run"])
        .says("`${model}` has no value");
    stage.project.expect(1, &["run", "--model", "big"]);
    assert_eq!(steps(&stage.recorded())[1], "assistant: big");
    stage.project.expect(0, &["run", "--agent", "scripted"]);
    assert_eq!(steps(&stage.recorded())[1], "s.echo {} ok");
    stage
        .project
        .expect(2, &["run", "--budget", "1"])
        .says("does not tell what it uses");
    let stage = Stage::new(&["print x"], &faulty(&[]));
    stage
        .project
        .expect(2, &["run", "--model", "big"])
        .says("no scenario has an agent with a model");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_recording_is_compared_and_replayed() {
    let (servers, interactions) = mock();
    let more = json!({ "mcp_interactions": interactions });
    let calls = [r#"call weather forecast {"city": "Lisbon"}"#];
    let stage = Stage::with(&calls, &servers, &more);
    let recorded = stage.project.expect(0, &["record", "-v"]);
    recorded.says("kept as").says_not("takes");
    stage.project.expect(0, &["compare"]);
    stage.project.expect(0, &["compare", "--agent", "replay"]);
    stage
        .project
        .expect(0, &["list", "--format", "json"])
        .says("weather");
    stage.project.edit("scenarios/s.yaml", "Lisbon", "Nowhere");
    stage
        .project
        .expect(3, &["compare"])
        .says("not the same experiment");
    stage.project.expect(1, &["compare", "--allow-changed"]);
}
