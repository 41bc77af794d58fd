//! The rules of a scenario on how it is scored.

use mcp_eval::model::rules::{
    ArgumentMatch, ArgumentRule, Gate, Preset, ReadRule, Responses, Rules, Slower, Tokens,
};
use mcp_eval::model::usage::{ModelRequest, Usage};
use mcp_eval::model::{Catalogue, Comparison, Edit, Piece, What};
use mcp_eval::score::{self, KnownCall, check_path, idle_rules};
use serde_json::{Value, json};

use crate::score_kit::{
    assert_close, assert_losses_add_up, cases, compare, object, only_pair, recorded, trajectory,
};

fn rule(tool: Option<&str>, argument: &str, how: ArgumentMatch) -> ArgumentRule {
    ArgumentRule {
        tool: tool.map(str::to_owned),
        argument: argument.to_owned(),
        how,
    }
}

/// The request similarity of two sets of arguments of tool `find`.
fn requested(rules: Vec<ArgumentRule>, b: &Value, c: &Value) -> f64 {
    let call = |args: &Value| [json!({"tool": "mcp__p__find", "args": args, "reads": true})];
    let rules = Rules {
        arguments: rules,
        ..Rules::default()
    };
    let comparison = compare(&call(b), &call(c), &rules);
    assert_losses_add_up(&comparison, "rules");
    only_pair(&comparison).request.similarity
}

fn assert_near(got: f64, expected: f64) {
    assert!(
        (got - expected).abs() < 1e-9,
        "expected {expected}, got {got}"
    );
}

#[test]
fn an_exact_argument_decides_the_whole_request() {
    let exact = || vec![rule(None, "op", ArgumentMatch::Exact)];
    assert_near(
        requested(
            exact(),
            &json!({"op": "add", "n": 1}),
            &json!({"op": "Add", "n": 1}),
        ),
        0.0,
    );
    assert_near(
        requested(exact(), &json!({"op": "add", "n": 1}), &json!({"n": 1})),
        0.0,
    );
    assert_near(
        requested(
            exact(),
            &json!({"op": "add", "n": 1}),
            &json!({"op": "add", "n": 1}),
        ),
        1.0,
    );
}

#[test]
fn an_ignored_argument_does_not_count_at_all() {
    let ignored = || vec![rule(Some("find"), "trace", ArgumentMatch::Ignore)];
    assert_near(
        requested(
            ignored(),
            &json!({"q": "a", "trace": 1}),
            &json!({"q": "a", "trace": 9}),
        ),
        1.0,
    );
    assert_near(
        requested(
            ignored(),
            &json!({"q": "a", "trace": 1}),
            &json!({"q": "a"}),
        ),
        1.0,
    );
    assert_near(requested(ignored(), &json!({"trace": 1}), &json!({})), 1.0);
}

#[test]
fn a_rule_of_another_tool_has_no_effect() {
    let other = vec![rule(Some("seek"), "q", ArgumentMatch::Ignore)];
    assert_near(
        requested(other, &json!({"q": "a"}), &json!({"q": "b"})),
        0.3,
    );
}

#[test]
fn the_last_rule_wins() {
    let both = vec![
        rule(None, "q", ArgumentMatch::Exact),
        rule(Some("find"), "q", ArgumentMatch::Any),
    ];
    assert_near(requested(both, &json!({"q": "a"}), &json!({"q": "b"})), 1.0);
}

#[test]
fn numbers_can_have_their_own_span() {
    let span = || vec![rule(None, "n", ArgumentMatch::Number { max_diff: 100.0 })];
    assert_near(
        requested(span(), &json!({"n": 10}), &json!({"n": 60})),
        0.3 + 0.7 * 0.5,
    );
    assert_near(
        requested(span(), &json!({"n": 10}), &json!({"n": "60"})),
        0.3 + 0.7 * 0.5,
    );
    assert_near(
        requested(span(), &json!({"n": 10}), &json!({"n": "many"})),
        0.3,
    );
    let broken = vec![rule(
        None,
        "n",
        ArgumentMatch::Number { max_diff: f64::NAN },
    )];
    assert_near(requested(broken, &json!({"n": 10}), &json!({"n": 60})), 0.3);
}

