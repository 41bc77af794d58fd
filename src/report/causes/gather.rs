//! The causes of one scenario: from its verdict, and from what changed without being part of that.

use std::collections::{HashMap, HashSet};

use crate::model::number::fixed;
use crate::model::points;
use crate::published::result::{
    Call, CauseCall, CauseKind, Change, ChangeKind, Comparison, ExperimentPart, Loss, Reason,
    ReasonKind, Row, Scenario, Status, Whose,
};

use super::draft::{Draft, What};
use super::ended::{self, Ended};
use super::found::Found;
use super::key::{Key, masked};
use super::of_change::{Context, calls_of, full_name};
use super::reason_text::{Better, change_of, refused, said_better, without_number};
use super::words;

/// How many further places of one answer have a cause each; more than that are told beneath the first.
const PLACES: usize = 4;

/// Everything that failed or changed in one scenario.
pub(super) fn of_scenario(scenario: &Scenario, command: &str) -> Vec<Draft> {
    let mut of = Gather {
        context: Context::new(scenario, command),
        fails: matches!(scenario.status, Status::Failed | Status::Inconclusive),
        rows: rows(scenario),
        covered: HashSet::new(),
        answered: HashMap::new(),
        more_places: HashMap::new(),
        ended: Ended::of(scenario),
        not_made: Vec::new(),
        script: Vec::new(),
        found: Found::default(),
    };
    of.experiment();
    of.problem();
    if let Some(comparison) = &scenario.comparison {
        for reason in &comparison.reasons {
            of.reason(comparison, reason);
        }
        for change in &comparison.changes {
            of.change(change);
        }
    }
    of.expectations();
    of.not_made();
    of.evaluators();
    of.score();
    let found = of.found.into_drafts().into_iter();
    found.map(Draft::of_one_scenario).collect()
}

pub(super) struct Gather<'a> {
    pub(super) context: Context<'a>,
    /// The scenario failed, so that what its verdict names are failures.
    fails: bool,
    /// The rows by their calls.
    pub(super) rows: HashMap<CauseCall, &'a Row>,
    /// The calls that causes are about already.
    covered: HashSet<CauseCall>,
    /// Of calls that are answered otherwise, the place that a cause is about.
    answered: HashMap<CauseCall, Option<String>>,
    /// How many other places of such an answer have been found.
    more_places: HashMap<CauseCall, usize>,
    /// Where the run ended before it came to all its calls.
    ended: Option<Ended>,
    /// The calls that it did not come to.
    not_made: Vec<NotMade>,
    /// The causes that tell of the calls of a script that are other ones, and which these are.
    script: Vec<(CauseCall, usize)>,
    pub(super) found: Found,
}

/// A call that the run did not come to.
struct NotMade {
    call: CauseCall,
    /// In a sentence.
    said: String,
    fails: bool,
}

pub(super) fn rows(scenario: &Scenario) -> HashMap<CauseCall, &Row> {
    let rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    let number = |call: &Option<Call>| call.as_ref().map(|it| it.number);
    rows.filter(|it| it.tool.is_some())
        .map(|row| {
            let call = CauseCall {
                baseline: number(&row.baseline),
                current: number(&row.current),
            };
            (call, row)
        })
        .collect()
}

