//! Evaluators cannot pass for the wrong reason: they find what they name, judge what is there, and say where they cannot.

use serde_json::{Value, json};

use crate::common::Project;

/// A server that is no mock of the scenario: nobody knows its tools before it is asked.
const DECLARED: &str = r#"
tools:
  - name: find
    annotations: { read_only_hint: true }
    responses:
      - content: [{ type: text, json: { items: [{ state: paid }, { state: open }], total: 2 } }]
  - name: pay
    responses:
      - match: { order: 9 }
        content: "Error: card refused"
      - match: { order: 8 }
        content: [{ type: text, json: { error: { message: card refused } } }]
      - content: Order is paid
  - name: total
    output_schema: { type: object }
    responses: [{ content: [], structured_content: { total: 2 } }]
  - name: wipe
    responses: [{ content: gone }]
"#;

/// A scenario with these calls and evaluators, on a server whose tools are only known when it is asked.
fn shop(calls: &str, evaluators: &Value) -> Project {
    let project = Project::new();
    let program = env!("CARGO_BIN_EXE_mcp-eval");
    project.file("shop.yaml", DECLARED).file(
        "scenarios/s.yaml",
        format!(
            "name: Shop\nservers: {{ shop: {{ command: {program:?}, args: [mock, ../shop.yaml], cwd: . }} }}\n\
             expected_trajectory: {calls}\nevaluators: {evaluators}\n"
        ),
    );
    project
}

const BOTH: &str = "[{ tool: find }, { tool: pay, args: { order: 7 } }]";

