//! Evaluators at the program: each type passing, failing and not able to judge; what they come to together; what they leave alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::common::{Project, ran, served, stand_in};

/// A shop whose mock takes orders.
const SHOP: &str = r"
name: Shop
servers:
  shop: { type: mock }
expected_trajectory:
  - { tool: mcp__shop__find, args: { word: tea } }
  - { tool: mcp__shop__pay, args: { order: 7, amount: 2.0 } }
mcp_interactions:
  shop:
    tools:
      - name: find
        annotations: { read_only_hint: true }
        responses:
          - content: [{ type: text, json: { items: [{ id: 7, name: Tea }, { id: 8, name: Teapot }], total: 2 } }]
      - name: pay
        responses:
          - match: { order: 9 }
            is_error: true
            content: There is no order 9
          - content: Order 7 is paid
      - name: wipe
        responses: [{ content: gone }]
";

fn shop(evaluators: &Value) -> Project {
    let project = Project::new();
    project.file(
        "scenarios/shop.yaml",
        format!("{SHOP}\nevaluators: {evaluators}\n"),
    );
    project
}

fn script(project: &Project, name: &str, body: &str) {
    project.file(name, format!("#!/bin/sh\n{body}\n"));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.path(name), mode).unwrap();
}

/// What one evaluator found: exit code of `run`, its status and its message.
fn judged(evaluator: &Value) -> (i64, String, String) {
    let project = shop(&json!([evaluator]));
    script(
        &project,
        "scenarios/yes.sh",
        "cat > input.json; echo '{\"passed\": true, \"score\": 0.5, \"message\": \"fine\"}'",
    );
    script(
        &project,
        "scenarios/no.sh",
        "cat > /dev/null; echo seen >&2; echo '{\"passed\": false, \"message\": \"too dear\"}'",
    );
    script(&project, "scenarios/broken.sh", "echo oh no >&2; exit 4");
    script(&project, "scenarios/endless.sh", "exec cat /dev/zero");
    script(&project, "scenarios/slow.sh", "sleep 300 & sleep 300");
    script(
        &project,
        "scenarios/chatty.sh",
        "echo '{\"passed\": true, \"score\": 7}'",
    );
    project.file("data/left.json", r#"{"id": 7, "tags": ["a", 2]}"#);
    project.file(
        "data/items.json",
        r#"{"type": "object", "required": ["items"]}"#,
    );
    let mut command = project.command();
    let out = command.args(["run", "--format", "json"]).output().unwrap();
    let result: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{evaluator}: {}", String::from_utf8_lossy(&out.stderr)));
    let found = &result["scenarios"][0]["evaluators"][0];
    assert_eq!(project.survivors(), [""; 0], "{evaluator}");
    let details = found["details"].as_array().cloned().unwrap_or_default();
    let details: Vec<String> = details
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect();
    (
        out.status.code().unwrap().into(),
        found["status"].as_str().unwrap_or("none").to_owned(),
        format!(
            "{} {}",
            found["message"].as_str().unwrap_or_default(),
            details.join(" ")
        ),
    )
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_type_passes_fails_and_cannot_judge() {
    let cases = [
        // text
        (
            json!({ "type": "text", "in": "answers", "contains": "paid" }),
            "passed",
            "once",
        ),
        (
            json!({ "type": "text", "contains": "PAID", "any_case": true }),
            "passed",
            "once",
        ),
        (
            json!({ "type": "text", "contains": "PAID" }),
            "failed",
            "not in the answers",
        ),
        (
            json!({ "type": "text", "contains": "Tea", "at_least": 2, "at_most": 2 }),
            "passed",
            "2 times",
        ),
        (
            json!({ "type": "text", "contains": "Tea", "at_most": 1 }),
            "failed",
            "2 times",
        ),
        (
            json!({ "type": "text", "equals": "Order 7 is paid" }),
            "passed",
            "equals",
        ),
        (
            json!({ "type": "text", "starts_with": "is paid" }),
            "failed",
            "starts with",
        ),
        (
            json!({ "type": "text", "regex": r"Order \d+ is" }),
            "passed",
            "once",
        ),
        (
            json!({ "type": "text", "contains": "wipe", "not": true }),
            "passed",
            "not in",
        ),
        (
            json!({ "type": "text", "contains": "paid", "not": true }),
            "failed",
            "should not",
        ),
        (
            json!({ "type": "text", "in": "transcript", "contains": "\"amount\":2.0" }),
            "passed",
            "once",
        ),
        (
            json!({ "type": "text", "in": "final_text", "contains": "paid" }),
            "skipped",
            "a script says nothing",
        ),
        // exact-match
        (
            json!({ "type": "exact-match", "tool": "find", "path": "/total", "value": 2.0 }),
            "passed",
            "as expected",
        ),
        (
            json!({ "type": "exact-match", "call": 1, "value": { "items": [{ "name": "Teapot" }] }, "match": "partial" }),
            "passed",
            "as expected",
        ),
        (
            json!({ "type": "exact-match", "call": 1, "value": { "total": 2 } }),
            "failed",
            "/items is not expected",
        ),
        (
            json!({ "type": "exact-match", "value": "Order 7 is paid", "match": "exact" }),
            "passed",
            "as expected",
        ),
        (
            json!({ "type": "exact-match", "value": "Order 8 is paid" }),
            "failed",
            "is expected",
        ),
        (
            json!({ "type": "exact-match", "tool": "wipe", "value": 1 }),
            "failed",
            "there is no answer",
        ),
        // tool-calls
        (
            json!({ "type": "tool-calls", "required": ["mcp__shop__pay"], "prohibited": ["mcp__shop__wipe"], "max_extra": 1 }),
            "passed",
            "2 calls",
        ),
        (
            json!({ "type": "tool-calls", "required": ["pay"], "max_extra": 0 }),
            "failed",
            "1 of at most 0 extra calls",
        ),
        (
            json!({ "type": "tool-calls", "required": ["pay"], "optional": ["find"], "max_extra": 0 }),
            "passed",
            "2 calls",
        ),
        (
            json!({ "type": "tool-calls", "prohibited": [{ "tool": "pay", "args": { "order": 7.0 } }] }),
            "failed",
            "prohibited",
        ),
        (
            json!({ "type": "tool-calls", "prohibited": ["wype"] }),
            "error",
            "nearest: `wipe`",
        ),
        (
            json!({ "type": "tool-calls", "allowed": ["find"] }),
            "failed",
            "not allowed",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "find", "first": true, "before": "pay" }, { "tool": "pay", "last": true, "max": 1 }] }),
            "passed",
            "2 calls",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pay", "first": true }] }),
            "failed",
            "not the first",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pay", "min": 2 }] }),
            "failed",
            "1 of at least 2",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pay", "args": { "order": 7 }, "match": "exact" }] }),
            "failed",
            "no call of `pay` is as required",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "find", "args": { "word": "^t.a$" }, "match": "regex" }] }),
            "passed",
            "2 calls",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pay", "args_schema": { "properties": { "amount": { "minimum": 3 } } } }] }),
            "failed",
            "/amount",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "find", "answer": { "path": "/items/0/id", "equals": 7.0, "matches": "^7$" } }] }),
            "passed",
            "2 calls",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pay", "answer": { "is_error": true } }] }),
            "failed",
            "an error is expected",
        ),
        // schema-validate
        (
            json!({ "type": "schema-validate", "tool": "find", "schema": "../data/items.json" }),
            "passed",
            "1 answer is valid",
        ),
        (
            json!({ "type": "schema-validate", "tool": "find", "schema": { "properties": { "total": { "type": "string" }, "items": { "maxItems": 1 } } } }),
            "failed",
            "/total",
        ),
        (
            json!({ "type": "schema-validate", "tool": "pay", "schema": { "type": "object" } }),
            "failed",
            "is not JSON",
        ),
        (
            json!({ "type": "schema-validate", "path": "../data/left.json", "schema": { "properties": { "tags": { "items": { "type": "string" } } } } }),
            "failed",
            "/tags/1",
        ),
        // trace-no-errors, within
        (
            json!({ "type": "trace-no-errors" }),
            "passed",
            "2 calls, no error",
        ),
        (
            json!({ "type": "within", "steps": 2, "duration": "60s", "call_duration": "30s" }),
            "passed",
            "2 of at most 2 steps",
        ),
        (
            json!({ "type": "within", "steps": 1, "tokens": 5 }),
            "failed",
            "2 of at most 1 steps",
        ),
        (
            json!({ "type": "within", "tokens": 5 }),
            "skipped",
            "asks no model",
        ),
        // file
        (
            json!({ "type": "file", "path": "../data/left.json", "contains": "tags", "unchanged": true }),
            "passed",
            "as expected",
        ),
        (
            json!({ "type": "file", "path": "../data/left.json", "unchanged": false }),
            "failed",
            "as it was before",
        ),
        (
            json!({ "type": "file", "path": "nothing.txt" }),
            "failed",
            "there is no file",
        ),
        (
            json!({ "type": "file", "path": "nothing.txt", "exists": false }),
            "passed",
            "there is no file",
        ),
        (
            json!({ "type": "file", "path": "." }),
            "error",
            "is a folder",
        ),
        (
            json!({ "type": "file", "path": "x", "server": "shop" }),
            "error",
            "has no folder",
        ),
        // command
        (
            json!({ "type": "command", "command": ["./yes.sh"] }),
            "passed",
            "fine",
        ),
        (
            json!({ "type": "command", "command": ["./no.sh"] }),
            "failed",
            "too dear stderr: seen",
        ),
        (
            json!({ "type": "command", "command": ["./broken.sh"] }),
            "error",
            "exited with code 4 oh no",
        ),
        (
            json!({ "type": "command", "command": ["./slow.sh"], "timeout": "300ms" }),
            "error",
            "did not end within 300ms",
        ),
        (
            json!({ "type": "command", "command": ["./endless.sh"] }),
            "error",
            "prints more than",
        ),
        (
            json!({ "type": "command", "command": ["./chatty.sh"] }),
            "error",
            "not from 0 to 1",
        ),
        (
            json!({ "type": "command", "command": ["no-such-program"] }),
            "error",
            "cannot be started",
        ),
        // of others
        (
            json!({ "type": "all_of", "of": [{ "type": "trace-no-errors" }, { "type": "text", "contains": "paid" }] }),
            "passed",
            "all 2 pass",
        ),
        (
            json!({ "type": "all_of", "of": [{ "type": "within", "tokens": 1 }, { "type": "text", "contains": "nowhere" }] }),
            "failed",
            "nowhere",
        ),
        (
            json!({ "type": "all_of", "of": [{ "type": "file", "path": "." }, { "type": "text", "contains": "nowhere" }] }),
            "failed",
            "nowhere",
        ),
        (
            json!({ "type": "not", "of": { "type": "all_of", "of": [
                { "type": "text", "contains": "nowhere" },
                { "type": "any_of", "of": [{ "type": "text", "contains": "nowhere" }, { "type": "within", "tokens": 1 }] },
            ] } }),
            "passed",
            "as it should",
        ),
        (
            json!({ "type": "any_of", "of": [{ "type": "text", "contains": "nowhere" }, { "type": "text", "contains": "paid" }] }),
            "passed",
            "once",
        ),
        (
            json!({ "type": "any_of", "of": [{ "type": "text", "contains": "nowhere" }, { "type": "file", "path": "." }] }),
            "error",
            "is a folder",
        ),
        (
            json!({ "type": "not", "of": { "type": "text", "contains": "nowhere" } }),
            "passed",
            "as it should",
        ),
        (
            json!({ "type": "not", "of": { "type": "within", "tokens": 1 } }),
            "skipped",
            "asks no model",
        ),
        (
            json!({ "type": "not", "of": { "type": "file", "path": "." } }),
            "error",
            "is a folder",
        ),
    ];
    for (evaluator, status, says) in cases {
        let (code, found, message) = judged(&evaluator);
        let expected = match status {
            "failed" => 1,
            "error" => 3,
            _ => 0,
        };
        assert_eq!(found, status, "{evaluator}: {message}");
        assert!(message.contains(says), "{evaluator}: {message}");
        assert_eq!(code, expected, "{evaluator}: {message}");
    }
}

