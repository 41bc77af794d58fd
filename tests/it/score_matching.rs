//! The ways to match calls, at the edges where the tools they come from are known to decide.

use mcp_eval::model::Row;
use mcp_eval::model::reason::ReasonKind;
use mcp_eval::model::rules::{Match, Responses, Rules};
use serde_json::{Value, json};

use crate::score_kit::{assert_losses_add_up, cases, compare};

fn mode(name: &str) -> Match {
    match name {
        "similar" => Match::Similar,
        "exact" => Match::Exact,
        "in_order" => Match::InOrder,
        "any_order" => Match::AnyOrder,
        "strict" => Match::Strict,
        "unordered" => Match::Unordered,
        "subset" => Match::Subset,
        "superset" => Match::Superset,
        other => panic!("no such mode: {other}"),
    }
}

/// `"a x"` is a call of tool `a` with argument `v: x`; `"a"` one without arguments.
fn calls(side: &Value) -> Vec<Value> {
    let call = |it: &Value| {
        let (tool, argument) = it
            .as_str()
            .unwrap()
            .split_once(' ')
            .unwrap_or((it.as_str().unwrap(), ""));
        let args = if argument.is_empty() {
            json!({})
        } else {
            json!({"v": argument})
        };
        json!({"tool": format!("mcp__p__{tool}"), "args": args, "reads": true, "text": "ok"})
    };
    side.as_array().unwrap().iter().map(call).collect()
}

#[test]
fn modes_at_their_edges() {
    for case in cases("matching.json") {
        let (expected, actual) = (calls(&case["expected"]), calls(&case["actual"]));
        for (name, score) in case["scores"].as_object().unwrap() {
            // The tools these modes come from look at requests alone.
            let rules = Rules {
                matching: mode(name),
                responses: Responses::Ignore,
                ..Rules::default()
            };
            let comparison = compare(&expected, &actual, &rules);
            let (score, passes) = match score {
                // A score that fails although it is high enough: the numbers of calls are not as demanded.
                Value::String(text) => (text.trim_end_matches(" fails").parse().unwrap(), false),
                number => (number.as_f64().unwrap(), number.as_f64().unwrap() >= 0.8),
            };
            let context = format!("{} as {name}: {:?}", case["name"], comparison.verdict);
            assert!(
                (comparison.scores.overall - score).abs() < 1e-6,
                "{context} {:?}",
                comparison.scores
            );
            // The drift of a tool that is not called at all is not what these cases are about.
            let reasons =
                (comparison.verdict.reasons.iter()).filter(|it| it.kind != ReasonKind::Drift);
            assert_eq!(reasons.count() == 0, passes, "{context}");
            assert_losses_add_up(&comparison, &context);
        }
    }
}

#[test]
fn the_assignment_is_the_best_and_not_the_first() {
    // The first expected call is somewhat like both, the second like the first of them alone.
    let side = |queries: [&str; 2]| -> Vec<Value> {
        let call = |q: &str| json!({"tool": "mcp__p__find", "args": {"q": q}, "reads": true});
        queries.map(call).to_vec()
    };
    let rules = Rules {
        matching: Match::Unordered,
        ..Rules::default()
    };
    let comparison = compare(&side(["a b", "a c"]), &side(["a c", "b d"]), &rules);
    let pairs: Vec<(usize, usize)> = comparison
        .rows
        .iter()
        .filter_map(|row| match row {
            Row::Pair(pair) => Some((pair.baseline, pair.current)),
            _ => None,
        })
        .collect();
    assert_eq!(pairs, [(1, 2), (2, 1)]);
}

/// Rows of two lists of calls: each a read of its words, `!` before it an effect. `1-2` is a pair, `1~2` one out of order, `1-` and `-2` are
/// calls without a partner.
fn paired(baseline: &[&str], current: &[&str]) -> (Vec<String>, bool) {
    let side = |calls: &[&str]| -> Vec<Value> {
        let call = |it: &&str| match it.strip_prefix('!') {
            Some(it) => json!({"tool": "mcp__p__add", "args": {"q": it}, "text": "ok"}),
            None => json!({"tool": "mcp__p__find", "args": {"q": it}, "text": it, "reads": true}),
        };
        calls.iter().map(call).collect()
    };
    let comparison = compare(&side(baseline), &side(current), &Rules::default());
    assert_losses_add_up(&comparison, "moved");
    let rows = comparison.rows.iter().map(|row| match row {
        Row::Pair(pair) if pair.moved => format!("{}~{}", pair.baseline, pair.current),
        Row::Pair(pair) => format!("{}-{}", pair.baseline, pair.current),
        Row::Missing { baseline, .. } => format!("{baseline}-"),
        Row::Extra { current, .. } => format!("-{current}"),
    });
    (rows.collect(), comparison.verdict.passed)
}

