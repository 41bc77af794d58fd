//! Commands before and after each run: in their order, around every run, watched, and gone with us.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::Project;

/// A scenario `s` with one call to a server with these faults; lines of `trace` tell what was run.
fn scenario(faults: &[&str], more: &Value) -> Project {
    let project = Project::new();
    project.faulty_with("s", faults, &[("echo", json!({ "q": 1 }))], more);
    project
}

/// A command that writes a line.
fn traces(word: &str) -> Value {
    json!(["sh", "-c", format!("echo {word} >> trace")])
}

fn trace(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.path("trace")).unwrap_or_default();
    let _ = fs::remove_file(project.path("trace"));
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn they_are_run_around_every_run() {
    let more = json!({ "before": [traces("first"), traces("second")], "after": [traces("after")] });
    let project = scenario(&["runs=trace:."], &more);
    project.expect(0, &["validate"]);
    let around = |runs: usize| {
        let once = trace(&project).join(" ");
        // The server writes a line of its own when it is started.
        assert_eq!(once.matches("first second").count(), runs, "{once}");
        assert_eq!(once.matches("after").count(), runs, "{once}");
        assert!(
            once.starts_with("first second") && once.ends_with("after"),
            "{once}"
        );
        assert!(
            !once.contains("first second after"),
            "the server comes between: {once}"
        );
    };
    project.expect(0, &["record"]);
    around(2);
    project.expect(0, &["compare"]);
    around(1);
    project.expect(0, &["run", "--repeat", "3"]);
    around(3);
    project.expect(0, &["compare", "--servers", "recorded"]);
    assert_eq!(
        trace(&project),
        [""; 0],
        "nothing outlives recorded servers"
    );
}

