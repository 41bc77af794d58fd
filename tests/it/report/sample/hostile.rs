//! A server, a model and a scenario author who all mean harm.

use mcp_eval::model::reason::{Reason, ReasonKind, Why};
use mcp_eval::model::{
    Band, Comparison, Difference, Drift, Edit, ExperimentChange, ExperimentPart, ResponseScore,
    ScenarioResult, Status, Steady, Text, ToolChange, Trajectory, Verdict,
};
use serde_json::json;

use super::behind::{hostile_comparison, hostile_lane};
use super::comparisons::{bound, check, comparison, loss, pair, parameter, reason, request};
use super::kept;
use super::scenario;
use super::trajectories::{assistant, call, text_answer, trajectory, user};

/// Texts from outside that must never act: on a browser, on a terminal, on a reader.
pub(crate) const SCRIPT: &str = "<script>alert(1)</script>";

pub(crate) const ESCAPES: &str = "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J";

pub(crate) const OVERRIDE: &str = "user\u{202e}gpj.exe";

pub(crate) fn hostile() -> ScenarioResult {
    let answer = format!("{SCRIPT} {ESCAPES} {OVERRIDE} javascript:alert(2)");
    let steps = vec![
        user(&format!("Look at {SCRIPT}")),
        call(
            SCRIPT,
            &json!({"<img src=x onerror=alert(3)>": answer, "url": "javascript:alert(4)"}),
            text_answer(&answer),
        ),
        assistant(&answer),
    ];
    let current = Trajectory {
        upstream: Some(Box::new(hostile_lane())),
        ..trajectory("odd/<b>", "odd", steps)
    };
    scenario("odd/<b>", &format!("{SCRIPT} {OVERRIDE}"), Status::Failed).with(|it| {
        it.description = Some(format!("Description {SCRIPT}"));
        it.user_intent = Some(format!("\"><svg onload=alert(5)> {ESCAPES}"));
        it.tags = vec![SCRIPT.to_owned()];
        it.duration_ms = Some(3.0);
        it.experiment_changes = vec![ExperimentChange::new(
            ExperimentPart::Agent,
            Some(answer.clone()),
            Some(SCRIPT.to_owned()),
        )];
        it.notes = vec![answer.clone()];
        it.checks = vec![check(SCRIPT, false, ESCAPES)];
        it.baseline = Some(kept(current.clone()));
        it.current = Some(kept(current));
        it.comparison = Some(Comparison {
            rows: vec![bound(pair(
                1,
                1,
                true,
                request(1.0, vec![parameter(SCRIPT)]),
                ResponseScore {
                    similarity: 0.5,
                    differences: vec![Difference {
                        breaks: Some(Steady::Unknown),
                        expected: Some(answer.clone()),
                        got: Some(OVERRIDE.to_owned()),
                        similarity: 0.0,
                        loss: 0.5,
                        ..Difference::shown(
                            format!("/content/0/{SCRIPT}"),
                            Edit::Renamed(ESCAPES.to_owned()),
                        )
                    }],
                },
                0.5,
            ))],
            losses: vec![loss(0.5, 1, SCRIPT, ESCAPES)],
            drift: vec![Drift {
                server: SCRIPT.to_owned(),
                tool: SCRIPT.to_owned(),
                what: ToolChange::Described(SCRIPT.to_owned()),
                text: Text::default(),
                breaking: true,
                used: false,
                refused: Vec::new(),
                path: String::new(),
                was: None,
                now: None,
            }],
            verdict: Verdict {
                passed: false,
                reasons: vec![Reason {
                    expected: Some(ESCAPES.to_owned()),
                    got: Some(SCRIPT.to_owned()),
                    cause: Some(OVERRIDE.to_owned()),
                    ..reason(
                        ReasonKind::EffectChange,
                        Some(1),
                        Some(1),
                        Why::Described(answer),
                    )
                }],
                warnings: vec![reason(
                    ReasonKind::Drift,
                    None,
                    None,
                    Why::Described(SCRIPT.to_owned()),
                )],
            },
            upstream: Some(hostile_comparison()),
            ..comparison(0.5, Band::Degraded)
        });
    })
}
