//! Upstream calls that are known to be the same: by ids, by rules, and by what was learned from takes.

use mcp_eval::model::rules::{ArgumentMatch, ArgumentRule, ReadRule, Rules};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_upstream::{
    agent, asks, assert_fails, assert_shown, compare, does, effect, lane, read, reasons, replaced,
    run, upstream_changes, with,
};

#[test]
fn ids_of_a_trace_may_be_others() {
    let traced = |id: &str| {
        let headers = json!({"traceparent": format!("00-{id}-01")});
        run(
            &agent(),
            &replaced(0, with(lane()[0].clone(), "headers", headers)),
        )
    };
    let one = traced("0af7651916cd43dd8448eb211c80319c");
    let two = traced("b7ad6b7169203331aa8448eb211c8031");
    assert_shown(&compare(&one, &two), &[]);
}

#[test]
fn an_id_that_the_server_under_test_gave_is_known_behind_later_calls() {
    let side = |session: &str, used: &str| {
        let of_agent = [
            with(
                asks("open", &json!({})),
                "json",
                json!({"session": session}),
            ),
            asks("join", &json!({"session": session})),
            asks("look", &json!({"q": 1})),
        ];
        run(
            &of_agent,
            &[effect(3, "files__use", &json!({"session": used}))],
        )
    };
    let (one, two) = ("6f1c9b7e3c1d4a5283ab", "e0d1c2b3a4958677aabb");
    let mut before = side(one, one);
    before.bindings = score::find_bindings(&before);
    assert_shown(&compare(&before, &side(two, two)), &[]);
    assert!(!compare(&before, &side(two, one)).verdict.passed);
}

#[test]
fn ids_that_are_passed_on_are_the_same() {
    let side = |id: Value| {
        run(
            &[
                with(does("create", &json!({})), "json", json!({"item_id": id})),
                asks("show", &json!({"item_id": id})),
            ],
            &[
                with(
                    effect(1, "files__create", &json!({})),
                    "json",
                    json!({"key": id}),
                ),
                read(
                    2,
                    "files__show",
                    &json!({"item": id, "url": format!("/items/{id}")}),
                ),
            ],
        )
    };
    for (was, now) in [(json!(17), json!(18)), (json!("T-10017"), json!("T-10018"))] {
        let takes = [side(was.clone()), side(now.clone())];
        let learned = score::learn(&takes, &Rules::default());
        assert!(learned.upstream.varies.is_empty(), "{:?}", learned.upstream);
        let mut baseline = takes[0].clone();
        baseline.bindings = learned.bindings;
        baseline.learned = learned.answers;
        assert!(!baseline.bindings.is_empty());
        let comparison = compare(&baseline, &takes[1]);
        assert!(comparison.verdict.passed, "{:?}", reasons(&comparison));
        let changes: Vec<String> = upstream_changes(&comparison)
            .into_iter()
            .map(|it| it.0)
            .collect();
        assert!(
            !changes.iter().any(|it| it.contains("with a different")),
            "{changes:?}"
        );
    }
}

#[test]
fn ids_that_servers_behind_give_each_other_are_the_same() {
    let side = |session: &str| {
        run(
            &[asks("search", &json!({"q": 1}))],
            &[
                with(
                    effect(1, "files__open", &json!({})),
                    "json",
                    json!({"session": session}),
                ),
                effect(1, "files__use", &json!({"session": session})),
            ],
        )
    };
    let before = side("6f1c9b7e3c1d4a5283ab");
    let comparison = compare(&before, &side("e0d1c2b3a4958677aabb"));
    assert_shown(&comparison, &[]);
    // One that the server behind did not give is none.
    let mut stale = side("e0d1c2b3a4958677aabb");
    let calls = &mut stale.upstream.as_mut().unwrap().calls;
    calls[1].call.arguments["session"] = json!("6f1c9b7e3c1d4a5283ab");
    let expected = "call 1 `search`: behind it, `files` received `use` with a different `session`";
    assert_fails(&compare(&before, &stale), &[expected]);
}