#[test]
fn reads_in_another_order_find_each_other() {
    type Names = &'static [&'static str];
    let cases: &[(Names, Names, Names, bool)] = &[
        (
            &["a", "b", "c"],
            &["b", "c", "a"],
            &["1~3", "2-1", "3-2"],
            true,
        ),
        (
            &["a", "b", "c"],
            &["c", "a", "b"],
            &["1-2", "2-3", "3~1"],
            true,
        ),
        // Much alike, and still each its own.
        (
            &["old red wine", "old white wine"],
            &["old white wine", "old red wine"],
            &["1-2", "2~1"],
            true,
        ),
        // An effect is no less made for the reads around it.
        (&["!x", "a"], &["a", "!x"], &["1-2", "2~1"], true),
        (&["a", "!x"], &["!x", "a"], &["1~2", "2-1"], true),
        (
            &["!x", "a", "b", "c"],
            &["a", "b", "c", "!x"],
            &["1-4", "2~1", "3~2", "4~3"],
            true,
        ),
        (
            &["a", "!x", "b", "c", "!y"],
            &["b", "c", "!x", "a", "!y"],
            &["1~4", "2-3", "3~1", "4~2", "5-5"],
            true,
        ),
        (
            &["!x y", "a", "!z"],
            &["!z", "b", "a"],
            &["1-", "2~3", "3-1", "-2"],
            false,
        ),
        (
            &["!x", "!y", "a"],
            &["!y", "!x", "a"],
            &["-1", "1-2", "2-", "3-3"],
            false,
        ),
        // What is hardly alike is given up for what is the same; what is nearly the same is not.
        (
            &["a b c d", "!x", "a z"],
            &["!x", "a b c d"],
            &["1~2", "2-1", "3-"],
            false,
        ),
        (
            &["a b c d e f g h i j k l", "!x", "a b c d e f g h i j k m"],
            &["!x", "a b c d e f g h i j k l"],
            &["1-", "2-1", "3-2"],
            false,
        ),
    ];
    for (baseline, current, rows, passes) in cases {
        let found = paired(baseline, current);
        assert_eq!(
            (found.0, found.1),
            (rows.iter().map(|it| (*it).to_owned()).collect(), *passes),
            "{baseline:?} {current:?}"
        );
    }
}

#[test]
fn an_extra_effect_is_allowed_where_extras_are() {
    let read = json!({"tool": "mcp__p__find", "reads": true, "text": "ok"});
    let effect = json!({"tool": "mcp__p__add", "text": "ok"});
    let (expected, actual) = ([read.clone()], [read, effect]);
    for (matching, passes) in [
        (Match::InOrder, true),
        (Match::Superset, true),
        (Match::Exact, false),
        (Match::Unordered, false),
    ] {
        let rules = Rules {
            matching,
            ..Rules::default()
        };
        let verdict = compare(&expected, &actual, &rules).verdict;
        assert_eq!(verdict.passed, passes, "{matching:?}: {verdict:?}");
    }
}

#[test]
fn a_mode_that_does_not_hold_names_the_call() {
    let rules = Rules {
        matching: Match::Exact,
        ..Rules::default()
    };
    let side = |q: &str| [json!({"tool": "mcp__p__find", "args": {"q": q}, "reads": true})];
    let verdict = compare(&side("A"), &side("a"), &rules).verdict;
    let reason = verdict
        .reasons
        .iter()
        .find(|it| it.kind == ReasonKind::Match)
        .unwrap();
    assert_eq!((reason.baseline, reason.current), (Some(1), Some(1)));
    assert!(
        reason.sentence().contains("call 1"),
        "{}",
        reason.sentence()
    );
    assert_eq!(reason.expected.as_deref(), Some("find(q: \"A\")"));
}

/// More calls of one tool than the exact method is used for.
#[test]
fn many_calls_are_assigned_in_reasonable_time() {
    let call = |at: usize| json!({"tool": "mcp__p__find", "args": {"q": format!("word{at} other")}, "reads": true});
    let forth: Vec<Value> = (0..600).map(call).collect();
    let back: Vec<Value> = (0..600).rev().map(call).collect();
    for (matching, score) in [
        (Match::Unordered, 1.0),
        (Match::AnyOrder, 1.0),
        (Match::Subset, 1.0),
    ] {
        let rules = Rules {
            matching,
            ..Rules::default()
        };
        let comparison = compare(&forth, &back, &rules);
        assert!(
            (comparison.scores.overall - score).abs() < 1e-9,
            "{matching:?}"
        );
    }
}
