//! Values that later requests take from earlier answers: found in recorded trajectories, and known again in a run.

use mcp_eval::model::rules::Rules;
use mcp_eval::model::{Binding, Comparison, Row, Step, ToolCall, Trajectory};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{assert_losses_add_up, trajectory};

fn call(tool: &str, args: &Value, answer: &Value) -> Value {
    json!({ "tool": format!("mcp__s__{tool}"), "args": args, "json": answer })
}

fn said(tool: &str, args: &Value, text: &str) -> Value {
    json!({ "tool": format!("mcp__s__{tool}"), "args": args, "text": text })
}

fn shown(bindings: &[Binding]) -> Vec<String> {
    bindings
        .iter()
        .map(|it| format!("{it} = {}", it.value))
        .collect()
}

#[track_caller]
fn assert_found(calls: &[Value], expected: &[&str]) {
    assert_eq!(shown(&score::find_bindings(&trajectory(calls))), expected);
}

/// The first take with what the others show.
fn learned(takes: &[Trajectory]) -> Trajectory {
    let learned = score::learn(takes, &Rules::default());
    Trajectory {
        learned: learned.answers,
        bindings: learned.bindings,
        ..takes[0].clone()
    }
}

fn recorded(calls: &[Value]) -> Trajectory {
    learned(&[trajectory(calls)])
}

#[track_caller]
fn compare(baseline: &Trajectory, current: &[Value]) -> Comparison {
    let comparison = score::compare(baseline, &trajectory(current), &Rules::default());
    assert_losses_add_up(&comparison, "bound");
    comparison
}

/// Request and response of each pair.
fn pairs(comparison: &Comparison) -> Vec<(f64, f64)> {
    let rows = comparison.rows.iter();
    rows.filter_map(|row| match row {
        Row::Pair(pair) => Some((pair.request.similarity, pair.response.similarity)),
        _ => None,
    })
    .collect()
}

#[test]
fn values_that_a_server_made_up_are_bound() {
    let get = |args: Value| call("get", &args, &json!({ "ok": true }));
    let create = |answer: Value| call("create", &json!({ "title": "a" }), &answer);
    let cases = [
        (
            create(json!({ "id": "item-8731" })),
            json!({ "id": "item-8731" }),
            "call 2 /id ← call 1 response /id = \"item-8731\"",
        ),
        (
            create(json!({ "id": 482_913 })),
            json!({ "id": 482_913 }),
            "call 2 /id ← call 1 response /id = 482913",
        ),
        (
            create(json!({ "id": 482_913 })),
            json!({ "id": "482913" }),
            "call 2 /id ← call 1 response /id = \"482913\"",
        ),
        (
            create(json!({ "id": "4f2a" })),
            json!({ "at": [{ "url": "https://h/i/4f2a/edit" }] }),
            "call 2 /at/0/url ← call 1 response /id = \"4f2a\"",
        ),
        (
            create(json!({ "t": "tok_ab12" })),
            json!({ "auth": "Bearer tok_ab12" }),
            "call 2 /auth ← call 1 response /t = \"tok_ab12\"",
        ),
        (
            create(json!({ "dir": "/tmp/ws-8f3a" })),
            json!({ "path": "/tmp/ws-8f3a/src/main.rs" }),
            "call 2 /path ← call 1 response /dir = \"/tmp/ws-8f3a\"",
        ),
        (
            create(json!({ "id": "k7k7" })),
            json!({ "args_json": "{\"id\": \"k7k7\"}" }),
            "call 2 /args_json ← call 1 response /id = \"k7k7\"",
        ),
        (
            create(json!({ "body": "{\"id\": \"k7k7\"}" })),
            json!({ "id": "k7k7" }),
            "call 2 /id ← call 1 response /body/json/id = \"k7k7\"",
        ),
        (
            create(json!({ "a/b": { "~": ["k7k7"] } })),
            json!({ "id": "k7k7" }),
            "call 2 /id ← call 1 response /a~1b/~0/0 = \"k7k7\"",
        ),
        (
            create(json!({ "content": "k7k7" })),
            json!({ "id": "k7k7" }),
            "call 2 /id ← call 1 response /content/0/json/content = \"k7k7\"",
        ),
        (
            said("create", &json!({}), "Created item 7f3c-91."),
            json!({ "id": "7f3c-91" }),
            "call 2 /id ← call 1 response /content/0/text = \"7f3c-91\"",
        ),
        (
            json!({ "tool": "mcp__s__create", "content": [{ "type": "resource_link", "uri": "mem://8731x1", "name": "n" }] }),
            json!({ "uri": "mem://8731x1" }),
            "call 2 /uri ← call 1 response /content/0/uri = \"mem://8731x1\"",
        ),
        (
            json!({ "tool": "mcp__s__create", "structured": { "id": "k7k7" }, "json": { "id": "k7k7" } }),
            json!({ "id": "k7k7" }),
            "call 2 /id ← call 1 response /id = \"k7k7\"",
        ),
        (
            json!({ "tool": "mcp__s__create", "content": [{ "type": "text", "text": "ok" }, { "type": "text", "text": "{\"id\": \"k7k7\"}" }] }),
            json!({ "id": "k7k7" }),
            "call 2 /id ← call 1 response /content/1/json/id = \"k7k7\"",
        ),
    ];
    // A number that a count happens to equal comes from where an id stands.
    let small = [
        call(
            "create",
            &json!({}),
            &json!({ "count": 17, "items": [{ "id": 17 }] }),
        ),
        call("get", &json!({ "item_id": 17, "limit": 17 }), &json!({})),
    ];
    assert_found(
        &small,
        &["call 2 /item_id ← call 1 response /items/0/id = 17"],
    );
    for (create, args, expected) in cases {
        assert_found(&[create, get(args)], &[expected]);
    }
}

