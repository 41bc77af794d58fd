//! The lanes of both sides as runs of their own, so that calls behind the server are compared as the agent's are.

use crate::ids::binding::find_bindings;
use crate::ids::id_translation::TranslatedRun;
use crate::ids::translate::translate;
use crate::pairing::call::{Call, request_key};
use crate::scores::sides::Sides;
use crate::values::{exact, secrets};
use crate::work::Work;
use model::rules::Rules;
use model::{Step, ToolCall, Trajectory, UpstreamLane};

/// Two lanes, ready to be compared.
pub(crate) struct Lanes {
    baseline: Trajectory,
    current: Trajectory,
    /// The run's lane with the ids of the baseline in place of its own; `None` where there are none.
    terms: Option<TranslatedRun>,
}

impl Lanes {
    /// `agent` is the run's first lane in the terms of the baseline's: ids that the agent was given and sent are passed on.
    pub(crate) fn new(
        baseline: (&Trajectory, &UpstreamLane),
        current: (&Trajectory, &UpstreamLane),
        agent: Option<&TranslatedRun>,
        (rules, work): (&Rules, &Work<'_>),
    ) -> Self {
        let (baseline, current) = (as_run(baseline), as_run(current));
        let (baseline, current) = {
            let (baseline, current) = exact::both(&baseline, &current);
            let (baseline, current) = secrets::alike(baseline, current);
            (baseline.into_owned(), current.into_owned())
        };
        // A value that stayed may be one that should have become another.
        let agent = agent.filter(|it| it.exchanges_values());
        if agent.is_none() && are_equal(&baseline, &current) {
            return Self {
                baseline,
                current,
                terms: None,
            };
        }
        let baseline = Trajectory {
            bindings: find_bindings(&baseline),
            ..baseline
        };
        let passed_on = agent.map(|it| it.exchanged_in(&current));
        let made = passed_on.as_ref().map_or(&current, |it| &it.current);
        let terms = translate(&baseline, made, rules, work);
        Self {
            terms: terms.or(passed_on),
            baseline,
            current,
        }
    }

    pub(crate) fn sides<'a>(&'a self, rules: &'a Rules, work: &'a Work<'a>) -> Sides<'a> {
        Sides::new(
            &self.baseline,
            &self.current,
            self.terms.as_ref(),
            rules,
            work,
        )
    }
}

/// Whether both lanes have the same calls with the same answers, so that nothing in them can stand for anything else.
fn are_equal(baseline: &Trajectory, current: &Trajectory) -> bool {
    let is_same =
        |(a, b): (&ToolCall, &ToolCall)| request_key(a) == request_key(b) && a.outcome == b.outcome;
    baseline.steps.len() == current.steps.len()
        && baseline.calls().zip(current.calls()).all(is_same)
}

/// A lane as a run in which the server under test is the agent.
fn as_run((run, lane): (&Trajectory, &UpstreamLane)) -> Trajectory {
    let steps = lane.calls.iter().map(|it| {
        Step::ToolCall(Box::new(ToolCall {
            // A call without a server would not be numbered among the others.
            server: Some(it.call.server.clone().unwrap_or_default()),
            ..it.call.clone()
        }))
    });
    Trajectory {
        catalogue: lane.catalogue.clone(),
        ..Trajectory::new(run.stamp.clone(), steps.collect())
    }
}

/// The number of the agent's call during which one arrived.
pub(crate) fn cause(lane: &UpstreamLane, call: &Call<'_>) -> Option<usize> {
    lane.calls.get(call.number - 1)?.cause
}
