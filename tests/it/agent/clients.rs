//! The vendors' own clients talk to the stand-in, tools included.

use std::process::Command;

use serde_json::{Value, json};

use super::stand_in::Stage;
use crate::common::{Project, ran, root, skipped};

const SCRIPT: &str = r"
  - { error: { status: 429, message: slow down, retry_after: 0.05 } }
  - expect: { user: { contains: umbrella }, tools: [forecast] }
    text: Let me look.
    tool_calls: [{ name: forecast, arguments: { city: Lisbon } }]
    usage: { input: 100, output: 20, cache_read: 7 }
  - expect: { tool_results: [rain] }
    text: Take one.
    usage: { input: 150, output: 5 }
";

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_vendors_clients_take_the_stand_in_for_the_real_thing() {
    let Some(python) = std::env::var_os("MCP_EVAL_PYTHON") else {
        let why = "MCP_EVAL_PYTHON names no Python that has the packages `anthropic`, `openai` and `ollama`";
        return skipped("the vendors' clients were not tried", why);
    };
    let script = root().join("tests/fixtures/agent/clients.py");
    for client in ["anthropic", "chat", "responses", "ollama"] {
        for mode in ["whole", "stream"] {
            let stage = Stage::of(Project::new(), SCRIPT);
            let ran = ran(Command::new(&python)
                .arg(&script)
                .args([client, mode, &stage.url]));
            assert_eq!(ran.code, 0, "{client} {mode}: {ran:#?}");
            let said: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(
                said["calls"],
                json!([["forecast", { "city": "Lisbon" }]]),
                "{client} {mode}"
            );
            assert_eq!(said["text"], "Take one.", "{client} {mode}");
            if mode == "whole" {
                let cached = if client == "anthropic" || client == "ollama" {
                    0
                } else {
                    7
                };
                assert_eq!(said["usage"], json!([100 + cached, 20]), "{client} {mode}");
            }
        }
    }
    for (client, errors) in [
        (
            "anthropic",
            ["AuthenticationError", "NotFoundError", "BadRequestError"],
        ),
        (
            "chat",
            ["AuthenticationError", "NotFoundError", "BadRequestError"],
        ),
        (
            "responses",
            ["AuthenticationError", "NotFoundError", "BadRequestError"],
        ),
        ("ollama", ["ResponseError"; 3]),
    ] {
        for (error, status) in errors.into_iter().zip([401, 404, 400]) {
            let trouble = format!("  - {{ error: {{ status: {status}, message: so it is }} }}\n");
            let stage = Stage::of(Project::new(), &trouble);
            let ran = ran(Command::new(&python)
                .arg(&script)
                .args([client, "error", &stage.url]));
            let said: Value =
                serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:#?}"));
            assert_eq!(said["error"], error, "{client}: {said}");
            assert_eq!(said["status"], status, "{client}: {said}");
            assert!(
                said["said"].as_str().unwrap().contains("so it is"),
                "{client}: {said}"
            );
        }
    }
}
