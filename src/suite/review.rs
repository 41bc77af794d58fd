//! Runs that wait for review: shown as they were compared, then accepted, kept beside the others, let go of, or rejected. Nothing is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::judge::judge;
use super::outcome::{problem, result};
use super::patience::Patience;
use super::replay;
use super::stored::redacted;
use crate::evaluate::Accepted;
use crate::git;
use crate::model::comparison::Change;
use crate::model::pending::{Origin, PendingRun};
use crate::model::redacted::Redacted;
use crate::model::redaction::Redaction;
use crate::model::scenario::Scenario;
use crate::model::suite::{ScenarioResult, Status, SuiteResult};
use crate::model::trajectory::Trajectory;
use crate::redact::{Redactor, Secrets};
use crate::scenario_file;
use crate::score;
use crate::store::{self, Baselines, Runs, StoreError, fingerprint};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// In a sentence, with a way out.
    #[error("{message}")]
    Other { message: String, hint: String },
}

/// A run of a scenario that waits for review.
#[derive(Debug)]
pub struct Waiting {
    scenario: Scenario,
    baselines: Baselines,
    run: PendingRun,
    /// As it lies on disk.
    accepted: Vec<Redacted<Trajectory>>,
    /// It lies beside its baseline, and not in a run or a report.
    is_beside: bool,
}