#[test]
fn some_rules_look_at_the_current_value_alone() {
    let one_of = || {
        vec![rule(
            None,
            "n",
            ArgumentMatch::OneOf(vec![json!(1), json!("x")]),
        )]
    };
    assert_near(
        requested(one_of(), &json!({"n": 7}), &json!({"n": 1.0})),
        1.0,
    );
    assert_near(requested(one_of(), &json!({"n": 7}), &json!({"n": 7})), 0.3);
    assert_near(requested(one_of(), &json!({}), &json!({"n": "x"})), 1.0);
    assert_near(requested(one_of(), &json!({"n": 1}), &json!({})), 0.0);
    let regex = || vec![rule(None, "n", ArgumentMatch::Regex("^env".to_owned()))];
    assert_near(
        requested(regex(), &json!({"n": "a"}), &json!({"n": "env vars"})),
        1.0,
    );
    assert_near(
        requested(regex(), &json!({"n": "a"}), &json!({"n": "the env"})),
        0.3,
    );
    let unreadable = vec![rule(None, "n", ArgumentMatch::Regex("(".to_owned()))];
    assert_near(
        requested(unreadable, &json!({"n": "a"}), &json!({"n": "a"})),
        0.3,
    );
}

#[test]
fn words_do_not_look_into_json() {
    let words = vec![rule(None, "q", ArgumentMatch::Words)];
    let (b, c) = (json!({"q": "{\"a\": 1}"}), json!({"q": "{\"a\": 2}"}));
    assert_near(requested(words, &b, &c), 0.3 + 0.7 / 3.0);
}

#[test]
fn an_argument_left_out_is_there_if_it_has_the_default() {
    let side = |args: &Value| {
        let mut side = trajectory(&[json!({"tool": "mcp__p__find", "args": args})]);
        let schema = json!({"properties": {"limit": {"type": "integer", "default": 10}}});
        let tool = &mut side.catalogue.servers[0].tools[0];
        tool.served.insert("inputSchema".to_owned(), schema);
        side
    };
    let requested = |b: &Value, c: &Value| {
        score::compare(&side(b), &side(c), &Rules::default())
            .scores
            .trajectory
    };
    assert_near(requested(&json!({"limit": 10}), &json!({})), 1.0);
    assert_near(requested(&json!({}), &json!({"limit": 10.0})), 1.0);
    assert_near(requested(&json!({"limit": 5}), &json!({})), 0.0);
}

#[test]
fn a_tool_reads_by_annotation_or_by_rule() {
    let b = [
        json!({"tool": "mcp__p__servers", "args": {"operation": "list", "q": "one"}, "text": "same"}),
    ];
    let c = [
        json!({"tool": "mcp__p__servers", "args": {"operation": "list", "q": "two"}, "text": "same"}),
    ];
    let read = |tool: &str, arguments: &Value| Rules {
        reads: vec![ReadRule {
            tool: tool.to_owned(),
            arguments: object(arguments),
        }],
        ..Rules::default()
    };
    let overall = |rules: &Rules| compare(&b, &c, rules).scores.overall;
    assert_near(overall(&Rules::default()), 0.3 + 0.7 * 0.5);
    for tool in ["servers", "mcp__p__servers"] {
        assert_near(overall(&read(tool, &json!({"operation": "list"}))), 0.9);
    }
    assert_near(
        overall(&read("servers", &json!({"operation": "add"}))),
        0.65,
    );
    assert_near(overall(&read("other", &json!({}))), 0.65);
}

#[test]
fn a_recording_without_a_catalogue_learns_from_the_other_side_what_reads() {
    let call = |q: &str| {
        [json!({"tool": "mcp__p__find", "args": {"q": q}, "reads": true, "text": "same"})]
    };
    let comparison = score::compare(
        &recorded(&call("a")),
        &trajectory(&call("b")),
        &Rules::default(),
    );
    assert_near(comparison.scores.overall, 0.9);
}

