//! `run --run`: a stored run is judged by what its scenarios expect now, and never by what another run would have made.

use std::fs;

use serde_json::{Value, json};

use crate::common::Project;
use crate::judge::desk::{Model, document, verdict};

/// A scenario whose script calls `look`, which says `fine`, with these keys besides.
fn scenario(project: &Project, id: &str, more: &Value) {
    let tool = json!({ "name": "look", "responses": [{ "content": "fine" }] });
    let mut scenario = json!({
        "name": id,
        "user_intent": "Look",
        "servers": { "m": { "type": "mock" } },
        "agent": { "kind": "scripted", "calls": [{ "tool": "look", "args": {} }] },
        "mcp_interactions": { "m": { "tools": [tool] } },
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

/// A run of the scenarios `a` and `b`, which passed, and its id.
fn made(more: &[&str]) -> (Project, String) {
    let project = Project::new();
    for id in ["a", "b"] {
        scenario(
            &project,
            id,
            &json!({ "expected_trajectory": [{ "tool": "look", "args": {} }] }),
        );
    }
    let result = project.result(0, &[&["run"], more].concat());
    let id = result["run_id"].as_str().unwrap().to_owned();
    (project, id)
}

fn status(result: &Value, index: usize) -> &str {
    result["scenarios"][index]["status"].as_str().unwrap()
}

fn message(result: &Value, index: usize) -> &str {
    let problem = &result["scenarios"][index]["problem"];
    problem["message"].as_str().unwrap_or_default()
}

#[test]
fn expectations_of_today_decide_and_nothing_is_run() {
    let (project, id) = made(&[]);
    // A server that does not start any more is of no matter.
    let servers = json!({ "m": { "type": "stdio", "command": "is-not-there" } });
    scenario(
        &project,
        "a",
        &json!({ "servers": servers, "success_criteria": [{ "text": "gone" }] }),
    );
    project.edit("scenarios/a.yaml", "\"mcp_interactions\":{\"m\":{\"tools\":[{\"name\":\"look\",\"responses\":[{\"content\":\"fine\"}]}]}},", "");
    let judged = project.result(1, &["run", "--run", &id]);
    assert_eq!(
        [status(&judged, 0), status(&judged, 1)],
        ["failed", "passed"]
    );
    let file = judged["scenarios"][0]["current"]["file"].as_str().unwrap();
    assert!(
        file.contains(&id),
        "the trajectory is that of the run: {file}"
    );
    let options = judged["called"]["options"].to_string();
    assert!(
        options.contains("--run") && options.contains(&id),
        "{options}"
    );
    // It ran nothing, so that it is neither the latest run nor what failed last.
    let again = project.result(1, &["run", "--run", "latest"]);
    assert_eq!(
        again["scenarios"][0]["current"]["file"],
        judged["scenarios"][0]["current"]["file"]
    );
    project
        .expect(0, &["run", "--last-failed", "--dry-run"])
        .says("passed when `mcp-eval run` ran them last");
    // However few runs stay, the one that is judged does.
    project.result(1, &["run", "--run", &id, "--keep", "1"]);
    project.result(1, &["run", "--run", &id, "--keep", "1"]);
}

#[test]
fn what_another_run_would_have_made_is_no_verdict() {
    let (project, id) = made(&[]);
    let expected = json!([{ "tool": "look", "args": {} }]);
    let calls = json!({ "kind": "scripted", "calls": [{ "tool": "look", "args": { "q": 1 } }] });
    let model = json!({ "kind": "openai", "model": "m" });
    for (more, why) in [
        (
            json!({ "agent": calls }),
            "its messages or its calls have changed since",
        ),
        (
            json!({ "user_intent": "Look twice" }),
            "its messages or its calls have changed since",
        ),
        (
            json!({ "agent": model }),
            "it was made by the agent `scripted`, and the scenario's is `openai`",
        ),
    ] {
        let mut more = more;
        more["expected_trajectory"] = expected.clone();
        scenario(&project, "a", &more);
        let judged = project.result(3, &["run", "--run", &id]);
        assert_eq!(
            [status(&judged, 0), status(&judged, 1)],
            ["error", "passed"],
            "{more}"
        );
        assert!(message(&judged, 0).contains(why), "{judged:#}");
    }
}

#[test]
fn limits_and_disabled_scenarios_are_those_of_today() {
    let (project, id) = made(&[]);
    let expected = json!([{ "tool": "look", "args": {} }]);
    scenario(
        &project,
        "a",
        &json!({ "expected_trajectory": expected, "limits": { "max_steps": 1 } }),
    );
    scenario(
        &project,
        "b",
        &json!({ "expected_trajectory": expected, "enabled": false }),
    );
    let judged = project.result(0, &["run", "--run", &id]);
    assert_eq!(
        [status(&judged, 0), status(&judged, 1)],
        ["passed", "skipped"]
    );
    let two = json!({ "kind": "scripted", "calls": [{ "tool": "look", "args": {} }, { "tool": "look", "args": {} }] });
    scenario(&project, "a", &json!({ "agent": two }));
    let result = project.result(0, &["run"]);
    let id = result["run_id"].as_str().unwrap();
    scenario(
        &project,
        "a",
        &json!({ "agent": two, "limits": { "max_steps": 1 } }),
    );
    let judged = project.result(1, &["run", "--run", id]);
    assert_eq!(status(&judged, 0), "failed");
    assert_eq!(
        message(&judged, 0),
        "`limits.max_steps`: 2 steps were made of 1"
    );
}

#[test]
fn each_of_several_runs_counts() {
    let (project, id) = made(&["--repeat", "3"]);
    let again = ["run", "--run", &id];
    let judged = project.result(0, &again);
    assert_eq!(
        judged["scenarios"][0]["repeated"]["passed"], 3,
        "{judged:#}"
    );
    let attempt = project
        .path(".mcp-eval/runs")
        .join(&id)
        .join("attempts/2/current/a.json");
    let text = fs::read_to_string(&attempt).unwrap();
    fs::write(&attempt, text.replace("fine", "other")).unwrap();
    let expected = json!([{ "tool": "look", "args": {} }]);
    scenario(
        &project,
        "a",
        &json!({ "expected_trajectory": expected, "success_criteria": [{ "text": "fine" }] }),
    );
    let judged = project.result(1, &again);
    assert_eq!(
        judged["scenarios"][0]["repeated"]["passed"], 2,
        "{judged:#}"
    );
    fs::remove_file(&attempt).unwrap();
    let judged = project.result(3, &again);
    assert_eq!(status(&judged, 0), "error");
}

#[test]
fn what_an_attempt_that_is_not_shown_passed_it_still_passes() {
    let project = Project::new();
    // There after every other run.
    let toggles = json!([["sh", "-c", "test -e there && rm there || touch there"]]);
    let there = json!({ "type": "file", "path": "../there", "exists": true, "role": "gating" });
    scenario(
        &project,
        "a",
        &json!({ "before": toggles, "evaluators": [there] }),
    );
    let made = project.result(1, &["run", "--repeat", "2"]);
    assert_eq!(made["scenarios"][0]["repeated"]["passed"], 1, "{made:#}");
    let id = made["run_id"].as_str().unwrap();
    let judged = project.result(1, &["run", "--run", id]);
    assert_eq!(
        judged["scenarios"][0]["repeated"]["passed"], 1,
        "{judged:#}"
    );
}

#[test]
fn a_run_that_is_not_whole_is_never_green() {
    let (project, id) = made(&[]);
    let again = ["run", "--run", &id];
    let current = project.path(".mcp-eval/runs").join(&id).join("current");
    let a = fs::read(current.join("a.json")).unwrap();
    let b = fs::read(current.join("b.json")).unwrap();
    for gone in ["a.json", "b.json"] {
        fs::remove_file(current.join(gone)).unwrap();
    }
    project.result(3, &again);
    // Also a judging of which nothing came is no run.
    let latest = project.expect(3, &["run", "--run", "latest"]);
    latest.says(&format!("{id} is judged"));
    fs::write(current.join("b.json"), b).unwrap();
    let judged = project.result(3, &again);
    assert!(
        message(&judged, 0).starts_with("its trajectory is gone"),
        "{judged:#}"
    );
    fs::copy(current.join("b.json"), current.join("a.json")).unwrap();
    let judged = project.result(3, &again);
    assert!(
        message(&judged, 0).ends_with("is of another scenario: `b`"),
        "{judged:#}"
    );
    fs::write(current.join("a.json"), a).unwrap();
    fs::remove_file(project.path("scenarios/a.yaml")).unwrap();
    project
        .expect(3, &again)
        .says("no scenario file here is `a`");
    project.expect(0, &["run", "--run", &id, "scenarios/b.yaml"]);
    project.expect(2, &["run", "--run", &id, "--var", "x=1"]);
    let file = format!(".mcp-eval/runs/{id}/current/b.json");
    project
        .expect(2, &["run", "--run", &file])
        .says("is not the folder of a stored run");
    project
        .expect(2, &["run", "--run", "2001"])
        .says("there is no run or folder");
    project.expect(2, &["run", "--run", &id, "--repeat", "2"]);
}

#[test]
fn judges_are_asked_and_what_others_found_then_counts() {
    let project = Project::new();
    let judge = json!({
        "provider": "custom", "model": "j", "base_url": "${JUDGE_URL}", "api_key_env": "JUDGE_SECRET_WORD",
    });
    let written = json!({ "type": "file", "path": "there", "exists": true, "role": "gating" });
    let keys = |more: Value| json!({ "judge": judge, "evaluators": [written, more] });
    project.file("scenarios/there", "");
    scenario(&project, "a", &keys(json!({ "type": "trace-no-errors" })));
    let model = Model::new(|_, _| verdict(0.2));
    let made = document(&project, &model.url, 0, &["run"]);
    let id = made["run_id"].as_str().unwrap();
    fs::remove_file(project.path("scenarios/there")).unwrap();
    let asks = json!({ "type": "llm-judge", "criteria": "It is fine.", "role": "gating" });
    scenario(&project, "a", &keys(asks));
    let judged = document(&project, &model.url, 1, &["run", "--run", id]);
    let evaluators = &judged["scenarios"][0]["evaluators"];
    assert_eq!(evaluators[0]["status"], "passed", "{evaluators:#}");
    assert_eq!(evaluators[1]["status"], "failed", "{evaluators:#}");
    assert_eq!(evaluators[1]["score"], 0.2);
    assert_eq!(model.bodies().len(), 1);
    // One that looks around the run, and is new, cannot look any more.
    let new = json!({ "type": "file", "path": "other", "exists": true, "role": "gating" });
    scenario(&project, "a", &keys(new));
    let judged = document(&project, &model.url, 3, &["run", "--run", id]);
    assert!(
        message(&judged, 0).contains("it was not asked when this run was made"),
        "{judged:#}"
    );
}

#[test]
fn what_depends_on_a_secret_that_was_taken_out_is_no_verdict() {
    let project = Project::new();
    let tool = json!({ "name": "look", "responses": [{ "content": "token k9x8y7z6, of 2024" }] });
    let keys = |more: Value| {
        let mut keys = json!({
            "redact": ["[a-z0-9]{8}"],
            "mcp_interactions": { "m": { "tools": [tool] } },
            "expected_trajectory": [{ "tool": "look", "args": {} }],
        });
        keys.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        keys
    };
    scenario(&project, "a", &keys(json!({})));
    let made = project.result(0, &["run"]);
    let id = made["run_id"].as_str().unwrap();
    let evaluator = |it: Value| json!({ "evaluators": [it] });
    for (more, code) in [
        (json!({}), 0),
        (json!({ "success_criteria": [{ "text": "of 2024" }] }), 0),
        (json!({ "success_criteria": [{ "text": "of 2025" }] }), 3),
        (json!({ "success_criteria": [{ "text": "secret:" }] }), 3),
        (json!({ "success_criteria": [{ "text": "87654321" }] }), 3),
        (evaluator(json!({ "type": "text", "contains": "token" })), 0),
        (evaluator(json!({ "type": "text", "contains": "<" })), 3),
        // A letter that a placeholder has, and the rest of the answer has not.
        (evaluator(json!({ "type": "text", "contains": "p" })), 3),
        (
            evaluator(json!({ "type": "text", "regex": "token [^ ]{12,}" })),
            3,
        ),
    ] {
        scenario(&project, "a", &keys(more.clone()));
        let judged = project.result(code, &["run", "--run", id]);
        assert_eq!(
            judged["scenarios"].as_array().map(Vec::len),
            Some(1),
            "{more}"
        );
    }
}

#[test]
fn a_judging_is_no_run_and_pushes_none_out() {
    let (project, first) = made(&[]);
    let second = project.result(0, &["run", "--keep", "2"]);
    let second = second["run_id"].as_str().unwrap();
    for _ in 0..3 {
        project.expect(0, &["run", "--run", &first, "--keep", "2"]);
    }
    let judged = project.result(0, &["run", "--run", "latest", "--keep", "2"]);
    let file = judged["scenarios"][0]["current"]["file"].as_str().unwrap();
    assert!(file.contains(second), "{file} is not of {second}");
    let judging = judged["run_id"].as_str().unwrap();
    project
        .expect(2, &["run", "--run", judging])
        .says("nothing was run in");
}

#[test]
fn a_run_that_ended_otherwise_than_it_would_now_has_no_verdict() {
    let project = Project::new();
    let look = json!({ "tool": "look", "args": {} });
    let keys = |limit: u32| {
        json!({
            "agent": { "kind": "scripted", "calls": [look, look] },
            "limits": { "max_steps": limit },
        })
    };
    scenario(&project, "a", &keys(1));
    let made = project.result(1, &["run"]);
    let id = made["run_id"].as_str().unwrap();
    project.expect(1, &["run", "--run", id]);
    scenario(&project, "a", &keys(2));
    let judged = project.result(3, &["run", "--run", id]);
    assert!(
        message(&judged, 0).ends_with("the limits have changed since"),
        "{judged:#}"
    );
    // What recorded servers answered tells nothing of the servers.
    scenario(&project, "a", &json!({}));
    project.expect(0, &["record"]);
    let held = project.result(0, &["compare", "--servers", "recorded"]);
    let id = held["run_id"].as_str().unwrap();
    let judged = project.result(3, &["run", "--run", id]);
    assert!(
        message(&judged, 0).ends_with("recorded servers answered in it"),
        "{judged:#}"
    );
}

#[test]
fn a_suite_judges_a_stored_run_as_it_judged_the_run() {
    let project = Project::new();
    let slow = json!({ "content": "fine", "delay": "300ms" });
    let tool = json!({ "name": "look", "responses": [slow] });
    for id in ["a", "b"] {
        let mocks = json!({ "m": { "tools": [tool] } });
        scenario(&project, id, &json!({ "mcp_interactions": mocks }));
    }
    project.file(
        "scenarios/_suites/quick.yaml",
        "gates: { max_duration: 200ms }\n",
    );
    let suite = ["run", "--suite", "quick"];
    let made = project.result(1, &suite);
    let id = made["run_id"].as_str().unwrap();
    let judged = project.result(1, &["run", "--run", id, "--suite", "quick"]);
    assert_eq!(judged["suite"]["gates"][0]["state"], "broken", "{judged:#}");
    assert_eq!(judged["duration_ms"], made["duration_ms"]);
    // The gates of a suite are about all its parts together.
    let part = project.run(&[&suite[..], &["--shard", "1/2", "--format", "json"]].concat());
    let part: Value = serde_json::from_str(&part.stdout).unwrap();
    let id = part["run_id"].as_str().unwrap();
    project
        .expect(2, &["run", "--run", id, "--suite", "quick"])
        .says("is one part of a suite");
    project.result(0, &["run", "--run", id, "scenarios/a.yaml"]);
}
