//! `mcp-eval import`: recordings of the original tool become baselines.

use serde_json::{Value, json};

use crate::common::{Project, ran};
use crate::import_log::fixture;

const GREETING: &str = "recordings/greeting/detailed_log.json";

fn project(names: &[&str]) -> Project {
    let project = Project::new();
    for name in names {
        project.file(
            &format!("recordings/{name}/detailed_log.json"),
            fixture(name),
        );
    }
    project
}

#[test]
fn a_recording_becomes_a_baseline_with_all_that_happened() {
    let project = project(&["greeting"]);
    project
        .expect(0, &["import", "original", "recordings/greeting"])
        .says("greeting: 2 calls, 1 of tools that are not scored, kept as baselines/greeting/baseline.json")
        .says("Imported 1 of 1 recording");
    let baseline: Value =
        serde_json::from_str(&project.read("baselines/greeting/baseline.json")).unwrap();
    let steps = baseline["steps"].as_array().unwrap();
    let summary: Vec<String> = steps
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
        summary,
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
    assert_eq!(baseline["duration_ms"], 4000.0);
    assert_eq!(baseline["stamp"]["recorded_at"], "2026-01-02T03:04:05.5Z");
    assert_eq!(baseline["stamp"]["source"]["subject"], "Greet politely");
    assert_eq!(
        baseline["stamp"]["source"]["committed_at"],
        "2026-01-01T10:00:00+01:00"
    );
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
    let project = project(&["greeting", "cut"]);
    project.file(
        "recordings/latin/detailed_log.json",
        b"{\"scenario\": \"caf\xe9\"}",
    );
    let import = ["import", "original", "recordings", "--output", "out"];
    project
        .expect(2, &import)
        .says("cut: recordings/cut/detailed_log.json: it is cut off")
        .says("latin: recordings/latin/detailed_log.json: it is not UTF-8 text")
        .says("Imported 1 of 3 recordings");
    assert!(project.path("out/greeting/baseline.json").exists());
    assert!(!project.path("out/cut").exists());
    project
        .expect(2, &["import", "original", "nowhere"])
        .says("there is no nowhere");
    project
        .expect(2, &["import", "original", "out"])
        .says("holds no detailed_log.json");
}

#[test]
fn an_accepted_baseline_is_replaced_by_force_alone() {
    let project = project(&["greeting"]);
    let import = ["import", "original", "recordings"];
    project.expect(0, &import);
    project.edit(GREETING, "I will greet the guest.", "Here I come.");
    let result = project.result(2, &import);
    assert_eq!(
        (&result["imported"], &result["failed"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(
        result["recordings"][0]["problem"],
        "baselines/greeting/baseline.json is there already (--force replaces it)"
    );
    let kept = || project.read("baselines/greeting/trajectory.txt");
    assert!(!kept().contains("Here I come."));
    project.expect(0, &[&import[..], &["--force"]].concat());
    assert!(kept().contains("Here I come."));
}

#[test]
fn two_recordings_never_become_one_baseline() {
    let project = project(&["greeting"]);
    project.file("recordings/recordings/detailed_log.json", fixture("bar"));
    project.file("recordings/detailed_log.json", fixture("bar"));
    project
        .expect(2, &["import", "original", "recordings", "--force"])
        .says("another recording has become the baseline `recordings` just now")
        .says("Imported 2 of 3 recordings");
}

#[test]
fn a_run_that_did_not_complete_becomes_no_baseline() {
    let project = project(&["kitchen", "greeting"]);
    project
        .expect(3, &["import", "original", "recordings"])
        .says("not kept, because the run did not complete: the recorded run failed: the session was lost")
        .says("Imported 1 of 2 recordings");
    assert!(!project.path("baselines/kitchen").exists());
}

#[test]
fn what_cannot_be_written_is_incomplete() {
    let project = project(&["greeting"]);
    project.file("taken", "a file where the folder should be");
    project
        .expect(
            3,
            &["import", "original", "recordings", "--output", "taken"],
        )
        .says("cannot write taken/greeting: taken is not a folder");
}

#[test]
fn names_come_from_folders_however_they_are_given() {
    let project = project(&["greeting"]);
    project.file("recordings/deep/er/detailed_log.json", fixture("bar"));
    for (path, out, ids) in [
        ("recordings", "a", &["deep/er", "greeting"][..]),
        ("recordings/greeting", "b", &["greeting"]),
        (GREETING, "c", &["greeting"]),
        ("recordings/greeting/../greeting/.", "d", &["greeting"]),
    ] {
        let result = project.result(0, &["import", "original", path, "--output", out]);
        let named = result["recordings"].as_array().unwrap();
        let named: Vec<&str> = named.iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!(named, ids, "{path}");
        for id in ids {
            assert!(project.path(format!("{out}/{id}/baseline.json")).exists());
        }
    }
}

#[test]
fn no_secret_is_written_or_shown_wherever_it_stands() {
    let token = format!("ghp_{}", "A1b2C3d4".repeat(5));
    let mut log: Value = serde_json::from_str(&fixture("greeting")).unwrap();
    let hidden = json!(format!("before {token} after"));
    log["scenario"] = hidden.clone();
    log["user_intent"] = hidden.clone();
    log["mcpproxy_git_info"]["commit_message"] = hidden.clone();
    log["mcpproxy_git_info"]["branch"] = hidden.clone();
    log["messages"][1]["content"]["content"][0]["text"] = hidden.clone();
    log["messages"][4]["content"]["content"][0]["input"]["guest"] = hidden.clone();
    log["messages"][5]["content"]["content"][0]["content"][0]["text"] =
        json!(json!({ "said": hidden }).to_string());
    let project = project(&[]);
    project.file("recordings/all/detailed_log.json", log.to_string());
    log["messages"][4]["content"]["content"][0]["name"] = json!(format!("mcp__front__{token}"));
    project.file("recordings/name/detailed_log.json", log.to_string());
    log["messages"][4]["content"]["content"][0]["input"] = json!(token);
    project.file("recordings/input/detailed_log.json", log.to_string());
    log["execution_status"] = json!("ERROR");
    log["error"] = json!(format!("refused {token}"));
    log["messages"][4]["content"]["content"][0]["input"] = json!({});
    project.file("recordings/error/detailed_log.json", log.to_string());
    project.file(
        &format!("recordings/{token}/detailed_log.json"),
        fixture("bar"),
    );

    for format in ["terminal", "json"] {
        project
            .expect(
                2,
                &[
                    "import",
                    "original",
                    "recordings",
                    "--force",
                    "--format",
                    format,
                ],
            )
            .says("are no object")
            .says("refused <secret:github-token>")
            .says_not(&token);
    }
    for id in ["all", "name"] {
        for file in ["baseline.json", "trajectory.txt"] {
            let kept = project.read(format!("baselines/{id}/{file}"));
            assert!(!kept.contains(&token), "{id}/{file}: {kept}");
            assert!(kept.contains("<secret:github-token>"), "{id}/{file}");
        }
    }
}

#[test]
fn ci_imports_by_force_alone() {
    let project = project(&["greeting"]);
    let in_ci = |more: &[&str]| {
        let arguments = [&["import", "original", "recordings"], more].concat();
        ran(project.command().args(arguments).env("CI", "true"))
    };
    let refused = in_ci(&[]);
    assert_eq!(refused.code, 2);
    refused.says("CI does not write baselines");
    assert!(!project.path("baselines").exists());
    assert_eq!(in_ci(&["--force"]).code, 0);
}
