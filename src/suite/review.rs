//! Runs that wait for review: shown as they were compared, then accepted, kept beside the others, let go of, or rejected. Nothing is run.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::judge::{failing_calls, judge};
use super::outcome::result;
use super::patience::Patience;
use super::record::check_run;
use super::stored::redacted;
use super::{evaluating, replay};
use crate::agent::Answers;
use crate::evaluate::Accepted;
use crate::model::repeated::Tally;
use crate::model::{
    Change, Evaluation, Git, Origin, PendingRun, Problem, Redacted, Redaction, ScenarioResult,
    Status, SuiteResult, Trajectory, Varying,
};
use crate::redact::{Redactor, Secrets};
use crate::scenario_file;
use crate::scenario_file::Scenario;
use crate::scenario_file::agent::Agent;
use crate::score;
use crate::store::{Baselines, Held, StoreError, fingerprint};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// In a sentence, with a way out.
    #[error("{message}")]
    Other { message: String, hint: String },
}

impl Refusal {
    /// What to try.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Other { hint, .. } => Some(hint),
        }
    }
}

/// A scenario as its file has it by now; `None` where it is none any more.
pub type ReadAgain<'a> = &'a dyn Fn(&Scenario) -> Option<Scenario>;

/// What a run is accepted in spite of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Despite {
    /// Baseline or scenario have changed since it was compared.
    pub moved: bool,
    /// It failed by itself, whatever it was compared with.
    pub failing: bool,
}

/// What is marked to vary in a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Ignored {
    /// The baseline's file.
    pub file: PathBuf,
    pub places: Vec<Varying>,
}

/// A run of a scenario that waits for review.
#[derive(Debug)]
pub struct Waiting {
    pub(super) scenario: Scenario,
    pub(super) baselines: Baselines,
    /// Without what the scenario declares to be secret by now.
    pub(super) run: PendingRun,
    /// As it lies on disk.
    pub(super) accepted: Vec<Redacted<Trajectory>>,
    /// As it lies beside its baseline; `None` where it is from the folder of a run or of a report.
    pub(super) found: Option<PendingRun>,
}

/// A scenario of which it is not known what waits.
#[derive(Debug)]
pub struct Broken {
    scenario: Scenario,
    baselines: Baselines,
    why: Refusal,
}

/// What is pending of a scenario, or why that is not known.
pub type Pending = Result<Waiting, Box<Broken>>;

/// The scenario that something is pending of.
pub fn scenario_of(pending: &Pending) -> &Scenario {
    match pending {
        Ok(waiting) => waiting.scenario(),
        Err(broken) => broken.scenario(),
    }
}

impl Waiting {
    /// The pending run of a scenario; `None` where none is.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn of(scenario: &Scenario, baselines: &Baselines) -> Result<Option<Self>, Box<Broken>> {
        let id = &scenario.id;
        let way_out = |error: StoreError| Refusal::Other {
            message: error.to_string(),
            hint: format!(
                "`mcp-eval review --reject {id}` removes it, and the next `mcp-eval compare` replaces it"
            ),
        };
        let read = || -> Result<Option<Self>, Refusal> {
            let Some(found) = baselines.load_pending(id).map_err(way_out)? else {
                return Ok(None);
            };
            let accepted = replay::load(baselines, id)?;
            let run = PendingRun {
                trajectory: clean(&found.trajectory, scenario),
                ..found.clone()
            };
            Ok(Some(Self {
                scenario: scenario.clone(),
                baselines: baselines.clone(),
                run,
                accepted,
                found: Some(found),
            }))
        };
        read().map_err(|why| Box::new(Broken::new(scenario, baselines, why)))
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The id of the run, which names its report.
    pub fn run_id(&self) -> &str {
        &self.run.origin.run
    }

    /// How many of the runs passed that it is one of, where there were several.
    pub fn tally(&self) -> Option<Tally> {
        self.run.origin.tally
    }

    /// Why the run must not be accepted unseen: the baseline or the scenario is no longer what it was compared with.
    pub fn moved(&self) -> Option<String> {
        let id = &self.scenario.id;
        let Origin {
            variant,
            fingerprint: compared_with,
            ..
        } = &self.run.origin;
        let path = self.baselines.variant_path(id, *variant);
        let stands = variant.checked_sub(1).and_then(|at| self.accepted.get(at));
        if self.run.trajectory.scenario != *id {
            return Some(format!(
                "the run is one of another scenario, `{}`",
                self.run.trajectory.scenario
            ));
        }
        if stands.map(fingerprint).as_ref() != Some(compared_with) {
            return Some(format!(
                "{} is not the baseline that this run was compared with: it has changed since",
                path.display()
            ));
        }
        let agent = &self.scenario.agent;
        let given = scenario_file::agent_hash(agent, &self.scenario.redaction);
        if score::scenario_has_changed(
            &self.run.trajectory,
            Some(&self.scenario.hash),
            agent.kind(),
            given.as_deref(),
        ) {
            return Some(format!(
                "{} no longer asks what this run was asked",
                self.scenario.path.display()
            ));
        }
        None
    }

