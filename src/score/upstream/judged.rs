//! Differences between the lanes of both sides, and which of them fail.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::pairing::call::{Call, asked};
use crate::pairing::calls::Calls;
use crate::scores::sides::Sides;
use crate::values::path::covers_path;
use model::{
    ArgumentDifference, IrregularTool, Upstream, UpstreamHeader, UpstreamLane, UpstreamRow,
    VaryingArgument,
};

use super::finding;
use super::finding::{Finding, Standing, UpstreamFindings, received, received_times};
use super::kinds::differences;
use super::lanes::cause;
use super::matched::{Arrival, Matched, Partners, Place};
use super::moments::{Moment, Moments};
use super::passed_on::{Explained, PassedOn};

/// The numbers of the agent's call on both sides, where it is on both.
fn both(moment: &Moment<'_, '_>) -> Option<(usize, usize)> {
    let (before, now) = moment.numbers();
    before.zip(now)
}

/// Two lanes that are compared.
pub(super) struct Judging<'s, 'a, 'g> {
    lanes: (&'s UpstreamLane, &'s UpstreamLane),
    sides: &'s Sides<'a>,
    moments: &'s Moments<'s, 'g>,
    arrivals: (&'s [Arrival], &'s [Arrival]),
    /// The places that vary in the arguments of each call of the baseline, by its number.
    varies: HashMap<usize, Vec<&'s VaryingArgument>>,
    other_answers: HashSet<usize>,
    /// Which headers the servers behind got in the baseline.
    known_headers: HashSet<(&'s str, &'s str)>,
    /// What the agent asked otherwise, by the moment.
    passed_on: HashMap<usize, PassedOn<'g>>,
    rows: Vec<UpstreamRow>,
    found: UpstreamFindings,
}

impl<'s, 'a, 'g> Judging<'s, 'a, 'g> {
    /// `arrivals` are those of each side.
    pub(super) fn new(
        lanes: (&'s UpstreamLane, &'s UpstreamLane),
        sides: &'s Sides<'a>,
        moments: &'s Moments<'s, 'g>,
        arrivals: (&'s [Arrival], &'s [Arrival]),
    ) -> Self {
        let mut varies: HashMap<usize, Vec<&VaryingArgument>> = HashMap::new();
        for it in &lanes.0.varies {
            varies.entry(it.call).or_default().push(it);
        }
        Self {
            lanes,
            sides,
            moments,
            arrivals,
            varies,
            other_answers: lanes.0.other_answers.iter().copied().collect(),
            known_headers: finding::known(lanes.0),
            passed_on: HashMap::new(),
            rows: Vec::new(),
            found: UpstreamFindings::default(),
        }
    }

    /// What differs, given which calls belong together.
    pub(super) fn judged(mut self, matched: &Matched) -> UpstreamFindings {
        let calls = self.calls();
        let partners: HashMap<usize, &Partners> =
            matched.pairs.iter().map(|it| (it.b, it)).collect();
        let mut extra = matched.extra.iter().copied().peekable();
        let mut alone = Alone::new(calls, self.arrivals);
        for b in 0..calls.baseline.len() {
            let Some(it) = partners.get(&b) else {
                alone.missing(b, self.rows.len());
                let call = &calls.baseline[b];
                let row = UpstreamRow::new(Some(call.number), None, !call.reads);
                self.rows.push(row);
                continue;
            };
            // A call that only the run has stands before the next pair that is in order.
            while let Some(c) = extra.next_if(|at| it.place == Place::Same && *at < it.c) {
                alone.extra(c, self.rows.len());
                self.extra(c);
            }
            self.pair(it);
        }
        for c in extra {
            alone.extra(c, self.rows.len());
            self.extra(c);
        }
        for it in alone.counted() {
            self.count(&it);
        }
        self.found.findings.sort_by_key(Finding::first_row);
        let apart = finding::differing(&self.lanes.0.headers, &self.lanes.1.headers);
        for it in &apart {
            let finding = Finding::of_header(self.moment(0), it);
            self.found.findings.push(finding);
        }
        self.found.comparison = Some(Upstream {
            rows: self.rows,
            headers: apart,
        });
        self.found
    }