#[test]
fn ignored_paths() {
    for case in cases("ignored.json") {
        let call = |side: &Value| [json!({"tool": "mcp__p__t", "json": side})];
        for path in case["paths"].as_array().unwrap() {
            let rules = Rules {
                ignore: vec![path.as_str().unwrap().to_owned()],
                ..Rules::default()
            };
            let comparison = compare(&call(&case["baseline"]), &call(&case["current"]), &rules);
            let response = &only_pair(&comparison).response;
            let expected = case["similarity"].as_f64().unwrap();
            assert!(
                (response.similarity - expected).abs() < 1e-9,
                "{} {path}: expected {expected}, got {response:?}",
                case["name"]
            );
            assert_losses_add_up(&comparison, path.as_str().unwrap());
        }
    }
}

/// A baseline whose answer was received twice, and a run of the same call.
fn held(baseline: &Value, current: &Value, ignore: &[&str]) -> Comparison {
    let takes = [0, 1].map(|_| trajectory(std::slice::from_ref(baseline)));
    let rules = Rules {
        ignore: ignore.iter().map(|it| (*it).to_owned()).collect(),
        ..Rules::default()
    };
    let mut baseline = takes[0].clone();
    baseline.learned = score::learn(&takes, &rules).answers;
    score::compare(
        &baseline,
        &trajectory(std::slice::from_ref(current)),
        &rules,
    )
}

#[test]
fn ignored_paths_hold_for_answers_that_were_received_twice() {
    let structured = |total: u32, page: u32| json!({"tool": "mcp__p__t", "reads": true, "text": "ok", "structured": {"total": total, "page": page}});
    let passes = |now: &Value| held(&structured(1, 1), now, &["$.total"]).verdict.passed;
    assert!(passes(&structured(2, 1)));
    assert!(!passes(&structured(2, 2)));

    // Rows are distinguished only by what is compared.
    let row = |name: &str, mark: &str| json!({"name": name, "etag": mark, "version": mark});
    let rows = |rows: &[Value]| json!({"tool": "mcp__p__t", "reads": true, "json": {"rows": rows}});
    let then = rows(&[row("a", "x"), row("b", "y")]);
    let now = rows(&[row("new", "x"), row("a", "y"), row("b", "z")]);
    let ignore = ["$.rows[*].etag", "$.rows[*].version"];
    let comparison = held(&then, &now, &ignore);
    assert!(comparison.verdict.passed, "{:?}", comparison.verdict);
}

#[test]
fn what_only_took_longer_is_not_what_failed() {
    let answer = |ms: u32, total: u32| json!({"tool": "mcp__p__t", "reads": true, "json": {"took_ms": ms, "total": total}});
    let comparison = held(&answer(3, 1), &answer(9_000, 2), &[]);
    let marked: Vec<(&str, bool)> = (comparison.changes.iter())
        .map(|it| (it.path.as_deref().unwrap(), it.fails))
        .collect();
    assert_eq!(
        marked,
        [
            ("response/content/0/json/took_ms", false),
            ("response/content/0/json/total", true)
        ]
    );
}

#[test]
fn an_element_that_moved_hides_no_other_that_is_new() {
    let rows = |rows: Value| json!({"tool": "mcp__p__t", "reads": true, "json": {"rows": rows}});
    let (then, now) = (rows(json!(["a", 1, 2])), rows(json!([1, 2, "a", "a"])));
    let changes = held(&then, &now, &[]).changes;
    let shown: Vec<&What> = changes.iter().map(|it| &it.what).collect();
    let expected = [Edit::Displaced, Edit::Added(Piece::Element)].map(What::Answer);
    assert_eq!(shown, expected.iter().collect::<Vec<_>>());
}

fn strict() -> Rules {
    Rules {
        strict: true,
        ..Rules::default()
    }
}

#[test]
fn where_nothing_may_change_whatever_changes_fails() {
    let read =
        |q: &str| json!({"tool": "mcp__p__find", "args": {"q": q}, "reads": true, "text": q});
    let (one, other) = (read("one"), read("other"));
    let moved = [[one.clone(), other.clone()], [other, one]];
    let (usual, strictly) = (
        compare(&moved[0], &moved[1], &Rules::default()),
        compare(&moved[0], &moved[1], &strict()),
    );
    assert!(usual.verdict.passed && usual.changes.iter().all(|it| !it.fails));
    assert_eq!(strictly.verdict.reasons.len(), 1, "{:?}", strictly.verdict);
    assert!(
        strictly.verdict.reasons[0]
            .sentence()
            .ends_with("was made in another place"),
        "{:?}",
        strictly.verdict
    );
    assert!(strictly.changes.iter().all(|it| it.fails));
    assert!(compare(&moved[0], &moved[0], &strict()).verdict.passed);
}

