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
    let served = Served::start(&project, &[declared.to_str().unwrap()]);
    let mut command = Command::new(node);
    command
        .arg(suite)
        .args(["server", "--url", &served.url])
        .current_dir(project.path(""));
    let ran = ran(&mut command);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let passed = ran.all().lines().filter(|it| it.starts_with('✓')).count();
    assert!(passed >= 30, "{passed} scenarios passed: {ran:#?}");
    ran.says(", 0 failed");
}
