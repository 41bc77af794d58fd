//! The calls that the servers behind the one under test received, as baselines keep them: read as written, and refused where they cannot be.

use jiff::Timestamp;
use mcp_eval::model::{
    Answer, Catalogue, Digits, Ending, Failure, FailureKind, Git, Header, IrregularTool, Object,
    Outcome, PassedOn, Redacted, ServerCatalogue, Servers, Stamp, Step, Tool, ToolCall, Trajectory,
    UpstreamCall, UpstreamLane, VaryingArgument,
};
use mcp_eval::published::trajectory;
use mcp_eval::redact::scan::Scanner;
use mcp_eval::redact::{Redactor, Secrets};
use mcp_eval::store;
use proptest::prelude::*;
use serde_json::{Value, json};

/// How many calls the agent makes in the trajectories here.
const CALLS: usize = 3;

fn call(server: &str, tool: &str, arguments: &Value, outcome: Outcome) -> ToolCall {
    ToolCall {
        server: Some(server.to_owned()),
        tool: tool.to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        digits: Digits::new(),
        outcome,
        again: Vec::new(),
        began: None,
        start_ms: None,
        duration_ms: None,
    }
}

fn answer(text: &str) -> Outcome {
    Outcome::Answer(Answer {
        content: vec![json!({ "type": "text", "text": text })],
        ..Answer::default()
    })
}

/// A trajectory whose agent calls a proxy three times, and whose proxy calls this.
fn with(lane: Option<UpstreamLane>) -> Trajectory {
    let made = || {
        let call = call("proxy", "call", &json!({ "name": "write" }), answer("done"));
        Step::ToolCall(Box::new(call))
    };
    Trajectory {
        scenario: "s".to_owned(),
        name: "Write".to_owned(),
        scenario_hash: None,
        stamp: Stamp {
            recorded_at: Timestamp::UNIX_EPOCH,
            utc_offset: None,
            mcp_eval: "0.0.0".to_owned(),
            agent: "scripted".to_owned(),
            agent_hash: None,
            agent_parts: std::collections::BTreeMap::new(),
            servers: Servers::Live,
            model: None,
            scenarios: Git::Unknown {
                reason: "no folder".to_owned(),
            },
            source: None,
            image: None,
        },
        catalogue: Catalogue::default(),
        steps: (0..CALLS).map(|_| made()).collect(),
        ending: Ending::Completed,
        duration_ms: None,
        learned: Vec::new(),
        bindings: Vec::new(),
        requests: Vec::new(),
        repeated: None,
        as_said: None,
        upstream: lane.map(Box::new),
    }
}

fn kept(lane: Option<UpstreamLane>) -> Redacted<Trajectory> {
    Redactor::default().trajectory(with(lane))
}

/// A proxy that lists the files when it starts, writes twice with one call, and fails in the end.
fn lane() -> UpstreamLane {
    let arrived = |cause, call| UpstreamCall {
        cause,
        call,
        headers: vec![Header {
            name: "x-trace".to_owned(),
            value: "t-1".to_owned(),
        }],
    };
    let write = json!({ "path": "/a", "text": "two\nlines", "request_id": "r-1" });
    UpstreamLane {
        catalogue: Catalogue {
            servers: vec![ServerCatalogue {
                client: <_>::default(),
                server: "files".to_owned(),
                info: Some(json!({ "name": "files" })),
                protocol_version: Some("2025-11-25".to_owned()),
                has_no_legacy: false,
                instructions: None,
                tools: vec![Tool {
                    served: json!({ "name": "write" }).as_object().cloned().unwrap(),
                }],
                capabilities: None,
                later: vec!["append".to_owned()],
            }],
            ..Catalogue::default()
        },
        calls: vec![
            UpstreamCall {
                headers: Vec::new(),
                ..arrived(None, call("files", "list", &json!({}), answer("none")))
            },
            arrived(Some(1), call("files", "write", &write, answer("done"))),
            arrived(Some(1), call("files", "write", &write, answer("done"))),
            arrived(
                Some(3),
                call(
                    "git",
                    "commit",
                    &json!({ "all": true }),
                    Outcome::Failure(Failure {
                        kind: FailureKind::Rpc,
                        message: "nothing\nto commit".to_owned(),
                        code: Some(-32000),
                        data: Some(json!({ "files": 0 })),
                    }),
                ),
            ),
        ],
        headers: vec![PassedOn {
            server: "files".to_owned(),
            name: "authorization".to_owned(),
            value: "Bearer open-sesame-3".to_owned(),
        }],
        varies: vec![VaryingArgument {
            call: 2,
            path: "/request_id".to_owned(),
            may_lack: false,
        }],
        irregular: vec![IrregularTool {
            server: "files".to_owned(),
            tool: "list".to_owned(),
            in_all: Some(1),
        }],
        other_answers: vec![1],
    }
}

/// What is published of a trajectory.
fn document(trajectory: &Redacted<Trajectory>) -> Value {
    serde_json::from_str(&trajectory::to_json(trajectory)).unwrap()
}

