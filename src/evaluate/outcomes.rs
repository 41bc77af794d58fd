//! Whether calls succeeded or failed as they were meant to.

use std::collections::HashSet;

use super::judged;
use super::meant::{Wanted, standing};
use crate::model::Object;
use crate::model::scenario::{Agent, Places, Scenario};
use crate::model::suite::{Asked, Check, CheckState};
use crate::model::trajectory::{Outcome, ToolCall, Trajectory};
use crate::score::{in_band_error, nearest_for_call};
use crate::text::shorten;

/// How much of what a server said is shown, in characters.
const SAID_CHARS: usize = 300;

/// A call that failed although it was to succeed, or the reverse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongOutcome {
    /// The number of the call, counted from 1 among the scored calls.
    pub call: usize,
    /// The tool's full name.
    pub tool: String,
    /// The line of the scenario's file that says to make it, where a script does.
    pub line: Option<usize>,
    /// What was said instead of an answer; `None` where the call succeeded although it was meant to fail.
    pub said: Option<String>,
}

impl WrongOutcome {
    /// The same as an expectation that is not met.
    pub fn check(&self) -> Check {
        let (is_meant_to, message) = match &self.said {
            Some(said) => ("succeeds", said.clone()),
            None => ("fails, as expected", "it succeeded".to_owned()),
        };
        let succeeds = self.said.is_some();
        let name = format!("call {} of `{}` {is_meant_to}", self.call, self.tool);
        Check {
            line: self.line,
            call: Some(self.call),
            asked: succeeds.then(|| Asked::Success(self.tool.clone())),
            ..Check::new(name, CheckState::Failed, message)
        }
    }
}

impl std::fmt::Display for WrongOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "call {} of `{}` ", self.call, self.tool)?;
        match &self.said {
            Some(said) => write!(f, "failed: {said}"),
            None => f.write_str("was expected to fail (`is_error`), and succeeded"),
        }
    }
}

/// A call that is meant to be made.
struct Meant<'a> {
    tool: &'a str,
    arguments: Option<&'a Object>,
    fails: bool,
}

/// The calls that did not come out as they were meant to.
///
/// A call succeeds unless the script, or the expected call that stands for it, says `is_error`; one of a replay may also fail where the
/// `replayed` one did. Agents that decide for themselves may try again: their failed call is forgotten when a later one of the same tool
/// succeeds.
pub fn wrong_outcomes(
    scenario: &Scenario,
    trajectory: &Trajectory,
    replayed: Option<&Trajectory>,
) -> Vec<WrongOutcome> {
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    let must_fail = meant_to_fail(scenario, trajectory);
    let names: Vec<String> = replayed
        .iter()
        .flat_map(|it| it.calls().map(ToolCall::full_name))
        .collect();
    let played = replayed.iter().flat_map(|it| it.calls()).zip(&names);
    let played = played.map(|(it, tool)| Meant {
        tool,
        arguments: Some(&it.arguments),
        fails: it.outcome.is_failure(),
    });
    let played: Vec<Meant<'_>> = played.collect();
    let may_fail = failing(&calls, &played);

    let mut wrong = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let is_meant_to_fail = must_fail.contains(&index);
        let said = match (call.outcome.is_failure(), is_meant_to_fail) {
            (true, false) => {
                let later = calls.get(index + 1..).unwrap_or_default();
                let is_made_good = scenario.agent.decides()
                    && later
                        .iter()
                        .any(|it| it.full_name() == call.full_name() && !it.outcome.is_failure());
                if is_made_good || may_fail.contains(&index) {
                    continue;
                }
                Some(said(call, trajectory))
            }
            // Some servers report an error only in the text of an answer that is marked as fine.
            (false, true) if in_band_error(&call.outcome, &scenario.scoring).is_none() => None,
            (true, true) | (false, _) => continue,
        };
        let is_scripted = matches!(scenario.agent, Agent::Scripted { .. });
        let scripted_at = Places::line_of(&scenario.places.script, index);
        wrong.push(WrongOutcome {
            call: index + 1,
            tool: call.full_name(),
            line: scripted_at.filter(|_| is_scripted),
            said,
        });
    }
    wrong
}

