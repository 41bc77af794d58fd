//! Agents whose output is known, played by a small one that prints what they print.

use serde_json::{Value, json};

use super::kit::{Stage, mock, steps};
use crate::common::{Ran, ran, root};

const INIT: &str = r#"print {"type":"system","subtype":"init","mcp_servers":[{"name":"weather","status":"connected"}],"model":"m"}"#;

/// Steps of an agent that prints what Claude Code prints, with a server that answers.
fn claude(said: &[&str], more: &Value) -> Stage {
    let (servers, interactions) = mock();
    let mut all = json!({ "agent": { "format": "claude" }, "mcp_interactions": interactions });
    for (key, value) in more.as_object().unwrap() {
        match (&mut all[key], value) {
            (Value::Object(there), Value::Object(more)) => there.extend(more.clone()),
            (there, value) => *there = value.clone(),
        }
    }
    Stage::with(said, &servers, &all)
}

/// An answer of the model, as a step: its text, its calls, and what it took.
fn answer(id: &str, content: &Value, input: u64, output: u64) -> String {
    let usage = json!({ "input_tokens": input, "output_tokens": output });
    let message = json!({ "id": id, "model": "m-1", "content": content, "usage": usage });
    format!(
        "print {}",
        json!({ "type": "assistant", "message": message, "parent_tool_use_id": null })
    )
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn calls(id: &str, name: &str, input: &Value) -> Value {
    json!([{ "type": "tool_use", "id": id, "name": name, "input": input }])
}

fn tool_result(id: &str, content: &Value, is_error: bool) -> String {
    let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error }]);
    format!(
        "print {}",
        json!({ "type": "user", "message": { "content": result } })
    )
}

fn result(said: &str, input: u64, output: u64, cost: f64) -> String {
    let usage = json!({ "inputTokens": input, "outputTokens": output });
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": said, "stop_reason": "end_turn",
        "modelUsage": { "m-1": usage }, "total_cost_usd": cost, "permission_denials": [],
    });
    format!("print {result}")
}

/// A whole session: a call that is made, one that is refused, a tool of the agent's own.
fn session() -> Vec<String> {
    let [call, refused, own] = [
        calls("t1", "mcp__weather__forecast", &json!({ "city": "Lisbon" })),
        calls("t2", "mcp__weather__slow", &json!({})),
        calls("t3", "Bash", &json!({ "command": "date" })),
    ];
    vec![
        INIT.to_owned(),
        "print some words that are no event".to_owned(),
        answer("a1", &text("I will look."), 100, 1),
        answer("a1", &call, 100, 1),
        r#"call weather forecast {"city": "Lisbon"}"#.to_owned(),
        tool_result("t1", &json!("what the agent makes of it"), false),
        answer("a2", &refused, 200, 5),
        tool_result("t2", &json!("you haven't granted it"), true),
        answer("a2", &own, 200, 5),
        tool_result("t3", &json!([{ "type": "text", "text": "noon" }]), false),
        answer("a3", &text("Take one: rain."), 300, 7),
    ]
}

#[test]
fn reported_and_observed_calls_are_one_trajectory() {
    let mut session = session();
    // More than the stream reported: the first answer was longer.
    session.push(result("Take one: rain.", 600, 20, 0.5));
    let session: Vec<&str> = session.iter().map(String::as_str).collect();
    // A call that is refused is a failed call.
    let (ran, recorded) = claude(&session, &json!({})).run(1);
    assert_eq!(
        steps(&recorded),
        [
            "user: Do I need an umbrella?",
            "assistant: I will look.",
            r#"weather.forecast {"city":"Lisbon"} ok"#,
            "weather.slow {} not_sent",
            r#"Bash {"command":"date"} ok"#,
            "assistant: Take one: rain.",
        ]
    );
    let said = &recorded["steps"];
    let weather = r#"{"city":"Lisbon","sky":"rain"}"#;
    assert_eq!(said[2]["outcome"]["content"][0]["text"], weather);
    let why = said[3]["outcome"]["error"]["message"].as_str().unwrap();
    assert!(why.contains("you haven't granted it"), "{why}");
    assert_eq!(said[4]["server"], json!(null));
    assert_eq!(said[4]["outcome"]["content"][0]["text"], "noon");
    let requests = recorded["requests"].as_array().unwrap();
    let places: Vec<_> = requests.iter().map(|it| &it["after_steps"]).collect();
    assert_eq!(places, [&json!(1), &json!(3), &json!(5)]);
    assert!(requests.iter().all(|it| it["model"] == "m-1"));
    assert_eq!(requests[2]["stop_reason"], "end_turn");
    ran.says("3 requests, 600 tokens in, 20 out, cost 0.5");
}

