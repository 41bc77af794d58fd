//! Files that a run leaves in its container.

use serde_json::{Value, json};

use crate::common::{Project, ran};
use crate::docker::kit::{engine, scenario, search, searching};

/// Runs a search in a container that logs its calls, and returns what one evaluator found.
fn found(evaluator: &Value, code: i32) -> Value {
    let project = Project::new();
    scenario(
        &project,
        "s",
        &json!({ "command": ["--call-log", "/calls.jsonl"] }),
        &search(),
        &json!({ "evaluators": [evaluator] }),
    );
    let result = project.result(code, &["run"]);
    result["scenarios"][0]["evaluators"][0].clone()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_file_in_a_container_is_judged() {
    if !engine("files in containers") {
        return;
    }
    let there = |more: Value| {
        let mut evaluator = json!({ "type": "file", "container": "docker" });
        let keys = more.as_object().unwrap().clone();
        evaluator.as_object_mut().unwrap().extend(keys);
        evaluator
    };
    let log = "/calls.jsonl";
    let schema = |kind: &str| json!({ "type": "object", "required": [kind] });
    for (evaluator, status, says) in [
        (
            there(json!({ "path": log, "contains": "retrieve_tools", "unchanged": false })),
            "passed",
            "is as expected",
        ),
        (
            there(json!({ "path": log, "contains": "wipe" })),
            "failed",
            "is not as expected",
        ),
        (
            there(json!({ "path": "/proxy.yaml", "unchanged": true })),
            "passed",
            "is as expected",
        ),
        (
            there(json!({ "path": "/nowhere/at/all" })),
            "failed",
            "there is no file",
        ),
        (
            there(json!({ "path": "/bin" })),
            "error",
            "`/bin` is a folder",
        ),
        (
            json!({ "type": "schema-validate", "container": "docker", "path": log, "schema": schema("tool") }),
            "passed",
            "is valid",
        ),
        (
            json!({ "type": "not", "of": there(json!({ "path": log })) }),
            "failed",
            "passes, and should not",
        ),
    ] {
        let code = match status {
            "passed" => 0,
            "failed" => 1,
            _ => 3,
        };
        let evaluation = found(&evaluator, code);
        assert_eq!(evaluation["status"], status, "{evaluator}: {evaluation}");
        let message = evaluation["message"].as_str().unwrap();
        assert!(message.contains(says), "{evaluator}: {message}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_container_keeps_in_memory_is_not_judged_by_what_lies_below() {
    if !engine("files in memory") {
        return;
    }
    let project = Project::new();
    let links = project.path("links");
    std::fs::create_dir(&links).unwrap();
    std::os::unix::fs::symlink("/scratch/a", links.join("file")).unwrap();
    std::os::unix::fs::symlink("/scratch", links.join("folder")).unwrap();
    let evaluator =
        json!({ "type": "file", "container": "docker", "path": "${PLACE}", "exists": false });
    let mounts = json!(["../links:/links:ro", { "tmpfs": true, "target": "/scratch" }]);
    scenario(
        &project,
        "s",
        &json!({ "mounts": mounts }),
        &search(),
        &json!({ "evaluators": [evaluator] }),
    );
    // `validate` does not know the value of a variable.
    for (place, code, says) in [
        (
            "/scratch/a",
            3,
            "`/scratch`: what a container keeps in memory alone",
        ),
        (
            "/proc/1/status",
            3,
            "`/proc`: what a container keeps in memory alone",
        ),
        (
            "/links/file",
            3,
            "`/scratch`: what a container keeps in memory alone",
        ),
        (
            "/links/folder/a",
            3,
            "`/scratch`: what a container keeps in memory alone",
        ),
        ("/links/nothing", 0, "passed"),
    ] {
        let mut command = project.command();
        let ran = ran(command.env("PLACE", place).args(["run", "-v"]));
        assert_eq!(ran.code, code, "{place}: {ran:#?}");
        ran.says(says);
    }
}

#[test]
fn where_a_file_is_must_make_sense() {
    let project = Project::new();
    for (keys, says) in [
        (
            json!({ "path": "/a", "container": "db" }),
            "there is no container `db`",
        ),
        (
            json!({ "path": "/proc/1/status", "container": "docker" }),
            "`/proc/1/status` is in `/proc`: what a container keeps in memory alone cannot be seen",
        ),
        (
            json!({ "path": "/scratch/a", "container": "docker" }),
            "`/scratch/a` is in `/scratch`: what a container keeps in memory alone cannot be seen",
        ),
        (
            json!({ "path": "a", "container": "docker" }),
            "`a` is not an absolute path",
        ),
        (
            json!({ "path": "/a", "container": "docker", "server": "proxy" }),
            "in the folder of a server or in a container",
        ),
    ] {
        let mounts = json!([{ "tmpfs": true, "target": "/scratch" }]);
        searching(&project, &json!({ "mounts": mounts }));
        let text = project.read("scenarios/s.yaml");
        let mut changed: Value = serde_json::from_str(&text).unwrap();
        let mut evaluator = keys.clone();
        evaluator["type"] = json!("file");
        changed["evaluators"] = json!([{ "type": "all_of", "of": [evaluator] }]);
        project.file("scenarios/s.yaml", changed.to_string());
        project.expect(2, &["validate"]).says(says);
    }
}
