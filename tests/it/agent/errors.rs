//! Errors of an API: tried again where that may help, reported where it does not.

use std::process::Stdio;

use serde_json::{Value, json};

use super::stand_in::{APIS, Stage, steps};
use crate::common::{Project, free_port, ran};

fn attempts(trajectory: &Value) -> Vec<(Value, Value)> {
    let attempts = trajectory["requests"][0]["attempts"].as_array().unwrap();
    attempts
        .iter()
        .map(|it| (it["status"].clone(), it["problem"].clone()))
        .collect()
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn passing_troubles_are_waited_out_and_every_attempt_is_recorded() {
    for (name, agent) in APIS {
        let stage = Stage::new(
            agent,
            "",
            r"
  - { error: { status: 429, message: slow down, retry_after: 0.05 } }
  - { error: { status: 500, message: oops, retry_after: 0.01 }, times: 3 }
  - { text: Hello. }
",
        );
        let trajectory = stage.trajectory(0);
        assert_eq!(steps(&trajectory)[1..], ["assistant: Hello."], "{name}");
        assert_eq!(
            attempts(&trajectory),
            [
                (json!(429), json!("HTTP 429: slow down")),
                (json!(500), json!("HTTP 500: oops")),
                (json!(500), json!("HTTP 500: oops")),
                (json!(500), json!("HTTP 500: oops")),
                (json!(200), json!(null)),
            ],
            "{name}"
        );
        let attempts = &trajectory["requests"][0]["attempts"];
        let start = |index: usize| attempts[index]["start_ms"].as_f64().unwrap();
        assert!(start(1) - start(0) >= 50.0, "{name}: {attempts}");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn broken_connections_and_answers_are_tried_again() {
    let stage = Stage::new(
        "kind: anthropic",
        "",
        "  - { fault: disconnect }\n  - { fault: invalid_json }\n  - { text: Hello. }\n",
    );
    let trajectory = stage.trajectory(0);
    let attempts = attempts(&trajectory);
    assert_eq!(attempts.len(), 3);
    let problem = |index: usize| attempts[index].1.as_str().unwrap();
    assert!(
        problem(0).starts_with("the connection broke: "),
        "{attempts:?}"
    );
    assert!(
        problem(1).starts_with("the answer is not JSON: "),
        "{attempts:?}"
    );
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_slow_model_is_given_up_and_asked_again() {
    let stage = Stage::new(
        "kind: openai, timeout: 500ms",
        "",
        "  - { fault: hang }\n  - { text: Hello. }\n",
    );
    let trajectory = stage.trajectory(0);
    let attempts = attempts(&trajectory);
    let expected = json!("no answer within 500ms (`agent.timeout`)");
    assert_eq!(attempts[0], (json!(null), expected));
    assert_eq!(attempts.len(), 2);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn errors_that_no_retry_helps_are_reported_in_our_words_and_are_no_verdict() {
    let cases = [
        (
            "{ status: 401, message: invalid x-api-key }",
            "the API does not accept the key in `LLM_KEY` (HTTP 401)",
        ),
        (
            "{ status: 404, message: \"model 'm' not found\" }",
            "the API knows no model `m` (HTTP 404)",
        ),
        (
            "{ status: 429, code: insufficient_quota, message: You exceeded your current quota }",
            "the quota of the account is used up (HTTP 429)",
        ),
        (
            "{ status: 400, code: context_length_exceeded, message: prompt is too long }",
            "the conversation is too long for `m` (HTTP 400)",
        ),
        (
            "{ status: 400, code: content_filter, message: blocked by our content filtering policy }",
            "the vendor's content filter blocked the request (HTTP 400)",
        ),
        (
            "{ status: 400, message: \"'temperature' does not support 0 with this model\" }",
            "with `temperature: null` under `agent`, none is sent",
        ),
        (
            "{ status: 403, message: no }",
            "the API does not allow this request (HTTP 403)",
        ),
        (
            "{ status: 400, message: no idea }",
            "the API refused the request (HTTP 400)",
        ),
        (
            "{ status: 429, message: later, retry_after: 3600 }",
            "the API asks to wait for 3600s",
        ),
    ];
    for (name, agent) in APIS {
        for (error, words) in cases {
            // An error that only has a word beside its message says it in the message here.
            let stage = Stage::new(agent, "", &format!("  - {{ error: {error} }}\n"));
            let ran = stage.expect(3, &["run"]);
            ran.says(words).says("the API said: ");
            assert_eq!(stage.bodies().len(), 1, "{name}: {error}");
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_model_that_cannot_be_reached_is_an_error_and_no_failure() {
    let port = free_port();
    let stage = Stage::new("kind: ollama", "", "  - { text: never said }\n");
    let url = format!("http://127.0.0.1:{port}");
    let ran = ran(stage.command(&["run"]).env("LLM_URL", &url));
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says(&format!(
        "the model cannot be reached at {url}/api/chat: no connection"
    ))
    .says("5 attempts were made")
    .says("1 error");
}

#[test]
fn an_interruption_is_prompt_and_the_attempt_is_recorded() {
    let stage = Stage::new("kind: anthropic", "", "  - { fault: hang }\n");
    let mut command = stage.command(&["run"]);
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = std::time::Instant::now();
    while stage.project.read("asked.jsonl").is_empty() {
        assert!(
            started.elapsed().as_secs() < 120,
            "the model was never asked"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
}

#[test]
fn a_server_that_dies_ends_the_run_with_the_call_it_died_of() {
    let project = Project::new();
    let agent = json!({ "kind": "openai", "model": "m", "base_url": "${LLM_URL}" });
    let more = json!({ "agent": agent, "user_intent": "x" });
    project.faulty_with("s", &["die-after=1"], &[], &more);
    let script =
        "  - tool_calls: [{ name: mcp__s__echo }]\n  - tool_calls: [{ name: mcp__s__echo }]\n";
    let stage = Stage::of(project, script);
    let ran = stage.expect(3, &["run"]);
    ran.says("call 2 of `mcp__s__echo`: ");
    let recorded = stage.trajectory(3);
    assert_eq!(steps(&recorded)[1..], ["echo ok", "echo disconnected"]);
}