#[test]
fn a_price_counts_more_than_what_the_agent_reckons() {
    let session = [
        INIT.to_owned(),
        answer("a1", &text("Hello."), 100, 10),
        result("Hello.", 100, 10, 0.5),
    ];
    let session: Vec<&str> = session.iter().map(String::as_str).collect();
    let price = json!({ "agent": { "price": { "input": 10000, "output": 0 } } });
    let (ran, _) = claude(&session, &price).run(0);
    ran.says("cost 1.0");
}

#[test]
fn an_agent_that_has_come_to_choose_another_model_is_another_experiment() {
    let session = [
        INIT.to_owned(),
        r#"call weather forecast {"city": "Lisbon"}"#.to_owned(),
        answer("a1", &text("Rain."), 100, 10),
        result("Rain.", 100, 10, 0.5),
    ];
    let session: Vec<&str> = session.iter().map(String::as_str).collect();
    let stage = claude(&session, &json!({}));
    stage.project.expect(0, &["record"]);
    stage.project.edit("scenarios/s.yaml", "m-1", "m-2");
    stage
        .project
        .expect(3, &["compare"])
        .says("model m-1 → m-2");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn limits_are_kept_as_the_agent_tells_what_it_used() {
    let price = json!({ "input": 1000, "output": 1000 });
    let cases = [
        (
            json!({ "limits": { "max_total_tokens": 300 } }),
            "`limits.max_total_tokens` ended the run: 306 tokens were used of 300",
            false,
        ),
        (
            json!({ "agent": { "price": price }, "limits": { "max_cost": 0.3 } }),
            "`limits.max_cost` ended the run: the run cost 0.306 of 0.3",
            false,
        ),
        // What the agent reckons comes with its end.
        (
            json!({ "limits": { "max_cost": 0.3 } }),
            "`limits.max_cost` ended the run: the run cost 0.5 of 0.3",
            true,
        ),
    ];
    for (more, words, is_late) in cases {
        let mut session = session();
        if is_late {
            session.push(result("Take one: rain.", 600, 13, 0.5));
        } else {
            // It would never end by itself.
            session.truncate(7);
            session.push("sleep".to_owned());
        }
        let session: Vec<&str> = session.iter().map(String::as_str).collect();
        let (ran, recorded) = claude(&session, &more).run(1);
        ran.says(words);
        assert_eq!(recorded["ending"]["kind"], "limit_reached");
    }
}

#[test]
fn the_budget_of_a_command_is_spent_by_such_agents_too() {
    let session = [
        INIT.to_owned(),
        answer("a1", &text("Hello."), 100, 10),
        result("Hello.", 100, 10, 0.5),
    ];
    let session: Vec<&str> = session.iter().map(String::as_str).collect();
    let stage = claude(&session, &json!({}));
    let scenario = stage.project.read("scenarios/s.yaml");
    stage.project.file("scenarios/t.yaml", scenario);
    let ran = stage.project.expect(3, &["run", "--budget", "0.4"]);
    ran.says("the budget is spent: 0.5000 of 0.4 (`--budget`)");
    stage.project.expect(0, &["run", "--budget", "5"]);
}

/// An agent that is a line for the shell.
fn shell(script: &str, format: &str) -> (Stage, Ran) {
    let stage = shell_stage(script, format);
    let ran = ran(stage.project.command().args(["run", "-v"]));
    (stage, ran)
}

fn shell_stage(script: &str, format: &str) -> Stage {
    let (servers, interactions) = mock();
    let more = json!({
        "agent": { "format": format, "command": ["sh", "-c", script] },
        "mcp_interactions": interactions,
    });
    Stage::with(&[], &servers, &more)
}

/// Prints a recorded stream and ends with this code.
fn printing(stream: &str, code: i32) -> Ran {
    let format = stream.split_once('-').unwrap().0;
    let stream = root().join(format!("tests/fixtures/agent/streams/{stream}.jsonl"));
    shell(&format!("cat '{}'; exit {code}", stream.display()), format).1
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_end_an_agent_tells_of_counts() {
    let cases = [
        (
            "claude-api-error",
            1,
            3,
            "the model of Claude Code gave no answer (HTTP 400): Prompt is too long",
        ),
        (
            "claude-max-turns",
            1,
            1,
            "`--max-turns` of Claude Code ended the run: Reached maximum number of turns (1)",
        ),
        (
            "claude-server-failed",
            0,
            3,
            "Claude Code cannot use the server `weather` (failed)",
        ),
        // Done, and yet something is wrong.
        ("claude-retry", 7, 3, "the agent `sh` exited with code 7"),
        ("claude-retry", 0, 0, "1 request (1 more attempt)"),
        (
            "claude-refused",
            0,
            1,
            "allow it with `--allowedTools mcp__weather__forecast` in `agent.command`",
        ),
        (
            "codex-api-error",
            1,
            3,
            "Codex ended with an error: unexpected status 403 Forbidden: no such luck",
        ),
        (
            "codex-refused",
            0,
            1,
            "Codex did not let its model call `mcp__weather__set_alarm`",
        ),
        (
            "gemini-api-error",
            144,
            3,
            "Gemini CLI ended with an error: [API Error: ",
        ),
    ];
    for (stream, exit, code, words) in cases {
        let ran = printing(stream, exit);
        assert_eq!(ran.code, code, "{stream}: {ran:#?}");
        ran.says(words);
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn output_without_an_end_is_no_success() {
    for (format, hint) in [
        ("claude", "`--output-format stream-json --verbose`"),
        ("codex", "`--json`"),
        ("gemini", "`--output-format stream-json`"),
    ] {
        let (stage, ran) = shell("echo Not logged in.; echo {}", format);
        assert_eq!(ran.code, 3, "{ran:#?}");
        ran.says("lacks its end").says(hint);
        ran.says("it has a line that is not an event: Not logged in.");
        assert_eq!(stage.recorded()["ending"]["kind"], "error");
        let (_, ran) = shell("echo Not logged in.; exit 9", format);
        assert_eq!(ran.code, 3, "{ran:#?}");
        ran.says("exited with code 9").says("Not logged in.");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_variables_of_a_vendor_are_passed_to_its_agent_and_kept_secret() {
    let key = "canary-vendor-1f2e3d4c";
    for (format, variable, code) in [
        ("claude", "ANTHROPIC_CUSTOM_HEADERS", 3),
        ("claude", "ANTHROPIC_API_KEY", 3),
        ("codex", "CODEX_API_KEY", 3),
        ("gemini", "GEMINI_API_KEY", 3),
        ("generic", "OPENAI_API_KEY", 0),
    ] {
        let stage = shell_stage(&format!("printenv {variable} | tail -n 1"), format);
        let mut command = stage.project.command();
        let value = if variable.ends_with("HEADERS") {
            format!("X-Team: blue\nX-Api-Key: {key}")
        } else {
            key.to_owned()
        };
        let done = ran(command.args(["run", "-v"]).env(variable, value));
        assert_eq!(done.code, code, "{done:#?}");
        let printed = format!("{}\n{}", done.all(), stage.recorded());
        assert!(!printed.contains(key), "{printed}");
        assert_eq!(
            printed.contains("<secret:"),
            format != "generic",
            "{printed}"
        );
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn what_an_agent_says_of_secrets_is_seen_nowhere() {
    let key = "canary-words-1f2e3d4c";
    let says = [
        (
            "codex",
            r#"{"type":"item.completed","item":{"id":"a","type":"error","message":"odd key: KEY \u001b[31m"}}"#,
        ),
        (
            "codex",
            r#"{"type":"error","message":"Reconnecting... 1/5 (bad key KEY)"}"#,
        ),
        (
            "codex",
            r#"{"type":"turn.failed","error":{"message":"bad key KEY"}}"#,
        ),
        (
            "codex",
            r#"{"type":"item.completed","item":{"id":"b","type":"command_execution","command":"echo KEY","aggregated_output":"KEY","exit_code":0}}"#,
        ),
        (
            "gemini",
            r#"{"type":"error","severity":"warning","message":"odd key: KEY"}"#,
        ),
        (
            "gemini",
            r#"{"type":"result","status":"error","error":{"message":"KEY"},"stats":{"models":{"KEY":{"input_tokens":1,"total_tokens":2}}}}"#,
        ),
        (
            "claude",
            r#"{"type":"assistant","message":{"id":"KEY","model":"KEY","content":[{"type":"text","text":"KEY"}],"usage":{"input_tokens":1}}}"#,
        ),
        (
            "claude",
            r#"{"type":"system","subtype":"permission_denied","tool_name":"KEY"}"#,
        ),
        ("claude", "no event, but KEY"),
    ];
    for (format, line) in says {
        let stage = shell_stage("cat; printf '%s\\n' \"$SAID\"", format);
        let scenario = stage.project.read("scenarios/s.yaml");
        let env = r#""agent":{"env":{"SAID":"${SAID}","A_TOKEN":"${A_TOKEN}"},"#;
        stage
            .project
            .file("scenarios/s.yaml", scenario.replace("\"agent\":{", env));
        let mut command = stage.project.command();
        command
            .args(["run", "-v"])
            .env("SAID", line.replace("KEY", key))
            .env("A_TOKEN", key);
        let done = ran(&mut command);
        assert_eq!(done.code, 3, "{done:#?}");
        let html = stage
            .project
            .expect(0, &["report", "--format", "html", "--output", "pages"]);
        let mut all = format!("{}{}{}", done.all(), html.all(), stage.recorded());
        for page in std::fs::read_dir(stage.project.path("pages"))
            .unwrap()
            .flatten()
        {
            all += &std::fs::read_to_string(page.path()).unwrap_or_default();
        }
        assert!(!all.contains(key), "{line}: {all}");
        assert!(all.contains("secret:"), "{line}: {all}");
        assert!(!done.all().contains('\u{1b}'), "{done:#?}");
    }
}

#[test]
fn what_makes_no_sense_for_a_format_is_found() {
    let cases = [
        (json!({ "agent": { "format": "claude" } }), None),
        (json!({ "agent": { "format": "codex" } }), None),
        (json!({ "agent": { "format": "gemini" } }), None),
        (
            json!({ "agent": { "format": "gemini", "cwd": "." } }),
            Some("this agent looks for its servers in the folder it works in"),
        ),
        (
            json!({ "agent": { "format": "codex" }, "limits": { "max_cost": 1 } }),
            Some("`max_cost` cannot be kept: what the model costs is unknown"),
        ),
        (
            json!({ "agent": { "format": "claude" }, "limits": { "max_cost": 1 } }),
            None,
        ),
        (
            json!({ "agent": { "format": "claud" } }),
            Some("did you mean `claude`?"),
        ),
    ];
    for (more, problem) in cases {
        let (servers, interactions) = mock();
        let mut all = json!({ "mcp_interactions": interactions });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all["agent"]["command"] = json!(null);
        let stage = Stage::with(&[], &servers, &all);
        // A key without a value is as good as none.
        let ran = stage.project.run(&["validate"]);
        assert_eq!(ran.code, if problem.is_some() { 2 } else { 0 }, "{ran:#?}");
        if let Some(problem) = problem {
            ran.says(problem);
        }
    }
}