#[test]
fn responses_can_count_less_or_more() {
    let similarity = |responses: Responses, b: &Value, c: &Value| {
        let side = |it: &Value| {
            let mut call = it.clone();
            call["tool"] = json!("mcp__p__t");
            [call]
        };
        let rules = Rules {
            responses,
            ..Rules::default()
        };
        let comparison = compare(&side(b), &side(c), &rules);
        assert_losses_add_up(&comparison, "responses");
        only_pair(&comparison).response.similarity
    };
    let (b, c) = (
        json!({"json": {"n": 10, "at": "2026-01-02T03:04:05Z"}}),
        json!({"json": {"n": 5, "at": "2027-01-02T03:04:05Z"}}),
    );
    assert_near(similarity(Responses::Similar, &b, &c), 0.9 * 0.75 + 0.1);
    assert_near(similarity(Responses::Exact, &b, &c), 0.0);
    assert_near(similarity(Responses::Shape, &b, &c), 1.0);
    assert_near(similarity(Responses::Ignore, &b, &c), 1.0);

    let later = json!({"json": {"at": "2027-01-02T03:04:05Z", "n": 10}});
    assert_near(similarity(Responses::Exact, &b, &later), 1.0);
    let (short, long) = (
        json!({"json": {"l": [{"a": 1}]}}),
        json!({"json": {"l": [{"a": 2}, {"a": 3}]}}),
    );
    assert_near(similarity(Responses::Shape, &short, &long), 1.0);
    let other_shape = json!({"json": {"l": [{"b": 9}]}});
    assert_near(similarity(Responses::Shape, &short, &other_shape), 0.1);

    let (text, cased) = (json!({"text": "Hello"}), json!({"text": "hello"}));
    assert_near(similarity(Responses::Similar, &text, &cased), 1.0);
    assert_near(similarity(Responses::Exact, &text, &cased), 0.0);

    // Whether a call failed is no matter of what its answer says.
    let failed = json!({"text": "Hello", "is_error": true});
    for responses in [
        Responses::Similar,
        Responses::Exact,
        Responses::Shape,
        Responses::Ignore,
    ] {
        assert_near(similarity(responses, &text, &failed), 0.0);
    }
    let other_failure = json!({"text": "Bye", "is_error": true});
    assert_near(similarity(Responses::Similar, &failed, &other_failure), 0.5);
    assert_near(similarity(Responses::Exact, &failed, &other_failure), 0.0);
    assert_near(similarity(Responses::Ignore, &failed, &other_failure), 1.0);
}

#[test]
fn slower_calls_are_reported_and_gate_only_on_demand() {
    let call = |ms: f64| [json!({"tool": "mcp__p__t", "text": "ok", "ms": ms})];
    let slower = |b: f64, c: f64, gate: Gate| {
        let rules = Rules {
            slower: Slower {
                gate,
                ..Slower::default()
            },
            ..Rules::default()
        };
        let comparison = compare(&call(b), &call(c), &rules);
        (
            comparison.slower.len(),
            comparison.verdict.passed,
            comparison.verdict.warnings.len(),
        )
    };
    assert_eq!(slower(100.0, 350.0, Gate::Warn), (1, true, 1));
    assert_eq!(slower(100.0, 349.0, Gate::Warn), (0, true, 0));
    assert_eq!(slower(1000.0, 3000.0, Gate::Warn), (0, true, 0));
    assert_eq!(slower(1000.0, 3001.0, Gate::Fail), (1, false, 0));
    assert_eq!(slower(1000.0, 3001.0, Gate::Ignore), (1, true, 0));
}

#[test]
fn the_threshold_has_a_tolerance() {
    let calls =
        |count: usize| vec![json!({"tool": "mcp__p__list", "reads": true, "text": "ok"}); count];
    let passes = |threshold: f64| {
        let rules = Rules {
            threshold,
            ..Rules::default()
        };
        compare(&calls(5), &calls(4), &rules).verdict.passed
    };
    assert!(passes(0.8) && passes(0.8 + 1e-10));
    assert!(!passes(0.8 + 1e-8));
}

