//! Takes of a recording: how far apart they are, and what is made of what differs between them.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Project, served};

/// Runs a command as users have it, with takes apart.
fn as_users(project: &Project, arguments: &[&str]) -> Output {
    let mut command = project.command();
    command.env_remove("MCP_EVAL_TAKES_APART").args(arguments);
    command.output().unwrap()
}

#[track_caller]
fn ends_with(code: i32, project: &Project, arguments: &[&str]) -> String {
    let output = as_users(project, arguments);
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    said
}

/// A scenario that plays calls on a mock server that a shell starts, after these commands: nobody knows that it is one.
fn started_by_a_shell(project: &Project, name: &str, first: &str, calls: &Value) {
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let mock = format!("{first}; exec '{program}' mock ../mock.yaml");
    let scenario = json!({ "name": name, "expected_trajectory": calls,
        "servers": { "desk": { "command": "sh", "args": ["-c", mock], "cwd": "." } } });
    project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
}

fn mock(project: &Project, answer: &str) {
    let tool = |name: &str, reads: bool, answer: &str| json!({ "name": name, "annotations": { "read_only_hint": reads }, "responses": [{ "content": answer }] });
    let tools = [
        tool("look", true, answer),
        tool("list", true, "nothing"),
        tool("write", false, "written"),
    ];
    let mock = json!({ "mcp_interactions": { "desk": { "tools": tools } } });
    project.file("mock.yaml", mock.to_string());
}

fn baseline(project: &Project, name: &str) -> Value {
    let text = project.read(Path::new("baselines").join(name).join("baseline.json"));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_is_made_of_the_second_is_learned_to_vary() {
    let project = Project::new();
    mock(&project, "now SECOND");
    let stamp = "sed -i \"s/now [A-Z0-9a-f-]*/now W-$(date +%s)-f/\" ../mock.yaml";
    started_by_a_shell(&project, "s", stamp, &json!([{ "tool": "look" }]));
    ends_with(0, &project, &["record"]);
    let learned = &baseline(&project, "s")["learned"];
    assert_ne!(learned[0]["varies"], json!([]), "{learned}");
    ends_with(0, &project, &["compare"]);
    // What is shorter is asked for, or is not needed.
    project.edit(
        "scenarios/s.yaml",
        "{\"name\"",
        "{\"scoring\": {\"takes_apart\": \"0s\"}, \"name\"",
    );
    ends_with(0, &project, &["record"]);
    project.edit("scenarios/s.yaml", "0s", "-1s");
    ends_with(2, &project, &["record"]);
}

#[test]
fn another_scenario_runs_while_one_waits_for_its_second_take() {
    let project = Project::new();
    mock(&project, "fine");
    for name in ["a", "b"] {
        let calls = json!([{ "tool": "look" }]);
        started_by_a_shell(&project, name, &format!("echo {name} >> ../log"), &calls);
    }
    ends_with(0, &project, &["record", "--jobs", "1"]);
    assert_eq!(project.read("log"), "a\nb\na\nb\n");
    project.file("log", "");
    ends_with(0, &project, &["record", "--jobs", "1", "--fail-fast"]);
    assert_eq!(project.read("log"), "a\na\nb\nb\n");
}

#[test]
fn reads_are_asked_again_together_before_an_effect_and_in_the_end() {
    let project = Project::new();
    mock(&project, "fine");
    let (_server, url) = served(
        &project,
        &[
            "mock",
            "mock.yaml",
            "--transport",
            "http",
            "--call-log",
            "log",
        ],
    );
    let calls = ["look", "list", "write", "look"].map(|it| json!({ "tool": it }));
    let scenario =
        json!({ "name": "s", "servers": { "desk": { "url": url } }, "expected_trajectory": calls });
    project.file("scenarios/s.yaml", scenario.to_string());
    let begun = Instant::now();
    ends_with(0, &project, &["record"]);
    assert!(begun.elapsed() > Duration::from_millis(2200));
    let log = project.read("log");
    let log = log
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap()["tool"].clone());
    let order = ["look", "list", "look", "list", "write", "look", "look"];
    assert_eq!(log.collect::<Vec<Value>>(), order);
    let learned = baseline(&project, "s")["learned"].clone();
    let takes = learned.as_array().unwrap().iter().map(|it| &it["takes"]);
    assert_eq!(takes.collect::<Vec<_>>(), [2, 2, 2]);
}

