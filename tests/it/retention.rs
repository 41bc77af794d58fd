//! What stays of earlier runs: the last ones and those that are needed, of what the program made itself.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::Project;

fn project() -> Project {
    let project = Project::new();
    project.faulty("s", &[], &[("echo", json!({ "a": 1 }))]);
    project
}

/// The names in a folder, sorted.
fn names(project: &Project, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(project.path(folder)).into_iter().flatten();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The ids of the runs that are there.
fn runs(project: &Project) -> Vec<String> {
    let mut names = names(project, ".mcp-eval/runs");
    names.retain(|it| it.starts_with("20"));
    names
}

fn index(project: &Project) -> Vec<Value> {
    let text = project.read(".mcp-eval/runs/index.jsonl");
    text.lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect()
}

#[test]
fn a_run_that_waits_beside_baselines_of_another_folder_stays() {
    let project = project();
    project.expect(0, &["record", "--takes", "1", "--output", "kept"]);
    project.edit("scenarios/s.yaml", "\"a\":1", "\"a\":2");
    project.expect(1, &["compare", "--baseline", "kept", "--allow-changed"]);
    let waiting = runs(&project).pop().unwrap();
    assert!(project.path("kept/s/pending.json").exists());
    for _ in 0..2 {
        project.expect(0, &["run", "--keep", "1"]);
    }
    let kept = runs(&project);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(kept[0], waiting);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_last_runs_stay_with_their_reports() {
    let project = project();
    for _ in 0..5 {
        project.expect(0, &["run", "--keep", "3"]);
    }
    let kept = runs(&project);
    assert_eq!(kept.len(), 3);
    let mut expected = vec![".gitignore".to_owned()];
    expected.extend(kept.clone());
    expected.push("latest".to_owned());
    assert_eq!(names(&project, "reports"), expected);
    let latest = fs::read_link(project.path("reports/latest")).unwrap();
    assert_eq!(latest, Path::new(&kept[2]));
    // The setting, and what the command line says against it.
    let mut command = project.command();
    command
        .env("MCP_EVAL_KEEP", "1")
        .args(["run", "--keep", "4"]);
    assert!(command.output().unwrap().status.success());
    assert_eq!(runs(&project).len(), 4);
    let mut command = project.command();
    command.env("MCP_EVAL_KEEP", "2").arg("run");
    assert!(command.output().unwrap().status.success());
    assert_eq!(runs(&project).len(), 2);
    project.expect(0, &["run", "--keep", "all"]);
    assert_eq!(runs(&project).len(), 3);
    for wrong in ["0", "-1", "many"] {
        project
            .expect(2, &["run", "--keep", wrong])
            .says("write a number from 1, or all");
    }
}

#[test]
fn what_is_needed_or_not_ours_stays() {
    let project = project();
    project.expect(0, &["record"]);
    let recorded = runs(&project)[0].clone();
    project.expect(0, &["run"]);
    let pending = runs(&project)[1].clone();
    project.expect(0, &["run"]);
    let spare = runs(&project)[2].clone();
    project.file(
        "baselines/s/pending.json",
        json!({ "run": pending }).to_string(),
    );
    // What somebody else has put there, in its own name or in one of ours.
    project.file("reports/mine/notes.txt", "mine");
    project.file(".mcp-eval/runs/2020-01-01T00-00-00.000Z/mine.txt", "mine");
    let copy = project.path(".mcp-eval/runs/2020-02-02T00-00-00.000Z");
    fs::create_dir(&copy).unwrap();
    fs::copy(
        project.path(format!(".mcp-eval/runs/{spare}/.mcp-eval-run")),
        copy.join(".mcp-eval-run"),
    )
    .unwrap();
    // A link leads out of the folder, and one out of a run that goes.
    project.file("outside/precious.txt", "precious");
    project.file("outside/.mcp-eval-run", "2020-03-03T00-00-00.000Z");
    let linked = project.path(".mcp-eval/runs/2020-03-03T00-00-00.000Z");
    symlink(project.path("outside"), &linked).unwrap();
    let inner = project.path(format!(".mcp-eval/runs/{spare}/link"));
    symlink(project.path("outside"), inner).unwrap();

    project.expect(0, &["run", "--no-report", "--keep", "1"]);
    let newest = names(&project, ".mcp-eval/runs");
    let newest = newest
        .iter()
        .filter(|it| it.starts_with("202"))
        .max()
        .unwrap();
    let mut expected: Vec<&str> = vec![
        "2020-01-01T00-00-00.000Z",
        "2020-02-02T00-00-00.000Z",
        "2020-03-03T00-00-00.000Z",
        &pending,
        newest,
    ];
    // The report that `latest` leads to stays, and so does its run.
    expected.insert(4, &spare);
    assert_eq!(runs(&project), expected, "not {recorded}");
    assert_eq!(project.read("outside/precious.txt"), "precious");
    assert_eq!(
        names(&project, "reports"),
        [".gitignore", &pending[..], &spare, "latest", "mine"]
    );

    fs::remove_file(project.path("baselines/s/pending.json")).unwrap();
    project.expect(0, &["run", "--keep", "1"]);
    assert!(!runs(&project).contains(&pending) && !runs(&project).contains(&spare));
    assert_eq!(project.read("outside/precious.txt"), "precious");
    assert_eq!(names(&project, "reports").len(), 4);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_run_that_goes_on_is_removed_by_nobody() {
    let project = project();
    let slow = json!({
        "name": "slow",
        "servers": { "s": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "mcp__s__wait" }],
        "mcp_interactions": { "s": { "tools": [
            { "name": "wait", "responses": [{ "delay": "3 s", "content": [{ "type": "text", "text": "done" }] }] },
        ] } },
    });
    project.file("slow.yaml", slow.to_string());
    let mut command = project.command();
    command
        .args(["run", "slow.yaml"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    while runs(&project).is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = runs(&project)[0].clone();
    project.expect(0, &["run", "scenarios", "--keep", "1"]);
    project.expect(0, &["run", "scenarios", "--keep", "1"]);
    assert_eq!(runs(&project).len(), 2);
    assert!(runs(&project).contains(&id));
    assert!(running.wait().unwrap().success());
    assert!(
        project
            .path(format!(".mcp-eval/runs/{id}/result.json"))
            .exists()
    );
    // It has ended, so its time has come.
    project.expect(0, &["run", "scenarios", "--keep", "1"]);
    assert_eq!(runs(&project).len(), 1);
}

#[test]
fn the_index_says_how_a_run_ended_whose_report_could_not_be_written() {
    let project = Project::new();
    // The file could be written when the run began.
    let server = crate::common::faulty_server();
    let scenario = json!({
        "name": "s",
        "servers": { "s": {
            "type": "stdio",
            "command": "sh",
            "args": ["-c", format!("mkdir -p '{}'; exec '{server}'", project.path("out.json/x").display())],
        } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "echo", "args": { "a": 1 } }] },
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    project.expect(3, &["run", "--report", "json=out.json"]);
    let id = runs(&project)[0].clone();
    let stored: Value =
        serde_json::from_str(&project.read(format!(".mcp-eval/runs/{id}/result.json"))).unwrap();
    assert_eq!(stored["gate"]["exit_code"], 3);
    assert_eq!(index(&project)[0]["gate"]["exit_code"], 3);
    // What is listed is what the index says: a large document is not read again.
    project.edit(
        ".mcp-eval/runs/index.jsonl",
        "\"command\":\"run\"",
        "\"command\":\"record\"",
    );
    project.expect(0, &["report", "--list"]).says("record");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_index_tells_what_there_is_and_is_made_anew_where_it_is_broken() {
    let project = project();
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    let lines = index(&project);
    let ids: Vec<&str> = lines.iter().map(|it| it["run"].as_str().unwrap()).collect();
    assert_eq!(ids, runs(&project));
    assert_eq!(lines[0]["command"], "record");
    assert_eq!(lines[1]["command"], "compare");
    assert_eq!(lines[1]["gate"]["exit_code"], 0);
    assert_eq!(lines[1]["summary"]["passed"], 1);
    let good = project.read(".mcp-eval/runs/index.jsonl");
    for broken in ["", "{\"run\": 3}\n", "no JSON", &good[..good.len() - 20]] {
        project.file(".mcp-eval/runs/index.jsonl", broken);
        project.expect(0, &["run"]);
        let lines = index(&project);
        assert_eq!(lines.len(), runs(&project).len(), "{broken:?}");
        assert_eq!(lines[0]["command"], "record", "{broken:?}");
    }
    // Several at once: none is lost.
    let started: Vec<_> = (0..4)
        .map(|_| {
            let mut command = project.command();
            command
                .args(["run"])
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut it in started {
        assert!(it.wait().unwrap().success());
    }
    project.expect(0, &["run"]);
    assert_eq!(index(&project).len(), runs(&project).len());
    project.expect(0, &["run", "--keep", "2"]);
    assert_eq!(index(&project).len(), 2);
}
