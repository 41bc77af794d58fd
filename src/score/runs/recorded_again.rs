//! A scenario recorded again: what of the accepted trajectory stays as it is, because nothing has changed there.
//!
//! A baseline is reviewed as a change of a file. So whatever `compare` would call the same keeps its old values – times, stamps, and places
//! that are known to vary –, and where all is the same, the trajectory stays as a whole.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use crate::by_hand::learned::places_texts;
use crate::learn::carry_over;
use crate::learn::known::covers;
use crate::work::Cancelled;
use model::binding::Binding;
use model::catalogue::{Catalogue, ServerCatalogue, Tool};
use model::change::{Change, ChangeKind};
use model::comparison::{Comparison, Pair, Row};
use model::learned::Learned;
use model::rules::Rules;
use model::trajectory::{Answer, Outcome, Step, ToolCall, Trajectory};

use super::compare::{compare, compare_until};
use super::experiment::experiment_changes;
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
    let mut all = is_same_experiment
        && is_whole(comparison)
        && comparison.drift.is_empty()
        && says_the_same(accepted, recorded);
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
        return Ok(None);
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

/// Whether a change is more than one of time and tokens.
pub fn is_of_substance(change: &Change) -> bool {
    !matches!(change.kind, ChangeKind::Slower | ChangeKind::Tokens)
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
    comparison.rows.iter().filter_map(move |row| match row {
        Row::Pair(pair) if !changed.contains(&(Some(pair.baseline), Some(pair.current))) => {
            Some(pair.as_ref())
        }
        _ => None,
    })
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

/// Both recordings, to be mixed.
struct Mix<'a> {
    accepted: &'a Trajectory,
    recorded: &'a Trajectory,
    /// The new one with what is known to vary.
    carried: &'a Trajectory,
    comparison: &'a Comparison,
}

