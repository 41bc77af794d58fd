//! Input made to break things: nothing panics, and nothing takes quadratic time or memory.
//!
//! The limits are far above what is needed, as tests run unoptimised and beside others; quadratic behaviour on inputs of
//! this size would take minutes.

use std::time::{Duration, Instant};

use mcp_eval::model::Comparison;
use mcp_eval::model::rules::{Match, Rules};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::common::many;
use crate::score_kit::{assert_losses_add_up, compare, only_pair, recorded, trajectory};

fn within(limit: u64, what: &str, run: impl FnOnce() -> Comparison) -> Comparison {
    let start = Instant::now();
    let comparison = run();
    assert!(
        start.elapsed() < Duration::from_secs(limit),
        "{what} took {:?}",
        start.elapsed()
    );
    assert_losses_add_up(&comparison, what);
    comparison
}

fn answers(b: Value, c: Value) -> Comparison {
    let call = |json: Value| {
        [
            json!({"tool": "mcp__p__t", "args": {"v": json.clone()}, "structured": json, "reads": true}),
        ]
    };
    let (b, c) = (trajectory(&call(b)), trajectory(&call(c)));
    score::compare(&b, &c, &Rules::default())
}

fn nested(depth: usize, leaf: Value, wrap: impl Fn(Value) -> Value) -> Value {
    (0..depth).fold(leaf, |inner, _| wrap(inner))
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn deep_values() {
    for depth in [50, 150, 1000] {
        within(120, "deep lists", || {
            answers(
                nested(depth, json!(1), |it| json!([it])),
                nested(depth, json!(2), |it| json!([it])),
            )
        });
        within(120, "deep objects", || {
            answers(
                nested(depth, json!(1), |it| json!({"a": it})),
                nested(depth, json!(2), |it| json!({"a": it})),
            )
        });
        within(120, "deep lists of two", || {
            answers(
                nested(depth, json!(1), |it| json!([it, 1])),
                nested(depth, json!(2), |it| json!([2, it])),
            )
        });
    }
    let text =
        |leaf: &str| json!({"text": nested(6, json!(leaf), |it| json!(json!([it]).to_string()))});
    within(120, "json in text in json", || {
        answers(text("a"), text("b"))
    });
}

/// A tree that leans to one side is small, and each of its lists may be paired in four ways.
#[test]
fn leaning_trees() {
    for depth in [16, 40, 60] {
        let tree = |label: &str| {
            let leaf = json!({"label": format!("{label} leaf")});
            (0..depth).fold(leaf, |inner, at| {
                json!({"label": format!("{label} {at}"), "children": [{"label": format!("{label} twig {at}")}, inner]})
            })
        };
        within(20, "leaning trees", || answers(tree("a"), tree("b")));
        let text = |label: &str| json!({"text": tree(label).to_string()});
        within(20, "leaning trees in texts", || {
            answers(text("a"), text("b"))
        });
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn many_of_many_elements_changed() {
    let list = |per_cent: usize| -> Value {
        let sentence = |it: usize| {
            let word = if it * 7919 % 100 < per_cent {
                "another"
            } else {
                "one"
            };
            json!(format!(
                "Sentence {it} of many, which has {word} word and others in it"
            ))
        };
        (0..5_000).map(sentence).collect()
    };
    for per_cent in [10, 24, 60] {
        within(60, "a share of the sentences", || {
            answers(list(0), list(per_cent))
        });
    }
    let calls = |per_cent: usize| {
        let call = |it: usize| {
            let word = if it * 7919 % 100 < per_cent {
                "changed"
            } else {
                "made"
            };
            json!({"tool": "mcp__p__t", "args": {"q": format!("call {it} was {word} by somebody")}, "text": "x"})
        };
        recorded(&(0..3_000).map(call).collect::<Vec<_>>())
    };
    within(60, "a share of the calls", || {
        score::compare(&calls(0), &calls(24), &Rules::default())
    });
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn long_calls_in_any_order() {
    let calls = |from: usize| {
        let call = |it: usize| {
            let words: Vec<String> = (0..60)
                .map(|word| format!("w{}", (it * 31 + word * 7) % 500))
                .collect();
            json!({"tool": "mcp__p__t", "args": {"q": format!("{it} {}", words.join(" "))}, "text": "x"})
        };
        recorded(&(from..from + 256).map(call).collect::<Vec<_>>())
    };
    let rules = Rules {
        matching: Match::Unordered,
        ..Rules::default()
    };
    within(60, "long calls in any order", || {
        score::compare(&calls(0), &calls(1_000), &rules)
    });
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn long_texts() {
    let long = |word: &str| word.repeat(many(500_000));
    within(120, "one long word", || {
        answers(json!(long("a")), json!(long("b")))
    });
    within(120, "many words", || {
        answers(json!(long("ab cd ")), json!(long("cd ab ")))
    });
    let different = |from: usize| {
        let words: Vec<String> = (from..from + many(20_000))
            .map(|it| format!("word{it}"))
            .collect();
        words.join(" ")
    };
    within(120, "many different words", || {
        answers(json!(different(0)), json!(different(1_000_000)))
    });
    let letters = |from: usize| {
        let letter = |it: u8| char::from(it - b'0' + b'a');
        let word = |it: usize| it.to_string().bytes().map(letter).collect::<String>();
        (from..from + many(20_000))
            .map(word)
            .collect::<Vec<_>>()
            .join(" ")
    };
    within(120, "many possible abbreviations", || {
        answers(json!(letters(10_000)), json!(letters(1_000_000)))
    });
    within(120, "turned round", || {
        let mut words: Vec<String> = (0..many(20_000)).map(|it| format!("w{it}")).collect();
        let forth = words.join(" ");
        words.reverse();
        answers(json!(forth), json!(words.join(" ")))
    });
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn wide_objects() {
    let wide = |name: &str| -> Value {
        (0..many(100_000))
            .map(|it| (format!("{name}{it}"), json!(it)))
            .collect()
    };
    within(120, "all keys renamed", || answers(wide("a"), wide("b")));
    let same_value = |name: &str| -> Value {
        (0..many(100_000))
            .map(|it| (format!("{name}{it}"), json!(0)))
            .collect()
    };
    within(120, "all keys renamed, one value", || {
        answers(same_value("a"), same_value("b"))
    });
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn long_lists() {
    let list = |from: usize| -> Value {
        (from..from + many(20_000))
            .map(|it| json!({"id": it, "name": format!("n {it}")}))
            .collect()
    };
    within(120, "all elements different", || {
        answers(list(0), list(1_000_000))
    });
    within(120, "half as long", || {
        answers(
            list(0),
            (0..many(10_000)).map(|it| json!({"id": 2 * it})).collect(),
        )
    });
    let matrix = |from: usize| -> Value {
        (0..100)
            .map(|row| {
                (0..100)
                    .map(|it| json!(from + row * 100 + it))
                    .collect::<Value>()
            })
            .collect()
    };
    within(120, "all of a matrix different", || {
        answers(matrix(1), matrix(100_000))
    });
}

/// Too long for the exact method, yet with few changes; what is equal must find its partner wherever it moved to.
#[test]
#[ignore = "left to .ci/run, which has the time"]
fn few_changes_in_a_long_list() {
    let record =
        |it: usize| json!({"id": it, "on": it.is_multiple_of(3), "name": format!("record {it}")});
    let before: Vec<Value> = (0..20_000).map(record).collect();
    let mut after = before.clone();
    after.remove(15_000);
    after[10_000]["on"] = json!("maybe");
    after.insert(3, record(1_000_000));
    let comparison = within(120, "few changes", || answers(json!(before), json!(after)));
    let mut paths: Vec<&str> = (comparison.losses.iter())
        .filter_map(|it| it.path.as_deref().filter(|it| it.starts_with("response")))
        .collect();
    paths.sort_unstable();
    let at = |path: &str| format!("response/structuredContent/{path}");
    assert_eq!(paths, [at("10000/on"), at("15000"), at("3")]);
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn many_rows_in_another_order_are_no_more_work_where_they_were_received_twice() {
    let rows = |turn: u64, factor: u64| {
        let row = |it: u64| {
            let id = (it * 7919 + turn * 13) % 5003;
            json!({ "id": id, "name": format!("row {}", id * factor) })
        };
        json!((0..5000).map(row).collect::<Vec<Value>>())
    };
    let answered =
        |rows: Value| trajectory(&[json!({ "tool": "mcp__p__t", "reads": true, "json": rows })]);
    let mut baseline = answered(rows(0, 1));
    let takes = [baseline.clone(), baseline.clone()];
    baseline.learned = score::learn(&takes, &Rules::default()).answers;
    let current = answered(rows(400, 1));
    let asked = std::cell::Cell::new(0u32);
    let is_unwanted = || {
        asked.set(asked.get() + 1);
        false
    };
    let comparison =
        score::compare_until(&baseline, &current, &Rules::default(), &is_unwanted).unwrap();
    assert!(!comparison.verdict.passed);
    // It is asked once for some thousand steps. Each row with each would be 25 million.
    assert!(asked.get() < 200, "{}", asked.get());

    // What is kept of so many changes one by one is not all of them.
    let renamed = score::compare(&baseline, &answered(rows(0, 3)), &Rules::default());
    let reason = &renamed.verdict.reasons[0];
    let (was, now) = (reason.expected.as_deref(), reason.got.as_deref());
    assert!(
        reason
            .sentence()
            .contains("at least 100 of 5000 `*/name` changed"),
        "{reason:?}"
    );
    assert!(was.is_some_and(|it| it.starts_with("\"row ")), "{was:?}");
    assert!(now.is_some_and(|it| it.starts_with("\"row ")), "{now:?}");
}

#[test]
fn odd_numbers_and_texts() {
    for (b, c) in [
        (json!(f64::MAX), json!(f64::MIN)),
        (json!(f64::MIN_POSITIVE), json!(0)),
        (json!(-0.0), json!(0)),
        (json!(u64::MAX), json!(i64::MIN)),
        (json!(u64::MAX), json!(u64::MAX - 1)),
        (json!(1e300), json!("1e400")),
        (json!("NaN"), json!(0)),
        (json!("\u{0}\u{1b}[31m"), json!("\u{fffd}")),
        (json!("שלום\u{202e} עולם"), json!("עולם שלום")),
        (json!("\\ud800"), json!("😀".repeat(1000))),
        (json!("İstanbul"), json!("i̇stanbul")),
    ] {
        let comparison = within(10, "odd values", || answers(b.clone(), c.clone()));
        assert!((0.0..=1.0).contains(&comparison.scores.overall), "{b} {c}");
    }
    let big = compare(
        &[call_with(&json!(u64::MAX))],
        &[call_with(&json!(u64::MAX - 1))],
        &Rules::default(),
    );
    assert!(
        big.scores.trajectory < 1.0,
        "numbers that differ are not equal"
    );
}

fn call_with(value: &Value) -> Value {
    json!({"tool": "mcp__p__t", "args": {"v": value}})
}

/// Millions of values in little text: as JSON they would take hundreds of times as much memory as the text.
#[test]
#[ignore = "left to .ci/run, which has the time"]
fn dense_texts_are_compared_as_texts() {
    let dense = |element: &str, change: Option<(usize, &str)>| {
        let mut elements = vec![element; 1_000_000];
        if let Some((at, by)) = change {
            elements[at] = by;
        }
        json!({"tool": "mcp__p__t", "text": format!("[{}]", elements.join(","))})
    };
    for (element, other) in [("[]", "[1]"), ("{}", "[]"), ("1", "2")] {
        let before = recorded(&[dense(element, None)]);
        let after = recorded(&[dense(element, Some((500_000, other)))]);
        let comparison = within(60, "dense", || {
            score::compare(&before, &after, &Rules::default())
        });
        let response = &only_pair(&comparison).response;
        assert!(!response.is_broken(), "{response:?}");
        assert!((0.99..1.0).contains(&response.similarity), "{response:?}");
        let same = score::compare(&before, &before, &Rules::default());
        assert!(same.verdict.passed && same.losses.is_empty());
    }
}

#[test]
fn excerpts_stay_short() {
    let long = |last: &str| json!(format!("{}{last}", "é".repeat(100_000)));
    let comparison = answers(long("x"), long("y"));
    for loss in &comparison.losses {
        for it in [&loss.expected, &loss.got].into_iter().flatten() {
            assert!(it.chars().count() < 200 && it.contains('…'), "{it}");
            assert!(
                it.ends_with("x\"") || it.ends_with("y\""),
                "around the difference: {it}"
            );
        }
    }
}

#[test]
fn many_differences_are_summed_up() {
    let list = |value: &str| -> Value {
        (0..5_000)
            .map(|it| json!({"id": it, "note": format!("{value} {it} words")}))
            .collect()
    };
    let comparison = answers(json!({"l": list("some")}), json!({"l": list("other")}));
    assert!(comparison.losses.len() < 300, "{}", comparison.losses.len());
    assert_losses_add_up(&comparison, "many differences");
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn ten_thousand_calls() {
    let equal = |count: usize| {
        recorded(&vec![
            json!({"tool": "mcp__p__t", "args": {"q": "same"}, "text": "x"});
            count
        ])
    };
    for matching in [
        Match::Similar,
        Match::InOrder,
        Match::AnyOrder,
        Match::Unordered,
        Match::Subset,
        Match::Superset,
    ] {
        let rules = Rules {
            matching,
            ..Rules::default()
        };
        within(120, "equal calls", || {
            score::compare(&equal(many(10_000)), &equal(many(9_000)), &rules)
        });
    }
    let different = |word: &str, count: usize| {
        let call = |it: usize| json!({"tool": "mcp__p__t", "args": {"q": format!("{word}{it} of many")}, "text": "x"});
        recorded(&(0..count).map(call).collect::<Vec<_>>())
    };
    for matching in [Match::Similar, Match::AnyOrder, Match::Unordered] {
        let rules = Rules {
            matching,
            ..Rules::default()
        };
        within(120, "different calls", || {
            score::compare(&different("a", 5_000), &different("b", 5_000), &rules)
        });
    }
}
