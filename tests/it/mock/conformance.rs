//! The official conformance suite, against a declaration, and against the program as a client.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use super::client::Served;
use crate::common::{Project, ran, root, skipped};

/// Node and the suite; without it, the test is skipped.
fn suite() -> Option<(OsString, PathBuf)> {
    let suite = std::env::var_os("MCP_EVAL_CONFORMANCE").map(PathBuf::from);
    let suite = suite.filter(|it| it.exists());
    if suite.is_none() {
        let why = "MCP_EVAL_CONFORMANCE names no copy of the npm package @modelcontextprotocol/conformance";
        skipped("the conformance suite was not run", why);
    }
    let node = std::env::var_os("MCP_EVAL_NODE").unwrap_or_else(|| "node".into());
    Some((node, suite?))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn all_server_scenarios_of_the_conformance_suite_pass() {
    let Some((node, suite)) = suite() else { return };
    let project = Project::new();
    let declared = root().join("tests/fixtures/mock/conformance.yaml");
    for (revision, required) in [("2025-11-25", 30), ("2026-07-28", 37)] {
        let served = Served::start(&project, &[declared.to_str().unwrap()]);
        let mut command = Command::new(&node);
        command
            .arg(&suite)
            .args(["server", "--url", &served.url, "--requirements", revision])
            .current_dir(project.path(""));
        let ran = ran(&mut command);
        assert_eq!(ran.code, 0, "{revision}: {ran:#?}");
        // What is run and not required, such as extensions, is listed once more, indented.
        let all = ran.all();
        let passed = |start: &str| all.lines().filter(|it| it.starts_with(start)).count();
        let passed = passed("✓") - passed("  ✓");
        assert!(passed >= required, "{revision}: {passed} passed: {ran:#?}");
    }
}

/// Those of the suite that are not about OAuth: 7 of the 32 that 2026-07-28 requires, and four of the revision before.
#[test]
#[ignore = "left to .ci/run, which has the time"]
fn client_scenarios_of_the_conformance_suite_pass() {
    let Some((node, suite)) = suite() else { return };
    let project = Project::new();
    let client = root().join("tests/fixtures/conformance_client.sh");
    for (protocol, revision, scenarios) in [
        (
            "auto",
            "2026-07-28",
            &[
                "tools_call",
                "request-metadata",
                "sep-2322-client-request-state",
                "http-standard-headers",
                "http-custom-headers",
                "http-invalid-tool-headers",
                "json-schema-ref-no-deref",
            ][..],
        ),
        (
            "legacy",
            "2025-11-25",
            &[
                "initialize",
                "tools_call",
                "elicitation-sep1034-client-defaults",
                "sse-retry",
            ],
        ),
    ] {
        for scenario in scenarios {
            let mut command = Command::new(&node);
            command
                .arg(&suite)
                .args(["client", "--scenario", scenario])
                .args(["--spec-version", revision, "--command"])
                .arg(&client)
                .env("PROGRAM", env!("CARGO_BIN_EXE_mcp-eval"))
                .env("PROTOCOL", protocol)
                .current_dir(project.path(""));
            let ran = ran(&mut command);
            assert_eq!(ran.code, 0, "{revision} {scenario}: {ran:#?}");
            ran.says(", 0 failed, 0 warnings");
        }
    }
}
