//! Differences that pass all the same, and are reported as changes.

use mcp_eval::model::rules::{Responses, Rules};
use mcp_eval::model::{
    Catalogue, ChangeKind, Comparison, Edit, Failure, FailureKind, Outcome, Piece, Step,
    Trajectory, What,
};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{compare, trajectory};

/// A run against a baseline whose answer was received twice.
fn against_two_takes(before: &[Value], now: &[Value]) -> Comparison {
    let mut baseline = trajectory(before);
    baseline.learned =
        score::learn(&[baseline.clone(), baseline.clone()], &Rules::default()).answers;
    score::compare(&baseline, &trajectory(now), &Rules::default())
}

fn read(text: &str) -> Value {
    json!({ "tool": "mcp__s__get", "reads": true, "text": text })
}

/// The one change there is: its kind, its place, and what happened.
fn only_change(comparison: &Comparison) -> (ChangeKind, &str, &What) {
    assert!(comparison.verdict.passed, "{:#?}", comparison.verdict);
    let [change] = comparison.changes.as_slice() else {
        panic!("{:#?}", comparison.changes)
    };
    assert!(!change.fails);
    let path = change.path.as_deref().unwrap_or_default();
    (change.kind, path, &change.what)
}

#[test]
fn white_space_that_has_a_meaning_fails_and_other_is_shown() {
    let fails = [
        (
            "if ok:\n    save()\n    delete_all()",
            "if ok:\n    save()\ndelete_all()",
        ),
        ("a:\n  b: 1\n  c: 2", "a:\n  b: 1\nc: 2"),
        ("- a\n  - b", "- a\n- b"),
        ("+    b = 1", "+  b = 1"),
        ("broken here\nand there", "broken\nhere and there"),
        ("a\tb", "a b"),
    ];
    for (was, now) in fails {
        let comparison = against_two_takes(&[read(was)], &[read(now)]);
        assert!(!comparison.verdict.passed, "{was}");
    }
    let shown = [
        ("all  is well\n", "all is well"),
        ("one\n\n  two", "one\n  two\n"),
        ("a \nb", "a\nb"),
        ("a\r\nb", "a\nb"),
        ("a\u{a0}b", "a b"),
    ];
    for (was, now) in shown {
        let comparison = against_two_takes(&[read(was)], &[read(now)]);
        let expected = (
            ChangeKind::Answer,
            "response/content/0/text",
            &What::Answer(Edit::odd("white space changed")),
        );
        assert_eq!(only_change(&comparison), expected, "{was}");
    }
}

#[test]
fn another_answer_while_something_is_waited_for_is_reported() {
    let polled = |answers: &[&str]| answers.iter().map(|it| read(it)).collect::<Vec<_>>();
    let before = polled(&["state: running, 10 %", "state: done"]);
    let same = [
        polled(&[
            "state: running, 40 %",
            "state: running, 90 %",
            "state: done",
        ]),
        polled(&["state: done"]),
    ];
    for now in same {
        let comparison = against_two_takes(&before, &now);
        assert!(comparison.changes.is_empty(), "{:#?}", comparison.changes);
    }
    let now = polled(&["state: running, 40 %", "state: crashed", "state: done"]);
    let comparison = against_two_takes(&before, &now);
    assert_eq!(
        only_change(&comparison),
        (ChangeKind::Answer, "response", &What::OtherTry)
    );
    assert_eq!(
        comparison.changes[0].now.as_deref(),
        Some("\"state: crashed\"")
    );
}

/// A call that failed as said, not by the word of its tool.
fn failing(kind: FailureKind, message: &str, code: Option<i64>) -> Trajectory {
    let mut run = trajectory(&[read("")]);
    for step in &mut run.steps {
        if let Step::ToolCall(call) = step {
            call.outcome = Outcome::Failure(Failure {
                kind,
                message: message.to_owned(),
                code,
                data: None,
            });
        }
    }
    run
}

