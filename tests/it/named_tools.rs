//! Tools that evaluators and criteria name: those that nobody has, those of the agent's own, and those that appear during a run.

use serde_json::{Value, json};

use crate::common::{Project, small_agent};

/// A shop that lets `wipe` be seen once `open` was called.
fn interactions() -> Value {
    json!({ "shop": { "tools": [
        { "name": "find", "annotations": { "read_only_hint": true }, "responses": [{ "content": "tea" }] },
        { "name": "open", "responses": [{ "content": "open", "steps": [{ "show_tools": ["wipe"] }] }] },
        { "name": "wipe", "hidden": true, "responses": [{ "content": "gone" }] },
    ] } })
}

/// The results of evaluators, by an agent that does this: exit code, and the status and message of each.
fn judged(agent: &Value, more: &Value, evaluators: &[Value]) -> (Project, i32, Vec<String>) {
    let project = Project::new();
    let mut scenario = json!({
        "name": "S",
        "user_intent": "Is there tea?",
        "servers": { "shop": { "type": "mock" } },
        "agent": agent,
        "mcp_interactions": interactions(),
        "evaluators": evaluators,
    });
    let members = more.as_object().unwrap().clone();
    scenario.as_object_mut().unwrap().extend(members);
    project.file("scenarios/s.yaml", scenario.to_string());
    let ran = project.run(&["run", "--format", "json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:#?}"));
    let found = result["scenarios"][0]["evaluators"].as_array().unwrap();
    let messages = found.iter().map(|it| {
        let text = |key: &str| it[key].as_str().unwrap().to_owned();
        format!("{}: {}", text("status"), text("message"))
    });
    (project, ran.code, messages.collect())
}

