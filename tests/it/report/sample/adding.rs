//! The scenario that fails in every way a comparison can: other arguments, other answers, missing and extra calls.

use mcp_eval::model::reason::{Answered, Reason, ReasonKind, Why};
use mcp_eval::model::{
    Answer, Band, Comparison, Difference, Drift, Edit, ExecutionStatus, ExperimentChange,
    ExperimentPart, Failure, FailureKind, Loss, Outcome, ParameterScore, ResponseScore, Row,
    ScenarioResult, SchemaChange, SlowerCall, Stamp, Status, Steady, Step, Text, ToolCall,
    ToolChange, Trajectory, Verdict,
};
use serde_json::json;

use super::comparisons::{check, comparison, loss, pair, parameter, reason, request, scored};
use super::kept;
use super::scenario;
use super::trajectories::{
    assistant, call, commit, stamp, text_answer, time, timed, tool_call, trajectory, user,
};

pub(crate) fn failed() -> ScenarioResult {
    scenario("servers/add", "Add a server", Status::Failed).with(|it| {
        it.tags = vec!["effect".to_owned()];
        it.user_intent = Some("Add the weather server and show me the list of servers".to_owned());
        it.duration_ms = Some(1340.0);
        it.checks = vec![check(
            "weather",
            false,
            "the text appears in no message, argument or answer",
        )];
        it.experiment_changes = vec![
            experiment_change(ExperimentPart::Model, ["claude-opus-5", "claude-sonnet-5"]),
            ExperimentChange {
                part: Some("the user's message".to_owned()),
                ..experiment_change(
                    ExperimentPart::Scenario,
                    ["Add the server", "Add the weather server"],
                )
            },
        ];
        it.notes = vec!["the server was slow to start".to_owned()];
        it.baseline = Some(kept(adding_before()));
        it.current = Some(kept(adding_now()));
        it.comparison = Some(adding());
    })
}

