//! The servers behind the ones under test in a scenario: what is declared of them, and what criteria want of them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Project, small_proxy};
use crate::score_kit::trajectory;
use mcp_eval::evaluate::{Accepted, Basis, Checked, check_criteria};
use mcp_eval::model::{
    Failure, FailureKind, Header, Outcome, PassedOn, Step, Trajectory, UpstreamCall, UpstreamLane,
};
use mcp_eval::scenario_file::agent::Criterion;
use mcp_eval::scenario_file::servers::{Start, Transport};
use mcp_eval::scenario_file::{self, Loaded, Options, Scenario, Session, session_scenario};

/// A proxy that is started with the file `proxy.json`, and two servers behind it.
const SCENARIO: &str = r#"
name: s
config_file: proxy.json
servers:
  proxy:
    type: http
    url: "http://127.0.0.1:${port}/mcp"
    headers: { X-Key: "${KEY:-none}" }
    bearer_token_env: TOKEN
    start: { command: ./proxy, args: ["${port}", "${config_file}"], env: { TIME_URL: "${upstream.time.url}" } }
upstreams:
  weather: { type: mock, tool_timeout: 5s }
  time:
    type: http
    url: "http://127.0.0.1:${port}/mcp"
    start: { command: ./time, args: ["${port}"], env: { MODE: { value: fast, secret: true } } }
    headers: { X-More: { value: a, secret: true } }
    tap: true
  notes: { command: ../notes, args: [-v], cwd: work, env: { NOTES: { value: c, secret: true } }, tap: true }
mcp_interactions:
  weather: { tools: [{ name: forecast, responses: [{ content: rain }] }] }
expected_trajectory: [{ tool: search }]
"#;
const CONFIG: &str = r#"{ "mcpServers": { "a": { "url": "{{upstream.weather.url}}" }, "b": { "url": "{{ upstream.notes.url }}" } } }"#;

fn load(folder: &Path) -> Loaded {
    let (found, findings) = scenario_file::find(&[folder.to_owned()]);
    assert_eq!(findings, []);
    scenario_file::check(&found, &Options::default())
}

/// A folder with the scenario, and more lines in it.
fn folder(more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.yaml"), format!("{SCENARIO}{more}")).unwrap();
    fs::write(folder.path().join("proxy.json"), CONFIG).unwrap();
    folder
}

/// The scenario with these criteria.
fn wanting(criteria: &Value) -> Scenario {
    let folder = folder(&format!("success_criteria: {criteria}\n"));
    let loaded = load(folder.path());
    assert_eq!(loaded.findings, []);
    loaded.scenarios.into_iter().next().unwrap()
}

#[test]
fn upstreams_are_servers_like_others_and_not_among_those_of_the_agent() {
    let folder = folder("");
    let loaded = load(folder.path());
    assert_eq!(loaded.findings, []);
    let scenario = &loaded.scenarios[0];
    let servers: Vec<&str> = scenario.servers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(servers, ["proxy"], "the file is for the proxy");
    assert_eq!(scenario.config_file, Some(folder.path().join("proxy.json")));
    let [weather, time, notes] = &scenario.upstreams[..] else {
        panic!("{:?}", scenario.upstreams);
    };
    assert_eq!(
        (weather.name.as_str(), &weather.transport),
        ("weather", &Transport::Mock)
    );
    assert_eq!(weather.tool_timeout, Some(Duration::from_secs(5)));
    let Transport::Http { headers, start, .. } = &time.transport else {
        panic!("{time:?}");
    };
    assert_eq!(headers[..], [("X-More".to_owned(), "a".to_owned())]);
    let start: &Start = start.as_ref().unwrap();
    assert_eq!(start.args, ["${port}"]);
    assert_eq!(
        notes.transport,
        Transport::Stdio(Start {
            command: folder.path().join("../notes").display().to_string(),
            args: vec!["-v".to_owned()],
            env: vec![("NOTES".to_owned(), "c".to_owned())],
            cwd: Some(folder.path().join("work")),
        })
    );
    let marked = &scenario.redaction.marked;
    for name in ["X-More", "MODE", "NOTES"] {
        assert!(marked.iter().any(|it| it == name), "{name}: {marked:?}");
    }
    assert_eq!(
        scenario_file::upstream_url_name("weather"),
        "upstream.weather.url"
    );
}

