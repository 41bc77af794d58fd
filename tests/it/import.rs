//! Recordings of the original tool become baselines.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, ran, root};

fn project() -> Project {
    let project = Project::new();
    for name in ["greeting", "cut"] {
        let log = fs::read_to_string(
            root().join(format!("tests/fixtures/import/{name}/detailed_log.json")),
        )
        .unwrap();
        project.file(&format!("recordings/{name}/detailed_log.json"), log);
    }
    project
}

#[test]
fn a_recording_becomes_a_baseline_with_all_that_happened() {
    let project = project();
    project
        .expect(0, &["import", "original", "recordings/greeting"])
        .says("greeting: 2 calls, 1 of tools that are not scored, kept as baselines/greeting/baseline.json")
        .says("Imported 1 of 1 recordings");
    let baseline: Value =
        serde_json::from_str(&project.read("baselines/greeting/baseline.json")).unwrap();
    let steps = baseline["steps"].as_array().unwrap();
    let told: Vec<String> = steps
        .iter()
        .map(|it| match it["kind"].as_str().unwrap() {
            "tool_call" => format!(
                "{} {} {}",
                it["server"], it["tool"], it["outcome"]["status"]
            )
            .replace('"', ""),
            kind => format!("{kind}: {}", it["text"].as_str().unwrap()),
        })
        .collect();
    assert_eq!(
        told,
        [
            "user: Greet Ada and note it down",
            "assistant: I will greet the guest.",
            "null TodoWrite ok",
            "front__desk greet ok",
            "front note tool_error",
            "assistant: Ada was greeted.",
        ]
    );
    assert_eq!(
        steps[3]["outcome"]["content"],
        json!([{ "type": "text", "text": "{\"said\":\"hello\"}" }])
    );
    assert_eq!(
        steps[4]["outcome"]["content"],
        json!([{ "type": "text", "text": "the book is closed" }])
    );
    assert_eq!(
        (&steps[3]["start_ms"], &steps[3]["duration_ms"]),
        (&json!(1500.0), &json!(250.0))
    );
    assert_eq!(baseline["stamp"]["recorded_at"], "2026-01-02T03:04:05.5Z");
    assert_eq!(baseline["stamp"]["source"]["subject"], "Greet politely");
    assert!(
        project
            .read("baselines/greeting/trajectory.txt")
            .contains("CALL 2: mcp__front__desk__greet")
    );
    project
        .expect(0, &["compare", "--run", "baselines"])
        .says("Suite Results: 1/1 tests passed");
}

#[test]
fn one_broken_recording_holds_up_no_other() {
    let project = project();
    project
        .expect(2, &["import", "original", "recordings", "--output", "out"])
        .says("cut: recordings/cut/detailed_log.json: it is cut off")
        .says("Imported 1 of 2 recordings");
    assert!(project.path("out/greeting/baseline.json").exists());
    let result = project.result(2, &["import", "original", "recordings", "--output", "out"]);
    assert_eq!(
        (&result["imported"], &result["failed"]),
        (&json!(0), &json!(2))
    );
    let again = result["recordings"][1]["problem"].as_str().unwrap();
    assert!(again.contains("is there already"), "{again}");
    project.expect(2, &["import", "original", "nowhere"]);
    project
        .expect(2, &["import", "original", "out"])
        .says("holds no detailed_log.json");
}

#[test]
fn importing_keeps_secrets_out_and_ci_too() {
    let project = project();
    let token = format!("ghp_{}", "A1b2C3d4".repeat(5));
    project.edit(
        "recordings/greeting/detailed_log.json",
        "I will greet the guest.",
        &format!("I use {token}."),
    );
    project.edit(
        "recordings/greeting/detailed_log.json",
        "\"guest\": \"Ada\"",
        &format!("\"guest\": \"{token}\""),
    );
    project
        .expect(0, &["import", "original", "recordings/greeting"])
        .says_not(&token);
    let baseline = project.read("baselines/greeting/baseline.json");
    assert!(!baseline.contains(&token) && baseline.contains("<redacted:github-token:1>"));
    let ran = ran(project
        .command()
        .args(["import", "original", "recordings/greeting"])
        .env("CI", "true"));
    assert_eq!(ran.code, 2);
    ran.says("CI does not write baselines");
}
