//! One stored trajectory, or several of a scenario, held against what was accepted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::{DirEntry, WalkDir};

use super::finished::Files;
use super::judge::judge;
use super::patience::Patience;
use super::repeat::{Made, Measure};
use super::run_context::unfinished;
use super::stored_run::{MEASURED, keep};
use super::{Judging, StoredRun, ci, evaluating, replay, stored_run};
use crate::evaluate::Accepted;
use crate::model::repeated::{Attempt, Repeated};
use crate::model::{Found, Problem, Redacted, ScenarioResult, Status, Trajectory};
use crate::published::result;
use crate::scenario_file::Scenario;
use crate::score;
use crate::store::{self, BASELINE, Baselines, CURRENT, Runs, StoreError};

/// How each trajectory is compared.
pub(super) struct Comparison<'a> {
    pub(super) root: &'a Path,
    /// What evaluators found in the runs when they were made, by the ids of scenarios.
    pub(super) found: HashMap<String, Vec<Found>>,
    /// It is the only one, and `root` may be the folder of its baseline.
    pub(super) single: bool,
    /// By id, without secrets, because their texts appear in results and stored trajectories hold no secrets either.
    pub(super) scenarios: HashMap<&'a str, Redacted<Scenario>>,
    /// Whether there is no verdict on a scenario that is none of these.
    pub(super) rules_wanted: bool,
    /// The run that `root` is of, where it is one.
    pub(super) other: Option<StoredRun>,
    pub(super) judging: &'a Judging,
    pub(super) patience: Patience,
}