/// What `run` finds: the status of the first evaluator, its message and its details.
fn judged(calls: &str, evaluator: &Value, code: i32) -> (String, String) {
    let result = shop(calls, &json!([evaluator])).result(code, &["run"]);
    let found = &result["scenarios"][0]["evaluators"][0];
    let details = found["details"].to_string();
    (
        found["status"].as_str().unwrap_or_default().to_owned(),
        format!(
            "{} {details}",
            found["message"].as_str().unwrap_or_default()
        ),
    )
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_tool_that_nobody_knows_cannot_be_judged() {
    let misspelt = [
        (
            json!({ "type": "within", "call_duration": "1m", "tool": "fnd" }),
            "find",
        ),
        (json!({ "type": "tool-calls", "required": ["payy"] }), "pay"),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "find", "before": "paay" }] }),
            "pay",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pya", "min": 0, "max": 1 }] }),
            "pay",
        ),
        (
            json!({ "type": "tool-calls", "optional": ["finnd"], "max_extra": 5 }),
            "find",
        ),
        (
            json!({ "type": "tool-calls", "allowed": ["find", "pay", "wpie"] }),
            "wipe",
        ),
        (
            json!({ "type": "tool-calls", "prohibited": ["mcp__shop__wip"] }),
            "mcp__shop__wipe",
        ),
        // A call of `pay` is expected, and says nothing of such a server.
        (
            json!({ "type": "tool-calls", "prohibited": ["mcp__shopp__pay"] }),
            "mcp__shop__pay",
        ),
        (
            json!({ "type": "not", "of": { "type": "exact-match", "tool": "mcp__shopp__pay", "value": 1 } }),
            "mcp__shop__pay",
        ),
        (
            json!({ "type": "not", "of": { "type": "tool-calls", "required": ["finnd"] } }),
            "find",
        ),
        (
            json!({ "type": "not", "of": { "type": "schema-validate", "tool": "fnd", "schema": {} } }),
            "find",
        ),
        (
            json!({ "type": "any_of", "of": [{ "type": "exact-match", "tool": "fnd", "value": 1 }] }),
            "find",
        ),
    ];
    for (evaluator, meant) in misspelt {
        // What a tool is required for cannot have been met.
        let is_required = evaluator["required"][0].is_string();
        let (code, expected) = if is_required {
            (1, "failed")
        } else {
            (3, "error")
        };
        let (status, message) = judged(BOTH, &evaluator, code);
        assert_eq!(status, expected, "{evaluator}: {message}");
        assert!(
            message.contains("no server offers"),
            "{evaluator}: {message}"
        );
        let nearest = format!("nearest: `{meant}`");
        assert!(message.contains(&nearest), "{evaluator}: {message}");
    }
    // Nothing is like this one, and nothing would ever be found of it all the same.
    let (status, message) = judged(
        BOTH,
        &json!({ "type": "tool-calls", "prohibited": ["zzzzzz"] }),
        3,
    );
    assert_eq!(status, "error", "{message}");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_tool_that_is_there_is_judged_by_either_of_its_names() {
    for (evaluator, status, code) in [
        (
            json!({ "type": "tool-calls", "required": ["mcp__shop__pay"], "prohibited": ["wipe"] }),
            "passed",
            0,
        ),
        (
            json!({ "type": "tool-calls", "prohibited": ["mcp__shop__pay"] }),
            "failed",
            1,
        ),
        (
            json!({ "type": "within", "call_duration": "1m", "tool": "wipe" }),
            "skipped",
            0,
        ),
        (
            json!({ "type": "tool-calls", "required": ["wipe"] }),
            "failed",
            1,
        ),
    ] {
        assert_eq!(judged(BOTH, &evaluator, code).0, status, "{evaluator}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_tool_that_was_there_before_fails_what_requires_it() {
    let evaluators = json!([
        { "type": "tool-calls", "required": ["wipe"], "name": "wipes" },
        { "type": "tool-calls", "prohibited": ["total"], "name": "no total" },
    ]);
    let calls = "[{ tool: find }, { tool: wipe }]";
    let project = shop(calls, &evaluators);
    project.expect(0, &["record"]);
    // The next version has neither, and the scenario has been changed not to call them.
    let tools = DECLARED.split("  - name: total").next().unwrap();
    project.file("shop.yaml", tools);
    project.edit("scenarios/s.yaml", calls, "[{ tool: find }]");
    for command in ["run", "compare"] {
        let mut arguments = vec![command];
        if command == "compare" {
            arguments.push("--allow-changed");
        }
        let result = project.result(1, &arguments);
        let found = &result["scenarios"][0]["evaluators"];
        assert_eq!(found[0]["status"], "failed", "{command}: {found}");
        let message = found[0]["message"].as_str().unwrap();
        assert!(
            message.contains("offers it any more"),
            "{command}: {message}"
        );
        assert_eq!(found[1]["status"], "passed", "{command}: {found}");
    }
    // Nobody knows of them without a baseline.
    std::fs::remove_dir_all(project.path("baselines")).unwrap();
    let result = project.result(1, &["run"]);
    let message = &result["scenarios"][0]["evaluators"][0]["message"];
    let message = message.as_str().unwrap();
    assert!(message.contains("no server offers it"), "{message}");
}

#[test]
fn a_pattern_is_no_name_of_a_tool() {
    for names in ["*", "mcp__*", "mcp__shop__*"] {
        let evaluators = json!([{ "type": "tool-calls", "prohibited": [names] }]);
        for command in ["validate", "run"] {
            shop(BOTH, &evaluators)
                .expect(2, &[command])
                .says("is not the name of a tool")
                .says("name each tool");
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn an_answer_that_looks_like_an_error_is_one_wherever_that_is_asked() {
    let sound = json!({ "type": "tool-calls", "required": [{ "tool": "pay", "answer": { "is_error": false } }] });
    let none = json!({ "type": "tool-calls", "prohibited": [{ "tool": "pay", "answer": { "is_error": true } }] });
    for order in [8, 9] {
        let calls = format!("[{{ tool: pay, args: {{ order: {order} }} }}]");
        for evaluator in [&sound, &none] {
            let (status, message) = judged(&calls, evaluator, 1);
            assert_eq!(status, "failed", "{evaluator}: {message}");
        }
        let expecting = |expect: &str, code: i32| {
            let calls = format!("[{{ tool: pay, args: {{ order: {order} }}, expect: {expect} }}]");
            shop(&calls, &json!([])).expect(code, &["run"])
        };
        expecting("{ text: card }", 1)
            .says("looks like an error")
            .says("`is_error: true` says that this is expected");
        expecting("{ text: card, is_error: true }", 0);
        expecting("{ text: nowhere, is_error: true }", 1);
        // Whoever does not look for such errors finds none.
        let project = shop(&calls, &json!([sound]));
        project.edit(
            "scenarios/s.yaml",
            "name: Shop",
            "name: Shop\nscoring: { errors: false }",
        );
        project.expect(0, &["run"]);
    }
    let fine = "[{ tool: pay, args: { order: 7 } }]";
    for evaluator in [&sound, &none] {
        assert_eq!(judged(fine, evaluator, 0).0, "passed");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn any_of_goes_by_those_that_could_be_judged() {
    let mute = json!({ "type": "text", "in": "final_text", "contains": "paid" });
    let fails = json!({ "type": "text", "contains": "nowhere" });
    let passes = json!({ "type": "text", "contains": "paid" });
    let any = |of: [&Value; 2]| json!({ "type": "any_of", "of": of });
    let all = |of: [&Value; 2]| json!({ "type": "all_of", "of": of });
    let not = |of: &Value| json!({ "type": "not", "of": of });
    let broken = json!({ "type": "file", "path": "." });
    for (evaluator, status, code) in [
        (any([&mute, &fails]), "failed", 1),
        (any([&fails, &mute]), "failed", 1),
        (any([&mute, &passes]), "passed", 0),
        (any([&mute, &mute]), "skipped", 0),
        (any([&mute, &broken]), "error", 3),
        (any([&fails, &broken]), "error", 3),
        (all([&mute, &fails]), "failed", 1),
        (all([&mute, &passes]), "skipped", 0),
        (not(&any([&mute, &fails])), "skipped", 0),
        (not(&all([&mute, &fails])), "passed", 0),
        (not(&all([&any([&mute, &fails]), &passes])), "skipped", 0),
        (not(&all([&any([&mute, &fails]), &fails])), "passed", 0),
        (not(&any([&fails, &fails])), "passed", 0),
    ] {
        let (found, message) = judged(BOTH, &evaluator, code);
        assert_eq!(found, status, "{evaluator}: {message}");
    }
    let validated = |evaluator: &Value| shop(BOTH, &json!([evaluator])).expect(0, &["validate"]);
    validated(&any([&mute, &mute])).says("is skipped in every run");
    validated(&any([&mute, &fails]))
        .says("is skipped in every run")
        .says("the others decide without it");
    validated(&all([&mute, &passes])).says("never passes");
    validated(&any([&fails, &passes])).says("0 warnings");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn only_an_answer_without_anything_is_an_empty_text() {
    let empty = json!({ "type": "text", "equals": "" });
    let no_empty = json!({ "type": "text", "regex": r"^\s*$", "not": true });
    for calls in [BOTH, "[{ tool: total }]"] {
        assert_eq!(judged(calls, &empty, 1).0, "failed", "{calls}");
        assert_eq!(judged(calls, &no_empty, 0).0, "passed", "{calls}");
    }
    let with_empty = |evaluator: &Value| {
        let project = shop("[{ tool: wipe }]", &json!([evaluator]));
        project.edit("shop.yaml", "content: gone", "content: ''");
        project
    };
    with_empty(&empty).expect(0, &["run"]);
    with_empty(&no_empty).expect(1, &["run"]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_can_never_fail_is_named() {
    for evaluator in [
        json!({ "type": "text", "regex": "" }),
        json!({ "type": "text", "contains": "" }),
        json!({ "type": "tool-calls", "required": [{ "tool": "pay", "answer": { "path": "$", "matches": "" } }] }),
    ] {
        shop(BOTH, &json!([evaluator]))
            .expect(2, &["validate"])
            .says("must not be empty");
    }
    for regex in ["x*", "(nope)?", "refunded|cancelled|"] {
        shop(BOTH, &json!([{ "type": "text", "regex": regex }]))
            .expect(2, &["validate"])
            .says("finds something in every text");
    }
    let never = json!({ "tool": "wipe", "max": 0 });
    shop(
        BOTH,
        &json!([{ "type": "tool-calls", "required": [never] }]),
    )
    .expect(2, &["validate"])
    .says("`prohibited: [wipe]` says that there must be none");
    for (evaluator, says) in [
        (
            json!({ "type": "text", "contains": "a", "at_least": 0 }),
            "passes whatever is said",
        ),
        (
            json!({ "type": "text", "contains": "a", "at_least": 0, "not": true }),
            "fails whatever is said",
        ),
        (
            json!({ "type": "tool-calls", "required": [] }),
            "passes whatever is called",
        ),
        (
            json!({ "type": "tool-calls", "optional": ["pay"] }),
            "passes whatever is called",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pay", "min": 0 }] }),
            "passes whatever is called",
        ),
        (
            json!({ "type": "sql-validate", "database": "a.db", "query": "select 1", "rows": [{}, {}] }),
            "write `count: 2`",
        ),
        (
            json!({ "type": "exact-match", "tool": "find", "match": "partial", "value": {} }),
            "any value of its kind passes",
        ),
        (
            json!({ "type": "schema-validate", "schema": { "requird": ["id"] } }),
            "every JSON value is valid by this schema",
        ),
        (
            json!({ "type": "schema-validate", "schema": { "$ref": "#" } }),
            "every JSON value is valid by this schema",
        ),
    ] {
        shop(BOTH, &json!([evaluator]))
            .expect(0, &["validate"])
            .says(says);
    }
    for evaluator in [
        json!({ "type": "text", "contains": "a", "at_least": 0, "at_most": 1 }),
        json!({ "type": "tool-calls", "optional": [{ "tool": "pay", "max": 1 }] }),
        json!({ "type": "tool-calls", "allowed": [] }),
        json!({ "type": "tool-calls", "max_extra": 0 }),
        json!({ "type": "text", "in": "transcript", "regex": "^$" }),
        json!({ "type": "schema-validate", "schema": { "type": ["object", "array", "string"] } }),
    ] {
        shop(BOTH, &json!([evaluator]))
            .expect(0, &["validate"])
            .says("0 warnings");
    }
}

#[test]
fn what_cannot_fail_leaves_the_verdict_to_the_judge() {
    let judge = json!({ "type": "llm-judge", "criteria": "It is paid" });
    for (other, warned) in [
        (
            json!({ "type": "text", "contains": "a", "at_least": 0 }),
            true,
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "pay", "min": 0 }] }),
            true,
        ),
        (json!({ "type": "text", "contains": "paid" }), false),
    ] {
        let project = Project::new();
        let scenario = json!({
            "name": "S",
            "user_intent": "Pay",
            "servers": { "shop": { "type": "mock" } },
            "agent": { "kind": "command", "command": ["./agent.sh"] },
            "evaluators": [judge, other],
            "mcp_interactions": { "shop": { "tools": [{ "name": "pay", "responses": [{ "content": "paid" }] }] } },
        });
        project.file("scenarios/s.yaml", scenario.to_string());
        let ran = project.expect(0, &["validate"]);
        let says =
            format!("{}{}", ran.stdout, ran.stderr).contains("only a judge can fail this scenario");
        assert_eq!(says, warned, "{other}: {ran:#?}");
    }
}

#[test]
fn that_something_is_not_there_says_nothing_of_a_run_without_anything() {
    let project = Project::new();
    let scenario = |evaluators: Value| {
        json!({
            "name": "S",
            "user_intent": "Pay",
            "servers": { "shop": { "type": "mock" } },
            "agent": { "kind": "command", "command": ["echo", ""] },
            "evaluators": evaluators,
            "mcp_interactions": { "shop": { "tools": [{ "name": "pay", "responses": [{ "content": "paid" }] }] } },
        })
    };
    for (within, why) in [
        ("answers", "no tool answered anything"),
        ("final_text", "the agent said nothing"),
    ] {
        let absent = json!([{ "type": "text", "in": within, "contains": "error", "not": true }]);
        project.file("scenarios/s.yaml", scenario(absent).to_string());
        project.expect(3, &["run"]).says(why);
        let there = json!([{ "type": "text", "in": within, "contains": "paid" }]);
        project.file("scenarios/s.yaml", scenario(there).to_string());
        project.expect(1, &["run"]);
    }
}

#[test]
fn each_place_that_a_path_leads_to_is_compared() {
    let at = |path: &str, value: Value| json!({ "type": "exact-match", "tool": "find", "path": path, "value": value });
    let (status, message) = judged(BOTH, &at("$.items[*].state", json!("paid")), 1);
    assert_eq!(status, "failed");
    assert!(
        message
            .contains("place 2 of 2 at $.items[*].state: it is \"open\", and \"paid\" is expected"),
        "{message}"
    );
    assert_eq!(
        judged(BOTH, &at("$.items[0].state", json!("paid")), 0).0,
        "passed"
    );
    assert_eq!(
        judged(BOTH, &at("$.items[*].gone", json!("paid")), 1).0,
        "failed"
    );
    let each = json!({ "type": "exact-match", "tool": "find", "path": "$.items[*]", "match": "partial", "value": {} });
    assert_eq!(judged(BOTH, &each, 0).0, "passed");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn evaluators_among_the_criteria_of_defaults_are_added() {
    let of_defaults =
        json!([{ "type": "text", "contains": "nowhere", "name": "usual" }, "usual prose"]);
    let with = |own: &str| {
        let project = shop(BOTH, &json!([]));
        project.file(
            "scenarios/_defaults.yaml",
            format!("success_criteria: {of_defaults}\n"),
        );
        project.edit(
            "scenarios/s.yaml",
            "name: Shop",
            &format!("name: Shop\n{own}"),
        );
        project
    };
    for own in ["", "success_criteria: [paid]", "success_criteria: []"] {
        let result = with(own).result(1, &["run"]);
        let found = &result["scenarios"][0];
        assert_eq!(found["evaluators"][0]["name"], "usual", "{own}: {found}");
    }
    let result = with("success_criteria: [paid]").result(1, &["run"]);
    assert_eq!(
        result["scenarios"][0]["checks"].as_array().unwrap().len(),
        1
    );
    with("success_criteria: null").expect(0, &["run"]);
}

/// A server that tells a secret which only its key shows to be one, and a scenario that asks for it, with more to say.
fn leaky(more: &Value) -> String {
    let token = "canary-a1B2c3D4e5F6";
    let mut scenario = json!({
        "name": "Leaky",
        "servers": { "s": { "type": "mock" } },
        "expected_trajectory": [{ "tool": "env" }],
        "mcp_interactions": { "s": { "tools": [{
            "name": "env",
            "annotations": { "read_only_hint": true },
            "responses": [{ "content": [{ "type": "text", "json": { "env": { "API_TOKEN": token } } }] }],
        }] } },
    });
    let members = scenario.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    scenario.to_string()
}

#[test]
fn a_run_is_judged_as_it_was_and_shown_without_its_secrets() {
    let evaluators = json!([
        { "type": "text", "in": "answers", "contains": "canary", "not": true },
        { "type": "text", "in": "answers", "contains": "canary" },
        { "type": "exact-match", "tool": "env", "path": "$.env.API_TOKEN", "value": "canary-other" },
        { "type": "schema-validate", "tool": "env", "schema": { "properties": { "env": {
            "properties": { "API_TOKEN": { "maxLength": 19 } } } } } },
        { "type": "tool-calls", "required": [{ "tool": "env", "answer": { "contains": "canary-a1B2" } }] },
    ]);
    let more = json!({ "evaluators": evaluators, "success_criteria": [{ "text": "canary-a1b2" }] });
    let project = Project::new();
    project.file("scenarios/s.yaml", leaky(&more));
    let result = project.result(1, &["run"]);
    let found = &result["scenarios"][0];
    let states = found["evaluators"].as_array().unwrap().iter();
    let states: Vec<&Value> = states.map(|it| &it["status"]).collect();
    assert_eq!(
        states,
        ["failed", "passed", "failed", "passed", "passed"],
        "{found:#}"
    );
    assert_eq!(found["checks"][0]["passed"], true, "{found:#}");
    assert!(
        !result.to_string().contains("canary-a1B2c3D4e5F6"),
        "{result:#}"
    );
    let said = found["evaluators"][0]["message"].as_str().unwrap();
    assert!(
        said.starts_with("it fails with what is hidden here"),
        "{said}"
    );
}

#[test]
fn what_a_secret_may_decide_is_not_judged_without_it() {
    let project = Project::new();
    project.file("scenarios/s.yaml", leaky(&json!({})));
    project.expect(0, &["record"]);
    project.expect(0, &["compare"]);
    let judged = [
        (
            json!({ "evaluators": [{ "type": "text", "in": "answers", "contains": "canary", "not": true }] }),
            3,
        ),
        (
            json!({ "evaluators": [{ "type": "text", "in": "answers", "contains": "API_TOKEN" }] }),
            0,
        ),
        (json!({ "success_criteria": [{ "text": "canary" }] }), 3),
        (json!({ "success_criteria": [{ "text": "API_TOKEN" }] }), 0),
        (
            json!({ "expected_trajectory": [{ "tool": "env", "expect": { "text": "canary" } }] }),
            3,
        ),
    ];
    for (more, code) in judged {
        project.file("scenarios/s.yaml", leaky(&more));
        let ran = project.run(&["compare", "--run", "latest", "--allow-changed"]);
        assert_eq!(ran.code, code, "{more}: {}", ran.stderr);
    }
}

#[test]
fn a_secret_that_comes_to_an_answer_is_reported_whatever_is_compared() {
    for mode in ["stable", "similar", "exact", "shape", "ignore"] {
        let leaky = leaky(&json!({ "scoring": { "responses": mode } }));
        let project = Project::new();
        project.file("scenarios/s.yaml", leaky.replace("canary-a1B2c3D4e5F6", ""));
        project.expect(0, &["record"]);
        project.file("scenarios/s.yaml", leaky);
        let ran = project.run(&["compare", "--format", "json", "--allow-changed"]);
        assert!(ran.stdout.contains("<secret:"), "{mode}: {}", ran.stdout);
    }
}
