//! Worked cases of the scoring rules, one file per question under `tests/fixtures/scoring/`.

use mcp_eval::model::reason::ReasonKind;
use mcp_eval::model::rules::{ErrorSign, Rules};
use mcp_eval::model::{Answer, Comparison, Difference, Outcome};
use mcp_eval::score;
use serde_json::{Value, json};

use crate::score_kit::{assert_close, assert_losses_add_up, cases, compare, only_pair};

fn name(case: &Value) -> &str {
    case["name"].as_str().unwrap()
}

/// How the one argument came out; requests that are equal have no entries.
fn only_parameter(comparison: &Comparison) -> (f64, &'static str) {
    let parameters = &only_pair(comparison).request.parameters;
    let first = parameters.first();
    first.map_or((1.0, "equal"), |it| (it.similarity.unwrap(), it.method))
}

#[test]
fn values_of_requests() {
    for case in cases("values.json") {
        let call = |value: &Value| json!({"tool": "mcp__p__t", "args": {"v": value}});
        let comparison = compare(
            &[call(&case["baseline"])],
            &[call(&case["current"])],
            &Rules::default(),
        );
        let (similarity, method) = only_parameter(&comparison);
        assert_close(similarity, &case["similarity"], name(&case));
        assert_eq!(method, case["method"].as_str().unwrap(), "{}", name(&case));
        assert_losses_add_up(&comparison, name(&case));
    }
}

#[test]
fn values_are_symmetric() {
    for case in cases("values.json") {
        let call = |value: &Value| json!({"tool": "mcp__p__t", "args": {"v": value}});
        let comparison = compare(
            &[call(&case["current"])],
            &[call(&case["baseline"])],
            &Rules::default(),
        );
        let (similarity, _) = only_parameter(&comparison);
        assert_close(similarity, &case["similarity"], name(&case));
    }
}

#[test]
fn arguments_of_requests() {
    for case in cases("arguments.json") {
        let call = |args: &Value| json!({"tool": "mcp__p__t", "args": args});
        let comparison = compare(
            &[call(&case["baseline"])],
            &[call(&case["current"])],
            &Rules::default(),
        );
        assert_close(
            comparison.scores.trajectory,
            &case["similarity"],
            name(&case),
        );
        assert_losses_add_up(&comparison, name(&case));
    }
}

#[test]
fn responses() {
    for case in cases("responses.json") {
        let call = |side: &Value| {
            let mut call = side.clone();
            call["tool"] = json!("mcp__p__t");
            call
        };
        let comparison = compare(
            &[call(&case["baseline"])],
            &[call(&case["current"])],
            &Rules::default(),
        );
        let response = &only_pair(&comparison).response;
        assert_close(response.similarity, &case["similarity"], name(&case));
        let changes = response.differences.iter();
        let changes: Vec<String> = changes.filter_map(Difference::breach).collect();
        match &case["contract_changes"] {
            Value::Number(number) => {
                assert_eq!(
                    Some(changes.len() as u64),
                    number.as_u64(),
                    "{}: {changes:?}",
                    name(&case)
                );
            }
            words => assert_eq!(&json!(changes), words, "{}", name(&case)),
        }
        let lost: f64 = response.differences.iter().map(|it| it.loss).sum();
        assert_close(lost, &json!(1.0 - response.similarity), name(&case));
        assert_losses_add_up(&comparison, name(&case));
    }
}

#[test]
fn whole_trajectories() {
    for case in cases("trajectories.json") {
        let calls = |side: &str| case[side].as_array().unwrap().clone();
        let comparison = compare(&calls("baseline"), &calls("current"), &Rules::default());
        assert_close(
            comparison.scores.trajectory,
            &case["trajectory"],
            name(&case),
        );
        assert_close(comparison.scores.overall, &case["overall"], name(&case));
        assert_eq!(
            comparison.verdict.passed,
            case["passed"],
            "{}: {:?}",
            name(&case),
            comparison.verdict
        );
        assert_losses_add_up(&comparison, name(&case));
    }
}

