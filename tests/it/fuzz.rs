//! Comparing arbitrary values, for as long as one likes: a moment by default, a minute in the gate
//! (`MCP_EVAL_FUZZ_SECONDS=60 cargo test fuzz`).

use std::cell::Cell;
use std::time::{Duration, Instant};

use mcp_eval::model::rules::{Match, Preset, Responses, Rules};
use mcp_eval::score;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

use crate::score_kit::{assert_losses_add_up, compare, trajectory};
use crate::shapes::{self, Numbers};

/// A comparison asks whether it is still wanted once in so many steps.
const STEPS: usize = 1 << 13;

/// A value of any shape, drawn to look like answers: few keys, so that they meet, and texts that look like other things.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-c ]{0,8}",
        ".{0,12}",
        Just("2026-01-02T03:04:05Z".to_owned()),
        Just("{\"a\": [1, {\"b\": null}]}".to_owned()),
        Just("[1, 2".to_owned()),
        Just("1e400".to_owned()),
        Just("true".to_owned()),
        Just("\u{202e}\u{0}\u{ffff}".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        (-3..3_i64).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-d]|.{0,3}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The value, or one that is almost the same.
fn nearly(original: Value) -> impl Strategy<Value = (Value, Value)> {
    (Just(original), value(), any::<u64>()).prop_map(|(original, other, at)| {
        let mut changed = original.clone();
        replace(&mut changed, other, at);
        (original, changed)
    })
}

/// Puts the other value somewhere at the bottom of this one.
fn replace(place: &mut Value, other: Value, at: u64) {
    let index = usize::try_from(at % 1024).unwrap();
    let count = match place {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    let below = match place {
        Value::Array(items) => items.get_mut(index % count.max(1)),
        Value::Object(members) => members.values_mut().nth(index % count.max(1)),
        _ => None,
    };
    if let Some(below) = below {
        replace(below, other, at.rotate_right(7));
    } else {
        *place = other;
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let matching = prop_oneof![
        Just(Match::Similar),
        Just(Match::Exact),
        Just(Match::InOrder),
        Just(Match::AnyOrder),
        Just(Match::Strict),
        Just(Match::Unordered),
        Just(Match::Subset),
        Just(Match::Superset),
    ];
    let responses = prop_oneof![
        Just(Responses::Similar),
        Just(Responses::Exact),
        Just(Responses::Shape),
        Just(Responses::Ignore),
    ];
    let preset = prop_oneof![3 => Just(Preset::Standard), 1 => Just(Preset::Classic)];
    (matching, responses, preset).prop_map(|(matching, responses, preset)| Rules {
        matching,
        responses,
        preset,
        ..Rules::default()
    })
}

/// How long to go on, and where to begin.
fn time_and_seed() -> (u64, u32) {
    let seconds = std::env::var("MCP_EVAL_FUZZ_SECONDS")
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(1);
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .subsec_nanos();
    (seconds, seed)
}

/// How much there is to look at: the values, and each sixteen bytes of their texts.
fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(weight).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 16,
        _ => 1,
    }
}

/// Whatever the shape and the share of changes, a comparison takes steps in proportion to what is compared.
#[test]
#[ignore = "left to .ci/run, which has the time"]
fn the_work_is_in_proportion_to_the_answers() {
    let (seconds, seed) = time_and_seed();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut numbers = Numbers::new(u64::from(seed));
    while Instant::now() < until {
        let (name, make) = shapes::SHAPES[numbers.below(shapes::SHAPES.len())];
        let leaves = 1 << (2 + numbers.below(10));
        let (share, moved) = (numbers.below(101), numbers.below(3));
        let seed = u64::from(seed) + u64::try_from(share).unwrap();
        let b = make(leaves);
        let c = match moved {
            0 => shapes::rearranged(&b, share, seed),
            1 => shapes::changed(&shapes::rearranged(&b, share / 2, seed), share, seed),
            _ => shapes::changed(&b, share, seed),
        };
        for (args, structured) in [(false, false), (false, true), (true, false)] {
            let call = |document: &Value| match (args, structured) {
                (true, _) => {
                    json!({"tool": "mcp__p__t", "args": {"v": document}, "text": "x", "reads": true})
                }
                (_, true) => json!({"tool": "mcp__p__t", "structured": document}),
                _ => json!({"tool": "mcp__p__t", "json": document}),
            };
            let (before, now) = (trajectory(&[call(&b)]), trajectory(&[call(&c)]));
            let asked = Cell::new(0);
            let is_unwanted = || {
                asked.set(asked.get() + 1);
                false
            };
            let comparison =
                score::compare_until(&before, &now, &Rules::default(), &is_unwanted).unwrap();
            let shown = format!("{name}, {leaves} leaves, {share} %, {moved}, seed {seed}");
            let (steps, whole) = (asked.get() * STEPS, weight(&b) + weight(&c));
            assert!(
                steps <= 16 * whole + (1 << 18),
                "{steps} steps for {whole}: {shown}"
            );
            assert!((0.0..=1.0).contains(&comparison.scores.overall), "{shown}");
            assert_losses_add_up(&comparison, &shown);
        }
    }
}

#[test]
fn a_comparison_that_nobody_wants_has_no_result() {
    let document = |per_cent: usize| {
        let (_, make) = shapes::SHAPES[5];
        let call =
            json!({"tool": "mcp__p__t", "json": shapes::changed(&make(20_000), per_cent, 1)});
        trajectory(&[call])
    };
    let (b, c) = (document(0), document(50));
    let asked = Cell::new(0);
    for patience in [1, 2, 5] {
        asked.set(0);
        let is_unwanted = || {
            asked.set(asked.get() + 1);
            asked.get() >= patience
        };
        let compared = score::compare_until(&b, &c, &Rules::default(), &is_unwanted);
        assert_eq!(
            compared.err(),
            Some(score::Cancelled),
            "asked {patience} times"
        );
        assert_eq!(asked.get(), patience, "it is not asked again");
    }
}

#[test]
#[ignore = "left to .ci/run, which has the time"]
fn fuzzed_values_compare_without_harm() {
    let (seconds, seed) = time_and_seed();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(u64::from(seed)),
        ..Config::default()
    });
    let strategy = (
        value().prop_flat_map(nearly),
        value().prop_flat_map(nearly),
        rules(),
    );
    let mut compared = 0_u64;
    while Instant::now() < until {
        let ((args_b, args_c), (answer_b, answer_c), rules) =
            strategy.new_tree(&mut runner).unwrap().current();
        let call = |args: &Value, answer: &Value| json!({ "tool": "mcp__p__t", "args": { "v": args }, "json": answer, "structured": answer });
        let (b, c) = (call(&args_b, &answer_b), call(&args_c, &answer_c));
        let shown = format!("seed {seed}: {b}\n{c}\n{rules:?}");
        let comparison = compare(&[b.clone(), b.clone()], &[c, b.clone()], &rules);
        let overall = comparison.scores.overall;
        assert!((0.0..=1.0).contains(&overall), "{overall}: {shown}");
        assert_losses_add_up(&comparison, &shown);
        let same = compare(std::slice::from_ref(&b), std::slice::from_ref(&b), &rules);
        assert!(same.verdict.passed, "not equal to itself: {shown}");
        compared += 1;
    }
    println!("{compared} pairs compared in {seconds} s, seed {seed}");
}
