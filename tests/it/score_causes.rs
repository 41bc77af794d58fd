//! Failures of one cause under one heading.

use mcp_eval::model::reason::{self, Grouped, ReasonKind};
use mcp_eval::model::rules::Rules;
use mcp_eval::model::{Band, Binding, Comparison, Ending, How, Source, Trajectory};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{compare, object, trajectory};

/// Calls of tools `TOOL`, one after the other, each with its own number as an argument.
fn calls(tools: &[&str]) -> Vec<Value> {
    let call = |(n, tool): (usize, &&str)| json!({"tool": format!("mcp__p__{tool}"), "args": {"n": n}, "text": "ok"});
    tools.iter().enumerate().map(call).collect()
}

/// The same with what the server lists: names with the schema of their arguments and a description.
fn listed(calls: &[Value], tools: &[(&str, &str)]) -> Trajectory {
    let mut side = trajectory(calls);
    side.catalogue.servers = trajectory(&[json!({"tool": "mcp__p__x"})])
        .catalogue
        .servers;
    let listed = tools.iter().map(|(name, description)| {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        json!({"name": name, "description": description, "inputSchema": schema})
    });
    side.catalogue.servers[0].tools = listed
        .map(|it| model::Tool {
            served: object(&it),
        })
        .collect();
    side
}

fn only(comparison: &Comparison) -> Grouped<'_> {
    let mut groups = reason::grouped(&comparison.verdict.reasons, &comparison.changes);
    match groups.pop() {
        Some(only) if groups.is_empty() => only,
        last => panic!("{} headings: {groups:#?} {last:#?}", groups.len()),
    }
}

/// How what failed follows from something else, change by change.
fn hows(comparison: &Comparison) -> Vec<How> {
    let changes = comparison.changes.iter();
    changes.filter_map(|it| Some(it.follows?.how)).collect()
}

/// No call has two headings.
fn assert_each_call_once(comparison: &Comparison) {
    let mut seen = Vec::new();
    for it in &comparison.verdict.reasons {
        let calls = (it.baseline, it.current);
        if it.kind != ReasonKind::Drift && calls != (None, None) {
            assert!(
                !seen.contains(&calls),
                "{calls:?}: {:#?}",
                comparison.verdict.reasons
            );
            seen.push(calls);
        }
    }
}

#[test]
fn a_prefix_that_all_tools_changed_is_one_cause() {
    let names = [
        "echo",
        "add",
        "ping",
        "sum",
        "print_env",
        "get_tiny_image",
        "long_run",
    ];
    let with = |prefix: &str| -> (Vec<String>, Vec<Value>) {
        let prefixed: Vec<String> = names.iter().map(|it| format!("{prefix}__{it}")).collect();
        let made = calls(&prefixed.iter().map(String::as_str).collect::<Vec<_>>());
        (prefixed, made)
    };
    let side = |prefix: &str| {
        let (prefixed, made) = with(prefix);
        let described: Vec<(&str, &str)> =
            prefixed.iter().map(|it| (it.as_str(), "Does it")).collect();
        listed(&made, &described)
    };
    let comparison = score::compare(&side("ev"), &side("everything"), &Rules::default());
    let root = only(&comparison);
    assert_eq!(
        root.reason.sentence(),
        "the prefix `ev__` of all 7 tools became `everything__`"
    );
    // Each call that is not made any more, each that is new, and the score.
    assert_eq!(root.follows.len(), 15, "{:#?}", root.follows);
    assert_eq!(comparison.drift.len(), 1, "{:#?}", comparison.drift);
    assert_eq!(comparison.drift[0].refused, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        hows(&comparison),
        [[How::Refused; 7], [How::NewName; 7]].concat()
    );
    assert_each_call_once(&comparison);
}

#[test]
fn a_tool_that_was_renamed_is_one_cause_and_a_new_optional_parameter_is_none() {
    let before = listed(
        &calls(&["create_order", "ship"]),
        &[("create_order", "Creates an order"), ("ship", "Ships it")],
    );
    let mut after = listed(
        &calls(&["place_order", "ship"]),
        &[("place_order", "Creates an order"), ("ship", "Ships it")],
    );
    let ship = after.catalogue.servers[0].tools[1]
        .served
        .get_mut("inputSchema")
        .unwrap();
    ship["properties"]["express"] = json!({"type": "boolean"});
    let comparison = score::compare(&before, &after, &Rules::default());
    let root = only(&comparison);
    assert_eq!(
        root.reason.sentence(),
        "tool `create_order` was renamed to `place_order`"
    );
    let follows: Vec<String> = root.follows.iter().map(|it| it.sentence()).collect();
    assert_eq!(
        follows,
        [
            "call 1, mcp__p__create_order, changes something and was not made",
            "new call 1, mcp__p__place_order, changes something and is not in the baseline",
            "the overall score is below the threshold",
        ]
    );
    assert!(
        comparison
            .drift
            .iter()
            .any(|it| it.of_tool().to_string()
                == "parameter `express` of `ship` is new and optional")
    );
}