impl Mix<'_> {
    /// The new recording, with the unchanged calls and tools as they were, and the rest in these terms. Offsets of calls count from the old
    /// recording; calls that are new say when their own run began, and changed ones, too, unless their times are those of the old ones. `None`
    /// where old and new do not go together.
    fn in_terms(&self, terms: &OldTerms, unchanged: &[(usize, usize)]) -> Option<Trajectory> {
        let Self {
            accepted,
            recorded,
            carried,
            comparison,
        } = self;
        let before: Vec<&ToolCall> = accepted.calls().collect();
        let pairs: HashMap<usize, usize> = (comparison.rows.iter())
            .filter_map(|row| match row {
                Row::Pair(pair) => Some((pair.current, pair.baseline)),
                Row::Missing { .. } | Row::Extra { .. } => None,
            })
            .collect();
        let kept: HashMap<usize, usize> = unchanged.iter().map(|(was, is)| (*is, *was)).collect();
        let slower: HashSet<usize> = (comparison.changes.iter())
            .filter(|it| it.kind == ChangeKind::Slower && it.fails)
            .filter_map(|it| it.current)
            .collect();
        let mut mixed = (*carried).clone();
        mixed.stamp.recorded_at = accepted.stamp.recorded_at;
        mixed.stamp.utc_offset = accepted.stamp.utc_offset;
        for binding in &mut mixed.bindings {
            terms.value(&mut binding.value);
        }
        let mut number = 0;
        for step in &mut mixed.steps {
            let call = match step {
                Step::ToolCall(call) if call.server.is_some() => call,
                Step::Assistant { text } => {
                    terms.text(text);
                    continue;
                }
                Step::ToolCall(_) | Step::User { .. } => continue,
            };
            number += 1;
            let took = call.duration_ms;
            let at = |number: &usize| before.get(number.wrapping_sub(1)).copied();
            if let Some(was) = kept.get(&number).and_then(at) {
                **call = was.clone();
            } else {
                let was = pairs.get(&number).and_then(at);
                let keeps_times = terms.call(call, was);
                if let Some(was) = was.filter(|_| keeps_times) {
                    (call.began, call.start_ms) = (was.began, was.start_ms);
                    call.duration_ms = was.duration_ms;
                } else {
                    call.began = Some(recorded.began(call));
                }
            }
            if slower.contains(&number) {
                call.duration_ms = took;
            }
        }
        let now: HashMap<usize, usize> = pairs.iter().map(|(is, was)| (*was, *is)).collect();
        for (was, is) in unchanged {
            mixed.learned.retain(|it| it.call != *is);
            let known = accepted.learned.iter().find(|it| it.call == *was);
            mixed.learned.extend(known.map(|it| {
                let mut known = it.clone();
                known.call = *is;
                known.repeats.retain_mut(|it| match now.get(&it.call) {
                    Some(number) => {
                        it.call = *number;
                        true
                    }
                    None => false,
                });
                known
            }));
        }
        mixed.learned.sort_by_key(|it| it.call);
        for (is, was) in &pairs {
            if !kept.contains_key(is) {
                self.refer_to_texts(&mut mixed, *is, *was)?;
            }
        }
        let all_in_place = pairs.len() == comparison.rows.len()
            && pairs.iter().all(|(current, baseline)| current == baseline);
        if all_in_place && slower.is_empty() {
            mixed.duration_ms = accepted.duration_ms;
        }
        let behind_is_same = !(comparison.changes.iter())
            .any(|it| it.kind == ChangeKind::Upstream && is_of_substance(it));
        if let Some(lane) = &mut mixed.upstream {
            match &accepted.upstream {
                Some(was) if all_in_place && behind_is_same => lane.clone_from(was),
                _ => {
                    for it in &mut lane.calls {
                        it.call.began = Some(recorded.began(&it.call));
                    }
                }
            }
        }
        mixed.catalogue = catalogue(&accepted.catalogue, &recorded.catalogue, comparison);
        Some(mixed)
    }

    /// Makes what is known to vary in the texts of an answer be about these: where a text is the old one, that is what was known of the old one.
    fn refer_to_texts(&self, mixed: &mut Trajectory, is: usize, was: usize) -> Option<()> {
        let answer = |of: &Trajectory, number: usize| {
            let call = of.calls().nth(number.checked_sub(1)?)?;
            call.outcome.answer().cloned()
        };
        let Some(now) = answer(mixed, is) else {
            return Some(());
        };
        let (before, new) = (answer(self.accepted, was), answer(self.recorded, is));
        let known = self.accepted.learned.iter().find(|it| it.call == was);
        let known = known.map_or(&[][..], |it| &it.varies);
        for learned in mixed.learned.iter_mut().filter(|it| it.call == is) {
            let texts = |answer: &Option<Answer>| -> Vec<Option<Vec<String>>> {
                let texts = answer.as_ref().map(|it| places_texts(&learned.varies, it));
                texts.unwrap_or_else(|| vec![None; learned.varies.len()])
            };
            let of_all = [&Some(now.clone()), &before, &new].map(texts);
            for (at, varying) in learned.varies.iter_mut().enumerate() {
                let [now, before, new] = of_all.each_ref().map(|it| &it[at]);
                let old = known.iter().find(|it| it.path == varying.path);
                match old.filter(|_| now == before) {
                    Some(old) => *varying = old.clone(),
                    None if now == new => {}
                    None => return None,
                }
            }
        }
        Some(())
    }
}

/// The tools that are offered now, in the old order and as they were where nothing has changed.
fn catalogue(before: &Catalogue, now: &Catalogue, comparison: &Comparison) -> Catalogue {
    let drifted: HashSet<(&str, &str)> = (comparison.drift.iter())
        .map(|it| (it.server.as_str(), it.tool.as_str()))
        .collect();
    let servers = now.servers.iter().map(|now| {
        let Some(before) = before.servers.iter().find(|it| it.server == now.server) else {
            return now.clone();
        };
        let place = |name: &str| before.tools.iter().position(|it| it.name() == name);
        let mut tools = now.tools.clone();
        for tool in &mut tools {
            let name = tool.name().to_owned();
            let was = place(&name).and_then(|it| before.tools.get(it));
            if let Some(was) = was.filter(|_| !drifted.contains(&(now.server.as_str(), &name))) {
                tool.clone_from(was);
            }
        }
        // In the old order, each new one behind the one that it is listed behind.
        let mut last = 0;
        let mut places: Vec<(usize, Tool)> = Vec::new();
        for tool in tools {
            last = place(tool.name()).unwrap_or(last);
            places.push((last, tool));
        }
        places.sort_by_key(|it| it.0);
        let tools = places.into_iter().map(|it| it.1).collect();
        ServerCatalogue {
            tools,
            ..now.clone()
        }
    });
    Catalogue {
        servers: servers.collect(),
        own: now.own.clone(),
    }
}
