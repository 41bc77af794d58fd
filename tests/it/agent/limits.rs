//! What ends a run, or a whole command, before the model is done.

use serde_json::{Value, json};

use super::stand_in::{Stage, scenario, steps};
use crate::common::Project;

/// A model that never comes to an end.
const ENDLESS: &str = r"
  - { tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Lisbon } }], usage: { input: 100, output: 10 } }
  - { tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Porto } }], usage: { input: 200, output: 10 } }
  - { tool_calls: [{ name: mcp__weather__forecast, arguments: { city: Oslo } }], usage: { input: 300, output: 10 } }
  - { fault: hang }
";

const PRICED: &str = "kind: anthropic, price: { input: 1000, output: 1000 }";

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_limit_fails_the_run_and_is_named() {
    let cases = [
        (
            PRICED,
            "limits: { max_steps: 2 }",
            "`limits.max_steps` ended the run: after 2 requests",
            2,
        ),
        (
            "kind: anthropic, max_steps: 1",
            "",
            "`agent.max_steps` ended the run: after 1 request ",
            1,
        ),
        (
            PRICED,
            "limits: { max_total_tokens: 300 }",
            "`limits.max_total_tokens` ended the run: 320 tokens were used of 300",
            2,
        ),
        (
            PRICED,
            "limits: { max_cost: 0.2 }",
            "`limits.max_cost` ended the run: the run cost 0.32 of 0.2",
            2,
        ),
        (
            PRICED,
            "limits: { max_duration: 3s }",
            "`limits.max_duration` ended the run: 3s passed",
            4,
        ),
    ];
    for (agent, limits, words, asked) in cases {
        let stage = Stage::new(agent, limits, ENDLESS);
        let trajectory = stage.trajectory(1);
        assert_eq!(trajectory["ending"]["kind"], "limit_reached", "{limits}");
        assert_eq!(
            trajectory["requests"].as_array().unwrap().len(),
            asked,
            "{limits}"
        );
        let message = trajectory["ending"]["message"].as_str().unwrap();
        assert!(message.starts_with(words), "{message}");
        stage.expect(1, &["run"]).says(words).says("1 failed");
        stage.expect(1, &["record"]).says(words);
        assert!(!stage.project.path("baselines").exists(), "{limits}");
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let stage = Stage::new(
        PRICED,
        "limits: { max_steps: 2, max_total_tokens: 200, max_cost: 0.2, max_duration: 2m }",
        "  - { tool_calls: [{ name: mcp__weather__forecast }], usage: { input: 100, output: 10 } }\n  - { text: Done., usage: { input: 80, output: 10 } }\n",
    );
    let trajectory = stage.trajectory(0);
    assert_eq!(trajectory["ending"]["kind"], "completed");
}

#[test]
fn a_limit_that_cannot_be_kept_is_an_error() {
    let stage = Stage::new(
        "kind: ollama",
        "limits: { max_total_tokens: 300 }",
        "  - { text: Hello. }\n",
    );
    stage
        .expect(3, &["run"])
        .says("`limits.max_total_tokens` cannot be kept");
}

#[test]
fn without_a_model_steps_are_calls() {
    let project = Project::new();
    let calls = [("echo", json!({})), ("echo", json!({}))];
    project.faulty_with("s", &[], &calls, &json!({ "limits": { "max_steps": 1 } }));
    let ran = project.expect(1, &["run"]);
    ran.says("`limits.max_steps` ended the run: 1 tool call had been made");
}

#[test]
fn a_spent_budget_stops_the_suite() {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.file(
            &format!("scenarios/{name}.yaml"),
            scenario(name, PRICED, ""),
        );
    }
    let script = "  - { text: Hello., usage: { input: 100, output: 0 } }\n";
    let stage = Stage::of(project, script);
    stage.expect(0, &["run", "--budget", "0.5"]);
    let asked = stage.bodies().len();
    let ran = stage.expect(3, &["run", "--budget", "0.15"]);
    ran.says("not started: the budget is spent: 0.2000 of 0.15 (`--budget`)");
    ran.says("2/3 tests passed");
    let result = stage.project.result(0, &["report"]);
    assert_eq!(result["scenarios"][2]["not_run"], "budget");
    assert_eq!(stage.bodies().len(), asked + 2);
    stage
        .expect(2, &["run", "--budget", "1", "--model", "other"])
        .says("--budget cannot be kept");
    stage.expect(2, &["run", "--budget", "0"]);
}

