//! Puts a run into its baseline's terms, by what its calls take from earlier answers.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::pairing::matching::Partners;
use crate::text::clock::Clock;
use crate::text::generated::is_generated;
use crate::text::variation::{self, How, What};
use crate::values::path::{covers_path, value_at, value_at_mut};
use crate::work::Work;
use model::placeholder;
use model::rules::Rules;
use model::{Binding, Bound, Learned, Source, Step, ToolCall, Trajectory, Variation, Varying};

use super::binding::{alike, at, fill, full_paths, full_patterns, read_calls, resolve, text_of};
use super::id_translation::{Given, IdTranslation, TranslatedRun};

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
pub(crate) fn translate(
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
    let learned = baseline.learned.iter().map(|it| (it.call, it)).collect();
    let followed: Vec<Followed<'_>> = (baseline.bindings.iter().chain(&unused))
        .map(|it| {
            follow(
                it,
                &learned,
                (baseline, &recorded),
                (current, &live),
                &partners,
            )
        })
        .collect();

    let mut translated = current.clone();
    let arguments = arguments(&followed, &recorded, &live, &partners);
    let pairs = followed.iter();
    let pairs = pairs.filter_map(|it| Some((&it.binding.value, it.live.as_ref()?)));
    let translation = IdTranslation::new(pairs);
    let given_by = given_by(&followed);
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
            let kept = TranslatedRun::kept(&given_by, number);
            translation.outcome_but(&mut call.outcome, &kept);
        }
    }
    Some(TranslatedRun {
        current: translated,
        sources: sources(&followed, &recorded),
        given: given(&followed),
        bound: bound(&followed),
        translation,
        given_by,
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
        let pattern = source
            .outcome
            .answer()
            .map(|it| full_patterns(it, &binding.from.path));
        if !places.insert((&source.server, &source.tool, pattern)) {
            continue;
        }
        let same_tool = |it: &ToolCall| it.server == source.server && it.tool == source.tool;
        for (index, call) in recorded.iter().enumerate().filter(|(_, it)| same_tool(it)) {
            let Some(answer) = call.outcome.answer() else {
                continue;
            };
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
    learned: &HashMap<usize, &Learned>,
    (baseline, recorded): (&Trajectory, &[&ToolCall]),
    (current, live): (&Trajectory, &[&ToolCall]),
    partners: &Partners,
) -> Followed<'a> {
    let call = recorded.get(binding.from.call.wrapping_sub(1));
    let source = call.and_then(|it| it.outcome.answer());
    let is_whole =
        source.and_then(|it| at(it, &binding.from.path)).as_ref() == Some(&binding.value);
    let resolved = |number: usize| {
        let answered = live[number - 1].outcome.answer()?;
        Some((number, resolve(binding, source?, answered)?))
    };
    let (answered_by, value) = (partners.answering(binding.from.call).find_map(resolved)).unzip();
    let learned = learned.get(&binding.from.call);
    let places = source.map(|it| full_paths(it, &binding.from.path));
    let places = places.unwrap_or_default();
    let covers = |it: &&Varying| places.iter().any(|place| covers_path(&it.path, place));
    let varying = learned.and_then(|it| it.varies.iter().find(covers));
    let wording = varying.filter(|it| it.by == Variation::Tokens);
    // What is no value of the learned kind stands for nothing, so that it is compared with the recorded one wherever it is.
    let is_of_its_kind = |found: &Value| match (wording, &binding.value, found) {
        (Some(wording), Value::String(was), Value::String(now)) => {
            let calls = call.zip(answered_by.map(|it| live[it - 1]));
            let clock = calls.map(|(asked, asks)| Clock::new((baseline, asked), (current, asks)));
            let fits = |clock: Clock| {
                let how = How {
                    varying: &wording.parts,
                    is_used: true,
                    ..How::plain(&clock)
                };
                let found = variation::compare(was, now, &how);
                !found
                    .iter()
                    .any(|it| matches!(it.what, What::Changed | What::Never(_)))
            };
            !is_whole || clock.is_none_or(fits)
        }
        _ => true,
    };
    Followed {
        binding,
        live: value
            // A secret may stand for another secret. If only one of the values is a secret, that is a change.
            .filter(|it| placeholder::holds_any(it) == placeholder::holds_any(&binding.value))
            .filter(is_of_its_kind),
        answered_by,
        is_stable: learned.is_some() && varying.is_none(),
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
        for partner in partners.calls(number) {
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

/// What each answer of the run was the first to have.
fn given_by(followed: &[Followed<'_>]) -> HashMap<usize, Vec<Given>> {
    let mut given_by: HashMap<usize, Vec<Given>> = HashMap::new();
    for it in followed {
        let texts = text_of(&it.binding.value).zip(it.live.as_ref().and_then(text_of));
        if let Some((number, (was, now))) = it.answered_by.zip(texts) {
            given_by.entry(number).or_default().push(Given {
                path: it.binding.from.path.clone(),
                was,
                now,
                is_stable: it.is_stable,
            });
        }
    }
    // What varies where one answer had it first varies in all that repeat it.
    let varying = given_by.values().flatten().filter(|it| !it.is_stable);
    let varying: HashSet<(String, String)> =
        varying.map(|it| (it.was.clone(), it.now.clone())).collect();
    for it in given_by.values_mut().flatten() {
        it.is_stable &= !varying.contains(&(it.was.clone(), it.now.clone()));
    }
    given_by
}

/// The places where another value of the same type is accepted, because the calls that use the value have used the new one.
fn sources(followed: &[Followed<'_>], recorded: &[&ToolCall]) -> HashMap<usize, Vec<String>> {
    let mut sources: HashMap<usize, Vec<String>> = HashMap::new();
    for it in followed.iter().filter(|it| !it.is_stable) {
        let from = &it.binding.from;
        let source = recorded
            .get(from.call.wrapping_sub(1))
            .and_then(|it| it.outcome.answer());
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
