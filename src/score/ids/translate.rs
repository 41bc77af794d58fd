//! Puts a run into its baseline's terms, by what its calls take from earlier answers.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::model::binding::{Binding, Source};
use crate::model::comparison::Bound;
use crate::model::learned::Learned;
use crate::model::placeholder;
use crate::model::rules::Rules;
use crate::model::trajectory::{Answer, Outcome, Step, ToolCall, Trajectory};
use crate::score::pairing::partners::Partners;
use crate::score::text::generated::is_generated;
use crate::score::values::path::covers_path;
use crate::score::work::Work;

use super::binding::fill;
use super::binding::resolve;
use super::binding::{alike, at, full_paths, read_calls, text_of, value_at, value_at_mut};
use super::id_translation::IdTranslation;
use super::translated_run::TranslatedRun;

/// The most values that stand for others although no call uses them.
const UNUSED: usize = 1_000;

/// A binding with the value the run has at its source.
struct Followed<'a> {
    binding: &'a Binding,
    live: Option<Value>,
    /// The number of the run's call that answered.
    answered_by: Option<usize>,
    /// Several takes had the same value there, so another one is a change, although later calls use it.
    is_stable: bool,
}

/// The run in the baseline's terms; `None` where the baseline has no bindings.
pub(in crate::score) fn translate(
    baseline: &Trajectory,
    current: &Trajectory,
    rules: &Rules,
    work: &Work<'_>,
) -> Option<TranslatedRun> {
    if baseline.bindings.is_empty() {
        return None;
    }
    let partners = Partners::new(baseline, current, rules, work);
    let (recorded, live) = (read_calls(baseline), read_calls(current));
    let recorded: Vec<&ToolCall> = recorded.iter().collect();
    let live: Vec<&ToolCall> = live.iter().collect();
    let unused = unused(&baseline.bindings, &recorded);
    let followed: Vec<Followed<'_>> = (baseline.bindings.iter().chain(&unused))
        .map(|binding| follow(binding, baseline, &recorded, &live, &partners))
        .collect();

    let mut translated = current.clone();
    let arguments = arguments(&followed, &recorded, &live, &partners);
    let all = |it: &&Followed<'_>| it.live.is_some();
    let translation = translation(followed.iter().filter(all));
    let stable: HashSet<usize> = (followed.iter().filter(|it| it.is_stable))
        .filter_map(|it| it.answered_by)
        .collect();
    let own: HashMap<usize, IdTranslation> = (stable.into_iter())
        .map(|call| {
            let kept = |it: &&Followed<'_>| !(it.is_stable && it.answered_by == Some(call));
            (
                call,
                self::translation(followed.iter().filter(all).filter(kept)),
            )
        })
        .collect();
    let mut number = 0;
    for step in &mut translated.steps {
        if let Step::ToolCall(call) = step
            && call.server.is_some()
        {
            number += 1;
            for (path, value) in arguments.get(&number).into_iter().flatten() {
                if let Some(argument) = value_at_mut(&mut call.arguments, path) {
                    argument.clone_from(value);
                }
            }
            own.get(&number)
                .unwrap_or(&translation)
                .outcome(&mut call.outcome);
        }
    }
    Some(TranslatedRun {
        current: translated,
        sources: sources(&followed, &recorded),
        given: given(&followed),
        bound: bound(&followed),
        translation,
        own,
    })
}

/// Generated values that no call uses. If later calls use a generated value of a tool's answer, other answers of the tool, and other elements
/// of the same list, have such values at the same place. Returned as bindings of no call.
fn unused(bindings: &[Binding], recorded: &[&ToolCall]) -> Vec<Binding> {
    let used: HashSet<&Source> = bindings.iter().map(|it| &it.from).collect();
    let mut places = HashSet::new();
    let mut unused = Vec::new();
    for binding in bindings {
        let Some(source) = recorded.get(binding.from.call.wrapping_sub(1)) else {
            continue;
        };
        if !places.insert((&source.server, &source.tool, &binding.from.path)) {
            continue;
        }
        let same_tool = |it: &ToolCall| it.server == source.server && it.tool == source.tool;
        for (index, call) in recorded.iter().enumerate().filter(|(_, it)| same_tool(it)) {
            let Some(answer) = answer(call) else { continue };
            let leaves = alike(answer, &binding.from.path).into_iter();
            for leaf in leaves.filter(|it| is_generated(&it.value)) {
                let from = Source {
                    call: index + 1,
                    path: leaf.path,
                };
                if !used.contains(&from) && unused.len() < UNUSED {
                    unused.push(Binding {
                        call: 0,
                        path: String::new(),
                        value: leaf.value,
                        from,
                    });
                }
            }
        }
    }
    unused
}

