//! A mix of an accepted trajectory and a new recording: what has not changed is as it was.

use std::collections::{HashMap, HashSet};

use crate::by_hand::learned::places_texts;
use model::{
    Answer, Catalogue, Change, ChangeKind, Comparison, Learned, Row, ServerCatalogue, Step, Tool,
    ToolCall, Trajectory, Varying,
};

use super::old_terms::OldTerms;

/// Whether a change is more than one of time and tokens.
pub fn is_of_substance(change: &Change) -> bool {
    !matches!(change.kind, ChangeKind::Slower | ChangeKind::Tokens)
}

/// Both recordings, to be mixed.
pub(super) struct Mix<'a> {
    pub(super) accepted: &'a Trajectory,
    pub(super) recorded: &'a Trajectory,
    /// The new one with what is known to vary.
    pub(super) carried: &'a Trajectory,
    pub(super) comparison: &'a Comparison,
}

impl Mix<'_> {
    /// The new recording, with the unchanged calls and tools as they were, and the rest in these terms. Offsets of calls count from the old
    /// recording; calls that are new say when their own run began, and changed ones, too, unless their times are those of the old ones. `None`
    /// where old and new do not go together.
    pub(super) fn in_terms(
        &self,
        terms: &OldTerms,
        unchanged: &[(usize, usize)],
    ) -> Option<Trajectory> {
        let Self {
            accepted,
            recorded,
            carried,
            comparison,
        } = self;
        let before: Vec<&ToolCall> = accepted.calls().collect();
        let pairs = comparison.rows.iter().filter_map(Row::pair);
        let pairs: HashMap<usize, usize> = pairs.map(|it| (it.current, it.baseline)).collect();
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
                let keeps_times = terms.call(number, call, was);
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
        let known: HashMap<usize, &Learned> =
            (accepted.learned.iter()).map(|it| (it.call, it)).collect();
        mixed.learned.retain(|it| !kept.contains_key(&it.call));
        for (was, is) in unchanged {
            mixed.learned.extend(known.get(was).map(|it| {
                let mut known = (*it).clone();
                known.call = *is;
                known.repeats.retain_mut(|it| {
                    let number = now.get(&it.call);
                    it.call = number.copied().unwrap_or_default();
                    number.is_some()
                });
                known
            }));
        }
        mixed.learned.sort_by_key(|it| it.call);
        let new: Vec<&ToolCall> = recorded.calls().collect();
        let mut learned = std::mem::take(&mut mixed.learned);
        let made: Vec<&ToolCall> = mixed.calls().collect();
        for it in learned.iter_mut().filter(|it| !kept.contains_key(&it.call)) {
            let Some(was) = pairs.get(&it.call) else {
                continue;
            };
            let answers = [(&made, it.call), (&before, *was), (&new, it.call)];
            let answers = answers.map(|(calls, number)| {
                let call = calls.get(number.wrapping_sub(1))?;
                call.outcome.answer()
            });
            let known = known.get(was).map_or(&[][..], |it| &it.varies);
            refer_to_texts(it, known, answers)?;
        }
        mixed.learned = learned;
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
        mixed.catalogue = mixed_catalogue(accepted, recorded, comparison);
        Some(mixed)
    }
}

/// Makes what is known to vary in the texts of an answer be about these, which stand in the mix, the accepted trajectory and the new recording:
/// where a text is the old one, that is what was known of the old one. `None` where a text is neither.
fn refer_to_texts(
    learned: &mut Learned,
    known: &[Varying],
    answers: [Option<&Answer>; 3],
) -> Option<()> {
    let none = || vec![None; learned.varies.len()];
    let texts = answers.map(|it| {
        let texts = it.map(|it| places_texts(&learned.varies, it));
        texts.unwrap_or_else(none)
    });
    let known: HashMap<&str, &Varying> = known.iter().map(|it| (it.path.as_str(), it)).collect();
    for (at, varying) in learned.varies.iter_mut().enumerate() {
        let [now, before, new] = texts.each_ref().map(|it| &it[at]);
        let old = known.get(varying.path.as_str());
        let has_text = now.as_ref().is_some_and(|it| !it.is_empty());
        match old.filter(|_| has_text && now == before) {
            Some(old) => *varying = (*old).clone(),
            None if now == new => {}
            None => return None,
        }
    }
    Some(())
}

/// The tools that are offered now, in the old order and as they were where nothing has changed. A server of which nothing has changed says of
/// itself what it said: baselines share its catalogue, and would otherwise not because of its version.
pub(super) fn mixed_catalogue(
    accepted: &Trajectory,
    recorded: &Trajectory,
    comparison: &Comparison,
) -> Catalogue {
    let (before, now) = (&accepted.catalogue, &recorded.catalogue);
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
        let is_same = !drifted.iter().any(|it| it.0 == now.server);
        let says = if is_same && before.info.is_some() {
            before
        } else {
            now
        };
        ServerCatalogue {
            tools,
            later: now.later.clone(),
            client: now.client.clone(),
            ..says.clone()
        }
    });
    Catalogue {
        servers: servers.collect(),
        own: now.own.clone(),
    }
}
