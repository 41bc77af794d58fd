//! What recording learns and marks, and what a scenario expects, as the comparison sees them.

use serde_json::{Value, json};

use crate::score_kit::{compare, object, only_pair, trajectory};
use mcp_eval::model::rules::{Responses, Rules};
use mcp_eval::model::{
    Catalogue, Edit, Ending, ExecutionStatus, Learned, Outcome, Redaction, ServerCatalogue, Step,
    Tool, Trajectory, Variation, Varying,
};
use mcp_eval::scenario_file::agent::{Agent, ExpectedCall, Limits, Replaying};
use mcp_eval::scenario_file::{Scenario, Timeouts};
use mcp_eval::score;

fn take(answers: &[Value]) -> Trajectory {
    let call = |json: &Value| json!({"tool": "mcp__p__list", "json": json});
    trajectory(&answers.iter().map(call).collect::<Vec<_>>())
}

fn learned(takes: &[Trajectory]) -> Vec<(usize, Vec<String>)> {
    let learned = score::learn(takes, &Rules::default()).answers.into_iter();
    learned
        .map(|it| (it.call, it.paths().map(str::to_owned).collect()))
        .collect()
}

#[test]
fn what_differs_between_takes_is_volatile() {
    let first = json!({"servers": [{"id": "a", "port": 1, "at": "2026-01-02T03:04:05Z"}, {"id": "b", "port": 2}], "load": 0.5, "a/b": "x"});
    let second = json!({"servers": [{"id": "a", "port": 7, "at": "2026-01-02T03:04:06Z"}, {"id": "b", "port": 2}], "load": 0.7, "a/b": "y"});
    assert_eq!(
        learned(&[take(&[first]), take(&[second])]),
        [(
            1,
            vec![
                "/content/0/json/a~1b".to_owned(),
                "/content/0/json/load".to_owned(),
                "/content/0/json/servers/0/at".to_owned(),
                "/content/0/json/servers/0/port".to_owned(),
            ]
        )]
    );
}

#[test]
fn lists_that_vary_in_length_or_order_are_volatile_as_a_whole() {
    let list = "/content/0/json/l".to_owned();
    // Where elements have no partners, what all of them have in common is known.
    let elements = format!("{list}/*");
    for (other, places) in [
        (json!({"l": ["b x", "a x"]}), vec![list.clone()]),
        (json!({"l": ["a x"]}), vec![list, elements]),
    ] {
        assert_eq!(
            learned(&[take(&[json!({"l": ["a x", "b x"]})]), take(&[other])]),
            [(1, places)]
        );
    }
}

#[test]
fn stable_answers_are_learned_as_stable() {
    let same = take(&[json!({"a": 1}), json!({"b": 2})]);
    assert_eq!(
        learned(&[same.clone(), same.clone()]),
        [(1, vec![]), (2, vec![])]
    );
    assert!(learned(&[same]).is_empty());
    assert!(learned(&[]).is_empty());
}

#[test]
fn nothing_is_learned_from_other_requests_or_failures() {
    let call = |args: Value, is_error: bool| json!({"tool": "mcp__p__list", "args": args, "text": "x", "is_error": is_error});
    let take = |second: Value| trajectory(&[call(json!({}), false), second]);
    assert_eq!(
        learned(&[
            take(call(json!({"q": 1}), false)),
            take(call(json!({"q": 2}), false))
        ]),
        [(1, vec![])]
    );
    assert_eq!(
        learned(&[take(call(json!({}), false)), take(call(json!({}), true))]),
        [(1, vec![])]
    );
}

