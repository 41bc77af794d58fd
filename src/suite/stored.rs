//! Stored trajectories against what was accepted, without running anything.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use walkdir::{DirEntry, WalkDir};

use super::addresses::Addresses;
use super::error::Error;
use super::finished::{Files, Finished, LaidDown};
use super::judge::judge;
use super::outcome::problem;
use super::patience::Patience;
use super::repeat::{Made, Measure};
use super::settings::{Judging, REPORTS, RUNS, STATE};
use super::stored_run::{Attempt, CURRENT, MEASURED, Repeated, StoredRun, Told};
use super::{agents, ci, evaluating, replay, source};
use crate::evaluate::Accepted;
use crate::git;
use crate::model::called::{Called, Selection};
use crate::model::pending::Found;
use crate::model::redacted::Redacted;
use crate::model::redaction::Redaction;
use crate::model::scenario::{Scenario, Server};
use crate::model::suite::{DISABLED, Problem, ScenarioResult, Status, SuiteResult};
use crate::model::trajectory::{Ending, Trajectory};
use crate::redact::{Redactor, Secrets};
use crate::scenario_file;
use crate::score;
use crate::store::{self, BASELINE, Baselines, RESULT, Runs, StoreError};

/// Trajectories on disk, and what they are compared with.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The file or folder they were looked for in, for naming them.
    pub within: PathBuf,
    pub files: Vec<PathBuf>,
    /// The run that they are of, where that is known.
    pub run: Option<StoredRun>,
    /// A folder of baselines, the folder of one, a `baseline.json`, or the folder of a stored run.
    pub baselines: PathBuf,
    /// What that is called, where it is another run and not what was accepted.
    pub other_run: Option<String>,
    /// The scenarios whose rules and criteria apply; may be empty.
    pub scenarios: Vec<Scenario>,
    /// Whether there is no verdict on a scenario that is none of these.
    pub rules_wanted: bool,
    /// The ids of the scenarios whose runs are compared; `None` for all.
    pub only: Option<BTreeSet<String>>,
    /// What the result says of how it was called.
    pub called: Option<Called>,
}