    fn calls(&self) -> &'s Calls<'a> {
        let sides = self.sides;
        &sides.calls
    }

    fn moment(&self, at: usize) -> &'s Moment<'s, 'g> {
        let moments = self.moments;
        moments.moment(at)
    }

    /// A call that only the run's lane has. What it is passed that its server never got before is new.
    fn extra(&mut self, c: usize) {
        let call = &self.calls().current[c];
        let row = UpstreamRow::new(None, Some(call.number), !call.reads);
        self.rows.push(row);
        let with = &self.lanes.1.calls[call.number - 1].headers;
        if with.is_empty() {
            return;
        }
        let server = call.named().server;
        let mut new = finding::of_calls(server, &[], with);
        new.retain(|it| !self.known_headers.contains(&(server, it.name.as_str())));
        let moment = self.moment(self.moments.now(cause(self.lanes.1, call)));
        self.note_headers(moment, new);
    }

    fn pair(&mut self, partners: &Partners) {
        let (b, c) = (partners.b, partners.c);
        let (before, now) = (&self.calls().baseline[b], &self.calls().current[c]);
        let at = self.moments.before(cause(self.lanes.0, before));
        let moment = self.moment(at);
        let is_effect = !(before.reads && now.reads);
        let differences = self.differences(partners, at);
        let there = self.moments.now(cause(self.lanes.1, now));
        let asks_the_same = self.moments.asks_the_same(at) && self.moments.asks_the_same(there);
        let is_asked_the_same = differences.is_empty();
        self.rows.push(UpstreamRow {
            differences: differences.iter().map(|it| it.0.clone()).collect(),
            ..UpstreamRow::new(Some(before.number), Some(now.number), is_effect)
        });
        for (it, is_agents) in &differences {
            let fails = match it.worded {
                _ if *is_agents => false,
                true => asks_the_same,
                false => asks_the_same || is_effect,
            };
            let finding = Finding::of_argument(moment, &received(before), it);
            self.note(moment, fails, finding);
        }
        if let Some(it) = self.of_place(partners, moment) {
            let fails = is_effect && it.1;
            self.note(moment, fails, it.0);
        }
        let was = &self.lanes.0.calls[before.number - 1].headers;
        let has = &self.lanes.1.calls[now.number - 1].headers;
        if was != has {
            let differing = finding::of_calls(before.named().server, was, has);
            self.note_headers(moment, differing);
        }
        if is_asked_the_same && !self.other_answers.contains(&before.number) {
            self.answer(partners, moment);
        } else {
            self.found.unclear.extend(both(moment));
        }
    }

    /// Where the arguments of two calls differ, and whether only because those of the agent do.
    fn differences(&mut self, partners: &Partners, at: usize) -> Vec<(ArgumentDifference, bool)> {
        let calls = self.calls();
        let (before, now) = (&calls.baseline[partners.b], &calls.current[partners.c]);
        let varies = self.varies.get(&before.number);
        // What varies is still there, unless it was not in some take.
        let varies = |found: &ArgumentDifference| {
            let is_there = found.was.is_some() && found.now.is_some();
            let mut places = varies.into_iter().flatten();
            places.any(|it| covers_path(&it.path, &found.path) && (is_there || it.may_lack))
        };
        let mut differences = differences(self.sides, partners.b, partners.c);
        differences.retain(|it| !varies(it));
        if differences.is_empty() {
            return Vec::new();
        }
        let moment = self.moment(at);
        let agent = (self.passed_on.entry(at)).or_insert_with(|| moment.passed_on());
        let explained = |it: &ArgumentDifference| agent.explained(before, now, &it.path);
        let differences = differences.into_iter().map(|it| (explained(&it), it));
        differences
            .filter(|(explained, _)| *explained != Some(Explained::Bound))
            .map(|(explained, it)| (it, explained.is_some()))
            .collect()
    }

    /// What is to be said of a call that arrived in another place, and whether that fails an effect.
    fn of_place(&self, partners: &Partners, moment: &Moment<'_, '_>) -> Option<(Finding, bool)> {
        let calls = self.calls();
        let received = received(&calls.baseline[partners.b]);
        match partners.place {
            Place::Same => None,
            Place::Reordered { among_effects } => {
                let clause = format!("{received} in a different order");
                Some((Finding::received(moment, &clause), among_effects))
            }
            Place::Elsewhere => {
                let now = &calls.current[partners.c];
                let there = self.moment(self.moments.now(cause(self.lanes.1, now)));
                let clause = match there.name() {
                    Some(call) => format!("{received}, now behind {call}"),
                    None => format!("{received}, now before the first call"),
                };
                Some((Finding::received(moment, &clause), true))
            }
        }
    }

    fn note_headers(&mut self, moment: &Moment<'_, '_>, differing: Vec<UpstreamHeader>) {
        for it in &differing {
            let mut finding = Finding::of_header(moment, it);
            finding.rows = self.last_row();
            self.found.findings.push(finding);
        }
        if let Some(row) = self.rows.last_mut() {
            row.headers = differing;
        }
    }

    fn answer(&mut self, partners: &Partners, moment: &Moment<'_, '_>) {
        let answers = self.sides.answers(partners.b, partners.c, 1.0);
        let Some(first) = answers.differences.first() else {
            let server = self.calls().baseline[partners.b].named().server;
            let held = both(moment).map(|it| (it, server.to_owned()));
            self.found.held.extend(held);
            return;
        };
        let before = &self.calls().baseline[partners.b];
        let named = before.named();
        let what = format!(
            "the server behind it, `{}`, answered `{}` otherwise",
            named.server, named.tool
        );
        let finding = Finding::said(moment, what);
        let finding = finding.between(first.expected.clone(), first.got.clone());
        self.note(moment, false, finding);
        if let Some(row) = self.rows.last_mut() {
            row.answered_otherwise = true;
        }
        if let Some(calls) = both(moment) {
            let answered = self.found.answered.entry(calls);
            answered.or_insert_with(|| named.server.to_owned());
        }
    }

    /// Keeps what was found of the last row.
    fn note(&mut self, moment: &Moment<'_, '_>, fails: bool, mut finding: Finding) {
        finding.change.fails = fails;
        finding.standing = self.standing(moment);
        finding.rows = self.last_row();
        self.found.findings.push(finding);
    }

    fn last_row(&self) -> Vec<usize> {
        self.rows.len().checked_sub(1).into_iter().collect()
    }

    fn standing(&self, moment: &Moment<'_, '_>) -> Standing {
        if !moment.is_on_both_sides() {
            Standing::Part
        } else if self.moments.asks_the_same(moment.group()) {
            Standing::Cause
        } else {
            Standing::Consequence
        }
    }

    /// Calls that were made more or less often than in the baseline.
    fn count(&mut self, it: &Counted) {
        let calls = self.calls();
        let one = it.missing.first().map(|(b, _)| &calls.baseline[*b]);
        let other = it.extra.first().map(|(c, _)| &calls.current[*c]);
        let Some(call) = one.or(other) else { return };
        let at = match (one, other) {
            _ if it.group.is_none() => 0,
            (Some(call), _) => self.moments.before(cause(self.lanes.0, call)),
            (None, Some(call)) => self.moments.now(cause(self.lanes.1, call)),
            (None, None) => return,
        };
        let moment = self.moment(at);
        if it.group.is_none() && !self.is_counted(call) {
            return;
        }
        if moment.is_poll() && !it.effect && it.is_known {
            return;
        }
        let clause = received_times(call, it.before, it.now);
        let finding = match it.group {
            Some(_) => Finding::received(moment, &clause),
            None => Finding::said(moment, format!("{clause}, in all")),
        };
        let (was, now) = (one.map(|it| asked(it.made)), other.map(|it| asked(it.said)));
        let mut finding = finding.between(was, now);
        finding.change.fails = it.effect;
        finding.standing = match self.standing(moment) {
            Standing::Cause if moment.fails_now() => Standing::Consequence,
            standing => standing,
        };
        finding.rows = (it.missing.iter().chain(&it.extra))
            .map(|it| it.1)
            .collect();
        self.found.findings.push(finding);
    }

    /// Whether a tool that is called irregularly is called as often in each run.
    fn is_counted(&self, call: &Call<'_>) -> bool {
        let named = call.named();
        let is_it = |it: &&IrregularTool| it.server == named.server && it.tool == named.tool;
        let irregular = self.lanes.0.irregular.iter().find(is_it);
        irregular.is_some_and(|it| it.in_all.is_some())
    }
}

