//! One sample result for all reports: every status, every kind of row, and texts that mean harm.

mod adding;
mod behind;
mod changed;
mod comparisons;
mod direct;
mod hostile;
mod repeated;
mod trajectories;

use std::sync::Arc;

use mcp_eval::model::{
    Band, Comparison, Ending, Learned, Loss, LossOf, NotRun, Problem, Redacted, Row,
    ScenarioResult, Status, SuiteResult, Text, Trajectory, Variation, Varying, Verdict,
};
use mcp_eval::published::result::{Gate, ResultDocument};
use mcp_eval::redact::Redactor;
use serde_json::json;

use adding::failed;
pub(crate) use behind::behind;
use behind::searched;
pub(crate) use changed::changed;
use comparisons::{check, comparison, pair, parameter, request, same_response, words_request};
pub(crate) use direct::direct;
use hostile::{ESCAPES, hostile};
pub(crate) use repeated::repeated;
pub(crate) use trajectories::text_answer;
use trajectories::{assistant, call, commit, time, timed, trajectory, user};

/// A `compare` of seven scenarios.
pub(crate) fn compared() -> SuiteResult {
    suite(
        "compare",
        vec![
            passed(),
            failed(),
            hostile(),
            unreachable(),
            timed_out(),
            skipped(),
            changed(12),
        ],
    )
}

/// A `record` of one scenario.
pub(crate) fn recorded() -> SuiteResult {
    let mut scenario = scenario("tools/search", "Search tools", Status::Recorded);
    scenario.user_intent = Some("Find tools for environment variables".to_owned());
    scenario.duration_ms = Some(31.0);
    scenario.notes = vec![
        "call 2 was not expected: mcp__proxy__read_cache".to_owned(),
        "2 takes; 1 place varied".to_owned(),
    ];
    scenario.current = Some(kept(Trajectory {
        upstream: Some(Box::new(searched())),
        ..searching("environment variables", "4a1f")
    }));
    suite("record", vec![scenario])
}

/// A `run` of one scenario: the left side is what it expects.
pub(crate) fn ran() -> SuiteResult {
    let mut scenario = scenario("tools/search", "Search tools", Status::Failed);
    scenario.duration_ms = Some(31.0);
    scenario.checks = vec![
        check("printEnv", true, ""),
        check(
            "tool_never_called: read_cache",
            false,
            "call 2 is `mcp__proxy__read_cache`",
        ),
    ];
    scenario.baseline = Some(kept(searching("environment variables", "4a1f")));
    // What is expected says nothing of upstream calls.
    scenario.current = Some(kept(Trajectory {
        upstream: Some(Box::new(searched())),
        ..searching("env vars", "4a1f")
    }));
    scenario.comparison = Some(Comparison {
        rows: vec![
            pair(1, 1, false, words_request(), same_response(), 0.533),
            Row::Missing {
                baseline: 2,
                effect: false,
            },
            Row::Extra {
                current: 2,
                effect: false,
            },
        ],
        ..comparison(0.178, Band::Broken)
    });
    suite("run", vec![scenario])
}

/// One result of each kind.
pub(crate) fn all() -> [SuiteResult; 6] {
    [
        compared(),
        recorded(),
        ran(),
        repeated(),
        behind(),
        direct(),
    ]
}

/// A trajectory as a result holds it.
pub(crate) fn kept(trajectory: Trajectory) -> Arc<Redacted<Trajectory>> {
    Arc::new(Redactor::default().trajectory(trajectory))
}

/// The document of a result, as it leaves the program.
pub(crate) fn published(suite: &SuiteResult) -> ResultDocument {
    report::document::of(&Redactor::default().suite(suite.clone()))
}

/// The document as a command would complete it.
pub(crate) fn document(suite: &SuiteResult) -> ResultDocument {
    let mut document = published(suite).with_gate(Gate {
        threshold: None,
        exit_code: 1,
        name: "gate_failed".to_owned(),
        sentence: "1 scenario failed".to_owned(),
        strict_statistics: false,
        strict: false,
    });
    for scenario in &mut document.scenarios {
        let file = |side: &str| Some(format!("trajectories/{}.{side}.json", scenario.id));
        let (before, now) = (file("baseline"), file("current"));
        if let Some(side) = &mut scenario.baseline {
            side.file = before;
        }
        if let Some(side) = &mut scenario.current {
            side.file = now;
        }
    }
    document
}