/// Scores stored trajectories against the accepted ones.
///
/// # Errors
///
/// When the folder of this run cannot be made.
pub fn compare_stored(
    stored: &Stored,
    judging: &Judging,
    interrupt: &CancellationToken,
) -> Result<Finished, Error> {
    let (started_at, started) = (Timestamp::now(), Instant::now());
    let mut secrets = Secrets::default();
    let whole = stored.run.as_ref();
    let whole = whole.filter(|it| it.is_whole(&stored.within));
    let folder = match whole {
        Some(run) => Some(run.folder.as_path()),
        None => stored.files.first().and_then(|it| run_of(it)),
    };
    let comparison = Comparison {
        found: folder.map_or_else(HashMap::new, |it| evaluating::found_in(&it.join(RESULT))),
        root: &stored.baselines,
        single: stored.files.len() == 1,
        scenarios: (stored.scenarios.iter())
            .map(|it| (it.id.as_str(), redacted(it, &mut secrets)))
            .collect(),
        rules_wanted: stored.rules_wanted,
        other: match &stored.other_run {
            Some(_) => StoredRun::of(&stored.baselines)?,
            None => None,
        },
        judging,
        patience: Patience::until(interrupt),
    };
    let is_wanted = |id: &str| stored.only.as_ref().is_none_or(|it| it.contains(id));
    let mut told_of = HashSet::new();
    let mut results: Vec<ScenarioResult> = Vec::new();
    if let Some(run) = whole {
        let runs = Runs::at(&run.folder);
        for told in &run.told {
            let file = runs.path(&told.id);
            if is_wanted(&told.id) {
                results.push(if interrupt.is_cancelled() {
                    left_out(&file, &stored.within)
                } else {
                    comparison.of_told(&runs, told, &file)
                });
            }
            told_of.insert(file);
        }
    }
    for file in stored.files.iter().filter(|it| !told_of.contains(*it)) {
        let result = if interrupt.is_cancelled() {
            left_out(file, &stored.within)
        } else {
            comparison.of(file, None)
        };
        // What cannot be read may be of any scenario.
        if result.current.is_none() || is_wanted(&result.id) {
            results.push(result);
        }
    }
    if stored.other_run.is_some() {
        let known: HashSet<String> = results.iter().map(|it| it.id.clone()).collect();
        let lacking = comparison.lacking(&stored.within).into_iter();
        results.extend(lacking.filter(|it| is_wanted(&it.id) && !known.contains(&it.id)));
    }
    if let Some(other) = &stored.other_run {
        let note = format!("compared with {other}");
        let compared = results.iter_mut().filter(|it| it.comparison.is_some());
        for it in compared {
            it.compared_with = Some(other.clone());
            it.notes.insert(0, note.clone());
        }
    }
    let interrupted = interrupt.is_cancelled();
    results.sort_by(|a, b| a.id.cmp(&b.id));
    number_repeated(&mut results);
    let runs = Arc::new(Runs::create(Path::new(RUNS), started_at)?);
    let files = results.iter().map(|it| Files {
        current: it.current.as_ref().map(|_| PathBuf::from(&it.path)),
        baseline: it
            .baseline
            .as_ref()
            .zip(it.comparison.as_ref())
            .map(|(baseline, of)| comparison.accepted_file(&baseline.scenario, of.variant)),
        container_log: None,
        attempts: match (whole, &it.repeated) {
            (Some(run), Some(repeated)) => {
                attempts(&Runs::at(&run.folder), &it.id, repeated.attempts.len())
            }
            _ => Vec::new(),
        },
        laid_down: LaidDown::default(),
    });
    let files = files.collect();
    let is_disabled = |it: &&ScenarioResult| {
        let problem = it.problem.as_ref();
        it.status == Status::Skipped && problem.is_some_and(|it| it.message == DISABLED)
    };
    let selected = results.len() - results.iter().filter(is_disabled).count();
    let called = stored.called.clone().map(|it| Called {
        selection: selection(stored, selected),
        ..it
    });
    let suite = SuiteResult {
        run_id: runs.id().to_owned(),
        command: "compare".to_owned(),
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        duration_ms: started.elapsed().as_secs_f64() * 1000.0,
        git: git::stamp(
            Path::new("."),
            &[&stored.baselines, Path::new(REPORTS), Path::new(STATE)],
        ),
        interrupted,
        called,
        selected,
        scenarios: results,
    };
    let suite = Redactor::new(&secrets, &Redaction::default()).suite(suite);
    Ok(Finished {
        suite,
        runs,
        files,
        notes: Vec::new(),
        // Nothing was run.
        database: None,
    })
}

/// What part of all scenarios was compared; `None` for all, and where that is not known.
fn selection(stored: &Stored, chosen: usize) -> Option<Selection> {
    let run = stored.run.as_ref();
    let before = run.and_then(|it| it.selection);
    let there = match run {
        Some(run) => run.selected(),
        None => stored.only.as_ref().map(|_| stored.files.len())?,
    };
    let of = before.map_or(there, |it| it.of.max(there));
    let others = run.iter().flat_map(|it| &it.told);
    let is_other = |it: &&Told| {
        stored
            .only
            .as_ref()
            .is_some_and(|only| !only.contains(&it.id))
    };
    let others = others.filter(|it| is_other(it) && !it.is_fine()).count();
    (chosen < of).then(|| Selection {
        chosen,
        of,
        not_passed: others + before.map_or(0, |it| it.not_passed),
    })
}

/// Where the trajectories of several runs of one scenario lie.
fn attempts(runs: &Runs, id: &str, count: usize) -> Vec<Option<PathBuf>> {
    let file = |number| Some(runs.attempt(number).path(id)).filter(|it| it.exists());
    (1..=count).map(file).collect()
}

/// Takes what a scenario declares to be secret out of texts.
pub fn redactor_of(scenario: &Scenario) -> Redactor {
    let mut secrets = Secrets::default();
    let _ = redacted(scenario, &mut secrets);
    Redactor::new(&secrets, &scenario.redaction)
}