/// The calls of one tool at one moment, of which there are more on one side than on the other.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// The moments, by their group; `None` for a tool that is called irregularly.
    pub(super) group: Option<usize>,
    /// Whether they change something.
    pub(super) effect: bool,
    /// How often it was called on each side.
    pub(super) before: usize,
    pub(super) now: usize,
    /// The calls without a partner, by their positions, each with the position of its row.
    pub(super) missing: Vec<(usize, usize)>,
    pub(super) extra: Vec<(usize, usize)>,
    /// Whether each of those was made on the other side, too, only not as often.
    pub(super) is_known: bool,
}

/// What is counted together: the group of moments, the tool, and whether its calls change something.
type Kind = (Option<usize>, u64, bool);

/// The calls without a partner.
struct Alone<'s, 'a> {
    calls: &'s Calls<'a>,
    arrivals: (&'s [Arrival], &'s [Arrival]),
    found: BTreeMap<Kind, Counted>,
}

impl<'s, 'a> Alone<'s, 'a> {
    pub(super) fn new(calls: &'s Calls<'a>, arrivals: (&'s [Arrival], &'s [Arrival])) -> Self {
        Self {
            calls,
            arrivals,
            found: BTreeMap::new(),
        }
    }

    pub(super) fn missing(&mut self, b: usize, row: usize) {
        let kind = kind(&self.calls.baseline[b], self.arrivals.0[b]);
        self.found.entry(kind).or_default().missing.push((b, row));
    }