#[test]
fn rules_apply_behind_the_server_too() {
    let now = run(
        &agent(),
        &[
            read(1, "files__find", &json!({"text": "tools", "limit": 6})),
            read(1, "web__find", &json!({"text": "tools"})),
            effect(2, "files__write", &json!({"path": "/a"})),
            read(3, "files__find", &json!({"text": "more", "limit": 6})),
        ],
    );
    let before = run(&agent(), &lane());
    let rule = |tool: &str| Rules {
        arguments: vec![ArgumentRule {
            tool: Some(tool.to_owned()),
            argument: "limit".to_owned(),
            how: ArgumentMatch::Ignore,
        }],
        ..Rules::default()
    };
    for (tool, passes) in [
        ("find", true),
        ("mcp__files__find", true),
        ("mcp__web__find", false),
        ("mcp__files__", false),
    ] {
        let comparison = score::compare(&before, &now, &rule(tool));
        assert_eq!(comparison.verdict.passed, passes, "{tool}");
    }
    // What a rule calls a read may be made more often.
    let mut more = lane();
    more.insert(2, lane()[2].clone());
    let rules = Rules {
        reads: vec![ReadRule {
            tool: "mcp__files__write".to_owned(),
            arguments: model::Object::new(),
        }],
        ..Rules::default()
    };
    assert!(
        score::compare(&before, &run(&agent(), &more), &rules)
            .verdict
            .passed
    );
    assert!(!compare(&before, &run(&agent(), &more)).verdict.passed);
}

#[test]
fn calls_made_at_the_same_time_share_what_arrives() {
    let side = |cause: usize, start: f64| {
        let at =
            |call: Value, start: f64| with(with(call, "start", json!(start)), "ms", json!(100.0));
        run(
            &[
                at(does("save", &json!({"n": 1})), 0.0),
                at(does("save", &json!({"n": 2})), start),
            ],
            &[effect(cause, "files__write", &json!({"path": "/a"}))],
        )
    };
    assert_shown(&compare(&side(1, 10.0), &side(2, 10.0)), &[]);
    let one_after_the_other = compare(&side(1, 101.0), &side(2, 101.0));
    assert!(!one_after_the_other.verdict.passed);
}

#[test]
fn an_agents_poll_may_ask_as_often_as_it_likes() {
    let side = |tries: usize| {
        let poll = |at: usize| {
            let answer = if at + 1 < tries { "waiting" } else { "done" };
            with(asks("wait", &json!({"id": 1})), "text", json!(answer))
        };
        let calls: Vec<Value> = (0..tries).map(poll).collect();
        let behind = (0..tries)
            .flat_map(|at| ["a", "b"].map(|it| read(at + 1, "files__stat", &json!({"part": it}))));
        run(&calls, &behind.collect::<Vec<_>>())
    };
    let comparison = compare(&side(2), &side(4));
    assert_shown(&comparison, &[]);
}

#[test]
fn what_differs_between_takes_is_learned_and_nothing_else() {
    let take = |nonce: &str, pings: usize, late: bool| {
        let mut behind = lane();
        behind[2]["args"]["nonce"] = json!(nonce);
        behind[1]["text"] = json!(format!("answer number {nonce}"));
        behind.push(effect(if late { 3 } else { 2 }, "files__sync", &json!({})));
        behind.extend((0..pings).map(|_| effect(3, "web__ping", &json!({}))));
        run(&agent(), &behind)
    };
    let takes = [take("one", 1, false), take("two", 3, true)];
    let learned = score::learn(&takes, &Rules::default());
    let mut baseline = takes[0].clone();
    learned.keep_in(&mut baseline);
    let lane = baseline.upstream.as_ref().unwrap();
    let places: Vec<_> = lane
        .varies
        .iter()
        .map(|it| (it.call, it.path.as_str()))
        .collect();
    assert_eq!(places, [(3, "/nonce")]);
    let tools: Vec<_> = (lane.irregular.iter())
        .map(|it| (it.tool.as_str(), it.in_all))
        .collect();
    assert_eq!(tools, [("sync", Some(1)), ("ping", None)]);
    assert_eq!(lane.other_answers, [2]);

    for pings in [0, 1, 2, 9] {
        assert_shown(&compare(&baseline, &take("three", pings, pings == 9)), &[]);
    }
    // What was the same in all takes is held.
    let mut other = take("three", 1, false);
    let calls = &mut other.upstream.as_mut().unwrap().calls;
    calls[2].call.arguments["path"] = json!("/b");
    assert!(!compare(&baseline, &other).verdict.passed);
    let mut twice = take("three", 1, false);
    let calls = &mut twice.upstream.as_mut().unwrap().calls;
    calls.push(calls[4].clone());
    assert_fails(
        &compare(&baseline, &twice),
        &["`files` received `sync` 2 times, 1 before, in all"],
    );
    // What one take alone does not show to vary fails.
    assert!(!compare(&takes[0], &take("three", 1, false)).verdict.passed);
}

#[test]
fn takes_that_ask_otherwise_teach_nothing_of_what_is_passed_on() {
    let take = |q: &str| {
        let calls = [asks("search", &json!({"q": q}))];
        let behind = json!({"text": q, "hash": q.len()});
        run(&calls, &[effect(1, "files__find", &behind)])
    };
    let learned = score::learn(&[take("one"), take("other")], &Rules::default());
    assert_eq!(learned.upstream, score::LearnedUpstream::default());
}
