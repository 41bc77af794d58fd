//! Experiments: two runs are the same one with the same task for the same agent with the same model.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ids::binding::find_bindings;
use crate::values::path::value_at_mut;
use model::text::aligned::aligned;
use model::text::shorten;
use model::text::word_diff::around_difference;
use model::{CauseCall, ExperimentChange, ExperimentPart, Object, Step, ToolCall, Trajectory};

/// The kind of agent that replays the calls of a baseline.
const REPLAY: &str = "replay";

/// The kind of agent whose calls are those of its scenario.
const SCRIPTED: &str = "scripted";

/// How many changes of a scenario are reported.
const PARTS: usize = 5;

/// How much of each side of a change is reported, in characters.
const SHOWN: usize = 80;

/// How two runs are not the same experiment; empty when they are, or when one of them, being imported, does not know its scenario.
///
/// A replay makes the same calls as the baseline, so for a replay, the agent and its settings are not compared.
pub fn experiment_changes(baseline: &Trajectory, current: &Trajectory) -> Vec<ExperimentChange> {
    if baseline.scenario_hash.is_none() || current.scenario_hash.is_none() {
        return Vec::new();
    }
    let (was, is) = (&baseline.stamp, &current.stamp);
    let mut changes = Vec::new();
    if was.agent != REPLAY && is.agent != REPLAY {
        if was.model != is.model {
            let (baseline, current) = (was.model.clone(), is.model.clone());
            let what = ExperimentPart::Model;
            changes.push(ExperimentChange::new(what, baseline, current));
        }
        if was.agent != is.agent {
            let (baseline, current) = (Some(was.agent.clone()), Some(is.agent.clone()));
            let what = ExperimentPart::Agent;
            changes.push(ExperimentChange::new(what, baseline, current));
        }
    }
    let asked = current.scenario_hash.as_deref();
    if scenario_has_changed(baseline, asked, &is.agent, is.agent_hash.as_deref()) {
        changes.extend(changed_parts(baseline, current));
    }
    changes
}

/// What of a scenario that has changed is another one: the messages and the calls of a script are recorded, of all else hashes are.
fn changed_parts(baseline: &Trajectory, current: &Trajectory) -> Vec<ExperimentChange> {
    let mut changed = Vec::new();
    let (was, is) = (messages(baseline), messages(current));
    let is_one = was.len() <= 1 && is.len() <= 1;
    each_changed(
        &was,
        &is,
        |number, _| {
            let part = if is_one {
                "the user's message".to_owned()
            } else {
                format!("the user's message {number}")
            };
            (part, None)
        },
        &mut changed,
    );
    if baseline.stamp.agent == current.stamp.agent {
        if baseline.stamp.agent == SCRIPTED {
            let (was, is) = (calls(baseline), calls(current));
            each_changed(
                &was,
                &is,
                |number, place| (format!("call {number} of the script"), Some(place)),
                &mut changed,
            );
        }
        let (was, is) = (&baseline.stamp.agent_parts, &current.stamp.agent_parts);
        let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        let known = !was.is_empty() && !is.is_empty();
        for name in names
            .into_iter()
            .filter(|it| known && was.get(*it) != is.get(*it))
        {
            changed.push(part_of_scenario(Some(format!("`agent.{name}`"))));
        }
    }
    let more = changed.len().saturating_sub(PARTS);
    if changed.is_empty() || more > 0 {
        changed.truncate(PARTS);
        let part = (more > 0).then(|| format!("what it asks at {more} more places"));
        changed.push(part_of_scenario(part));
    }
    changed
}

/// That this part of the scenario is another one, with no word of what it was.
fn part_of_scenario(part: Option<String>) -> ExperimentChange {
    ExperimentChange {
        part,
        ..ExperimentChange::new(ExperimentPart::Scenario, None, None)
    }
}

/// The texts that the other side lacks, side by side where both sides have one there, shortened to where they differ.
fn each_changed(
    was: &[String],
    is: &[String],
    part: impl Fn(usize, CauseCall) -> (String, Option<CauseCall>),
    changed: &mut Vec<ExperimentChange>,
) {
    let ends = (was.len(), is.len());
    let mut left = Vec::new();
    let (mut before, mut now) = (0, 0);
    for (to_was, to_is) in aligned(was, is).into_iter().chain([ends]) {
        let count = (to_was - before).max(to_is - now);
        left.extend((0..count).map(|at| {
            let was = (before + at < to_was).then(|| before + at);
            (was, (now + at < to_is).then(|| now + at))
        }));
        (before, now) = (to_was + 1, to_is + 1);
    }
    for (was_at, is_at) in left {
        let number = is_at.or(was_at).unwrap_or_default() + 1;
        let (was, is) = (
            was_at.and_then(|it| was.get(it)),
            is_at.and_then(|it| is.get(it)),
        );
        let [baseline, current] = match (was, is) {
            (Some(was), Some(is)) => around_difference(was, is, SHOWN).map(Some),
            _ => [was, is].map(|it| it.map(|it| shorten(it, SHOWN).into_owned())),
        };
        let number_of = |at: Option<usize>| at.map(|it| it + 1);
        let place = CauseCall::new(number_of(was_at), number_of(is_at));
        let (part, script) = part(number, place);
        changed.push(ExperimentChange {
            script,
            baseline,
            current,
            ..part_of_scenario(Some(part))
        });
    }
}

fn messages(trajectory: &Trajectory) -> Vec<String> {
    let messages = trajectory.steps.iter().filter_map(|it| match it {
        Step::User { text } => Some(text.clone()),
        _ => None,
    });
    messages.collect()
}

/// The calls as a reader knows them: `forecast {"city":"Lisbon"}`. What an earlier answer gave is another value each time, and stands as what
/// it is: `<id of find_place>`.
fn calls(trajectory: &Trajectory) -> Vec<String> {
    let made: Vec<&ToolCall> = trajectory.calls().collect();
    let mut arguments: Vec<Object> = made.iter().map(|it| it.arguments.clone()).collect();
    for binding in find_bindings(trajectory) {
        let of = arguments.get_mut(binding.call.wrapping_sub(1));
        let maker = made.get(binding.from.call.wrapping_sub(1));
        let value = of.and_then(|it| value_at_mut(it, &binding.path));
        if let Some((value, maker)) = value.zip(maker) {
            let name = binding.from.path.rsplit('/').next().unwrap_or_default();
            *value = Value::from(format!("<{name} of {}>", maker.tool));
        }
    }
    let calls = made.iter().zip(arguments);
    let shown = calls.map(|(call, arguments)| format!("{} {}", call.tool, Value::from(arguments)));
    shown.collect()
}

/// Whether a baseline was recorded when the scenario asked something else, or gave the same agent something else to ask it with. The
/// hashes are those of the scenario as it is now.
pub fn scenario_has_changed(
    baseline: &Trajectory,
    scenario_hash: Option<&str>,
    agent: &str,
    agent_hash: Option<&str>,
) -> bool {
    let differ =
        |was: Option<&str>, is: Option<&str>| was.zip(is).is_some_and(|(was, is)| was != is);
    // The settings of different kinds of agents cannot be compared.
    let given = baseline.stamp.agent_hash.as_deref();
    differ(baseline.scenario_hash.as_deref(), scenario_hash)
        || baseline.stamp.agent == agent && differ(given, agent_hash)
}