impl<'a> Gather<'a> {
    fn row(&self, baseline: Option<usize>, current: Option<usize>) -> Option<&'a Row> {
        self.rows.get(&CauseCall { baseline, current }).copied()
    }

    fn experiment(&mut self) {
        for it in &self.context.scenario.experiment_changes {
            let said = match (it.what, &it.part) {
                (ExperimentPart::Model, _) => "another model was asked".to_owned(),
                (ExperimentPart::Agent, _) => "another kind of agent made the calls".to_owned(),
                (ExperimentPart::Scenario, None) => {
                    "the scenario asks something else than when its baseline was recorded"
                        .to_owned()
                }
                (ExperimentPart::Scenario, Some(part)) => {
                    format!("{part} has changed since the baseline was recorded")
                }
            };
            let draft = self
                .context
                .draft(CauseKind::Experiment, Whose::Experiment, said);
            let none = || "none".to_owned();
            let is_named = it.what != ExperimentPart::Scenario
                || it.baseline.is_some()
                || it.current.is_some();
            let value = |side: &Option<String>| is_named.then(|| side.clone().unwrap_or_else(none));
            let said = match &draft.what {
                What::Said(said) => masked(said),
                _ => String::new(),
            };
            let at = self.found.add(Draft {
                key: Key::Experiment {
                    said,
                    was: it.baseline.clone(),
                    now: it.current.clone(),
                },
                was: value(&it.baseline),
                now: value(&it.current),
                fails: self.context.scenario.status == Status::Error,
                hint: self
                    .context
                    .scenario
                    .problem
                    .as_ref()
                    .and_then(|it| it.hint.clone()),
                ..draft
            });
            if let Some(call) = it.script {
                self.found.drafts_mut()[at].add_calls([call]);
                self.script.push((call, at));
            }
        }
    }

    /// The cause that tells of another script which asks otherwise in this call, and whether it says so of this very call. All that a
    /// changed script asks otherwise comes from that.
    fn of_script(&self, call: CauseCall) -> Option<(usize, bool)> {
        let is_same = |(known, _): &&(CauseCall, usize)| {
            let side = |one: Option<usize>, other| one.is_some() && one == other;
            side(known.current, call.current) || side(known.baseline, call.baseline)
        };
        let exact = self.script.iter().find(is_same);
        let first = || self.script.first().map(|it| (it.1, false));
        exact.map(|it| (it.1, true)).or_else(first)
    }

    /// What stood in the way of a verdict. That a scenario is skipped or was interrupted has no cause that anybody could look for.
    fn problem(&mut self) {
        let scenario = self.context.scenario;
        let Some(problem) = &scenario.problem else {
            return;
        };
        let is_told = scenario.status.is_left_out()
            || (scenario.status == Status::Error && !scenario.experiment_changes.is_empty());
        if is_told {
            return;
        }
        let draft = self
            .context
            .draft(CauseKind::Problem, None, problem.message.clone());
        self.found.add(Draft {
            fails: !scenario.status.is_fine(),
            hint: problem.hint.clone(),
            ..draft
        });
    }

    fn reason(&mut self, comparison: &Comparison, reason: &Reason) {
        // The changes that the score or the strictness fails for say more.
        if matches!(reason.kind, ReasonKind::Threshold | ReasonKind::Strict) {
            return;
        }
        if self.ended.as_ref().is_some_and(|it| it.explains(reason)) {
            self.told_by_end(reason);
        } else if reason.kind == ReasonKind::Upstream && !reason.follows.is_empty() {
            self.behind(comparison, reason);
        } else {
            self.told(comparison, reason, &reason.follows);
        }
    }

    /// A call that the run did not come to, and what follows from that.
    fn told_by_end(&mut self, reason: &Reason) {
        let these = std::iter::once(reason).chain(&reason.follows);
        for it in these.filter(|it| it.kind != ReasonKind::Threshold) {
            let call = CauseCall {
                baseline: it.baseline,
                current: it.current,
            };
            self.covered.insert(call);
            self.not_made.push(NotMade {
                call,
                said: self.follows(it),
                fails: self.fails,
            });
        }
    }

    /// What a reason says beneath another one.
    fn follows(&self, reason: &Reason) -> String {
        let ended = self.ended.as_ref().is_some_and(|it| it.explains(reason));
        let row = self.row(reason.baseline, reason.current);
        match (row, &reason.expected) {
            (_, Some(asked)) if ended => ended::sentence(asked),
            (Some(row), None) if ended => ended::sentence(&row.tool_name()),
            (Some(row), _) => {
                let answered = self.answered_otherwise(reason, row);
                answered.unwrap_or_else(|| reason.to_string())
            }
            _ => reason.to_string(),
        }
    }

    /// What a call is answered otherwise, as a cause would say it.
    fn answered_otherwise(&self, reason: &Reason, row: &Row) -> Option<String> {
        let comparison = self.context.scenario.comparison.as_ref()?;
        if reason.kind != ReasonKind::ServerRegression || said_better(reason, Some(row)).is_some() {
            return None;
        }
        let change = change_of(comparison, reason)?;
        let is_place = |it: &Change| it.kind == ChangeKind::Answer && it.fails;
        if !is_place(change) {
            return None;
        }
        let said = self.context.of_change(change, Some(row)).finish().text;
        let call = change.call()?;
        Some(format!("{call}: {said}"))
    }

    /// The cause that a reason tells of, with what follows from it; returns where it was found.
    fn told(&mut self, comparison: &Comparison, reason: &Reason, follows: &[Reason]) -> usize {
        let change = change_of(comparison, reason);
        let row = self.row(reason.baseline, reason.current);
        let mut draft = match (reason.kind, change) {
            (ReasonKind::Drift, _) => self.drift(comparison, reason),
            (_, Some(change)) => self.context.of_change(change, row),
            (_, None) => self.plain(reason, row),
        };
        if let Some(said) = said_better(reason, row) {
            match said {
                Better::Failed(message) => {
                    // A server that fails in one way may do so in all its tools.
                    let server = row.and_then(|it| it.server.as_deref()).unwrap_or_default();
                    draft.key = Key::failed(server, &message);
                    draft.kind = CauseKind::Error;
                    draft.what = What::Failed(message);
                }
                // That a member has another name now is told better by what it was and is.
                Better::Generalised(..)
                    if change.is_some_and(|it| self.context.renamed(it).is_some()) => {}
                Better::Generalised(said, has_values) => {
                    draft.key = Key::many(&said);
                    draft.path = draft.path.map(|it| words::starred(&it));
                    draft.values_differ = true;
                    draft.what = if has_values {
                        What::Whole(said)
                    } else {
                        What::Said(said)
                    };
                }
            }
        }
        if let (Some(change), What::Place(_)) = (change, &draft.what)
            && change.kind == ChangeKind::Answer
        {
            (self.answered).insert(calls_of(change), change.path.clone());
            // What the verdict puts beneath it because it is the same change of other calls may be one of several there, too.
            let same = |it: &&Change| {
                it.kind == change.kind
                    && (&it.tool, &it.path) == (&change.tool, &change.path)
                    && (&it.was, &it.now) == (&change.was, &change.now)
            };
            let others = follows.iter().filter_map(|it| change_of(comparison, it));
            (self.answered).extend(
                others
                    .filter(same)
                    .map(|it| (calls_of(it), it.path.clone())),
            );
        }
        // Other places of the calls that follow are told as well.
        for it in follows
            .iter()
            .filter(|it| it.kind == ReasonKind::ServerRegression)
        {
            let change = change_of(comparison, it);
            if let Some(change) = change.filter(|it| it.kind == ChangeKind::Answer) {
                (self.answered).insert(calls_of(change), change.path.clone());
            }
        }
        draft.fails = self.fails;
        let mut calls = vec![CauseCall {
            baseline: reason.baseline,
            current: reason.current,
        }];
        calls.extend(follows.iter().map(|it| CauseCall {
            baseline: it.baseline,
            current: it.current,
        }));
        if reason.kind == ReasonKind::Drift {
            calls.extend(refused(comparison, reason));
        }
        let follows = follows.iter();
        let follows = follows.filter(|it| it.kind != ReasonKind::Threshold);
        // That another call is answered otherwise in the same way, its number tells.
        let own = draft.text();
        let is_own = |it: &String| it.split_once(": ").is_some_and(|(_, said)| said == own);
        let follows = follows.map(|it| self.follows(it));
        draft.add_follows(follows.filter(|it| !is_own(it)));
        self.covered.extend(calls.iter().copied());
        // Of a call of the baseline, what is known best: with the call that stands for it.
        let mut once: HashMap<usize, usize> = HashMap::new();
        let mut new: Vec<CauseCall> = Vec::new();
        for call in calls {
            let known = call.baseline.and_then(|it| once.get(&it).copied());
            if let Some(at) = known {
                new[at].current = new[at].current.or(call.current);
            } else {
                once.extend(call.baseline.map(|it| (it, new.len())));
                new.push(call);
            }
        }
        if let Some(at) = new.first().and_then(|it| self.by_script(&draft, *it)) {
            let said = draft.text();
            let cause = &mut self.found.drafts_mut()[at];
            cause.fails |= draft.fails;
            cause.add_calls(new);
            cause.add_follows(std::iter::once(said).chain(draft.follows));
            return at;
        }
        draft.add_calls(new);
        self.found.add(draft)
    }

    /// The changed script that a cause follows from: the calls it makes, and what is answered to what it asks otherwise.
    fn by_script(&self, draft: &Draft, call: CauseCall) -> Option<usize> {
        let of_call = matches!(
            draft.kind,
            CauseKind::Request | CauseKind::Effect | CauseKind::Call
        );
        let of_answer = matches!(
            draft.kind,
            CauseKind::Answer | CauseKind::Addition | CauseKind::Error
        ) && self.context.asked_otherwise.contains(&call);
        let (at, _) = self.of_script(call).filter(|_| of_call || of_answer)?;
        Some(at)
    }

    /// The verdict puts all that servers behind the one under test heard otherwise beneath the first of it. An argument that is left out
    /// and a header that is passed on have a cause each.
    fn behind(&mut self, comparison: &Comparison, reason: &Reason) {
        let is_own =
            |it: &&Reason| it.kind == ReasonKind::Upstream && change_of(comparison, it).is_some();
        let (own, follows): (Vec<&Reason>, Vec<&Reason>) = reason.follows.iter().partition(is_own);
        let at = self.told(comparison, reason, &[]);
        let follows = follows.into_iter();
        let follows = follows.filter(|it| it.kind != ReasonKind::Threshold);
        let follows: Vec<String> = follows.map(|it| self.follows(it)).collect();
        self.found.drafts_mut()[at].add_follows(follows);
        for it in own {
            self.reason(comparison, it);
        }
    }

    fn drift(&self, comparison: &Comparison, reason: &Reason) -> Draft {
        let draft = self
            .context
            .draft(CauseKind::Drift, Whose::Catalogue, reason.text.clone());
        let known = comparison.drift.iter();
        let known = known.clone().find(|it| it.what == reason.text).or_else(|| {
            // One heading may stand for the same change of several tools.
            known.clone().find(|it| {
                reason.text.contains(&format!("`{}`", it.tool)) && it.was == reason.expected
            })
        });
        let is_named = reason.expected.is_none() && reason.got.is_none();
        let (was, now) = match known {
            // A sentence about a name that is gone has the names in it.
            Some(known) if is_named => (known.was.clone(), known.now.clone()),
            _ => (reason.expected.clone(), reason.got.clone()),
        };
        let tool = known.map(|it| full_name(&it.server, &it.tool));
        Draft {
            // The same as where no scenario fails for it.
            key: match (known, &tool) {
                (Some(known), Some(tool)) => {
                    Key::drift(tool, &known.what, (&known.was, &known.now))
                }
                _ => draft.key,
            },
            what: if is_named {
                What::Whole(reason.text.clone())
            } else {
                What::Said(reason.text.clone())
            },
            tool,
            path: known.map(|it| it.path.clone()).filter(|it| !it.is_empty()),
            was,
            now,
            ..draft
        }
    }

    /// A reason of which nothing more is known than what it says.
    fn plain(&self, reason: &Reason, row: Option<&Row>) -> Draft {
        let kind = match reason.kind {
            ReasonKind::ServerRegression => CauseKind::Answer,
            ReasonKind::EffectChange => CauseKind::Effect,
            ReasonKind::Slower => CauseKind::Slower,
            ReasonKind::Tokens => CauseKind::Tokens,
            ReasonKind::Upstream => CauseKind::Upstream,
            ReasonKind::Drift => CauseKind::Drift,
            ReasonKind::Match => CauseKind::Call,
            ReasonKind::Expectation => CauseKind::Expectation,
            ReasonKind::Threshold | ReasonKind::Strict => CauseKind::Score,
        };
        let whose = match kind {
            CauseKind::Answer | CauseKind::Slower => Some(Whose::Server),
            CauseKind::Upstream => Some(Whose::Behind),
            CauseKind::Effect | CauseKind::Call | CauseKind::Tokens => Some(Whose::Agent),
            _ => None,
        };
        let draft = self
            .context
            .draft(kind, whose, without_number(&reason.text, row));
        Draft {
            tool: row.and_then(|it| Some(full_name(it.server.as_ref()?, it.tool.as_ref()?))),
            label: row.and_then(|it| it.label.clone()),
            was: reason.expected.clone(),
            now: reason.got.clone(),
            ..draft
        }
    }

    /// A change that no cause is about yet.
    fn change(&mut self, change: &Change) {
        if self.context.is_new_name(change) {
            return;
        }
        let call = calls_of(change);
        if change.kind == ChangeKind::Call && self.is_by_end(change) {
            return;
        }
        let is_of_call = call.baseline.or(call.current).is_some();
        let refused = CauseCall {
            baseline: call.baseline,
            current: None,
        };
        let is_covered = self.covered.contains(&call) || self.covered.contains(&refused);
        let is_tolerated = !change.fails
            && matches!(
                change.kind,
                ChangeKind::Addition | ChangeKind::Slower | ChangeKind::Upstream
            );
        let is_told = match change.kind {
            ChangeKind::Drift => {
                self.found.drafts().iter().any(|it| {
                    it.kind == CauseKind::Drift
                        && (it.was.is_some() || it.now.is_some())
                        && (&it.was, &it.now) == (&change.was, &change.now)
                        && (change.fails
                            || matches!(&it.what, What::Said(said) if *said == change.what))
                }) || (change.fails
                    && self
                        .found
                        .drafts()
                        .iter()
                        .any(|it| it.kind == CauseKind::Drift))
            }
            ChangeKind::Tokens => self
                .found
                .drafts()
                .iter()
                .any(|it| it.kind == CauseKind::Tokens),
            ChangeKind::Call if call.baseline.is_none() => is_covered || self.is_renamed(change),
            _ => is_of_call && is_covered && !is_tolerated && !self.is_another_place(change),
        };
        if is_told {
            return;
        }
        let row = self.row(change.baseline, change.current);
        // What a server answers to another question follows from that.
        let is_answer = matches!(
            change.kind,
            ChangeKind::Answer | ChangeKind::Addition | ChangeKind::Error
        );
        let mut draft = self.context.of_change(change, row);
        draft.fails = change.fails && !self.context.scenario.status.is_fine();
        if let Some(at) = self.by_script(&draft, call) {
            let asks = |it: &&Change| {
                let kinds = [ChangeKind::Call, ChangeKind::Request, ChangeKind::Effect];
                calls_of(it) == call && kinds.contains(&it.kind)
            };
            let is_only = self.context.scenario.changes().iter().filter(asks).count() == 1;
            // Where this is all that the call asks otherwise, the cause says it.
            let is_said = !is_answer && is_only && self.of_script(call) == Some((at, true));
            let cause = &mut self.found.drafts_mut()[at];
            cause.fails |= draft.fails;
            cause.tool = cause.tool.take().or(draft.tool.clone());
            cause.add_calls([call]);
            if !is_said {
                cause.add_follows([draft.finish().text]);
            }
            return;
        }
        if is_covered && self.is_another_place(change) {
            let more = self.more_places.entry(call).or_default();
            *more += 1;
            let mut found = self.found.drafts_mut().iter_mut();
            let cause = found.find(|it| it.places.iter().any(|it| it.calls.contains(&call)));
            if let Some(cause) = cause.filter(|_| *more > PLACES) {
                cause.add_follows([draft.finish().text]);
                return;
            }
        }
        if is_answer && self.context.asked_otherwise.contains(&call) {
            let cause = self.found.drafts_mut().iter_mut().find(|it| {
                matches!(it.kind, CauseKind::Request | CauseKind::Effect)
                    && it.places.iter().any(|it| it.calls.contains(&call))
            });
            if let Some(cause) = cause {
                cause.fails |= draft.fails;
                cause.add_follows([draft.finish().text]);
                return;
            }
        }
        self.found.add(draft);
    }

    /// Notes a call that the run did not come to; whether it is one.
    fn is_by_end(&mut self, change: &Change) -> bool {
        let call = ended::not_made(change);
        if !self.ended.as_ref().is_some_and(|it| it.is_before(call)) {
            return false;
        }
        if !self.covered.contains(&call) {
            let asked = change.was.clone().or_else(|| change.tool_name());
            self.not_made.push(NotMade {
                call,
                said: ended::sentence(&asked.unwrap_or_default()),
                fails: change.fails && !self.context.scenario.status.is_fine(),
            });
        }
        true
    }

    /// Puts the calls that the run did not come to beneath what ended it.
    fn not_made(&mut self) {
        let not_made = std::mem::take(&mut self.not_made);
        let Some(ended) = self.ended.as_ref().filter(|_| !not_made.is_empty()) else {
            return;
        };
        let mut drafts = self.found.drafts().iter();
        let known = drafts.position(|it| it.kind == CauseKind::Error && it.is_of_call(ended.last));
        let at = known.unwrap_or_else(|| {
            let why = ended.why.as_deref().unwrap_or("a call failed");
            let said = format!("the run ended early: {why}");
            let draft = self.context.draft(CauseKind::Error, None, said);
            self.found.add(draft)
        });
        let cause = &mut self.found.drafts_mut()[at];
        cause.fails |= not_made.iter().any(|it| it.fails);
        cause.add_calls(not_made.iter().map(|it| it.call));
        cause.add_follows(not_made.into_iter().map(|it| it.said));
    }

    /// Whether a change is of another place of an answer than the cause that is about its call: a place that fails is never left untold.
    fn is_another_place(&self, change: &Change) -> bool {
        let told = self.answered.get(&calls_of(change));
        change.kind == ChangeKind::Answer
            && change.fails
            && told.is_some_and(|it| *it != change.path)
    }

    /// Whether a new call is of a tool that a cause names as what another has become.
    fn is_renamed(&self, change: &Change) -> bool {
        let Some(tool) = &change.tool else {
            return false;
        };
        let drifts = self
            .found
            .drafts()
            .iter()
            .filter(|it| it.kind == CauseKind::Drift);
        let mut said = drifts.filter_map(|it| match &it.what {
            What::Said(said) | What::Whole(said) => Some(said),
            What::Failed(_) | What::Place(_) => None,
        });
        said.any(|said| {
            let mut named = said.split('`').skip(1).step_by(2);
            named.any(|it| !it.is_empty() && tool.ends_with(&format!("__{it}")))
        })
    }

    /// What became of the score, of the several runs, beneath what explains it; a cause of its own where nothing does.
    fn score(&mut self) {
        let scenario = self.context.scenario;
        let of_runs = scenario.repeated.as_ref().filter(|_| self.fails);
        if let Some(reason) = of_runs.and_then(|it| it.reason.clone()) {
            if let Some(cause) = self.found.drafts_mut().iter_mut().find(|it| it.fails) {
                cause.add_follows([reason]);
            } else {
                let draft = self.context.draft(CauseKind::Repeated, None, reason);
                self.found.add(Draft {
                    fails: true,
                    ..draft
                });
            }
        }
        let Some(comparison) = scenario.comparison.as_ref().filter(|_| self.fails) else {
            return;
        };
        let mut reasons = (comparison.reasons.iter())
            .flat_map(|it| std::iter::once(it).chain(&it.follows))
            .filter(|it| it.kind == ReasonKind::Threshold);
        let scores = &comparison.scores;
        if reasons.next().is_none() {
            let of_answer = |it: &Reason| it.kind == ReasonKind::ServerRegression;
            let cause = self.found.drafts_mut().iter_mut().find(|it| it.fails);
            if let Some(cause) = cause.filter(|_| comparison.reasons.iter().any(of_answer)) {
                cause.add_follows([format!(
                    "fails whatever the score, which is {}: the same question got another answer",
                    fixed(scores.overall, 2)
                )]);
            }
            return;
        }
        let said = format!(
            "the score is {}, below {}",
            fixed(scores.overall, 2),
            fixed(scores.threshold, 2)
        );
        if let Some(cause) = self.found.drafts_mut().iter_mut().find(|it| it.fails) {
            cause.add_follows([said]);
            return;
        }
        let costly = comparison.losses.iter();
        let most = (costly.filter(|it| points::costs(it.points)))
            .max_by(|a, b| a.points.total_cmp(&b.points));
        let draft = self.context.draft(CauseKind::Score, None, said.clone());
        let draft = match most {
            Some(loss) => self.of_loss(draft, loss, said),
            None => draft,
        };
        self.found.add(Draft {
            fails: true,
            ..draft
        });
    }

    /// A score that is too low, told by the place that cost most.
    fn of_loss(&self, draft: Draft, loss: &Loss, score: String) -> Draft {
        let row = self.row(loss.baseline, loss.current);
        let Some(name) = row.map(Row::tool_name).or_else(|| loss.tool.clone()) else {
            return Draft {
                what: What::Said(format!("{score}, because {}", loss.rule)),
                ..draft
            };
        };
        let place = loss.path.as_deref().map(words::place);
        let said = match (&place, &loss.expected, &loss.got) {
            (Some(place), Some(_) | None, Some(_)) | (Some(place), Some(_), None) => {
                format!("`{name}` differs in {place}")
            }
            (Some(place), None, None) => format!("`{name}` differs in {place}: {}", loss.rule),
            (None, _, _) => format!("`{name}`: {}", loss.rule),
        };
        let mut draft = Draft {
            key: Key::said(CauseKind::Score, &said),
            what: What::Said(said),
            tool: loss.tool.clone(),
            label: loss.label.clone(),
            path: loss.path.clone(),
            was: loss.expected.clone(),
            now: loss.got.clone(),
            follows: vec![score],
            ..draft
        };
        draft.add_calls([CauseCall {
            baseline: loss.baseline,
            current: loss.current,
        }]);
        draft
    }
}
