//! Whether the calls of the expected trajectory were answered as their `expect` says.

use super::meant::{Wanted, standing};
use crate::model::scenario::{Agent, Places, Scenario};
use crate::model::suite::{Check, CheckState};
use crate::model::trajectory::{ToolCall, Trajectory};
use crate::run::ready::answer_holds;
use crate::text::shorten;

/// How much of what is wrong is shown, in characters.
const WHY_CHARS: usize = 300;

/// One check for each expected call that says what its answer must hold.
pub fn step_answers(scenario: &Scenario, trajectory: &Trajectory) -> Vec<Check> {
    let expected = &scenario.expected_trajectory;
    if expected.iter().all(|it| it.expect.is_none()) {
        return Vec::new();
    }
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    let meant: Vec<Wanted<'_>> = expected
        .iter()
        .map(|it| Wanted {
            tool: &it.tool,
            arguments: &it.arguments,
        })
        .collect();
    // A script makes its calls in order. Others try again, and a replay asks a poll until it is done: the answer that is right counts.
    let is_scripted = matches!(scenario.agent, Agent::Scripted { .. });
    let stand = standing(&calls, &meant, &|position, call| {
        let expect = expected.get(position).and_then(|it| it.expect.as_ref());
        is_scripted || expect.is_none_or(|it| answer_holds(it, &call.outcome).is_ok())
    });
    let steps = expected.iter().zip(stand).enumerate();
    let checks = steps.filter_map(|(index, (step, stands))| {
        let expect = step.expect.as_ref()?;
        let problem = match stands.and_then(|it| Some((it, calls.get(it)?))) {
            None => Some("the call was not made".to_owned()),
            Some((at, call)) => answer_holds(expect, &call.outcome)
                .err()
                .map(|why| format!("call {}: {}", at + 1, shorten(&why, WHY_CHARS))),
        };
        Some(Check {
            name: format!("the answer to step {} (`{}`)", index + 1, step.tool),
            line: Places::line_of(&scenario.places.expected, index),
            call: None,
            asks_for_more: true,
            state: if problem.is_none() {
                CheckState::Passed
            } else {
                CheckState::Failed
            },
            message: problem.unwrap_or_default(),
        })
    });
    checks.collect()
}