    /// The run beside what it was compared with, judged by the scenario's rules.
    pub fn judged(&self) -> Redacted<SuiteResult> {
        let mut secrets = Secrets::default();
        let shown = self.judged_against(self.compared_with(), &mut secrets);
        let nowhere = Git::Unknown {
            reason: "the run was made earlier".to_owned(),
        };
        let suite = SuiteResult {
            run_id: self.run.origin.run.clone(),
            selected: 1,
            scenarios: vec![shown],
            ..SuiteResult::new("compare", Timestamp::now(), nowhere)
        };
        Redactor::new(&secrets, &Redaction::default()).suite(suite)
    }

    /// The run beside an accepted trajectory; `secrets` learns what the scenario declares to be secret.
    pub(super) fn judged_against(
        &self,
        before: Option<&Redacted<Trajectory>>,
        secrets: &mut Secrets,
    ) -> ScenarioResult {
        let scenario = redacted(&self.scenario, secrets);
        let open = result(&scenario, Status::Error).with(|it| {
            it.duration_ms = self.run.trajectory.duration_ms;
            it.current = Some(Arc::new(self.run.trajectory.clone()));
            it.evaluators = self.evaluations(&scenario);
        });
        let judged = before.and_then(|before| {
            let mut before = [before.clone()];
            let _ = replay::bind(&mut before, Some(&self.scenario));
            judge(
                open.clone(),
                Some(&scenario),
                (&before, Accepted::Baseline),
                Arc::new(self.run.trajectory.clone()),
                (
                    &self.scenario.scoring,
                    &Patience::until(&CancellationToken::new()),
                ),
                true,
            )
        });
        judged.unwrap_or_else(|| {
            open.with(|it| {
                it.problem = Some(Problem::new(
                    "the baseline that it was compared with is gone".to_owned(),
                ));
            })
        })
    }

    /// Why `record` would not keep the run: a call that did not come out as it is meant to, an expectation of the scenario that is not met.
    /// Empty where nothing speaks against it, or that cannot be judged.
    pub fn failing(&self) -> Vec<String> {
        let (scenario, run) = (self.plain_scenario(), &self.run.trajectory);
        let evaluations = self.evaluations(&scenario);
        let looked = check_run(&scenario, run, self.played(), &evaluations);
        looked.map_or_else(|_| Vec::new(), |it| it.failing)
    }

    /// What evaluators find in the run, and what those found that cannot look at it again.
    fn evaluations(&self, scenario: &Scenario) -> Vec<Evaluation> {
        let before = self.compared_with().map(|it| evaluating::offered_in(it));
        let (run, found) = (&self.run.trajectory, &self.run.found);
        let found = evaluating::with_found(scenario, run, (Some(found), before.as_ref()), false);
        redactor_of(&self.scenario).evaluations(found).into_inner()
    }

    /// The part of that which is about its calls.
    pub fn failing_calls(&self) -> Vec<String> {
        failing_calls(&self.plain_scenario(), &self.run.trajectory, self.played())
    }

    /// Without its secrets, as the run is, and with the ids of the run.
    fn plain_scenario(&self) -> Scenario {
        let mut scenario = redacted(&self.scenario, &mut Secrets::default()).into_inner();
        let answers = Answers::of(&self.run.trajectory, Some(self.scenario.agent.calls()));
        for expected in &mut scenario.expected_trajectory {
            answers.fill_references(&mut expected.arguments, &expected.filled);
        }
        scenario
    }

    /// What a replay plays: its calls may fail where the baseline's did.
    fn played(&self) -> Option<&Trajectory> {
        let replays = matches!(self.scenario.agent, Agent::Replay { .. });
        self.compared_with().filter(|_| replays).map(|it| &**it)
    }

    /// Makes the run the baseline in the place of what it was compared with; returns the file.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where baseline or scenario have changed since the comparison, or the run failed by itself, unless it is accepted despite
    /// of that; where any of it has changed since it was read; and where it cannot be written.
    pub fn accept(&self, despite: Despite, again: ReadAgain<'_>) -> Result<PathBuf, Refusal> {
        let variant = self.run.origin.variant.min(self.accepted.len().max(1));
        self.keep(variant, despite, again)
    }

