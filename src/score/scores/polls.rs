//! Polls: the same read, repeated until its answer changes. The number of repetitions is not compared.

use std::collections::{HashMap, HashSet};

use crate::ids::binding::resolve;
use crate::pairing::call::{is_same_request, only_reads, request_key};
use crate::pairing::calls::view;
use crate::values::same;
use model::rules::Rules;
use model::{Binding, Outcome, ToolCall, Trajectory};

/// A poll: calls by their numbers, the last of which had the final answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    pub first: usize,
    pub last: usize,
}

/// The polls of a recorded trajectory, in order.
///
/// A poll is the same request to a tool that is known to only read, made at least twice in a row, whose last answer is another than the
/// one before it. The tool's name is not enough, because a tool `get_…` may count its calls.
pub fn polls(trajectory: &Trajectory, rules: &Rules) -> Vec<Poll> {
    let calls: Vec<&ToolCall> = trajectory.calls().collect();
    let mut sources: HashMap<usize, Vec<&Binding>> = HashMap::new();
    for it in &trajectory.bindings {
        sources.entry(it.from.call).or_default().push(it);
    }
    let mut polls = Vec::new();
    let mut first = 0;
    for run in calls.chunk_by(|a, b| is_same_request(a, b)) {
        let last = first + run.len() - 1;
        let mut tries = (first + 1..).zip(&run[..run.len() - 1]);
        let makes_its_own = |(number, call): (usize, &&ToolCall)| {
            let mut taken = sources.get(&number).into_iter().flatten();
            taken.any(|it| gives_another(it, call, run[run.len() - 1]))
        };
        if is_poll(run, trajectory, rules) && !tries.any(makes_its_own) {
            polls.push(Poll {
                first: first + 1,
                last: last + 1,
            });
        }
        first = last + 1;
    }
    polls
}

/// The requests that a baseline polls, where only the last answer counts.
#[derive(Debug, Default)]
pub(crate) struct Polled {
    requests: HashSet<u64>,
}

impl Polled {
    /// A request whose tries fail in the run and did not in the baseline is left out, so that the failures are reported.
    pub(crate) fn new(baseline: &Trajectory, current: &Trajectory, rules: &Rules) -> Self {
        let polls = polls(baseline, rules);
        if polls.is_empty() {
            return Self::default();
        }
        let calls: Vec<&ToolCall> = baseline.calls().collect();
        let mut may_fail: HashMap<u64, bool> = HashMap::new();
        for poll in polls {
            let tries = &calls[poll.first - 1..poll.last - 1];
            let failed = tries.iter().any(|it| it.outcome.is_failure());
            let request = request_key(calls[poll.last - 1]);
            *may_fail.entry(request).or_default() |= failed;
        }
        let calls: Vec<&ToolCall> = current.calls().collect();
        for run in calls.chunk_by(|a, b| is_same_request(a, b)) {
            let tries = &run[..run.len() - 1];
            let request = request_key(run[0]);
            if tries.iter().any(|it| it.outcome.is_failure())
                && may_fail.get(&request) == Some(&false)
            {
                may_fail.remove(&request);
            }
        }
        Self {
            requests: may_fail.into_keys().collect(),
        }
    }

    /// Whether a call that is made again is only a try, which is not compared.
    pub(crate) fn is_try(&self, key: u64) -> bool {
        self.requests.contains(&key)
    }
}

fn is_poll(run: &[&ToolCall], trajectory: &Trajectory, rules: &Rules) -> bool {
    let [.., before, last] = run else {
        return false;
    };
    if view(before) == view(last) {
        return false;
    }
    only_reads(last, &trajectory.catalogue, rules)
}

/// Whether the last call was answered with another value where a later request takes one from an earlier of the calls. Then each of them made
/// something of its own, and none is only a try.
fn gives_another(binding: &Binding, call: &ToolCall, last: &ToolCall) -> bool {
    match (&call.outcome, &last.outcome) {
        (Outcome::Answer(was), Outcome::Answer(now)) => {
            resolve(binding, was, now).is_some_and(|it| !same::same(&it, &binding.value))
        }
        _ => false,
    }
}