#[test]
fn a_word_that_was_learned_to_be_stable_is_part_of_the_contract() {
    let similarity = |learned: Vec<Learned>| {
        let baseline = Trajectory {
            learned,
            ..take(&[json!({"status": "connected", "a": 1, "b": 2, "c": 3, "note": "some words"})])
        };
        let current =
            take(&[json!({"status": "offline", "a": 1, "b": 2, "c": 3, "note": "some words"})]);
        let comparison = score::compare(&baseline, &current, &Rules::default());
        only_pair(&comparison).response.similarity
    };
    let entry = |paths: &[&str]| {
        let varying = |it: &&str| Varying::new((*it).to_owned(), Variation::SameType);
        vec![Learned {
            call: 1,
            takes: 2,
            varies: paths.iter().map(varying).collect(),
            ..Learned::default()
        }]
    };
    assert!((similarity(Vec::new()) - 0.82).abs() < 1e-9);
    assert!((similarity(entry(&[])) - 0.5).abs() < 1e-9);
    assert!((similarity(entry(&["/content/0/json/status"])) - 1.0).abs() < 1e-9);
}

/// One tool `count` whose structured content must hold a whole number `n`.
fn counting(structured: Option<Value>, is_error: bool) -> Trajectory {
    let mut call = json!({"tool": "mcp__p__count", "text": "counted", "is_error": is_error});
    if let Some(it) = structured {
        call["structured"] = it;
    }
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tool = json!({"name": "count", "outputSchema": schema});
    Trajectory {
        catalogue: Catalogue {
            servers: vec![ServerCatalogue {
                server: "p".to_owned(),
                tools: vec![Tool {
                    served: object(&tool),
                }],
                ..ServerCatalogue::default()
            }],
            ..Catalogue::default()
        },
        ..trajectory(&[call])
    }
}

fn breach(mut run: Trajectory) -> Option<String> {
    score::mark_breaches(&mut run);
    let Some(Step::ToolCall(call)) = run.steps.pop() else {
        panic!("a call")
    };
    let is_failure = call.outcome.is_failure();
    let Outcome::Answer(answer) = call.outcome else {
        panic!("an answer")
    };
    assert_eq!(is_failure, answer.breach.is_some() || answer.is_error);
    answer.breach
}

#[test]
fn answers_that_break_their_own_schema_are_marked() {
    assert_eq!(breach(counting(Some(json!({"n": 1})), false)), None);
    let wrong = breach(counting(Some(json!({"n": "1"})), false)).unwrap();
    assert!(
        wrong.starts_with("invalid structured content at /n: "),
        "{wrong}"
    );
    let incomplete = breach(counting(Some(json!({})), false)).unwrap();
    assert!(
        incomplete.starts_with("invalid structured content at /: "),
        "{incomplete}"
    );
    assert_eq!(
        breach(counting(None, false)).as_deref(),
        Some("invalid structured content: missing, though the tool has an output schema")
    );
    assert_eq!(breach(counting(None, true)), None);
}

#[test]
fn schemas_that_cannot_be_used_break_nothing() {
    for schema in [
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"type": 7}),
    ] {
        let mut run = counting(Some(json!({"n": "1"})), false);
        run.catalogue.servers[0].tools[0]
            .served
            .insert("outputSchema".to_owned(), schema);
        assert_eq!(breach(run), None);
    }
}

#[test]
fn a_breach_is_an_error_to_the_comparison_marked_or_not() {
    let (valid, broken) = (
        counting(Some(json!({"n": 1})), false),
        counting(Some(json!({"n": "1"})), false),
    );
    let mut marked = broken.clone();
    score::mark_breaches(&mut marked);
    for current in [&broken, &marked] {
        let comparison = score::compare(&valid, current, &Rules::default());
        assert_eq!(comparison.current_status, ExecutionStatus::Failed);
        assert_eq!(
            score::status(current, &Rules::default()),
            ExecutionStatus::Failed
        );
        let response = &only_pair(&comparison).response;
        assert_eq!(response.differences[0].edit, Edit::BecameError);
        assert!(response.is_broken());
        assert!(
            response.differences[0]
                .got
                .as_ref()
                .unwrap()
                .contains("invalid structured content at /n")
        );
        assert!(!comparison.verdict.passed);
    }
}

