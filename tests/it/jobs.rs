//! How many scenarios run at once where nobody says it: all that have servers of their own, and one of those that share something.

use serde_json::{Value, json};

use crate::common::{Project, StandIn, faulty_server, free_port, served};

/// Writes a scenario whose agent does this in a shell, with these servers.
fn scenario(project: &Project, name: &str, servers: &Value, script: &str, more: &Value) {
    let mut scenario = json!({ "name": name, "servers": servers, "user_intent": "work",
        "evaluators": [{ "type": "within", "duration": "1h" }],
        "agent": { "kind": "command", "command": ["sh", "-c", script], "cwd": ".." } });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    let path = format!("scenarios/{name}.yaml");
    project.file(&path, scenario.to_string());
}

/// Works only while nobody else does.
const ALONE: &str = "mkdir lock || exit 9; sleep 0.3; rmdir lock";

/// Works only while another one, of this name, does.
fn beside(own: &str, other: &str) -> String {
    format!(
        "touch {own}; for i in $(seq 500); do test -e {other} && exit 0; sleep 0.02; done; exit 9"
    )
}

/// A server of the scenario's own.
fn own() -> Value {
    json!({ "s": { "type": "stdio", "command": faulty_server() } })
}

/// A server that outlives every run.
fn shared(project: &Project) -> (StandIn, Value) {
    let (server, url) = served(project, &["mock", "--transport", "http"]);
    (server, json!({ "s": { "type": "http", "url": url } }))
}

fn ids(result: &Value) -> Vec<&str> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios.map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
fn scenarios_with_servers_of_their_own_run_at_once() {
    let project = Project::new();
    scenario(&project, "a", &own(), &beside("a", "b"), &json!({}));
    scenario(&project, "b", &own(), &beside("b", "a"), &json!({}));
    for jobs in [&["run"][..], &["run", "--jobs", "auto"]] {
        let result = project.result(0, jobs);
        assert_eq!(ids(&result), ["a", "b"]);
        std::fs::remove_file(project.path("a")).unwrap();
        std::fs::remove_file(project.path("b")).unwrap();
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn scenarios_that_share_something_run_one_at_a_time() {
    let project = Project::new();
    let (_mock, url) = shared(&project);
    let port = free_port();
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let fixed = json!({ "s": { "type": "http", "url": format!("http://127.0.0.1:{port}/mcp"),
        "start": { "command": program,
            "args": ["mock", "--transport", "http", "--port", port.to_string()] } } });
    let hooks = json!({ "before": [["true"]] });
    scenario(&project, "a", &url, ALONE, &json!({}));
    scenario(&project, "b", &url, ALONE, &json!({}));
    scenario(&project, "c", &own(), ALONE, &hooks);
    scenario(&project, "d", &fixed, ALONE, &json!({}));
    scenario(&project, "e", &fixed, ALONE, &json!({}));
    let result = project.result(0, &["run"]);
    assert_eq!(ids(&result), ["a", "b", "c", "d", "e"]);
    // Whoever names a number knows better.
    project.expect(3, &["run", "--jobs", "3"]);
}

#[test]
fn one_that_shares_something_runs_beside_those_that_do_not() {
    let project = Project::new();
    let (_mock, url) = shared(&project);
    // The second cannot run beside the first, so that the third comes before it; results keep their order.
    scenario(&project, "a", &url, &beside("a", "c"), &json!({}));
    scenario(&project, "b", &url, "test -e c", &json!({}));
    scenario(&project, "c", &own(), &beside("c", "a"), &json!({}));
    let result = project.result(0, &["run"]);
    assert_eq!(ids(&result), ["a", "b", "c"]);
}

#[test]
fn the_number_is_one_or_auto() {
    let project = Project::new();
    scenario(&project, "a", &own(), "true", &json!({}));
    project
        .expect(2, &["run", "--jobs", "many"])
        .says("write a number from 1 to 256, or auto");
    for wrong in ["0", "257", "-1"] {
        let ran = project.expect(2, &["run", "--jobs", wrong]);
        ran.says(&format!("{wrong} is not in 1..=256"));
    }
    project.expect(0, &["run", "--jobs", "256"]);
}
