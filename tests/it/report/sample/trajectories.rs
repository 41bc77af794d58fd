//! Trajectories and what they are made of.

use jiff::Timestamp;
use mcp_eval::model::{
    Answer, Catalogue, Digits, Ending, Git, GitCommit, Object, Outcome, ServerCatalogue, Servers,
    Stamp, Step, Tool, ToolCall, Trajectory,
};
use serde_json::{Value, json};

pub(crate) fn trajectory(id: &str, name: &str, steps: Vec<Step>) -> Trajectory {
    Trajectory {
        scenario: id.to_owned(),
        name: name.to_owned(),
        scenario_hash: Some("6f1ed002ab5595859014ebf0951522d9".to_owned()),
        stamp: stamp(),
        catalogue: Catalogue {
            servers: vec![ServerCatalogue {
                client: <_>::default(),
                server: "proxy".to_owned(),
                info: Some(json!({"name": "mcpproxy", "version": "0.9.1"})),
                protocol_version: Some("2025-11-25".to_owned()),
                has_no_legacy: false,
                capabilities: None,
                instructions: None,
                tools: vec![Tool {
                    served: object(&json!({"name": "retrieve_tools"})),
                }],
                later: Vec::new(),
            }],
            ..Catalogue::default()
        },
        steps,
        ending: Ending::Completed,
        duration_ms: Some(11.0),
        learned: Vec::new(),
        repeated: None,
        as_said: None,
        upstream: None,
        bindings: Vec::new(),
        requests: Vec::new(),
    }
}

pub(crate) fn stamp() -> Stamp {
    Stamp {
        recorded_at: time("2026-11-01T10:00:00Z"),
        utc_offset: None,
        mcp_eval: "0.1.0".to_owned(),
        agent: "anthropic".to_owned(),
        agent_hash: None,
        agent_parts: std::collections::BTreeMap::new(),
        servers: Servers::Live,
        model: None,
        scenarios: Git::Unknown {
            reason: "not a git repository".to_owned(),
        },
        source: Some(commit("a1b2c3d", "main", "Release 0.9.1", false)),
        image: None,
    }
}

pub(crate) fn commit(short: &str, branch: &str, subject: &str, dirty: bool) -> Git {
    Git::Known(GitCommit {
        commit: format!("{short}{}", "0".repeat(33)),
        short: short.to_owned(),
        branch: Some(branch.to_owned()),
        describe: Some(format!("v0.9.1-3-g{short}")),
        subject: subject.to_owned(),
        committed_at: "2026-10-31T18:00:00+01:00".to_owned(),
        dirty: Some(dirty),
        remote: Some("git@github.com:example/proxy.git".to_owned()),
    })
}

pub(crate) fn user(text: &str) -> Step {
    Step::User {
        text: text.to_owned(),
    }
}

pub(crate) fn assistant(text: &str) -> Step {
    Step::Assistant {
        text: text.to_owned(),
    }
}

pub(crate) fn call(tool: &str, arguments: &Value, outcome: Outcome) -> Step {
    Step::ToolCall(Box::new(tool_call(tool, arguments, outcome)))
}

pub(crate) fn tool_call(tool: &str, arguments: &Value, outcome: Outcome) -> ToolCall {
    ToolCall {
        server: Some("proxy".to_owned()),
        tool: tool.to_owned(),
        arguments: object(arguments),
        outcome,
        digits: Digits::new(),
        again: Vec::new(),
        began: None,
        start_ms: None,
        duration_ms: None,
    }
}

pub(crate) fn timed(mut step: Step, milliseconds: f64) -> Step {
    if let Step::ToolCall(call) = &mut step {
        call.duration_ms = Some(milliseconds);
    }
    step
}

pub(crate) fn text_answer(text: &str) -> Outcome {
    Outcome::Answer(Answer {
        content: vec![json!({"type": "text", "text": text})],
        ..Answer::default()
    })
}

pub(crate) fn object(value: &Value) -> Object {
    value.as_object().unwrap().clone()
}

pub(crate) fn time(rfc3339: &str) -> Timestamp {
    rfc3339.parse().unwrap()
}