#[test]
fn a_scenario_made_of_a_session_keeps_them_with_their_ways() {
    let folder = folder("");
    let (found, _) = scenario_file::find(&[folder.path().to_owned()]);
    let elsewhere = tempfile::tempdir().unwrap();
    let session = Session {
        name: "again".to_owned(),
        config_file: Some(folder.path().join("proxy.json")),
        ..Session::default()
    };
    let keep = |it: &str| it.to_owned();
    let text = session_scenario(Some(&found[0]), &session, elsewhere.path(), &keep).unwrap();
    fs::write(elsewhere.path().join("again.yaml"), text).unwrap();
    let loaded = load(elsewhere.path());
    assert_eq!(loaded.findings, []);
    let scenario = &loaded.scenarios[0];
    let before = &load(folder.path()).scenarios[0];
    assert_eq!(scenario.interactions, before.interactions);
    let [weather, time, notes] = &scenario.upstreams[..] else {
        panic!("{:?}", scenario.upstreams);
    };
    assert_eq!(*weather, before.upstreams[0]);
    let Transport::Http { start, headers, .. } = &time.transport else {
        panic!("{time:?}");
    };
    let above = elsewhere.path().join("..");
    let path = |it: &str| above.join(folder.path().file_name().unwrap()).join(it);
    let start = start.as_ref().unwrap();
    assert_eq!(Path::new(&start.command), path("time"));
    assert_eq!(headers.len(), 1);
    let Transport::Stdio(Start { command, cwd, .. }) = &notes.transport else {
        panic!("{notes:?}");
    };
    assert_eq!(Path::new(command), above.join("notes"));
    assert_eq!(*cwd, Some(path("work")));
}

#[test]
fn the_mock_of_an_upstream_can_be_served_by_itself() {
    let project = Project::new();
    project.file("scenarios/s.yaml", SCENARIO);
    project.file("scenarios/proxy.json", CONFIG);
    let serve = |name: &str| ["mock", "scenarios/s.yaml", "--server", name].map(str::to_owned);
    // A client that is gone ends it.
    project.expect(0, &serve("weather").each_ref().map(String::as_str));
    project
        .expect(2, &serve("time").each_ref().map(String::as_str))
        .says("weather");
    project
        .expect(0, &["list"])
        .says("proxy")
        .says_not("weather");
}

/// The calls that were received: `[server, tool, headers, the agent's call]`, with a catalogue of both servers.
fn received(calls: &[(&str, &str, &[&str], Option<usize>)]) -> UpstreamLane {
    let offered = [
        "mcp__weather__forecast",
        "mcp__weather__alerts",
        "mcp__time__now",
    ];
    let offered: Vec<Value> = offered.iter().map(|it| json!({ "tool": it })).collect();
    let all: Vec<Value> = calls
        .iter()
        .map(
            |(server, tool, ..)| json!({ "tool": format!("mcp__{server}__{tool}"), "text": "yes" }),
        )
        .collect();
    let made = trajectory(&all).steps.into_iter().zip(calls);
    UpstreamLane {
        catalogue: trajectory(&offered).catalogue,
        calls: made
            .map(|(step, (_, _, headers, cause))| {
                let Step::ToolCall(call) = step else {
                    panic!("{step:?}")
                };
                let headers = headers.iter();
                UpstreamCall {
                    cause: *cause,
                    call: *call,
                    headers: headers
                        .map(|it| Header {
                            name: (*it).to_owned(),
                            value: "v".to_owned(),
                        })
                        .collect(),
                }
            })
            .collect(),
        ..UpstreamLane::default()
    }
}

/// A run in which these calls were received.
fn run(lane: UpstreamLane) -> Trajectory {
    Trajectory {
        upstream: Some(Box::new(lane)),
        ..trajectory(&[json!({ "tool": "mcp__proxy__search" })])
    }
}

/// What became of one criterion: `met`, or what speaks against it.
fn judged(criterion: &Value, lane: UpstreamLane) -> String {
    said(&check_criteria(
        &wanting(&json!([criterion])),
        &run(lane),
        Basis::Nothing,
    ))
}

fn said(checked: &Checked) -> String {
    match (&checked.checks[..], &checked.impossible[..]) {
        ([it], []) if it.passed => "met".to_owned(),
        ([it], []) if it.fails() => it.message.clone(),
        ([], [it]) => {
            let meant = it.meant.as_ref();
            let meant = meant.map_or_else(String::new, |it| format!("; {it}?"));
            format!("impossible: {}{meant}", it.why)
        }
        other => panic!("{other:?}"),
    }
}

/// A criterion about the tool of `weather`, as `times` says.
fn forecast(tool: &str, times: Option<u32>) -> Value {
    let mut wanted = json!({ "server": "weather", "tool": tool });
    if let Some(times) = times {
        wanted["times"] = json!(times);
    }
    json!({ "upstream_called": wanted })
}