#[test]
fn status_of_a_run() {
    let call = |is_error: bool| json!({"tool": "mcp__p__t", "text": "x", "is_error": is_error});
    let status = |calls: &[Value]| score::status(&trajectory(calls), &Rules::default());
    assert_eq!(status(&[]), ExecutionStatus::Success);
    assert_eq!(status(&[call(false)]), ExecutionStatus::Success);
    assert_eq!(status(&[call(false), call(true)]), ExecutionStatus::Partial);
    assert_eq!(status(&[call(true)]), ExecutionStatus::Failed);
    let blocked = Trajectory {
        ending: Ending::Blocked {
            message: "add_server failed".to_owned(),
        },
        ..trajectory(&[call(false), call(true)])
    };
    assert_eq!(
        score::status(&blocked, &Rules::default()),
        ExecutionStatus::Blocked
    );
}

#[test]
fn status_factors() {
    use ExecutionStatus::{Blocked, Failed, Partial, Success};
    let ok = json!({"tool": "mcp__p__t", "text": "x"});
    let failing = json!({"tool": "mcp__p__t", "text": "x", "is_error": true});
    let run = |status: ExecutionStatus| {
        let calls = match status {
            Success => [ok.clone(), ok.clone()],
            Failed => [failing.clone(), failing.clone()],
            Partial | Blocked => [ok.clone(), failing.clone()],
        };
        let mut run = trajectory(&calls);
        if status == Blocked {
            run.ending = Ending::Blocked {
                message: String::new(),
            };
        }
        run
    };
    let expected = [
        (Success, [1.0, 0.8, 0.5, 0.0]),
        (Partial, [1.0, 1.0, 0.6, 0.1]),
        (Failed, [1.0, 1.0, 1.0, 0.3]),
        (Blocked, [1.0, 1.0, 1.0, 1.0]),
    ];
    for (baseline, factors) in expected {
        for (current, factor) in [Success, Partial, Failed, Blocked].into_iter().zip(factors) {
            let comparison = score::compare(&run(baseline), &run(current), &Rules::default());
            assert!(
                (comparison.scores.status_factor - factor).abs() < 1e-12,
                "{baseline:?} to {current:?}"
            );
            assert_eq!(comparison.improved, current > baseline);
        }
    }
}

fn scenario(expected: &[(&str, Value, bool)]) -> Scenario {
    let call = |(tool, args, is_error): &(&str, Value, bool)| ExpectedCall {
        expect: None,
        action: None,
        tool: (*tool).to_owned(),
        arguments: object(args),
        is_open: false,
        filled: Vec::new(),
        notes: None,
        is_error: *is_error,
        critical: None,
    };
    Scenario {
        evaluators: Vec::new(),
        evaluation_threshold: None,
        id: "case".to_owned(),
        row_of: None,
        cell: None,
        defaults_root: std::path::PathBuf::new(),
        path: "case.yaml".into(),
        text_at: None,
        is_test_case: false,
        read_from: Vec::new(),
        places: model::Places::default(),
        hash: String::new(),
        name: "Case".to_owned(),
        description: None,
        enabled: true,
        left_out: None,
        tags: Vec::new(),
        user_intent: None,
        turns: Vec::new(),
        config_file: None,
        servers: Vec::new(),
        usual_servers: None,
        upstreams: Vec::new(),
        interactions: std::sync::Arc::default(),
        containers: Vec::new(),
        ready: None,
        before: Vec::new(),
        after: Vec::new(),
        agent: Agent::Scripted { calls: Vec::new() },
        inputs: Vec::new(),
        measurement: None,
        judge: None,
        replaying: Replaying::within(std::time::Duration::from_secs(300)),
        expected_trajectory: expected.iter().map(call).collect(),
        expects_no_call: false,
        success_criteria: Vec::new(),
        source: mcp_eval::scenario_file::servers::Source::default(),
        redaction: Redaction::default(),
        scoring: Rules::default(),
        labels: model::Labels::default(),
        timeouts: Timeouts::default(),
        limits: Limits::default(),
    }
}

