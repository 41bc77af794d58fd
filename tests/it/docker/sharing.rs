//! Who has which container: a fresh one for every run, one for a whole command, one that is left running, or none of ours.

use serde_json::{Value, json};

use crate::common::{Project, free_port, ran, small_agent};
use crate::docker::kit::{A, alone, containers, docker, engine, scenario, search, searching};

/// Adds a server; a second time in the same container, that is an error, and the run has failed.
fn add() -> Vec<(&'static str, Value)> {
    vec![(
        "upstream_servers",
        json!({ "operation": "add", "name": "weather" }),
    )]
}

fn list() -> Vec<(&'static str, Value)> {
    vec![("upstream_servers", json!({ "operation": "list" }))]
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_of_several_workers_has_a_container_of_its_own() {
    if !engine("containers for several workers") {
        return;
    }
    let project = Project::new();
    for number in 1..=8 {
        let more = json!({ "success_criteria": ["added"] });
        scenario(&project, &format!("s{number}"), &json!({}), &add(), &more);
    }
    project
        .expect(0, &["run", "--jobs", "4"])
        .says("Suite Results: 8/8 tests passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_of_several_attempts_has_a_container_of_its_own() {
    if !engine("containers for several attempts") {
        return;
    }
    let project = Project::new();
    let more = json!({ "success_criteria": ["added"] });
    scenario(&project, "s", &json!({}), &add(), &more);
    let ran = project.expect(0, &["run", "--repeat", "3", "-v"]);
    ran.says("passed 3 of 3");
    assert_eq!(ran.stderr.matches(": starting ").count(), 3, "{ran:#?}");
    // One that is shared keeps what the first attempt has done.
    let shared = json!({ "reset": "suite" });
    scenario(&project, "s", &shared, &add(), &more);
    let ran = project.expect(1, &["run", "--repeat", "3", "-v"]);
    ran.says("passed 1 of 3");
    assert_eq!(ran.stderr.matches(": starting ").count(), 1, "{ran:#?}");
    // What a container said is kept with each attempt, and with the one that is shown.
    let logs = walkdir::WalkDir::new(project.path(".mcp-eval/runs"));
    let logs = logs.into_iter().flatten();
    let logs = logs.filter(|it| it.file_name() == "s.log").count();
    assert_eq!(logs, 8);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_agent_that_is_a_program_has_a_container_of_its_own() {
    if !engine("a container for an agent that is a program") {
        return;
    }
    let project = Project::new();
    let add = "call proxy upstream_servers {\"operation\":\"add\",\"name\":\"weather\"}";
    let more = json!({
        "user_intent": "Add the weather.",
        "expected_trajectory": null,
        "agent": { "kind": "command", "command": [small_agent(), add] },
        "success_criteria": ["added"],
    });
    scenario(&project, "s", &json!({}), &[], &more);
    project.expect(0, &["record"]);
    // Added again, it would be an error.
    let result = project.result(0, &["compare"]);
    assert_eq!(result["scenarios"][0]["current"]["calls"], 1);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn recording_several_takes_resets_before_each() {
    if !engine("recording in a container") {
        return;
    }
    let project = Project::new();
    scenario(&project, "s", &json!({}), &add(), &json!({}));
    let ran = project.expect(0, &["record", "-v"]);
    assert_eq!(ran.stderr.matches(": starting ").count(), 2, "{ran:#?}");
    assert_eq!(
        ran.stderr.matches("upstream_servers: ok").count(),
        2,
        "{ran:#?}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_container_for_the_suite_keeps_its_state_between_scenarios() {
    if !engine("a container for the suite") {
        return;
    }
    let project = Project::new();
    let suite = json!({ "reset": "suite" });
    scenario(
        &project,
        "first",
        &suite,
        &add(),
        &json!({ "success_criteria": ["added"] }),
    );
    let there = json!({ "success_criteria": ["weather"] });
    scenario(&project, "second", &suite, &list(), &there);
    let ran = project.expect(0, &["run", "-v"]);
    assert_eq!(ran.stderr.matches(": starting ").count(), 1, "{ran:#?}");
    // The next command has another one. Its state outlives a run, so nothing is learned from playing twice.
    let ran = project.expect(0, &["record", "-v", "scenarios/first.yaml"]);
    assert_eq!(
        ran.stderr.matches("upstream_servers: ok").count(),
        1,
        "{ran:#?}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_container_that_is_never_reset_is_left_running_and_found_again() {
    if !engine("a container that is never reset") {
        return;
    }
    let _alone = alone();
    let project = Project::new();
    let never = json!({ "reset": "never", "env": { "TEST": "left running" } });
    let label = "dev.mcp-eval.outlives";
    scenario(&project, "s", &never, &add(), &json!({}));
    project.expect(0, &["run"]);
    let left = containers(&[label]);
    assert_eq!(left.len(), 1, "{left:?}");
    let there = json!({ "success_criteria": ["weather"] });
    scenario(&project, "s", &never, &list(), &there);
    project.expect(0, &["run"]);
    assert_eq!(containers(&[label]), left);

    let name = &left[0];
    project.expect(0, &["clean", "--dry-run"]).says(&format!(
        "would be removed: container {name} (left running by `reset: never`)"
    ));
    assert_eq!(containers(&[label]), left);
    project
        .expect(0, &["clean"])
        .says(&format!("removed: container {name}"));
    assert_eq!(containers(&[label]), [""; 0]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_fixed_port_is_used_by_one_worker_after_the_other() {
    if !engine("a fixed port") {
        return;
    }
    let port = free_port();
    let project = Project::new();
    let url = format!("http://localhost:{port}/mcp");
    let server = json!({ "servers": { "proxy": { "type": "http", "url": url } } });
    for number in 1..=3 {
        scenario(
            &project,
            &format!("s{number}"),
            &json!({ "host_port": port }),
            &search(),
            &server,
        );
    }
    project.expect(0, &["run", "--jobs", "3"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn servers_are_used_as_they_stand_when_asked_to() {
    if !engine("servers as they stand") {
        return;
    }
    let id = docker(&["run", "-d", "--rm", "-p", "127.0.0.1:0:8080", A]);
    let published = docker(&["port", &id, "8080/tcp"]);
    let port: u16 = published.rsplit(':').next().unwrap().parse().unwrap();
    let project = Project::new();
    // Without a container, the address is that of its port on this machine. No engine is asked, and the image need not be there.
    let section = json!({ "image": "mcp-eval-test/nowhere:1", "port": port });
    searching(&project, &section);
    let mut done = None;
    for _ in 0..100 {
        let mut command = project.command();
        let command = command.env("DOCKER_HOST", "unix:///nowhere/docker.sock");
        let run = ran(command.args(["run", "--no-docker"]));
        if run.code == 0 {
            done = Some(run);
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    docker(&["rm", "-f", &id]);
    done.unwrap().says("Suite Results: 1/1 tests passed");
}
