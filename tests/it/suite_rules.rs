//! The finer rules of suites, of their parts, and of matrices and data sets within them.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, small_agent};

/// A scenario whose mock says `fine`, with these keys besides.
fn scenario(project: &Project, id: &str, more: &Value) {
    let mut scenario = json!({
        "name": format!("Scenario {id}"),
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "mcp_interactions": { "m": { "tools": [{
            "name": "look", "annotations": { "read_only_hint": true }, "responses": [{ "content": "fine" }],
        }] } },
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

fn fails() -> Value {
    json!({ "success_criteria": [{ "text": "wrong" }] })
}

/// An agent that says the name of its model; a run passes where that is `good`.
fn asks(more: &Value) -> Value {
    let mut asks = json!({
        "user_intent": "Say who you are.",
        "agent": { "kind": "command", "command": [small_agent(), "call m look {}", "print I am ${model}"] },
        "evaluators": [{ "type": "text", "in": "final_text", "contains": "I am good" }],
    });
    let more = more.as_object().unwrap().clone();
    asks.as_object_mut().unwrap().extend(more);
    asks
}

fn suite(project: &Project, text: &str) {
    project.file("scenarios/_suites/nightly.yaml", text);
}

#[track_caller]
fn run(project: &Project, code: i32, more: &[&str]) -> Value {
    project.result(code, &[&["run", "--suite", "nightly"], more].concat())
}

fn ids(result: &Value) -> Vec<&str> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios.map(|it| it["id"].as_str().unwrap()).collect()
}

/// Notes who begins, in `began.txt`.
fn noting(who: &str) -> Value {
    json!([["sh", "-c", format!("echo {who} >> began.txt")]])
}

#[test]
fn a_quarantine_is_of_all_rows_and_of_all_cells_of_a_scenario() {
    let project = Project::new();
    let mut of_rows = fails();
    of_rows["dataset"] = json!([{ "id": "x" }, { "id": "y" }]);
    scenario(&project, "rows", &of_rows);
    scenario(&project, "other", &json!({}));
    suite(
        &project,
        "quarantine: [{ name: rows, reason: r, until: 2999-12-31 }]\n",
    );
    let result = run(&project, 0, &[]);
    assert_eq!(result["summary"]["quarantined"], 2);

    let project = Project::new();
    scenario(&project, "cells", &asks(&json!({})));
    suite(
        &project,
        "quarantine: [{ name: cells, reason: r, until: 2999-12-31 }]\n",
    );
    let result = run(&project, 0, &["--matrix", "model=bad,worse"]);
    assert_eq!(result["summary"]["quarantined"], 2);
}

#[test]
fn what_is_quarantined_takes_no_failure_of_others_with_it() {
    let project = Project::new();
    let tagged = |mut it: Value| {
        it["tags"] = json!(["slow"]);
        it
    };
    scenario(&project, "a", &fails());
    scenario(&project, "b", &tagged(fails()));
    scenario(&project, "c", &tagged(json!({})));
    suite(
        &project,
        "quarantine: [{ name: b, reason: r, until: 2999-12-31 }]\ngates: { tags: { slow: { min_pass_rate: 0.5 } } }\n",
    );
    let result = run(&project, 1, &[]);
    // It counts for no share, either.
    assert_eq!(result["suite"]["gates"][0]["value"], 1.0);
}

#[test]
fn the_last_day_of_a_quarantine_stops_nothing() {
    let project = Project::new();
    scenario(&project, "a", &fails());
    scenario(&project, "b", &json!({}));
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    suite(
        &project,
        &format!("fail_fast: true\nquarantine: [{{ name: a, reason: r, until: {today} }}]\n"),
    );
    let result = run(&project, 0, &[]);
    assert_eq!(result["scenarios"][1]["status"], "passed", "{result:#}");
}

#[test]
fn a_quarantined_row_stops_nothing() {
    let project = Project::new();
    let mut rows = fails();
    rows["dataset"] = json!([{ "id": "x" }, { "id": "y" }]);
    scenario(&project, "a", &rows);
    scenario(&project, "b", &json!({}));
    suite(
        &project,
        "fail_fast: true\nquarantine: [{ name: a, reason: r, until: 2999-12-31 }]\n",
    );
    let result = run(&project, 0, &[]);
    assert_eq!(result["scenarios"][2]["status"], "passed", "{result:#}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn rows_and_cells_begin_where_their_scenario_is_meant_and_each_once() {
    let project = Project::new();
    scenario(&project, "a", &json!({ "before": noting("a") }));
    scenario(&project, "b", &json!({ "before": noting("b") }));
    let rows = json!({ "dataset": [{ "id": "x" }, { "id": "y" }], "before": noting("{{row.id}}") });
    scenario(&project, "rows", &rows);
    suite(&project, "order: [rows, b, \"*\"]\njobs: 1\n");
    run(&project, 0, &[]);
    assert_eq!(project.read("began.txt"), "x\ny\nb\na\n");

    let project = Project::new();
    scenario(&project, "a", &asks(&json!({ "before": noting("a") })));
    scenario(&project, "b", &asks(&json!({ "before": noting("b") })));
    suite(&project, "order: [b]\njobs: 1\n");
    run(&project, 0, &["--matrix", "model=good,good one"]);
    assert_eq!(project.read("began.txt"), "b\nb\na\na\n");

    // `*` stays in its folder.
    let project = Project::new();
    scenario(&project, "a/x", &json!({ "before": noting("x") }));
    scenario(&project, "b", &json!({ "before": noting("b") }));
    suite(&project, "order: [\"*\"]\njobs: 1\n");
    run(&project, 0, &[]);
    assert_eq!(project.read("began.txt"), "b\nx\n");
}

#[test]
fn the_command_line_says_how_many_run_at_once_before_the_suite_does() {
    let project = Project::new();
    // Each waits for the other, so that they have to run at the same time.
    let meets = |own: &str, other: &str| {
        let script = format!("touch {own}; until test -e {other}; do sleep 0.05; done");
        json!({ "before": [{ "command": ["sh", "-c", script], "timeout": "20s" }] })
    };
    scenario(&project, "a", &meets("a.here", "b.here"));
    scenario(&project, "b", &meets("b.here", "a.here"));
    suite(&project, "jobs: 1\n");
    run(&project, 0, &["--jobs", "2"]);
}

#[test]
fn each_retry_waits_longer_and_what_an_earlier_try_took_is_counted() {
    let project = Project::new();
    project.file(
        "mock.json",
        json!({ "tools": [{ "name": "look", "responses": [{ "content": "fine" }] }] }).to_string(),
    );
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    let script = format!(
        "test -e 2 || {{ test -e 1 && touch 2; touch 1; exit 1; }}; exec '{program}' mock mock.json"
    );
    let server = json!({ "m": { "type": "stdio", "command": "sh", "args": ["-c", script] } });
    scenario(
        &project,
        "s",
        &json!({ "servers": server, "mcp_interactions": {} }),
    );
    suite(
        &project,
        "retries: { on: [transport], times: 2, backoff: 20ms }\n",
    );
    project
        .expect(0, &["run", "--suite", "nightly", "-v"])
        .says("waiting 20ms until it is run again (transport)")
        .says("waiting 40ms until it is run again (transport)");
}

#[test]
fn a_bound_of_a_tag_is_about_its_scenarios() {
    let project = Project::new();
    for id in ["a", "b", "c"] {
        let tags = if id == "c" {
            json!([])
        } else {
            json!(["slow"])
        };
        scenario(&project, id, &json!({ "tags": tags }));
    }
    suite(
        &project,
        "gates: { tags: { slow: { max_duration: 10m } } }\n",
    );
    let result = run(&project, 0, &[]);
    let took = |at: usize| result["scenarios"][at]["duration_ms"].as_f64().unwrap();
    let value = result["suite"]["gates"][0]["value"].as_f64().unwrap();
    assert!((value - took(0) - took(1)).abs() < 1e-6, "{result:#}");
}

#[test]
fn what_nobody_knows_the_cost_of_keeps_no_bound() {
    let project = Project::new();
    // What this program uses is unknown.
    scenario(
        &project,
        "s",
        &json!({
            "user_intent": "Look.",
            "agent": { "kind": "command", "command": [small_agent(), "call m look {}"] },
        }),
    );
    suite(&project, "gates: { max_cost: 1000 }\n");
    let result = run(&project, 3, &[]);
    let gate = &result["suite"]["gates"][0];
    assert_eq!(
        (&gate["state"], &gate["value"]),
        (&json!("unknown"), &Value::Null)
    );
}

#[test]
fn a_part_with_nothing_to_do_sets_nothing_up() {
    let project = Project::new();
    scenario(&project, "a", &json!({}));
    suite(&project, "setup: [[touch, ran]]\n");
    run(&project, 0, &["--shard", "2/2"]);
    assert!(!project.path("ran").exists());
    run(&project, 0, &["--shard", "1/2"]);
    assert!(project.path("ran").exists());
}

#[test]
fn what_is_disabled_takes_no_time_in_a_plan() {
    let project = Project::new();
    for id in ["a", "b", "c", "d"] {
        scenario(&project, id, &json!({}));
    }
    project.expect(0, &["record", "--takes", "1"]);
    for (id, took) in [("a", 100.0), ("b", 900.0), ("c", 300.0)] {
        let path = format!("baselines/{id}/baseline.json");
        let mut baseline: Value = serde_json::from_str(&project.read(&path)).unwrap();
        baseline["duration_ms"] = json!(took);
        project.file(&path, baseline.to_string());
    }
    fs::remove_dir_all(project.path("baselines/d")).unwrap();
    scenario(&project, "b", &json!({ "enabled": false }));
    // Nothing is known of `d`, so it counts as what lies between `a` and `c`; `b` counts for nothing.
    let result = project.result(0, &["run", "--shard", "1/1"]);
    assert_eq!(result["shard"]["plan"][0]["expected_ms"], 600.0);
}

#[test]
fn parts_together_took_from_the_first_beginning_to_the_last_end() {
    let project = Project::new();
    for id in ["a", "b"] {
        scenario(&project, id, &json!({ "dataset": [{ "id": "x" }] }));
    }
    for part in ["1", "2"] {
        let (shard, folder) = (format!("{part}/2"), format!("parts/{part}"));
        project.expect(0, &["run", "--shard", &shard, "--output", &folder]);
    }
    let edit = |part: &str, began: &str, took: f64, interrupted: bool| {
        let path = format!("parts/{part}/result.json");
        let mut result: Value = serde_json::from_str(&project.read(&path)).unwrap();
        result["started_at"] = json!(began);
        result["duration_ms"] = json!(took);
        result["interrupted"] = json!(interrupted);
        project.file(&path, result.to_string());
    };
    edit("1", "2026-01-01T10:00:00Z", 60_000.0, false);
    edit("2", "2026-01-01T10:00:30Z", 5_000.0, false);
    let merged = project.result(0, &["merge", "parts"]);
    assert_eq!(merged["started_at"], "2026-01-01T10:00:00Z");
    assert_eq!(merged["duration_ms"], 60_000.0);
    assert_eq!(merged["interrupted"], false);
    edit("2", "2026-01-01T10:00:30Z", 50_000.0, true);
    let merged = project.run(&["merge", "parts", "--format", "json"]);
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!(merged["duration_ms"], 80_000.0);
    assert_eq!(merged["interrupted"], true);
    // A row that is missing is one of its data set.
    fs::remove_dir_all(project.path("parts/2")).unwrap();
    let merged = project.result(3, &["merge", "parts"]);
    let datasets = merged["datasets"].as_array().unwrap().iter();
    let counted: Vec<&Value> = datasets.map(|it| &it["rows"]).collect();
    assert_eq!(counted, [1, 1], "{merged:#}");
}

/// The outcome of a matrix with these models, of so many scenarios, each of which passes with the models that it names.
fn matrix(models: &str, passing: &[&[&str]]) -> Value {
    let project = Project::new();
    for (number, models) in (1..).zip(passing) {
        let words = models.iter().map(
            |it| json!({ "type": "text", "in": "final_text", "contains": format!("I am {it}.") }),
        );
        let evaluators = json!([{ "type": "any_of", "of": words.collect::<Vec<Value>>() }]);
        let agent = json!({ "kind": "command", "command": [small_agent(), "call m look {}", "print I am ${model}."] });
        let more = asks(&json!({ "evaluators": evaluators, "agent": agent }));
        scenario(&project, &format!("s{number}"), &more);
    }
    let ran = project.run(&[
        "run",
        "--matrix",
        &format!("model={models}"),
        "--format",
        "json",
    ]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    result["matrix"].clone()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn who_is_compared_with_several_has_to_beat_each_of_them_by_more() {
    // Six to none is enough beside one other (p = 0.031), and too little beside two.
    let with_first: &[&str] = &["a"];
    let alone = matrix("a,b", &[with_first; 6]);
    assert_eq!(alone["winner"], 0, "{alone:#}");
    let beside_two = matrix("a,b,c", &[with_first; 6]);
    assert_eq!(beside_two["winner"], Value::Null, "{beside_two:#}");
    let of_seven = matrix("a,b,c", &[with_first; 7]);
    assert_eq!(of_seven["winner"], 0, "{of_seven:#}");
    // Nor is it enough to beat one of them.
    let mut passing: Vec<&[&str]> = vec![&["a", "b"]; 7];
    passing.push(with_first);
    let close = matrix("a,b,c", &passing);
    assert_eq!(close["winner"], Value::Null, "{close:#}");
    assert_eq!(close["pairs"].as_array().unwrap().len(), 2);
}

#[test]
fn a_cell_counts_runs_and_not_what_was_left_out() {
    let project = Project::new();
    // Every second run says who it is.
    let script = "n=$(cat count 2>/dev/null || echo 0); echo $((n+1)) > count; \
                  if [ $((n % 2)) = 0 ]; then echo I am good; else echo I am nobody; fi";
    let cwd = project.path("").display().to_string();
    let agent =
        json!({ "kind": "command", "command": ["sh", "-c", script, "${model}"], "cwd": cwd });
    scenario(
        &project,
        "s",
        &asks(&json!({ "agent": agent, "expected_trajectory": [] })),
    );
    scenario(&project, "off", &asks(&json!({ "enabled": false })));
    let ran = project.run(&[
        "run", "--matrix", "model=m", "--repeat", "4", "--jobs", "1", "--format", "json",
    ]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let cell = &result["matrix"]["cells"][0];
    assert_eq!(cell["scenarios"], 1, "{result:#}");
    assert_eq!(cell["pass_rate"], 0.5, "{result:#}");
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    let whole = scenarios.clone().find_map(|it| it["duration_ms"].as_f64());
    let mean = cell["duration_ms"].as_f64().unwrap();
    assert!((mean - whole.unwrap() / 4.0).abs() < 1e-6, "{result:#}");
}

#[test]
fn a_cell_without_a_verdict_is_compared_with_none() {
    let project = Project::new();
    // With one of the models, nothing is there that could be started.
    let agent = json!({ "kind": "command", "command": ["sh", "-c", "test \"$0\" != gone || exit 9; echo I am $0", "${model}"] });
    for number in 1..=2 {
        scenario(
            &project,
            &format!("s{number}"),
            &asks(&json!({ "agent": agent, "expected_trajectory": [] })),
        );
    }
    let result = project.result(1, &["run", "--matrix", "model=good,bad,gone"]);
    let matrix = &result["matrix"];
    assert_eq!(matrix["cells"][2]["without_verdict"], 2, "{matrix:#}");
    let others = matrix["pairs"].as_array().unwrap().iter();
    let others: Vec<&Value> = others.map(|it| &it["other"]).collect();
    assert_eq!(others, [1], "{matrix:#}");
}

#[test]
fn the_id_of_a_row_has_no_spaces_around_it() {
    let project = Project::new();
    scenario(&project, "s", &json!({ "dataset": "rows.csv" }));
    project.file("scenarios/rows.csv", "id , word\n a , x\n");
    assert_eq!(ids(&project.result(0, &["run"])), ["s/a"]);
}
