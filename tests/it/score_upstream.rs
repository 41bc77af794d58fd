//! The calls that the servers behind the one under test received, compared: the same call of the agent must become the same calls there.

use mcp_eval::model::reason::{self, ReasonKind};
use mcp_eval::model::rules::{Preset, Rules};
use mcp_eval::model::{Band, ChangeKind, Comparison, PassedOn, Trajectory, VaryingArgument};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{trajectory, with_lane};

/// A call of the agent that only reads.
pub(crate) fn asks(tool: &str, args: &Value) -> Value {
    json!({"tool": format!("mcp__p__{tool}"), "args": args, "reads": true, "text": "fine"})
}

/// A call of the agent that changes something.
pub(crate) fn does(tool: &str, args: &Value) -> Value {
    json!({"tool": format!("mcp__p__{tool}"), "args": args, "text": "done"})
}

/// A read that a server behind received during a call of the agent.
pub(crate) fn read(cause: usize, tool: &str, args: &Value) -> Value {
    json!({"cause": cause, "tool": format!("mcp__{tool}"), "args": args, "reads": true, "text": "here"})
}

/// An effect that a server behind received.
pub(crate) fn effect(cause: usize, tool: &str, args: &Value) -> Value {
    json!({"cause": cause, "tool": format!("mcp__{tool}"), "args": args, "text": "done"})
}

pub(crate) fn with(mut call: Value, key: &str, value: Value) -> Value {
    if key == "json" {
        call.as_object_mut().unwrap().remove("text");
    }
    call[key] = value;
    call
}

/// An agent that searches, writes and searches again.
pub(crate) fn agent() -> Vec<Value> {
    vec![
        asks("search", &json!({"q": "tools"})),
        does("save", &json!({"path": "/a"})),
        asks("look", &json!({"q": "more"})),
    ]
}

pub(crate) fn lane() -> Vec<Value> {
    vec![
        read(1, "files__find", &json!({"text": "tools", "limit": 5})),
        read(1, "web__find", &json!({"text": "tools"})),
        effect(2, "files__write", &json!({"path": "/a"})),
        read(3, "files__find", &json!({"text": "more", "limit": 5})),
    ]
}

pub(crate) fn run(calls: &[Value], behind: &[Value]) -> Trajectory {
    with_lane(trajectory(calls), behind)
}

pub(crate) fn compare(baseline: &Trajectory, current: &Trajectory) -> Comparison {
    score::compare(baseline, current, &Rules::default())
}

/// The same agent on both sides, with another lane in the run.
fn compared(now: &[Value]) -> Comparison {
    compare(&run(&agent(), &lane()), &run(&agent(), now))
}

/// What failed, one sentence each, what follows indented.
pub(crate) fn reasons(comparison: &Comparison) -> Vec<String> {
    let mut shown = Vec::new();
    for it in reason::grouped(&comparison.verdict.reasons, &comparison.changes) {
        shown.push(it.reason.sentence());
        shown.extend(it.follows.iter().map(|it| format!("  {}", it.sentence())));
    }
    shown
}

pub(crate) fn upstream_changes(comparison: &Comparison) -> Vec<(String, bool)> {
    let changes = comparison.changes.iter();
    let upstream = changes.filter(|it| it.kind == ChangeKind::Upstream);
    upstream.map(|it| (it.what.to_string(), it.fails)).collect()
}

#[track_caller]
pub(crate) fn assert_fails(comparison: &Comparison, expected: &[&str]) {
    assert_eq!(reasons(comparison), expected);
    assert!(!comparison.verdict.passed);
    assert!(comparison.band <= Band::Degraded);
    assert!((comparison.scores.overall - 1.0).abs() < 1e-9);
    let failing = comparison.verdict.reasons.iter();
    let failing = failing.filter(|it| it.kind == ReasonKind::Upstream).count();
    let changes = upstream_changes(comparison);
    assert_eq!(
        changes.iter().filter(|it| it.1).count(),
        failing,
        "{changes:?}"
    );
}

