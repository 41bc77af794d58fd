//! The signs that the state of a server outlives the takes: values that one take left behind for a later one.

use std::collections::{HashMap, HashSet};

use crate::pairing::call::{is_same_request, only_reads, request_key};
use crate::pairing::calls::view;
use crate::response::in_band::in_band_error;
use crate::scores::polls::Polled;
use crate::text::excerpt;
use crate::values::embedded::embedded;
use model::rules::Rules;
use model::{Answer, FailureKind, Outcome, ToolCall, Trajectory, Varying};

use super::growth::{Found, Growth, Made};
use super::known::add;
use super::own_values::{Look, of_answer, of_call};

/// Something that an effect of one take made, and that a call of a later take found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehind {
    /// The number of the call.
    pub call: usize,
    pub tool: String,
    /// The effect of the earlier take.
    pub effect: String,
    /// What it left, shortened; empty where the later take's call was refused because of it.
    pub value: String,
}

/// What later takes found of the first, by the places of the calls.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// The first thing that was found.
    pub(super) first: Option<LeftBehind>,
    /// The calls of which only the first take's answer counts.
    pub(super) once: HashSet<usize>,
    /// How the answers vary that grew.
    pub(super) grew: HashMap<usize, Vec<Varying>>,
    /// The answers that grew, without what is new in them, by the takes that have them.
    pub(super) undone: HashMap<(usize, usize), Outcome>,
}

/// What later takes found of the first.
pub(super) fn left_behind(
    first: &Trajectory,
    calls: &[(usize, &ToolCall)],
    others: &[Take<'_>],
    rules: &Rules,
) -> Leftovers {
    let mut left = Leftovers::default();
    let is_effect = |at: &usize| !only_reads(calls[*at].1, &first.catalogue, rules);
    let effects: Vec<usize> = (0..calls.len()).filter(is_effect).collect();
    let differs = |at: &usize| {
        let mut said = others.iter().filter_map(|take| take.said.get(*at));
        said.any(|it| it.1.outcome != calls[*at].1.outcome)
    };
    let differing: Vec<usize> = (0..calls.len()).filter(differs).collect();
    if effects.is_empty() || differing.is_empty() {
        return left;
    }
    let earlier = Earlier::new(calls, effects);
    for at in differing {
        let (number, call) = calls[at];
        let mut found = earlier.was_refused(at, others, rules);
        let mut grew = None;
        for (index, take) in others.iter().enumerate() {
            let both = take.calls.get(at).zip(take.said.get(at));
            let both = both.filter(|(later, _)| is_same_request(call, later.1));
            let Some(((_, later), (_, said))) = both else {
                continue;
            };
            let (Some(is), Some(of_said)) = (answer(&later.outcome), answer(&said.outcome)) else {
                continue;
            };
            let growth = answer(&call.outcome).map(|was| Growth::of(was, is, &earlier.made));
            if let Some((growth, undone)) = growth.filter(|it| it.0.found.is_some()) {
                found = found.or_else(|| earlier.had_later(at, said, &undone));
                grew = grew.or(growth.found);
                add(left.grew.entry(at).or_default(), growth.varies);
                left.undone.insert((at, index), Outcome::Answer(undone));
            } else {
                found = (found.or_else(|| earlier.had_later(at, said, of_said)))
                    .or_else(|| earlier.had_at_last(at, later, is));
            }
        }
        if found.is_some() {
            left.once.insert(at);
        }
        if let Some((value, effect)) = found.or(grew) {
            let value = value.trim_start_matches('#');
            let shown = (!value.is_empty()).then(|| match embedded(value) {
                Some(json) => excerpt::of(&json),
                None => excerpt::of_text(value),
            });
            left.first.get_or_insert_with(|| LeftBehind {
                call: number,
                tool: call.full_name(),
                effect: calls[effect].1.full_name(),
                value: shown.unwrap_or_default(),
            });
        }
    }
    left
}

/// Whether the first of some answers holds a value that shows where it comes from, and the others none.
pub(super) fn holds_only_first(answers: &[Option<&Answer>]) -> bool {
    let holds = |answer: Option<&Answer>| {
        let mut holds_any = false;
        if let Some(answer) = answer {
            of_answer(answer, Look::Own, &mut |_| holds_any = true);
        }
        holds_any
    };
    let mut answers = answers.iter().copied();
    answers.next().is_some_and(holds) && !answers.any(holds)
}

/// The earlier take.
struct Earlier<'a> {
    calls: &'a [(usize, &'a ToolCall)],
    /// The places of the calls that do more than read.
    effects: Vec<usize>,
    /// Equal for equal requests.
    requests: Vec<u64>,
    /// The last place of each.
    last: HashMap<u64, usize>,
    /// For each value the first call that held it, and the first that it may come from.
    had: HashMap<String, (usize, usize)>,
    made: Made,
}

