//! What five evaluators cost each of a thousand runs, beside the comparison of the same runs with their baselines.
//!
//! `cargo bench --bench evaluate`

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop here"
)]

use divan::{Bencher, black_box};
use mcp_eval::evaluate::{self, Subject};
use mcp_eval::model::rules::Rules;
use mcp_eval::model::{
    Answer, Catalogue, Digits, Ending, Git, Object, Outcome, Servers, Stamp, Step, ToolCall,
    Trajectory,
};
use mcp_eval::scenario_file::Scenario;
use mcp_eval::{scenario_file, score};
use serde_json::json;

/// How many runs there are, and how many calls each makes.
const RUNS: usize = 1000;
const CALLS: usize = 10;

const SCENARIO: &str = r#"
name: Bench
servers: { shop: { type: http, url: "http://localhost:1/mcp" } }
expected_trajectory: [{ tool: find }]
evaluators:
  - { type: text, regex: "item \\d+", at_least: 10 }
  - { type: exact-match, call: 1, value: { items: [{ id: 0 }] }, match: partial }
  - { type: tool-calls, required: [{ tool: find, args: { limit: 10 } }], prohibited: [wipe], max_extra: 0 }
  - { type: schema-validate, schema: { type: object, required: [items], properties: { items: { items: { required: [id, name] } } } } }
  - { type: trace-no-errors }
"#;

fn main() {
    divan::main();
}

fn scenario() -> Scenario {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bench.yaml"), SCENARIO).unwrap();
    let (found, _) = scenario_file::find(&[folder.path().to_owned()]);
    let loaded = scenario_file::load(&found, &scenario_file::Options::default());
    loaded.scenarios.into_iter().next().unwrap()
}

/// A run whose answers list twenty items each.
fn run(number: usize) -> Trajectory {
    let call = |call: usize| {
        let items = (0..20).map(|it| {
            let id = if call == 0 {
                it
            } else {
                number + call * 20 + it
            };
            json!({ "id": id, "name": format!("item {id}"), "price": 3 * it })
        });
        let answer = json!({ "items": items.collect::<Vec<_>>(), "total": 20 });
        let arguments = json!({ "query": format!("things of kind {call}"), "limit": 10 });
        Step::ToolCall(Box::new(ToolCall {
            server: Some("shop".to_owned()),
            tool: "find".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_else(Object::new),
            outcome: Outcome::Answer(Answer {
                content: vec![json!({ "type": "text", "text": answer.to_string() })],
                ..Answer::default()
            }),
            digits: Digits::new(),
            again: Vec::new(),
            began: None,
            start_ms: None,
            duration_ms: Some(3.0),
        }))
    };
    Trajectory {
        scenario: "bench".to_owned(),
        name: "Bench".to_owned(),
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
            scenarios: Git::Unknown {
                reason: "not asked".to_owned(),
            },
            source: None,
            image: None,
        },
        catalogue: Catalogue::default(),
        steps: (0..CALLS).map(call).collect(),
        ending: Ending::Completed,
        duration_ms: Some(100.0),
        learned: Vec::new(),
        repeated: None,
        as_said: None,
        upstream: None,
        bindings: Vec::new(),
        requests: Vec::new(),
    }
}

/// The reference: each run is compared with a baseline that is a little different.
#[divan::bench(sample_count = 10)]
fn compare_1000_runs(bencher: Bencher) {
    let runs: Vec<Trajectory> = (0..RUNS).map(run).collect();
    let baseline = run(1);
    bencher.bench(|| {
        for run in &runs {
            black_box(score::compare(&baseline, run, &Rules::default()));
        }
    });
}

#[divan::bench(sample_count = 10)]
fn five_evaluators_on_1000_runs(bencher: Bencher) {
    let scenario = scenario();
    let runs: Vec<Trajectory> = (0..RUNS).map(run).collect();
    bencher.bench(|| {
        for trajectory in &runs {
            let subject = Subject {
                scenario: &scenario,
                trajectory,
                said: None,
                around: None,
                is_repeated: false,
                before: None,
            };
            black_box(evaluate::evaluate_stored(subject));
        }
    });
}
