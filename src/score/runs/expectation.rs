//! Comparing a run with what its scenario expects of it, in the form of a trajectory.

use std::collections::{HashMap, VecDeque};

use crate::pairing::call::asked;
use crate::text::excerpt;
use crate::work::Cancelled;
use model::digits;
use model::reason::{Reason, ReasonKind, Why};
use model::rules::{Responses, Rules};
use model::{
    Answer, Catalogue, Change, ChangeKind, Comparison, Expectation, Loss, LossOf, Object, Outcome,
    Pair, Row, Step, ToolCall, Trajectory, What,
};

use super::compare::compare_until;

/// A request less similar than this asks something else than was expected.
const ASKED: f64 = 0.95;
/// How many calls that are not as expected are named one by one.
const NAMED: usize = 20;

/// How a run does what its scenario expects: the expected calls as a trajectory, and the comparison with them, worded as what it is.
/// `None` for a scenario that lists no expected calls.
///
/// It is no earlier run, so the comparison reports no drift, no slower calls and no improvement.
///
/// # Errors
///
/// [`Cancelled`] when `is_unwanted` was true before the end.
pub fn compare_with_expectation(
    expected: &Expectation<'_>,
    current: &Trajectory,
    rules: &Rules,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Option<(Trajectory, Comparison)>, Cancelled> {
    if expected.calls.is_empty() {
        return Ok(None);
    }
    let rules = Rules {
        // An expectation has no answers to compare with.
        responses: Responses::Ignore,
        strict: false,
        ..rules.clone()
    };
    let expectation = expectation(expected, current);
    let sides = (answered(&expectation), answered(current));
    let mut comparison = compare_until(&sides.0, &sides.1, &rules, is_unwanted)?;
    comparison.changes.retain_mut(is_deviation);
    comparison.drift.clear();
    comparison.slower.clear();
    comparison.improved = false;
    comparison.losses.iter_mut().for_each(reword_loss);
    comparison.verdict.warnings.clear();
    if !comparison.verdict.passed {
        comparison.verdict.reasons = reasons(&expectation, current, &comparison);
        // Each of them is among the reasons already.
        comparison.changes.clear();
    }
    Ok(Some((expectation, comparison)))
}

/// Rewords a difference as one from what was expected; false where it is no such difference.
fn is_deviation(change: &mut Change) -> bool {
    change.what = match (change.kind, change.baseline, change.current) {
        (ChangeKind::Call, Some(number), None) => {
            change.baseline = None;
            What::Expected(number)
        }
        (ChangeKind::Call, None, _) => What::Unexpected,
        (ChangeKind::Call, ..) => What::NotWhereExpected,
        (ChangeKind::Request | ChangeKind::Effect, ..) => What::NotAsExpected,
        _ => return false,
    };
    change.follows = None;
    true
}

/// The same calls with empty answers, because calls that should fail are judged separately.
fn answered(trajectory: &Trajectory) -> Trajectory {
    let calls = trajectory.calls().map(|call| {
        let answer = Outcome::Answer(Answer::default());
        let (server, tool) = (call.server.clone(), call.tool.clone());
        Step::ToolCall(Box::new(ToolCall {
            digits: call.digits.clone(),
            ..ToolCall::new(server, tool, call.arguments.clone(), answer)
        }))
    });
    Trajectory {
        catalogue: trajectory.catalogue.clone(),
        ending: trajectory.ending.clone(),
        ..Trajectory::new(trajectory.stamp.clone(), calls.collect())
    }
}

fn reword_loss(loss: &mut Loss) {
    match &mut loss.of {
        LossOf::Missing { expected } | LossOf::Extra { expected } | LossOf::Ending { expected } => {
            *expected = true;
        }
        _ => {}
    }
}

/// The reasons against the run: calls that are not as expected, then conditions that concern no single call.
fn reasons(expected: &Trajectory, current: &Trajectory, comparison: &Comparison) -> Vec<Reason> {
    let of_rows = comparison.rows.iter();
    let of_rows: Vec<Reason> = of_rows
        .filter_map(|row| of_row(row, expected, current))
        .collect();
    let left = of_rows.len().saturating_sub(NAMED);
    let more = (left > 0).then(|| Reason::new(ReasonKind::Expectation, Why::MoreNotExpected(left)));
    let others = comparison.verdict.reasons.iter();
    let others = others.filter_map(|it| match it.kind {
        ReasonKind::Threshold => Some(Reason {
            why: Why::TooUnlike,
            tool: None,
            baseline: None,
            current: None,
            cause: None,
            ..it.clone()
        }),
        ReasonKind::Match => Some(Reason {
            why: match &it.why {
                Why::Unfit { demand, .. } => Why::Unfit {
                    demand: demand.clone(),
                    of_expected: true,
                },
                why => why.clone(),
            },
            cause: None,
            ..it.clone()
        }),
        _ => None,
    });
    of_rows
        .into_iter()
        .take(NAMED)
        .chain(more)
        .chain(others)
        .collect()
}

fn of_row(row: &Row, expected: &Trajectory, current: &Trajectory) -> Option<Reason> {
    let (number, why, expected_call, current_call) = match row {
        Row::Missing { baseline, .. } => {
            let call = at(expected, *baseline)?;
            let number = (Some(*baseline), None);
            (number, Why::ExpectedNotMade, Some(call), None)
        }
        Row::Extra {
            current: number, ..
        } => {
            let call = at(current, *number)?;
            ((None, Some(*number)), Why::NotExpected, None, Some(call))
        }
        Row::Pair(pair) => return of_pair(pair, expected, current),
    };
    Some(Reason {
        baseline: number.0,
        current: number.1,
        tool: expected_call.or(current_call).map(name),
        expected: expected_call.map(asked),
        got: current_call.map(asked),
        ..Reason::new(ReasonKind::Expectation, why)
    })
}

fn of_pair(pair: &Pair, expected: &Trajectory, current: &Trajectory) -> Option<Reason> {
    if pair.request.similarity >= ASKED {
        return None;
    }
    let (before, now) = (at(expected, pair.baseline)?, at(current, pair.current)?);
    let parameters = pair.request.parameters.iter().filter(|it| it.loss > 0.0);
    let worst = parameters.max_by(|a, b| a.loss.total_cmp(&b.loss))?;
    let (expected, got) = excerpt::of_both(
        before.arguments.get(&worst.name),
        now.arguments.get(&worst.name),
    );
    Some(Reason {
        baseline: Some(pair.baseline),
        current: Some(pair.current),
        tool: Some(name(now)),
        expected,
        got,
        ..Reason::new(
            ReasonKind::Expectation,
            Why::OtherArgument(worst.name.clone()),
        )
    })
}

fn at(side: &Trajectory, number: usize) -> Option<&ToolCall> {
    side.calls().nth(number.checked_sub(1)?)
}

/// The full name, or the bare one of a tool that no server lists.
fn name(call: &ToolCall) -> String {
    match call.server.as_deref() {
        Some("") => call.tool.clone(),
        _ => call.full_name(),
    }
}

/// The expected calls as if they had been recorded, for a comparison that ignores answers
/// ([`model::rules::Responses::Ignore`]).
///
/// Tool names are resolved against the servers of the run's catalogue. Each call has an empty answer, an error where
/// one is expected. Everything else is the run's own, so that neither drift nor durations differ.
pub fn expectation(expected: &Expectation<'_>, current: &Trajectory) -> Trajectory {
    let mut made: HashMap<String, VecDeque<&ToolCall>> = HashMap::new();
    for call in current.calls() {
        made.entry(call.full_name()).or_default().push_back(call);
    }
    let mut resolved: HashMap<&str, (String, String)> = HashMap::new();
    let calls = expected.calls.iter().map(|expected| {
        let names = resolved.entry(expected.tool);
        let (server, tool) = names
            .or_insert_with(|| resolve(expected.tool, &current.catalogue))
            .clone();
        let mut next = made.get_mut(&format!("mcp__{server}__{tool}"));
        let front = next.as_ref().and_then(|it| it.front().copied());
        let wanted = expected.arguments;
        // A call whose arguments may be any has those of the run's next call of its tool.
        let mut arguments = match (wanted, front) {
            (Some(wanted), _) => wanted.clone(),
            (None, Some(front)) => front.arguments.clone(),
            (None, None) => Object::new(),
        };
        let mut digits = digits::take_from(&mut arguments);
        if let Some(front) = front.filter(|it| it.arguments == arguments) {
            if let Some(of_tool) = &mut next {
                of_tool.pop_front();
            }
            if wanted.is_none() {
                digits.clone_from(&front.digits);
            }
        }
        let outcome = Outcome::Answer(Answer {
            is_error: expected.is_error,
            ..Answer::default()
        });
        Step::ToolCall(Box::new(ToolCall {
            digits,
            ..ToolCall::new(Some(server), tool, arguments, outcome)
        }))
    });
    Trajectory {
        scenario: expected.scenario.to_owned(),
        name: expected.name.to_owned(),
        scenario_hash: Some(expected.hash.to_owned()),
        catalogue: current.catalogue.clone(),
        ..Trajectory::new(current.stamp.clone(), calls.collect())
    }
}

/// The server and the bare name of a tool.
///
/// Server and tool names may themselves hold `__`, so the longest server name that fits wins. A bare name belongs to
/// the server that lists it. A name nobody lists is split at its first `__`, or kept without a server.
fn resolve(name: &str, catalogue: &Catalogue) -> (String, String) {
    let servers = catalogue.servers.iter();
    if let Some(rest) = name.strip_prefix("mcp__") {
        let split = |server: &str| Some(rest.strip_prefix(server)?.strip_prefix("__")?.to_owned());
        let known = servers
            .clone()
            .filter_map(|it| Some((it.server.clone(), split(&it.server)?)))
            .max_by_key(|(server, _)| server.len());
        if let Some(known) = known {
            return known;
        }
        if let Some((server, tool)) = rest.split_once("__") {
            return (server.to_owned(), tool.to_owned());
        }
    }
    let lister = servers
        .clone()
        .find(|it| it.tools.iter().any(|tool| tool.name() == name))
        .or_else(|| (catalogue.servers.len() == 1).then(|| &catalogue.servers[0]));
    let server = lister.map(|it| it.server.clone()).unwrap_or_default();
    (server, name.to_owned())
}
