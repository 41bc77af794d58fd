//! Worked cases of the scoring rules, one file per question under `tests/fixtures/scoring/`.

use mcp_eval::model::rules::Rules;
use serde_json::{Value, json};

use crate::score_kit::{assert_close, assert_losses_add_up, cases, compare, only_pair};

fn name(case: &Value) -> &str {
    case["name"].as_str().unwrap()
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
        let parameter = &only_pair(&comparison).request.parameters[0];
        assert_close(
            parameter.similarity.unwrap(),
            &case["similarity"],
            name(&case),
        );
        assert_eq!(
            parameter.method,
            case["method"].as_str().unwrap(),
            "{}",
            name(&case)
        );
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
        let parameter = &only_pair(&comparison).request.parameters[0];
        assert_close(
            parameter.similarity.unwrap(),
            &case["similarity"],
            name(&case),
        );
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
        let changes: Vec<&str> = response
            .contract_changes
            .iter()
            .map(|it| it.what.as_str())
            .collect();
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