#[test]
fn the_earliest_answer_is_the_source() {
    let id = json!({ "id": "item-8731" });
    assert_found(
        &[
            call("create", &json!({}), &id),
            call("get", &id, &id),
            call("delete", &id, &json!({})),
        ],
        &[
            "call 2 /id ← call 1 response /id = \"item-8731\"",
            "call 3 /id ← call 1 response /id = \"item-8731\"",
        ],
    );
}

#[test]
fn what_nobody_made_up_is_not_bound() {
    let user = |text: &str, calls: &[Value]| {
        let mut trajectory = trajectory(calls);
        trajectory.steps.insert(
            0,
            Step::User {
                text: text.to_owned(),
            },
        );
        score::find_bindings(&trajectory)
    };
    let id = json!({ "id": "item-8731" });
    // The client's own, echoed.
    assert_found(&[call("create", &id, &id), call("get", &id, &id)], &[]);
    assert_found(
        &[
            call("create", &json!({ "q": "see item-8731, please" }), &id),
            call("get", &id, &id),
        ],
        &[],
    );
    let calls = [call("list", &json!({}), &id), call("get", &id, &id)];
    assert_eq!(user("show me item-8731.", &calls), []);
    assert_eq!(user("show me item-9999", &calls).len(), 1);
    // Words, flags, small numbers, versions and names are no ids.
    let answer = json!({ "name": "github:search", "on": true, "n": 17, "v": "1.12.3", "day": "2026-01-02", "none": null });
    let args = json!({ "tool": "github:search", "on": true, "limit": 17, "version": "1.12.3", "day": "2026-01-02", "none": null });
    assert_found(
        &[
            call("list", &json!({}), &answer),
            call("call", &args, &json!({})),
        ],
        &[],
    );
    // What a tool's description names was known before.
    let mut listed = trajectory(&calls);
    let tool = &mut listed.catalogue.servers[0].tools[1].served;
    tool.insert("description".to_owned(), "for example `item-8731`".into());
    assert_eq!(score::find_bindings(&listed), []);
    // A tool that is not asked again gives nothing.
    let mut elsewhere = trajectory(&[calls[0].clone(), calls[1].clone()]);
    let Step::ToolCall(first) = &mut elsewhere.steps[0] else {
        panic!()
    };
    first.server = None;
    assert_eq!(score::find_bindings(&elsewhere), []);
}