/// It passes, and these changes are shown.
#[track_caller]
pub(crate) fn assert_shown(comparison: &Comparison, expected: &[&str]) {
    assert_eq!(reasons(comparison), Vec::<String>::new());
    let changes = upstream_changes(comparison);
    let shown: Vec<&str> = changes.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(shown, expected);
    assert!(changes.iter().all(|it| !it.1));
    let rows = &comparison.upstream.as_ref().unwrap().rows;
    assert!(rows.iter().all(|it| !it.fails));
}

#[test]
fn equal_lanes_are_equal() {
    let comparison = compared(&lane());
    assert_shown(&comparison, &[]);
    assert!(comparison.changes.is_empty());
    assert_eq!(comparison.upstream.unwrap().rows.len(), 4);
}

#[test]
fn an_effect_made_twice_is_not_one_made_once() {
    let mut now = lane();
    now.insert(3, now[2].clone());
    let comparison = compared(&now);
    assert_fails(
        &comparison,
        &["call 2 `save`: behind it, `files` received `write` 2 times, 1 before"],
    );
    let reason = &comparison.verdict.reasons[0];
    assert_eq!((reason.baseline, reason.current), (Some(2), Some(2)));
    assert_eq!(reason.got.as_deref(), Some("write(path: \"/a\")"));
    let rows = comparison.upstream.unwrap().rows;
    let failing: Vec<_> = rows.iter().filter(|it| it.fails).collect();
    assert_eq!(failing.len(), 1);
    assert_eq!(failing[0].calls(), (None, Some(4)));
}

#[test]
fn an_effect_that_is_new_missing_or_made_with_something_else_fails() {
    let cases: Vec<(Vec<Value>, &str)> = vec![
        (
            [&lane()[..2], &lane()[3..]].concat(),
            "call 2 `save`: behind it, `files` did not receive `write`",
        ),
        (
            [
                &lane()[..3],
                &[effect(2, "files__drop", &json!({}))],
                &lane()[3..],
            ]
            .concat(),
            "call 2 `save`: behind it, `files` received `drop`, and did not before",
        ),
        (
            replaced(2, effect(2, "files__write", &json!({"path": "/b"}))),
            "call 2 `save`: behind it, `files` received `write` with a different `path`",
        ),
        (
            replaced(
                2,
                effect(2, "files__write", &json!({"path": "/a", "force": true})),
            ),
            "call 2 `save`: behind it, `files` received `write` with a new `force`",
        ),
        (
            replaced(2, effect(3, "files__write", &json!({"path": "/a"}))),
            "call 2 `save`: behind it, `files` received `write`, now behind call 3 `look`",
        ),
    ];
    for (now, expected) in cases {
        assert_fails(&compared(&now), &[expected]);
    }
}

pub(crate) fn replaced(at: usize, by: Value) -> Vec<Value> {
    let mut now = lane();
    now[at] = by;
    now
}

#[test]
fn an_argument_that_is_lost_on_the_way_fails_a_read_too() {
    let now = replaced(0, read(1, "files__find", &json!({"text": "tools"})));
    let comparison = compared(&now);
    let expected = "call 1 `search`: behind it, `files` received `find` without `limit`";
    assert_fails(&comparison, &[expected]);
    assert_eq!(comparison.verdict.reasons[0].expected.as_deref(), Some("5"));
    let row = &comparison.upstream.unwrap().rows[0];
    assert!(row.fails);
    assert_eq!(row.differences[0].path, "/limit");
}

#[test]
fn what_is_lost_at_each_call_has_one_cause() {
    let mut now = lane();
    for at in [0, 3] {
        now[at]["args"].as_object_mut().unwrap().remove("limit");
    }
    let expected = [
        "call 1 `search`: behind it, `files` received `find` without `limit`",
        "  call 3 `look`: behind it, `files` received `find` without `limit`",
    ];
    assert_fails(&compared(&now), &expected);
}

#[test]
fn how_often_where_and_in_which_order_is_read_is_only_shown() {
    let all = lane();
    let cases: Vec<(Vec<Value>, &str)> = vec![
        (
            [&all[..1], &all[..]].concat(),
            "behind it, `files` received `find` 2 times, 1 before",
        ),
        (
            [&all[..1], &all[2..]].concat(),
            "behind it, `web` did not receive `find`",
        ),
        (
            replaced(1, read(3, "web__find", &json!({"text": "tools"}))),
            "behind it, `web` received `find`, now behind call 3 `look`",
        ),
    ];
    for (now, expected) in cases {
        assert_shown(&compared(&now), &[expected]);
    }
    // Servers do not hear each other, so only the order at one server is an order.
    let crossed = [&all[1..2], &all[..1], &all[2..]].concat();
    assert_shown(&compared(&crossed), &[]);
}

