//! A program that is chosen on the command line to be the agent.

use serde_json::json;

use super::kit::{Stage, mock, steps};
use crate::common::{ran, small_agent};

/// A scenario of a scripted agent.
fn scripted() -> Stage {
    let (servers, interactions) = mock();
    let more = json!({
        "mcp_interactions": interactions,
        "expected_trajectory": [{ "tool": "forecast", "args": { "city": "Nowhere" } }],
        "success_criteria": [],
    });
    let stage = Stage::with(&[], &servers, &more);
    let path = stage.project.path("scenarios/s.yaml");
    let mut scenario: serde_json::Value = serde_json::from_str(&stage.project.read(&path)).unwrap();
    scenario.as_object_mut().unwrap().remove("agent");
    stage.project.file("scenarios/s.yaml", scenario.to_string());
    stage
}

#[test]
fn a_program_is_the_agent_for_once() {
    let stage = scripted();
    let line = format!("'{}' 'print asked: ${{prompt}} ${{model}}'", small_agent());
    let mut command = stage.project.command();
    command.args([
        "run",
        "--agent",
        "command",
        "--model",
        "m-7",
        "--agent-command",
        &line,
    ]);
    let done = ran(&mut command);
    let recorded = stage.recorded();
    assert_eq!(recorded["stamp"]["agent"], "command", "{done:#?}");
    let said = steps(&recorded);
    assert!(
        said.iter()
            .any(|it| it.contains("asked: Do I need an umbrella? m-7")),
        "{said:#?}"
    );
    // The command that is offered names the program, too.
    let result = stage.project.result(
        done.code,
        &["run", "--model", "m-7", "--agent-command", &line],
    );
    let options = result["called"]["options"].to_string();
    assert!(options.contains("--agent-command"), "{options}");
}

#[test]
fn without_a_program_there_is_a_way_out() {
    let stage = scripted();
    let project = &stage.project;
    project
        .expect(2, &["run", "--agent", "command"])
        .says("names no program that could be the agent")
        .says("--agent-command");
    project
        .expect(2, &["run", "--agent", "scripted", "--agent-command", "x"])
        .says("go with --agent command");
    project
        .expect(2, &["run", "--agent-command", "'x"])
        .says("a quote is not closed");
}

#[test]
fn a_scenario_s_own_program_stays() {
    let (servers, interactions) = mock();
    let more = json!({ "mcp_interactions": interactions });
    let stage = Stage::with(&["print here"], &servers, &more);
    stage.project.expect(0, &["run", "--agent", "command"]);
    let said = steps(&stage.recorded());
    assert!(said.iter().any(|it| it.contains("here")), "{said:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_scenario_that_names_nobody_is_asked_by_the_program_of_the_command_line() {
    let stage = scripted();
    let project = &stage.project;
    let path = "scenarios/s.yaml";
    let mut scenario: serde_json::Value = serde_json::from_str(&project.read(path)).unwrap();
    scenario
        .as_object_mut()
        .unwrap()
        .remove("expected_trajectory");
    project.file(path, scenario.to_string());
    let line = format!("'{}' 'print {{}} ${{prompt}}'", small_agent());
    let by_program = ["--agent", "command", "--agent-command", &line];
    let with = |command: &'static str| [&[command], &by_program[..]].concat();
    for arguments in [with("run"), with("record"), with("compare")] {
        project.expect(0, &arguments);
        let said = steps(&stage.recorded());
        assert!(
            said.iter().any(|it| it.contains("Do I need an umbrella?")),
            "{said:#?}"
        );
    }
    // What runs nothing needs nobody who asks.
    project.expect(0, &["list"]).says("s");
    project.expect(
        0,
        &["compare", "--run", "latest", "--baseline", "baselines"],
    );
    project.expect(
        0,
        &["run", "--matrix", "agent=command", "--agent-command", &line],
    );
    // A script still needs its calls, and a program its name.
    for arguments in [&["run"][..], &["validate"], &["run", "--agent", "scripted"]] {
        project
            .expect(2, arguments)
            .says("the scripted agent has nothing to play")
            .says("name another agent, under `agent` or with `--agent`");
    }
    project
        .expect(2, &["run", "--agent", "command"])
        .says("names no program that could be the agent")
        .says("--agent-command");
    scenario.as_object_mut().unwrap().remove("user_intent");
    project.file(path, scenario.to_string());
    project
        .expect(2, &with("run"))
        .says("does not say what the user wants");
}
