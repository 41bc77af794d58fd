//! The scenario that passes, and in which nearly everything that a gate tolerates has changed.

use mcp_eval::model::{
    Band, Change, ChangeKind, Comparison, Drift, Edit, ExecutionStatus, Piece, Row, ScenarioResult,
    SlowerCall, Status, Text, ToolChange, ToolDrift, Trajectory, Verdict, What,
};
use serde_json::{Value, json};

use super::comparisons::{comparison, pair, parameter, request, same_response};
use super::hostile::{ESCAPES, OVERRIDE, SCRIPT};
use super::kept;
use super::scenario;
use super::trajectories::{assistant, call, text_answer, timed, trajectory, user};

/// A passed run with this many changes of answers, and one of every other kind.
pub(crate) fn changed(answers: usize) -> ScenarioResult {
    scenario("shop/price", "A price and an order", Status::Passed).with(|it| {
        it.duration_ms = Some(1210.0);
        it.baseline = Some(kept(shopping(&json!({"total": 3, "item": "lamp"}), 40.0)));
        it.current = Some(kept(shopping(
            &json!({"total": 3, "item": "lamp", "note": SCRIPT}),
            1100.0,
        )));
        it.comparison = Some(Comparison {
            baseline_status: ExecutionStatus::Success,
            current_status: ExecutionStatus::Success,
            rows: vec![
                equal_pair(1, false, 2, &["/content/0/json/took"]),
                equal_pair(2, false, 1, &[]),
            ],
            drift: vec![Drift {
                server: "shop".to_owned(),
                tool: "get_price".to_owned(),
                what: ToolChange::Description,
                text: Text::default(),
                breaking: false,
                used: true,
                refused: Vec::new(),
                path: "description".to_owned(),
                was: Some("Tells what a thing costs.".to_owned()),
                now: Some("Tells the price of a thing.".to_owned()),
            }],
            slower: vec![SlowerCall {
                baseline: 1,
                current: 1,
                baseline_ms: 40.0,
                current_ms: 1100.0,
            }],
            changes: changes(answers),
            verdict: Verdict {
                passed: true,
                reasons: Vec::new(),
                warnings: Vec::new(),
            },
            ..comparison(0.98, Band::Good)
        });
    })
}

fn changes(answers: usize) -> Vec<Change> {
    let answer = |number: usize| Change {
        path: Some(format!("response/content/0/json/rows/{number}/price")),
        was: Some(format!("{number}.99")),
        now: Some(format!("{number}.95")),
        ..change(ChangeKind::Answer, Some(2), What::Answer(Edit::Changed))
    };
    let mut changes: Vec<Change> = (1..=answers).map(answer).collect();
    changes.extend([
        Change {
            path: Some("response/content/0/json/note".to_owned()),
            now: Some(format!("{SCRIPT} {ESCAPES} {OVERRIDE}")),
            ..change(
                ChangeKind::Addition,
                Some(1),
                What::Answer(Edit::Added(Piece::Member)),
            )
        },
        Change {
            was: Some("40 ms".to_owned()),
            now: Some("1.1 s".to_owned()),
            ..change(ChangeKind::Slower, Some(1), What::Slower)
        },
        Change {
            path: Some("description".to_owned()),
            was: Some("Tells what a thing costs.".to_owned()),
            now: Some("Tells the price of a thing.".to_owned()),
            ..change(
                ChangeKind::Drift,
                None,
                What::Catalogue(ToolDrift {
                    server: "shop".to_owned(),
                    tool: "get_price".to_owned(),
                    change: ToolChange::Description,
                }),
            )
        },
    ]);
    changes
}

fn change(kind: ChangeKind, call: Option<usize>, what: What) -> Change {
    Change {
        kind,
        baseline: call,
        current: call,
        tool: Some("mcp__shop__get_price".to_owned()),
        label: None,
        path: None,
        what,
        text: Text::default(),
        was: None,
        now: None,
        fails: false,
        follows: None,
    }
}

/// A pair that is the same, its answer received `takes` times.
fn equal_pair(number: usize, effect: bool, takes: usize, unseen: &[&str]) -> Row {
    let same = request(1.0, vec![parameter("item")]);
    let Row::Pair(mut pair) = pair(number, number, effect, same, same_response(), 1.0) else {
        unreachable!("a pair is a pair");
    };
    pair.takes = takes;
    pair.unseen = unseen.iter().map(|it| (*it).to_owned()).collect();
    Row::Pair(pair)
}

fn shopping(answer: &Value, milliseconds: f64) -> Trajectory {
    let item = json!({"item": "lamp"});
    trajectory(
        "shop/price",
        "A price and an order",
        vec![
            user("Order one lamp."),
            timed(
                call("get_price", &item, text_answer(&answer.to_string())),
                milliseconds,
            ),
            call("get_price", &item, text_answer("in stock")),
            assistant("It is in stock."),
        ],
    )
}
