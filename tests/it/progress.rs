//! The output while a suite runs: failures at once, the rest as a number.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::{Project, at_a_desk, skipped, takes_its_time};

/// Four scenarios with a baseline, of which two fail now and one has changed.
fn some_fail() -> Project {
    let project = Project::new();
    for name in ["one", "two", "three", "four"] {
        project.faulty(name, &[], &[("echo", json!({ "text": name }))]);
    }
    project.expect(0, &["record"]);
    for name in ["one", "two"] {
        project.faulty(name, &["refuse"], &[("echo", json!({ "text": name }))]);
    }
    project
}

/// Runs on a terminal with so many columns, and returns all that it showed. `None` where nothing can make a terminal.
fn on_terminal(project: &Project, columns: u16, arguments: &[&str]) -> Option<String> {
    let program = project.command();
    let line = format!(
        "stty cols {columns} rows 40; {} {}",
        program.get_program().to_string_lossy(),
        arguments.join(" ")
    );
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(project.path(""))
        .stdin(Stdio::null());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    let Ok(output) = at_a_desk(&mut command).output() else {
        skipped("a terminal was not tried", "there is no `script`");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_failure_is_shown_at_once_and_passes_are_a_number() {
    let project = some_fail();
    let ran = project.expect(3, &["compare"]);
    // At once, before the result.
    assert_eq!(ran.stderr.matches("  error: ").count(), 2, "{ran:#?}");
    assert!(ran.stderr.contains("one  error: "), "{ran:#?}");
    assert!(
        !ran.stderr.contains("three") && !ran.stdout.contains("three"),
        "{ran:#?}"
    );
    ran.says("Suite Results: 2/4 tests passed, 2 error");
    ran.says_not("More: ");
    // Nothing of a bar in a log.
    assert!(
        !ran.all().contains('\u{1b}') && !ran.all().contains('\r'),
        "{ran:#?}"
    );

    let verbose = project.expect(3, &["compare", "-v"]);
    verbose.says("/4] three: passed").says("/4] four: passed");
    assert!(verbose.stdout.contains("✓ three"), "{verbose:#?}");

    for silent in ["-q", "--no-progress"] {
        let ran = project.expect(3, &["compare", silent]);
        assert!(!ran.stderr.contains("  error: "), "{silent}: {ran:#?}");
        ran.says("2 scenarios: one, two")
            .says("Suite Results: 2/4 tests passed, 2 error");
    }
    let quiet = project.expect(3, &["compare", "-q"]);
    assert_eq!(quiet.stderr, "");
    // One that is alone is reported by its result, which comes at once.
    let alone = project.expect(3, &["compare", "scenarios/one.yaml"]);
    assert!(!alone.stderr.contains("  error: "), "{alone:#?}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_long_run_tells_a_log_how_far_it_is() {
    if !takes_its_time("that a long run tells how far it is") {
        return;
    }
    let project = Project::new();
    for (name, delay) in [("quick", "0 ms"), ("slow", "12 s")] {
        let scenario = json!({
            "name": name,
            "servers": { "s": { "type": "mock" } },
            "expected_trajectory": [{ "tool": "mcp__s__wait" }],
            "mcp_interactions": { "s": { "tools": [
                { "name": "wait", "responses": [{ "delay": delay, "content": [{ "type": "text", "text": "done" }] }] },
            ] } },
        });
        project.file(&format!("scenarios/{name}.yaml"), scenario.to_string());
    }
    let ran = project.run(&["run"]);
    ran.says("[1/2] 10 s: 1 passed; running: slow");
}

/// Two scenarios, of which `one` fails so and is then run once more, which waits for the test: to see whether that was chance so often, and
/// for what varies.
fn run_once_more(faults: &str, confirm: usize) -> Project {
    let project = Project::new();
    let call = [("echo", json!({ "text": "a" }))];
    project.faulty("two", &[], &call);
    // Each run is one more line.
    let held =
        "cd $0; echo >>runs; [ $(wc -l <runs) -lt 4 ] || until [ -e told ]; do sleep 0.05; done";
    let held = json!({
        "before": [["sh", "-c", held, project.path("")]],
        "scoring": { "confirm": confirm },
    });
    project.faulty_with("one", &[&format!("runs=starts:..{faults}")], &call, &held);
    project.expect(0, &["record"]);
    project
}

#[test]
fn an_interruption_while_a_failure_is_tried_once_more_is_no_failure() {
    let project = run_once_more("tt", 1);
    let mut child = (project.command().arg("compare"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while project.read("runs").lines().count() < 4 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it is not run once more"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let result: Value = serde_json::from_str(&project.read("reports/latest/result.json")).unwrap();
    let one = &result["scenarios"][0];
    let expected = (&json!("one"), &json!("interrupted"));
    assert_eq!((&one["id"], &one["status"]), expected, "{one:#}");
    assert_eq!(result["summary"]["failed"], 0);
}

#[test]
fn a_failure_is_shown_before_the_run_that_shows_what_varies() {
    let project = run_once_more("oo", 0);
    let mut child = (project.command().arg("compare"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    assert!(lines.any(|it| it.contains("✗ one")), "the failure is told");
    assert_eq!(child.try_wait().unwrap(), None, "while it is run once more");
    project.file("told", "");
    let rest: Vec<String> = lines.collect();
    assert!(!rest.iter().any(|it| it.contains("✗ one")), "{rest:#?}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(project.path("baselines/one/pending.json").exists());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_terminal_shows_what_is_built_for_how_long_and_what_that_wrote_last() {
    let project = Project::new();
    project.file("build.sh", "echo first\necho the last line\nsleep 3\n");
    let built = json!({ "source": { "prepare": [["sh", "build.sh"]], "cwd": ".." } });
    project.faulty_with("one", &[], &[("echo", json!({ "text": "a" }))], &built);
    if let Some(shown) = on_terminal(&project, 120, &["run"]) {
        let line = "one: building `sh build.sh` (1 s): the last line";
        assert!(shown.contains(line), "{shown:?}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_terminal_shows_a_bar_with_failures_and_time_and_fits_its_width() {
    let project = some_fail();
    for columns in [40, 72, 120] {
        let Some(shown) = on_terminal(&project, columns, &["compare"]) else {
            return;
        };
        assert!(shown.contains("/4 2 error "), "{columns}: {shown:?}");
        for line in shown.lines() {
            let plain = without_escapes(line);
            let last = plain.rsplit('\r').find(|it| !it.is_empty());
            let width = last.map_or(0, |it| it.chars().count());
            let is_counts = plain.contains("Suite Results") && columns >= 72;
            // A path stays whole, so that it can be clicked on.
            let is_path = !plain.trim().contains(' ');
            assert!(
                width <= usize::from(columns) || is_counts || is_path,
                "{columns}: {width}: {plain:?}"
            );
        }
    }
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = after.find(|it: char| it.is_ascii_alphabetic());
        rest = end.map_or("", |it| &after[it + 1..]);
    }
    plain + rest
}
