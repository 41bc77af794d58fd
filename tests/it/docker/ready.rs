//! A container has to prove that it is ready; when it cannot, its state and its last lines are reported.

use serde_json::{Value, json};

use crate::common::Project;
use crate::docker::kit::{HEALTHY, containers, derived, engine, own, searching};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tools_that_never_come_are_named_with_the_state_of_the_container() {
    if !engine("waiting for tools") {
        return;
    }
    let (image, label) = own("never-ready");
    let project = Project::new();
    let ready = json!({ "tools": ["retrieve_tools", "teleport"], "timeout": "1s" });
    let section = json!({ "image": image, "ready": ready });
    searching(&project, &section);
    let ran = project.expect(3, &["run", "-v"]);
    ran.says("not ready after 1s: still waiting for tools 1/2, missing `teleport`")
        .says("`ready.timeout` changes how long")
        .says("the container is running")
        .says("its last lines:")
        .says("{\"port\":8080");
    assert_eq!(containers(&[&label]), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn too_few_tools_are_counted_while_waiting() {
    if !engine("counting tools") {
        return;
    }
    let project = Project::new();
    let section = json!({ "ready": { "min_tools": 99, "timeout": "15s" } });
    searching(&project, &section);
    project
        .expect(3, &["run", "-v"])
        .says("waiting for tools 9/99");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_health_check_of_an_image_comes_first() {
    if !engine("health checks") {
        return;
    }
    let project = Project::new();
    searching(&project, &json!({ "image": HEALTHY }));
    let ran = project.expect(0, &["run", "-v"]);
    let health = ran.stderr.find("waiting for its health check").unwrap();
    let initialize = ran
        .stderr
        .find("waiting for an answer to MCP `initialize`")
        .unwrap();
    assert!(health < initialize, "{ran:#?}");

    let image = "mcp-eval-test/demo:unhealthy";
    let check = "HEALTHCHECK --interval=100ms --retries=2 CMD [\"/bin/mcp-eval\", \"mock\", \"--nonsense\"]";
    derived(image, check);
    searching(&project, &json!({ "image": image }));
    project
        .expect(3, &["run"])
        .says("the container is unhealthy, its health check says: error: unexpected argument '--nonsense'");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_list_of_tools_has_to_settle() {
    if !engine("settling") {
        return;
    }
    let project = Project::new();
    let section = json!({ "ready": { "min_tools": 9, "settle": "300ms" } });
    searching(&project, &section);
    project
        .expect(0, &["run", "-v"])
        .says("waiting for 9 tools to stay the same for 300ms");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_container_that_exits_at_once_is_quoted() {
    if !engine("containers that exit at once") {
        return;
    }
    let project = Project::new();
    let section = json!({ "command": ["--nonsense"] });
    searching(&project, &section);
    project
        .expect(3, &["run"])
        .says("the container has exited with code 2")
        .says("unexpected argument '--nonsense'");
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let id = result["run_id"].as_str().unwrap();
    let log = project.read(format!(".mcp-eval/runs/{id}/logs/s.log"));
    assert!(log.contains("--nonsense"), "{log}");
    let page = project.read("reports/latest/s.html");
    assert!(
        page.contains("/logs/s.log\">Log of what was started for it</a>"),
        "{page}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_container_without_enough_memory_says_so() {
    if !engine("memory limits") {
        return;
    }
    let project = Project::new();
    searching(&project, &json!({ "memory": "1k" }));
    project
        .expect(3, &["run"])
        .says("cannot be created")
        .says("give `memory` more");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_fresh_container_is_gone_after_the_run() {
    if !engine("removing containers") {
        return;
    }
    let (image, label) = own("gone");
    let project = Project::new();
    searching(&project, &json!({ "image": image }));
    project.expect(0, &["run"]);
    assert_eq!(containers(&[&label]), [""; 0]);
}