    /// Keeps the run beside what is accepted already; returns the file.
    ///
    /// # Errors
    ///
    /// As [`Self::accept`].
    pub fn accept_beside(
        &self,
        despite: Despite,
        again: ReadAgain<'_>,
    ) -> Result<PathBuf, Refusal> {
        self.keep(self.accepted.len() + 1, despite, again)
    }

    /// Refuses to accept a run that has been overtaken by what it was compared with, and one that `record` would not keep.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] that says what has changed since, or what failed.
    pub fn refuse(&self, despite: Despite) -> Result<(), Refusal> {
        if !despite.moved {
            self.refuse_moved()?;
        }
        let failing = self.failing();
        if despite.failing || failing.is_empty() {
            return Ok(());
        }
        Err(Refusal::Other {
            message: format!(
                "`{}` is not accepted, because the run failed: {}",
                self.scenario.id,
                failing.join("; ")
            ),
            hint: "`--allow-failing` accepts it".to_owned(),
        })
    }

    fn refuse_moved(&self) -> Result<(), Refusal> {
        match self.moved() {
            None => Ok(()),
            Some(message) => Err(Refusal::Other {
                message: format!("`{}` is not accepted: {message}", self.scenario.id),
                hint: "`mcp-eval compare` makes another run to review; `--force` accepts this one"
                    .to_owned(),
            }),
        }
    }

    fn keep(
        &self,
        variant: usize,
        despite: Despite,
        again: ReadAgain<'_>,
    ) -> Result<PathBuf, Refusal> {
        self.refuse(despite)?;
        let held = self.hold(again)?;
        let id = &self.scenario.id;
        let run = &self.run.trajectory;
        let quiet = self.accepted.get(variant - 1).map(|it| self.over(it));
        let kept = quiet.as_ref().unwrap_or(run);
        let kept = (self.baselines).save_under(Some(&held), id, variant, kept)?;
        self.settle(&held)?;
        Ok(kept)
    }

    /// The run as it takes the place of an accepted trajectory: with the old values where nothing has changed, as `record` keeps it.
    fn over(&self, accepted: &Redacted<Trajectory>) -> Redacted<Trajectory> {
        let (run, rules) = (&self.run.trajectory, &self.scenario.scoring);
        let before = bound(accepted, &self.scenario);
        let recording = score::Recording {
            kept: run,
            comparison: &score::compare(&before, run, rules),
            other_takes: &[],
        };
        match score::recorded_again(&before, recording, rules, &|| false) {
            Ok(Some(mixed)) => run.derive(|_| mixed),
            Ok(None) => accepted.clone(),
            // Nobody has asked for an end.
            Err(_) => run.clone(),
        }
    }

    /// Makes sure that all is as it was read, and stays so for as long as what is returned lives.
    fn hold(&self, again: ReadAgain<'_>) -> Result<Held, Refusal> {
        let id = &self.scenario.id;
        let held = self.baselines.hold(id)?;
        let changed = |what: &str| Err(changed(id, what));
        if let Some(found) = &self.found {
            match self.baselines.load_pending(id) {
                Ok(None) => return Err(gone(id)),
                Ok(Some(now)) if now == *found => {}
                _ => return changed("another run is waiting now"),
            }
        }
        if replay::load(&self.baselines, id).ok().as_ref() != Some(&self.accepted) {
            return changed("its baseline is a different one now");
        }
        if again(&self.scenario).as_ref() != Some(&self.scenario) {
            return changed("its scenario is a different one now");
        }
        Ok(held)
    }

    /// Removes the pending run, where this is the one. Of one that was found beside its baseline, [`Self::hold`] has made sure of that.
    fn settle(&self, _held: &Held) -> Result<(), StoreError> {
        let id = &self.scenario.id;
        let is_this = || {
            let pending = self.baselines.load_pending(id).ok().flatten();
            pending.is_some_and(|it| it.origin.run == self.run.origin.run)
        };
        if self.found.is_some() || is_this() {
            self.baselines.remove_pending(id)?;
        }
        Ok(())
    }

    /// Lets go of the run: the baseline stays as it is.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where any of it has changed since it was read, and when the file cannot be removed.
    pub fn reject(&self, again: ReadAgain<'_>) -> Result<(), Refusal> {
        let held = self.hold(again)?;
        Ok(self.settle(&held)?)
    }

