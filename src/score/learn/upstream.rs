//! Natural variation behind the server under test, as several takes show it.

use std::collections::BTreeSet;

use crate::ids::translate::translate;
use crate::lists::align::unpaired;
use crate::pairing::call::Call;
use crate::pairing::calls::Calls;
use crate::scores::sides::Sides;
use crate::upstream::compare::arrivals;
use crate::upstream::kinds::differences;
use crate::upstream::lanes::{Lanes, cause};
use crate::upstream::matched::{Matched, Place, matched};
use crate::upstream::moments::Moments;
use crate::work::Work;
use model::rules::Rules;
use model::{IrregularTool, Trajectory, UpstreamCall, UpstreamLane, VaryingArgument};

/// What varies in the lane of the first of several takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LearnedUpstream {
    /// Places in the arguments that were not the same in all takes.
    pub varies: Vec<VaryingArgument>,
    /// Tools that were called at other moments, in another order, or another number of times.
    pub irregular: Vec<IrregularTool>,
    /// Calls, by their numbers, that were asked the same and answered otherwise, in ascending order.
    pub other_answers: Vec<usize>,
}

impl LearnedUpstream {
    /// Keeps it in the lane that it was learned of.
    pub fn keep_in(&self, lane: &mut UpstreamLane) {
        lane.varies.clone_from(&self.varies);
        lane.irregular.clone_from(&self.irregular);
        lane.other_answers.clone_from(&self.other_answers);
    }

    /// Adds it to what is known of a lane of another version, given the one that it was learned of.
    pub fn add_to(&self, lane: &mut UpstreamLane, own: &UpstreamLane) {
        let is_same = |number: usize, lane: &UpstreamLane| {
            let at = |lane: &UpstreamLane| {
                let call = &lane.calls.get(number.wrapping_sub(1))?.call;
                Some((call.server.clone(), call.tool.clone()))
            };
            at(lane).is_some() && at(lane) == at(own)
        };
        let varies = self.varies.iter().filter(|it| is_same(it.call, lane));
        let varies: BTreeSet<VaryingArgument> = varies.chain(&lane.varies).cloned().collect();
        let answers = self.other_answers.iter().filter(|it| is_same(**it, lane));
        let answers: BTreeSet<usize> = answers.chain(&lane.other_answers).copied().collect();
        lane.varies = varies.into_iter().collect();
        lane.other_answers = answers.into_iter().collect();
        lane.add_irregular(&self.irregular);
    }
}

