//! A proxy seen from both of its sides: the calls that the servers behind it received, in all the ways that they can differ.

use mcp_eval::model::reason::{Reason, ReasonKind, Why};
use mcp_eval::model::{
    ArgumentDifference, Band, Catalogue, Change, ChangeKind, Comparison, Failure, FailureKind,
    Header, Outcome, PassedOn, ScenarioResult, Status, SuiteResult, Text, ToolCall, Trajectory,
    Upstream, UpstreamCall, UpstreamHeader, UpstreamLane, UpstreamRow, Verdict, What, When,
};
use serde_json::{Value, json};

use super::comparisons::{comparison, pair, parameter, reason, request, same_response};
use super::hostile::{ESCAPES, OVERRIDE, SCRIPT};
use super::trajectories::{call, text_answer, tool_call, trajectory, user};
use super::{kept, scenario, suite};

/// A `compare` of a proxy whose agent's side is the same, and whose other side is not, or is.
pub(crate) fn behind() -> SuiteResult {
    suite("compare", vec![otherwise(), alike()])
}

/// Every kind of difference: a write made twice, a note with another text, a search that is not made any more, a header passed on.
fn otherwise() -> ScenarioResult {
    let row = |baseline, current| UpstreamRow::new(baseline, current, true);
    let upstream = Upstream {
        rows: vec![
            UpstreamRow {
                effect: false,
                ..row(Some(1), Some(1))
            },
            UpstreamRow {
                headers: vec![header("authorization", None, Some("Bearer <secret:token>"))],
                ..row(Some(2), Some(2))
            },
            UpstreamRow {
                fails: true,
                ..row(None, Some(3))
            },
            UpstreamRow {
                differences: vec![
                    difference("/text", Some("buy one lamp"), Some("buy two lamps"), false),
                    difference("/title", Some("Shopping list"), Some("List"), true),
                    difference("/tags/1", None, Some("home"), false),
                ],
                answered_otherwise: true,
                fails: true,
                ..row(Some(3), Some(4))
            },
            UpstreamRow {
                effect: false,
                ..row(Some(4), None)
            },
        ],
        headers: vec![header("x-tenant", Some("acme"), Some("acme-2"))],
    };
    let reasons = vec![
        upstream_reason(1, "`files` received `write` twice", None),
        upstream_reason(
            2,
            "`notes` received `add` with a different `text`",
            Some(("buy one lamp", "buy two lamps")),
        ),
    ];
    let mut changes = vec![
        change(1, "`files` received `write` twice", true),
        Change {
            was: Some("buy one lamp".to_owned()),
            now: Some("buy two lamps".to_owned()),
            ..change(2, "`notes` received `add` with a different `text`", true)
        },
        change(2, "`notes` did not receive `search` any more", false),
    ];
    changes.push(Change {
        baseline: None,
        current: None,
        tool: None,
        was: Some("acme".to_owned()),
        now: Some("acme-2".to_owned()),
        what: What::Heard {
            when: None,
            said: "`x-tenant` is passed on to `files` with a different value".to_owned(),
        },
        ..change(
            1,
            "`x-tenant` is passed on to `files` with a different value",
            false,
        )
    });
    let search = upstream_call(Some(2), "notes", "search", &json!({ "query": "lamp" }));
    let note = |text: &str, title: &str, tags: &[&str], answer: &str| UpstreamCall {
        call: ToolCall {
            outcome: text_answer(answer),
            ..upstream_call(
                Some(2),
                "notes",
                "add",
                &json!({ "text": text, "title": title, "tags": tags }),
            )
            .call
        },
        ..upstream_call(Some(2), "notes", "add", &json!({}))
    };
    let before = vec![
        listing(),
        writing(&[]),
        note("buy one lamp", "Shopping list", &["shop"], "kept as note 7"),
        search,
    ];
    let now = vec![
        listing(),
        writing(&["authorization"]),
        writing(&["authorization"]),
        note("buy two lamps", "List", &["shop", "home"], "kept as note 8"),
    ];
    scenario("proxy/otherwise", "Notes through a proxy", Status::Failed).with(|it| {
        it.duration_ms = Some(20.0);
        it.baseline = Some(kept(proxied(before, "acme")));
        it.current = Some(kept(proxied(now, "acme-2")));
        it.comparison = Some(Comparison {
            rows: both_calls(),
            changes,
            upstream: Some(upstream),
            verdict: Verdict {
                passed: false,
                reasons,
                warnings: Vec::new(),
            },
            ..comparison(1.0, Band::Degraded)
        });
    })
}

