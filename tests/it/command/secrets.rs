//! Secrets that an agent and its servers are given, and that are seen nowhere.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::kit::{Stage, faulty};
use crate::common::ran;
use crate::http::{Mode, serve};

const CANARIES: [&str; 4] = [
    "canary-env-4f9d2c71b6",
    "canary-header-90ab12cd34",
    "canary-server-77e1f0a2c3",
    "canary-bearer-5566778899",
];

/// Every file below a folder that holds a canary.
fn holders(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            holders(&path, found);
            continue;
        }
        let text = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&text);
        if CANARIES.iter().any(|it| text.contains(it)) {
            found.push(path.display().to_string());
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn secrets_are_seen_in_no_file_and_no_output() {
    let (address, _) = serve(Mode::Json);
    let mut servers = faulty(&["text=${SERVER_KEY}"]);
    servers["s"]["env"] = json!({ "SERVER_KEY": "${SERVER_KEY}" });
    servers["web"] = json!({
        "url": format!("http://{address}/mcp"),
        "headers": { "X-Api-Key": "${HEADER_VALUE}" },
        "bearer_token_env": "BEARER",
    });
    // The last lines of an agent are shown only where it fails; in the other run it passes.
    for (end, code) in [("exit 0", 0), ("exit 4", 3)] {
        let agent = [
            // The server says its key, and the agent repeats it with its own.
            "call s echo {}",
            "env AGENT_TOKEN",
            r#"call web big {"key": "${AGENT_KEY}"}"#,
            "complain my token is ${AGENT_KEY}",
            end,
        ];
        let more = json!({ "agent": { "env": { "AGENT_TOKEN": "${AGENT_KEY}" } } });
        let stage = Stage::with(&agent, &servers, &more);
        for command in [
            &["run", "-v"][..],
            &["run", "--format", "json"],
            &["record", "-v"],
            &["compare", "-v"],
            &["report", "--format", "html"],
        ] {
            let mut program = stage.project.command();
            program
                .args(command)
                .env("AGENT_KEY", CANARIES[0])
                .env("HEADER_VALUE", CANARIES[1])
                .env("SERVER_KEY", CANARIES[2])
                .env("BEARER", CANARIES[3]);
            let ran = ran(&mut program);
            for canary in CANARIES {
                assert!(!ran.all().contains(canary), "{command:?}: {ran:#?}");
            }
            let expected = if command[0] == "report" { 0 } else { code };
            assert_eq!(ran.code, expected, "{command:?}: {ran:#?}");
            if code == 3 && command[0] == "run" {
                ran.says("my token is <secret:env.AGENT_KEY>");
            }
        }
        let mut found = Vec::new();
        holders(&stage.project.path(""), &mut found);
        assert_eq!(found, [""; 0]);
    }
}