/// A scenario whose server reads its answer from the file `answer`, a line for each start, of which the last one stays.
fn scripted_answers(scoring: &Value) -> Project {
    let project = Project::new();
    mock(&project, "ANSWER");
    let next = "sed \"s/ANSWER/$(head -n 1 ../answer)/\" ../mock.yaml > ../own.yaml; test $(wc -l < ../answer) = 1 || sed -i 1d ../answer";
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let server = format!("{next}; exec '{program}' mock ../own.yaml");
    let scenario = json!({ "name": "s", "expected_trajectory": [{ "tool": "look" }], "scoring": scoring,
        "servers": { "desk": { "command": "sh", "args": ["-c", server], "cwd": "." } } });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.file("answer", "approved\n");
    project.expect(0, &["record"]);
    project
}

#[test]
fn what_passes_when_it_is_asked_once_more_is_unsteady() {
    let project = scripted_answers(&json!({}));
    let compared = |answers: &str, code: i32| {
        project.file("answer", answers);
        let result = project.result(code, &["compare"]);
        result["scenarios"][0].clone()
    };
    let unsteady = compared("starting\napproved\n", 3);
    assert_eq!(unsteady["status"], "inconclusive");
    assert_eq!(unsteady["flaky"], true);
    let answers = &unsteady["unsteady"]["answers"][0];
    assert_eq!(answers["call"], 1);
    assert!(answers["first"].as_str().unwrap().contains("starting"));
    assert!(answers["again"].as_str().unwrap().contains("approved"));
    assert_eq!(unsteady["comparison"]["changes"], json!([]));
    let document: Value =
        serde_json::from_str(&project.read(project.last_run().join("result.json"))).unwrap();
    let blamed = document["causes"].as_array().unwrap().iter();
    assert!(
        blamed.clone().all(|it| it["whose"].is_null()),
        "{document:#}"
    );
    assert_eq!(blamed.count(), 1);
    project.file("answer", "starting\napproved\n");
    project
        .expect(3, &["compare"])
        .says("starting")
        .says("approved");
    // A third value, where recording had seen one alone.
    assert_eq!(
        compared("starting\nstopping\n", 3)["status"],
        "inconclusive"
    );
    // The same again, or the same error with another number.
    assert_eq!(compared("starting\nstarting\n", 1)["status"], "failed");
    assert_eq!(compared("no room 7\nno room 8\n", 1)["status"], "failed");
    // Nothing waits for review that nobody knows of.
    project.file("answer", "approved\n");
    project.expect(0, &["compare"]);
    compared("starting\napproved\n", 3);
    project
        .expect(0, &["review", "--list"])
        .says_not("scenarios/s");
}

#[test]
fn a_server_that_keeps_a_file_is_held_to_all_that_was_in_it() {
    let project = Project::new();
    let tools = json!([
        { "name": "add", "responses": [{ "content": "added" }] },
        { "name": "list", "annotations": { "read_only_hint": true },
          "responses": [{ "content": [{ "json": { "rows": "ROWS", "state": "STATE" } }] }] },
    ]);
    let mock = json!({ "mcp_interactions": { "desk": { "tools": tools } } });
    project.file("mock.yaml", mock.to_string());
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let server = format!(
        r#"echo x >> ../kept; rows=$(sed "s/.*/\"$(cat ../row)\"/" ../kept | paste -sd, -)
        state=$(sed "s/COUNT/$(grep -c x ../kept)/" ../state)
        sed "s/\"ROWS\"/[$rows]/; s/STATE/$state/" ../mock.yaml > ../own.yaml; exec '{program}' mock ../own.yaml"#
    );
    let calls = json!([{ "tool": "add", "args": { "title": "Buy milk" } }, { "tool": "list" }]);
    let scenario = json!({ "name": "s", "expected_trajectory": calls,
        "servers": { "desk": { "command": "sh", "args": ["-c", server], "cwd": "." } } });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.file("row", "Buy milk");
    project.file("state", "fine");
    project
        .expect(0, &["record"])
        .says("one recording influences the next");
    let learned = baseline(&project, "s")["learned"].clone();
    assert_eq!(learned[1]["varies"][0]["may_be"], "grew", "{learned}");
    let recorded = baseline(&project, "s");
    project.expect(0, &["compare"]);
    project.expect(0, &["record"]);
    assert_eq!(baseline(&project, "s"), recorded);
    project.file("row", "WRONG");
    project.expect(1, &["compare"]);
    // Another value each time is no unsteady server, because each run finds what the one before has left.
    project.file("row", "Buy milk");
    project.file("state", "COUNT rows");
    project.expect(1, &["compare"]);
    project.file("state", "fine");
    project.expect(0, &["compare"]);
}