#[test]
fn an_error_of_another_kind_or_code_is_another_answer_unless_a_revision_moved_it() {
    let by_tool = trajectory(&[
        json!({ "tool": "mcp__s__get", "reads": true, "text": "not found", "is_error": true }),
    ]);
    let compare = |b: &Trajectory, c: &Trajectory| score::compare(b, c, &Rules::default());
    let rpc = failing(FailureKind::Rpc, "not found", Some(-32602));
    let comparison = compare(&by_tool, &rpc);
    assert!(!comparison.verdict.passed);
    let reason = &comparison.verdict.reasons[0];
    assert!(
        reason.sentence().contains("became another kind of error"),
        "{reason:?}"
    );
    let got = "JSON-RPC error -32602: \"not found\"";
    assert_eq!(reason.got.as_deref(), Some(got));

    let other = failing(FailureKind::Rpc, "not found", Some(-32603));
    let comparison = compare(&rpc, &other);
    assert!(!comparison.verdict.passed);
    let reason = &comparison.verdict.reasons[0];
    assert!(
        reason.sentence().contains("became another kind of error"),
        "{reason:?}"
    );

    let moved = |b: &Trajectory, c: &Trajectory, now: Option<&str>| {
        let comparison = compare(b, c);
        assert!(comparison.verdict.passed, "{:?}", comparison.verdict);
        let (_, path, _) = only_change(&comparison);
        assert_eq!(path, "response/error/code");
        assert_eq!(comparison.changes[0].now.as_deref(), now);
    };
    let no_resource = failing(FailureKind::Rpc, "not found", Some(-32002));
    moved(&no_resource, &rpc, Some("-32602"));
    moved(&rpc, &no_resource, Some("-32002"));
    // Of a tool that nobody lists.
    let unlisted = |run: &Trajectory| {
        let catalogue = Catalogue::default();
        Trajectory {
            catalogue,
            ..run.clone()
        }
    };
    let (by_tool, rpc) = (unlisted(&by_tool), unlisted(&rpc));
    moved(&by_tool, &rpc, Some("-32602"));
    moved(&rpc, &by_tool, None);

    // To an agent a lost connection is a lost connection, whoever noticed.
    let lost = failing(FailureKind::Transport, "gone", None);
    let closed = failing(FailureKind::Disconnected, "gone", None);
    assert!(compare(&lost, &closed).changes.is_empty());
}

#[test]
fn changes_in_what_a_server_says_of_itself_are_reported() {
    let served = |name: &str, instructions: Option<&str>, protocol: &str| {
        let mut run = trajectory(&[read("fine")]);
        let server = &mut run.catalogue.servers[0];
        server.info = Some(json!({ "name": name, "version": "1" }));
        server.instructions = instructions.map(str::to_owned);
        server.protocol_version = Some(protocol.to_owned());
        run
    };
    let before = served("shop", Some("Never delete without asking."), "2025-06-18");
    let cases = [
        (
            served("shop", Some("Always delete first."), "2025-06-18"),
            "instructions",
        ),
        (served("shop", None, "2025-06-18"), "instructions"),
        (
            served("other", Some("Never delete without asking."), "2025-06-18"),
            "serverInfo/name",
        ),
        (
            served("shop", Some("Never delete without asking."), "2024-11-05"),
            "protocolVersion",
        ),
    ];
    for (now, place) in cases {
        let comparison = score::compare(&before, &now, &Rules::default());
        let (kind, path, _) = only_change(&comparison);
        assert_eq!((kind, path), (ChangeKind::Drift, place));
        let strict = Rules {
            strict: true,
            ..Rules::default()
        };
        assert!(!score::compare(&before, &now, &strict).verdict.passed);
    }
    let mut newer = before.clone();
    newer.catalogue.servers[0].info = Some(json!({ "name": "shop", "version": "2" }));
    assert!(
        score::compare(&before, &newer, &Rules::default())
            .changes
            .is_empty()
    );
}

#[test]
fn an_effect_whose_value_is_written_otherwise_is_reported() {
    let pay = |amount: Value| {
        [json!({
            "tool": "mcp__s__pay", "args": { "to": "ann", "amount": amount }, "text": "paid"
        })]
    };
    let comparison = compare(&pay(json!(10)), &pay(json!("10")), &Rules::default());
    assert_eq!(
        only_change(&comparison),
        (
            ChangeKind::Effect,
            "arguments/amount",
            &What::WrittenOtherwise
        )
    );
}

#[test]
fn secrets_that_came_to_an_answer_are_shown_once() {
    let changes = |now: Value, responses| {
        let rules = Rules {
            responses,
            ..Rules::default()
        };
        let compared = compare(&[read("{\"a\": 1}")], &[now], &rules);
        let changes = compared.changes.into_iter();
        let changes = changes.map(|it| (it.what, it.path.unwrap_or_default(), it.now));
        changes.collect::<Vec<_>>()
    };
    let long = "x".repeat(200);
    let hidden = read(&format!(
        "{{\"a\": 1, \"b\": [\"{long}\", \"<secret:aws-key>\", \"<secret:token>\"]}}"
    ));
    let secrets = (
        What::Answer(Edit::NewSecret),
        "response/content/0".to_owned(),
        Some("<secret:aws-key>, <secret:token>".to_owned()),
    );
    let alone = changes(hidden.clone(), Responses::Ignore);
    assert_eq!(alone, std::slice::from_ref(&secrets));
    let all = changes(hidden, Responses::Stable);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[1], secrets);
    // The new member shows it.
    let seen = read("{\"a\": 1, \"b\": \"<secret:token>\"}");
    let all = changes(seen, Responses::Stable);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].0, What::Answer(Edit::Added(Piece::Member)));
}
