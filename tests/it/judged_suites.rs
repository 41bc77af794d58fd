//! Evaluators and judges where suites, parts of suites, tries, quarantine and data sets meet them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::common::Project;
use crate::http::serve_app;
use crate::judge::desk::{Model, document, verdict};

/// A scenario whose mock says `fine`, with these keys besides.
fn scenario(project: &Project, id: &str, more: &Value) {
    let mut scenario = json!({
        "name": id,
        "user_intent": "Look",
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "mcp_interactions": { "m": { "tools": [{ "name": "look", "responses": [{ "content": "fine" }] }] } },
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

fn suite(project: &Project, text: &str) {
    project.file("scenarios/_suites/nightly.yaml", text);
}

/// A judge whose every answer costs 0.12.
fn judge() -> Value {
    json!({
        "provider": "custom", "model": "j", "base_url": "${JUDGE_URL}", "api_key_env": "JUDGE_SECRET_WORD",
        "max_tokens": 1000, "max_input_chars": 2000, "price": { "input": 1000, "output": 1000 },
    })
}

fn judged() -> Value {
    let asks = json!({ "type": "llm-judge", "criteria": "It is fine." });
    json!({ "judge": judge(), "evaluators": [{ "type": "trace-no-errors" }, asks] })
}

#[test]
fn a_dry_run_names_evaluators_and_what_judges_may_cost() {
    let project = Project::new();
    scenario(&project, "judged", &judged());
    let plain =
        json!({ "evaluators": [{ "type": "text", "contains": "fine", "role": "advisory" }] });
    scenario(&project, "plain", &plain);
    let ran = project.expect(0, &["run", "--dry-run"]);
    ran.says("2 evaluators (trace-no-errors; llm-judge, advisory), judged by j, up to")
        .says("1 evaluator (text, advisory)")
        .says("models may cost up to");
    let planned = project.result(0, &["run", "--dry-run", "--repeat", "2"]);
    let of = &planned["scenarios"][0];
    assert_eq!(of["evaluators"][1]["type"], "llm-judge");
    assert_eq!(of["evaluators"][1]["role"], "advisory");
    assert_eq!(of["judge"], "j");
    // Two runs, each asked at most twice: 2000 characters of the run, the instructions, and 1000 tokens of an answer.
    let most = of["judge_max_cost"].as_f64().unwrap();
    assert!((44.0..45.0).contains(&most), "{most}");
    assert_eq!(of["max_cost"], of["judge_max_cost"]);
    assert_eq!(planned["scenarios"][1]["max_cost"], 0.0);
    assert_eq!(planned["scenarios"][1]["judge"], Value::Null);
    let arguments = ["run", "--dry-run", "--judge-budget", "3"];
    assert_eq!(project.result(0, &arguments)["max_cost"], 3.0);
    project.edit("scenarios/judged.yaml", "\"max_tokens\":1000,", "");
    project
        .expect(0, &["run", "--dry-run"])
        .says("at a cost without a bound")
        .says("has no bound");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_judges_cost_counts_against_the_bound_of_a_suite() {
    let project = Project::new();
    scenario(&project, "a", &judged());
    scenario(&project, "b", &judged());
    let model = Model::new(|_, _| verdict(0.9));
    let run = |code: i32, more: &[&str]| {
        let arguments = [&["run", "--suite", "nightly", "--no-cache"], more].concat();
        document(&project, &model.url, code, &arguments)
    };
    suite(&project, "gates: { max_cost: 0.24 }\n");
    let kept = run(0, &[]);
    assert_eq!(kept["suite"]["gates"][0]["value"], 0.24, "{kept}");
    assert_eq!(kept["scenarios"][0]["judging"]["cost"], 0.12);
    suite(&project, "gates: { max_cost: 0.23 }\n");
    assert_eq!(run(1, &[])["suite"]["gates"][0]["state"], "broken");
    // Every run of a scenario is judged, and not the one alone that is shown.
    let repeated = run(1, &["--repeat", "3"]);
    assert_eq!(repeated["scenarios"][0]["judging"]["requests"], 3);
    // The parts of a suite keep the bound together.
    run(0, &["--shard", "1/2", "--output", "parts/1"]);
    run(0, &["--shard", "2/2", "--output", "parts/2"]);
    let merged = project.result(1, &["merge", "parts"]);
    assert_eq!(merged["suite"]["gates"][0]["value"], 0.24, "{merged}");
    assert_eq!(merged["suite"]["gates"][0]["state"], "broken");
    let message = merged["scenarios"][1]["evaluators"][1]["message"].as_str();
    assert_eq!(message, Some("LLM judge score: 90.0%"));
}

#[test]
fn the_evaluators_of_the_last_try_decide() {
    for (contains, code) in [("fine", 0), ("elsewhere", 1)] {
        let project = Project::new();
        let mock = json!({ "tools": [{ "name": "look", "responses": [{ "content": "fine" }] }] });
        project.file("mock.json", mock.to_string());
        let script = format!(
            "test -e been || {{ touch been; exit 1; }}; exec '{}' mock mock.json",
            env!("CARGO_BIN_EXE_mcp-eval")
        );
        let more = json!({
            "servers": { "m": { "type": "stdio", "command": "sh", "args": ["-c", script] } },
            "mcp_interactions": {},
            "evaluators": [{ "type": "text", "contains": contains }],
        });
        scenario(&project, "s", &more);
        project.edit("scenarios/s.yaml", "\"mcp_interactions\":{},", "");
        suite(&project, "retries: { on: [transport], backoff: 10ms }\n");
        let result = project.result(code, &["run", "--suite", "nightly"]);
        let it = &result["scenarios"][0];
        assert_eq!(it["retried"].as_array().map(Vec::len), Some(1), "{it}");
        assert_eq!(it["evaluators"].as_array().map(Vec::len), Some(1), "{it}");
        assert_eq!(
            it["flaky"],
            if code == 0 { json!(true) } else { Value::Null }
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_quarantined_scenario_is_judged_and_decides_nothing() {
    for (evaluator, code, status) in [
        (
            json!({ "type": "text", "contains": "nowhere" }),
            1,
            "failed",
        ),
        (json!({ "type": "file", "path": "." }), 3, "error"),
    ] {
        let project = Project::new();
        scenario(&project, "good", &json!({}));
        scenario(&project, "s", &json!({ "evaluators": [evaluator] }));
        suite(&project, "description: all\n");
        project.expect(code, &["run", "--suite", "nightly"]);
        suite(
            &project,
            "quarantine: [{ name: s, reason: known, until: 2099-01-01 }]\n",
        );
        let result = project.result(0, &["run", "--suite", "nightly"]);
        let it = &result["scenarios"][1];
        assert_eq!(it["status"], status, "{it}");
        assert_eq!(it["evaluators"][0]["status"], status, "{it}");
    }
}

/// Rows that say what the answer must be; every second one is wrong.
fn rows(project: &Project) {
    let rows: Vec<Value> = (0..6)
        .map(|it| json!({ "id": format!("r{it}"), "word": if it % 2 == 0 { "fine" } else { "else" } }))
        .collect();
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    project.file("scenarios/deep/rows.jsonl", lines.join("\n"));
    project.file("scenarios/deep/left.txt", "here");
    let more = json!({
        "name": "Rows",
        "dataset": "rows.jsonl",
        "user_intent": "Look for {{row.word}}",
        "evaluators": [
            { "type": "text", "contains": "{{row.word}}", "name": "says {{row.word}}" },
            { "type": "file", "path": "left.txt", "contains": "here" },
        ],
    });
    scenario(project, "deep/say", &more);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn each_row_is_dealt_out_judged_and_summed_up() {
    let project = Project::new();
    rows(&project);
    for number in ["1", "2", "3"] {
        let (shard, output) = (format!("{number}/3"), format!("parts/{number}"));
        let part = project.result(1, &["run", "--shard", &shard, "--output", &output]);
        assert_eq!(part["scenarios"].as_array().map(Vec::len), Some(2));
        assert_eq!(
            part["shard"]["plan"][0]["scenarios"][0]["id"],
            "deep/say/r0"
        );
    }
    let files = [
        "junit=out/junit.xml",
        "ctrf=out/ctrf.json",
        "markdown=out/summary.md",
        "json=out/result.json",
    ];
    let reports = files.iter().flat_map(|it| ["--report", it]);
    let arguments: Vec<&str> = ["merge", "parts", "--output", "out/pages"]
        .into_iter()
        .chain(reports)
        .collect();
    project
        .expect(1, &arguments)
        .says("3 of 6 rows passed, 3 failed");
    let result: Value = serde_json::from_str(&project.read("out/result.json")).unwrap();
    assert_eq!(
        result["datasets"],
        json!([{ "scenario": "deep/say", "rows": 6, "succeeded": 3, "failed": 3, "without_verdict": 0 }])
    );
    for scenario in result["scenarios"].as_array().unwrap() {
        assert_eq!(scenario["row_of"], "deep/say");
        assert_eq!(scenario["evaluators"][1]["status"], "passed", "{scenario}");
    }
    for file in ["out/junit.xml", "out/ctrf.json", "out/summary.md"] {
        assert!(project.read(file).contains("says else"), "{file}");
    }
    let page = result["scenarios"][1]["id"].as_str().unwrap();
    let pages = glob::glob(project.path("out/pages/*.html").to_str().unwrap()).unwrap();
    let of_row = |it: &std::path::PathBuf| {
        let text = std::fs::read_to_string(it).unwrap();
        text.contains(page) && text.contains("says else") && !it.ends_with("index.html")
    };
    assert!(pages.flatten().any(|it| of_row(&it)), "{page}");
    assert!(
        project
            .read("out/pages/index.html")
            .contains("3 of 6 rows passed")
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn rows_have_baselines_and_evaluators_of_their_own() {
    let project = Project::new();
    rows(&project);
    // A row that its evaluators fail is not kept, and the others are.
    project.expect(1, &["record"]);
    assert!(project.path("baselines/deep/say/r0/baseline.json").exists());
    assert!(!project.path("baselines/deep/say/r1/baseline.json").exists());
    project.edit("scenarios/deep/rows.jsonl", "\"else\"", "\"fine\"");
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]).says("6 of 6 rows passed");
    project.edit("scenarios/deep/left.txt", "here", "gone");
    let result = project.result(1, &["compare"]);
    assert_eq!(result["datasets"][0]["failed"], 6);
}

/// A judge that answers the first request with this status, to come back in an hour, and passes what it is asked about from then on.
fn away_at_first(status: u16) -> String {
    let status = StatusCode::from_u16(status).unwrap();
    let address = serve_app(move || {
        let asked = Arc::new(AtomicBool::new(false));
        let answer = move || {
            let asked = asked.swap(true, Ordering::Relaxed);
            async move {
                if !asked {
                    return (status, [("retry-after", "3600")], "no").into_response();
                }
                let call = json!({ "name": "verdict", "arguments": verdict(0.9).to_string() });
                let call = json!({ "id": "c1", "type": "function", "function": call });
                let said = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
                let choice = json!({ "finish_reason": "tool_calls", "message": said });
                Json(json!({ "model": "j", "choices": [choice] })).into_response()
            }
        };
        Router::new().route("/v1/chat/completions", post(answer))
    });
    format!("http://{address}")
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_stands_in_the_way_of_a_gating_judge_is_tried_again() {
    // How it answers first, which retries there are, whether it gates, the exit code, and what was met.
    let cases = [
        (429, "rate_limit", "gating", 0, Some("rate_limit")),
        (503, "transport", "gating", 0, Some("transport")),
        (429, "transport", "gating", 3, None),
        (400, "rate_limit, transport", "gating", 3, None),
        (429, "rate_limit, transport", "advisory", 0, None),
    ];
    for (status, on, role, code, met) in cases {
        let project = Project::new();
        let mut more = judged();
        // Within another one it is no less in the way.
        let asks = more["evaluators"][1].clone();
        more["evaluators"][1] = json!({ "type": "all_of", "of": [asks], "role": role });
        scenario(&project, "s", &more);
        suite(
            &project,
            &format!("retries: {{ on: [{on}], backoff: 10ms }}\n"),
        );
        let url = away_at_first(status);
        let arguments = ["run", "--suite", "nightly", "--no-cache"];
        let result = document(&project, &url, code, &arguments);
        let s = &result["scenarios"][0];
        let tried = s["retried"][0]["trouble"].as_str();
        assert_eq!(tried, met, "{status} {role}: {s}");
        let judged = s["evaluators"][1]["status"].as_str();
        let last = if met.is_some() { "passed" } else { "error" };
        assert_eq!(judged, Some(last), "{status} {role}: {s}");
    }
}