    pub(super) fn extra(&mut self, c: usize, row: usize) {
        let kind = kind(&self.calls.current[c], self.arrivals.1[c]);
        self.found.entry(kind).or_default().extra.push((c, row));
    }

    /// In the order of the moments.
    pub(super) fn counted(self) -> Vec<Counted> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let before = Tally::new(&self.calls.baseline, self.arrivals.0);
        let now = Tally::new(&self.calls.current, self.arrivals.1);
        let counted = self.found.into_iter().map(|(kind, it)| {
            let is_missing = |(b, _): &(usize, usize)| now.has(kind, &self.calls.baseline[*b]);
            let is_extra = |(c, _): &(usize, usize)| before.has(kind, &self.calls.current[*c]);
            Counted {
                group: kind.0,
                effect: kind.2,
                before: before.count(kind),
                now: now.count(kind),
                is_known: it.missing.iter().all(is_missing) && it.extra.iter().all(is_extra),
                ..it
            }
        });
        counted.collect()
    }
}

/// What one side called.
struct Tally {
    counts: HashMap<Kind, usize>,
    requests: HashSet<(Kind, u64)>,
}

impl Tally {
    fn new(calls: &[Call<'_>], arrivals: &[Arrival]) -> Self {
        let mut counts = HashMap::new();
        let mut requests = HashSet::new();
        for (call, arrival) in calls.iter().zip(arrivals) {
            let kind = kind(call, *arrival);
            *counts.entry(kind).or_default() += 1;
            requests.insert((kind, call.key));
        }
        Self { counts, requests }
    }

    fn count(&self, kind: Kind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    fn has(&self, kind: Kind, call: &Call<'_>) -> bool {
        self.requests.contains(&(kind, call.key))
    }
}

fn kind(call: &Call<'_>, arrival: Arrival) -> Kind {
    (arrival.group, call.tool, !call.reads)
}