pub(crate) fn adding() -> Comparison {
    Comparison {
        baseline_status: ExecutionStatus::Success,
        current_status: ExecutionStatus::Partial,
        rows: vec![
            pair(
                1,
                1,
                true,
                request(1.0, vec![parameter("name"), parameter("enabled")]),
                renamed_response(),
                0.45,
            ),
            pair(
                2,
                2,
                false,
                request(
                    0.765,
                    vec![
                        scored("limit", 0.9, "number as text"),
                        scored("filter", 0.5, "object"),
                        ParameterScore {
                            similarity: None,
                            ..scored("trace", 1.0, "ignore")
                        },
                        scored("verbose", 0.0, "added"),
                    ],
                ),
                error_response(),
                0.18,
            ),
            Row::Missing {
                baseline: 3,
                effect: true,
            },
            Row::Extra {
                current: 3,
                effect: false,
            },
        ],
        losses: vec![
            loss(
                0.184,
                1,
                "response/content/0/json/id",
                "renamed key, capped at 0.5",
            ),
            loss(0.273, 2, "response", "became an error"),
            Loss {
                current: None,
                tool: Some("mcp__proxy__enable_server".to_owned()),
                path: None,
                ..loss(0.333, 3, "", "a call without a partner counts 0")
            },
            Loss {
                baseline: None,
                current: None,
                tool: None,
                path: None,
                ..loss(0.042, 0, "", "the run went from success to partial: × 0.8")
            },
        ],
        drift: vec![
            Drift {
                server: "proxy".to_owned(),
                tool: "list_servers".to_owned(),
                what: ToolChange::Input(SchemaChange {
                    parameter: "limit".to_owned(),
                    detail: "became a string".to_owned(),
                    has_values: false,
                }),
                text: Text::default(),
                breaking: true,
                used: true,
                refused: vec![2],
                path: "inputSchema/properties/limit".to_owned(),
                was: Some(r#"{"type":"integer"}"#.to_owned()),
                now: Some(r#"{"type":"string"}"#.to_owned()),
            },
            Drift {
                server: "proxy".to_owned(),
                tool: "ping".to_owned(),
                what: ToolChange::New,
                text: Text::default(),
                breaking: false,
                used: false,
                refused: Vec::new(),
                path: String::new(),
                was: None,
                now: None,
            },
        ],
        slower: vec![SlowerCall {
            baseline: 1,
            current: 1,
            baseline_ms: 40.0,
            current_ms: 1200.0,
        }],
        verdict: Verdict {
            passed: false,
            reasons: vec![
                Reason {
                    tool: Some("mcp__proxy__add_server".to_owned()),
                    expected: Some(r#"{"added":true,"id":"weather"}"#.to_owned()),
                    got: Some(r#"{"added":true,"server_id":"weather"}"#.to_owned()),
                    ..reason(
                        ReasonKind::ServerRegression,
                        Some(1),
                        Some(1),
                        Why::AnsweredOtherwise(Answered::Broke {
                            path: "/content/0/json/id".to_owned(),
                            edit: Edit::Renamed("server_id".to_owned()),
                            steady: Steady::Unknown,
                            more: 0,
                        }),
                    )
                },
                Reason {
                    tool: Some("mcp__proxy__list_servers".to_owned()),
                    cause: Some("parameter `limit` of `list_servers` became a string".to_owned()),
                    ..reason(
                        ReasonKind::ServerRegression,
                        Some(2),
                        Some(2),
                        Why::Failed("index is not ready".to_owned()),
                    )
                },
                Reason {
                    tool: Some("mcp__proxy__enable_server".to_owned()),
                    ..reason(ReasonKind::EffectChange, Some(3), None, Why::EffectNotMade)
                },
                reason(ReasonKind::Threshold, None, None, Why::BelowThreshold(None)),
            ],
            warnings: vec![Reason {
                tool: Some("mcp__proxy__add_server".to_owned()),
                ..reason(ReasonKind::Slower, Some(1), Some(1), Why::Slower)
            }],
        },
        variant: 2,
        ..comparison(0.168, Band::Broken)
    }
}

pub(crate) fn adding_before() -> Trajectory {
    let text = json!({"added": true, "id": "weather", "at": "2026-11-01T10:00:00Z"}).to_string();
    trajectory(
        "servers/add",
        "Add a server",
        vec![
            user("Add the weather server and show me the list of servers"),
            timed(
                call(
                    "add_server",
                    &json!({"name": "weather", "enabled": true}),
                    text_answer(&text),
                ),
                40.0,
            ),
            Step::ToolCall(Box::new(ToolCall {
                server: None,
                ..tool_call(
                    "TodoWrite",
                    &json!({"todos": ["list the servers"]}),
                    text_answer("ok"),
                )
            })),
            assistant("The server is added. Let me list all servers."),
            call(
                "list_servers",
                &json!({"limit": 10, "filter": {"state": "ready", "tags": ["a", "b"]}, "trace": "t-1"}),
                Outcome::Answer(Answer {
                    content: vec![
                        json!({"type": "text", "text": r#"{"servers":["weather"]}"#}),
                        json!({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}),
                        json!({"type": "resource_link", "uri": "file:///servers.json", "name": "servers"}),
                    ],
                    structured_content: Some(json!({"servers": ["weather"]})),
                    ..Answer::default()
                }),
            ),
            call(
                "enable_server",
                &json!({"name": "weather"}),
                text_answer("enabled"),
            ),
            assistant("Done: weather is enabled."),
        ],
    )
}

pub(crate) fn adding_now() -> Trajectory {
    let text =
        json!({"added": true, "server_id": "weather", "at": "2026-11-20T19:22:08Z"}).to_string();
    Trajectory {
        stamp: Stamp {
            recorded_at: time("2026-11-20T19:22:09Z"),
            source: Some(commit(
                "51c0ffe",
                "rework-ids",
                "Call ids what they are",
                true,
            )),
            ..stamp()
        },
        ..trajectory(
            "servers/add",
            "Add a server",
            vec![
                user("Add the weather server and show me the list of servers"),
                timed(
                    call(
                        "add_server",
                        &json!({"name": "weather", "enabled": true}),
                        text_answer(&text),
                    ),
                    1200.0,
                ),
                assistant("The server is added. Let me list all servers."),
                call(
                    "list_servers",
                    &json!({"limit": "10", "filter": {"state": "any", "tags": ["a", "b"]}, "trace": "t-2", "verbose": null}),
                    Outcome::Failure(Failure {
                        kind: FailureKind::Rpc,
                        message: "Invalid params: unknown parameter `verbose`".to_owned(),
                        code: Some(-32602),
                        data: Some(json!({"parameter": "verbose"})),
                    }),
                ),
                call(
                    "retrieve_tools",
                    &json!({"query": "enable"}),
                    Outcome::Answer(Answer {
                        is_error: true,
                        content: vec![json!({"type": "text", "text": "index is not ready"})],
                        ..Answer::default()
                    }),
                ),
            ],
        )
    }
}

pub(crate) fn renamed_response() -> ResponseScore {
    ResponseScore {
        similarity: 0.45,
        differences: vec![Difference {
            breaks: Some(Steady::Unknown),
            expected: Some("\"weather\"".to_owned()),
            similarity: 0.5,
            loss: 0.55,
            ..Difference::shown(
                "/content/0/json/id".to_owned(),
                Edit::Renamed("server_id".to_owned()),
            )
        }],
    }
}

pub(crate) fn error_response() -> ResponseScore {
    ResponseScore {
        similarity: 0.0,
        differences: vec![Difference {
            breaks: Some(Steady::Unknown),
            expected: Some("an answer".to_owned()),
            got: Some("JSON-RPC error -32602".to_owned()),
            similarity: 0.0,
            loss: 1.0,
            ..Difference::shown(String::new(), Edit::BecameError)
        }],
    }
}

fn experiment_change(what: ExperimentPart, [was, is]: [&str; 2]) -> ExperimentChange {
    ExperimentChange::new(what, Some(was.to_owned()), Some(is.to_owned()))
}
