//! Comparing with the server side held still.

use serde_json::{Value, json};

use crate::agent::stand_in::Stage;
use crate::common::{Project, faulty_server, small_agent};

const RECORDED: [&str; 3] = ["compare", "--servers", "recorded"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RECORDED[..], more].concat()
}

fn scenario(result: &Value) -> &Value {
    &result["scenarios"][0]
}

/// A scenario of a server that says what it is called with.
fn recorded(project: &Project) {
    let calls = [
        ("echo", json!({ "q": "one", "n": 1 })),
        ("count", json!({})),
        ("count", json!({})),
    ];
    project.faulty("s", &[], &calls);
    project.expect(0, &["record"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn no_server_is_needed_any_more() {
    let project = Project::new();
    recorded(&project);
    let server = faulty_server();
    project.edit("scenarios/s.yaml", &server, "/gone/${NOT_SET}");
    project.expect(3, &["compare"]).says("NOT_SET");
    let ran = project.expect(0, &RECORDED);
    ran.says("Servers: recorded, held still");
    for pace in [&[][..], &["--agent", "replay"]] {
        let result = project.result(0, &with(pace));
        let scenario = scenario(&result);
        assert_eq!(scenario["comparison"]["scores"]["overall"], 1.0);
        assert_eq!(scenario["comparison"]["drift"], json!([]));
        assert_eq!(scenario["current"]["stamp"]["servers"], "recorded");
        assert_eq!(scenario["baseline"]["stamp"]["servers"], "live");
        let words = "asked the same, and the recording answered the same.";
        assert!(
            scenario["in_words"].as_str().unwrap().ends_with(words),
            "{scenario:#}"
        );
    }
    for page in ["index.html", "s.html"] {
        let page = project.read(format!("reports/latest/{page}"));
        assert!(page.contains("recorded, held still"), "{page}");
    }
    // The run that is kept says it, too, and can be compared again.
    let result = project.result(0, &RECORDED);
    let run = format!(".mcp-eval/runs/{}", result["run_id"].as_str().unwrap());
    let again = project.result(0, &["compare", "--run", &run]);
    assert_eq!(scenario(&again)["current"]["stamp"]["servers"], "recorded");
}

#[test]
fn what_was_not_recorded_is_the_limit_of_the_recording() {
    let project = Project::new();
    recorded(&project);
    project.edit("scenarios/s.yaml", "\"one\"", "\"two\"");
    project
        .expect(3, &RECORDED)
        .says("not the same experiment: call 1 of the script: echo {\"q\":\"one\"");
    let result = project.result(1, &with(&["--allow-changed"]));
    // Answers of a recording are no news of the servers that anybody could accept.
    assert!(!project.path("baselines/s/pending.json").exists());
    let scenario = scenario(&result);
    let note = "1 call has no recorded answer, which is the recording's limit and not a server's doing: call 1";
    assert!(
        scenario["notes"].as_array().unwrap().contains(&json!(note)),
        "{scenario:#}"
    );
    let words = scenario["in_words"].as_str().unwrap();
    assert!(
        words.contains("the change is the agent's doing") && !words.contains("the server "),
        "{words}"
    );
    let kept = project
        .path(".mcp-eval/runs")
        .join(result["run_id"].as_str().unwrap());
    let answer = std::fs::read_to_string(kept.join("current/s.json")).unwrap();
    assert!(
        answer.contains("no recorded call of tool `echo`") && answer.contains("`q` was"),
        "{answer}"
    );
    // The same calls in another number are answered as they were the last time.
    project.edit("scenarios/s.yaml", "\"two\"", "\"one\"");
    project.edit(
        "scenarios/s.yaml",
        "{\"tool\":\"count\",\"args\":{}}]",
        "{\"tool\":\"count\",\"args\":{}},{\"tool\":\"count\",\"args\":{}}]",
    );
    let result = project.result(1, &with(&["--allow-changed"]));
    assert_eq!(self::scenario(&result)["current"]["calls"], 4);
    assert_eq!(self::scenario(&result)["current"]["failed_calls"], 0);
}

#[test]
fn an_agent_that_is_a_program_meets_the_same_servers() {
    let project = Project::new();
    let server = faulty_server();
    let scenario = json!({
        "name": "S",
        "user_intent": "echo",
        "servers": { "s": { "type": "stdio", "command": server } },
        "agent": { "kind": "command", "command": [small_agent(), "call s echo {\"q\":\"one\"}"] },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(0, &["record"]);
    project.edit("scenarios/s.yaml", &server, "/gone");
    project.expect(3, &["compare"]);
    let result = project.result(0, &RECORDED);
    assert_eq!(self::scenario(&result)["current"]["calls"], 1);
    assert_eq!(self::scenario(&result)["current"]["failed_calls"], 0);
}

#[test]
fn a_model_with_another_prompt_meets_the_same_servers() {
    let looks =
        "  - { tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Lisbon } }] }
  - { expect: { tool_results: [{ contains: rain }] }, text: Rain. }\n";
    let stage = Stage::new("kind: openai", "", looks);
    stage.expect(0, &["record"]);
    stage.project.edit(
        "scenarios/s.yaml",
        "model: m,",
        "model: m2, system: Be quick.,",
    );
    stage
        .project
        .edit("scenarios/s.yaml", "sky: rain", "sky: sun");
    stage
        .expect(0, &with(&["--allow-changed"]))
        .says("model m → m2");
    stage.expect(3, &["compare", "--allow-changed"]);
}

#[test]
fn no_container_is_needed_either() {
    let project = Project::new();
    recorded(&project);
    let server = faulty_server();
    let stdio = json!({ "type": "stdio", "command": server, "args": [] }).to_string();
    project.edit(
        "scenarios/s.yaml",
        &stdio,
        "{ \"type\": \"http\", \"url\": \"${docker.url}/mcp\", \"bearer_token_env\": \"NOT_SET\" }",
    );
    project.edit("scenarios/s.yaml", "{\"name\"", "{\"docker\": { \"image\": \"mcp-eval-no-such-image\", \"port\": 80, \"optional\": true }, \"name\"");
    let mut command = project.command();
    command.env("DOCKER_HOST", "tcp://127.0.0.1:1");
    let ran = crate::common::ran(command.args(RECORDED));
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.says("1/1 tests passed");
}

#[test]
fn servers_of_the_command_line_are_held_still_and_unknown_ones_are_reported() {
    let project = Project::new();
    recorded(&project);
    project.edit("scenarios/s.yaml", "\"s\":{", "\"other\":{");
    project
        .expect(3, &RECORDED)
        .says("baseline.json has recorded `s` alone, and nothing of `other`")
        .says("record the baseline again");
    // One that came from the command line when recording is in the baseline alone.
    project.edit("scenarios/s.yaml", "\"servers\":{", "\"x-servers\":{");
    project.expect(0, &RECORDED);
    for more in [&["--mcp-config", "x.json"][..], &["--run", "x.json"]] {
        project.expect(2, &with(more)).says("cannot be used with");
    }
}
