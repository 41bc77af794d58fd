//! Laws of any two lanes of calls that the servers behind the one under test received.

use mcp_eval::model::rules::Rules;
use mcp_eval::model::{ChangeKind, Comparison, Trajectory};
use mcp_eval::score;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::score_kit::{trajectory, with_lane};

/// Calls of an agent that ask for different things, so that none of them is a poll.
fn agent() -> Vec<Value> {
    let call = |at: usize| json!({"tool": "mcp__p__do", "args": {"n": at}, "text": "fine"});
    (0..4).map(call).collect()
}

/// A call behind, in some cases during a call that the agent did not make: one of few tools with few arguments, so that calls are often equal. Answers are the same, so that none is a poll.
fn behind_call() -> impl Strategy<Value = Value> {
    let tool = proptest::sample::select(vec!["mcp__f__read", "mcp__f__write", "mcp__g__read"]);
    let argument = prop_oneof![
        (0i64..3).prop_map(Value::from),
        proptest::sample::select(vec!["a", "b", "one two three"]).prop_map(Value::from),
        Just(json!({"deep": [1, 2]})),
    ];
    let names = proptest::sample::select(vec!["x", "y", "z"]);
    let args = proptest::collection::btree_map(names, argument, 0..3);
    let header = proptest::option::weighted(0.2, proptest::sample::select(vec!["k", "l"]));
    (proptest::option::of(0usize..7), tool, args, header).prop_map(|(cause, tool, args, header)| {
        let mut call = json!({
            "tool": tool, "args": args, "reads": tool.ends_with("read"), "text": "fine",
        });
        if let Some(cause) = cause {
            call["cause"] = json!(cause);
        }
        if let Some(name) = header {
            call["headers"] = json!({name: "1"});
        }
        call
    })
}

fn lane() -> impl Strategy<Value = Vec<Value>> {
    proptest::collection::vec(behind_call(), 0..12)
}

fn run(behind: &[Value]) -> Trajectory {
    with_lane(trajectory(&agent()), behind)
}

fn compare(before: &[Value], now: &[Value]) -> Comparison {
    score::compare(&run(before), &run(now), &Rules::default())
}

/// How many rows are not just two equal calls.
fn changed_rows(comparison: &Comparison) -> usize {
    let rows = &comparison.upstream.as_ref().unwrap().rows;
    let is_changed = rows.iter().filter(|it| {
        let is_alone = it.baseline.is_none() || it.current.is_none();
        is_alone || !it.differences.is_empty()
    });
    is_changed.count()
}

proptest! {
    #[test]
    fn a_lane_equals_itself(lane in lane()) {
        let comparison = compare(&lane, &lane);
        prop_assert!(comparison.verdict.passed && comparison.changes.is_empty());
        prop_assert_eq!(comparison.upstream.unwrap().rows.len(), lane.len());
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn an_effect_made_twice_fails(lane in lane(), at in any::<prop::sample::Index>()) {
        prop_assume!(!lane.is_empty());
        let at = at.index(lane.len());
        let mut more = lane.clone();
        more.insert(at, lane[at].clone());
        let is_effect = lane[at]["reads"] == json!(false);
        prop_assert_eq!(compare(&lane, &more).verdict.passed, !is_effect);
        let less = compare(&more, &lane);
        prop_assert_eq!(less.verdict.passed, !is_effect);
        prop_assert!(!less.changes.is_empty());
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn an_argument_that_is_lost_fails(lane in lane(), at in any::<prop::sample::Index>()) {
        prop_assume!(!lane.is_empty());
        let at = at.index(lane.len());
        let names: Vec<String> = lane[at]["args"].as_object().unwrap().keys().cloned().collect();
        for name in names {
            let mut now = lane.clone();
            now[at]["args"].as_object_mut().unwrap().remove(&name);
            prop_assert!(!compare(&lane, &now).verdict.passed, "without {}", name);
            prop_assert!(!compare(&now, &lane).verdict.passed, "with {}", name);
        }
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn the_sides_may_be_swapped(one in lane(), other in lane()) {
        let there = compare(&one, &other);
        let back = compare(&other, &one);
        prop_assert_eq!(changed_rows(&there), changed_rows(&back));
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn rows_and_changes_agree_on_the_verdict(one in lane(), other in lane()) {
        let comparison = compare(&one, &other);
        let fails = comparison.changes.iter().any(|it| it.kind == ChangeKind::Upstream && it.fails);
        prop_assert_eq!(fails, !comparison.verdict.passed);
        let rows = &comparison.upstream.as_ref().unwrap().rows;
        prop_assert_eq!(rows.iter().any(|it| it.fails), fails);
        // Each call of either lane stands in one row.
        let mut before: Vec<usize> = rows.iter().filter_map(|it| it.calls().0).collect();
        let mut now: Vec<usize> = rows.iter().filter_map(|it| it.calls().1).collect();
        before.sort_unstable();
        now.sort_unstable();
        prop_assert_eq!(before, (1..=one.len()).collect::<Vec<_>>());
        prop_assert_eq!(now, (1..=other.len()).collect::<Vec<_>>());
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn takes_teach_what_makes_them_equal(one in lane(), other in lane()) {
        let takes = [run(&one), run(&other)];
        let learned = score::learn(&takes, &Rules::default());
        let mut baseline = takes[0].clone();
        learned.keep_in(&mut baseline);
        let comparison = score::compare(&baseline, &takes[1], &Rules::default());
        let changes = comparison.changes.iter().filter(|it| it.kind == ChangeKind::Upstream);
        let changes: Vec<String> = changes.map(|it| it.what.to_string()).filter(|it| !it.contains("passed on")).collect();
        prop_assert!(changes.is_empty(), "{:?}", changes);
    }
}