#[test]
fn takes_tell_what_is_bound() {
    let take = |id: &str, load: u32| {
        trajectory(&[
            call(
                "create",
                &json!({}),
                &json!({ "id": id, "load": load, "kind": "plain" }),
            ),
            call(
                "get",
                &json!({ "id": id, "limit": 57, "kind": "plain" }),
                &json!({ "id": id, "load": load }),
            ),
        ])
    };
    // A word that looks chosen, but followed its source in both takes; a number that did not, though it looks made up.
    let first = learned(&[take("brave otter", 57), take("calm heron", 58)]);
    assert_eq!(
        shown(&first.bindings),
        ["call 2 /id ← call 1 response /id = \"brave otter\""]
    );
    let volatile: Vec<(usize, Vec<String>)> = first
        .learned
        .iter()
        .map(|it| (it.call, it.paths().map(str::to_owned).collect()))
        .collect();
    let paths = |it: &[&str]| {
        it.iter()
            .map(|it| format!("/content/0/json/{it}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(volatile[0], (1, paths(&["id", "load"])));
    assert!(
        volatile[1].1.contains(&"/content/0/json/load".to_owned()),
        "learned although the requests differ"
    );
    let big = |id: &str, size: u32| {
        trajectory(&[
            call("create", &json!({}), &json!({ "id": id, "size": size })),
            call(
                "get",
                &json!({ "id": id, "max": 100_000 }),
                &json!({ "ok": true }),
            ),
        ])
    };
    let first = learned(&[big("a1b2", 100_000), big("c3d4", 200_000)]);
    assert_eq!(
        shown(&first.bindings),
        ["call 2 /id ← call 1 response /id = \"a1b2\""]
    );
}

/// Create, get and delete of an item.
fn flow(id: &str) -> Vec<Value> {
    let args = json!({ "id": id });
    vec![
        call(
            "create",
            &json!({ "title": "a" }),
            &json!({ "id": id, "edit": format!("https://h/{id}/edit") }),
        ),
        call(
            "get",
            &args,
            &json!({ "items": { id: { "id": id, "note": format!("see {id}, {id}") } } }),
        ),
        said("delete", &args, &format!("Deleted item {id}.")),
    ]
}

#[test]
fn another_id_throughout_is_the_same() {
    let baseline = recorded(&flow("item-8731"));
    for other in ["item-9012", "k3k3k3k3", "00ff-aa11-9", "item-87311"] {
        let comparison = compare(&baseline, &flow(other));
        assert!(
            (comparison.scores.overall - 1.0).abs() < 1e-12,
            "{other}: {comparison:#?}"
        );
        assert!(comparison.verdict.passed);
    }
}

#[test]
fn of_a_text_only_what_later_calls_take_from_it_may_vary() {
    let take = |key: &str, size: u32| {
        let text = format!("It was cut at {size} signs. Read on with the key {key}, from page 1.");
        trajectory(&[
            said("read", &json!({}), &text),
            call("page", &json!({ "key": key }), &json!({ "rows": [1] })),
        ])
    };
    let [one, two, three] = ["a91f3c20d87b4e65", "77c0e1b2f4a85d36", "0d5be8f19c2746aa"];
    let baseline = learned(&[take(one, 100), take(two, 100)]);
    assert_eq!(baseline.bindings.len(), 1, "{:?}", baseline.bindings);
    let same = score::compare(&baseline, &take(three, 100), &Rules::default());
    assert!((same.scores.overall - 1.0).abs() < 1e-9, "{same:#?}");
    let other = score::compare(&baseline, &take(three, 200), &Rules::default());
    assert!(other.scores.overall < 1.0, "{other:#?}");
}

#[test]
fn an_id_is_bound_wherever_it_is_used() {
    // By itself it could be a name; as the value of an `id` it is one.
    let calls = [
        call("create", &json!({}), &json!({ "id": "tok_xbedfdba1" })),
        call(
            "open",
            &json!({ "url": "https://h/tok_xbedfdba1/edit" }),
            &json!({}),
        ),
        call("get", &json!({ "id": "tok_xbedfdba1" }), &json!({})),
    ];
    let bound = [
        "call 2 /url ← call 1 response /id = \"tok_xbedfdba1\"",
        "call 3 /id ← call 1 response /id = \"tok_xbedfdba1\"",
    ];
    assert_found(&calls, &bound);
    assert_found(&calls[..2], &[]);
}

#[test]
fn an_old_id_that_turns_up_again_is_another_answer() {
    let baseline = recorded(&flow("item-8731"));
    let mut stale = flow("item-9012");
    stale[2] = said(
        "delete",
        &json!({ "id": "item-9012" }),
        "Deleted item item-8731.",
    );
    let comparison = compare(&baseline, &stale);
    assert!(pairs(&comparison)[2].1 < 1.0, "{comparison:#?}");
    // And it is reported as it was sent.
    let Row::Pair(pair) = &comparison.rows[2] else {
        panic!()
    };
    assert_eq!(
        pair.response.differences[0].got.as_deref(),
        Some("\"Deleted item item-8731.\"")
    );
    let loss = comparison.losses.last().and_then(|it| it.got.as_deref());
    assert_eq!(loss, Some("\"Deleted item item-8731.\""));
    assert_eq!(pair.request.parameters[0].method, "bound");
}

#[test]
fn an_agent_that_uses_another_value_asked_differently() {
    let baseline = recorded(&flow("item-8731"));
    let mut other = flow("item-9012");
    other[1] = call(
        "get",
        &json!({ "id": "item-8731" }),
        &json!({ "error": "unknown" }),
    );
    let comparison = compare(&baseline, &other);
    assert!(
        pairs(&comparison)[1].0 < 1.0,
        "the recorded id is no id of this run: {comparison:#?}"
    );
    let Row::Pair(pair) = &comparison.rows[1] else {
        panic!()
    };
    assert_eq!(pair.request.parameters[0].method, "stale");
}

#[test]
fn an_id_that_is_known_to_stay_the_same_is_a_change_where_it_came_from() {
    let baseline = learned(&[
        trajectory(&flow("item-8731")),
        trajectory(&flow("item-8731")),
    ]);
    let comparison = compare(&baseline, &flow("item-9012"));
    let pairs = pairs(&comparison);
    assert!(pairs[0].1 < 0.6, "{comparison:#?}");
    assert_eq!(
        &pairs[1..],
        [(1.0, 1.0), (1.0, 1.0)],
        "later calls only use it"
    );
    let Row::Pair(pair) = &comparison.rows[0] else {
        panic!()
    };
    let got: Vec<_> = pair
        .response
        .differences
        .iter()
        .filter_map(|it| it.got.as_deref())
        .collect();
    assert!(got.iter().any(|it| it.contains("item-9012")), "{got:?}");
}

#[test]
fn two_ids_are_not_taken_for_each_other() {
    let two = |a: &str, b: &str, deleted: &str| {
        vec![
            call("create", &json!({ "title": "a" }), &json!({ "id": a })),
            call("create", &json!({ "title": "b" }), &json!({ "id": b })),
            said(
                "delete",
                &json!({ "id": deleted }),
                &format!("Deleted {deleted}"),
            ),
        ]
    };
    let baseline = recorded(&two("T-1001", "T-1002", "T-1002"));
    // Ids that overlap with the recorded ones are the common case with a counter.
    let same = compare(&baseline, &two("T-1002", "T-1003", "T-1003"));
    assert!((same.scores.overall - 1.0).abs() < 1e-12, "{same:#?}");
    let wrong = compare(&baseline, &two("T-1002", "T-1003", "T-1002"));
    assert!(
        pairs(&wrong)[2].0 < 1.0,
        "the first was deleted instead of the second: {wrong:#?}"
    );
}

#[test]
fn a_number_that_is_no_id_is_not_excused_by_one() {
    let run = |id: u32, count: u32| {
        vec![
            call("create", &json!({}), &json!({ "id": id })),
            call("get", &json!({ "id": id }), &json!({ "ok": true })),
            call("stats", &json!({}), &json!({ "max": count })),
        ]
    };
    let take = |id: u32| trajectory(&run(id, 4711));
    let baseline = learned(&[take(4711), take(4712)]);
    assert!(compare(&baseline, &run(4713, 4711)).verdict.passed);
    let other = compare(&baseline, &run(4713, 4713));
    assert!(!other.verdict.passed, "{other:#?}");
}

#[test]
fn ids_that_nobody_uses_are_known_by_those_that_somebody_does() {
    let listed = |ids: [&str; 3]| {
        let items: Vec<Value> = ["a", "b", "c"]
            .iter()
            .zip(ids)
            .map(|(title, id)| json!({ "title": title, "id": id }))
            .collect();
        vec![
            call(
                "list",
                &json!({}),
                &json!({ "items": items, "cursor": "x9x9" }),
            ),
            call("get", &json!({ "id": ids[1] }), &json!({ "ok": true })),
        ]
    };
    let baseline = recorded(&listed(["a1a1", "b2b2", "c3c3"]));
    let other = compare(&baseline, &listed(["d4d4", "e5e5", "f6f6"]));
    assert!((other.scores.overall - 1.0).abs() < 1e-12, "{other:#?}");
    // Beside them, everything counts.
    let mut cursor = listed(["d4d4", "e5e5", "f6f6"]);
    cursor[0]["json"]["cursor"] = json!("y8y8");
    assert!(compare(&baseline, &cursor).scores.overall < 1.0);
}

fn is_whole(score: f64) -> bool {
    (score - 1.0).abs() < 1e-12
}

#[test]
fn polls_count_once_however_often_they_ask() {
    let status = |state: &str| {
        let mut call = call(
            "job_status",
            &json!({ "job": "j-7731" }),
            &json!({ "state": state, "job": "j-7731" }),
        );
        call["reads"] = json!(true);
        call
    };
    let end = said("fetch", &json!({}), "42 pages");
    let run = |states: &[&str]| -> Vec<Value> {
        states
            .iter()
            .map(|it| status(it))
            .chain([end.clone()])
            .collect()
    };
    let baseline = recorded(&run(&["running", "running", "finished"]));
    for states in [
        &["finished"][..],
        &["queued", "finished"],
        &["running"; 9],
        &["running", "queued", "x", "finished"],
    ] {
        let comparison = compare(&baseline, &run(states));
        let is_finished = states.last() == Some(&"finished");
        assert!(is_whole(comparison.scores.trajectory), "{states:?}");
        assert_eq!(
            is_whole(comparison.scores.overall),
            is_finished,
            "{states:?}: {comparison:#?}"
        );
        assert_eq!(comparison.rows.len(), 2);
        let Row::Pair(pair) = &comparison.rows[1] else {
            panic!()
        };
        assert_eq!(
            (pair.baseline, pair.current),
            (4, states.len() + 1),
            "calls keep their numbers"
        );
    }
    // What does not change is no poll, and neither is what changes something.
    let twice = recorded(&run(&["finished", "finished"]));
    assert!(compare(&twice, &run(&["finished"])).scores.trajectory < 1.0);
    let effect = |state: &str| call("next", &json!({}), &json!({ "state": state }));
    let effects = recorded(&[effect("a"), effect("b")]);
    assert!(compare(&effects, &[effect("b")]).scores.trajectory < 1.0);
}

#[test]
fn a_poll_is_over_when_it_says_what_it_said_at_last() {
    let status = |state: &str, elapsed: f64, more: &str| {
        let mut answer = json!({ "state": state, "elapsed": elapsed, "job": "j-7731" });
        if !more.is_empty() {
            answer[more] = json!("new");
        }
        let mut call = call("job_status", &json!({}), &answer);
        call["reads"] = json!(true);
        call
    };
    let baseline = recorded(&[
        status("running", 0.01, ""),
        status("running", 0.4, ""),
        status("done", 0.8, ""),
    ]);
    let rules = Rules::default();
    let poll = score::polls(&baseline, &rules)[0];
    let is_over = |live: Value| {
        let live = trajectory(&[live]);
        let outcome = live.calls().next().unwrap().outcome.clone();
        score::is_final_answer(
            &baseline,
            &rules,
            poll,
            &outcome,
            &score::IdTranslation::default(),
        )
    };
    assert!(is_over(status("done", 0.8, "")));
    assert!(is_over(status("done", 64.2, "")), "it took longer");
    assert!(is_over(status("done", 64.2, "owner")), "a field was added");
    assert!(!is_over(status("running", 0.8, "")));
    assert!(!is_over(status("running", 64.2, "owner")));
    assert!(!is_over(status("failed", 0.8, "")));
    // Where the answers differ only in a number, that number is waited for.
    let percent = |done: u32| {
        let mut call = said("check_job", &json!({}), &format!("{done} percent done"));
        call["reads"] = json!(true);
        call
    };
    let baseline = recorded(&[percent(10), percent(60), percent(100)]);
    let poll = score::polls(&baseline, &rules)[0];
    for (done, expected) in [(60, false), (75, false), (100, true)] {
        let live = trajectory(&[percent(done)]);
        let outcome = live.calls().next().unwrap().outcome.clone();
        let translation = score::IdTranslation::default();
        assert_eq!(
            score::is_final_answer(&baseline, &rules, poll, &outcome, &translation),
            expected,
            "{done}"
        );
    }
}

#[test]
fn a_binding_names_a_call_of_its_own_trajectory() {
    let baseline = recorded(&flow("item-8731"));
    let calls: Vec<&ToolCall> = baseline.calls().collect();
    for binding in &baseline.bindings {
        assert!(binding.from.call < binding.call && binding.call <= calls.len());
    }
    // Bindings that fit nothing, as a file edited by hand may hold, are no harm.
    let mut odd = baseline.clone();
    for (call, from) in [(0, 0), (9, 1), (2, 9), (1, 3)] {
        let mut binding = baseline.bindings[0].clone();
        (binding.call, binding.from.call) = (call, from);
        odd.bindings.push(binding);
    }
    assert!((compare(&odd, &flow("item-9012")).scores.overall - 1.0).abs() < 1e-12);
}

/// A call of a tool that answers with an item, in one of the forms in which servers do.
fn answered(form: &str, tool: &str, args: &Value, item: &Value) -> Value {
    let text = item.to_string();
    let mut call = json!({ "tool": format!("mcp__s__{tool}"), "args": args, "text": text });
    match form {
        "structured" => call["structured"] = item.clone(),
        "result in a text" => call["structured"] = json!({ "result": text }),
        "result" => call["structured"] = json!({ "result": item }),
        "prose" => call["text"] = json!(format!("Item {} is there.", item["id"]).replace('"', "")),
        _ => {}
    }
    call
}

/// Makes two items, and opens some of them.
fn two_of_one_tool(form: &str, reads: bool, ids: &[Value; 2], opened: &[usize]) -> Vec<Value> {
    let made = ids.iter().map(|id| {
        let mut call = answered(form, "make", &json!({}), &json!({ "id": id }));
        call["reads"] = json!(reads);
        call
    });
    let opened = opened.iter().map(|at| {
        let item = json!({ "id": ids[*at], "title": format!("item {at}") });
        answered(form, "open", &json!({ "id": ids[*at] }), &item)
    });
    made.chain(opened).collect()
}

#[test]
fn ids_that_one_tool_makes_twice_are_distinguished() {
    let kinds: [fn(u32) -> Value; 8] = [
        |n| {
            json!(format!(
                "{:08x}-3c1d-4a52-9a54-0d2f6f0b1a11",
                n * 0x0101_4d57
            ))
        },
        |n| json!(format!("{:x}a{n}", 0x4f + n)),
        |n| json!(482_913 + n * 31),
        |n| json!(17 + n),
        |n| {
            json!(
                [
                    "quiet-otter",
                    "brave-lion",
                    "green-amber",
                    "grey-stone",
                    "tall-tree",
                    "red-fox"
                ][n as usize]
            )
        },
        |n| {
            json!(format!(
                "https://h.example/items/{:06x}",
                n * 0x01_4d57 + 0xa1
            ))
        },
        |n| json!(format!("/tmp/ws-{:08x}/src", n * 0x0a01_4d57)),
        |n| json!(format!("item_{:06x}", n * 0x0a_4d57 + 0x3f)),
    ];
    let forms = ["text", "structured", "result in a text", "result", "prose"];
    for (kind, id) in kinds.iter().enumerate() {
        for form in forms.iter().filter(|it| kind != 4 || **it != "prose") {
            for reads in [false, true] {
                for opened in [&[0][..], &[1], &[0, 1], &[1, 0], &[0, 0, 1]] {
                    // Of reads of which only the last is used, those before it are tries of a poll.
                    if reads && !opened.contains(&0) {
                        continue;
                    }
                    let run = |n: u32| two_of_one_tool(form, reads, &[id(n), id(n + 1)], opened);
                    let case = format!("{form}, {} {opened:?} {reads}", id(0));
                    let baseline = learned(&[trajectory(&run(0)), trajectory(&run(2))]);
                    let compared = compare(&baseline, &run(4));
                    assert!(compared.verdict.passed, "{case}: {:?}", compared.verdict);
                    assert_eq!(compared.changes, [], "{case}: {baseline:#?}");
                    // The other item is another one, whatever it is called.
                    let others: Vec<usize> = opened.iter().map(|it| 1 - it).collect();
                    let other = two_of_one_tool(form, reads, &[id(4), id(5)], &others);
                    assert_ne!(compare(&baseline, &other).changes, [], "{case}");
                }
            }
        }
    }
}

#[test]
fn bound_places_vary_as_what_they_are() {
    let run = |id: &str| two_of_one_tool("text", false, &[json!(id), json!("k7k7k7k7")], &[0]);
    let cases = [
        (
            "3f9a12c4",
            "82e782ac",
            "0d2f6f0b",
            ["undefined", "not there", "00000000"],
        ),
        (
            "https://h/i/3f9a12c4",
            "https://h/i/82e782ac",
            "https://h/i/0d2f6f0b",
            ["https://g/i/0d2f6f0b", "/i/0d2f6f0b", "null"],
        ),
    ];
    for (first, second, third, wrong) in cases {
        let baseline = learned(&[trajectory(&run(first)), trajectory(&run(second))]);
        assert_eq!(compare(&baseline, &run(third)).changes, [], "{third}");
        for id in wrong {
            let compared = compare(&baseline, &run(id));
            assert!(!compared.verdict.passed, "{id} {:#?}", baseline.learned);
        }
    }
}