impl<'a> Earlier<'a> {
    fn new(calls: &'a [(usize, &'a ToolCall)], effects: Vec<usize>) -> Self {
        let (mut had, mut made) = (HashMap::new(), Made::new());
        let values = |call: &ToolCall, look, found: &mut dyn FnMut(&str)| {
            of_call(call, answer(&call.outcome), look, found);
        };
        for (at, (_, call)) in calls.iter().enumerate() {
            values(call, Look::Own, &mut |it| {
                had.entry(it.to_owned()).or_insert((at, at));
            });
            if effects.binary_search(&at).is_ok() {
                values(call, Look::Counted, &mut |it| {
                    made.entry(it.to_owned()).or_insert(at);
                });
            }
        }
        for (at, (_, call)) in calls.iter().enumerate() {
            values(call, Look::Held, &mut |it| {
                if let Some((first, _)) = had.get_mut(it) {
                    *first = at.min(*first);
                }
            });
        }
        let requests: Vec<u64> = calls.iter().map(|it| request_key(it.1)).collect();
        Self {
            calls,
            effects,
            last: requests.iter().copied().zip(0..).collect(),
            requests,
            had,
            made,
        }
    }

    /// Whether a call succeeded here, and every later take was refused it.
    fn was_refused(&self, at: usize, others: &[Take<'_>], rules: &Rules) -> Option<Found> {
        let is_refused = |outcome: &Outcome| match outcome {
            Outcome::Answer(it) => it.is_error || in_band_error(outcome, rules).is_some(),
            Outcome::Failure(it) => it.kind == FailureKind::Rpc,
        };
        let call = self.calls[at].1;
        let in_take = |take: &Take<'_>| {
            let later = take.calls.get(at).filter(|it| is_same_request(call, it.1));
            later.is_some_and(|it| is_refused(&it.1.outcome))
        };
        let succeeded = answer(&call.outcome).is_some() && !is_refused(&call.outcome);
        (succeeded && others.iter().all(in_take)).then(|| (String::new(), at))
    }

    /// Whether a later answer is that of the last equal call here, which another effect came before, and not that of this call.
    fn had_at_last(&self, at: usize, later: &ToolCall, is: &Answer) -> Option<Found> {
        let request = self.requests[at];
        let last = *self.last.get(&request)?;
        let mut between = self.effects_from(at).take_while(|it| *it < last);
        let effect = between.find(|it| self.requests[*it] != request)?;
        let [was, at_last] = [at, last].map(|it| view(self.calls[it].1));
        let is_left = view(later) == at_last && at_last != was;
        is_left.then(|| (is.text(), effect))
    }

    /// A value of a later answer that only a later call here had, and that is no repetition of the request.
    fn had_later(&self, at: usize, said: &ToolCall, is: &Answer) -> Option<Found> {
        let mut sent = HashSet::new();
        of_call(said, None, Look::Held, &mut |it| {
            sent.insert(it.to_owned());
        });
        let mut left: Option<Found> = None;
        of_answer(is, Look::Held, &mut |value| {
            let Some(&(first, source)) = self.had.get(value) else {
                return;
            };
            let is_other = first > at && self.requests[source] != self.requests[at];
            let effect = self.effects_from(at).next().filter(|it| *it <= source);
            if let Some(effect) = effect.filter(|_| is_other && !sent.contains(value)) {
                let effect = (self.effects.binary_search(&source)).map_or(effect, |_| source);
                left.get_or_insert((value.to_owned(), effect));
            }
        });
        left
    }

    fn effects_from(&self, at: usize) -> impl Iterator<Item = usize> {
        let before = self.effects.partition_point(|it| *it < at);
        self.effects[before..].iter().copied()
    }
}

/// One of the other takes: its calls in the terms of the first take, and as they were made.
pub(super) struct Take<'a> {
    pub(super) calls: Vec<(usize, &'a ToolCall)>,
    pub(super) said: Vec<(usize, &'a ToolCall)>,
}

/// The calls with their numbers, of each poll the last.
pub(super) fn final_calls<'a>(take: &'a Trajectory, polled: &Polled) -> Vec<(usize, &'a ToolCall)> {
    let mut calls: Vec<(usize, &ToolCall)> = Vec::new();
    for (index, call) in take.calls().enumerate() {
        let key = request_key(call);
        calls.pop_if(|(_, last)| polled.is_try(key) && request_key(last) == key);
        calls.push((index + 1, call));
    }
    calls
}

/// The answer, where it is no error.
pub(super) fn answer(outcome: &Outcome) -> Option<&Answer> {
    match outcome {
        Outcome::Answer(answer) if !outcome.is_failure() => Some(answer),
        _ => None,
    }
}

/// An error that the tool itself answered.
pub(super) fn answered_error(outcome: &Outcome) -> Option<&Answer> {
    match outcome {
        Outcome::Answer(answer) if answer.is_error => Some(answer),
        _ => None,
    }
}
