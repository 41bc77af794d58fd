//! The calls that are meant to be made: which call of a run stands for which, whether it succeeded, and whether it was answered as `expect` says.

use std::collections::{HashMap, HashSet, VecDeque};

use super::finding::{self, Checked, HIDDEN, Impossible};
use super::kinds::answers::{self, holds_placeholder};
use super::tools::is_called;
use crate::model::rules::Rules;
use crate::model::{
    Asked, Check, CheckState, FailureKind, Object, Outcome, Places, ToolCall, Trajectory,
};
use crate::run::ready::answer_holds;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::scenario_file::servers::{Expected, Until};
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
        finding::passed()
    } else {
        finding::failed("nothing is called, and there is no tool to look at")
    };
    Some(Check::new("a server lists tools", state, message))
}

/// A call that is meant to be made.
pub(super) struct Wanted<'a> {
    pub(super) tool: &'a str,
    /// `None` where it may have any.
    pub(super) arguments: Option<&'a Object>,
}

/// For each meant call the index of the one that stands for it, each at most once: the first that is left with the same arguments, else the
/// first of the tool. Among several, the first that is preferred as the one of this position.
pub(super) fn standing(
    calls: &[&ToolCall],
    meant: &[Wanted<'_>],
    prefers: &dyn Fn(usize, &ToolCall) -> bool,
) -> Vec<Option<usize>> {
    let mut taken = vec![false; calls.len()];
    // Of some calls, the first that is left for a position. Where they are equal, the one there is tried first, because most calls are made
    // in the meant order.
    let mut first = |of: &mut VecDeque<usize>, position: usize, are_equal: bool| -> Option<usize> {
        let is_there = are_equal && of.binary_search(&position).is_ok();
        if is_there && !taken[position] && prefers(position, calls[position]) {
            taken[position] = true;
            return Some(position);
        }
        while of.front().is_some_and(|it| taken[*it]) {
            of.pop_front();
        }
        let mut left = of.iter().copied().filter(|it| !taken[*it]);
        let preferred = left.clone().find(|it| prefers(position, calls[*it]));
        let found = preferred.or_else(|| left.next())?;
        taken[found] = true;
        Some(found)
    };
    let mut stand = vec![None; meant.len()];
    let mut asking: HashMap<&Object, Vec<usize>> = HashMap::new();
    for (index, call) in calls.iter().enumerate() {
        asking.entry(&call.arguments).or_default().push(index);
    }
    let mut equal: HashMap<(&str, &Object), VecDeque<usize>> = HashMap::new();
    for (position, it) in meant.iter().enumerate() {
        let Some(arguments) = it.arguments else {
            continue;
        };
        let of = equal.entry((it.tool, arguments)).or_insert_with(|| {
            let same = asking.get(arguments).into_iter().flatten().copied();
            same.filter(|at| is_called(calls[*at], it.tool)).collect()
        });
        stand[position] = first(of, position, true);
    }
    let mut of_tool: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (position, it) in meant.iter().enumerate() {
        if stand[position].is_none() {
            let of = of_tool.entry(it.tool).or_insert_with(|| {
                let all = (0..calls.len()).filter(|at| is_called(calls[*at], it.tool));
                all.collect()
            });
            stand[position] = first(of, position, false);
        }
    }
    stand
}

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
