//! The causes of one scenario: from its verdict, and from what changed without being part of that.

use std::collections::{HashMap, HashSet};

use model::change::How;
use model::published::result::{
    Call, CauseCall, CauseKind, Change, ChangeKind, EvaluationStatus, ExperimentPart, Problem, Row,
    Scenario, Status, Whose,
};

use super::draft::{Draft, What};
use super::ended::Ended;
use super::found::Found;
use super::key::{Key, masked};
use super::no_baseline;
use super::of_change::Context;

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
        told: HashMap::new(),
        found: Found::default(),
    };
    of.experiment();
    of.problem();
    if let Some(comparison) = &scenario.comparison {
        for reason in &comparison.reasons {
            of.reason(comparison, reason);
        }
        for (at, change) in comparison.changes.iter().enumerate() {
            of.change(at, change);
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
    pub(super) fails: bool,
    /// The rows by their calls.
    pub(super) rows: HashMap<CauseCall, &'a Row>,
    /// The calls that causes are about already.
    pub(super) covered: HashSet<CauseCall>,
    /// Of calls that are answered otherwise, the place that a cause is about.
    pub(super) answered: HashMap<CauseCall, Option<String>>,
    /// How many other places of such an answer have been found.
    pub(super) more_places: HashMap<CauseCall, usize>,
    /// Where the run ended before it came to all its calls.
    pub(super) ended: Option<Ended>,
    /// The calls that it did not come to.
    pub(super) not_made: Vec<NotMade>,
    /// The causes that tell of the calls of a script that are other ones, and which these are.
    script: Vec<(CauseCall, usize)>,
    /// The causes that tell of changes, by the places of these in the list.
    pub(super) told: HashMap<usize, usize>,
    pub(super) found: Found,
}

/// A call that the run did not come to.
pub(super) struct NotMade {
    pub(super) call: CauseCall,
    /// In a sentence.
    pub(super) said: String,
    pub(super) fails: bool,
}

pub(super) fn rows(scenario: &Scenario) -> HashMap<CauseCall, &Row> {
    let rows = scenario.comparison.iter().flat_map(|it| &it.rows);
    let number = |call: &Option<Call>| call.as_ref().map(|it| it.number);
    rows.filter(|it| it.tool.is_some())
        .map(|row| {
            let call = CauseCall::new(number(&row.baseline), number(&row.current));
            (call, row)
        })
        .collect()
}

impl<'a> Gather<'a> {
    pub(super) fn row(&self, baseline: Option<usize>, current: Option<usize>) -> Option<&'a Row> {
        self.rows.get(&CauseCall::new(baseline, current)).copied()
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
    pub(super) fn of_script(&self, call: CauseCall) -> Option<(usize, bool)> {
        let is_same = |(known, _): &&(CauseCall, usize)| {
            let side = |one: Option<usize>, other| one.is_some() && one == other;
            side(known.current, call.current) || side(known.baseline, call.baseline)
        };
        let exact = self.script.iter().find(is_same);
        let first = || self.script.first().map(|it| (it.1, false));
        exact.map(|it| (it.1, true)).or_else(first)
    }

    /// The changed script that a cause follows from: the calls it makes, and what is answered to what it asks otherwise.
    pub(super) fn by_script(&self, draft: &Draft, call: CauseCall) -> Option<usize> {
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

    /// The cause of the change that this one follows from.
    pub(super) fn followed(&mut self, change: &Change) -> Option<usize> {
        let root = change.follows?.change;
        if let Some(at) = self.told.get(&root) {
            return Some(*at);
        }
        let it = self.context.scenario.changes().get(root)?;
        if it.kind == ChangeKind::Error {
            return None;
        }
        let draft = self
            .context
            .of_change(it, self.row(it.baseline, it.current));
        let at = self.found.add(draft);
        self.told.insert(root, at);
        Some(at)
    }

    /// Puts a change, which would be a cause by itself, beneath the one that it follows from.
    pub(super) fn put_beneath(
        &mut self,
        at: usize,
        change: &Change,
        draft: Draft,
        calls: Vec<CauseCall>,
    ) {
        let how = change.follows.map(|it| it.how);
        let said = how.map_or_else(|| draft.text(), |how| format!("{} ({how})", draft.text()));
        let cause = &mut self.found.drafts_mut()[at];
        cause.fails |= draft.fails;
        cause.add_calls(calls);
        cause.add_follows(std::iter::once(said).chain(draft.follows));
        if how == Some(How::SameValue) {
            cause.same.insert(draft.key);
        }
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
        let key = if no_baseline::can_be_recorded(problem) {
            Key::NoBaseline
        } else {
            draft.key
        };
        self.found.add(Draft {
            key,
            line: line_of(scenario, problem),
            fails: !scenario.status.is_fine(),
            hint: problem.hint.clone(),
            ..draft
        });
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
}

/// The line of the evaluator that a problem is about, where it is about one.
fn line_of(scenario: &Scenario, problem: &Problem) -> Option<usize> {
    let mut evaluators = scenario.evaluators.iter();
    let broken = evaluators.find(|it| it.gates() && it.status == EvaluationStatus::Error)?;
    let is_told = problem.message.contains(&format!("`{}`", broken.name));
    broken.line.filter(|_| is_told)
}