#[test]
fn the_classic_preset_is_the_original_formulas() {
    let rules = Rules {
        preset: Preset::Classic,
        ..Rules::default()
    };
    for case in cases("classic.json") {
        let calls = |side: &str| -> Vec<Value> {
            let calls = case[side].as_array().unwrap().iter();
            calls
                .map(|args| json!({"tool": "mcp__p__t", "args": args, "text": "x"}))
                .collect()
        };
        let comparison = compare(&calls("baseline"), &calls("current"), &rules);
        let name = case["name"].as_str().unwrap();
        assert_close(comparison.scores.trajectory, &case["trajectory"], name);
        assert_close(comparison.scores.overall, &case["overall"], name);
        assert_losses_add_up(&comparison, name);
    }
}

/// What failed then and now decides as in the original tool; a call here is `ok`, `fails`, or `add`, a critical operation that fails.
#[test]
fn the_classic_preset_knows_failures() {
    let rules = Rules {
        preset: Preset::Classic,
        ..Rules::default()
    };
    let cases: &[(&[&str], &[&str], f64)] = &[
        (&["ok", "ok"], &["fails", "fails"], 0.5),
        (&["ok", "ok"], &["ok", "fails"], 0.5),
        (&["ok", "fails"], &["fails", "ok"], 0.7),
        (&["fails"], &["ok"], 1.0),
        (&["ok"], &["add"], 0.0),
        (&["add"], &["add"], 0.3),
        (&["fails"], &["add"], 0.1),
        // One of two arguments on both sides: 0.3 × 1/2 + 0.7.
        (&["add"], &["fails"], 0.6 * 0.85),
        (&[], &["fails"], 0.0),
        (&[], &["ok"], 0.2),
        (&["ok"], &[], 0.0),
        (&[], &[], 1.0),
    ];
    for (then, now, overall) in cases {
        let calls = |side: &[&str]| -> Vec<Value> {
            let call = |it: &&str| match *it {
                "add" => {
                    json!({"tool": "mcp__p__t", "args": {"operation": "add_server", "n": 1}, "is_error": true, "text": "no"})
                }
                it => {
                    json!({"tool": "mcp__p__t", "args": {"n": 1}, "is_error": it == "fails", "text": it})
                }
            };
            side.iter().map(call).collect()
        };
        let comparison = compare(&calls(then), &calls(now), &rules);
        let name = format!("{then:?} {now:?}");
        assert_close(comparison.scores.overall, &json!(overall), &name);
        assert_losses_add_up(&comparison, &name);
        assert_eq!(comparison.verdict.passed, *overall >= 0.8, "{name}");
    }
}

/// Only the score gates; what differs besides is reported, and is not said to be the same.
#[test]
fn the_classic_preset_says_what_it_does_not_look_at() {
    let side = |answer: &Value, schema: &Value| {
        let calls = [
            json!({"tool": "mcp__p__delete", "args": {"id": "the first old record of all"}, "json": {"n": 1}}),
            json!({"tool": "mcp__p__find", "args": {"q": "a"}, "json": answer, "reads": true}),
        ];
        let mut side = trajectory(&calls);
        side.catalogue.servers[0].tools[1]
            .served
            .insert("inputSchema".to_owned(), schema.clone());
        side
    };
    let (then, now) = (
        side(
            &json!({"price": 19.99}),
            &json!({"properties": {"q": {"type": "string"}}}),
        ),
        side(
            &json!({"price": 1999}),
            &json!({"properties": {"q": {"type": "integer"}}}),
        ),
    );
    let rules = Rules {
        preset: Preset::Classic,
        strict: true,
        drift: Gate::Fail,
        ..Rules::default()
    };
    let comparison = score::compare(&then, &now, &rules);
    assert!(comparison.verdict.passed, "{:?}", comparison.verdict);
    let warning = comparison.verdict.warnings.last().unwrap();
    assert_eq!(
        warning.sentence(),
        "scored by the preset `classic`, on arguments and failed calls alone: 0.8 × 1.000 + 0.2, as no call failed in either run; what it \
         does not look at: answers (1 differs), what effects are made with (none differs), the tool catalogue (1 differs)"
    );
    assert_eq!(comparison.changes.len(), 2);
    assert!(comparison.changes.iter().all(|it| !it.fails));
    let standard = score::compare(&then, &now, &Rules::default());
    assert!(!standard.verdict.passed);
}