#[test]
fn the_order_of_effects_counts_at_one_server() {
    let two = |first: &str, second: &str| {
        let write = |path: &str| effect(1, "files__write", &json!({"path": path}));
        run(
            &[does("save", &json!({}))],
            &[
                write(first),
                read(1, "files__stat", &json!({})),
                write(second),
            ],
        )
    };
    let comparison = compare(&two("/a", "/b"), &two("/b", "/a"));
    assert_fails(
        &comparison,
        &["call 1 `save`: behind it, `files` received `write` in a different order"],
    );
    let reads = |first: &str, second: &str| {
        let find = |text: &str| read(1, "files__find", &json!({"text": text}));
        run(&[asks("search", &json!({}))], &[find(first), find(second)])
    };
    assert_shown(
        &compare(&reads("a", "b"), &reads("b", "a")),
        &["behind it, `files` received `find` in a different order"],
    );
}

#[test]
fn a_header_that_is_passed_on_now_fails() {
    let token = json!({"authorization": "Bearer abc"});
    let now = replaced(0, with(lane()[0].clone(), "headers", token.clone()));
    let comparison = compared(&now);
    let expected = "call 1 `search`: `authorization` is passed on to `files` now";
    assert_fails(&comparison, &[expected]);
    assert!(comparison.upstream.unwrap().rows[0].fails);

    let before = run(&agent(), &now);
    assert_shown(
        &compare(&before, &run(&agent(), &lane())),
        &["`authorization` is no longer passed on to `files`"],
    );
    let other = replaced(
        0,
        with(
            lane()[0].clone(),
            "headers",
            json!({"authorization": "Bearer x"}),
        ),
    );
    assert_shown(
        &compare(&before, &run(&agent(), &other)),
        &["`authorization` is passed on to `files` with a different value"],
    );
    // With a call that is new, what its server had with others is none.
    let more = [&now[..], &[with(now[3].clone(), "headers", token)]].concat();
    assert_shown(
        &compare(&before, &run(&agent(), &more)),
        &["behind it, `files` received `find` 2 times, 1 before"],
    );
    assert!(!compared(&more).verdict.passed);
}

#[test]
fn a_header_that_is_passed_on_with_the_handshake_now_fails() {
    let before = run(&agent(), &lane());
    let mut now = before.clone();
    now.upstream.as_mut().unwrap().headers.push(PassedOn {
        server: "files".to_owned(),
        name: "cookie".to_owned(),
        value: "a=1".to_owned(),
    });
    let comparison = compare(&before, &now);
    assert_fails(&comparison, &["`cookie` is passed on to `files` now"]);
    assert_eq!(comparison.upstream.unwrap().headers.len(), 1);
    assert_shown(
        &compare(&now, &before),
        &["`cookie` is no longer passed on to `files`"],
    );
}

#[test]
fn what_the_agent_asks_otherwise_is_passed_on() {
    let sides = |path: &str, note: &str| {
        let args = json!({"path": path, "note": note});
        run(
            &[asks("search", &json!({"q": path})), does("save", &args)],
            &[
                read(
                    1,
                    "files__find",
                    &json!({"text": format!("in {path}"), "limit": 5}),
                ),
                effect(2, "files__write", &args),
            ],
        )
    };
    let before = sides("/a", "say it in a few plain words");
    // A read that is asked otherwise, and an effect that is made with something else: the agent's doing, and said of its own calls.
    let other = compare(&before, &sides("/b", "say it in a few plain words"));
    let kinds: Vec<_> = other.verdict.reasons.iter().map(|it| it.kind).collect();
    assert!(kinds.contains(&ReasonKind::EffectChange));
    assert!(!kinds.contains(&ReasonKind::Upstream), "{kinds:?}");
    assert_eq!(upstream_changes(&other).len(), 2);
}