#[test]
fn names_written_otherwise_and_a_server_without_tools_are_one_cause_each() {
    let tools =
        |names: &[&'static str]| names.iter().map(|it| (*it, "Does it")).collect::<Vec<_>>();
    let heading = |then: &[&'static str], now: &[&'static str]| {
        let before = listed(&calls(&then[..1]), &tools(then));
        let comparison = score::compare(&before, &listed(&[], &tools(now)), &Rules::default());
        only(&comparison).reason.sentence()
    };
    assert_eq!(
        heading(&["getSum", "printEnv"], &["get_sum", "print_env"]),
        "the names of all 2 tools are written otherwise: `getSum` is `get_sum`"
    );
    assert_eq!(
        heading(&["a", "b", "c"], &[]),
        "server `p` lists none of its 3 tools any more"
    );
    assert_eq!(
        heading(&["get_a", "get_b"], &["get_a_v2", "get_b_v2"]),
        "all 2 tools gained the suffix `_v2`"
    );
    assert_eq!(
        heading(&["a", "b"], &["b"]),
        "tool `a` is gone; nearest: `b`"
    );
}

#[test]
fn one_changed_answer_has_one_heading_and_is_degraded_at_best() {
    let call = |n: usize, at: usize| json!({"tool": "mcp__p__buy", "args": {"at": at}, "json": {"done": n == 1, "n": n}});
    let many = |n: usize| -> Vec<Value> {
        (0..20)
            .map(|it| if it == 7 { call(n, it) } else { call(1, it) })
            .collect()
    };
    let comparison = compare(&many(1), &many(2), &Rules::default());
    let root = only(&comparison);
    assert!(comparison.scores.overall >= 0.8);
    assert_eq!(comparison.band, Band::Degraded);
    assert!(
        root.reason.sentence().starts_with("call 8, mcp__p__buy, "),
        "{}",
        root.reason.sentence()
    );
    assert_each_call_once(&comparison);
}

#[test]
fn an_error_heads_with_its_message_be_it_in_the_answer() {
    let call = |it: &Value| {
        let mut call = json!({"tool": "mcp__p__find", "args": {"q": "a"}, "reads": true});
        call.as_object_mut().unwrap().extend(object(it));
        [call]
    };
    let good = json!({"json": {"servers": [{"id": 1}], "total": 1}});
    for (bad, said) in [
        (
            json!({"text": "\n  Error: database is locked\n  at line 1", "is_error": true}),
            "Error: database is locked",
        ),
        (
            json!({"json": {"error": "upstream not connected", "code": 7}}),
            "upstream not connected",
        ),
    ] {
        let comparison = compare(&call(&good), &call(&bad), &Rules::default());
        assert_eq!(
            only(&comparison).reason.sentence(),
            format!("call 1, mcp__p__find, failed: {said}")
        );
    }
}

/// A made-up id that the second and the third call take from the answer to the first.
fn bound(first: &Value, others: &str) -> Trajectory {
    let mut calls = vec![first.clone()];
    for tool in ["ship", "pay"] {
        calls.push(json!({"tool": format!("mcp__p__{tool}"), "args": {"id": "ord-7f3a9c"}, "text": others, "is_error": others != "ok"}));
    }
    let mut side = trajectory(&calls);
    side.bindings = [2, 3]
        .map(|call| Binding {
            call,
            path: "/id".to_owned(),
            value: json!("ord-7f3a9c"),
            from: Source {
                call: 1,
                path: "/id".to_owned(),
            },
        })
        .to_vec();
    side
}

#[test]
fn what_needs_a_value_of_a_call_that_failed_follows_from_it() {
    let good =
        json!({"tool": "mcp__p__order", "args": {"what": "tea"}, "json": {"id": "ord-7f3a9c"}});
    let bad = json!({"tool": "mcp__p__order", "args": {"what": "tea"}, "text": "out of stock", "is_error": true});
    let comparison = score::compare(
        &bound(&good, "ok"),
        &bound(&bad, "no such order"),
        &Rules::default(),
    );
    let root = only(&comparison);
    assert_eq!(
        root.reason.sentence(),
        "call 1, mcp__p__order, failed: out of stock"
    );
    let follows: Vec<Option<usize>> = root.follows.iter().map(|it| it.baseline).collect();
    assert_eq!(follows[..2], [Some(2), Some(3)]);
    assert_eq!(hows(&comparison), [How::Needs, How::Needs]);
    assert_each_call_once(&comparison);
}

#[test]
fn what_was_not_reached_follows_from_the_call_that_ended_the_run() {
    let made = calls(&["a", "b", "c", "d"]);
    let mut failed = made[..2].to_vec();
    failed[1] =
        json!({"tool": "mcp__p__b", "args": {"n": 1}, "text": "no licence", "is_error": true});
    let mut current = listed(&failed, &[("a", ""), ("b", ""), ("c", ""), ("d", "")]);
    current.ending = Ending::Blocked {
        message: "no licence".to_owned(),
    };
    let before = listed(&made, &[("a", ""), ("b", ""), ("c", ""), ("d", "")]);
    let comparison = score::compare(&before, &current, &Rules::default());
    let root = only(&comparison);
    assert_eq!(
        root.reason.sentence(),
        "call 2, mcp__p__b, failed: no licence"
    );
    assert_eq!(
        root.follows
            .iter()
            .filter_map(|it| it.baseline)
            .collect::<Vec<_>>(),
        [3, 4]
    );
    assert_eq!(comparison.band, Band::Broken);
}

#[test]
fn calls_that_fail_with_one_message_are_one_cause_and_others_are_not() {
    let side = |messages: [&str; 3]| {
        let call = |(n, text): (usize, &str)| json!({"tool": format!("mcp__p__t{n}"), "args": {"n": n}, "text": text, "is_error": text != "ok"});
        messages
            .into_iter()
            .enumerate()
            .map(call)
            .collect::<Vec<_>>()
    };
    let headings = |now: [&str; 3]| {
        let comparison = compare(&side(["ok"; 3]), &side(now), &Rules::default());
        assert_each_call_once(&comparison);
        reason::grouped(&comparison.verdict.reasons, &comparison.changes).len()
    };
    assert_eq!(
        headings(["disk full (10 MB)", "ok", "disk full (12 MB)"]),
        1
    );
    assert_eq!(headings(["disk full", "ok", "no such file"]), 2);
}

#[test]
fn many_places_that_changed_in_one_way_are_one_line() {
    let list = |prefix: &str, version: &str| {
        let tools: Vec<Value> = (["echo", "add", "sum", "ping"].iter())
            .map(|it| json!({"name": format!("{prefix}{it}"), "version": version, "about": "some tool"}))
            .collect();
        [
            json!({"tool": "mcp__p__retrieve_tools", "args": {"q": "a"}, "json": {"tools": tools}, "reads": true}),
        ]
    };
    let line = |then: (&str, &str), now: (&str, &str)| {
        let exact = Rules {
            responses: model::rules::Responses::Exact,
            ..Rules::default()
        };
        let comparison = compare(&list(then.0, then.1), &list(now.0, now.1), &exact);
        only(&comparison).reason.sentence().replace(
            "call 1, mcp__p__retrieve_tools, answered the same request differently: ",
            "",
        )
    };
    for (then, now, expected) in [
        (
            ("", "1"),
            ("everything:", "1"),
            "every `tools/*/name` gained `everything:`",
        ),
        (
            ("everything:", "1"),
            ("", "1"),
            "every `tools/*/name` lost `everything:`",
        ),
        (
            ("ev:", "1"),
            ("everything:", "1"),
            "every `tools/*/name` begins with `everything` instead of `ev`",
        ),
        (
            ("", "1.0"),
            ("", "2.0"),
            "every `tools/*/version` is \"2.0\" instead of \"1.0\"",
        ),
    ] {
        assert_eq!(line(then, now), expected);
    }
}

/// What the changes of a run follow from: the place of the change in the list, and how.
fn followed(before: &[Value], now: &[Value]) -> Vec<Option<(usize, How)>> {
    let changes = compare(before, now, &Rules::default()).changes;
    let follows = changes
        .iter()
        .map(|it| it.follows.map(|it| (it.change, it.how)));
    follows.collect()
}

#[test]
fn what_follows_from_an_earlier_change_is_known() {
    let read = |tool: &str, answer: Value| json!({"tool": format!("mcp__p__{tool}"), "reads": true, "json": answer});
    let two = |was: [Value; 2], now: [Value; 2]| {
        let side = |[first, second]: [Value; 2]| [read("a", first), read("b", second)];
        followed(&side(was), &side(now))[1..].to_vec()
    };
    let price = |it: f64| json!({ "price": it });
    let total = |it: f64| json!({ "total": it });
    for (was, now, expected) in [
        // The same value, and one that is computed from it.
        (
            [price(19.99), total(19.99)],
            [price(24.99), total(24.99)],
            Some(How::SameValue),
        ),
        (
            [price(19.99), total(39.98)],
            [price(24.99), total(49.98)],
            Some(How::Derived),
        ),
        (
            [price(20.0), total(40.0)],
            [price(25.0), total(50.0)],
            Some(How::Derived),
        ),
        (
            [price(19.99), total(39.98)],
            [price(24.99), total(51.0)],
            None,
        ),
        // Small numbers, and those that have come to be one more, do so by chance.
        ([price(1.0), total(1.0)], [price(2.0), total(2.0)], None),
        ([price(2.0), total(4.0)], [price(4.0), total(8.0)], None),
        (
            [price(0.35), total(3.5)],
            [price(0.39), total(3.9)],
            Some(How::Derived),
        ),
        (
            [price(1000.0), total(2000.0)],
            [price(1001.0), total(2001.0)],
            None,
        ),
        (
            [json!({"a": true}), json!({"b": true})],
            [json!({"a": false}), json!({"b": false})],
            None,
        ),
        (
            [json!({"a": "eu"}), json!({"b": "eu"})],
            [json!({"a": "us"}), json!({"b": "us"})],
            None,
        ),
        (
            [json!({"plan": "basic"}), json!({"plan": "basic"})],
            [json!({"plan": "gold"}), json!({"plan": "gold"})],
            Some(How::SameValue),
        ),
        // Words that many things are called by.
        (
            [json!({"door": "open"}), json!({"ticket": "open"})],
            [json!({"door": "closed"}), json!({"ticket": "closed"})],
            None,
        ),
        // Factors that many things change by.
        (
            [price(500.0), total(64.0)],
            [price(250.0), total(32.0)],
            None,
        ),
        (
            [price(100.0), total(250.0)],
            [price(1000.0), total(2500.0)],
            None,
        ),
        (
            [price(300.0), total(21.0)],
            [price(-300.0), total(-21.0)],
            None,
        ),
        (
            [json!({"a": "basic"}), json!({"b": "basic"})],
            [json!({"a": "gold"}), json!({"b": "free"})],
            None,
        ),
    ] {
        let found = two(was.clone(), now.clone());
        let expected = expected.map(|how| (0, how));
        assert_eq!(found, [expected], "{was:?} {now:?}");
    }
}

#[test]
fn what_an_effect_had_changed_is_as_it_was_after_it_failed() {
    let write = |fails: bool| {
        let answer = if fails {
            json!("no space left")
        } else {
            json!({"file": "notes.txt"}).to_string().into()
        };
        json!({"tool": "mcp__p__write", "args": {"to": "draft"}, "text": answer, "is_error": fails})
    };
    let list = |files: Value| json!({"tool": "mcp__p__list", "reads": true, "json": files});
    let state = |it: &str, owner: &str| json!({"tool": "mcp__p__state", "reads": true, "json": {"state": it, "owner": owner}});
    let after = Some((0, How::AfterFailed));
    // What came with the effect, in its request or its response, did not come.
    let all = json!(["a.txt", "notes.txt", {"name": "draft"}]);
    assert_eq!(
        followed(
            &[write(false), list(all.clone())],
            &[write(true), list(json!(["a.txt"]))]
        ),
        [None, after, after]
    );
    // Calls that ask again until something is done have one number.
    let job = |it: &str| json!({"tool": "mcp__p__job", "reads": true, "json": {"job": it}});
    let polled = |rest: [Value; 2]| {
        [
            [job("runs"), job("runs"), job("done")].to_vec(),
            rest.to_vec(),
        ]
        .concat()
    };
    assert_eq!(
        followed(
            &polled([write(false), list(all.clone())]),
            &polled([write(true), list(json!(["a.txt"]))])
        ),
        [None, after, after]
    );
    // What was there before it is another bug.
    assert_eq!(
        followed(
            &[write(false), list(all)],
            &[write(true), list(json!(["notes.txt", {"name": "draft"}]))]
        ),
        [None, None]
    );
    // A state that it had changed is what it was.
    let (open, done) = (state("open", "ann"), state("done", "ann"));
    assert_eq!(
        followed(
            &[open.clone(), write(false), done.clone()],
            &[open.clone(), write(true), open.clone()]
        ),
        [None, after]
    );
    // One that is neither is another bug, and so is what it cannot have changed.
    assert_eq!(
        followed(
            &[open.clone(), write(false), done.clone()],
            &[open.clone(), write(true), state("lost", "Ann")]
        ),
        [None, None, None]
    );
    assert_eq!(
        followed(
            &[write(false), done.clone()],
            &[
                write(true),
                json!({"tool": "mcp__p__state", "reads": true, "json": {"state": "done"}})
            ]
        ),
        [None, None]
    );
    // It has to have been there before on both sides.
    let other = |it: &str| json!({"tool": "mcp__p__other", "reads": true, "json": {"state": it}});
    for (was, is) in [("new", "lost"), ("lost", "new")] {
        assert_eq!(
            followed(
                &[other(was), write(false), done.clone()],
                &[other(is), write(true), state("lost", "ann")]
            ),
            [None, None, None]
        );
    }
    // One that had always failed is no reason.
    assert_eq!(
        followed(
            &[open.clone(), write(true), done],
            &[open.clone(), write(true), open]
        ),
        [None]
    );
}

#[test]
fn members_of_an_object_that_was_replaced_are_one_cause() {
    let item = |place: Value| json!({"tool": "mcp__p__item", "reads": true, "json": {"name": "bolt", "place": place}});
    let again =
        |place: Value| json!({"tool": "mcp__p__same", "reads": true, "json": {"place": place}});
    let was = json!({"aisle": "A1", "shelf": 7, "side": "left"});
    let now = json!({"warehouse": "north", "bin": 12, "box": "b"});
    let inside = Some((0, How::SameObject));
    assert_eq!(
        followed(&[item(was.clone())], &[item(now.clone())]),
        [None, inside, inside, inside, inside, inside]
    );
    // One that lost some members and gained others is the same object.
    let (was, now) = (
        json!({"aisle": "A1", "shelf": 7}),
        json!({"row": "1", "bin": 12}),
    );
    assert_eq!(followed(&[item(was.clone())], &[item(now)]), [None; 4]);
    // The same that is gone in a later call is the same value.
    let gone = json!({"shelf": 7});
    assert_eq!(
        followed(
            &[item(was.clone()), again(was)],
            &[item(gone.clone()), again(gone)]
        ),
        [None, Some((0, How::SameValue))]
    );
}

#[test]
fn another_place_than_the_many_that_changed_alike_is_reported_by_itself() {
    let users = |factor: u32, is_public: bool| {
        let users: Vec<Value> = [10, 20, 30]
            .map(|seen| json!({"seen": if seen < 30 { seen * factor } else { seen }}))
            .into();
        [
            json!({"tool": "mcp__p__users", "reads": true, "json": {"users": users, "public": is_public}}),
        ]
    };
    let of = |factor, is_public| {
        let comparison = compare(
            &users(1, false),
            &users(factor, is_public),
            &Rules::default(),
        );
        let changes = comparison.changes.iter();
        let changes = changes.map(|it| (it.path.clone().unwrap_or_default(), it.follows));
        changes
            .map(|(path, follows)| (path, follows.map(|it| it.how)))
            .collect::<Vec<_>>()
    };
    let seen = |at: usize| format!("response/content/0/json/users/{at}/seen");
    assert_eq!(
        of(100, true),
        [
            (seen(0), None),
            (seen(1), Some(How::SameCall)),
            ("response/content/0/json/public".to_owned(), None),
        ]
    );
}

#[test]
fn a_refusal_names_what_it_refuses() {
    let tool = |of_id: &str| json!([{"name": "cancel", "inputSchema": {"type": "object", "properties": {"order_id": {"type": of_id}}}}]);
    let side = |of_id: &str, text: &str, is_error: bool| Trajectory {
        catalogue: crate::score_drift::catalogue(&tool(of_id)),
        ..trajectory(&[
            json!({"tool": "mcp__p__cancel", "args": {"order_id": "a-1"}, "text": text, "is_error": is_error}),
        ])
    };
    let hows_of = |text: &str, is_error: bool| {
        let comparison = score::compare(
            &side("string", "ok", false),
            &side("integer", text, is_error),
            &Rules::default(),
        );
        assert!(!comparison.verdict.passed);
        hows(&comparison)
    };
    let refused = [How::Refused];
    assert_eq!(hows_of("order_id must be an integer", true), refused);
    assert_eq!(hows_of("database is read-only", true), []);
    assert_eq!(hows_of("order_id is another one", false), []);
}
