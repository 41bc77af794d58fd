//! The `success_criteria` of a scenario.

use serde_json::Value;

use crate::model::scenario::{Criterion, Scenario};
use crate::model::suite::Check;
use crate::model::trajectory::{Outcome, Step, ToolCall, Trajectory};

/// Checks every success criterion of a scenario against a run.
pub fn check_criteria(scenario: &Scenario, trajectory: &Trajectory) -> Vec<Check> {
    let texts = texts(trajectory);
    scenario
        .success_criteria
        .iter()
        .map(|criterion| {
            let unmet = match criterion {
                Criterion::Text(text) => {
                    let wanted = text.to_lowercase();
                    let found = texts.iter().any(|it| it.contains(&wanted));
                    (!found).then(|| {
                        "appears nowhere in what the agent and the servers said".to_owned()
                    })
                }
                Criterion::ToolCalled(tool) => {
                    let called = trajectory.calls().any(|it| is_called(it, tool));
                    (!called).then(|| "the tool was not called".to_owned())
                }
                Criterion::ToolNeverCalled(tool) => trajectory
                    .calls()
                    .position(|it| is_called(it, tool))
                    .map(|index| format!("call {} calls the tool", index + 1)),
            };
            Check {
                name: criterion.text(),
                passed: unmet.is_none(),
                message: unmet.unwrap_or_default(),
            }
        })
        .collect()
}

/// Whether a call is of this tool, named in full or bare.
fn is_called(call: &ToolCall, tool: &str) -> bool {
    call.tool == tool || call.full_name() == tool
}

/// Everything the agent and the servers said, in lower case. What the user asked for proves nothing.
fn texts(trajectory: &Trajectory) -> Vec<String> {
    let mut texts = Vec::new();
    for step in &trajectory.steps {
        match step {
            Step::User { .. } => {}
            Step::Assistant { text } => texts.push(text.clone()),
            Step::ToolCall(call) => {
                texts.push(call.full_name());
                texts.push(Value::Object(call.arguments.clone()).to_string());
                for argument in call.arguments.values().filter_map(Value::as_str) {
                    texts.push(argument.to_owned());
                }
                match &call.outcome {
                    Outcome::Answer(answer) => {
                        texts.push(answer.text());
                        texts.extend(answer.content.iter().map(Value::to_string));
                        texts.extend(answer.structured_content.iter().map(Value::to_string));
                    }
                    Outcome::Failure(failure) => texts.push(failure.message.clone()),
                }
            }
        }
    }
    texts.iter().map(|it| it.to_lowercase()).collect()
}

/// Checks that the calls a scenario expects to succeed have done so. A call that was meant to fail says so with `is_error`.
///
/// Expected and real calls are matched in order, by tool; a call nobody expected must succeed, too. A model may try again: its failed call
/// is forgotten when a later one of the same tool succeeds.
pub fn check_outcomes(scenario: &Scenario, trajectory: &Trajectory) -> Vec<Check> {
    let mut meant_to_fail: Vec<&str> = scenario
        .expected_trajectory
        .iter()
        .filter(|it| it.is_error)
        .map(|it| it.tool.as_str())
        .collect();
    let mut checks = Vec::new();
    for (index, call) in trajectory
        .calls()
        .enumerate()
        .filter(|(_, it)| it.outcome.is_failure())
    {
        if let Some(meant) = meant_to_fail.iter().position(|it| is_called(call, it)) {
            meant_to_fail.remove(meant);
            continue;
        }
        let mut later = trajectory.calls().skip(index + 1);
        let is_made_good = scenario.agent.decides()
            && later.any(|it| it.full_name() == call.full_name() && !it.outcome.is_failure());
        if is_made_good {
            continue;
        }
        let said = match &call.outcome {
            Outcome::Answer(answer) => answer.text(),
            Outcome::Failure(failure) => failure.message.clone(),
        };
        checks.push(Check {
            name: format!("call {} of `{}` succeeds", index + 1, call.full_name()),
            passed: false,
            message: said.chars().take(300).collect(),
        });
    }
    checks
}