/// The indexes of the calls that are meant to fail.
fn failing(calls: &[&ToolCall], meant: &[Meant<'_>]) -> HashSet<usize> {
    if !meant.iter().any(|it| it.fails) {
        return HashSet::new();
    }
    let wanted: Vec<Wanted<'_>> = meant
        .iter()
        .map(|it| Wanted {
            tool: it.tool,
            arguments: it.arguments,
        })
        .collect();
    let stand = standing(calls, &wanted, &|_, _| true);
    let stand = stand.into_iter().zip(meant);
    let fails = stand.filter(|(_, it)| it.fails);
    fails.filter_map(|(index, _)| index).collect()
}

/// The indexes of the calls that the scenario means to fail: those that its script says so of, and those that stand for expected calls that
/// do.
pub(super) fn meant_to_fail(scenario: &Scenario, trajectory: &Trajectory) -> HashSet<usize> {
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    let expected = scenario.expected_trajectory.iter().map(|it| Meant {
        tool: &it.tool,
        arguments: scenario.expects_arguments(it),
        fails: it.is_error,
    });
    let expected: Vec<Meant<'_>> = expected.collect();
    let mut fails = failing(&calls, &expected);
    if let Agent::Scripted { calls } = &scenario.agent {
        // A script makes its calls in order.
        let script = calls.iter().enumerate();
        fails.extend(script.filter(|(_, it)| it.is_error).map(|(index, _)| index));
    }
    fails
}

/// What was said instead of an answer, and the nearest name where no server lists the tool.
fn said(call: &ToolCall, trajectory: &Trajectory) -> String {
    let text = match &call.outcome {
        Outcome::Answer(answer) => match &answer.breach {
            Some(breach) if !answer.is_error => breach.clone(),
            _ => answer.text(),
        },
        Outcome::Failure(failure) => failure.message.clone(),
    };
    let mut said = shorten(text.trim(), SAID_CHARS).into_owned();
    let server = call.server.as_deref().unwrap_or_default();
    let mut servers = trajectory.catalogue.servers.iter();
    let listed = servers.find(|it| it.server == server);
    if let Some(listed) = listed.filter(|it| it.tools.iter().all(|it| it.name() != call.tool)) {
        said.push_str(" – `");
        said.push_str(server);
        said.push_str("` lists no tool of that name");
        if let Some(near) = nearest_for_call(&call.tool, &call.arguments, &listed.tools) {
            said.push_str("; nearest: `");
            said.push_str(near.name());
            said.push('`');
        }
    }
    said
}

/// Where a scenario expects that an agent that decides for itself calls nothing: whether it did.
pub fn no_call(scenario: &Scenario, trajectory: &Trajectory) -> Option<Check> {
    if !scenario.expects_no_call || !scenario.agent.decides() {
        return None;
    }
    let first = trajectory.calls().next().map(ToolCall::full_name);
    let state = CheckState::of(first.is_none());
    let message = first.map_or_else(String::new, |it| format!("call 1 is of `{it}`"));
    Some(Check::new("no tool is called", state, message))
}

/// Where a script makes no calls, so that the list of tools is all there is to look at: whether there is one.
pub fn lists_tools(scenario: &Scenario, trajectory: &Trajectory) -> Option<Check> {
    if !matches!(&scenario.agent, Agent::Scripted { calls } if calls.is_empty()) {
        return None;
    }
    let mut servers = trajectory.catalogue.servers.iter();
    let (state, message) = if servers.any(|it| !it.tools.is_empty()) {
        judged::passed()
    } else {
        judged::failed("nothing is called, and there is no tool to look at")
    };
    Some(Check::new("a server lists tools", state, message))
}
