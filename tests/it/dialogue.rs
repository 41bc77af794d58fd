//! What `trajectory.txt` shows of values that vary, and that its earlier form is still right.

use serde_json::Value;

use crate::common::{Project, ran};
use crate::recorded_again::restless;

const BASELINE: &str = "baselines/restless/baseline.json";
const DIALOGUE: &str = "baselines/restless/trajectory.txt";

/// The recording of a server that makes up ids and says the time.
fn recorded() -> Project {
    let project = Project::new();
    restless(&project);
    project.expect(0, &["record"]);
    project
}

/// The dialogue as it was written before it said what varies: with the values.
fn with_values(project: &Project) -> String {
    let baseline: Value = serde_json::from_str(&project.read(BASELINE)).unwrap();
    let calls = baseline["steps"].as_array().unwrap().iter();
    let mut calls = calls.filter(|it| it["kind"] == "tool_call");
    let mut call = &Value::Null;
    let mut text = String::new();
    for line in project.read(DIALOGUE).lines() {
        if line.ends_with(" may vary") {
            // With the empty line behind it.
            text.truncate(text.len() - 1);
            continue;
        }
        if line.starts_with("CALL ") {
            call = calls.next().unwrap();
        }
        let line = match line.split_once(": ") {
            Some((label, _)) if label.starts_with("CALL ") => {
                let tool = call["tool"].as_str().unwrap();
                format!("{label}: mcp__desk__{tool} {}", call["arguments"])
            }
            Some(("ANSWER", _)) => {
                let said = call["outcome"]["content"][0]["text"].as_str().unwrap();
                format!("ANSWER: {said}")
            }
            _ => line.to_owned(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn what_varies_is_shown_as_what_it_is() {
    let project = recorded();
    let dialogue = project.read(DIALOGUE);
    for line in [
        "4 places may vary",
        "ANSWER: {\"id\":\"<id>\",\"at\":\"<time>\",\"state\":\"open\"}",
        "CALL 2: mcp__desk__show {\"id\":\"<id>\"}",
        "ANSWER: {\"id\":\"<id>\",\"title\":\"A leak\",\"seen\":\"<id>\"}",
        "ANSWER: request <id> of <time>: all is well",
        "ANSWER: 12 tickets",
    ] {
        assert!(dialogue.lines().any(|it| it == line), "{line}\n{dialogue}");
    }
}

#[test]
fn the_form_with_values_is_right_until_it_is_written_again() {
    let project = recorded();
    let (new, old) = (project.read(DIALOGUE), with_values(&project));
    assert_ne!(new, old);
    let in_ci = |command: &str, code: i32| {
        let ran = ran(project.command().arg(command).env("CI", "true"));
        assert_eq!(ran.code, code, "{command}: {}", ran.all());
    };
    for command in ["compare", "validate"] {
        for right in [&new, &old, &old.replace('\n', "\r\n")] {
            project.file(DIALOGUE, right);
            in_ci(command, 0);
            project.expect(0, &[command]);
            assert_eq!(project.read(DIALOGUE), *right, "it is left alone");
        }
        for wrong in [
            old.replace("A leak", "A flood"),
            new.replace("<time>", "noon"),
        ] {
            project.file(DIALOGUE, wrong);
            in_ci(command, 2);
        }
    }
    project.file(DIALOGUE, &old);
    let baseline = project.read(BASELINE);
    project
        .expect(0, &["record", "--upgrade"])
        .says("1 baseline rewritten; 0 in the new form already");
    assert_eq!(project.read(DIALOGUE), new);
    assert_eq!(project.read(BASELINE), baseline);
    project
        .expect(0, &["record", "--upgrade"])
        .says("0 baselines rewritten; 1 in the new form already");
}