#[test]
fn the_dialogue_shows_the_upstream_calls_of_each_call() {
    let dialogue = store::dialogue(&kept(Some(lane())));
    insta::with_settings!({
        snapshot_path => "../fixtures/report",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!("dialogue_behind", dialogue) });
    let without = store::dialogue(&kept(None));
    assert!(!without.to_lowercase().contains("behind"), "{without}");
}

#[test]
fn a_second_lane_only_adds_to_the_document() {
    let mut both = document(&kept(Some(lane())));
    assert_eq!(both["upstream"]["calls"][0]["cause"], Value::Null);
    assert_eq!(both["upstream"]["calls"][3]["cause"], 3);
    assert_eq!(
        both["upstream"]["calls"][1]["headers"],
        json!([{ "name": "x-trace", "value": "t-1" }])
    );
    assert_eq!(
        both["upstream"]["headers"],
        json!([{ "server": "files", "name": "authorization", "value": "Bearer <secret:token>" }])
    );
    both.as_object_mut().unwrap().remove("upstream");
    assert_eq!(both, document(&kept(None)));
    assert_eq!(both["format_version"], 2);
}

#[test]
fn a_header_that_holds_a_secret_is_found_in_a_file() {
    let mut document = document(&kept(Some(lane())));
    let scanner = Scanner::new(&Secrets::default(), Vec::new(), Vec::new());
    assert_eq!(scanner.text(&mcp_eval::json::pretty(&document)), []);
    document["upstream"]["headers"][0]["value"] = json!("Bearer open-sesame-3");
    let spotted = scanner.text(&mcp_eval::json::pretty(&document));
    let kinds: Vec<&str> = spotted.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["token"]);
}

#[test]
fn the_document_fits_its_schema() {
    let validator = jsonschema::validator_for(&trajectory::json_schema()).unwrap();
    for lane in [None, Some(UpstreamLane::default()), Some(lane())] {
        let document = document(&kept(lane));
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|it| it.to_string())
            .collect();
        assert_eq!(errors, [""; 0]);
    }
    for (at, wrong) in [
        ("/upstream/calls/1/cause", json!("first")),
        ("/upstream/calls/1/outcome", Value::Null),
        ("/upstream/headers/0/name", Value::Null),
        ("/upstream/varies/0/call", json!(-1)),
    ] {
        let mut document = document(&kept(Some(lane())));
        *document.pointer_mut(at).unwrap() = wrong;
        assert!(!validator.is_valid(&document), "{at}");
        let read = trajectory::parse(document.to_string().as_bytes(), &|_| {
            unreachable!("it names none")
        });
        read.expect_err(at);
    }
}

#[test]
fn what_cannot_have_arrived_is_refused() {
    let cases = [
        (
            "/upstream/calls/1/cause",
            json!(4),
            "`upstream`, call 2: its `cause` is call 4 of the trajectory, and its calls are 1 to 3",
        ),
        (
            "/upstream/calls/0/cause",
            json!(0),
            "`upstream`, call 1: its `cause` is call 0 of the trajectory, and its calls are 1 to 3: write null for a call before the first",
        ),
        (
            "/upstream/calls/3/server",
            Value::Null,
            "`upstream`, call 4: it has no `server`, and a call arrives at one",
        ),
        (
            "/upstream/calls/2/duration_ms",
            json!(-1),
            "the `duration_ms` of `upstream` call 3 is -1, and no call takes less than 0 ms",
        ),
        (
            "/upstream/varies/0/call",
            json!(5),
            "`upstream`: its `varies` is about call 5, and its calls are 1 to 4",
        ),
        (
            "/upstream/varies/0/call",
            json!(0),
            "`upstream`: its `varies` is about call 0, and its calls are 1 to 4",
        ),
        (
            "/upstream/varies/0/path",
            json!("request_id"),
            "`upstream`: its `varies` has the path `request_id`, which does not begin with `/`: write it as `/KEY`",
        ),
    ];
    for (at, wrong, problem) in cases {
        let mut document = document(&kept(Some(lane())));
        *document.pointer_mut(at).unwrap() = wrong;
        let error = trajectory::parse(document.to_string().as_bytes(), &|_| {
            unreachable!("it names none")
        })
        .unwrap_err();
        assert_eq!(error.to_string(), problem);
    }
    let mut document = document(&kept(Some(lane())));
    document["upstream"]["calls"] = json!([]);
    let error = trajectory::parse(document.to_string().as_bytes(), &|_| {
        unreachable!("it names none")
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`upstream`: its `varies` is about call 2, and it has no calls"
    );
}

/// A small value of any shape.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(|it| json!(it)),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::Object),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Object> {
    prop::collection::vec((".{0,6}", value), 0..4).prop_map(|it| it.into_iter().collect())
}