/// The same with nothing that differs: a write made twice on either side.
fn alike() -> ScenarioResult {
    let calls = vec![listing(), writing(&[]), writing(&[])];
    let row = |number| UpstreamRow::new(Some(number), Some(number), number > 1);
    scenario("proxy/alike", "The same through a proxy", Status::Passed).with(|it| {
        it.duration_ms = Some(20.0);
        it.baseline = Some(kept(proxied(calls.clone(), "acme")));
        it.current = Some(kept(proxied(calls, "acme")));
        it.comparison = Some(Comparison {
            rows: both_calls(),
            upstream: Some(Upstream {
                rows: (1..=3).map(row).collect(),
                headers: Vec::new(),
            }),
            verdict: Verdict {
                passed: true,
                reasons: Vec::new(),
                warnings: Vec::new(),
            },
            ..comparison(1.0, Band::Good)
        });
    })
}

/// The upstream calls of a search, for a run that is compared with nothing.
pub(crate) fn searched() -> UpstreamLane {
    UpstreamLane {
        calls: vec![
            listing(),
            finding(no_answer()),
            finding(text_answer("printEnv")),
            finding(text_answer("printEnv")),
            UpstreamCall {
                call: ToolCall {
                    outcome: no_answer(),
                    ..upstream_call(Some(2), "cache", "get", &json!({ "key": "k1" })).call
                },
                ..upstream_call(Some(2), "cache", "get", &json!({}))
            },
        ],
        headers: vec![passed_on("x-tenant", "acme")],
        ..UpstreamLane::default()
    }
}

/// A search that is made again until it is answered.
fn finding(outcome: Outcome) -> UpstreamCall {
    let made = upstream_call(Some(1), "index", "find", &json!({ "text": "env" }));
    UpstreamCall {
        call: ToolCall {
            outcome,
            ..made.call
        },
        headers: vec![sent("x-trace", "t-1")],
        ..made
    }
}

fn no_answer() -> Outcome {
    Outcome::Failure(Failure {
        kind: FailureKind::Timeout,
        message: "no answer after 2 s".to_owned(),
        code: None,
        data: None,
    })
}

/// What a hostile server behind a proxy, and a hostile proxy, may have made of one call.
pub(crate) fn hostile_lane() -> UpstreamLane {
    let outside = format!("{SCRIPT} {ESCAPES} {OVERRIDE}");
    let call = |cause| UpstreamCall {
        cause,
        call: ToolCall {
            outcome: text_answer(&outside),
            ..upstream_call(
                cause,
                SCRIPT,
                &outside,
                &json!({ "<img src=x onerror=alert(6)>": outside }),
            )
            .call
        },
        headers: vec![sent(SCRIPT, &outside)],
    };
    UpstreamLane {
        catalogue: Catalogue::default(),
        calls: vec![call(None), call(Some(1)), call(Some(1))],
        headers: vec![PassedOn {
            server: SCRIPT.to_owned(),
            name: ESCAPES.to_owned(),
            value: outside.clone(),
        }],
        ..UpstreamLane::default()
    }
}

/// The comparison of a hostile lane with itself, every text in it as hostile.
pub(crate) fn hostile_comparison() -> Upstream {
    let outside = format!("{SCRIPT} {ESCAPES} {OVERRIDE}");
    let header = || UpstreamHeader {
        server: SCRIPT.to_owned(),
        name: outside.clone(),
        was: Some(outside.clone()),
        now: Some(SCRIPT.to_owned()),
    };
    let row = |baseline, current| UpstreamRow {
        differences: vec![ArgumentDifference {
            path: outside.clone(),
            was: Some(outside.clone()),
            now: Some(ESCAPES.to_owned()),
            worded: true,
        }],
        headers: vec![header()],
        answered_otherwise: true,
        fails: true,
        ..UpstreamRow::new(baseline, current, true)
    };
    Upstream {
        rows: vec![
            row(Some(1), Some(1)),
            row(Some(2), Some(2)),
            row(Some(3), None),
            row(None, Some(3)),
        ],
        headers: vec![header()],
    }
}