/// The status of an evaluator of these calls, whatever else is said of the run.
fn status_after(calls: &Value, evaluator: &Value) -> String {
    let project = Project::new();
    let (before, behind) = SHOP.split_once("expected_trajectory:").unwrap();
    let (_, mock) = behind.split_once("mcp_interactions:").unwrap();
    let mock = mock.replace("total: 2 }", "total: 2, note: null }");
    project.file(
        "scenarios/shop.yaml",
        format!("{before}expected_trajectory: {calls}\nevaluators: [{evaluator}]\nmcp_interactions:{mock}"),
    );
    let ran = project.run(&["run", "--format", "json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let found = &result["scenarios"][0]["evaluators"][0]["status"];
    found.as_str().unwrap_or("none").to_owned()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn calls_of_one_tool_are_distinguished() {
    let find = json!({ "tool": "mcp__shop__find", "args": { "word": "tea", "in": ["a", "b"] } });
    let paid = json!({ "tool": "mcp__shop__pay", "args": { "order": 7 } });
    let wrong = json!({ "tool": "mcp__shop__pay", "args": { "order": 9 } });
    let mut meant = wrong.clone();
    meant["is_error"] = json!(true);
    let calls = json!([find, meant, find, paid]);
    let required = |it: Value| json!({ "type": "tool-calls", "required": [it] });
    for (calls, evaluator, status) in [
        (
            &calls,
            required(json!({ "tool": "pay", "last": true })),
            "passed",
        ),
        (
            &calls,
            required(json!({ "tool": "find", "last": true })),
            "failed",
        ),
        // The first of them is.
        (
            &calls,
            required(json!({ "tool": "find", "before": "pay" })),
            "passed",
        ),
        // What is required need not be allowed besides.
        (
            &calls,
            json!({ "type": "tool-calls", "required": ["find"], "allowed": ["pay"] }),
            "passed",
        ),
        (
            &calls,
            required(json!({ "tool": "find", "answer": { "path": "/note", "exists": true } })),
            "failed",
        ),
        (
            &calls,
            required(json!({ "tool": "find", "args": { "in": ["a"] }, "match": "regex" })),
            "failed",
        ),
        (
            &calls,
            json!({ "type": "schema-validate", "call": 2, "schema": {} }),
            "failed",
        ),
        // Bounds that nobody could measure are not kept, whatever others are.
        (
            &calls,
            json!({ "type": "within", "steps": 4, "tokens": 5 }),
            "skipped",
        ),
        // Each element of a list stands for one, in its order.
        (
            &calls,
            json!({ "type": "exact-match", "call": 1, "match": "partial", "value": { "items": [{ "id": 7 }, { "id": 7 }] } }),
            "failed",
        ),
        (
            &calls,
            json!({ "type": "exact-match", "call": 1, "path": "/total", "match": "exact", "value": 2.0 }),
            "failed",
        ),
        // So many retries, of what is done right behind it.
        (
            &json!([wrong, wrong, paid]),
            json!({ "type": "trace-no-errors", "max_retries": 2 }),
            "passed",
        ),
        (
            &json!([wrong, wrong, paid]),
            json!({ "type": "trace-no-errors", "max_retries": 1 }),
            "failed",
        ),
        (
            &json!([paid, wrong]),
            json!({ "type": "trace-no-errors", "max_retries": 1 }),
            "failed",
        ),
    ] {
        assert_eq!(status_after(calls, &evaluator), status, "{evaluator}");
    }
}

#[test]
fn what_a_model_uses_may_be_all_that_is_allowed() {
    let project = shop(&json!([{ "type": "within", "tokens": 150, "cost": 150 }]));
    project.file(
        "llm.yaml",
        "llm_interactions:\n  - text: Done\n    usage: { input: 120, output: 30 }\n",
    );
    let (_model, url) = stand_in(&project, "llm.yaml");
    // A cost of 1 for each token.
    let agent = format!(
        "user_intent: Buy.\nagent: {{ kind: openai, model: m, base_url: \"{url}\", price: {{ input: 1000000, output: 1000000 }} }}\nservers:"
    );
    project.edit("scenarios/shop.yaml", "servers:", &agent);
    let found = |project: &Project| {
        let ran = project.run(&["run", "--format", "json"]);
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        result["scenarios"][0]["evaluators"][0].clone()
    };
    let kept = found(&project);
    assert_eq!(kept["status"], "passed", "{kept:#}");
    for (bound, less) in [
        ("\"tokens\":150", "\"tokens\":149"),
        ("\"cost\":150", "\"cost\":149.5"),
    ] {
        project.edit("scenarios/shop.yaml", bound, less);
        assert_eq!(found(&project)["status"], "failed", "{less}");
        project.edit("scenarios/shop.yaml", less, bound);
    }
}

#[test]
fn the_last_words_are_those_behind_all_calls() {
    let last = json!({ "type": "text", "in": "final_text", "equals": "Done" });
    let project = shop(&json!([last]));
    project.file(
        "llm.yaml",
        "llm_interactions:\n  - text: Let me see\n    tool_calls: [{ name: mcp__shop__find, arguments: { word: tea } }]\n  - text: Done\n",
    );
    let (_model, url) = stand_in(&project, "llm.yaml");
    let agent = format!(
        "user_intent: Buy.\nagent: {{ kind: openai, model: m, base_url: \"{url}\" }}\nservers:"
    );
    project.edit("scenarios/shop.yaml", "servers:", &agent);
    let ran = project.run(&["run", "--format", "json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let found = &result["scenarios"][0]["evaluators"][0];
    assert_eq!(found["status"], "passed", "{found:#}");
}

#[test]
fn an_advisory_evaluator_is_only_shown() {
    let of = |role: &str, more: Value| {
        let mut evaluators = vec![json!({ "type": "trace-no-errors" })];
        evaluators.extend(more.as_array().unwrap().iter().map(|it| {
            let mut it = it.clone();
            it["role"] = role.into();
            it
        }));
        shop(&json!(evaluators))
    };
    let failing = json!([{ "type": "text", "contains": "nowhere" }]);
    let broken = json!([{ "type": "file", "path": "." }]);
    of("advisory", failing.clone())
        .expect(0, &["run"])
        .says("failed, advisory");
    of("gating", failing).expect(1, &["run"]);
    of("advisory", broken.clone())
        .expect(0, &["run"])
        .says("error, advisory");
    of("gating", broken)
        .expect(3, &["run"])
        .says("could not judge");
}

#[test]
fn what_an_advisory_program_leaves_is_nothing_to_those_that_gate() {
    let left = json!({ "type": "file", "path": "../left.txt", "exists": false });
    let leave = json!({
        "type": "command", "role": "advisory",
        "command": ["sh", "-c", "touch left.txt; echo '{\"passed\": true}'"],
    });
    let project = shop(&json!([leave, left]));
    let result = project.result(0, &["run"]);
    let found = &result["scenarios"][0]["evaluators"];
    assert_eq!(found[0]["type"], "command");
    assert_eq!(found[0]["status"], "passed", "{found}");
    assert_eq!(found[1]["status"], "passed", "{found}");
    assert!(project.path("left.txt").exists());
}

#[test]
fn weights_are_worked_numbers_and_a_threshold_gates() {
    let evaluators = json!([
        { "type": "trace-no-errors", "weight": 3 },
        { "type": "command", "command": ["./half.sh"], "name": "half", "weight": 1 },
        { "type": "text", "contains": "nowhere", "role": "advisory", "weight": 50 },
        { "type": "within", "tokens": 1, "weight": 50 },
    ]);
    for (threshold, code) in [("0.875", 0), ("0.88", 1)] {
        let project = shop(&evaluators);
        script(
            &project,
            "scenarios/half.sh",
            "cat > /dev/null; echo '{\"passed\": true, \"score\": 0.5}'",
        );
        project.edit(
            "scenarios/shop.yaml",
            "name: Shop",
            &format!("name: Shop\nevaluation_threshold: {threshold}"),
        );
        let result = project.result(code, &["run"]);
        let evaluation = &result["scenarios"][0]["evaluation"];
        // (3 × 1 + 1 × 0.5) / 4
        assert_eq!(evaluation["score"], 0.875, "{evaluation}");
        assert_eq!(evaluation["passed"], code == 0);
    }
    // The mean of three times 0.7 comes out a hair below that, and reaches it.
    let same = json!({ "type": "command", "command": ["./most.sh"] });
    let project = shop(&json!([same, same, same]));
    let most = "cat > /dev/null; echo '{\"passed\": true, \"score\": 0.7}'";
    script(&project, "scenarios/most.sh", most);
    project.edit(
        "scenarios/shop.yaml",
        "name: Shop",
        "name: Shop\nevaluation_threshold: 0.7",
    );
    project.expect(0, &["run"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn record_compare_and_stored_runs_are_judged_too() {
    let project = shop(&json!([
        { "type": "text", "contains": "paid" },
        { "type": "file", "path": "left.txt", "exists": false },
    ]));
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    let run = project.last_run();
    project.file("scenarios/left.txt", "here");
    let ran = project.expect(1, &["compare"]);
    ran.says("there is a file `left.txt`");
    let result = project.result(0, &["compare", "--run", run.to_str().unwrap()]);
    let evaluators = &result["scenarios"][0]["evaluators"];
    assert_eq!(evaluators[0]["status"], "passed", "{evaluators}");
    // Nobody can look again: it is as it was found then.
    assert_eq!(evaluators[1]["status"], "passed", "{evaluators}");
    project.expect(1, &["record"]).says("the evaluator");
    project
        .expect(0, &["record", "--allow-failing"])
        .says("failing");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_stored_run_keeps_what_was_found_in_it() {
    let latest = ["compare", "--run", "latest"];
    let with = |evaluators: Value| {
        let project = shop(&evaluators);
        script(
            &project,
            "scenarios/low.sh",
            "cat > /dev/null; echo '{\"passed\": true, \"score\": 0.2}'",
        );
        project.expect(0, &["record", "--allow-failing"]);
        project
    };
    let change = |project: &Project, evaluators: Value| {
        let text = format!("{SHOP}\nevaluators: {evaluators}\n");
        project.file("scenarios/shop.yaml", text);
    };
    // Another name is no other question, and another question was not asked.
    let project = with(json!([{ "type": "file", "path": "left.txt" }]));
    project.expect(1, &["compare"]);
    change(
        &project,
        json!([{ "type": "file", "path": "left.txt", "name": "the file", "weight": 2 }]),
    );
    project
        .expect(1, &latest)
        .says("there is no file `left.txt`")
        .says("scenarios/shop.yaml:");
    for other in [
        json!([{ "type": "file", "path": "right.txt" }]),
        json!([{ "type": "command", "command": ["true"] }]),
        json!([{ "type": "not", "of": { "type": "file", "path": "left.txt" } }]),
    ] {
        change(&project, other);
        project
            .expect(3, &latest)
            .says("it was not asked when this run was made");
    }
    // What comes of several counts those that cannot look again.
    let project = with(json!([
        { "type": "text", "contains": "paid" },
        { "type": "command", "command": ["./low.sh"], "weight": 3 },
    ]));
    let threshold = "name: Shop\nevaluation_threshold: 0.9";
    project.edit("scenarios/shop.yaml", "name: Shop", threshold);
    for command in [&["compare"][..], &latest] {
        project.expect(1, command).says("0.40, below 0.9");
    }
    let project = with(json!([{ "type": "any_of", "of": [
        { "type": "file", "path": "shop.yaml" },
        { "type": "text", "contains": "nowhere" },
    ] }]));
    for command in [&["compare"][..], &latest] {
        project.expect(0, command);
    }
}

#[test]
fn two_of_one_name_keep_what_each_of_them_found() {
    let project = shop(&json!([{ "type": "trace-no-errors" }]));
    project.expect(0, &["record"]);
    script(
        &project,
        "scenarios/no.sh",
        "cat > /dev/null; echo '{\"passed\": false}'",
    );
    script(&project, "scenarios/broken.sh", "exit 4");
    let checks = ["./no.sh", "./broken.sh"]
        .map(|it| json!({ "type": "command", "name": "check", "command": [it] }));
    let text = format!("{SHOP}\nevaluators: {}\n", json!(checks));
    project.file("scenarios/shop.yaml", text);
    project.run(&["compare"]);
    // They are not run again, and what they found is known from the result.
    let again = project.run(&["compare", "--run", "latest", "--format", "json"]);
    let result: Value = serde_json::from_str(&again.stdout).unwrap();
    let found = result["scenarios"][0]["evaluators"].as_array().unwrap();
    let statuses: Vec<&Value> = found.iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, ["failed", "error"], "{result:#}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn steps_say_what_their_answers_must_hold() {
    let step = |expect: &str, code: i32, says: &str| {
        let project = Project::new();
        let line = "  - { tool: mcp__shop__pay, args: { order: 7, amount: 2.0 } }";
        let with = line.replace("} }", &format!("}}, expect: {expect} }}"));
        project.file("scenarios/shop.yaml", SHOP.replace(line, &with));
        for command in ["run", "record"] {
            let ran = project.expect(code, &[command]);
            if !says.is_empty() {
                ran.says(says);
            }
        }
    };
    step("{ text: paid }", 0, "");
    step("{ text: refused }", 1, "does not hold `refused`");
    step("{ is_error: true }", 1, "step 2");
    let project = Project::new();
    let failing = "  - { tool: mcp__shop__pay, args: { order: 9, amount: 2.0 }, expect: { is_error: true, text: no order } }";
    let line = "  - { tool: mcp__shop__pay, args: { order: 7, amount: 2.0 } }";
    project.file("scenarios/shop.yaml", SHOP.replace(line, failing));
    project.expect(0, &["run"]);
    project.expect(0, &["record"]);
    project.edit(
        "scenarios/shop.yaml",
        "text: no order",
        "text: no such order",
    );
    project.expect(1, &["compare"]).says("no such order");
}

#[test]
fn defaults_add_up_and_criteria_may_be_evaluators() {
    let project = shop(&json!([{ "type": "within", "steps": 2 }]));
    project.file(
        "scenarios/_defaults.yaml",
        "evaluators: [{ type: trace-no-errors }, { type: text, in: answers, equals: Order 7 is paid }]",
    );
    project.edit(
        "scenarios/shop.yaml",
        "name: Shop",
        "name: Shop\nvariables: { word: paid, order: 7 }\nsuccess_criteria: [paid, { type: text, contains: \"is {{word}}\" }, { type: exact-match, path: /items/0/id, call: 1, value: \"{{order}}\" }]",
    );
    let result = project.result(0, &["run"]);
    let scenario = &result["scenarios"][0];
    let types = scenario["evaluators"].as_array().unwrap().iter();
    let types: Vec<&str> = types.map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        ["trace-no-errors", "text", "within", "text", "exact-match"]
    );
    assert_eq!(
        scenario["checks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["name"] == "paid")
            .count(),
        1
    );
}

#[test]
fn files_are_checked_before_anything_runs() {
    let wrong = [
        (json!({ "contains": "a" }), "does not say its `type`"),
        (
            json!({ "type": "texts", "contains": "a" }),
            "did you mean `text`",
        ),
        (
            json!({ "type": "text", "contain": "a" }),
            "did you mean `contains`",
        ),
        (json!({ "type": "text" }), "does not say which text"),
        (
            json!({ "type": "text", "contains": "a", "regex": "b" }),
            "exclude each other",
        ),
        (
            json!({ "type": "text", "regex": "(" }),
            "is not a regular expression",
        ),
        (
            json!({ "type": "text", "contains": "a", "steps": 1 }),
            "means nothing for this type",
        ),
        (
            json!({ "type": "schema-validate", "schema": { "$ref": "https://example.org/a" } }),
            "nothing is fetched",
        ),
        (
            json!({ "type": "schema-validate", "schema": "gone.json" }),
            "cannot be read",
        ),
        (json!({ "type": "within" }), "limits nothing"),
        (
            json!({ "type": "tool-calls", "required": ["mcp__shop__payy"] }),
            "did you mean `mcp__shop__pay`",
        ),
        (json!({ "type": "all_of", "of": [] }), "names no evaluator"),
        (
            json!({ "type": "text", "contains": "a", "weight": -1 }),
            "a number from 0",
        ),
        (
            json!({ "type": "text", "contains": "a", "role": "judge" }),
            "one of gating, advisory",
        ),
    ];
    for (evaluator, says) in wrong {
        let project = shop(&json!([evaluator]));
        let ran = project.run(&["validate"]);
        assert!(ran.code == 2 || ran.code == 1, "{evaluator}: {ran:#?}");
        ran.says(says);
    }
    let doubtful = [
        (
            json!([{ "type": "text", "in": "final_text", "contains": "a" }]),
            "is skipped in every run",
        ),
        (
            json!([{ "type": "within", "tokens": 5 }]),
            "the tokens of this agent are not counted",
        ),
        (
            json!([{ "type": "trace-no-errors", "weight": 0 }]),
            "weights of all gating evaluators are 0",
        ),
        (
            json!([{ "type": "trace-no-errors" }, { "type": "trace-no-errors" }]),
            "is already there",
        ),
    ];
    for (evaluators, says) in doubtful {
        let ran = shop(&evaluators).run(&["validate"]);
        assert_eq!(ran.code, 0, "{evaluators}: {ran:#?}");
        ran.says(says);
    }
}

#[test]
fn secrets_are_the_same_text_on_both_sides() {
    let project = Project::new();
    project.file(
        "scenarios/s.yaml",
        r#"
name: S
variables: { token: { value: "${MY_TOKEN}", secret: true } }
servers: { s: { type: mock } }
expected_trajectory: [{ tool: echo, args: { say: "{{token}}" } }]
evaluators:
  - { type: exact-match, value: "said {{token}}" }
  - { type: command, command: [sh, -c, "cat >&2; echo '{\"passed\": true}'"] }
mcp_interactions:
  s: { tools: [{ name: echo, responses: [{ content: "said {{args.say}}" }] }] }
"#,
    );
    let secret = "k9fZ2pQx77Lm";
    let ran = ran(project
        .command()
        .args(["run", "-v", "--report", "html"])
        .env("MY_TOKEN", secret));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.all().contains(secret), "{ran:#?}");
}

#[test]
fn a_stored_run_without_secrets_holds_no_secret() {
    let key = "sk-ant-api03-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
    let says = json!({ "type": "text", "contains": key });
    let mut never = says.clone();
    never["not"] = json!(true);
    // On whichever level it is compared.
    let project = shop(&json!([never, { "type": "not", "of": says }]));
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    // No secret was taken out of the run, so it holds none.
    project.expect(0, &["compare", "--run", "latest"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn times_of_calls_are_judged_over_all_runs() {
    let project = shop(&json!([{ "type": "within", "call_duration": "30s" }]));
    let result = project.result(0, &["run", "--repeat", "3"]);
    let found = &result["scenarios"][0]["evaluators"][0];
    assert_eq!(found["status"], "passed", "{found}");
    assert!(
        found["message"]
            .as_str()
            .unwrap()
            .contains("6 calls in 3 runs"),
        "{found}"
    );
    // Within others, those of each run are.
    let within = json!({ "type": "within", "call_duration": "30s" });
    let project = shop(&json!([{ "type": "all_of", "of": [within] }]));
    let result = project.result(0, &["run", "--repeat", "2"]);
    let found = &result["scenarios"][0]["evaluators"][0];
    assert_eq!(found["status"], "passed", "{found}");
    let project = shop(&json!([{ "type": "within", "call_duration": "1ms", "tool": "pay" }]));
    project.edit(
        "scenarios/shop.yaml",
        "content: Order 7 is paid",
        "{ content: Order 7 is paid, delay: 50ms }",
    );
    let ran = project.run(&["run", "--repeat", "2"]);
    if ran.code != 2 {
        assert_eq!(ran.code, 1, "{ran:#?}");
        ran.says("95 % of 2 calls in 2 runs");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn every_report_has_them() {
    let project = shop(&json!([
        { "type": "text", "contains": "nowhere", "name": "says <b>nowhere</b>" },
        { "type": "trace-no-errors", "name": "goes well" },
        { "type": "file", "path": "absent", "name": "leaves a file", "role": "advisory" },
    ]));
    project
        .expect(1, &["run", "-v"])
        .says("goes well")
        .says("leaves a file")
        .says("evaluation score 0.50");
    for form in ["markdown", "junit", "ctrf", "github"] {
        project.expect(1, &["run", "--report", &format!("{form}=out")]);
        let text = project.read("out");
        assert!(text.contains("nowhere"), "{form}: {text}");
        if ["junit", "ctrf"].contains(&form) {
            assert!(text.contains("goes well"), "{form}: {text}");
        }
    }
    let page = project.read("reports/latest/shop.html");
    assert!(page.contains("goes well") && page.contains("leaves a file"));
    assert!(!page.contains("<b>nowhere</b>"));
}

#[test]
fn kinds_are_listed_as_the_schema_has_them() {
    let project = Project::new();
    let listed = project.result(0, &["list", "--evaluators", "--agents"]);
    let schema = project.run(&["schema", "scenario"]).all();
    let names = |of: &str| -> Vec<String> {
        let kinds = listed[of].as_array().unwrap().iter();
        kinds
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    for name in names("evaluators").iter().chain(&names("agents")) {
        assert!(schema.contains(&format!("\"const\": \"{name}\"")), "{name}");
    }
    assert_eq!(names("evaluators").len(), 13);
    project
        .expect(0, &["list", "--evaluators"])
        .says("trace-no-errors");
    for picked in [&["nope.yaml"][..], &["--tag", "x"], &["--var", "a=b"]] {
        let arguments = [&["list", "--evaluators"], picked].concat();
        project
            .expect(2, &arguments)
            .says("--evaluators lists what any scenario may choose from");
    }
    for schema in ["evaluator-input", "evaluator-verdict"] {
        assert!(
            project
                .run(&["schema", schema])
                .all()
                .contains("json-schema.org")
        );
    }
}

#[test]
fn a_text_is_looked_for_in_what_the_servers_wrote() {
    let looks = |more: Value| {
        let mut evaluator = json!({ "type": "text", "in": "log" });
        let members = evaluator.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!({ "evaluators": [evaluator] })
    };
    let starts = json!({ "contains": "faulty server starting" });
    for (code, more) in [
        (0, starts.clone()),
        (0, json!({ "contains": "panic", "not": true })),
        (1, json!({ "contains": "panic" })),
        (
            1,
            json!({ "contains": "faulty server starting", "not": true }),
        ),
    ] {
        let project = Project::new();
        project.faulty_with("s", &[], &[("echo", json!({}))], &looks(more.clone()));
        let result = project.result(code, &["run"]);
        let found = &result["scenarios"][0]["evaluators"][0];
        assert_eq!(found["status"] == "passed", code == 0, "{more}: {found:#}");
    }
    // A stored run has no log any more: what was found then counts.
    let project = Project::new();
    project.faulty_with("s", &[], &[("echo", json!({}))], &looks(starts));
    project.expect(0, &["record"]);
    let result = project.result(0, &["compare"]);
    let run = format!(".mcp-eval/runs/{}", result["run_id"].as_str().unwrap());
    let stored = project.result(0, &["compare", "--run", &run]);
    let found = &stored["scenarios"][0]["evaluators"][0];
    assert_eq!(found["status"], "passed", "{found:#}");
    let other = looks(json!({ "contains": "something else" }));
    project.faulty_with("s", &[], &[("echo", json!({}))], &other);
    project.expect(3, &["compare", "--run", &run]);
    // Of a server that somebody else runs, nobody has it.
    let (_server, url) = served(&project, &["mock", "--transport", "http"]);
    let elsewhere = json!({
        "name": "far",
        "servers": { "far": { "type": "http", "url": url } },
        "expected_trajectory": [{ "tool": "mcp__far__mcp_echo_tool", "args": { "message": "x" } }],
        "evaluators": [{ "type": "text", "in": "log", "contains": "x" }],
    });
    project.file("scenarios/far.yaml", elsewhere.to_string());
    project
        .expect(3, &["run", "scenarios/far.yaml"])
        .says("no server's log is at hand");
    // What stands in for a server writes nothing, which proves nothing.
    let stand_in = json!({
        "name": "mock",
        "servers": { "m": { "type": "mock" } },
        "mcp_interactions": { "m": { "tools": [{ "name": "f", "responses": [{ "content": "hi" }] }] } },
        "expected_trajectory": [{ "tool": "f" }],
        "evaluators": [{ "type": "text", "in": "log", "contains": "panicked", "not": true }],
    });
    project.file("scenarios/mock.yaml", stand_in.to_string());
    project
        .expect(3, &["run", "scenarios/mock.yaml"])
        .says("no server's log is at hand");
}