impl Comparison<'_> {
    /// A scenario of a run that was stored.
    pub(super) fn of_stored(
        &self,
        runs: &Runs,
        stored: &result::Scenario,
        file: &Path,
    ) -> ScenarioResult {
        if let Some(measured) = stored_run::measured(stored) {
            return measured;
        }
        match stored_run::repeated(stored) {
            Some(several) => self.of_several(runs, stored, several),
            None if file.exists() => self.of(file, None),
            None => stored_run::without(stored, file, None),
        }
    }

    /// Several runs of a scenario, each of which counts as it did when they were made.
    fn of_several(
        &self,
        runs: &Runs,
        stored: &result::Scenario,
        several: &Repeated,
    ) -> ScenarioResult {
        let attempts = (1..).zip(&several.attempts).map(|(number, then)| {
            let file = runs.attempt(number).path(&stored.id);
            if file.exists() {
                self.of(&file, Some((then, number == several.shown)))
            } else {
                stored_run::without(stored, &file, Some(then))
            }
        });
        let scenario = self.scenarios.get(stored.id.as_str()).map(|it| &**it);
        let own = scenario.map(|it| it.scoring.clone()).unwrap_or_default();
        let accepted = self.accepted(&stored.id).unwrap_or_default();
        let measure = Measure {
            times: u16::try_from(several.attempts.len()).unwrap_or(u16::MAX),
            pass_threshold: self.judging.scoring.over(&own).pass_threshold,
            baseline: accepted.first().and_then(|it| it.repeated),
        };
        let evaluators = scenario.map(|it| it.evaluators.as_slice());
        let evaluators = evaluators.unwrap_or_default();
        let mut made: Option<Made> = None;
        for attempt in attempts {
            match &mut made {
                Some(made) => made.add(attempt),
                None => made = Some(Made::new(evaluators, attempt)),
            }
        }
        made.map_or_else(
            || stored_run::result(stored, Status::Error),
            |it| it.result(scenario, |_, _| None, measure),
        )
    }

    /// A trajectory, which may be of one of several runs that came out so, the one that their run shows or another.
    pub(super) fn of(&self, file: &Path, attempt: Option<(&Attempt, bool)>) -> ScenarioResult {
        let current = match load_current(file) {
            Ok(current) => current,
            Err(error) => return broken(file, None, &error),
        };
        if is_measured(&current) {
            return unscored(file, &current, Status::Skipped, Problem::new(MEASURED));
        }
        let mut accepted = match self.accepted(&current.scenario) {
            Ok(accepted) if accepted.is_empty() => {
                let missing = format!(
                    "no baseline of `{}` in {}",
                    current.scenario,
                    self.root.display()
                );
                return unscored(file, &current, Status::Error, Problem::new(missing));
            }
            Ok(accepted) => accepted,
            Err(error) => return broken(file, Some(current), &error),
        };
        if let Some((status, message)) = unfinished(&current.ending) {
            return unscored(file, &current, status, Problem::new(message));
        }
        let scenario = self.scenarios.get(current.scenario.as_str());
        let scenario = scenario.map(|it| &**it);
        if scenario.is_none() && self.rules_wanted {
            return unscored(file, &current, Status::Error, unruled(&current.scenario));
        }
        if let Some(why) = (self.other.as_ref()).and_then(|it| it.why_unusable(&current.scenario)) {
            return unscored(file, &current, Status::Error, Problem::new(why));
        }
        if let Err(problem) = replay::bind(&mut accepted, scenario) {
            return unscored(file, &current, Status::Error, problem);
        }
        let own = scenario.map(|it| it.scoring.clone()).unwrap_or_default();
        let rules = self.judging.scoring.over(&own);
        let before = accepted.first().map(|it| evaluating::offered_in(it));
        let open = stored(file, &current, Status::Error).with(|it| {
            it.description = scenario.and_then(|it| it.description.clone());
            it.tags = scenario.map(|it| it.tags.clone()).unwrap_or_default();
            it.evaluators = scenario
                .map(|it| {
                    let found = self.found.get(&current.scenario);
                    // Of several runs, it is known of the one that is shown.
                    let found = found.filter(|_| attempt.is_none_or(|(_, is_shown)| is_shown));
                    let known = (found.map(Vec::as_slice), before.as_ref());
                    let mut all = evaluating::with_found(it, &current, known, attempt.is_some());
                    // What is named otherwise is the file of the run.
                    for evaluation in &mut all {
                        let line = evaluation.line.take();
                        let place = line.map(|line| format!("{}:{line}", it.path.display()));
                        evaluation.said_in = evaluation.said_in.take().or(place);
                    }
                    all
                })
                .unwrap_or_default();
            it.without_rules = scenario.is_none();
            it.notes = scenario
                .is_none()
                .then(|| {
                    let id = &current.scenario;
                    format!("no rules of a scenario file applied: none here is `{id}`")
                })
                .into_iter()
                .collect();
        });
        let accepted_as = match self.of_run(&current.scenario) {
            Some(_) => Accepted::Version,
            None => Accepted::Baseline,
        };
        let current = Arc::new(current);
        let judged = judge(
            open.clone(),
            scenario,
            (&accepted, accepted_as),
            current,
            (&rules, &self.patience),
            self.judging.allow_changed,
        )
        .map(|mut it| {
            for check in &mut it.checks {
                check.line = None;
            }
            it
        })
        .unwrap_or(open);
        match attempt {
            Some((then, false))
                if judged.status == Status::Passed && then.status != Status::Passed =>
            {
                let is_gone = judged.evaluators.iter().any(|it| it.is_gone);
                if is_gone { keep(then, judged) } else { judged }
            }
            _ => judged,
        }
    }

    /// The trajectory of a scenario in a stored run, where that is what is compared with.
    fn of_run(&self, scenario: &str) -> Option<PathBuf> {
        let is_run = self.root.join(CURRENT).is_dir();
        is_run.then(|| Runs::at(self.root).path(scenario))
    }

    /// The accepted trajectories: of a stored run, of a file, of the folder of one baseline, or of a folder of baselines.
    fn accepted(&self, scenario: &str) -> Result<Vec<Redacted<Trajectory>>, StoreError> {
        if self.root.is_file() {
            let accepted = store::load(self.root)?;
            replay::check_learned(self.root, &accepted)?;
            return Ok(vec![accepted]);
        }
        if let Some(file) = self.of_run(scenario) {
            return if file.exists() {
                Ok(vec![store::load(&file)?])
            } else {
                Ok(Vec::new())
            };
        }
        let mut baselines = Baselines::new(self.root);
        let mut accepted = replay::load(&baselines, scenario)?;
        if accepted.is_empty() && self.single {
            baselines = Baselines::of_one_scenario(self.root);
            accepted = replay::load(&baselines, scenario)?;
        }
        ci::mend(&baselines, scenario, accepted.first().map(|it| &**it));
        Ok(accepted)
    }

    /// What the other run has of scenarios that this one lacks: nobody knows what has become of them.
    pub(super) fn lacking(&self, run: &Path) -> Vec<ScenarioResult> {
        let (here, there) = (run.join(CURRENT), self.root.join(CURRENT));
        if !here.is_dir() {
            // One scenario of a run is compared alone.
            return Vec::new();
        }
        let others = WalkDir::new(&there).sort_by_file_name().into_iter();
        let others = others.flatten().map(DirEntry::into_path);
        let is_lacking = |file: &PathBuf| {
            let below = file.strip_prefix(&there).unwrap_or(file);
            file.extension() == Some("json".as_ref()) && !here.join(below).exists()
        };
        let results = others.filter(is_lacking).map(|file| {
            let message = format!("{} has no run of this scenario", run.display());
            match store::load(&file) {
                Err(error) => broken(&file, None, &error),
                Ok(other) => stored(&file, &other, Status::Error)
                    .with(|it| it.problem = Some(Problem::new(message))),
            }
        });
        results.collect()
    }

    /// Where the trajectories lie that a result is made of; of several runs of a scenario, those of each, among the runs that they are of.
    pub(super) fn files(&self, result: &ScenarioResult, of: Option<&Runs>) -> Files {
        let sides = result.baseline.as_ref().zip(result.comparison.as_ref());
        let several = result.repeated.as_ref().zip(of);
        let attempts = several.map(|(several, runs)| {
            let numbers = 1..=several.attempts.len();
            let files = numbers.map(|it| runs.attempt(it).path(&result.id));
            files.map(|it| Some(it).filter(|it| it.exists())).collect()
        });
        Files {
            current: result.current.as_ref().map(|_| PathBuf::from(&result.path)),
            baseline: sides.map(|(it, of)| self.accepted_file(&it.scenario, of.variant)),
            attempts: attempts.unwrap_or_default(),
            ..Files::default()
        }
    }

    /// The file one of the accepted trajectories came from.
    fn accepted_file(&self, scenario: &str, variant: usize) -> PathBuf {
        if self.root.is_file() {
            return self.root.to_owned();
        }
        if let Some(file) = self.of_run(scenario) {
            return file;
        }
        let mut baselines = Baselines::new(self.root);
        if self.single && !baselines.path(scenario).exists() {
            baselines = Baselines::of_one_scenario(self.root);
        }
        baselines.variant_path(scenario, variant)
    }
}