    /// Lets go of the place of a change from now on: it is written into what the baseline knows to vary, as narrowly as that is said of the
    /// place and the change is none any more.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where that cannot be, with what to do instead, and where any of it has changed since it was read; the baseline stays as
    /// it is then.
    pub fn ignore(&mut self, change: &Change, again: ReadAgain<'_>) -> Result<Ignored, Refusal> {
        self.refuse_moved()?;
        let held = self.hold(again)?;
        let other = |message| Refusal::Other {
            message,
            hint: "`mcp-eval help scenario` explains `scoring`".to_owned(),
        };
        let rules = &self.scenario.scoring;
        let Some(before) = self.compared_with() else {
            return Err(other("there is no baseline to write it into".to_owned()));
        };
        let current = &self.run.trajectory;
        let ways = score::ways_to_ignore(before, current, change, rules).map_err(other)?;
        let compare = |known: &Redacted<Trajectory>| {
            score::compare(&bound(known, &self.scenario), current, rules)
        };
        let there = compare(before).changes;
        let found = ways.into_iter().find_map(|places| {
            let mut known = before.clone();
            let call = change.baseline.unwrap_or_default();
            known.refine(|it| score::let_vary(it, call, &places));
            let compared = compare(&known);
            let left = &compared.changes;
            let is_of = |it: &Change, of: &Change| {
                (it.baseline, it.current, &it.path) == (of.baseline, of.current, &of.path)
            };
            let is_gone = !left.iter().any(|it| is_of(it, change));
            let is_all = left.iter().all(|it| there.iter().any(|was| is_of(it, was)));
            (is_gone && is_all).then_some((known, places, compared))
        });
        let Some((known, places, compared)) = found else {
            let place = change.path.as_deref().unwrap_or_default();
            return Err(other(format!(
                "{place} cannot be ignored alone: the answer would still differ; `scoring.ignore` leaves out what contains it"
            )));
        };
        let id = &self.scenario.id;
        let variant = self.run.origin.variant;
        let file = (self.baselines).save_under(Some(&held), id, variant, &known)?;
        (self.run.trajectory).refine(|it| score::carry_over(&known, it, &compared));
        self.run.origin.fingerprint = fingerprint(&known);
        if self.found.is_some() {
            self.baselines.save_pending(id, &self.run)?;
            self.found = self.baselines.load_pending(id)?;
        }
        self.accepted = replay::load(&self.baselines, id)?;
        Ok(Ignored { file, places })
    }

    /// What it was compared with, and the run itself.
    pub fn sides(&self) -> [Option<&Redacted<Trajectory>>; 2] {
        [self.compared_with(), Some(&self.run.trajectory)]
    }

    pub(super) fn compared_with(&self) -> Option<&Redacted<Trajectory>> {
        let at = self.run.origin.variant.checked_sub(1)?;
        self.accepted.get(at).or_else(|| self.accepted.first())
    }
}

impl Broken {
    pub(super) fn new(scenario: &Scenario, baselines: &Baselines, why: Refusal) -> Self {
        Self {
            scenario: scenario.clone(),
            baselines: baselines.clone(),
            why,
        }
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Why it is not known.
    pub fn why(&self) -> &Refusal {
        &self.why
    }

    /// Removes what is in the place of a pending run.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where something can be read there by now, or it cannot be removed.
    pub fn reject(&self) -> Result<(), Refusal> {
        let id = &self.scenario.id;
        let _held = self.baselines.hold(id)?;
        match Waiting::of(&self.scenario, &self.baselines) {
            Err(now) if now.why.to_string() == self.why.to_string() => {
                Ok(self.baselines.remove_pending(id)?)
            }
            Ok(None) => Err(gone(id)),
            _ => Err(changed(id, "another run is waiting now")),
        }
    }
}

fn gone(id: &str) -> Refusal {
    Refusal::Other {
        message: format!("nothing of `{id}` is pending any more"),
        hint: "it was already decided, or a comparison found no differences".to_owned(),
    }
}

fn changed(id: &str, what: &str) -> Refusal {
    Refusal::Other {
        message: format!(
            "`{id}` has changed while you looked at it; it is shown again by `mcp-eval review`"
        ),
        hint: what.to_owned(),
    }
}

/// Takes what a scenario declares to be secret by now out of what was stored.
fn redactor_of(scenario: &Scenario) -> Redactor {
    super::stored::redactor_of(scenario).of_stored()
}

/// A stored run without what its scenario declares to be secret by now.
pub(super) fn clean(stored: &Redacted<Trajectory>, scenario: &Scenario) -> Redacted<Trajectory> {
    let mut clean = redactor_of(scenario).trajectory((**stored).clone());
    clean.refine(|it| score::follow(stored, it));
    clean
}

/// An accepted trajectory with the bindings that comparisons use.
pub(super) fn bound(accepted: &Redacted<Trajectory>, scenario: &Scenario) -> Trajectory {
    let mut bound = [accepted.clone()];
    let _ = replay::bind(&mut bound, Some(scenario));
    let [bound] = bound;
    bound.into_inner()
}
