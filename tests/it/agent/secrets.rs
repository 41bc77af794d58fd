//! A key that goes through every path and is seen nowhere.

use std::fs;
use std::path::Path;

use super::stand_in::{APIS, CANARY, Stage};

/// Every file below a folder that holds the text, in whatever encoding of a string.
fn holders(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            holders(&path, found);
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(CANARY) {
            found.push(path.display().to_string());
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn keys_are_seen_in_no_file_and_no_output() {
    for (name, agent) in APIS {
        let agent =
            format!("{agent}, extra_headers: {{ X-Gateway-Key: \"${{LLM_KEY}}\", X-Team: blue }}");
        // The key comes back in what the model says, in a call and its answer, and in the words of an error.
        let echo = r"
  - { error: { status: 500, message: the key KEY is odd, retry_after: 0.01 } }
  - { text: Your key is KEY., tool_calls: [{ name: mcp__weather__forecast, arguments: { city: KEY } }] }
  - { error: { status: 401, message: Incorrect API key provided: KEY } }
";
        let stage = Stage::new(
            &agent,
            "",
            &echo
                .replace("provided: ", "provided ")
                .replace("KEY", CANARY),
        );
        // What the test itself has written down.
        for file in ["llm.yaml", "asked.jsonl"] {
            fs::write(stage.project.path(file), "").unwrap();
        }
        for command in [
            &["run", "-v"][..],
            &["run", "--format", "json"],
            &["record", "-v"],
            &["report"],
            &["report", "--format", "html"],
        ] {
            let ran = stage.run(command);
            assert!(!ran.all().contains(CANARY), "{name}: {ran:#?}");
            if command[0] != "report" {
                assert_eq!(ran.code, 3, "{ran:#?}");
                ran.says("does not accept the key in `LLM_KEY`");
            }
        }
        fs::write(stage.project.path("asked.jsonl"), "").unwrap();
        let mut found = Vec::new();
        holders(&stage.project.path(""), &mut found);
        assert_eq!(found, [""; 0], "{name}");
    }
}

#[test]
fn a_key_is_sent_as_each_api_wants_it() {
    let headers = [
        format!("x-api-key: {CANARY}, anthropic-version: \"2023-06-01\""),
        format!("authorization: Bearer {CANARY}"),
        format!("authorization: Bearer {CANARY}"),
        format!("authorization: Bearer {CANARY}"),
    ];
    for ((_, agent), headers) in APIS.into_iter().zip(headers) {
        let script = format!("  - {{ expect: {{ headers: {{ {headers} }} }}, text: Hello. }}\n");
        Stage::new(agent, "", &script).trajectory(0);
    }
}

#[test]
fn a_key_is_sent_to_nobody_it_was_not_meant_for() {
    let script = "  - { expect: { headers: { authorization: { absent: true }, x-api-key: { absent: true } } }, text: Hello. }\n";
    for (_, agent) in APIS {
        let stage = Stage::new(agent, "", script);
        stage
            .project
            .edit("scenarios/s.yaml", ", api_key_env: LLM_KEY", "");
        let mut command = stage.command(&["run"]);
        command
            .env("OPENAI_API_KEY", "sk-not-for-you")
            .env("ANTHROPIC_API_KEY", "sk-not-for-you");
        let ran = crate::common::ran(&mut command);
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
}

#[test]
fn a_missing_key_is_reported_before_anybody_is_asked() {
    let stage = Stage::new("kind: openai", "", "  - { text: Hello. }\n");
    let ran = crate::common::ran(stage.command(&["run"]).env_remove("LLM_KEY"));
    assert_eq!(ran.code, 3, "{ran:#?}");
    ran.says("no key for the model: set the environment variable `LLM_KEY`");
    assert_eq!(stage.bodies().len(), 0);
    // At the vendor's own address, the usual variable is meant.
    for (kind, variable) in [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
    ] {
        let project = crate::common::Project::new();
        let scenario = format!(
            "name: S\nuser_intent: x\nservers: {{ s: {{ type: stdio, command: none }} }}\nagent: {{ kind: {kind}, model: m }}\n"
        );
        project.file("scenarios/s.yaml", scenario);
        project.expect(3, &["run"]).says(variable);
    }
}