#[test]
fn what_an_effect_is_made_with_counts_whatever_the_agent_asks() {
    let side = |q: &str, force: bool| {
        run(
            &[asks("search", &json!({"q": q}))],
            &[effect(
                1,
                "files__write",
                &json!({"text": q, "force": force}),
            )],
        )
    };
    let comparison = compare(&side("a", false), &side("b", true));
    let expected = "call 1 `search`: behind it, `files` received `write` with a different `force`";
    assert!(reasons(&comparison).iter().any(|it| it.contains(expected)));
    let shown = "behind it, `files` received `write` with a different `text`";
    assert!(upstream_changes(&comparison).contains(&(shown.to_owned(), false)));
}

#[test]
fn an_effect_of_a_call_that_is_missing_follows_from_it() {
    let before = run(&agent()[..2], &lane()[..3]);
    let now = Trajectory {
        catalogue: before.catalogue.clone(),
        ..run(&agent()[..1], &lane()[..2])
    };
    let comparison = compare(&before, &now);
    let shown = reasons(&comparison);
    assert_eq!(comparison.verdict.reasons[0].kind, ReasonKind::EffectChange);
    let expected = "  call 2 `save`: behind it, `files` did not receive `write`";
    assert!(shown.contains(&expected.to_owned()), "{shown:?}");
    // Where nothing failed for it, nothing does behind it.
    let touches = [&lane()[..3], &[effect(3, "files__touch", &json!({}))]].concat();
    let before = run(&agent(), &touches);
    let now = Trajectory {
        catalogue: before.catalogue.clone(),
        ..run(&agent()[..2], &lane()[..3])
    };
    let comparison = compare(&before, &now);
    let did_not = (
        "behind it, `files` did not receive `touch`".to_owned(),
        false,
    );
    assert_eq!(upstream_changes(&comparison), [did_not]);
    // A read's is a change like that of the read itself.
    let now = run(&agent()[..2], &lane()[..3]);
    let comparison = compare(&run(&agent(), &lane()), &now);
    let upstream = comparison.verdict.reasons.iter();
    assert_eq!(
        upstream
            .filter(|it| it.kind == ReasonKind::Upstream)
            .count(),
        0
    );
    let did_not = (
        "behind it, `files` did not receive `find`".to_owned(),
        false,
    );
    assert_eq!(upstream_changes(&comparison), [did_not]);
}

#[test]
fn an_answer_that_changed_behind_explains_one_that_changed_in_front() {
    let answered = |of_server: &Value, of_proxy: &Value| {
        let calls = [with(
            asks("search", &json!({"q": 1})),
            "json",
            of_proxy.clone(),
        )];
        let behind = [with(
            read(1, "files__find", &json!({"q": 1})),
            "json",
            of_server.clone(),
        )];
        run(&calls, &behind)
    };
    let (one, none) = (json!({"total": 1, "ok": ["a"]}), json!({"gone": true}));
    let comparison = compare(&answered(&one, &one), &answered(&none, &none));
    let reason = &comparison.verdict.reasons[0];
    assert_eq!(reason.kind, ReasonKind::ServerRegression);
    assert_eq!(
        reason.cause.as_deref(),
        Some("the server behind it, `files`, answered otherwise, too")
    );
    assert!(comparison.upstream.unwrap().rows[0].answered_otherwise);
    // Where the server under test makes the best of it, it is shown.
    let comparison = compare(&answered(&one, &one), &answered(&none, &one));
    assert_shown(
        &comparison,
        &["the server behind it, `files`, answered `find` otherwise"],
    );
    // And where only the server under test answers otherwise, that is said.
    let comparison = compare(&answered(&one, &one), &answered(&one, &none));
    assert_eq!(
        comparison.verdict.reasons[0].cause.as_deref(),
        Some("the server behind it, `files`, answered as before")
    );
}