#[test]
fn expectations_are_resolved_against_the_catalogue() {
    let run = trajectory(&[
        json!({"tool": "mcp__p__list"}),
        json!({"tool": "mcp__q__find"}),
    ]);
    let mut run = run;
    run.catalogue.servers.push(ServerCatalogue {
        server: "p__x".to_owned(),
        ..ServerCatalogue::default()
    });
    let expected = [
        ("mcp__p__list", "p", "list"),
        ("mcp__p__x__list", "p__x", "list"),
        ("find", "q", "find"),
        ("mcp__new__tool", "new", "tool"),
    ];
    let calls: Vec<(&str, Value, bool)> =
        expected.iter().map(|it| (it.0, json!({}), false)).collect();
    let expectation = score::expectation(&scenario(&calls).expectation(), &run);
    let got: Vec<(Option<&str>, &str)> = expectation
        .calls()
        .map(|it| (it.server.as_deref(), it.tool.as_str()))
        .collect();
    let wanted: Vec<(Option<&str>, &str)> = expected.iter().map(|it| (Some(it.1), it.2)).collect();
    assert_eq!(got, wanted);
}

#[test]
fn a_run_is_compared_with_what_its_scenario_expects() {
    let call = |args: Value, is_error: bool| json!({"tool": "mcp__p__find", "args": args, "text": "long answer", "is_error": is_error, "reads": true});
    let rules = Rules {
        responses: Responses::Ignore,
        ..Rules::default()
    };
    let overall = |expected: (&str, Value, bool), made: Value| {
        let run = trajectory(&[made]);
        score::compare(
            &score::expectation(&scenario(&[expected]).expectation(), &run),
            &run,
            &rules,
        )
        .scores
        .overall
    };
    let met = overall(
        ("find", json!({"q": "a"}), false),
        call(json!({"q": "a"}), false),
    );
    assert!((met - 1.0).abs() < 1e-12);
    let failure_meant = overall(("find", json!({}), true), call(json!({}), true));
    assert!((failure_meant - 1.0).abs() < 1e-12);
    // A read with another question is not the same read, as nothing is known of its answer.
    assert!(
        (overall(
            ("find", json!({"q": "a"}), false),
            call(json!({"q": "b"}), false)
        ) - 0.3)
            .abs()
            < 1e-12
    );
    assert!(overall(("find", json!({}), true), call(json!({}), false)) < 1e-12);
}

#[test]
fn the_best_of_several_variants_wins() {
    let variant =
        |q: &str| trajectory(&[json!({"tool": "mcp__p__find", "args": {"q": q}, "text": q})]);
    let variants = [variant("one"), variant("two words"), variant("two words")];
    let best = |variants: &[Trajectory], now: &Trajectory| {
        score::compare_variants(variants, now, &Rules::default(), &|| false).unwrap()
    };
    let found = best(&variants, &variant("two words")).unwrap();
    assert_eq!((found.variant, found.verdict.passed), (2, true));
    assert!(best(&[], &variant("one")).is_none());
}

#[test]
fn reasons_say_which_call_what_was_expected_and_what_came() {
    let calls = |quarantined: bool, operation: &str| {
        [
            json!({"tool": "mcp__p__list", "reads": true, "json": {"n": 1}}),
            json!({"tool": "mcp__p__add", "args": {"operation": operation, "name": "x"}, "json": {"quarantined": quarantined}}),
        ]
    };
    let verdict = compare(&calls(true, "add"), &calls(false, "add"), &Rules::default()).verdict;
    let texts: Vec<String> = verdict.reasons.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "call 2, mcp__p__add, answered the same request differently: /content/0/json/quarantined became false: expected true, got false",
            "the overall score is below the threshold: expected at least 0.800, got 0.550",
        ]
    );
    let verdict = compare(
        &calls(true, "add"),
        &calls(true, "remove"),
        &Rules::default(),
    )
    .verdict;
    assert_eq!(
        verdict.reasons[0].to_string(),
        "call 2, mcp__p__add, changes something and was made with a different value of arguments/operation: expected \"add\", got \"remove\""
    );
    let verdict = compare(
        &calls(true, "add"),
        &calls(true, "add")[..1],
        &Rules::default(),
    )
    .verdict;
    let texts: Vec<String> = verdict.reasons.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts[..2],
        [
            "tool `add` is gone",
            "call 2, mcp__p__add, changes something and was not made: expected add(operation: \"add\", name: \"x\"), got nothing (tool `add` is gone)",
        ]
    );
}