fn digits() -> impl Strategy<Value = Digits> {
    let entry = ("/[a-c]{1,3}", "[1-9][0-9]{20,24}");
    prop::collection::vec(entry, 0..2).prop_map(|it| it.into_iter().collect())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let kind = prop_oneof![
        Just(FailureKind::Rpc),
        Just(FailureKind::Timeout),
        Just(FailureKind::Disconnected),
        Just(FailureKind::InvalidResponse),
        Just(FailureKind::Transport),
    ];
    let answer = (
        prop::collection::vec(members(value()).prop_map(Value::Object), 0..3),
        // A `null` in its place reads as if it were not there.
        prop::option::of(members(value()).prop_map(Value::Object)),
        digits(),
        members(value()),
        // What breaks its schema has not said itself that it failed.
        prop_oneof![
            Just((false, None)),
            Just((true, None)),
            ".{0,9}".prop_map(|it| (false, Some(it)))
        ],
    );
    let failure = (
        kind,
        ".{0,12}",
        any::<Option<i64>>(),
        prop::option::of(".{0,9}"),
    );
    prop_oneof![
        answer.prop_map(
            |(content, structured_content, digits, other, (is_error, breach))| {
                Outcome::Answer(Answer {
                    is_error,
                    content,
                    structured_content,
                    digits,
                    other,
                    breach,
                })
            }
        ),
        failure.prop_map(|(kind, message, code, data)| {
            Outcome::Failure(Failure {
                kind,
                message,
                code,
                data: data.map(Value::from),
            })
        }),
    ]
}

fn arrived() -> impl Strategy<Value = UpstreamCall> {
    let times = || prop::option::of(0.0..1e6_f64);
    let call = (
        ".{0,8}",
        ".{0,8}",
        members(value()),
        digits(),
        outcome(),
        times(),
        times(),
    );
    let call = call.prop_map(
        |(server, tool, arguments, digits, outcome, start_ms, duration_ms)| ToolCall {
            server: Some(server),
            tool,
            arguments,
            digits,
            outcome,
            again: Vec::new(),
            began: None,
            start_ms,
            duration_ms,
        },
    );
    let headers = ("[a-z-]{0,8}", ".{0,12}").prop_map(|(name, value)| Header { name, value });
    let headers = prop::collection::vec(headers, 0..3);
    (prop::option::of(1..=CALLS), call, headers).prop_map(|(cause, call, headers)| UpstreamCall {
        cause,
        call,
        headers,
    })
}

fn any_lane() -> impl Strategy<Value = UpstreamLane> {
    let server = (
        ".{0,8}",
        prop::option::of(members(value()).prop_map(Value::Object)),
        prop::option::of(".{0,8}"),
        prop::option::of(".{0,8}"),
        prop::collection::vec(members(value()), 0..3),
    );
    let server =
        server.prop_map(
            |(server, info, protocol_version, instructions, tools)| ServerCatalogue {
                client: <_>::default(),
                server,
                info,
                protocol_version,
                has_no_legacy: false,
                capabilities: None,
                instructions,
                tools: tools.into_iter().map(|served| Tool { served }).collect(),
                later: Vec::new(),
            },
        );
    let header = (".{0,8}", "[a-z-]{0,8}", ".{0,12}");
    let header = header.prop_map(|(server, name, value)| PassedOn {
        server,
        name,
        value,
    });
    let varies = (any::<prop::sample::Index>(), "(/.{0,6})?");
    (
        prop::collection::vec(server, 0..3),
        prop::collection::vec(arrived(), 0..5),
        prop::collection::vec(header, 0..3),
        prop::collection::vec(varies, 0..3),
        prop::collection::vec((".{0,8}", ".{0,8}", prop::option::of(0_usize..9)), 0..3),
    )
        .prop_map(|(servers, calls, headers, varies, irregular)| {
            let irregular = irregular.into_iter();
            let varies = varies.into_iter().filter(|_| !calls.is_empty());
            UpstreamLane {
                catalogue: Catalogue {
                    servers,
                    ..Catalogue::default()
                },
                varies: varies
                    .map(|(call, path)| VaryingArgument {
                        call: call.index(calls.len()) + 1,
                        path,
                        may_lack: false,
                    })
                    .collect(),
                irregular: irregular
                    .map(|(server, tool, in_all)| IrregularTool {
                        server,
                        tool,
                        in_all,
                    })
                    .collect(),
                other_answers: (1..=calls.len()).step_by(2).collect(),
                calls,
                headers,
            }
        })
}

proptest! {
    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn any_upstream_lane_is_read_as_it_was_written(lane in prop::option::of(any_lane())) {
        let kept = kept(lane);
        let written = trajectory::to_json(&kept);
        let read = trajectory::parse(written.as_bytes(), &|_| unreachable!("it names none"));
        prop_assert_eq!(read.map_err(|it| it.to_string()), Ok((*kept).clone()));
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn no_upstream_call_acts_on_a_reader_of_the_dialogue(lane in any_lane()) {
        let dialogue = store::dialogue(&kept(Some(lane)));
        let hidden = dialogue.chars().find(|it| *it != '\n' && mcp_eval::text::is_hidden(*it));
        prop_assert_eq!(hidden, None);
    }
}