/// What varies in the first take's lane; nothing where a take has none.
///
/// What was the same in all takes is held, so that it is a change where it differs in a later run.
pub(super) fn learn_upstream(
    first: &Trajectory,
    others: &[&Trajectory],
    (rules, work): (&Rules, &Work<'_>),
) -> LearnedUpstream {
    let Some(lane) = &first.upstream else {
        return LearnedUpstream::default();
    };
    let mut takes = vec![(first, &**lane)];
    for other in others {
        match &other.upstream {
            Some(lane) => takes.push((*other, lane)),
            None => return LearnedUpstream::default(),
        }
    }
    let mut irregular = BTreeSet::new();
    for other in &takes[1..] {
        together(takes[0], *other, &[], (rules, work), |it| {
            it.irregular(&mut irregular);
        });
    }
    // Calls of irregular tools belong together wherever they stand, as they will in later runs.
    let irregular: Vec<IrregularTool> = (irregular.into_iter())
        .map(|name| counted(name, &takes))
        .collect();
    let (mut varies, mut other_answers) = (BTreeSet::new(), BTreeSet::new());
    for other in &takes[1..] {
        together(takes[0], *other, &irregular, (rules, work), |it| {
            it.differing(&mut varies, &mut other_answers);
        });
    }
    LearnedUpstream {
        irregular,
        varies: varies.into_iter().collect(),
        other_answers: other_answers.into_iter().collect(),
    }
}

/// A take with its lane.
type TakeLane<'t> = (&'t Trajectory, &'t UpstreamLane);

/// A server behind and one of its tools.
type Name = (String, String);

/// How often an irregular tool was called in all takes.
fn counted(name: Name, takes: &[TakeLane<'_>]) -> IrregularTool {
    let (server, tool) = name;
    let is_it = |it: &&UpstreamCall| {
        it.call.server.as_deref().unwrap_or_default() == server && it.call.tool == tool
    };
    let mut counts = (takes.iter()).map(|(_, lane)| lane.calls.iter().filter(is_it).count());
    let first = counts.next();
    let is_same = counts.all(|it| Some(it) == first);
    IrregularTool {
        in_all: first.filter(|_| is_same),
        server,
        tool,
    }
}

/// Two takes with the calls that belong together.
struct Together<'s, 'a, 'g> {
    lanes: (&'s UpstreamLane, &'s UpstreamLane),
    sides: &'s Sides<'a>,
    moments: &'s Moments<'s, 'g>,
    matched: &'s Matched,
}

/// Shows two takes to `look`, given which tools are called irregularly.
fn together(
    (first, lane): TakeLane<'_>,
    (other, of_other): TakeLane<'_>,
    irregular: &[IrregularTool],
    (rules, work): (&Rules, &Work<'_>),
    mut look: impl FnMut(&Together<'_, '_, '_>),
) {
    let terms = translate(first, other, rules, work);
    let made = terms.as_ref().map_or(other, |it| &it.current);
    let agents = Calls::new(first, made, other, (rules, work), |_| false);
    let moments = Moments::new(&agents, partners(&agents).into_iter());
    let lanes = Lanes::new(
        (first, lane),
        (other, of_other),
        terms.as_ref(),
        (rules, work),
    );
    let sides = lanes.sides(rules, work);
    let (b, c) = arrivals(&sides.calls, (lane, of_other), &moments, irregular);
    look(&Together {
        lanes: (lane, of_other),
        matched: &matched(&sides.calls, &b, &c),
        sides: &sides,
        moments: &moments,
    });
}

impl Together<'_, '_, '_> {
    /// The tools that were not called at the same moments or not as often, although the agent asked the same.
    fn irregular(&self, found: &mut BTreeSet<Name>) {
        let calls = &self.sides.calls;
        let missing =
            (self.matched.missing.iter()).filter(|it| self.asks_the_same(Some(**it), None));
        found.extend(missing.map(|it| name(&calls.baseline[*it])));
        let extra = (self.matched.extra.iter()).filter(|it| self.asks_the_same(None, Some(**it)));
        found.extend(extra.map(|it| name(&calls.current[*it])));
        let moved = (self.matched.pairs.iter())
            .filter(|it| it.place != Place::Same)
            .filter(|it| self.asks_the_same(Some(it.b), Some(it.c)));
        found.extend(moved.map(|it| name(&calls.baseline[it.b])));
    }

    /// The places in arguments that differ although the agent asked the same, and the calls that were answered otherwise.
    fn differing(
        &self,
        varies: &mut BTreeSet<VaryingArgument>,
        other_answers: &mut BTreeSet<usize>,
    ) {
        let calls = &self.sides.calls;
        for it in &self.matched.pairs {
            if !self.asks_the_same(Some(it.b), Some(it.c)) {
                continue;
            }
            let (before, now) = (&calls.baseline[it.b], &calls.current[it.c]);
            let mut differences = differences(self.sides, it.b, it.c);
            if !differences.is_empty() {
                let at = self.moments.before(cause(self.lanes.0, before));
                let agent = self.moments.moment(at).passed_on();
                differences.retain(|it| agent.explained(before, now, &it.path).is_none());
            } else if !self.sides.answers(it.b, it.c, 1.0).differences.is_empty() {
                other_answers.insert(before.number);
            }
            varies.extend(differences.into_iter().map(|it| VaryingArgument {
                call: before.number,
                may_lack: it.was.is_none() || it.now.is_none(),
                path: it.path,
            }));
        }
    }

    /// Whether the agent asked the same in both takes when these calls arrived. Where it did not, nothing shows whose doing a difference is.
    fn asks_the_same(&self, b: Option<usize>, c: Option<usize>) -> bool {
        let calls = &self.sides.calls;
        let before = b.map(|at| (self.moments).before(cause(self.lanes.0, &calls.baseline[at])));
        let now = c.map(|at| (self.moments).now(cause(self.lanes.1, &calls.current[at])));
        let mut moments = before.into_iter().chain(now);
        moments.all(|it| self.moments.asks_the_same(it))
    }
}

/// The agent's calls by their numbers, those that belong together in pairs.
fn partners(calls: &Calls<'_>) -> Vec<(Option<usize>, Option<usize>)> {
    let pairs = calls.align();
    let (missing, extra) = unpaired(&pairs, calls.baseline.len(), calls.current.len());
    let before = |at: usize| Some(calls.baseline[at].number);
    let now = |at: usize| Some(calls.current[at].number);
    let pairs = pairs.into_iter().map(|(b, c)| (before(b), now(c)));
    let missing = missing.into_iter().map(|b| (before(b), None));
    let extra = extra.into_iter().map(|c| (None, now(c)));
    pairs.chain(missing).chain(extra).collect()
}

fn name(call: &Call<'_>) -> Name {
    let named = call.named();
    (named.server.to_owned(), named.tool.to_owned())
}
