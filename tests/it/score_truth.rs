//! Verdicts set by hand, on what a gate must see and what it must let pass.

use mcp_eval::model::rules::Rules;
use mcp_eval::model::{Comparison, Trajectory};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{cases, compare, trajectory, truth};

/// One read with this answer.
fn answered(answer: &Value) -> Trajectory {
    trajectory(&[json!({
        "tool": "mcp__p__look",
        "reads": true,
        "is_error": answer["is_error"],
        "content": answer["content"],
        "structured": answer["structured_content"],
    })])
}

/// A run against a baseline of several takes, which were recorded at a moment as the run was; a minute apart where the case does not say.
fn against(case: &Value) -> Comparison {
    let at = |key: &str, otherwise: &str| -> jiff::Timestamp {
        case[key].as_str().unwrap_or(otherwise).parse().unwrap()
    };
    let takes = (1..).map_while(|it| case.get(format!("take_{it}")));
    let takes: Vec<Trajectory> = (takes.enumerate())
        .map(|(number, it)| {
            let mut take = answered(it);
            let later = jiff::SignedDuration::from_millis(1500 * i64::try_from(number).unwrap());
            take.stamp.recorded_at = at("recorded_at", "2026-01-02T03:04:05Z") + later;
            take
        })
        .collect();
    let learned = score::learn(&takes, &Rules::default());
    let mut baseline = takes[0].clone();
    baseline.learned = learned.answers;
    baseline.bindings = learned.bindings;
    let mut current = answered(&case["current"]);
    current.stamp.recorded_at = at("run_at", "2026-01-02T03:05:05Z");
    score::compare(&baseline, &current, &Rules::default())
}

#[test]
fn answers_that_did_not_vary_must_stay() {
    let mut wrong = Vec::new();
    for case in truth("stable_answers")
        .into_iter()
        .chain(cases("held.json"))
        .chain(cases("places.json"))
    {
        let comparison = against(&case);
        let verdict = (comparison.verdict.passed, !comparison.changes.is_empty());
        let is_open = case.get("changed").is_none() || case["passes"] == json!(false);
        if json!(verdict.0) != case["passes"] || (!is_open && json!(verdict.1) != case["changed"]) {
            wrong.push(format!(
                "{}: passed {}, changed {}: {:#?}",
                case["name"], verdict.0, verdict.1, comparison.rows
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn effects_are_made_with_what_they_were_made_with() {
    let mut wrong = Vec::new();
    for case in truth("effects") {
        let call = |args: &Value| {
            [
                json!({"tool": "mcp__p__act", "reads": case["read_only"], "args": args, "json": {"ok": true}}),
            ]
        };
        let comparison = compare(
            &call(&case["baseline"]),
            &call(&case["current"]),
            &Rules::default(),
        );
        if json!(comparison.verdict.passed) != case["passes"] {
            wrong.push(format!("{}: {:#?}", case["name"], comparison.verdict));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn long_texts_of_an_effect_are_shown_around_what_differs() {
    let body = "Dear team, we would like to inform you that the quarterly maintenance of server 12 takes place on Friday and that all user \
                accounts stay active during this time.";
    let paid =
        |body: &str| [json!({"tool": "mcp__p__pay", "args": {"body": body}, "json": {"ok": true}})];
    for (from, to, was, now) in [
        (
            "stay active",
            "are deleted",
            "\"…on Friday and that all user accounts stay active during this time.\"",
            "\"…on Friday and that all user accounts are deleted during this time.\"",
        ),
        (
            "Friday",
            "Monday",
            "\"…maintenance of server 12 takes place on Friday and that all user accounts stay active during this time.\"",
            "\"…maintenance of server 12 takes place on Monday and that all user accounts stay active during this time.\"",
        ),
    ] {
        let comparison = compare(
            &paid(body),
            &paid(&body.replace(from, to)),
            &Rules::default(),
        );
        let shown: Vec<_> = (comparison.changes.iter())
            .map(|it| (it.path.as_deref(), it.was.as_deref(), it.now.as_deref()))
            .collect();
        assert_eq!(shown, [(Some("arguments/body"), Some(was), Some(now))]);
    }
}
