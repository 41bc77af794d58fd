//! A scenario recorded again: what of the accepted trajectory stays as it is, because nothing has changed there.
//!
//! A baseline is reviewed as a change of a file. So whatever `compare` would call the same keeps its old values – times, stamps, and places
//! that are known to vary –, and where all is the same, the trajectory stays as a whole.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::learn::carry_over;
use crate::learn::known::covers;
use crate::work::Cancelled;
use model::rules::Rules;
use model::{Binding, Change, Comparison, Learned, Outcome, Pair, Row, Step, ToolCall, Trajectory};

use super::compare::{compare, compare_until};
use super::experiment::experiment_changes;
use super::mix::{Mix, is_of_substance, mixed_catalogue};
use super::old_terms::{OldTerms, is_consistent};

/// How often a mix of both recordings is tried before the new one is kept as it is.
const TRIES: usize = 3;

/// A recording that is to replace an accepted trajectory.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// With what was learned of it.
    pub kept: &'a Trajectory,
    /// The accepted trajectory, compared with it.
    pub comparison: &'a Comparison,
    /// The other takes it was learned from, where they are of the same calls.
    pub other_takes: &'a [&'a Trajectory],
}

/// What becomes of an accepted trajectory that is recorded again; `None` where it stays as it is.
///
/// # Errors
///
/// [`Cancelled`] when `is_unwanted` was true before the end.
pub fn recorded_again(
    accepted: &Trajectory,
    recording: Recording<'_>,
    rules: &Rules,
    is_unwanted: &dyn Fn() -> bool,
) -> Result<Option<Trajectory>, Cancelled> {
    let Recording {
        kept: recorded,
        comparison,
        other_takes,
    } = recording;
    let mut carried = recorded.clone();
    carry_over(accepted, &mut carried, comparison);
    let mut unchanged = unchanged_calls(accepted, recorded, comparison);
    // Of another experiment, too, stays what was asked and answered as before, but never the whole.
    let is_same_experiment = experiment_changes(accepted, recorded).is_empty();
    let mut all = is_same_experiment && is_whole(comparison) && says_the_same(accepted, recorded);
    let takes = other_takes.iter().map(|it| (*it).clone());
    let again = std::iter::once(recorded).chain(other_takes.iter().copied());
    let takes: Vec<Trajectory> = takes.chain(again.filter_map(second_answers)).collect();
    for take in &takes {
        let compared = compare_until(accepted, take, rules, is_unwanted)?;
        all &= is_whole(&compared);
        let same: HashSet<usize> = same_pairs(&compared).map(|it| it.baseline).collect();
        unchanged.retain(|(baseline, _)| same.contains(baseline));
    }
    if all && unchanged.len() == accepted.calls().count() {
        // Where servers only offer something else, nothing else is of another run.
        let is_same = comparison.drift.is_empty();
        return Ok((!is_same).then(|| Trajectory {
            catalogue: mixed_catalogue(accepted, recorded, comparison),
            ..accepted.clone()
        }));
    }
    let mix = Mix {
        accepted,
        recorded,
        carried: &carried,
        comparison,
    };
    // What varies anyway keeps its old values wherever it stands.
    if let Some(terms) = OldTerms::new(accepted, recorded, comparison)
        && let Some(mixed) = mix.in_terms(&terms, &unchanged)
        && is_consistent(&mixed)
        && says(
            &mixed,
            recorded,
            &compare_until(&mixed, recorded, rules, is_unwanted)?,
        )
    {
        return Ok(Some(mixed));
    }
    for _ in 0..TRIES {
        let bindings = together(accepted, recorded, &mut unchanged);
        let Some(mut mixed) = mix.in_terms(&OldTerms::default(), &unchanged) else {
            break;
        };
        mixed.bindings = bindings;
        let compared = compare_until(&mixed, recorded, rules, is_unwanted)?;
        if says(&mixed, recorded, &compared) && is_consistent(&mixed) {
            return Ok(Some(mixed));
        }
        // What was kept does not go together with what is new, such as an id that one call makes and another lists.
        let same: HashSet<usize> = same_pairs(&compared).map(|it| it.current).collect();
        let before = unchanged.len();
        unchanged.retain(|(_, current)| same.contains(current));
        if unchanged.len() == before {
            break;
        }
    }
    Ok(Some(carried))
}

/// Whether an accepted trajectory has the answer to a call, which is in the form that is stored: to the same request, and the same but for
/// what is known to vary.
pub fn has_answer(accepted: &Trajectory, answered: &ToolCall, rules: &Rules) -> bool {
    let asks_the_same = |it: &&ToolCall| {
        (&it.server, &it.tool) == (&answered.server, &answered.tool)
            && (&it.arguments, &it.digits) == (&answered.arguments, &answered.digits)
    };
    let alone = |call: &ToolCall, learned: Vec<Learned>| Trajectory {
        catalogue: accepted.catalogue.clone(),
        learned,
        ..Trajectory::new(
            accepted.stamp.clone(),
            vec![Step::ToolCall(Box::new(call.clone()))],
        )
    };
    let now = LazyCell::new(|| alone(answered, Vec::new()));
    let calls = (1..).zip(accepted.calls());
    let mut same = calls.filter(|(_, it)| asks_the_same(it));
    same.any(|(number, call)| {
        if call.outcome == answered.outcome {
            return true;
        }
        let known = accepted.learned.iter().filter(|it| it.call == number);
        let known = known.map(|it| Learned {
            call: 1,
            ..it.clone()
        });
        let before = alone(call, known.collect());
        is_whole(&compare(&before, &now, rules))
    })
}