/// A scenario that is not run, without the secrets that it declares, or that its servers and its agent are given, which
/// are added to `all`.
pub(super) fn redacted(scenario: &Scenario, all: &mut Secrets) -> Redacted<Scenario> {
    let mut secrets = Secrets::given_to(&scenario.redaction);
    let scenario = &*source::settled(scenario);
    let addresses = Addresses::anywhere(scenario, &scenario.servers);
    let lookup = |server: &Server, name: &str| addresses.lookup(name, Some(&server.name));
    // A name that cannot be resolved has no value, so no secret.
    let expanded = scenario_file::expand_servers(&scenario.servers, lookup);
    for (_, variables) in expanded.into_iter().flatten() {
        secrets.environment("", &variables);
    }
    let _ = agents::reach(scenario, &mut secrets);
    all.extend(&secrets);
    all.of_scenario(&scenario.redaction);
    Redactor::new(&secrets, &scenario.redaction).scenario(scenario)
}

/// How each trajectory is compared.
struct Comparison<'a> {
    root: &'a Path,
    /// What evaluators found in the runs when they were made, by the ids of scenarios.
    found: HashMap<String, Vec<Found>>,
    /// It is the only one, and `root` may be the folder of its baseline.
    single: bool,
    /// By id, without secrets, because their texts appear in results and stored trajectories hold no secrets either.
    scenarios: HashMap<&'a str, Redacted<Scenario>>,
    /// Whether there is no verdict on a scenario that is none of these.
    rules_wanted: bool,
    /// The run that `root` is of, where it is one.
    other: Option<StoredRun>,
    judging: &'a Judging,
    patience: Patience,
}

/// The folder of the run that a trajectory was stored in, where it is one of a run.
fn run_of(file: &Path) -> Option<&Path> {
    let current = file.ancestors().find(|it| it.ends_with(CURRENT))?;
    current.parent()
}

/// Numbers the results where several runs are of one scenario.
fn number_repeated(results: &mut [ScenarioResult]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for result in results {
        let number = seen
            .entry(result.id.clone())
            .and_modify(|it| *it += 1)
            .or_insert(1);
        if *number > 1 {
            result.id = format!("{} {number}", result.id);
        }
    }
}

impl Comparison<'_> {
    /// A scenario of a run that was stored.
    fn of_told(&self, runs: &Runs, told: &Told, file: &Path) -> ScenarioResult {
        if let Some(measured) = told.measured() {
            return measured;
        }
        match told.repeated() {
            Some(several) => self.of_several(runs, told, several),
            None if file.exists() => self.of(file, None),
            None => told.without(file, None),
        }
    }

    /// Several runs of a scenario, each of which counts as it did when they were made.
    fn of_several(&self, runs: &Runs, told: &Told, several: &Repeated) -> ScenarioResult {
        let attempts = (1..).zip(&several.attempts).map(|(number, then)| {
            let file = runs.attempt(number).path(&told.id);
            if file.exists() {
                self.of(&file, Some((then, number == several.shown)))
            } else {
                told.without(&file, Some(then))
            }
        });
        let scenario = self.scenarios.get(told.id.as_str()).map(|it| &**it);
        let own = scenario.map(|it| it.scoring.clone()).unwrap_or_default();
        let accepted = self.accepted(&told.id).unwrap_or_default();
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
            || told.result(Status::Error),
            |it| it.result(scenario, |_, _| None, measure),
        )
    }

    /// A trajectory, which may be of one of several runs that came out so, the one that their run shows or another.
    fn of(&self, file: &Path, attempt: Option<(&Attempt, bool)>) -> ScenarioResult {
        let mut current = match store::load(file) {
            Ok(current) => current,
            Err(error) => return broken(file, None, &error),
        };
        if matches!(current.stamp.agent.as_str(), "retrieval" | "security") {
            return unscored(file, &current, Status::Skipped, problem(MEASURED));
        }
        current.refine(score::mark_breaches);
        let mut accepted = match self.accepted(&current.scenario) {
            Ok(accepted) if accepted.is_empty() => {
                let missing = format!(
                    "no baseline of `{}` in {}",
                    current.scenario,
                    self.root.display()
                );
                return unscored(file, &current, Status::Error, problem(missing));
            }
            Ok(accepted) => accepted,
            Err(error) => return broken(file, Some(current), &error),
        };
        let unfinished = match &current.ending {
            Ending::Completed | Ending::Blocked { .. } => None,
            Ending::LimitReached { message } => Some((Status::Failed, message.clone())),
            Ending::TimedOut { message } => Some((Status::Timeout, message.clone())),
            Ending::Interrupted => {
                Some((Status::Interrupted, "the run was interrupted".to_owned()))
            }
            Ending::Error { message, .. } => Some((Status::Error, message.clone())),
        };
        if let Some((status, message)) = unfinished {
            return unscored(file, &current, status, problem(message));
        }
        let scenario = self.scenarios.get(current.scenario.as_str());
        let scenario = scenario.map(|it| &**it);
        if scenario.is_none() && self.rules_wanted {
            return unscored(file, &current, Status::Error, unruled(&current.scenario));
        }
        if let Some(why) = (self.other.as_ref()).and_then(|it| it.untold(&current.scenario)) {
            return unscored(file, &current, Status::Error, problem(why));
        }
        if let Err(problem) = replay::bind(&mut accepted, scenario) {
            return unscored(file, &current, Status::Error, problem);
        }
        let own = scenario.map(|it| it.scoring.clone()).unwrap_or_default();
        let rules = self.judging.scoring.over(&own);
        let before = accepted.first().map(|it| evaluating::offered_in(it));
        let open = ScenarioResult {
            description: scenario.and_then(|it| it.description.clone()),
            tags: scenario.map(|it| it.tags.clone()).unwrap_or_default(),
            evaluations: scenario
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
                .unwrap_or_default(),
            without_rules: scenario.is_none(),
            notes: scenario
                .is_none()
                .then(|| {
                    let id = &current.scenario;
                    format!("no rules of a scenario file applied: none here is `{id}`")
                })
                .into_iter()
                .collect(),
            ..stored(file, &current, Status::Error)
        };
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
            Some((then, false)) if judged.status == Status::Passed && !then.has_passed() => {
                let is_gone = judged.evaluations.iter().any(|it| it.is_gone);
                if is_gone { then.keep(judged) } else { judged }
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
    fn lacking(&self, run: &Path) -> Vec<ScenarioResult> {
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
                Ok(other) => ScenarioResult {
                    problem: Some(problem(message)),
                    ..stored(&file, &other, Status::Error)
                },
            }
        });
        results.collect()
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