#[test]
fn unreadable_rules_are_reported() {
    for path in [
        "$.servers[*].created",
        "servers.0.id",
        "..updated",
        "$['a key'][\"b\"]",
        "/content/*/json/a~1b",
        "$",
        "*",
    ] {
        assert_eq!(check_path(path), Ok(()), "{path}");
    }
    for path in ["", " ", "$..", "$.a[", "$.a[x]", "a..", "$.", "$['a]"] {
        assert!(check_path(path).is_err(), "{path}");
    }
}

#[test]
fn rules_that_can_have_no_effect_are_reported() {
    let arguments = object(&json!({"query": "x", "operation": "list"}));
    let calls = [KnownCall {
        tool: "mcp__p__find",
        arguments: &arguments,
    }];
    let reads = |tool: &str, arguments: &Value| ReadRule {
        tool: tool.to_owned(),
        arguments: object(arguments),
    };
    let rules = Rules {
        arguments: vec![
            rule(None, "query", ArgumentMatch::Any),
            rule(Some("find"), "query", ArgumentMatch::Any),
            rule(None, "limit", ArgumentMatch::Any),
            rule(Some("seek"), "query", ArgumentMatch::Any),
        ],
        reads: vec![
            reads("find", &json!({})),
            reads("mcp__p__find", &json!({"operation": "list"})),
            reads("find", &json!({"operation": "add"})),
            reads("ind", &json!({})),
        ],
        ignore: vec!["$.a".to_owned()],
        responses: Responses::Ignore,
        ..Rules::default()
    };
    assert_eq!(
        idle_rules(&rules, &calls, &Catalogue::default()),
        [
            "scoring.args: no call has an argument `limit`",
            "scoring.args: no call has an argument `seek.query`",
            "scoring.reads: no call to `find` has these arguments",
            "scoring.reads: no call is made to `ind`",
            "scoring.ignore: answers are not compared at all",
        ]
    );
}

#[test]
fn many_more_tokens_are_reported_and_gate_only_on_demand() {
    let run = |tokens: Option<u64>| {
        let mut run = trajectory(&[json!({"tool": "mcp__p__t", "text": "ok"})]);
        run.requests = vec![ModelRequest {
            after_steps: 0,
            model: None,
            stop_reason: None,
            usage: Usage {
                input: tokens,
                ..Usage::default()
            },
            cost: None,
            attempts: Vec::new(),
        }];
        run
    };
    let with = |gate: Gate, rules: Rules| Rules {
        tokens: Tokens {
            gate,
            ..Tokens::default()
        },
        ..rules
    };
    let tokens = |before: Option<u64>, now: Option<u64>, gate: Gate| {
        let rules = with(gate, Rules::default());
        let verdict = score::compare(&run(before), &run(now), &rules).verdict;
        (verdict.passed, verdict.warnings.len())
    };
    assert_eq!(tokens(Some(1000), Some(3001), Gate::Warn), (true, 1));
    assert_eq!(tokens(Some(1000), Some(3000), Gate::Warn), (true, 0));
    assert_eq!(tokens(Some(100), Some(1099), Gate::Warn), (true, 0));
    assert_eq!(tokens(Some(1000), Some(3001), Gate::Fail), (false, 0));
    assert_eq!(tokens(Some(1000), Some(3001), Gate::Ignore), (true, 0));
    assert_eq!(tokens(None, Some(9000), Gate::Fail), (true, 0));
    assert_eq!(tokens(Some(9000), None, Gate::Fail), (true, 0));
    // They have a gate of their own, also where nothing may change.
    let (before, now) = (run(Some(1000)), run(Some(3001)));
    for (gate, passes) in [
        (Gate::Warn, true),
        (Gate::Ignore, true),
        (Gate::Fail, false),
    ] {
        let verdict = score::compare(&before, &now, &with(gate, strict())).verdict;
        assert_eq!(verdict.passed, passes, "{gate:?}: {verdict:?}");
    }
}