#[test]
fn criteria_are_shown_as_they_are_written() {
    let scenario = wanting(&json!([
        forecast("forecast", None),
        forecast("forecast", Some(0)),
        { "never_forwarded": ["Authorization", "x-key"] }
    ]));
    let [called, never, kept] = &scenario.success_criteria[..] else {
        panic!("{:?}", scenario.success_criteria);
    };
    assert_eq!(
        *called,
        Criterion::UpstreamCalled {
            server: "weather".to_owned(),
            tool: "forecast".to_owned(),
            times: None
        }
    );
    for (criterion, text) in [
        (
            called,
            "upstream_called: { server: weather, tool: forecast }",
        ),
        (
            never,
            "upstream_called: { server: weather, tool: forecast, times: 0 }",
        ),
        (kept, "never_forwarded: [Authorization, x-key]"),
    ] {
        assert_eq!(criterion.text(), text);
    }
}

#[test]
fn calls_behind_are_counted_by_server_and_tool() {
    let lane = || {
        received(&[
            ("weather", "forecast", &[], Some(1)),
            ("time", "forecast", &[], Some(1)),
            ("weather", "forecast", &[], Some(2)),
            ("weather", "alerts", &[], Some(2)),
        ])
    };
    let twice = "the tool was called 2 times: upstream calls 1, 3";
    for (wanted, expected) in [
        (forecast("forecast", None), "met"),
        (forecast("mcp__weather__forecast", None), "met"),
        (forecast("forecast", Some(2)), "met"),
        (forecast("forecast", Some(1)), twice),
        (forecast("forecast", Some(3)), twice),
        (forecast("forecast", Some(0)), twice),
    ] {
        assert_eq!(judged(&wanted, lane()), expected, "{wanted}");
    }
    let alerts = received(&[
        ("weather", "alerts", &[], Some(1)),
        ("time", "now", &[], Some(1)),
    ]);
    for (wanted, lane, expected) in [
        (
            None,
            alerts.clone(),
            "the tool was not called: `weather` received 1 other call",
        ),
        (
            Some(2),
            received(&[]),
            "the tool was not called: `weather` received no call at all",
        ),
        (Some(0), alerts, "met"),
        (
            Some(0),
            received(&[("weather", "forecast", &[], None)]),
            "the tool was called once: upstream call 1",
        ),
    ] {
        let wanted = forecast("forecast", wanted);
        assert_eq!(judged(&wanted, lane), expected, "{wanted}");
    }
}

/// The lane, in which `weather` offers no `forecast` any more.
fn without_forecast(mut lane: UpstreamLane) -> UpstreamLane {
    let servers = lane.catalogue.servers.iter_mut();
    servers.for_each(|it| it.tools.retain(|it| it.name() != "forecast"));
    lane
}

#[test]
fn a_tool_that_no_server_behind_offers_can_be_met_by_nothing() {
    let mut scenario = wanting(&json!([forecast("forecast", None)]));
    let mut check = |tool: &str, times, lane: UpstreamLane, basis: Basis<'_>| {
        scenario.success_criteria = vec![Criterion::UpstreamCalled {
            server: "weather".to_owned(),
            tool: tool.to_owned(),
            times,
        }];
        said(&check_criteria(&scenario, &run(lane), basis))
    };
    for times in [None, Some(0), Some(2)] {
        assert_eq!(
            check("forcast", times, received(&[]), Basis::Nothing),
            "impossible: `weather` offers no tool of that name; forecast?"
        );
        assert_eq!(
            check("now", times, received(&[]), Basis::Recording),
            "impossible: `weather` offers no tool of that name",
            "another server's tool"
        );
    }
    // Nobody has asked it for its tools, so these are not known.
    let unasked = UpstreamLane::default();
    assert_eq!(
        check("forcast", None, unasked.clone(), Basis::Nothing),
        "the tool was not called: `weather` received no call at all"
    );
    assert_eq!(check("forcast", Some(0), unasked, Basis::Nothing), "met");

    let before = run(received(&[]));
    let gone = without_forecast(received(&[]));
    let gone_since = check(
        "forecast",
        None,
        gone.clone(),
        Basis::Accepted(&before, Accepted::Baseline),
    );
    assert!(
        gone_since.starts_with("the tool was not called: `weather` does not offer it any more"),
        "{gone_since}"
    );
    let never = check(
        "forecast",
        Some(0),
        gone,
        Basis::Accepted(&before, Accepted::Baseline),
    );
    assert_eq!(never, "met");

    // A refused call of a tool that is not there is none that was made, but one that was tried.
    let mut refused = without_forecast(received(&[("weather", "forecast", &[], Some(1))]));
    refused.calls[0].call.outcome = Outcome::Failure(Failure {
        kind: FailureKind::Rpc,
        message: "unknown tool".to_owned(),
        code: Some(-32602),
        data: None,
    });
    let tried = check("forecast", None, refused.clone(), Basis::Nothing);
    assert!(tried.starts_with("impossible: "), "{tried}");
    assert_eq!(
        check("forecast", Some(0), refused, Basis::Nothing),
        "the tool was called once: upstream call 1"
    );
}