/// Why there is no verdict on a stored run of a scenario that has no file any more.
fn unruled(id: &str) -> Problem {
    Problem {
        hint: Some(
            "give the file back its name, name the file or folder that has it as PATHS, or run the scenarios again"
                .to_owned(),
        ),
        ..problem(format!(
            "its rules are not known: no scenario file here is `{id}`"
        ))
    }
}

fn stored(file: &Path, current: &Trajectory, status: Status) -> ScenarioResult {
    let path = file.display().to_string();
    ScenarioResult {
        duration_ms: current.duration_ms,
        ..ScenarioResult::new(&current.scenario, &current.name, path, status)
    }
}

fn unscored(
    file: &Path,
    current: &Redacted<Trajectory>,
    status: Status,
    problem: Problem,
) -> ScenarioResult {
    ScenarioResult {
        problem: Some(problem),
        current: Some(Arc::new(current.clone())),
        ..stored(file, current, status)
    }
}

/// The result of a trajectory that was not read because of an interruption, so it is named by its path.
fn left_out(file: &Path, run: &Path) -> ScenarioResult {
    let name = file.strip_prefix(run).unwrap_or(file);
    let name = match name.parent() {
        Some(folder) if name.ends_with(BASELINE) => folder.to_owned(),
        _ => name.with_extension(""),
    };
    let name = name.to_string_lossy().into_owned();
    ScenarioResult {
        status: Status::Interrupted,
        ..unread(file, name, problem("not scored: interrupted before"))
    }
}

fn broken(
    file: &Path,
    current: Option<Redacted<Trajectory>>,
    error: &StoreError,
) -> ScenarioResult {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let problem = Problem {
        message: error.to_string(),
        hint: error.hint().map(str::to_owned),
        details: Vec::new(),
    };
    match current {
        Some(current) => ScenarioResult {
            duration_ms: None,
            ..unscored(file, &current, Status::Error, problem)
        },
        None => unread(file, name.into_owned(), problem),
    }
}

/// The result of a file of which nothing but this name is known.
fn unread(file: &Path, name: String, problem: Problem) -> ScenarioResult {
    let path = file.display().to_string();
    ScenarioResult {
        problem: Some(problem),
        ..ScenarioResult::new(name.clone(), name, path, Status::Error)
    }
}