impl Waiting {
    /// The pending run of a scenario; `None` where none is.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] when a file cannot be read.
    pub fn of(scenario: &Scenario, baselines: &Baselines) -> Result<Option<Self>, StoreError> {
        let Some(run) = baselines.load_pending(&scenario.id)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            accepted: replay::load(baselines, &scenario.id)?,
            scenario: scenario.clone(),
            baselines: baselines.clone(),
            run,
            is_beside: true,
        }))
    }

    /// The run of a scenario in the folder of a run or of a report; `None` where it has none.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when a file cannot be read, or the run cannot become a baseline.
    pub fn in_folder(
        scenario: &Scenario,
        baselines: &Baselines,
        folder: &Path,
    ) -> Result<Option<Self>, Refusal> {
        let trajectories = folder.join("trajectories");
        let runs = Runs::at(if trajectories.is_dir() {
            &trajectories
        } else {
            folder
        });
        let path = runs.path(&scenario.id);
        if !path.is_file() {
            return Ok(None);
        }
        let mut trajectory = store::load(&path)?;
        if !trajectory.ending.is_complete() {
            return Err(Refusal::Other {
                message: format!("the run in {} did not complete", path.display()),
                hint: "only a run that went to its end can become a baseline".to_owned(),
            });
        }
        let accepted = replay::load(baselines, &scenario.id)?;
        let compared_with = runs.baseline_path(&scenario.id);
        let compared_with = if compared_with.is_file() {
            Some(store::load(&compared_with)?)
        } else {
            None
        };
        let variant = compared_with.as_ref().and_then(|with| {
            let is_it = |it: &Redacted<Trajectory>| bound(it, scenario) == **with;
            accepted.iter().position(is_it)
        });
        if let Some(before) = variant.and_then(|at| accepted.get(at)) {
            let compared = score::compare(before, &trajectory, &scenario.scoring);
            trajectory.refine(|it| score::carry_over(before, it, &compared));
        }
        let known = variant.and_then(|at| accepted.get(at));
        let id = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let origin = Origin {
            run: id
                .file_name()
                .map_or_else(String::new, |it| it.to_string_lossy().into_owned()),
            variant: variant.map_or(1, |at| at + 1),
            fingerprint: known
                .or(compared_with.as_ref())
                .map_or_else(String::new, fingerprint),
        };
        Ok(Some(Self {
            scenario: scenario.clone(),
            baselines: baselines.clone(),
            run: PendingRun { trajectory, origin },
            accepted,
            is_beside: false,
        }))
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The id of the run, which names its report.
    pub fn run_id(&self) -> &str {
        &self.run.origin.run
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
                "{} asks something else by now than this run was asked",
                self.scenario.path.display()
            ));
        }
        None
    }

    /// The run beside what it was compared with, judged by the scenario's rules.
    pub fn judged(&self) -> Redacted<SuiteResult> {
        let mut secrets = Secrets::default();
        let scenario = redacted(&self.scenario, &mut secrets);
        let open = ScenarioResult {
            duration_ms: self.run.trajectory.duration_ms,
            current: Some(Arc::new(self.run.trajectory.clone())),
            ..result(&scenario, Status::Error)
        };
        let judged = self.compared_with().and_then(|before| {
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
        let shown = judged.unwrap_or_else(|| ScenarioResult {
            problem: Some(problem(
                "the baseline that it was compared with is gone".to_owned(),
            )),
            ..open
        });
        let suite = SuiteResult {
            run_id: self.run.origin.run.clone(),
            command: "compare".to_owned(),
            mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: Timestamp::now(),
            duration_ms: 0.0,
            git: git::stamp(Path::new("."), &[]),
            interrupted: false,
            selected: 1,
            scenarios: vec![shown],
        };
        Redactor::new(&secrets, &Redaction::default()).suite(suite)
    }

    /// Makes the run the baseline in the place of what it was compared with; returns the file.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where baseline or scenario have changed since, unless `force`, and where it cannot be written.
    pub fn accept(&self, force: bool) -> Result<PathBuf, Refusal> {
        self.refuse(force)?;
        let variant = self.run.origin.variant.min(self.accepted.len().max(1));
        self.keep(variant)
    }

    /// Keeps the run beside what is accepted already; returns the file.
    ///
    /// # Errors
    ///
    /// As [`Self::accept`].
    pub fn accept_beside(&self, force: bool) -> Result<PathBuf, Refusal> {
        self.refuse(force)?;
        self.keep(self.accepted.len() + 1)
    }

    fn refuse(&self, force: bool) -> Result<(), Refusal> {
        match self.moved().filter(|_| !force) {
            None => Ok(()),
            Some(message) => Err(Refusal::Other {
                message: format!("`{}` is not accepted: {message}", self.scenario.id),
                hint: "`mcp-eval compare` makes another run to review; `--force` accepts this one"
                    .to_owned(),
            }),
        }
    }

    fn keep(&self, variant: usize) -> Result<PathBuf, Refusal> {
        let id = &self.scenario.id;
        let kept = self
            .baselines
            .save_variant(id, variant, &self.run.trajectory)?;
        self.baselines.remove_pending(id)?;
        Ok(kept)
    }

    /// Lets go of the run: the baseline stays as it is.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] when the file cannot be removed.
    pub fn reject(&self) -> Result<(), Refusal> {
        Ok(self.baselines.remove_pending(&self.scenario.id)?)
    }

    /// Lets go of the place of a change from now on: it is written into what the baseline knows to vary.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] where that cannot be, with what to do instead.
    pub fn ignore(&mut self, change: &Change) -> Result<(), Refusal> {
        self.refuse(false)?;
        let other = |message| Refusal::Other {
            message,
            hint: "`mcp-eval help scenario` explains `scoring`".to_owned(),
        };
        let rules = &self.scenario.scoring;
        let Some(before) = self.compared_with() else {
            return Ok(());
        };
        let mut known = before.clone();
        for anything in [false, true] {
            let current = &self.run.trajectory;
            let mut ignored = Ok(());
            known.refine(|it| {
                ignored = score::ignore_place(it, current, change, rules, anything);
            });
            ignored.map_err(other)?;
            let left = score::compare(&bound(&known, &self.scenario), current, rules);
            let is_there = |it: &Change| (it.baseline, &it.path) == (change.baseline, &change.path);
            if !left.changes.iter().any(is_there) {
                break;
            }
        }
        let id = &self.scenario.id;
        self.baselines
            .save_variant(id, self.run.origin.variant, &known)?;
        let compared = score::compare(&known, &self.run.trajectory, rules);
        (self.run.trajectory).refine(|it| score::carry_over(&known, it, &compared));
        self.run.origin.fingerprint = fingerprint(&known);
        let at = self.run.origin.variant - 1;
        self.accepted[at] = known;
        if self.is_beside {
            self.baselines.save_pending(id, &self.run)?;
        }
        Ok(())
    }

    fn compared_with(&self) -> Option<&Redacted<Trajectory>> {
        let at = self.run.origin.variant.checked_sub(1)?;
        self.accepted.get(at).or_else(|| self.accepted.first())
    }
}

/// An accepted trajectory with the bindings that comparisons use.
fn bound(accepted: &Redacted<Trajectory>, scenario: &Scenario) -> Trajectory {
    let mut bound = [accepted.clone()];
    let _ = replay::bind(&mut bound, Some(scenario));
    let [bound] = bound;
    bound.into_inner()
}

/// Removes the variants of a scenario that none of the last `runs` in which it was compared came nearest to. The main one stays. Returns the
/// files that are gone; none where fewer runs are stored.
///
/// # Errors
///
/// A [`StoreError`] when a file cannot be read or removed.
pub fn retire(
    scenario: &Scenario,
    baselines: &Baselines,
    stored: &Path,
    runs: usize,
) -> Result<Vec<PathBuf>, StoreError> {
    let accepted = replay::load(baselines, &scenario.id)?;
    if accepted.len() < 2 {
        return Ok(Vec::new());
    }
    let bound: Vec<Trajectory> = accepted.iter().map(|it| bound(it, scenario)).collect();
    let entries = fs::read_dir(stored).into_iter().flatten().flatten();
    let mut ids: Vec<String> = (entries)
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    ids.sort_by_cached_key(|it| std::cmp::Reverse(Runs::order(it)));
    let mut won: Vec<usize> = Vec::new();
    let mut looked_at = 0;
    for id in &ids {
        if looked_at == runs {
            break;
        }
        // What a run was compared with is the variant that was nearest to it.
        let path = Runs::open(stored, id).baseline_path(&scenario.id);
        let Ok(with) = store::load(&path) else {
            continue;
        };
        looked_at += 1;
        won.extend(bound.iter().position(|it| *it == *with));
    }
    if looked_at < runs {
        return Ok(Vec::new());
    }
    let mut gone = Vec::new();
    for at in (1..accepted.len()).rev().filter(|it| !won.contains(it)) {
        let path = baselines.variant_path(&scenario.id, at + 1);
        baselines.remove_variant(&scenario.id, at + 1)?;
        gone.push(path);
    }
    gone.reverse();
    Ok(gone)
}