#[test]
fn a_budget_is_kept_within_a_run() {
    let stage = Stage::new(PRICED, "", ENDLESS);
    let ran = stage.expect(3, &["run", "--budget", "0.1"]);
    ran.says("the budget is spent: 0.1100 of 0.1");
}

#[test]
fn calls_before_the_end_are_kept() {
    let stage = Stage::new(PRICED, "limits: { max_steps: 2 }", ENDLESS);
    let trajectory = stage.trajectory(1);
    assert_eq!(steps(&trajectory)[1..], ["forecast ok", "forecast ok"]);
}

#[test]
fn attempts_that_the_budget_does_not_pay_are_not_made_up() {
    let stage = Stage::new(
        PRICED,
        "",
        "  - { tool_calls: [{ name: mcp__weather__forecast }], usage: { input: 100, output: 10 } }\n  - { text: Done., usage: { input: 80, output: 10 } }\n",
    );
    // A run costs 0.2: the second is broken off, the third is not begun.
    let arguments = [
        "run", "--repeat", "3", "--budget", "0.3", "--format", "json",
    ];
    let ran = stage.expect(3, &arguments);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let repeated = &result["scenarios"][0]["repeated"];
    let attempts = repeated["attempts"].as_array().unwrap();
    let shown = attempts.iter().map(|it| {
        let status = it["status"].as_str().unwrap();
        (status, it["file"].is_string())
    });
    let expected = [("passed", true), ("error", true), ("error", false)];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    let reason = attempts[2]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("not made: the budget is spent"),
        "{reason}"
    );
    assert_eq!(repeated["usage"]["requests"], 3);
    assert_eq!(repeated["usage"]["input_tokens"], 280);
    let cost = repeated["usage"]["cost"].as_f64().unwrap();
    assert!((cost - 0.31).abs() < 1e-9, "{cost}");
    stage
        .expect(3, &["record", "--repeat", "3", "--budget", "0.3"])
        .says("attempt 2 of 3, without which nothing is kept");
    assert!(!stage.project.path("baselines").exists());
}

#[test]
fn scenarios_take_turns_at_a_budget() {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.file(
            &format!("scenarios/{name}.yaml"),
            scenario(name, PRICED, ""),
        );
    }
    let script = "  - { text: Hello., usage: { input: 100, output: 0 } }\n";
    let stage = Stage::of(project, script);
    let ran = stage.expect(3, &["run", "--budget", "0.05"]);
    ran.says("not started: the budget is spent: 0.1000 of 0.05 (`--budget`)");
    ran.says("1/3 tests passed");
    assert_eq!(stage.bodies().len(), 1);
}

#[test]
fn a_spent_budget_pays_no_other_try() {
    let project = Project::new();
    let agent = json!({
        "kind": "anthropic", "model": "m", "base_url": "${LLM_URL}", "api_key_env": "LLM_KEY",
        "price": { "input": 1000, "output": 1000 },
    });
    let dies = json!({
        "name": "S", "user_intent": "Say something.", "agent": agent,
        "servers": { "s": { "type": "stdio", "command": crate::common::faulty_server(), "args": ["die-after=0"] } },
    });
    project.file("scenarios/s.yaml", dies.to_string()).file(
        "scenarios/_suites/nightly.yaml",
        "retries: { on: [transport], times: 2, backoff: 10ms }\n",
    );
    let answer =
        "  - { tool_calls: [{ name: mcp__s__echo }], usage: { input: 100, output: 10 } }\n";
    let stage = Stage::of(project, answer);
    // One answer costs 0.11, and the server dies of the call that it asks for.
    let mut before = 0;
    for (budget, tries) in [("0.1", 1), ("0.2", 2), ("5", 3)] {
        let arguments = [
            "run", "--suite", "nightly", "--budget", budget, "--format", "json",
        ];
        let ran = stage.expect(3, &arguments);
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        let retried = result["scenarios"][0]["retried"].as_array();
        assert_eq!(retried.map_or(0, Vec::len), tries - 1, "{budget}: {ran:#?}");
        assert_eq!(stage.bodies().len() - before, tries, "{budget}");
        before += tries;
    }
}
