//! What a stand-in for a model says when it ends, and of requests that are too long.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::stand_in::Stage;
use crate::common::Project;

const SCRIPT: &str = "
llm_interactions:
  - { error: { status: 503 }, times: 3 }
  - { tool_calls: [{ name: look, arguments: {} }] }
  - { text: rain }
";

/// Serves the script, asks as often as there are bodies, ends it with Ctrl-C; returns the answers' statuses and bodies, and stderr.
async fn asked(bodies: &[String]) -> (Vec<(u16, Value)>, String) {
    let project = Project::new();
    project.file("llm.yaml", SCRIPT);
    let mut child = project
        .command()
        .args(["mock", "--llm", "llm.yaml", "--max-body", "2000"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let url = format!("{}/api/chat", ready["url"].as_str().unwrap());
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut answers = Vec::new();
    for body in bodies {
        let answer = client.post(&url).body(body.clone()).send().await.unwrap();
        let status = answer.status().as_u16();
        answers.push((status, answer.json().await.unwrap()));
    }
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    (answers, String::from_utf8(output.stderr).unwrap())
}

fn first(stuffing: usize) -> String {
    let user = "x".repeat(stuffing);
    json!({ "model": "m", "stream": false, "messages": [{ "role": "user", "content": user }] })
        .to_string()
}

#[tokio::test]
async fn what_nobody_has_asked_for_is_named() {
    let (answers, said) = asked(&[first(1)]).await;
    assert_eq!(answers[0].0, 503);
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(
        said,
        [
            "note: interaction 1 of the script was asked for 1 of 3 times",
            "note: interaction 2 of the script was never requested",
            "note: interaction 3 of the script was never requested",
        ]
    );
}

#[tokio::test]
async fn a_script_that_was_followed_to_its_end_leaves_nothing_to_say() {
    let mut bodies = vec![first(1); 4];
    bodies.push(
        json!({ "model": "m", "stream": false, "messages": [
            { "role": "user", "content": "x" }, { "role": "assistant", "content": "" },
        ] })
        .to_string(),
    );
    let (answers, said) = asked(&bodies).await;
    let statuses: Vec<u16> = answers.iter().map(|it| it.0).collect();
    assert_eq!(statuses, [503, 503, 503, 200, 200]);
    assert_eq!(said, "");
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_as_the_api_refuses() {
    let (answers, _) = asked(&[first(3000)]).await;
    let (status, body) = &answers[0];
    assert_eq!(*status, 413);
    let said = body["error"].as_str().unwrap();
    assert!(said.contains("longer than 2000 bytes"), "{body}");
}

#[test]
fn a_run_that_ends_before_its_script_fails_and_names_what_is_left() {
    let script = "  - { text: Hello. }\n  - { error: { status: 503 } }\n  - { text: More. }\n";
    for (_, agent) in super::stand_in::APIS {
        let stage = Stage::new(agent, "", script);
        stage
            .expect(1, &["run"])
            .says("interaction 2 of the stand-in's script was never requested");
    }
    Stage::new("kind: openai", "", "  - { text: Hello. }\n").expect(0, &["run"]);
}