/// Whether nothing of substance differs.
fn is_whole(comparison: &Comparison) -> bool {
    comparison.verdict.passed && !comparison.changes.iter().any(is_of_substance)
}

/// Whether a mix says what the new recording does, with which it was compared. An answer that it has from there is the same, although an id
/// in it is not a new one.
fn says(mixed: &Trajectory, recorded: &Trajectory, compared: &Comparison) -> bool {
    let calls: [Vec<&ToolCall>; 2] = [mixed, recorded].map(|it| it.calls().collect());
    let outcome = |of: &[&'_ ToolCall], number: Option<usize>| {
        let call = of.get(number?.checked_sub(1)?);
        call.map(|it| it.outcome.clone())
    };
    let is_same = |it: &Change| {
        let [was, is] = [(&calls[0], it.baseline), (&calls[1], it.current)]
            .map(|(of, number)| outcome(of, number));
        was.is_some() && was == is
    };
    let mut changes = compared.changes.iter().filter(|it| is_of_substance(it));
    compared.verdict.passed && changes.all(is_same)
}

/// Whether what is not compared is the same: what the scenario is called and asks, how it ended, and how often it was reproduced.
fn says_the_same(accepted: &Trajectory, recorded: &Trajectory) -> bool {
    let (was, is) = (&accepted.stamp, &recorded.stamp);
    let gains_hash = was.agent == is.agent && is.agent_hash.is_some() && was.agent_hash.is_none();
    accepted.scenario == recorded.scenario
        && accepted.name == recorded.name
        && accepted.scenario_hash == recorded.scenario_hash
        && was.servers == is.servers
        && !gains_hash
        && std::mem::discriminant(&accepted.ending) == std::mem::discriminant(&recorded.ending)
        && (recorded.repeated.is_none() || accepted.repeated == recorded.repeated)
}

/// The pairs of which nothing of substance differs.
fn same_pairs(comparison: &Comparison) -> impl Iterator<Item = &Pair> {
    let changed: HashSet<(Option<usize>, Option<usize>)> = (comparison.changes.iter())
        .filter(|it| is_of_substance(it))
        .map(|it| (it.baseline, it.current))
        .collect();
    let rows = comparison.rows.iter();
    rows.filter(move |it| !changed.contains(&it.calls()))
        .filter_map(Row::pair)
}

/// The calls, by their numbers on both sides, of which nothing has changed and nothing more was learned.
fn unchanged_calls(
    accepted: &Trajectory,
    recorded: &Trajectory,
    comparison: &Comparison,
) -> Vec<(usize, usize)> {
    let (once, still_once) = (accepted.answered_once(), recorded.answered_once());
    let of = |all: &[Learned], call: usize| all.iter().find(|it| it.call == call).cloned();
    let knows = |pair: &&Pair| {
        let own = of(&recorded.learned, pair.current).unwrap_or_default();
        let known = of(&accepted.learned, pair.baseline).unwrap_or_default();
        let is_held_now = once.binary_search(&pair.baseline).is_ok()
            && still_once.binary_search(&pair.current).is_err();
        !is_held_now && covers(&known, &own)
    };
    let same = same_pairs(comparison).filter(knows);
    same.map(|it| (it.baseline, it.current)).collect()
}

/// Drops unchanged calls that take another value from a call that has changed, or give it one: what makes an id and what uses it come from
/// the same recording. Returns the bindings of the mix.
fn together(
    accepted: &Trajectory,
    recorded: &Trajectory,
    unchanged: &mut Vec<(usize, usize)>,
) -> Vec<Binding> {
    loop {
        let was = |call: usize| unchanged.iter().find(|it| it.1 == call).map(|it| it.0);
        let mut bindings = Vec::new();
        let mut parted = HashSet::new();
        for own in &recorded.bindings {
            let (user, maker) = (was(own.call), was(own.from.call));
            let old = user.zip(maker).and_then(|(user, maker)| {
                let is_it = |it: &&Binding| {
                    (it.call, &it.path) == (user, &own.path) && it.from.call == maker
                };
                accepted.bindings.iter().find(is_it)
            });
            if let Some(old) = old {
                bindings.push(Binding {
                    value: old.value.clone(),
                    ..own.clone()
                });
                continue;
            }
            if !accepted.bindings.iter().any(|it| it.value == own.value) {
                parted.extend(user.map(|_| own.call));
                parted.extend(maker.map(|_| own.from.call));
            }
            bindings.push(own.clone());
        }
        if parted.is_empty() {
            return bindings;
        }
        unchanged.retain(|(_, current)| !parted.contains(current));
    }
}

/// The run with the answers that its reads got when they were asked again; `None` where none was.
fn second_answers(take: &Trajectory) -> Option<Trajectory> {
    let mut again = take.clone();
    let mut any = false;
    for step in &mut again.steps {
        if let Step::ToolCall(call) = step
            && let Some(outcome) = call.again.iter().find(|it| is_answer(it))
        {
            call.outcome = outcome.clone();
            any = true;
        }
    }
    any.then_some(again)
}

/// Nothing is learned of what failed when it was asked again.
fn is_answer(outcome: &Outcome) -> bool {
    !outcome.is_failure()
}