fn follow<'a>(
    binding: &'a Binding,
    baseline: &Trajectory,
    recorded: &[&ToolCall],
    live: &[&ToolCall],
    partners: &Partners,
) -> Followed<'a> {
    let source = recorded.get(binding.from.call.wrapping_sub(1));
    let source = source.and_then(|it| answer(it));
    let answered_by = partners.calls(binding.from.call).last().copied();
    let answered = answered_by.and_then(|it| answer(live[it - 1]));
    let learned = (baseline.learned.iter()).find(|it| it.call == binding.from.call);
    let varies = |learned: &Learned| {
        let places = source
            .map(|it| full_paths(it, &binding.from.path))
            .unwrap_or_default();
        let covered = |place: &String| learned.paths().any(|it| covers_path(it, place));
        places.iter().any(covered)
    };
    Followed {
        binding,
        live: source
            .zip(answered)
            .and_then(|(was, now)| resolve(binding, was, now))
            // A secret may stand for another secret. If only one of the values is a secret, that is a change.
            .filter(|it| placeholder::holds_any(it) == placeholder::holds_any(&binding.value)),
        answered_by,
        is_stable: learned.is_some_and(|it| !varies(it)),
    }
}

fn answer(call: &ToolCall) -> Option<&Answer> {
    match &call.outcome {
        Outcome::Answer(answer) => Some(answer),
        Outcome::Failure(_) => None,
    }
}

/// For each call of the run, the bound arguments with the values that replace them: the recorded value for what this run's server gave, and
/// the reverse.
fn arguments(
    followed: &[Followed<'_>],
    recorded: &[&ToolCall],
    live: &[&ToolCall],
    partners: &Partners,
) -> HashMap<usize, Vec<(String, Value)>> {
    let mut by_call: HashMap<usize, Vec<&Followed<'_>>> = HashMap::new();
    for it in followed.iter().filter(|it| it.live.is_some()) {
        by_call.entry(it.binding.call).or_default().push(it);
    }
    let mut arguments: HashMap<usize, Vec<(String, Value)>> = HashMap::new();
    for (number, bound) in by_call {
        let Some(call) = recorded.get(number.wrapping_sub(1)) else {
            continue;
        };
        let mut filled = call.arguments.clone();
        for it in &bound {
            if let Some(live) = &it.live {
                fill(&mut filled, it.binding, live);
            }
        }
        for &partner in partners.calls(number) {
            for it in &bound {
                let path = &it.binding.path;
                let used = value_at(&live[partner - 1].arguments, path);
                let (was, now) = (value_at(&call.arguments, path), value_at(&filled, path));
                // The two are exchanged, so that a call which still uses the recorded value differs from one that uses this server's.
                let stands_for = if used == now {
                    was
                } else {
                    now.filter(|_| used == was)
                };
                if let Some(value) = stands_for {
                    let of_call = arguments.entry(partner).or_default();
                    of_call.push((path.clone(), value.clone()));
                }
            }
        }
    }
    arguments
}

fn translation<'f>(followed: impl Iterator<Item = &'f Followed<'f>>) -> IdTranslation {
    IdTranslation::new(followed.filter_map(|it| Some((&it.binding.value, it.live.as_ref()?))))
}

/// The places where another value of the same type is accepted, because the calls that use the value have used the new one.
fn sources(followed: &[Followed<'_>], recorded: &[&ToolCall]) -> HashMap<usize, Vec<String>> {
    let mut sources: HashMap<usize, Vec<String>> = HashMap::new();
    for it in followed.iter().filter(|it| !it.is_stable) {
        let from = &it.binding.from;
        let source = recorded
            .get(from.call.wrapping_sub(1))
            .and_then(|it| answer(it));
        let (Some(source), Some(live)) = (source, &it.live) else {
            continue;
        };
        if text_of(live) == text_of(&it.binding.value) {
            continue;
        }
        let was = at(source, &from.path);
        let is_whole = was.as_ref().is_some_and(|was| {
            text_of(was) == text_of(&it.binding.value) && was.is_string() == live.is_string()
        });
        if is_whole {
            let places = sources.entry(from.call).or_default();
            places.extend(full_paths(source, &from.path));
        }
    }
    sources
}

fn given(followed: &[Followed<'_>]) -> Vec<(Value, Value)> {
    let live = followed.iter().filter(|it| !it.is_stable);
    let pairs = live.filter_map(|it| Some((it.binding.value.clone(), it.live.clone()?)));
    // A change between number and text is no other id, but a changed contract.
    let is_id = |(recorded, live): &(Value, Value)| {
        recorded != live && recorded.is_string() == live.is_string()
    };
    pairs.filter(is_id).collect()
}

fn bound(followed: &[Followed<'_>]) -> HashMap<usize, Vec<Bound>> {
    let mut bound: HashMap<usize, Vec<Bound>> = HashMap::new();
    for it in followed {
        bound.entry(it.binding.call).or_default().push(Bound {
            path: it.binding.path.clone(),
            from: it.binding.from.clone(),
            baseline: it.binding.value.clone(),
            current: it.live.clone(),
        });
    }
    bound
}