#[test]
fn paths_are_those_of_the_file_that_names_them_and_defaults_are_replaced() {
    let env = json!({ "WORD": "${MY_WORD}", "SECOND": "${NOTHING:-more}" });
    let project = scenario(&[], &json!({}));
    let defaults = json!({ "before": [{ "command": ["./tools/reset.sh", "${MY_WORD}"], "cwd": "tools", "env": env }] });
    project.file("scenarios/_defaults.yaml", defaults.to_string());
    project.file(
        "scenarios/tools/reset.sh",
        "#!/bin/sh\necho $1 $WORD $SECOND > said\n",
    );
    let script = project.path("scenarios/tools/reset.sh");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(script, mode).unwrap();
    let ran = crate::common::ran(project.command().arg("run").env("MY_WORD", "hello"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(project.read("scenarios/tools/said"), "hello hello more\n");
    // What is not set is reported before anything is run.
    let ran = project.expect(3, &["run"]);
    ran.says("the environment variable `MY_WORD` is not set");
    project.edit("scenarios/s.yaml", "\"name\"", "\"before\": [], \"name\"");
    project.expect(0, &["run"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_command_before_that_fails_is_an_error() {
    let secret = "tok-5f2e9c81aa30b7";
    let fails = json!({ "command": ["sh", "-c", "echo no $API_TOKEN; echo database >&2; exit 3"],
        "env": { "API_TOKEN": secret } });
    let slow = json!({ "command": ["sh", "-c", "echo waiting; sleep 300"], "timeout": "300ms" });
    let cases = [
        (
            json!([fails]),
            "the command `sh` of `before` exited with code 3",
            "no <secret:env.API_TOKEN>",
        ),
        (
            json!([traces("first"), slow]),
            "command 2 of `before`, `sh`, did not end within 300ms",
            "waiting",
        ),
        (
            json!([["no-such-program"]]),
            "the command `no-such-program` of `before` cannot be started",
            "No such file",
        ),
    ];
    for (before, says, last) in cases {
        let more = json!({ "before": before, "after": [traces("after")] });
        let project = scenario(&["runs=started:."], &more);
        let ran = project.expect(3, &["record"]);
        ran.says(says).says(last);
        assert!(!ran.all().contains(secret));
        assert!(ran.took < Duration::from_secs(10), "{ran:#?}");
        assert!(!project.path("started").exists(), "no server is started");
        assert!(!project.path("baselines").exists());
        assert_eq!(trace(&project).last().map(String::as_str), Some("after"));
        assert_eq!(project.survivors(), [""; 0]);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_command_after_is_run_whatever_happened_and_fails_nobody() {
    let after = json!([
        ["sh", "-c", "echo cannot clean up; exit 4"],
        traces("after")
    ]);
    for (faults, more, code) in [
        (&["text=fine"][..], json!({}), 0),
        (&["exit"], json!({}), 3),
        (&["hang"], json!({ "timeout": "500ms" }), 3),
        (&["tool-error"], json!({}), 1),
    ] {
        let mut all = more.as_object().unwrap().clone();
        all.insert("after".to_owned(), after.clone());
        let project = scenario(faults, &Value::Object(all));
        let result = project.result(code, &["run"]);
        assert_eq!(trace(&project), ["after"], "{faults:?}");
        let notes = result["scenarios"][0]["notes"].to_string();
        let said =
            "command 1 of `after`, `sh`, exited with code 4; its last lines: cannot clean up";
        assert!(notes.contains(said), "{faults:?}: {notes}");
    }
}

#[test]
fn a_command_after_that_fails_in_a_later_take_is_reported_too() {
    // It fails from the second run on.
    let after = json!([[
        "sh",
        "-c",
        "test ! -e ran || { echo once is enough; exit 4; }; touch ran"
    ]]);
    let project = scenario(&["text=fine"], &json!({ "after": after }));
    let said = "the command `sh` of `after` exited with code 4; its last lines: once is enough";
    let notes = |code: i32, arguments: &[&str]| -> Vec<String> {
        let result = project.result(code, arguments);
        let notes = result["scenarios"][0]["notes"].as_array().unwrap().clone();
        let notes = notes.iter().map(|it| it.as_str().unwrap().to_owned());
        notes.filter(|it| it.contains(said)).collect()
    };
    assert_eq!(notes(0, &["record"]), [format!("take 2: {said}")]);
    // What is the same in both takes is said once.
    assert_eq!(notes(0, &["record"]), [said]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_a_command_before_leaves_running_ends_with_the_run() {
    let before = json!([["sh", "-c", "setsid sleep 300 & echo $! > id"]]);
    // While the run lasts, it is there.
    let after = json!([["sh", "-c", "kill -0 $(cat id) && echo alive > trace"]]);
    let project = scenario(&[], &json!({ "before": before, "after": after }));
    project.expect(0, &["run"]);
    assert_eq!(trace(&project), ["alive"]);
    assert_eq!(project.survivors(), [""; 0]);
}

/// Sends a signal once a file is there; returns how long the program took to end.
#[track_caller]
fn stopped(project: &Project, file: &str, signal: Signal) -> Duration {
    let mut run = project
        .command()
        .arg("run")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !project.path(file).exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "no {file}");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&run), signal).unwrap();
    let stopped = Instant::now();
    run.wait().unwrap();
    assert_eq!(project.survivors(), [""; 0]);
    stopped.elapsed()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_interruption_leaves_time_to_clean_up_and_no_more() {
    // During the run, and while a command before it is at work; cleaning up takes longer than other things that stop.
    let clean = json!([["sh", "-c", "sleep 2; echo after >> trace"]]);
    let more = json!({ "before": [["touch", "ready"]], "after": clean });
    let project = scenario(&["hang"], &more);
    stopped(&project, "ready", Signal::INT);
    assert_eq!(trace(&project), ["after"]);
    let more = json!({ "before": [["sh", "-c", "touch ready; sleep 300"]], "after": clean });
    let project = scenario(&[], &more);
    assert!(stopped(&project, "ready", Signal::INT) < Duration::from_secs(5));
    assert_eq!(trace(&project), ["after"]);

    let endless = json!({ "after": [["sh", "-c", "touch ready; sleep 300"]] });
    let project = scenario(&[], &endless);
    let took = stopped(&project, "ready", Signal::INT);
    assert!(took < Duration::from_secs(9), "{took:?}");
    let project = scenario(&[], &endless);
    assert!(stopped(&project, "ready", Signal::KILL) < Duration::from_secs(2));
}

#[test]
fn errors_are_reported_with_their_place() {
    let cases = [
        (json!([[]]), "names no program"),
        (
            json!(["rm"]),
            "expected a list of a program and its arguments, or a map, found text",
        ),
        (json!([{ "cwd": "." }]), "missing key `command`"),
        (
            json!([["echo", "${docker.url}"]]),
            "nothing provides `docker.url` here",
        ),
        (json!([{ "command": ["echo"], "timeout": 0 }]), "timeout"),
    ];
    for (before, says) in cases {
        let project = scenario(&[], &json!({ "before": before }));
        project.expect(2, &["validate"]).says(says);
    }
}
