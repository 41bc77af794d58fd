//! A check that the calls of the expected trajectory were answered as their `expect` says.

use super::finding::HIDDEN;
use super::judged::{Checked, Impossible};
use super::kinds::answers::{self, holds_placeholder};
use super::meant::{Wanted, standing};
use crate::model::ready::{Expected, Until};
use crate::model::rules::Rules;
use crate::model::scenario::{Agent, Places, Scenario};
use crate::model::suite::{Asked, Check, CheckState};
use crate::model::trajectory::{FailureKind, Outcome, ToolCall, Trajectory};
use crate::run::ready::answer_holds;
use crate::text::shorten;

/// How much of what is wrong is shown, in characters.
const WHY_CHARS: usize = 300;

/// One check for each expected call that says what its answer must hold.
pub(super) fn step_answers(scenario: &Scenario, trajectory: &Trajectory, checked: &mut Checked) {
    let expected = &scenario.expected_trajectory;
    if expected.iter().all(|it| it.expect.is_none()) {
        return;
    }
    let mut as_said = trajectory.as_said.iter().flat_map(|it| &it.answers);
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    let meant: Vec<Wanted<'_>> = expected
        .iter()
        .map(|it| Wanted {
            tool: &it.tool,
            arguments: scenario.expects_arguments(it),
        })
        .collect();
    // A script makes its calls in order. Others try again, and a replay asks a poll until it is done: the answer that is right counts.
    let is_scripted = matches!(scenario.agent, Agent::Scripted { .. });
    let stand = standing(&calls, &meant, &|position, call| {
        let expect = expected.get(position).and_then(|it| it.expect.as_ref());
        is_scripted || expect.is_none_or(|it| answered(it, call, &scenario.scoring).is_ok())
    });
    let steps = expected.iter().zip(stand).enumerate();
    for (index, (step, stands)) in steps {
        let Some(expect) = &step.expect else { continue };
        let made = stands.and_then(|it| Some((it, calls.get(it)?)));
        let mut problem = match made {
            None => Some("the call was not made".to_owned()),
            Some((at, call)) => answered(expect, call, &scenario.scoring).err().map(|why| {
                let scripted = scenario.agent.calls().get(at).filter(|_| is_scripted);
                let until = scripted.and_then(|it| it.until.as_ref());
                let asked = match until.filter(|it| in_vain(it, call, &scenario.scoring)) {
                    Some(until) => format!("even after asking for {:?}, ", until.timeout),
                    None => String::new(),
                };
                format!("call {}: {asked}{}", at + 1, shorten(&why, WHY_CHARS))
            }),
        };
        let name = format!("the answer to step {} (`{}`)", index + 1, step.tool);
        match as_said.next() {
            Some(true) => problem = None,
            Some(false) => problem = problem.or_else(|| Some(HIDDEN_FAILS.to_owned())),
            None => {
                let hides = |(_, call): (usize, &&ToolCall)| holds_placeholder(&call.outcome);
                let is_stored = trajectory.as_said.is_none();
                if is_stored && problem.is_some() && made.is_some_and(hides) {
                    checked.impossible.push(Impossible {
                        what: name,
                        why: HIDDEN.to_owned(),
                        meant: None,
                    });
                    continue;
                }
            }
        }
        let state = CheckState::of(problem.is_none());
        checked.checks.push(Check {
            line: Places::line_of(&scenario.places.expected, index),
            asks_for_more: true,
            asked: Some(Asked::Answer(expect.to_string())),
            ..Check::new(name, state, problem.unwrap_or_default())
        });
    }
}

/// The message on an answer that is as expected only without its secrets.
const HIDDEN_FAILS: &str = "what is hidden here is not as expected";

/// Whether a read was repeated for its whole time, and its last answer was not as it was repeated for.
fn in_vain(until: &Until, call: &ToolCall, rules: &Rules) -> bool {
    let is_made = !matches!(&call.outcome, Outcome::Failure(it) if it.kind == FailureKind::NotSent);
    is_made && answered(&until.expect, call, rules).is_err()
}

/// Whether an answer is as expected. One that the server says is fine, and that looks like an error, is one here, too.
fn answered(expect: &Expected, call: &ToolCall, rules: &Rules) -> Result<(), String> {
    let (error, outcome) = (answers::error(call, rules), &call.outcome);
    match (error, outcome) {
        (Some(error), Outcome::Answer(answer)) if !expect.is_error => {
            let way_out = if answer.is_error {
                ""
            } else {
                "; `is_error: true` says that this is expected"
            };
            Err(format!("it {}{way_out}", shorten(&error, WHY_CHARS)))
        }
        (Some(_), Outcome::Answer(answer)) => {
            let mut marked = answer.clone();
            marked.is_error = true;
            answer_holds(expect, &Outcome::Answer(marked))
        }
        _ => answer_holds(expect, outcome),
    }
}
