//! What was not judged is not green, and what was judged stays so.

use std::fs;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{Project, commit_all, ran};
use crate::judge::desk::{Model, asked, verdict};

const SAYS: &str =
    r#"{ "m": { "tools": [{ "name": "look", "responses": [{ "content": "fine" }] }] } }"#;

/// A scenario whose mock says `fine`, with these keys besides; `null` takes one away.
fn scenario(project: &Project, id: &str, more: &Value) {
    let mut scenario = json!({
        "name": id,
        "servers": { "m": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "look", "args": {} }],
        "mcp_interactions": serde_json::from_str::<Value>(SAYS).unwrap(),
    });
    let keys = scenario.as_object_mut().unwrap();
    keys.extend(more.as_object().unwrap().clone());
    keys.retain(|_, it| !it.is_null());
    project.file(&format!("scenarios/{id}.yaml"), scenario.to_string());
}

/// One that its only evaluator fails.
fn failing() -> Value {
    json!({ "evaluators": [{ "type": "text", "in": "answers", "contains": "nowhere" }] })
}

fn suite(project: &Project, text: &str) {
    project.file("scenarios/_suites/nightly.yaml", text);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_fail_fast_leaves_out_is_open() {
    let project = Project::new();
    scenario(&project, "a", &json!({}));
    scenario(&project, "b", &failing());
    for id in ["c", "d", "e"] {
        scenario(&project, id, &json!({}));
    }
    let gate = "fail_fast: true\njobs: 1\norder: [a, b]\ngates: { min_pass_rate: 0.5 }\n";
    suite(&project, gate);
    let run = ["run", "--suite", "nightly"];
    project.expect(3, &run).says("min_pass_rate: 20.0 % so far");
    // Whatever became of the others, it would be broken.
    suite(&project, &gate.replace("0.5", "0.9"));
    project.expect(1, &run).says("min_pass_rate: 20.0 %");
    suite(&project, "order: [a, b]\ngates: { min_pass_rate: 0.5 }\n");
    project.expect(0, &run);
}

#[test]
fn a_run_that_nothing_judges_is_not_green() {
    let project = Project::new();
    let silent = json!({ "agent": { "kind": "command", "command": ["echo", "Hello."] },
        "user_intent": "Say hello.", "expected_trajectory": null });
    scenario(&project, "a", &silent);
    for times in ["1", "2"] {
        let run = ["run", "--repeat", times, "--report", "junit=j.xml"];
        let ran = project.expect(3, &run);
        ran.says("nothing judges this run").says("success_criteria");
        assert!(project.read("j.xml").contains("<error"), "{times}");
    }
    for judge in [
        json!({ "success_criteria": [{ "tool_never_called": "look" }] }),
        json!({ "evaluators": [{ "type": "within", "duration": "1h" }] }),
        json!({ "expected_trajectory": [] }),
    ] {
        let mut judged = silent.clone();
        let keys = judged.as_object_mut().unwrap();
        keys.extend(judge.as_object().unwrap().clone());
        scenario(&project, "a", &judged);
        project.expect(0, &["run"]);
    }
    suite(
        &project,
        "quarantine: [{ name: a, reason: r, until: 2999-12-31 }]\n",
    );
    scenario(&project, "a", &silent);
    project.expect(0, &["run", "--suite", "nightly"]);
}

#[test]
fn no_later_call_makes_good_what_a_script_meant_to_work() {
    let project = Project::new();
    let refuses = json!([{ "match": { "id": 9 }, "is_error": true, "content": "none" }, { "content": "fine" }]);
    let tools = json!({ "m": { "tools": [{ "name": "look", "responses": refuses }] } });
    let look = |id: u8| json!({ "tool": "look", "args": { "id": id } });
    let calls = json!([look(9), look(7)]);
    let more = json!({ "expected_trajectory": calls, "mcp_interactions": tools });
    scenario(&project, "s", &more);
    project.expect(1, &["run"]).says("none");
}

#[test]
fn a_quarantine_is_of_one_scenario() {
    let project = Project::new();
    scenario(&project, "bad", &json!({}));
    let mut other = failing();
    other["name"] = json!("bad");
    scenario(&project, "other", &other);
    let quarantine = |name: &str| {
        suite(
            &project,
            &format!("quarantine: [{{ name: {name}, reason: r, until: 2099-12-31 }}]\n"),
        );
    };
    let run = ["run", "--suite", "nightly"];
    // An id is that one, whatever others are called.
    quarantine("bad");
    project.expect(1, &run).says_not("quarantined");
    quarantine("other");
    project.expect(0, &run).says("1 quarantined");
    let mut third = failing();
    third["name"] = json!("Same");
    scenario(&project, "third", &third);
    scenario(&project, "bad", &json!({ "name": "Same" }));
    quarantine("Same");
    for command in [&run[..], &["validate"]] {
        project
            .expect(2, command)
            .says("several scenarios are called `Same`: bad, third");
    }
}

/// A program as agent: nothing is expected of it.
fn program(more: &Value) -> Value {
    let mut whole = json!({
        "user_intent": "Do it",
        "expected_trajectory": null,
        "agent": { "kind": "command", "command": ["sh", "-c", "cat > /dev/null; echo done"] },
    });
    let keys = whole.as_object_mut().unwrap();
    keys.extend(more.as_object().unwrap().clone());
    whole
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_judge_gates_where_nothing_else_judges() {
    let judge = json!({ "provider": "custom", "model": "j", "base_url": "${JUDGE_URL}" });
    let asks = json!({ "type": "llm-judge", "criteria": "It is done." });
    // Nobody counts the tokens of such a program.
    let idle = json!({ "type": "within", "tokens": 5 });
    let lenient = Model::new(|_, _| verdict(0.9));
    let strict = Model::new(|_, _| verdict(0.1));
    let broken = Model::new(|_, _| json!({}));
    let prose = json!({ "judge": judge, "success_criteria": ["The agent is nice"] });
    for more in [
        json!({ "judge": judge, "evaluators": [asks, idle] }),
        prose.clone(),
        json!({ "judge": judge, "success_criteria": ["The agent is nice"], "evaluators": [idle] }),
    ] {
        let project = Project::new();
        scenario(&project, "s", &program(&more));
        for (model, code) in [(&lenient, 0), (&strict, 1), (&broken, 3)] {
            let ran = asked(&project, &model.url, &["run", "--no-cache"]);
            assert_eq!(ran.code, code, "{more}: {ran:#?}");
        }
    }
    // With an expectation, prose is advice.
    let project = Project::new();
    scenario(&project, "s", &prose);
    assert_eq!(asked(&project, &strict.url, &["run"]).code, 0);
    // And where nobody judges at all, nothing passes.
    let project = Project::new();
    scenario(&project, "s", &program(&json!({ "evaluators": [idle] })));
    project
        .expect(3, &["run"])
        .says("nothing has judged the run");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_stored_run_stays_judged() {
    let project = Project::new();
    let checked =
        json!({ "evaluators": [{ "type": "file", "path": "left.txt", "contains": "paid" }] });
    scenario(&project, "s", &checked);
    project.file("scenarios/left.txt", "paid");
    project.expect(0, &["record"]);
    project.file("scenarios/left.txt", "open");
    project.expect(1, &["compare"]);
    project.file("scenarios/left.txt", "paid");
    // The latest is the one that was made, however often it is looked at.
    for _ in 0..2 {
        project
            .expect(1, &["compare", "--run", "latest"])
            .says("`left.txt` is not as expected");
    }
    project.expect(0, &["compare"]);
    project.expect(0, &["compare", "--run", "latest"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_looks_like_a_secret_is_not_compared_in_a_stored_run() {
    let project = Project::new();
    let says = SAYS.replace("fine", "order acme_ffffffffffffffff");
    let more = json!({
        "mcp_interactions": serde_json::from_str::<Value>(&says).unwrap(),
        "redact": { "patterns": ["acme_[0-9a-f]{16}"] },
    });
    scenario(&project, "s", &more);
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    let mut more = more;
    more["evaluators"] =
        json!([{ "type": "text", "in": "answers", "contains": "acme_0123456789abcdef" }]);
    scenario(&project, "s", &more);
    project
        .expect(3, &["compare", "--run", "latest"])
        .says("it was not asked when this run was made");
    project
        .expect(3, &["compare", "--servers", "recorded"])
        .says("a secret was taken out of what it looks at");
    project
        .expect(1, &["compare"])
        .says("is not in the answers");
}

#[test]
fn a_plan_tells_no_secret() {
    let project = Project::new();
    let token = "tok-77HgTyPq2-secret";
    let more = json!({
        "variables": { "token": { "value": token, "secret": true } },
        "redact": { "patterns": ["acme_[0-9a-f]{16}"] },
        "evaluators": [
            { "type": "text", "in": "answers", "contains": "{{token}}", "name": "says {{token}}" },
            { "type": "text", "in": "answers", "contains": "acme_0123456789abcdef" },
            { "type": "tool-calls", "optional": ["{{token}}"] },
            { "type": "not", "of": { "type": "exact-match", "tool": "{{token}}", "value": 1 } },
        ],
    });
    scenario(&project, "s", &more);
    for form in ["json", "terminal"] {
        let ran = project.expect(0, &["run", "--dry-run", "--format", form]);
        for secret in [token, "acme_0123456789abcdef"] {
            assert!(!ran.stdout.contains(secret), "{ran:#?}");
        }
    }
}

#[test]
fn a_path_is_filled_in() {
    let project = Project::new();
    project.file("ledger.txt", "paid");
    let evaluator = |path: &str, exists: bool| {
        let file = json!({ "type": "file", "path": path, "exists": exists });
        scenario(&project, "s", &json!({ "evaluators": [file] }));
    };
    let with = |code: i32| {
        let mut command = project.command();
        command.env("SCRATCH", project.path("")).arg("run");
        let ran = ran(&mut command);
        assert_eq!(ran.code, code, "{ran:#?}");
        ran
    };
    evaluator("${SCRATCH}/ledger.txt", true);
    with(0);
    evaluator("${SCRATCH}/ledger.txt", false);
    with(1);
    evaluator("${NOT_SET_AT_ALL}/ledger.txt", false);
    with(3).says("NOT_SET_AT_ALL");
    evaluator("~/ledger.txt", false);
    with(2).says("`~` is not expanded here");
}

#[test]
fn a_judge_and_a_suite_may_change() {
    let project = Project::new();
    scenario(&project, "s", &json!({}));
    suite(&project, "setup: [[./set.sh]]\n");
    project
        .file("scenarios/_suites/set.sh", "true\n")
        .file(
            "judge.yaml",
            "provider: custom\nmodel: j\nbase_url: http://127.0.0.1:9/v1\n",
        )
        .file(".gitignore", ".mcp-eval\nreports\n");
    commit_all(&project.path(""), "All");
    let all = [
        "run",
        "--judge",
        "judge.yaml",
        "--suite",
        "nightly",
        "--changed",
    ];
    project.expect(0, &all).says("Nothing to do");
    for (file, text) in [
        ("judge.yaml", "model: k\n"),
        ("scenarios/_suites/set.sh", "false\n"),
        ("scenarios/_suites/nightly.yaml", "jobs: 1\n"),
    ] {
        let before = project.read(file);
        project.file(file, format!("{before}{text}").replace("model: j\n", ""));
        project.run(&all).says_not("Nothing to do");
        project.file(file, before);
        project.expect(0, &all).says("Nothing to do");
    }
}

#[test]
fn a_program_ends_when_it_ends() {
    let project = Project::new();
    let leaves = "sleep 97 & echo '{\"passed\": true}'";
    let command = json!({ "type": "command", "command": ["sh", "-c", leaves], "timeout": "60s" });
    scenario(&project, "s", &json!({ "evaluators": [command] }));
    let started = Instant::now();
    project.expect(0, &["run"]);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(project.survivors(), [""; 0]);
}

#[test]
fn large_numbers_are_compared_digit_for_digit() {
    let project = Project::new();
    let database = project.path("shop.db");
    let connection = Connection::open(&database).unwrap();
    connection.execute_batch("create table t (a)").unwrap();
    drop(connection);
    for (bound, query, code) in [
        ("at_most", "select 9007199254740993", 1),
        ("at_least", "select 9007199254740992", 0),
        ("equals", "select 9007199254740993", 1),
    ] {
        let asks = json!({
            "type": "sql-validate", "database": "../shop.db", "query": query, bound: 9_007_199_254_740_992_u64,
        });
        scenario(&project, "s", &json!({ "evaluators": [asks] }));
        project.expect(code, &["run"]);
    }
    fs::remove_file(database).unwrap();
}

#[test]
fn a_weight_is_a_number_that_can_be_added_up() {
    let project = Project::new();
    let heavy = json!({ "type": "trace-no-errors", "weight": 1e308 });
    scenario(&project, "s", &json!({ "evaluators": [heavy] }));
    project
        .expect(2, &["validate"])
        .says("a number from 0 to 1000000");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_was_sent_is_found_as_it_was_meant() {
    let project = Project::new();
    let evaluator = |text: &str, not: bool| json!({ "type": "text", "in": "transcript", "contains": text, "not": not });
    for (text, is_there) in [
        ("C:\\dir", true),
        ("say \"hi\"", true),
        ("two\nlines", true),
        ("bye", false),
    ] {
        for not in [false, true] {
            let more = json!({
                "expected_trajectory": [{ "tool": "look", "args": { "q": "say \"hi\" C:\\dir two\nlines" } }],
                "evaluators": [evaluator(text, not)],
            });
            scenario(&project, "s", &more);
            project.expect(i32::from(is_there == not), &["run"]);
        }
    }
}

#[test]
fn a_quarantined_scenario_leaves_no_gate_open() {
    let project = Project::new();
    scenario(&project, "a", &json!({}));
    let mut bad = failing();
    bad["tags"] = json!(["bad"]);
    scenario(&project, "b", &bad);
    let gate = "gates: { tags: { bad: { min_pass_rate: 1 } } }\n";
    let run = ["run", "--suite", "nightly"];
    suite(&project, gate);
    project.expect(1, &run);
    let quarantine = "quarantine: [{ name: b, reason: r, until: 2099-12-31 }]\n";
    suite(&project, &format!("{quarantine}{gate}"));
    project.expect(0, &run);
    // Of a tag that nothing has, nobody knows.
    suite(
        &project,
        &format!("{quarantine}{}", gate.replace("bad:", "none:")),
    );
    project.expect(3, &run);
}