#[test]
fn unsteady_servers_may_be_let_pass_or_not_be_asked_again() {
    let project = scripted_answers(&json!({ "unsteady": "warn" }));
    project.file("answer", "starting\napproved\n");
    let result = project.result(0, &["compare"]);
    assert_eq!(result["scenarios"][0]["status"], "inconclusive");
    let project = scripted_answers(&json!({ "confirm": 0 }));
    project.file("answer", "starting\napproved\n");
    project.expect(1, &["compare"]);
    project.edit("scenarios/s.yaml", "\"confirm\":0", "\"confirm\":2");
    project
        .expect(2, &["validate"])
        .says("expected 0 or 1, found 2");
}

/// A scenario of a mock server over HTTP that outlives its runs.
fn outliving(responses: &Value, calls: &Value) -> (Project, crate::common::StandIn) {
    let project = Project::new();
    let tools = json!([
        { "name": "look", "annotations": { "read_only_hint": true }, "responses": responses },
        { "name": "write", "responses": [{ "content": "written" }] },
    ]);
    let mock = json!({ "mcp_interactions": { "desk": { "tools": tools } } });
    project.file("mock.yaml", mock.to_string());
    let (server, url) = served(
        &project,
        &[
            "mock",
            "mock.yaml",
            "--transport",
            "http",
            "--call-log",
            "log",
        ],
    );
    let scenario =
        json!({ "name": "s", "servers": { "desk": { "url": url } }, "expected_trajectory": calls });
    project.file("scenarios/s.yaml", scenario.to_string());
    (project, server)
}

#[test]
fn reads_of_servers_that_are_still_there_are_asked_once_more() {
    let responses = json!([
        { "times": 2, "content": "approved" },
        { "times": 1, "content": "starting" },
        { "times": 1, "content": "approved" },
        { "content": "stopped" },
    ]);
    let (project, _server) = outliving(&responses, &json!([{ "tool": "look" }]));
    project.expect(0, &["record"]);
    project.expect(3, &["compare"]).says("starting");
    project.expect(1, &["compare"]);
    // An effect behind it may have changed what it is answered.
    let calls = json!([{ "tool": "look" }, { "tool": "write" }]);
    let (project, _server) = outliving(&responses, &calls);
    project.expect(0, &["record"]);
    project.expect(1, &["compare"]);
}

#[test]
fn a_script_repeats_a_read_until_it_holds_something() {
    let responses = json!([
        { "times": 3, "content": [{ "json": { "state": "starting" } }] },
        { "content": [{ "json": { "state": "ready" } }] },
    ]);
    let until = json!({ "path": "/state", "equals": "ready", "timeout": "20s" });
    let calls =
        json!([{ "tool": "write" }, { "tool": "look", "until": until }, { "tool": "write" }]);
    let (project, _server) = outliving(&responses, &calls);
    project.expect(0, &["record", "--takes", "1"]);
    let log = project.read("log");
    assert_eq!(log.lines().count(), 6, "{log}");
    let steps = baseline(&project, "s")["steps"].clone();
    let made = steps
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["kind"] == "tool_call");
    assert_eq!(made.count(), 3, "{steps:#}");
    project.expect(0, &["compare"]);
    // What never holds is an expectation that is not met.
    project.edit(
        "scenarios/s.yaml",
        "\"equals\":\"ready\"",
        "\"equals\":\"gone\"",
    );
    project.edit("scenarios/s.yaml", "20s", "1ms");
    project
        .expect(1, &["record", "--takes", "1"])
        .says("step 2")
        .says("call 2: even after asking for 1ms, /state is");
    project.edit(
        "scenarios/s.yaml",
        "{\"tool\":\"look\",",
        "{\"tool\":\"look\",\"expect\":{\"text\":\"x\"},",
    );
    project.expect(2, &["validate"]).says("`until`");
    let calls = json!([{ "tool": "write", "until": { "text": "written" } }]);
    let (project, _server) = outliving(&responses, &calls);
    project.expect(3, &["record"]).says("only reads");
}

#[test]
fn of_three_takes_that_disagree_the_first_is_dropped_or_the_system_has_two_states() {
    let (one, other) = (r#"{\\"tools\\": null}"#, r#"{\\"tools\\": [1]}"#);
    let project = scripted_answers(&json!({}));
    let recorded = |answers: [&str; 3]| {
        project.file("answer", format!("{}\n", answers.join("\n")));
        project.expect(0, &["record"]).all()
    };
    let said = recorded([one, other, other]);
    assert!(said.contains("so take 2 is the baseline"), "{said}");
    let said = recorded([other, one, other]);
    assert!(said.contains("answers in two ways"), "{said}");
}
