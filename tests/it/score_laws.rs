//! What holds for any two trajectories.

use mcp_eval::model::Trajectory;
use mcp_eval::model::rules::{Match, Preset, Responses, Rules};
use mcp_eval::score;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::score_kit::{assert_losses_add_up, trajectory};

/// Small vocabularies, so that the two sides often agree in part.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        3 => proptest::sample::select(vec!["tools", "env", "variables", "vars", "list", "x"]).prop_map(str::to_owned),
        1 => proptest::sample::select(vec![
            "2026-01-02T03:04:05Z", "1764000000", "{\"a\":1}", "[1,2]", "10", "true", "6f1c9b7e3c1d4a52", "", "ש\u{202e}",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    proptest::collection::vec(word, 0..4).prop_map(|words| words.join(" "))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let key = proptest::sample::select(vec!["a", "b", "c", "/", "*"]).prop_map(str::to_owned);
    proptest::collection::vec((key, value), 0..4)
        .prop_map(|it| Value::Object(it.into_iter().collect()))
}

fn answer() -> impl Strategy<Value = Value> {
    let block = prop_oneof![
        3 => value().prop_map(|it| json!({"type": "text", "text": it.to_string()})),
        2 => text().prop_map(|it| json!({"type": "text", "text": it})),
        1 => text().prop_map(|it| json!({"type": "image", "data": it, "mimeType": "image/png"})),
        1 => (text(), text()).prop_map(|(uri, text)| json!({"type": "resource", "resource": {"uri": uri, "text": text}})),
        1 => (text(), text()).prop_map(|(uri, name)| json!({"type": "resource_link", "uri": uri, "name": name})),
        1 => value(),
    ];
    let structured = proptest::option::of(value());
    (
        proptest::collection::vec(block, 0..3),
        structured,
        proptest::bool::weighted(0.1),
    )
        .prop_map(|(content, structured, is_error)| match structured {
            Some(it) => json!({"content": content, "structured": it, "is_error": is_error}),
            None => json!({"content": content, "is_error": is_error}),
        })
}

fn request() -> impl Strategy<Value = Value> {
    let tool = proptest::sample::select(vec!["mcp__p__list", "mcp__p__add", "mcp__q__list"]);
    (tool, object(value())).prop_map(
        |(tool, args)| json!({"tool": tool, "args": args, "reads": tool.ends_with("list")}),
    )
}

fn call(request: &Value, answer: &Value) -> Value {
    let mut call = request.clone();
    for (key, it) in answer.as_object().unwrap() {
        call[key] = it.clone();
    }
    call
}

fn calls() -> impl Strategy<Value = Vec<Value>> {
    let one = (request(), answer()).prop_map(|(request, answer)| call(&request, &answer));
    proptest::collection::vec(one, 0..6)
}

fn rules() -> impl Strategy<Value = Rules> {
    let matching = proptest::sample::select(vec![
        Match::Similar,
        Match::Similar,
        Match::Exact,
        Match::InOrder,
        Match::AnyOrder,
        Match::Strict,
        Match::Unordered,
        Match::Subset,
        Match::Superset,
    ]);
    let responses = proptest::sample::select(vec![
        Responses::Similar,
        Responses::Similar,
        Responses::Exact,
        Responses::Shape,
        Responses::Ignore,
    ]);
    let preset = proptest::sample::select(vec![
        Preset::Standard,
        Preset::Standard,
        Preset::Standard,
        Preset::Classic,
    ]);
    let ignore = proptest::option::of(proptest::sample::select(vec![
        "$.a",
        "..b",
        "/content/*/json/c",
        "/content",
    ]));
    (matching, responses, preset, ignore).prop_map(|(matching, responses, preset, ignore)| Rules {
        matching,
        responses,
        preset,
        ignore: ignore.into_iter().map(str::to_owned).collect(),
        ..Rules::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_equals_itself(calls in calls(), rules in rules()) {
        let run = trajectory(&calls);
        let comparison = score::compare(&run, &run, &rules);
        prop_assert!((comparison.scores.trajectory - 1.0).abs() < 1e-12, "{:#?}", comparison);
        prop_assert!(comparison.drift.is_empty() && comparison.changes.is_empty());
        // The original tool takes points from a run that fails, whatever it is compared with.
        if rules.preset == Preset::Standard {
            prop_assert!((comparison.scores.overall - 1.0).abs() < 1e-12, "{:#?}", comparison);
            prop_assert!(comparison.verdict.passed && comparison.losses.is_empty());
        }
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn scores_are_shares_and_every_lost_point_has_a_place(b in calls(), c in calls(), rules in rules()) {
        let comparison = score::compare(&trajectory(&b), &trajectory(&c), &rules);
        let scores = comparison.scores;
        for it in [scores.overall, scores.trajectory, scores.calls] {
            prop_assert!((0.0..=1.0).contains(&it), "{scores:?}");
        }
        assert_losses_add_up(&comparison, "any two");
        prop_assert!(comparison.losses.iter().all(|it| it.points > 0.0));
        prop_assert_eq!(comparison.verdict.passed, comparison.verdict.reasons.is_empty());
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn changed_answers_to_the_same_requests_add_up(requests in proptest::collection::vec((request(), answer(), answer()), 0..4), rules in rules()) {
        let side = |pick: fn(&(Value, Value, Value)) -> Value| requests.iter().map(pick).collect::<Vec<_>>();
        let (b, c) = (side(|it| call(&it.0, &it.1)), side(|it| call(&it.0, &it.2)));
        let comparison = score::compare(&trajectory(&b), &trajectory(&c), &rules);
        assert_losses_add_up(&comparison, "other answers");
        if rules.matching == Match::Similar {
            prop_assert!((comparison.scores.trajectory - 1.0).abs() < 1e-12);
        }
    }

    /// Apart from polls, which only a baseline has: how often it asked one and the same thing in a row.
    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn the_trajectory_score_is_symmetric(mut b in calls(), mut c in calls()) {
        for side in [&mut b, &mut c] {
            side.dedup_by(|a, b| a["tool"] == b["tool"] && a["args"] == b["args"]);
        }
        let rules = Rules::default();
        let there = score::compare(&trajectory(&b), &trajectory(&c), &rules).scores.trajectory;
        let back = score::compare(&trajectory(&c), &trajectory(&b), &rules).scores.trajectory;
        prop_assert!((there - back).abs() < 1e-9, "{there} there, {back} back");
    }

    /// Numbers, whose similarity is easily computed, and lists long enough that the table is not simply filled.
    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn no_alignment_is_better_than_the_one_found(b in long_list(), edits in proptest::collection::vec((0usize..80, 0usize..3, 1u8..60), 0..40)) {
        let mut c = b.clone();
        for (at, kind, number) in edits {
            let at = at % (c.len() + 1);
            match kind {
                0 if at < c.len() => drop(c.remove(at)),
                1 if at < c.len() => c[at] = number,
                _ => c.insert(at, number),
            }
        }
        let call = |it: &u8| json!({"tool": "mcp__p__t", "args": {"v": it}});
        let calls = |list: &[u8]| trajectory(&list.iter().map(call).collect::<Vec<_>>());
        let found = score::compare(&calls(&b), &calls(&c), &Rules::default()).scores.trajectory;
        let longer = u32::try_from(b.len().max(c.len())).unwrap();
        let best = best_total(&b, &c) / f64::from(longer);
        prop_assert!((found - best).abs() < 1e-6, "found {found}, best {best}");
    }

    #[test]
    #[ignore = "left to .ci/run, which has the time"]
    fn what_takes_showed_to_vary_costs_nothing(requests in proptest::collection::vec((request(), answer(), answer()), 0..4)) {
        let take = |pick: fn(&(Value, Value, Value)) -> Value| {
            let calls: Vec<Value> = requests.iter().map(pick).collect();
            let mut take = trajectory(&calls);
            succeed(&mut take);
            take
        };
        let takes = [take(|it| call(&it.0, &it.1)), take(|it| call(&it.0, &it.2))];
        let mut baseline = takes[0].clone();
        let learned = score::learn(&takes, &Rules::default());
        // Where one take has no content at all, the two disagree, and nothing is learned.
        prop_assume!(learned.left_behind.is_none() && learned.disagreements.is_empty());
        baseline.learned = learned.answers;
        let comparison = score::compare(&baseline, &takes[1], &Rules::default());
        prop_assert!((comparison.scores.overall - 1.0).abs() < 1e-9, "{:#?}\n{:#?}", baseline.learned, comparison.losses);
    }
}

fn long_list() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(1u8..60, 35..80)
}

/// The best total similarity of an order-preserving pairing, by filling the whole table.
fn best_total(b: &[u8], c: &[u8]) -> f64 {
    let similarity = |b: u8, c: u8| {
        let (b, c) = (f64::from(b), f64::from(c));
        0.3 + 0.7 * (1.0 - (b - c).abs() / b.max(c))
    };
    let mut above = vec![0.0; c.len() + 1];
    for b in b {
        let mut here = vec![0.0; c.len() + 1];
        for (at, c) in c.iter().enumerate() {
            let paired: f64 = above[at] + similarity(*b, *c);
            here[at + 1] = paired.max(above[at + 1]).max(here[at]);
        }
        above = here;
    }
    above[c.len()]
}

/// Nothing is learned from calls that fail.
fn succeed(take: &mut Trajectory) {
    use mcp_eval::model::{Outcome, Step};
    for step in &mut take.steps {
        if let Step::ToolCall(call) = step
            && let Outcome::Answer(answer) = &mut call.outcome
        {
            answer.is_error = false;
        }
    }
}