#[test]
fn what_is_lost_on_the_way_explains_the_answer() {
    let side = |args: &Value, answer: &str| {
        run(
            &[with(
                asks("search", &json!({"q": 1})),
                "text",
                json!(answer),
            )],
            &[read(1, "files__find", args)],
        )
    };
    let before = side(&json!({"q": 1, "limit": 5}), "five lines of text");
    let now = side(&json!({"q": 1}), "Error: nothing there at all");
    let shown = reasons(&compare(&before, &now));
    assert_eq!(
        shown[0],
        "call 1 `search`: behind it, `files` received `find` without `limit`"
    );
    assert!(
        shown[1].starts_with("  call 1, mcp__p__search, failed"),
        "{shown:?}"
    );
}

#[test]
fn what_a_failed_call_did_not_cause_follows_from_it() {
    let before = run(&agent(), &lane());
    let mut calls = agent();
    calls[1] = with(
        with(calls[1].clone(), "text", json!("no connection")),
        "is_error",
        json!(true),
    );
    let behind = [&lane()[..2], &lane()[3..]].concat();
    let shown = reasons(&compare(&before, &run(&calls, &behind)));
    assert!(
        shown[0].starts_with("call 2, mcp__p__save, failed"),
        "{shown:?}"
    );
    assert_eq!(
        shown[1],
        "  call 2 `save`: behind it, `files` did not receive `write`"
    );
}

#[test]
fn a_lane_on_one_side_is_said_and_not_compared() {
    let (with, without) = (run(&agent(), &lane()), trajectory(&agent()));
    for (before, now, says) in [
        (&with, &without, "in this run"),
        (&without, &with, "record it again"),
    ] {
        let comparison = compare(before, now);
        assert!(comparison.verdict.passed && comparison.upstream.is_none());
        let [change] = comparison.changes.as_slice() else {
            panic!("{:?}", comparison.changes);
        };
        assert!(change.what.to_string().contains(says), "{}", change.what);
    }
    let comparison = compare(&without, &without);
    assert!(comparison.changes.is_empty() && comparison.upstream.is_none());
}

#[test]
fn strict_makes_every_change_fail_and_classic_none() {
    let before = run(&agent(), &lane());
    let now = run(&agent(), &[&lane()[..1], &lane()[..]].concat());
    let strict = Rules {
        strict: true,
        ..Rules::default()
    };
    let comparison = score::compare(&before, &now, &strict);
    assert_eq!(
        reasons(&comparison),
        [
            "nothing may change: call 1, mcp__p__search, behind it, `files` received `find` 2 times, 1 before"
        ]
    );
    let twice = run(&agent(), &[&lane()[..3], &lane()[2..]].concat());
    let classic = Rules {
        preset: Preset::Classic,
        ..Rules::default()
    };
    let comparison = score::compare(&before, &twice, &classic);
    assert_shown(
        &comparison,
        &["behind it, `files` received `write` 2 times, 1 before"],
    );
    let warnings = &comparison.verdict.warnings;
    assert!(
        warnings[0]
            .sentence()
            .contains("the calls behind the server (1 differs)")
    );
}

#[test]
fn upstream_calls_before_the_first_call_are_compared_too() {
    let early = |times: usize| {
        let mut open = effect(0, "files__open", &json!({}));
        open.as_object_mut().unwrap().remove("cause");
        run(&agent(), &[vec![open; times], lane()].concat())
    };
    assert_fails(
        &compare(&early(1), &early(2)),
        &["before the first call, `files` received `open` 2 times, 1 before"],
    );
}

#[test]
fn a_lane_that_nobody_would_write_is_compared_all_the_same() {
    let mut odd = run(&agent(), &lane());
    let lane = odd.upstream.as_mut().unwrap();
    lane.calls[0].call.server = None;
    lane.calls[1].cause = Some(usize::MAX);
    lane.other_answers = vec![0, usize::MAX];
    lane.varies = [(0, ""), (usize::MAX, "/a"), (1, "nowhere")]
        .map(|(call, path)| VaryingArgument {
            call,
            path: path.to_owned(),
            may_lack: false,
        })
        .to_vec();
    assert_shown(&compare(&odd, &odd), &[]);
    let plain = run(&agent(), &self::lane());
    for (one, other) in [(&odd, &plain), (&plain, &odd)] {
        let comparison = compare(one, other);
        assert!(!comparison.changes.is_empty());
        let learned = score::learn(&[one.clone(), other.clone()], &Rules::default());
        learned.keep_in(&mut one.clone());
    }
}
