//! The lessons of several takes, in words.

use std::collections::BTreeSet;

use crate::model::placeholder::placeholders;
use crate::model::{IrregularTool, Learned, Trajectory, UpstreamLane};
use crate::score;

/// How many calls a note names one by one.
const MOST_CALLS: usize = 5;

/// What varies and what is bound in a baseline, place by place.
pub(crate) fn learned_places(trajectory: &Trajectory) -> Vec<String> {
    let mut places = Vec::new();
    for Learned {
        call,
        takes,
        varies,
        ..
    } in &trajectory.learned
    {
        let varies = varies.iter();
        places.extend(varies.map(|it| {
            format!("learned from {takes} takes: the answer to call {call} varies at {it}")
        }));
    }
    places.extend(trajectory.upstream.iter().flat_map(|it| behind(it)));
    let bindings = trajectory.bindings.iter();
    places.extend(bindings.map(|it| format!("taken from an earlier answer: {it}")));
    places
}

/// Notes on what recording learned: takes that disagreed, what they left behind, which calls were answered once, and where something was
/// taken for a secret; `all_reset` where each take began alike.
pub(crate) fn learned_notes(
    trajectory: &Trajectory,
    learned: &score::Learned,
    all_reset: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(it) = &learned.left_behind {
        let found = if it.value.is_empty() {
            format!(
                "call {} of `{}` succeeded in the first alone",
                it.call, it.tool
            )
        } else {
            format!(
                "call {} of `{}` found {} that a call of `{}` in an earlier recording left behind",
                it.call, it.tool, it.value, it.effect
            )
        };
        notes.push(format!(
            "one recording influences the next: {found}. Of what grew because of it, all that the first recording had must stay; what else \
             differs because of it was recorded once. Reset what the server keeps before every run: a container with `reset: scenario`, or \
             commands under `before:`"
        ));
    }
    notes.extend(
        learned
            .disagreements
            .iter()
            .map(|it| disagreement(it, all_reset)),
    );
    notes.extend(answered_once(trajectory));
    notes.extend(recognised(trajectory));
    notes
}

/// Notes on what varies in the calls that the servers behind the one under test received.
fn behind(lane: &UpstreamLane) -> Vec<String> {
    let varies = lane.varies.iter().filter_map(|it| {
        let upstream_call = lane.calls.get(it.call.checked_sub(1)?)?;
        let server = upstream_call.call.server.as_deref().unwrap_or_default();
        let whose = match upstream_call.cause {
            Some(number) => format!("behind call {number}"),
            None => "before the first call".to_owned(),
        };
        let tool = &upstream_call.call.tool;
        Some(format!(
            "learned: {whose}, {} varies in what `{server}` receives for `{tool}`",
            it.path
        ))
    });
    let irregular = lane.irregular.iter().map(|it| {
        let IrregularTool { server, tool, in_all } = it;
        match in_all {
            Some(_) => format!(
                "learned: `{server}` does not receive `{tool}` behind the same calls each time, so only the total number is compared"
            ),
            None => format!(
                "learned: `{server}` receives `{tool}` a different number of times in each run, so the number is ignored"
            ),
        }
    });
    varies.chain(irregular).collect()
}

/// A note on what was taken for secrets, because of its shape or its key: a change of it is no change.
fn recognised(trajectory: &Trajectory) -> Option<String> {
    let calls = trajectory.calls().enumerate().filter_map(|(index, call)| {
        let mut kinds = BTreeSet::new();
        let outcome = &call.outcome;
        outcome.each_text(&mut |text| {
            let names = placeholders(text).filter_map(|it| it.name);
            kinds.extend(names.filter(|it| !it.contains('.')).map(str::to_owned));
        });
        let kinds: Vec<String> = kinds.into_iter().collect();
        (!kinds.is_empty()).then(|| format!("call {} ({})", index + 1, kinds.join(", ")))
    });
    let calls: Vec<String> = calls.collect();
    let more = match calls.len().saturating_sub(MOST_CALLS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let first = calls.get(..MOST_CALLS).unwrap_or(&calls).join(", ");
    (!calls.is_empty()).then(|| {
        format!("taken for secrets in the answers to {first}{more}: list what is not secret in `redact.keep` to show and compare it")
    })
}

/// A note on a place where takes had values of different kinds; `all_reset` where each began alike.
pub(crate) fn disagreement(it: &score::Disagreement, all_reset: bool) -> String {
    let place = match it.path.as_str() {
        "" => "the answer",
        path => path,
    };
    let whose = match it.odd {
        Some(1) => "recording 1 is the odd one",
        _ if all_reset => {
            "the system under test starts in two states, although everything was reset"
        }
        _ => "the system under test answers in two ways",
    };
    let kept = match it.odd {
        Some(1) => "recording 1 was not learned from",
        _ if it.path.is_empty() => "it is ignored",
        _ => "either passes",
    };
    let (found, call, tool) = (it.found.join(", "), it.call, &it.tool);
    format!(
        "{whose}: {place} of call {call} of `{tool}` was {found}, one recording after the other, so {kept}. Was the server not ready yet? `ready:` \
         waits until it is"
    )
}

/// A note on the calls that were answered once, which are graded rather than held to be stable.
fn answered_once(trajectory: &Trajectory) -> Option<String> {
    let once: Vec<String> = (trajectory.answered_once().iter())
        .map(ToString::to_string)
        .collect();
    match once.as_slice() {
        [] => None,
        [only] => Some(format!(
            "recorded once, so it is unknown what varies in its answer, and a similar one passes: call {only}"
        )),
        _ => Some(format!(
            "recorded once, so it is unknown what varies in their answers, and similar ones pass: calls {}",
            once.join(", ")
        )),
    }
}