/// One evaluator, and how what is said of it begins.
#[track_caller]
fn each(agent: &Value, more: &Value, cases: &[(Value, &str)]) {
    let evaluators: Vec<Value> = cases.iter().map(|it| it.0.clone()).collect();
    let (_project, _, messages) = judged(agent, more, &evaluators);
    assert_eq!(messages.len(), cases.len(), "{messages:#?}");
    for ((evaluator, expected), message) in cases.iter().zip(messages) {
        assert!(message.starts_with(expected), "{evaluator}: {message}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_call_of_a_tool_that_nobody_has_is_none_of_that_tool() {
    let agent = json!({ "kind": "scripted", "calls": [
        { "tool": "mcp__shop__find" },
        { "tool": "mcp__shop__refund", "is_error": true },
    ] });
    let refund = |more: Value| {
        let mut call = json!({ "tool": "refund" });
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call
    };
    let fails = json!({ "is_error": true });
    let cases = [
        (
            json!({ "type": "tool-calls", "required": ["refund"] }),
            "failed: `refund` is not called: no server offers it",
        ),
        (
            json!({ "type": "tool-calls", "required": [refund(json!({ "answer": fails }))] }),
            "failed: `refund` is not called",
        ),
        (
            json!({ "type": "tool-calls", "optional": [refund(json!({ "min": 1 }))] }),
            "failed: 0 of at least 1",
        ),
        (
            json!({ "type": "tool-calls", "required": [{ "tool": "find", "before": "refund" }] }),
            "passed",
        ),
        // To ask for it is enough where it must not be called.
        (
            json!({ "type": "tool-calls", "optional": [refund(json!({ "max": 0 }))] }),
            "failed: 1 of at most 0",
        ),
        (
            json!({ "type": "tool-calls", "prohibited": ["refund"] }),
            "failed: call 2 (`mcp__shop__refund`) is prohibited",
        ),
        (
            json!({ "type": "tool-calls", "allowed": ["find"] }),
            "failed: call 2 (`mcp__shop__refund`) is not allowed",
        ),
        (
            json!({ "type": "exact-match", "tool": "refund", "value": "unknown tool", "match": "partial" }),
            "failed: there is no answer",
        ),
        (
            json!({ "type": "schema-validate", "tool": "refund", "schema": {} }),
            "failed: there is no answer",
        ),
        (
            json!({ "type": "within", "tool": "refund", "call_duration": "1m" }),
            "skipped: there is no such call",
        ),
    ];
    // That it is expected makes it a tool that somebody knows.
    let expected = json!({ "expected_trajectory": [
        { "tool": "mcp__shop__find" },
        { "tool": "mcp__shop__refund", "is_error": true },
    ] });
    each(&agent, &expected, &cases);
    // Where nobody expects it, its name may as well be misspelt.
    let unknown = cases.map(|(it, _)| {
        let is_prohibited = it.get("prohibited").is_some();
        let is_allowed = it.get("allowed").is_some();
        let is_required = it["required"][0]
            .as_str()
            .or(it["required"][0]["tool"].as_str())
            == Some("refund");
        let status = if is_prohibited || is_allowed || is_required {
            "failed"
        } else {
            "error: no server offers `refund`"
        };
        (it, status)
    });
    each(&agent, &json!({}), &unknown);
    let criterion = json!({ "success_criteria": [{ "tool_called": "refund" }] });
    let (project, code, _) = judged(
        &agent,
        &criterion,
        &[json!({ "type": "text", "contains": "tea" })],
    );
    assert_eq!(code, 3);
    project
        .expect(3, &["run"])
        .says("no server offers a tool of that name");
    let criterion = json!({ "success_criteria": [{ "tool_never_called": "refund" }] });
    let (_, code, _) = judged(
        &agent,
        &criterion,
        &[json!({ "type": "text", "contains": "tea" })],
    );
    assert_eq!(code, 1);
}

/// An agent that prints what Claude Code prints: it finds tea, and calls `Bash`, one of the tools that it lists for its own.
fn claude() -> Value {
    let printed = |it: Value| format!("print {it}");
    let message = |content: Value| {
        json!({
            "type": "assistant", "parent_tool_use_id": null,
            "message": { "id": "a1", "model": "m-1", "content": [content], "usage": { "input_tokens": 1, "output_tokens": 1 } },
        })
    };
    let result = |id: &str, said: &str| {
        let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": said, "is_error": false }]);
        json!({ "type": "user", "message": { "content": content } })
    };
    let call = |id: &str, name: &str, input: Value| {
        message(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
    };
    let init = json!({
        "type": "system", "subtype": "init", "model": "m-1",
        "mcp_servers": [{ "name": "shop", "status": "connected" }],
        "tools": ["Bash", "WebSearch", "mcp__shop__find"],
    });
    let end = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "There is tea.", "stop_reason": "end_turn",
        "modelUsage": { "m-1": { "inputTokens": 1, "outputTokens": 1 } }, "total_cost_usd": 0.01, "permission_denials": [],
    });
    let steps = vec![
        small_agent(),
        printed(init),
        printed(call("t1", "mcp__shop__find", json!({}))),
        "call shop find".to_owned(),
        printed(result("t1", "tea")),
        printed(call("t2", "Bash", json!({ "command": "date" }))),
        printed(result("t2", "noon")),
        printed(message(json!({ "type": "text", "text": "There is tea." }))),
        printed(end),
    ];
    json!({ "kind": "command", "format": "claude", "command": steps })
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tools_of_the_agents_own_can_be_named() {
    each(
        &claude(),
        &json!({ "success_criteria": [{ "tool_called": "Bash" }, { "tool_never_called": "WebSearch" }] }),
        &[
            (
                json!({ "type": "tool-calls", "required": ["find", { "tool": "Bash", "args": { "command": "date" } }] }),
                "passed: 2 calls",
            ),
            (
                json!({ "type": "tool-calls", "prohibited": ["WebSearch"] }),
                "passed: 1 call,",
            ),
            (
                json!({ "type": "tool-calls", "prohibited": ["Bash"] }),
                "failed: the call of the agent's own `Bash` is prohibited",
            ),
            (
                json!({ "type": "tool-calls", "required": ["WebSearch"] }),
                "failed: `WebSearch` is not called",
            ),
            (
                json!({ "type": "tool-calls", "required": [{ "tool": "Bash", "before": "find" }] }),
                "failed: `Bash` is call 2, and should come before call 1",
            ),
            // What is said of all calls is said of those of servers.
            (
                json!({ "type": "tool-calls", "required": ["find"], "max_extra": 0 }),
                "passed: 1 call,",
            ),
            (
                json!({ "type": "tool-calls", "allowed": ["find"] }),
                "passed: 1 call,",
            ),
            (
                json!({ "type": "exact-match", "tool": "Bash", "value": "noon" }),
                "passed: the answer to the call of the agent's own `Bash`",
            ),
            (
                json!({ "type": "within", "tool": "Bash", "call_duration": "1m" }),
                "passed",
            ),
            (
                json!({ "type": "tool-calls", "prohibited": ["WebSerch"] }),
                "error: no server offers `WebSerch`; nearest: `WebSearch`",
            ),
        ],
    );
    let own = json!({ "success_criteria": [{ "tool_never_called": "WebSearch" }] });
    let prohibited = json!({ "type": "tool-calls", "prohibited": ["WebFetch"] });
    let (project, ..) = judged(&claude(), &own, &[prohibited]);
    project.expect(0, &["validate"]);
    // Of one that does not tell what it has and calls, nothing is judged.
    let generic = json!({ "kind": "command", "command": [small_agent(), "call shop find", "print There is tea."] });
    each(
        &generic,
        &json!({}),
        &[(
            json!({ "type": "tool-calls", "prohibited": ["Bash"] }),
            "error: no server offers `Bash`; what tools of its own the agent has and calls, this one does not tell",
        )],
    );
    let criteria = json!({ "success_criteria": [{ "tool_called": "Bash" }, { "tool_never_called": "WebSearch" }] });
    let fine = [json!({ "type": "text", "contains": "tea" })];
    assert_eq!(judged(&claude(), &criteria, &fine).1, 0);
    let criteria = json!({ "success_criteria": [{ "tool_never_called": "Bash" }] });
    let (project, code, _) = judged(&claude(), &criteria, &fine);
    assert_eq!(code, 1);
    project
        .expect(1, &["run"])
        .says("the agent calls it: it is one of its own");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn tools_that_appear_during_a_run_can_be_named() {
    let cases = [
        (
            json!({ "type": "tool-calls", "prohibited": ["wipe"] }),
            "passed",
        ),
        (
            json!({ "type": "tool-calls", "required": ["mcp__shop__wipe"] }),
            "failed: `mcp__shop__wipe` is not called",
        ),
        (
            json!({ "type": "tool-calls", "prohibited": ["wpie"] }),
            "error: no server offers `wpie`; nearest: `wipe`",
        ),
    ];
    let scripted = json!({ "kind": "scripted", "calls": [{ "tool": "mcp__shop__open" }] });
    each(&scripted, &json!({}), &cases);
    // An agent with a client of its own asks for the list by itself.
    let list = r#"send shop {"jsonrpc":"2.0","id":77,"method":"tools/list"}"#;
    let agent = json!({ "kind": "command", "command": [small_agent(), "call shop open", list] });
    each(&agent, &json!({}), &cases);
    let (project, ..) = judged(&scripted, &json!({}), &[cases[0].0.clone()]);
    let kept = project.read(project.last_run().join("current/s.json"));
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["catalogue"][0]["later_tools"], json!(["wipe"]));
    // Where nobody has shown it, nobody knows of it.
    let closed = json!({ "kind": "scripted", "calls": [{ "tool": "mcp__shop__find" }] });
    each(
        &closed,
        &json!({}),
        &[(
            json!({ "type": "tool-calls", "prohibited": ["wipe"] }),
            "error: no server offers `wipe`",
        )],
    );
}
