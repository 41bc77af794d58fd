//! The official conformance suite, against a declaration.

use std::path::PathBuf;
use std::process::Command;

use super::client::Served;
use crate::common::{Project, ran, root, skipped};

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn all_server_scenarios_of_the_conformance_suite_pass() {
    let suite = std::env::var_os("MCP_EVAL_CONFORMANCE").map(PathBuf::from);
    let Some(suite) = suite.filter(|it| it.exists()) else {
        let why = "MCP_EVAL_CONFORMANCE names no copy of the npm package @modelcontextprotocol/conformance";
        return skipped("the conformance suite was not run", why);
    };
    let node = std::env::var_os("MCP_EVAL_NODE").unwrap_or_else(|| "node".into());
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