#[test]
fn headers_that_were_passed_on_are_reported_with_where_they_arrived() {
    let kept = json!({ "never_forwarded": ["Authorization", "x-key"] });
    let lane = received(&[
        ("weather", "forecast", &["accept"], Some(1)),
        ("time", "now", &["authorization", "x-key"], None),
        ("weather", "alerts", &["authorization"], Some(2)),
        ("weather", "alerts", &["authorization"], Some(2)),
        ("weather", "alerts", &["authorization"], Some(3)),
    ]);
    assert_eq!(
        judged(&kept, lane),
        "`Authorization` reached `weather` with upstream call 3 (`alerts`, for call 2) and with 2 more; \
         `Authorization` reached `time` with upstream call 2 (`now`, before call 1); \
         `x-key` reached `time` with upstream call 2 (`now`, before call 1)"
    );
    let others = received(&[("weather", "forecast", &["accept", "x-keys"], Some(1))]);
    assert_eq!(judged(&kept, others.clone()), "met");
    let shaken = |name: &str| UpstreamLane {
        headers: vec![PassedOn {
            server: "notes".to_owned(),
            name: name.to_owned(),
            value: "v".to_owned(),
        }],
        ..others.clone()
    };
    assert_eq!(judged(&kept, shaken("accept")), "met");
    assert_eq!(
        judged(&kept, shaken("x-key")),
        "`x-key` reached `notes` with what is not a call, such as the handshake"
    );
}

#[test]
fn where_nobody_listened_nothing_is_met() {
    let run = trajectory(&[json!({ "tool": "mcp__proxy__search" })]);
    for criterion in [
        forecast("forecast", None),
        forecast("forecast", Some(0)),
        json!({ "never_forwarded": ["x-key"] }),
    ] {
        let scenario = wanting(&json!([criterion]));
        for basis in [
            Basis::Nothing,
            Basis::Recording,
            Basis::Accepted(&run, Accepted::Baseline),
        ] {
            assert_eq!(
                said(&check_criteria(&scenario, &run, basis)),
                "impossible: in this run, calls behind the server under test were not recorded",
                "{criterion}"
            );
        }
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn a_proxy_that_calls_twice_and_passes_a_token_on_fails_its_criteria() {
    let project = Project::new();
    let scenario = json!({
        "name": "s",
        "config_file": "proxy.json",
        "servers": { "proxy": { "type": "http", "url": "http://127.0.0.1:${port}/mcp",
            "headers": { "Authorization": "Bearer tok-77aa31c9e05b42" },
            "start": { "command": small_proxy(), "args": ["${port}", "${config_file}"] } } },
        "upstreams": { "files": { "type": "mock" } },
        "mcp_interactions": { "files": { "tools": [{ "name": "read", "responses": [{ "content": "yes" }] }] } },
        "expected_trajectory": [{ "tool": "files__read" }],
        "success_criteria": [
            { "upstream_called": { "server": "files", "tool": "read", "times": 1 } },
            { "never_forwarded": ["AUTHORIZATION"] },
        ],
    });
    project.file("scenarios/s.yaml", scenario.to_string());
    let faults = |faults: &[&str]| {
        let config =
            json!({ "upstreams": { "files": "{{upstream.files.url}}" }, "faults": faults });
        project.file("scenarios/proxy.json", config.to_string());
    };
    faults(&[]);
    project.expect(0, &["run"]);
    project.expect(0, &["record"]);
    faults(&["twice=read", "forward=authorization"]);
    let ran = project.expect(1, &["run"]);
    ran.says("upstream_called: { server: files, tool: read, times: 1 }")
        .says("the tool was called 2 times: upstream calls 1, 2")
        .says("never_forwarded: [AUTHORIZATION]")
        .says("`AUTHORIZATION` reached `files` with upstream call 1 (`read`, for call 1) and with 1 more")
        .says_not("tok-77aa31c9e05b42");
    // With recorded servers, nobody stands behind anything.
    faults(&[]);
    project
        .expect(3, &["compare", "--servers", "recorded"])
        .says("success criterion `upstream_called: { server: files, tool: read, times: 1 }`: in this run, calls behind the server under test were not recorded")
        .says("`never_forwarded: [AUTHORIZATION]`: in this run, calls behind the server under test were not recorded");
}
