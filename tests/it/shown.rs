//! The texts on failed runs, and the commands that are offered: true of the scenario, the row or the cell that they stand with.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::common::{Project, Ran, ran, small_agent};
use crate::http::serve_app;
use crate::judge::desk::asked;

/// A scenario whose mock answers `fine` to `look` and refuses to `pay`, with these keys besides.
fn scenario(project: &Project, id: &str, more: &Value) {
    let mut scenario = json!({
        "name": id,
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "mcp_interactions": { "m": { "tools": [
            { "name": "look", "annotations": { "read_only_hint": true }, "responses": [{ "content": "fine" }] },
            { "name": "pay", "responses": [{ "content": "card refused", "is_error": true }] },
        ] } },
    });
    let more = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(more);
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

/// A data set whose rows are all answered alike.
fn rows(project: &Project, answer: &str, ids: &[&str]) {
    let rows: Vec<Value> = ids.iter().map(|it| json!({ "id": it })).collect();
    let mock =
        json!({ "m": { "tools": [{ "name": "look", "responses": [{ "content": answer }] }] } });
    let more = json!({ "name": "Row {{row.id}}", "dataset": rows, "mcp_interactions": mock });
    scenario(project, "pay", &more);
}

/// The command that a line of what was printed offers behind these words.
fn offered(ran: &Ran, words: &str) -> Vec<String> {
    let flowing = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = flowing.split_once(words).unwrap();
    let command = rest.split('`').nth(1).unwrap();
    let command = command.strip_prefix("mcp-eval ").unwrap();
    command.split(' ').map(str::to_owned).collect()
}

fn follow(project: &Project, arguments: &[String]) -> Ran {
    ran(project.command().args(arguments))
}

fn ids(result: &Value) -> Vec<&str> {
    let scenarios = result["scenarios"].as_array().unwrap().iter();
    scenarios.map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_row_without_a_baseline_is_recorded_without_the_others() {
    let project = Project::new();
    rows(&project, "paid", &["p1", "p10"]);
    // Where nothing is recorded, all of it may be.
    let compared = project.expect(3, &["compare"]);
    let all = offered(&compared, "record them with");
    assert_eq!(all.join(" "), "record --scenario scenarios/pay.yaml");
    assert_eq!(follow(&project, &all).code, 0);

    rows(&project, "not paid", &["p1", "p2", "p10"]);
    let others = ["p1", "p10"].map(|it| format!("baselines/pay/{it}/baseline.json"));
    let before = others.each_ref().map(|it| project.read(it));
    let compared = project.expect(1, &["compare"]);
    let command = offered(&compared, "record one with");
    assert_eq!(command.join(" "), "record -k pay/p2");
    assert_eq!(follow(&project, &command).code, 0);
    assert_eq!(others.each_ref().map(|it| project.read(it)), before);
    assert!(project.path("baselines/pay/p2/baseline.json").is_file());
    // The id of a row is no part of that of another.
    let result = project.result(1, &["compare", "-k", "pay/p1"]);
    assert_eq!(ids(&result), ["pay/p1"]);
    let result = project.result(1, &["compare", "-k", "pay/p"]);
    assert_eq!(ids(&result).len(), 3);
    // In another folder of baselines, too.
    let compared = project.expect(3, &["compare", "--baseline", "others", "-k", "pay/p2"]);
    let command = offered(&compared, "record one with");
    assert_eq!(
        command.join(" "),
        "record --scenario scenarios/pay.yaml --output others"
    );
    follow(&project, &command);
    assert!(project.path("others/pay/p2/baseline.json").is_file());
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn all_rows_without_a_baseline_are_recorded_by_one_command_and_no_others() {
    let project = Project::new();
    let there = ["1", "2", "10", "oslo", "new york"];
    rows(&project, "paid", &there);
    project.expect(0, &["record"]);
    for gone in ["1", "10", "new york", "oslo"] {
        fs::remove_dir_all(project.path(format!("baselines/pay/{gone}"))).unwrap();
    }
    rows(&project, "not paid", &there);
    let before = project.read("baselines/pay/2/baseline.json");
    let result = project.result(1, &["compare"]);
    let causes = result["causes"].as_array().unwrap().iter();
    let causes: Vec<&Value> = causes.filter(|it| it["kind"] == "problem").collect();
    assert_eq!(causes.len(), 1, "{causes:#?}");
    assert_eq!(
        causes[0]["scenarios"],
        json!(["pay/1", "pay/10", "pay/oslo", "pay/new york"])
    );
    assert_eq!(
        causes[0]["text"],
        "no baseline: baselines/pay/1/baseline.json does not exist, nor do those of 3 other scenarios"
    );
    let hint = causes[0]["hint"].as_str().unwrap();
    let command = "mcp-eval record -k 'pay/1 or pay/10 or pay/oslo or \"pay/new york\"'";
    assert_eq!(hint, format!("record them with `{command}`"));
    let words = shlex::split(command).unwrap();
    assert_eq!(follow(&project, &words[1..]).code, 0);
    assert_eq!(project.read("baselines/pay/2/baseline.json"), before);
    project
        .expect(1, &["compare"])
        .says("4/5 tests passed")
        .says_not("no baseline");
}

#[test]
fn another_experiment_of_a_row_is_recorded_without_the_others() {
    let project = Project::new();
    let asks = |words: &str| {
        let more = json!({
            "dataset": [{ "id": "a" }, { "id": "b" }], "user_intent": words,
            "agent": { "kind": "command", "command": [small_agent(), "call m look {}", "print done"] },
        });
        scenario(&project, "pay", &more);
    };
    asks("Look at {{row.id}}.");
    project.expect(0, &["record"]);
    asks("Look hard at {{row.id}}.");
    project
        .expect(3, &["compare", "-k", "pay/b"])
        .says("`mcp-eval record -k pay/b` accepts the experiment as it is now");
}

/// Two rows, of an agent that says the name of its model; they pass where that is `good`.
fn in_cells(project: &Project) {
    let more = json!({
        "dataset": [{ "id": "a" }, { "id": "b" }], "user_intent": "Say who you are.",
        "agent": { "kind": "command", "command": [small_agent(), "call m look {}", "print I am ${model}"] },
        "evaluators": [{ "type": "text", "in": "final_text", "contains": "I am good" }],
    });
    scenario(project, "t", &more);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn cells_are_picked_recorded_and_counted_as_cells() {
    let project = Project::new();
    in_cells(&project);
    let matrix = ["--matrix", "model=bad,good"];
    let run = |code, more: &[&str]| project.result(code, &[&["run"][..], &matrix, more].concat());
    let result = run(1, &[]);
    assert_eq!(
        result["datasets"],
        json!([{ "scenario": "t", "rows": 2, "cells": 4, "succeeded": 2, "failed": 2, "without_verdict": 0 }])
    );
    let shown = project.expect(1, &["run", matrix[0], matrix[1]]);
    shown.says("t: 2 of 4 cells of 2 rows passed, 2 failed");
    // What passed is not run again, and that not all was run is said.
    let result = run(1, &["--last-failed"]);
    assert_eq!(ids(&result), ["t/a/model=bad", "t/b/model=bad"]);
    assert_eq!(
        (&result["selection"]["chosen"], &result["selection"]["of"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(
        ids(&run(0, &["-k", "model=good"])),
        ["t/a/model=good", "t/b/model=good"]
    );
    assert_eq!(ids(&run(0, &["-k", "t/a/model=good"])), ["t/a/model=good"]);
    assert_eq!(
        ids(&run(1, &["-k", "t/b"])),
        ["t/b/model=bad", "t/b/model=good"]
    );
    assert_eq!(
        ids(&run(1, &["-k", "scenarios/t.yaml and not t/b/model=bad"])).len(),
        3
    );

    let compared = project.expect(3, &["compare", "-k", "t/a", "--matrix", "model=good"]);
    let command = offered(&compared, "record one with");
    assert_eq!(
        command.join(" "),
        "record --scenario scenarios/t.yaml --matrix model=good"
    );
    assert_eq!(follow(&project, &command).code, 0);
    project.expect(0, &["compare", "--matrix", "model=good"]);
    let compared = project.expect(3, &["compare", "--matrix", "model=good one", "-k", "t/a"]);
    let text = compared
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.contains("`mcp-eval record -k t/a --matrix 'model=good one'`"),
        "{text}"
    );
}

#[test]
fn a_report_runs_failed_cells_again_by_their_ids() {
    let project = Project::new();
    in_cells(&project);
    let options = [
        "run",
        "--matrix",
        "model=bad,good",
        "--report",
        "markdown=m.md",
    ];
    project.expect(1, &options);
    let markdown = project.read("m.md");
    assert!(
        markdown
            .contains("mcp-eval run -k 't/a/model=bad or t/b/model=bad' --matrix model=bad,good"),
        "{markdown}"
    );
}

#[test]
fn a_value_of_a_matrix_is_named_once() {
    let project = Project::new();
    in_cells(&project);
    for matrix in [&["model=good,good"][..], &["model=good", "model=bad,good"]] {
        let mut arguments = vec!["run"];
        arguments.extend(matrix.iter().flat_map(|it| ["--matrix", it]));
        project
            .expect(2, &arguments)
            .says("--matrix names model=good twice");
    }
}

#[test]
fn the_price_of_another_model_is_said_to_be_that() {
    let project = Project::new();
    let agent = json!({
        "kind": "openai", "api": "chat", "model": "m1", "base_url": "http://127.0.0.1:9/v1", "price": { "input": 3, "output": 15 },
    });
    scenario(
        &project,
        "u",
        &json!({ "user_intent": "Look", "agent": agent }),
    );
    project
        .expect(2, &["run", "--matrix", "model=m1,m2", "--budget", "5"])
        .says("`agent.price` is that of the scenario's own model, and not of `m2`")
        .says_not("give its price");
}

#[test]
fn rows_that_were_not_reached_count() {
    let project = Project::new();
    let fails = json!([{ "type": "text", "contains": "{{row.text}}" }]);
    let row = |id: &str, text: &str| json!({ "id": id, "text": text });
    let more = json!({ "dataset": [row("a", "fine"), row("b", "no"), row("c", "fine")], "evaluators": fails });
    scenario(&project, "d", &more);
    project
        .expect(1, &["run", "--fail-fast"])
        .says("d: 1 of 3 rows passed, 1 failed, 1 without a verdict");
    for part in ["1/2", "2/2"] {
        let folder = format!("parts/{}", &part[..1]);
        let mut command = project.command();
        ran(command.args(["run", "--shard", part, "--output", &folder]));
    }
    let missing = project.result(1, &["merge", "parts/2"]);
    assert_eq!(missing["scenarios"][0]["not_run"], "missing_part");
    let merged = project.run(&["merge", "parts/2"]);
    merged.says("of 3 rows passed").says("2 without a verdict");
    let allowed = project.run(&["merge", "parts/2", "--allow-missing"]);
    allowed.says("of 3 rows passed").says("2 without a verdict");
}

#[test]
fn a_kept_gate_says_what_it_lets_pass() {
    let project = Project::new();
    let contains = |text: &str| json!({ "evaluators": [{ "type": "text", "contains": text }] });
    scenario(&project, "good", &contains("fine"));
    scenario(&project, "bad", &contains("zzz"));
    project.file(
        "scenarios/_suites/gate.yaml",
        "gates: { min_pass_rate: 0.5 }\n",
    );
    let kept = "min_pass_rate: 50.0 %, within 50.0 %";
    let ran = project.expect(
        0,
        &[
            "run",
            "--suite",
            "gate",
            "--output",
            "pages",
            "--report",
            "markdown=g.md",
            "--report",
            "junit=g.xml",
            "--report",
            "github=g.gh",
        ],
    );
    ran.says("bad failed, within min_pass_rate")
        .says(&format!("Suite: {kept}"));
    let result: Value = serde_json::from_str(&project.read("pages/result.json")).unwrap();
    assert_eq!(result["gate"]["sentence"], format!("1 of 2 passed; {kept}"));
    assert_eq!(result["scenarios"][0]["within_gate"], kept);
    assert_eq!(result["scenarios"][0]["status"], "failed");
    let markdown = project.read("g.md");
    assert!(
        markdown.starts_with(&format!("## ✓ mcp-eval run: 1 of 2 passed; {kept}")),
        "{markdown}"
    );
    let junit = project.read("g.xml");
    assert!(junit.contains("tests=\"2\" failures=\"0\""), "{junit}");
    assert!(
        junit.contains(&format!("<skipped message=\"{kept}")),
        "{junit}"
    );
    let github = project.read("g.gh");
    assert!(
        github.starts_with("::warning file=scenarios/bad.yaml"),
        "{github}"
    );
    assert!(!github.contains("::error"), "{github}");
    let page = project.read("pages/index.html");
    assert_eq!(
        page.matches(kept).count(),
        3,
        "the gate, its sentence, and the row"
    );
    // One that is not kept lets nothing pass.
    project.file(
        "scenarios/_suites/gate.yaml",
        "gates: { min_pass_rate: 0.6 }\n",
    );
    project.expect(1, &["run", "--suite", "gate", "--report", "junit=g.xml"]);
    assert!(project.read("g.xml").contains("failures=\"1\""));
    // What is quarantined is no part of everything.
    project.file(
        "scenarios/_suites/gate.yaml",
        "quarantine: [{ name: bad, reason: known, until: 2999-01-01 }]\n",
    );
    project.expect(
        0,
        &[
            "run",
            "--suite",
            "gate",
            "--output",
            "pages",
            "--report",
            "markdown=g.md",
        ],
    );
    let markdown = project.read("g.md");
    assert!(
        markdown.starts_with("## ✓ mcp-eval run: 1 of 2 passed, 1 quarantined\n"),
        "{markdown}"
    );
    let page = project.read("pages/index.html");
    assert!(page.contains("failed, quarantined"), "{page}");
    assert!(
        page.contains("quarantined until 2999-01-01: it decides nothing (known)"),
        "{page}"
    );
}

#[test]
fn advice_is_shown_once_and_is_no_reason() {
    let project = Project::new();
    let text = |name: &str, text: &str, role: &str| json!({ "type": "text", "name": name, "contains": text, "role": role });
    let both = [
        text("GATE", "yyy", "gating"),
        text("ADV", "zzz", "advisory"),
    ];
    scenario(&project, "both", &json!({ "evaluators": both }));
    scenario(
        &project,
        "other",
        &json!({ "evaluators": [text("ADV2", "zzz", "advisory")] }),
    );
    let reports = ["--report", "markdown=o.md", "--report", "junit=o.xml"];
    project.expect(1, &[&["run"][..], &reports].concat());
    let (markdown, junit) = (project.read("o.md"), project.read("o.xml"));
    assert_eq!(markdown.matches("`ADV`").count(), 1, "{markdown}");
    assert_eq!(junit.matches("`ADV`").count(), 1, "{junit}");
    assert_eq!(junit.matches("`ADV2`").count(), 1, "{junit}");
    let message = junit.split("<failure message=\"").nth(1).unwrap();
    let message = message.split('"').next().unwrap();
    assert!(
        message.contains("GATE") && !message.contains("ADV"),
        "{message}"
    );
    assert!(
        markdown.contains("1 scenario passed, against the advice of an evaluator"),
        "{markdown}"
    );
    assert_eq!(markdown.matches("ADV2").count(), 1, "{markdown}");
}

#[test]
fn a_failing_evaluator_is_shown_at_its_line() {
    let project = Project::new();
    let rest = "servers: { m: { type: mock } }\nexpected_trajectory: [{ tool: look }]\n\
                mcp_interactions: { m: { tools: [{ name: look, responses: [{ content: fine }] }] } }\n";
    project.file(
        "scenarios/a.yaml",
        format!("name: A\n{rest}evaluators:\n  - {{ type: text, contains: fine }}\n  - {{ type: text, contains: zzz }}\n"),
    );
    project.file(
        "scenarios/below/_defaults.yaml",
        "evaluators:\n  - { type: text, contains: yyy }\n",
    );
    project.file("scenarios/below/b.yaml", format!("name: B\n{rest}"));
    let ran = project.expect(1, &["run", "--report", "github=g", "--report", "junit=j"]);
    ran.says("scenarios/a.yaml:7")
        .says_not("scenarios/below/b.yaml:");
    let lines = project.read("g");
    assert!(
        lines.contains("::error file=scenarios/a.yaml,line=7,title="),
        "{lines}"
    );
    assert!(
        lines.contains("::error file=scenarios/below/b.yaml,line=1,col=7,"),
        "{lines}"
    );
    assert!(project.read("j").contains("scenarios/a.yaml:7: failed"));
}

#[test]
fn a_run_is_not_said_to_fail_for_a_call_that_is_meant_to() {
    let project = Project::new();
    let calls = |tool: &str| json!([{ "tool": tool, "args": {}, "is_error": true }]);
    let evaluators = json!([{ "type": "text", "contains": "zzz" }]);
    scenario(
        &project,
        "a",
        &json!({ "expected_trajectory": calls("pay"), "evaluators": evaluators }),
    );
    scenario(
        &project,
        "b",
        &json!({ "expected_trajectory": calls("look") }),
    );
    let more = json!({ "expected_trajectory": [{ "tool": "pay", "args": {} }] });
    scenario(&project, "c", &more);
    let result = project.result(1, &["run"]);
    let words = |at: usize| result["scenarios"][at]["in_words"].as_str().unwrap();
    assert!(
        words(0).ends_with("The run failed, because an evaluator fails."),
        "{}",
        words(0)
    );
    assert!(
        words(1).ends_with("The run failed, because call 1 succeeded, and was expected to fail."),
        "{}",
        words(1)
    );
    assert!(
        words(2).ends_with("The run failed, because call 1 failed."),
        "{}",
        words(2)
    );
}

#[test]
fn what_expects_another_number_is_another_cause() {
    let project = Project::new();
    for (id, text) in [("a", "is 1."), ("b", "is 2.")] {
        let step = json!({ "tool": "look", "args": {}, "expect": { "text": text } });
        scenario(&project, id, &json!({ "expected_trajectory": [step] }));
    }
    let items =
        json!({ "tool": "look", "args": {}, "expect": { "path": "/items", "min_items": 1 } });
    let mock = json!({ "m": { "tools": [{ "name": "look", "responses": [{ "content": [{ "type": "text", "json": { "items": [] } }] }] }] } });
    scenario(
        &project,
        "c",
        &json!({ "expected_trajectory": [items], "mcp_interactions": mock }),
    );
    let result = project.result(1, &["run"]);
    let causes = result["causes"].as_array().unwrap();
    let texts: Vec<&str> = causes
        .iter()
        .map(|it| it["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts.len(), 3, "{texts:#?}");
    assert!(
        texts[0].contains("`is 1.`") && texts[1].contains("`is 2.`"),
        "{texts:#?}"
    );
    assert!(
        texts[2].ends_with("has no items") && !texts[2].contains("yet"),
        "{texts:#?}"
    );

    // Evaluators of one name are one cause, which says that it shows one of several.
    let project = Project::new();
    let evaluators = json!([{ "type": "text", "name": "says it", "contains": "{{row.id}}" }]);
    scenario(
        &project,
        "d",
        &json!({ "dataset": [{ "id": "x1" }, { "id": "x2" }], "evaluators": evaluators }),
    );
    project
        .expect(1, &["run"])
        .says("the evaluator `says it` fails, such as: `x1` is not in the answers");
}

#[test]
fn scenarios_that_never_pass_are_distinguished_from_skipped_ones() {
    let project = Project::new();
    let says = json!({ "type": "text", "in": "final_text", "contains": "x" });
    let evaluators = json!([
        { "type": "all_of", "of": [says, { "type": "text", "contains": "zzz" }] },
        { "type": "within", "steps": 0, "tokens": 5 },
        { "type": "within", "tokens": 5 },
    ]);
    scenario(&project, "a", &json!({ "evaluators": evaluators }));
    let found = project.expect(0, &["validate"]);
    let count = |text: &str| found.all().matches(text).count();
    assert_eq!(
        count("fails or is skipped, and never passes"),
        1,
        "{found:#?}"
    );
    // The whole of the last, and a part of the first.
    assert_eq!(count("is skipped in every run"), 2, "{found:#?}");

    let project = Project::new();
    let judge = json!({ "provider": "ollama", "model": "j" });
    let more = json!({ "evaluators": [{ "type": "llm-judge", "criteria": "ok" }], "judge": judge, "user_intent": "Look", "agent": { "kind": "ollama", "model": "m" }, "expected_trajectory": Value::Null });
    scenario(&project, "b", &more);
    project
        .edit("scenarios/b.yaml", "\"expected_trajectory\":null,", "")
        .expect(0, &["validate"])
        .says("only a judge can fail this scenario")
        .says_not("nothing is expected");
}

#[test]
fn a_text_that_should_not_be_there_is_not_said_to_be_missing() {
    let project = Project::new();
    let evaluators = json!([{ "type": "not", "of": { "type": "text", "contains": "zzz" } }]);
    scenario(&project, "a", &json!({ "evaluators": evaluators }));
    project
        .expect(0, &["run", "-v"])
        .says("fails, as it should")
        .says_not("should be there");
}

/// A scenario that a judge gates, asked at an address that answers so.
fn judged(answer: impl IntoResponse + Clone + Send + Sync + 'static) -> Ran {
    let project = Project::new();
    let judge = json!({ "provider": "custom", "model": "j", "base_url": "${JUDGE_URL}", "api_key_env": "JUDGE_SECRET_WORD" });
    let evaluators = json!([{ "type": "llm-judge", "criteria": "It is fine.", "role": "gating" }]);
    scenario(
        &project,
        "a",
        &json!({ "user_intent": "Look", "judge": judge, "evaluators": evaluators }),
    );
    let address = serve_app(move || {
        Router::new().fallback(post(move || {
            let answer = answer.clone();
            async move { answer }
        }))
    });
    let url = format!("http://{address}");
    asked(&project, &url, &["run", "-v"])
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_judge_that_does_not_answer_is_described_as_it_is() {
    let limited = (
        StatusCode::TOO_MANY_REQUESTS,
        [(header::RETRY_AFTER, "100000")],
        "{}",
    );
    judged(limited)
        .says("the API's rate limit is reached (HTTP 429)")
        .says("the API asks to wait for 100000s, so it was not asked again")
        .says_not("again and again");
    let page = (
        StatusCode::OK,
        [(header::CONTENT_TYPE, "text/html")],
        "<html>Hello</html>",
    );
    judged(page)
        .says("is not the API of a model (HTTP 200)")
        .says_not("cannot be reached");
}

#[test]
fn the_first_reason_of_a_judge_that_is_asked_twice_is_kept() {
    let project = Project::new();
    let judge = json!({ "provider": "custom", "model": "j", "base_url": "${JUDGE_URL}", "api_key_env": "JUDGE_SECRET_WORD" });
    let evaluators = json!([{ "type": "llm-judge", "criteria": "It is fine.", "role": "gating" }]);
    scenario(
        &project,
        "a",
        &json!({ "user_intent": "Look", "judge": judge, "evaluators": evaluators }),
    );
    let address = serve_app(|| {
        let asked = Arc::new(AtomicBool::new(false));
        Router::new().fallback(post(move || {
            let asked = asked.swap(true, Ordering::Relaxed);
            async move {
                if asked {
                    return (StatusCode::UNAUTHORIZED, "{}").into_response();
                }
                let said = json!({ "role": "assistant", "content": "It is fine, I think." });
                let choice = json!({ "index": 0, "finish_reason": "stop", "message": said });
                let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1 });
                Json(json!({ "choices": [choice], "usage": usage })).into_response()
            }
        }))
    });
    let url = format!("http://{address}");
    asked(&project, &url, &["run", "-v"])
        .says("(HTTP 401)")
        .says("it was asked once more; before that:");
}

#[test]
fn a_judge_whose_answers_are_all_remembered_uses_nothing() {
    let project = Project::new();
    let judge = json!({ "provider": "custom", "model": "j", "base_url": "${JUDGE_URL}", "api_key_env": "JUDGE_SECRET_WORD" });
    let evaluators = json!([{ "type": "llm-judge", "criteria": "It is fine.", "role": "gating" }]);
    scenario(
        &project,
        "a",
        &json!({ "user_intent": "Look", "judge": judge, "evaluators": evaluators }),
    );
    let address = serve_app(|| {
        Router::new().fallback(post(|| async {
        let verdict = json!({
            "passed": true, "score": 0.9, "confidence": 0.9, "reasoning": "It is.", "tool_accuracy": 1.0, "suggestions": [],
        });
        let call = json!({ "id": "1", "type": "function", "function": { "name": "verdict", "arguments": verdict.to_string() } });
        let said = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        let choice = json!({ "index": 0, "finish_reason": "tool_calls", "message": said });
        Json(json!({ "choices": [choice], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } }))
    }))
    });
    let url = format!("http://{address}");
    let first = asked(&project, &url, &["run"]);
    assert_eq!(first.code, 0, "{first:#?}");
    first.says("Models: 1 request");
    let again = asked(&project, &url, &["run"]);
    assert_eq!(again.code, 0, "{again:#?}");
    again.says_not("? tokens").says_not("Models:");
}
