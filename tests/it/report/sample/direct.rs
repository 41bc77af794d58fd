//! A proxy whose answers were held beside those of the servers behind it: answers cut, worded otherwise and passed on, tools that lost
//! something, are as they were, or are not listed.

use mcp_eval::model::{Cost, Direct, DirectCall, DirectTool, ScenarioResult, Status, SuiteResult};

use super::hostile::{ESCAPES, SCRIPT};
use super::{kept, scenario, searching, suite};

/// A `compare --direct` of two scenarios: a proxy that changes answers, and one that does not.
pub(crate) fn direct() -> SuiteResult {
    let cut = "cut after 50 of 200 characters";
    let mut calls = vec![
        call(1, "files", "read", &[cut]),
        call(1, "notes", "search", &[]),
        call(
            2,
            "files",
            "read",
            &[&format!("reworded: {SCRIPT} became {ESCAPES}")],
        ),
        call(2, "files", "read", &[]),
    ];
    calls[1].straight.ms = None;
    let lost = "`annotations` was lost";
    let tools = vec![
        tool("read", Some("files__read"), &[lost]),
        tool("write", Some("files__write"), &[lost]),
        tool(
            "list",
            Some("files__list"),
            &["`description` got more text"],
        ),
        tool("find", None, &[]),
    ];
    let changing = Direct::new(calls, tools);
    let calls = vec![call(1, "files", "read", &[])];
    let passing_on = Direct::new(calls, vec![tool("read", Some("files__read"), &[])]);
    suite(
        "run",
        vec![
            found("proxy/changing", "Read and search", changing),
            found("proxy/passing-on", "Read", passing_on),
        ],
    )
}

fn found(id: &str, name: &str, direct: Direct) -> ScenarioResult {
    scenario(id, name, Status::Passed).with(|it| {
        it.duration_ms = Some(31.0);
        it.current = Some(kept(searching("env vars", "4a1f")));
        it.direct = Some(Box::new(direct));
    })
}

fn call(call: usize, server: &str, upstream_tool: &str, findings: &[&str]) -> DirectCall {
    DirectCall {
        call,
        tool: format!("mcp__proxy__{server}__{upstream_tool}"),
        server: server.to_owned(),
        upstream_tool: upstream_tool.to_owned(),
        findings: findings.iter().map(|it| (*it).to_owned()).collect(),
        through: Cost {
            ms: Some(12.3),
            bytes: 340,
            tokens: 85,
        },
        straight: Cost {
            ms: Some(1.1),
            bytes: 310,
            tokens: 78,
        },
    }
}

fn tool(tool: &str, listed_as: Option<&str>, findings: &[&str]) -> DirectTool {
    DirectTool {
        server: "files".to_owned(),
        tool: tool.to_owned(),
        listed_as: listed_as.map(str::to_owned),
        findings: findings.iter().map(|it| (*it).to_owned()).collect(),
    }
}