fn suite(command: &str, scenarios: Vec<ScenarioResult>) -> SuiteResult {
    SuiteResult {
        run_id: "20261120-192208-7f3a".to_owned(),
        command: command.to_owned(),
        mcp_eval: "0.1.0".to_owned(),
        started_at: time("2026-11-20T19:22:08Z"),
        duration_ms: 4321.0,
        git: commit("9c2e1d4", "main", "Pin the proxy's version", false),
        interrupted: false,
        called: None,
        selected: scenarios
            .iter()
            .filter(|it| it.status != Status::Skipped)
            .count(),
        scenarios,
    }
}

pub(crate) fn scenario(id: &str, name: &str, status: Status) -> ScenarioResult {
    ScenarioResult::new(id, name, format!("scenarios/{id}.yaml"), status)
}

fn passed() -> ScenarioResult {
    let baseline = Trajectory {
        learned: vec![Learned {
            call: 1,
            takes: 2,
            varies: vec![Varying::new(
                "/content/0/json/request_id".to_owned(),
                Variation::SameType,
            )],
            ..Learned::default()
        }],
        ..searching("environment variables", "4a1f")
    };
    scenario("tools/search", "Search tools", Status::Passed).with(|it| {
        it.tags = vec!["search".to_owned(), "read".to_owned()];
        it.user_intent = Some("Find tools for environment variables".to_owned());
        it.description = Some("The proxy's own search, and a page of what it cached.".to_owned());
        it.duration_ms = Some(12.3);
        it.checks = vec![check("printEnv", true, "")];
        it.baseline = Some(kept(baseline));
        it.current = Some(kept(searching("env vars", "77b0")));
        it.comparison = Some(Comparison {
            rows: vec![
                pair(1, 1, false, words_request(), same_response(), 0.9),
                pair(
                    2,
                    2,
                    false,
                    request(1.0, vec![parameter("key")]),
                    same_response(),
                    1.0,
                ),
            ],
            losses: vec![Loss {
                text: Text::default(),
                points: 0.05,
                baseline: Some(1),
                current: Some(1),
                tool: Some("mcp__proxy__retrieve_tools".to_owned()),
                label: None,
                path: Some("arguments/query".to_owned()),
                expected: Some("environment variables".to_owned()),
                got: Some("env vars".to_owned()),
                of: LossOf::Answer(
                    "words in common; a read that returned the same counts at least 0.9".to_owned(),
                ),
            }],
            verdict: Verdict {
                passed: true,
                reasons: Vec::new(),
                warnings: Vec::new(),
            },
            ..comparison(0.95, Band::Good)
        });
    })
}

fn unreachable() -> ScenarioResult {
    scenario("servers/list", "List quarantined servers", Status::Error).with(|it| {
        it.problem = Some(Problem {
            record: None,
            line: None,
            message: "server `proxy` exited before it answered `initialize` (exit code 2)"
                .to_owned(),
            hint: Some("start it by hand: mcpproxy serve --config config.json".to_owned()),
            details: vec![
                "proxy: reading config.json".to_owned(),
                format!("proxy: {ESCAPES} no such file"),
            ],
        });
        it.duration_ms = Some(48.0);
    })
}

fn timed_out() -> ScenarioResult {
    let mut current = searching("environment variables", "0000");
    current.ending = Ending::TimedOut {
        message: "no end after 2 s".to_owned(),
    };
    scenario(
        "tools/slow",
        "工具搜索 – a name in wide characters",
        Status::Timeout,
    )
    .with(|it| {
        it.problem = Some(Problem {
            record: None,
            line: None,
            message: "the scenario did not end within its timeout of 2 s".to_owned(),
            hint: None,
            details: Vec::new(),
        });
        it.duration_ms = Some(2000.4);
        it.current = Some(kept(current));
    })
}

fn skipped() -> ScenarioResult {
    scenario("tools/later", "Not yet", Status::Skipped).with(|it| {
        it.problem = Some(Problem {
            record: None,
            line: None,
            message: "disabled in the scenario file".to_owned(),
            hint: None,
            details: Vec::new(),
        });
        it.not_run = Some(NotRun::Disabled);
    })
}

pub(crate) fn searching(query: &str, request_id: &str) -> Trajectory {
    let found = json!({
        "tools": [{"name": "printEnv", "server": "everything", "score": 0.82}],
        "total": 1,
        "request_id": request_id,
    });
    trajectory(
        "tools/search",
        "Search tools",
        vec![
            user("Find tools for environment variables"),
            timed(
                call(
                    "retrieve_tools",
                    &json!({ "query": query }),
                    text_answer(&found.to_string()),
                ),
                3.2,
            ),
            call(
                "read_cache",
                &json!({"key": "k1"}),
                text_answer("page 1 of 1"),
            ),
            assistant("`printEnv` of server `everything` prints them."),
        ],
    )
}
