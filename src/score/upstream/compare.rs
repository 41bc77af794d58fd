//! The lanes of both sides, beneath the calls of the agent.

use std::collections::HashSet;

use crate::ids::id_translation::TranslatedRun;
use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use crate::values::same;
use crate::work::Work;
use model::reason::{Reason, ReasonKind, Why};
use model::rules::Rules;
use model::{IrregularTool, Row, Trajectory, UpstreamLane};

use super::finding::UpstreamFindings;
use super::judged::Judging;
use super::lanes::{Lanes, cause};
use super::matched::{Arrival, matched};
use super::moments::Moments;

/// The agent's side of a comparison: its calls, their rows, and the run in the baseline's terms, if it has other ids.
pub(crate) struct Agent<'s, 'a> {
    pub(crate) calls: &'s Calls<'a>,
    pub(crate) rows: &'s [Row],
    pub(crate) terms: Option<&'s TranslatedRun>,
}

/// Compares what reached the servers behind the one under test.
pub(crate) fn compare(
    (baseline, current): (&Trajectory, &Trajectory),
    agent: &Agent<'_, '_>,
    (rules, work): (&Rules, &Work<'_>),
) -> UpstreamFindings {
    let (of_baseline, of_current) = match (&baseline.upstream, &current.upstream) {
        (None, None) => return UpstreamFindings::default(),
        (Some(was), Some(now)) => (&**was, &**now),
        (Some(_), None) => {
            return not_compared(
                "calls behind the server were recorded for the baseline, but not in this run: what the server passes on is not compared",
            );
        }
        (None, Some(_)) => {
            return not_compared(
                "calls behind the server were not recorded for the baseline: record it again to compare what the server passes on",
            );
        }
    };
    let lanes = Lanes::new(
        (baseline, of_baseline),
        (current, of_current),
        agent.terms,
        (rules, work),
    );
    let sides = lanes.sides(rules, work);
    let moments = Moments::new(agent.calls, agent.rows.iter().map(Row::calls));
    let (b, c) = arrivals(
        &sides.calls,
        (of_baseline, of_current),
        &moments,
        &of_baseline.irregular,
    );
    let matched = matched(&sides.calls, &b, &c);
    Judging::new((of_baseline, of_current), &sides, &moments, (&b, &c)).judged(&matched)
}

fn not_compared(why: &str) -> UpstreamFindings {
    UpstreamFindings {
        warning: Some(Reason::new(
            ReasonKind::Upstream,
            Why::Described(why.to_owned()),
        )),
        ..UpstreamFindings::default()
    }
}

/// When each call of the two lanes arrived, given which tools are called irregularly.
pub(crate) fn arrivals(
    calls: &Calls<'_>,
    (baseline, current): (&UpstreamLane, &UpstreamLane),
    moments: &Moments<'_, '_>,
    irregular: &[IrregularTool],
) -> (Vec<Arrival>, Vec<Arrival>) {
    let irregular: HashSet<(&str, &str)> = (irregular.iter())
        .map(|it| (it.server.as_str(), it.tool.as_str()))
        .collect();
    let arrival = |lane: &UpstreamLane, call: &Call<'_>, moment: usize| {
        let named = call.named();
        let is_irregular = irregular.contains(&(named.server, named.tool));
        let moment = moments.moment(moment);
        Arrival {
            group: (!is_irregular).then_some(moment.group()),
            may_move: !is_irregular && moment.is_on_both_sides(),
            headers: same::hash_of(&lane.calls[call.number - 1].headers),
        }
    };
    let b = calls.baseline.iter();
    let c = calls.current.iter();
    (
        b.map(|it| arrival(baseline, it, moments.before(cause(baseline, it))))
            .collect(),
        c.map(|it| arrival(current, it, moments.now(cause(current, it))))
            .collect(),
    )
}
