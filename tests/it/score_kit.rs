//! Small trajectories for the tests of scoring, written down as JSON.
//!
//! A call is `{tool, args, reads, is_error, text | json | content, structured, start, ms}`; all but `tool` may be left out.
//! `tool` is a full name, `reads` becomes the tool's `readOnlyHint`.

use std::path::Path;

use mcp_eval::model::rules::Rules;
use mcp_eval::model::{
    Answer, Catalogue, Comparison, Digits, Ending, Git, Header, Object, Outcome, Pair, Row,
    ServerCatalogue, Servers, Stamp, Step, Tool, ToolCall, Trajectory, UpstreamCall, UpstreamLane,
};
use mcp_eval::score;
use serde_json::{Value, json};

/// The cases of one file under `tests/fixtures/scoring/`.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    document(file).as_array().unwrap().clone()
}

/// One file under `tests/fixtures/scoring/`.
pub(crate) fn document(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scoring");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The cases of one list of the verdicts that were set by hand.
pub(crate) fn truth(list: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scoring");
    let text = std::fs::read_to_string(folder.join("gate-truth.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all[list].as_array().unwrap().clone()
}

pub(crate) fn object(value: &Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// A completed run of these calls, with a catalogue made from them.
pub(crate) fn trajectory(calls: &[Value]) -> Trajectory {
    let mut servers: Vec<ServerCatalogue> = Vec::new();
    for call in calls {
        let (server, tool) = names(call);
        let at = servers.iter().position(|it| it.server == server);
        let at = at.unwrap_or_else(|| {
            servers.push(ServerCatalogue {
                server: server.clone(),
                ..ServerCatalogue::default()
            });
            servers.len() - 1
        });
        if servers[at].tools.iter().all(|it| it.name() != tool) {
            let reads = call["reads"].as_bool().unwrap_or(false);
            let listed = json!({"name": tool, "annotations": {"readOnlyHint": reads}});
            servers[at].tools.push(Tool {
                served: object(&listed),
            });
        }
    }
    Trajectory {
        catalogue: Catalogue {
            servers,
            ..Catalogue::default()
        },
        ..recorded(calls)
    }
}

/// The same without a catalogue, as an imported recording has none.
pub(crate) fn recorded(calls: &[Value]) -> Trajectory {
    let unknown = Git::Unknown {
        reason: "not asked".to_owned(),
    };
    Trajectory {
        scenario: "case".to_owned(),
        name: "Case".to_owned(),
        scenario_hash: None,
        stamp: Stamp {
            recorded_at: "2026-01-02T03:04:05Z".parse().unwrap(),
            utc_offset: None,
            mcp_eval: "0.0.0".to_owned(),
            agent: "scripted".to_owned(),
            agent_hash: None,
            agent_parts: std::collections::BTreeMap::new(),
            servers: Servers::Live,
            model: None,
            scenarios: unknown,
            source: None,
            image: None,
        },
        catalogue: Catalogue::default(),
        steps: calls.iter().map(step).collect(),
        ending: Ending::Completed,
        duration_ms: None,
        learned: Vec::new(),
        repeated: None,
        as_said: None,
        upstream: None,
        bindings: Vec::new(),
        requests: Vec::new(),
    }
}

/// The same with what the servers behind the one under test received: calls with a `cause`, the number of the agent's call, and `headers`.
pub(crate) fn with_lane(trajectory: Trajectory, behind: &[Value]) -> Trajectory {
    let run = self::trajectory(behind);
    let calls = run.calls().zip(behind).map(|(call, behind)| UpstreamCall {
        cause: (behind["cause"].as_u64()).map(|it| usize::try_from(it).unwrap()),
        call: call.clone(),
        headers: (object(&behind["headers"]).iter())
            .map(|(name, value)| Header {
                name: name.clone(),
                value: value.as_str().unwrap().to_owned(),
            })
            .collect(),
    });
    let lane = UpstreamLane {
        calls: calls.collect(),
        catalogue: run.catalogue.clone(),
        ..UpstreamLane::default()
    };
    Trajectory {
        upstream: Some(Box::new(lane)),
        ..trajectory
    }
}

fn names(call: &Value) -> (String, String) {
    let full = call["tool"]
        .as_str()
        .unwrap()
        .strip_prefix("mcp__")
        .unwrap();
    let (server, tool) = full.split_once("__").unwrap();
    (server.to_owned(), tool.to_owned())
}

fn step(call: &Value) -> Step {
    let (server, tool) = names(call);
    Step::ToolCall(Box::new(ToolCall {
        server: Some(server),
        tool,
        arguments: object(&call["args"]),
        outcome: Outcome::Answer(answer(call)),
        digits: Digits::new(),
        again: Vec::new(),
        began: None,
        start_ms: call["start"].as_f64(),
        duration_ms: call["ms"].as_f64(),
    }))
}

pub(crate) fn answer(call: &Value) -> Answer {
    let text = |it: String| vec![json!({"type": "text", "text": it})];
    let content = if let Some(blocks) = call["content"].as_array() {
        blocks.clone()
    } else if let Some(it) = call["text"].as_str() {
        text(it.to_owned())
    } else if call["json"].is_null() {
        Vec::new()
    } else {
        text(call["json"].to_string())
    };
    Answer {
        is_error: call["is_error"].as_bool().unwrap_or(false),
        content,
        structured_content: call.get("structured").filter(|it| !it.is_null()).cloned(),
        ..Answer::default()
    }
}

/// Compares two lists of calls, each side with the catalogue of both.
pub(crate) fn compare(baseline: &[Value], current: &[Value], rules: &Rules) -> Comparison {
    score::compare(&trajectory(baseline), &trajectory(current), rules)
}

/// The only pair of a comparison.
pub(crate) fn only_pair(comparison: &Comparison) -> &Pair {
    match comparison.rows.as_slice() {
        [Row::Pair(pair)] => pair,
        other => panic!("expected one pair, got {other:?}"),
    }
}

/// The points between 1 and the overall score, and those that the losses explain, are the same.
pub(crate) fn assert_losses_add_up(comparison: &Comparison, case: &str) {
    let lost: f64 = comparison.losses.iter().map(|it| it.points).sum();
    let missing = 1.0 - comparison.scores.overall;
    assert!(
        (lost - missing).abs() < 1e-9,
        "{case}: lost {missing}, explained {lost}: {:#?}",
        comparison.losses
    );
}

/// Equal to six places.
pub(crate) fn assert_close(got: f64, expected: &Value, case: &str) {
    let expected = expected.as_f64().unwrap();
    assert!(
        (got - expected).abs() <= 1e-6,
        "{case}: expected {expected}, got {got}"
    );
}