fn upstream_call(
    cause: Option<usize>,
    server: &str,
    tool: &str,
    arguments: &Value,
) -> UpstreamCall {
    UpstreamCall {
        cause,
        call: ToolCall {
            server: Some(server.to_owned()),
            ..tool_call(tool, arguments, text_answer("done"))
        },
        headers: Vec::new(),
    }
}

fn listing() -> UpstreamCall {
    upstream_call(None, "files", "list", &json!({}))
}

/// The write that the agent's first call becomes, with these headers of the agent's side.
fn writing(headers: &[&str]) -> UpstreamCall {
    let value = |name: &&str| sent(name, "Bearer open-sesame-3");
    UpstreamCall {
        headers: headers.iter().map(value).collect(),
        ..upstream_call(
            Some(1),
            "files",
            "write",
            &json!({ "path": "/list.txt", "text": "lamps" }),
        )
    }
}

fn sent(name: &str, value: &str) -> Header {
    Header {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn passed_on(name: &str, value: &str) -> PassedOn {
    PassedOn {
        server: "files".to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

/// A run with two calls of the agent, and these upstream calls.
fn proxied(calls: Vec<UpstreamCall>, tenant: &str) -> Trajectory {
    let through = |name: &str| {
        call(
            "call_tool_write",
            &json!({ "name": name }),
            text_answer("done"),
        )
    };
    Trajectory {
        upstream: Some(Box::new(UpstreamLane {
            calls,
            headers: vec![
                passed_on("user-agent", "mcp-eval"),
                passed_on("x-tenant", tenant),
            ],
            ..UpstreamLane::default()
        })),
        ..trajectory(
            "proxy/notes",
            "Notes through a proxy",
            vec![
                user("Write down what to buy."),
                through("files:write"),
                through("notes:add"),
            ],
        )
    }
}

fn both_calls() -> Vec<model::Row> {
    let same = |number| {
        let asked = request(1.0, vec![parameter("name")]);
        pair(number, number, true, asked, same_response(), 1.0)
    };
    vec![same(1), same(2)]
}

fn difference(
    path: &str,
    was: Option<&str>,
    now: Option<&str>,
    worded: bool,
) -> ArgumentDifference {
    ArgumentDifference {
        path: path.to_owned(),
        was: was.map(str::to_owned),
        now: now.map(str::to_owned),
        worded,
    }
}

fn header(name: &str, was: Option<&str>, now: Option<&str>) -> UpstreamHeader {
    UpstreamHeader {
        server: "files".to_owned(),
        name: name.to_owned(),
        was: was.map(str::to_owned),
        now: now.map(str::to_owned),
    }
}

fn upstream_reason(call: usize, what: &str, values: Option<(&str, &str)>) -> Reason {
    let why = Why::Heard {
        tool: Some("call_tool_write".to_owned()),
        when: Some(When::Behind),
        said: what.to_owned(),
    };
    Reason {
        expected: values.map(|(was, _)| was.to_owned()),
        got: values.map(|(_, now)| now.to_owned()),
        change: Some(call - 1),
        ..reason(ReasonKind::Upstream, Some(call), Some(call), why)
    }
}

fn change(call: usize, what: &str, fails: bool) -> Change {
    Change {
        kind: ChangeKind::Upstream,
        baseline: Some(call),
        current: Some(call),
        tool: Some("mcp__proxy__call_tool_write".to_owned()),
        label: None,
        path: None,
        what: What::Heard {
            when: Some(When::Behind),
            said: what.to_owned(),
        },
        text: Text::default(),
        was: None,
        now: None,
        fails,
        follows: None,
    }
}