#[test]
fn what_varies_by_nature_is_masked() {
    for case in cases("masks.json") {
        let call = |text: &Value| json!({"tool": "mcp__p__t", "text": text});
        let comparison = compare(
            &[call(&case["baseline"])],
            &[call(&case["current"])],
            &Rules::default(),
        );
        let similarity = only_pair(&comparison).response.similarity;
        assert_eq!(
            similarity >= 1.0,
            case["masked"],
            "{}: {similarity}",
            name(&case)
        );
    }
}

/// A server regression is another answer to the same question; 0.95 is the same question, and 0.6 the same answer.
#[test]
fn another_question_excuses_another_answer() {
    let regressed = |limit: &Value, others: usize, got: usize| {
        let call = |limit: &Value, n: usize| {
            let mut args = json!({"limit": limit});
            for it in 0..others {
                args[format!("a{it}")] = json!("x");
            }
            json!({"tool": "mcp__p__t", "args": args, "json": {"n": n}, "reads": true})
        };
        let comparison = compare(
            &[call(&json!(10), 100)],
            &[call(limit, got)],
            &Rules::default(),
        );
        let kinds = comparison.verdict.reasons.iter().map(|it| it.kind);
        kinds
            .filter(|it| *it == ReasonKind::ServerRegression)
            .count()
            == 1
    };
    assert!(regressed(&json!(10), 0, 1));
    // 0.965 with one other argument that is equal, 0.93 with none.
    assert!(regressed(&json!("10"), 1, 1));
    assert!(!regressed(&json!("10"), 0, 1));
    // 0.9 x 5/9 + 0.1 = 0.6, and a little below.
    assert!(!regressed(&json!(10), 0, 56));
    assert!(regressed(&json!(10), 0, 55));
}

/// A reason quotes the place that it names, however many others cost the same.
#[test]
fn a_reason_quotes_the_place_it_names() {
    let call = |answer: Value| json!({"tool": "mcp__p__t", "args": {}, "json": answer});
    let quoted = |before: Value, now: Value| {
        let comparison = compare(&[call(before)], &[call(now)], &Rules::default());
        let reason = comparison.verdict.reasons[0].clone();
        (reason.sentence(), reason.expected)
    };
    let (text, expected) = quoted(
        json!([{"url": "https://a"}, {"url": "https://b"}]),
        json!([{"endpoint": "https://a"}, {"endpoint": "https://b"}]),
    );
    assert!(
        text.ends_with("every `*/url` is renamed to \"endpoint\""),
        "{text}"
    );
    assert_eq!(expected.as_deref(), Some("\"https://a\""));
    let (text, expected) = quoted(json!(["one", "two"]), json!(["six", "ten"]));
    assert!(text.contains("/0 differs"), "{text}");
    assert_eq!(expected.as_deref(), Some("\"one\""));
}

#[test]
fn errors_in_answers_that_are_said_to_be_fine() {
    for case in cases("in_band.json") {
        let mut answer = Answer {
            is_error: case["is_error"].as_bool().unwrap_or(false),
            structured_content: case.get("structured").cloned(),
            ..Answer::default()
        };
        let deep = case["deep"].as_u64().map(|it| usize::try_from(it).unwrap());
        let deep = deep.map(|it| {
            let nested = format!("{}{}", "[".repeat(it), "]".repeat(it));
            format!("{{\"a\": {nested}, \"ok\": false}}")
        });
        let text = deep.as_deref().or(case["text"].as_str());
        answer.content = text
            .map(|it| json!({"type": "text", "text": it}))
            .into_iter()
            .collect();
        let mut rules = Rules::default();
        rules.errors.look = case["errors"] != json!(false);
        for sign in case["errors"].as_array().into_iter().flatten() {
            let said = |name: &str| sign[name].as_str().map(str::to_owned);
            rules.errors.more.extend(said("path").map(ErrorSign::Path));
            rules.errors.more.extend(said("text").map(ErrorSign::Text));
        }
        let said = score::in_band_error(&Outcome::Answer(answer), &rules);
        assert_eq!(said.as_deref(), case["says"].as_str(), "{}", name(&case));
    }
}