/// Reads the trajectory of a run that is scored, or shown.
///
/// # Errors
///
/// When it cannot be read.
pub(super) fn load_current(file: &Path) -> Result<Redacted<Trajectory>, StoreError> {
    let mut current = store::load(file)?;
    if !is_measured(&current) {
        current.refine(score::mark_breaches);
    }
    Ok(current)
}

/// Whether it is of a scenario that measures something.
fn is_measured(current: &Trajectory) -> bool {
    matches!(current.stamp.agent.as_str(), "retrieval" | "security")
}

/// Why there is no verdict on a stored run of a scenario that has no file any more.
fn unruled(id: &str) -> Problem {
    Problem {
        record: None,
        line: None,
        hint: Some(
            "give the file back its name, name the file or folder that has it as PATHS, or run the scenarios again"
                .to_owned(),
        ),
        ..Problem::new(format!(
            "its rules are not known: no scenario file here is `{id}`"
        ))
    }
}

fn stored(file: &Path, current: &Trajectory, status: Status) -> ScenarioResult {
    let path = file.display().to_string();
    ScenarioResult::new(&current.scenario, &current.name, path, status)
        .with(|it| it.duration_ms = current.duration_ms)
}

fn unscored(
    file: &Path,
    current: &Redacted<Trajectory>,
    status: Status,
    problem: Problem,
) -> ScenarioResult {
    stored(file, current, status).with(|it| {
        it.problem = Some(problem);
        it.current = Some(Arc::new(current.clone()));
    })
}

/// The result of a trajectory that was not read because of an interruption, so it is named by its path.
pub(super) fn left_out(file: &Path, run: &Path) -> ScenarioResult {
    let name = file.strip_prefix(run).unwrap_or(file);
    let name = match name.parent() {
        Some(folder) if name.ends_with(BASELINE) => folder.to_owned(),
        _ => name.with_extension(""),
    };
    let name = name.to_string_lossy().into_owned();
    unread(file, name, Problem::new("not scored: interrupted before"))
        .with(|it| it.status = Status::Interrupted)
}

fn broken(
    file: &Path,
    current: Option<Redacted<Trajectory>>,
    error: &StoreError,
) -> ScenarioResult {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let problem = Problem::from(error);
    match current {
        Some(current) => {
            unscored(file, &current, Status::Error, problem).with(|it| it.duration_ms = None)
        }
        None => unread(file, name.into_owned(), problem),
    }
}

/// The result of a file of which nothing but this name is known.
fn unread(file: &Path, name: String, problem: Problem) -> ScenarioResult {
    let path = file.display().to_string();
    ScenarioResult::new(name.clone(), name, path, Status::Error)
        .with(|it| it.problem = Some(problem))
}
