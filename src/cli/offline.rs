//! `mcp-eval compare --run`: scores stored trajectories without running anything.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use walkdir::WalkDir;

use crate::cli::args::{CompareArgs, OutputArgs};
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::finish::{self, Telling};
use crate::cli::interrupt;
use crate::cli::select;
use crate::cli::suite::scoring;
use crate::git;
use crate::model::scenario::Scenario;
use crate::model::suite::{Problem, ScenarioResult, Status, SuiteResult};
use crate::model::trajectory::{Ending, Trajectory};
use crate::score;
use crate::store::{self, Baselines, Runs, StoreError};
use crate::suite::ci;
use crate::suite::judge::judge;
use crate::suite::outcome::problem;
use crate::suite::patience::Patience;
use crate::suite::replay;
use crate::suite::{Files, Finished, RUNS};

/// Scores a stored trajectory, or every one of a folder, against the accepted ones.
///
/// A scenario's own rules and criteria count where its file is found.
pub(super) fn compare(
    args: &CompareArgs,
    run: &Path,
    output: OutputArgs,
    console: Console,
) -> Result<Exit, Failure> {
    let started_at = Timestamp::now();
    let started = Instant::now();
    let root = args
        .baseline
        .clone()
        .unwrap_or_else(|| PathBuf::from("baselines"));
    if !root.exists() {
        return Err(
            Failure::usage(format!("there is no {}", root.display())).hint(
                "--baseline names a folder of baselines, a baseline's folder, or a baseline.json",
            ),
        );
    }
    let files = trajectory_files(run)?;
    let scenarios = known_scenarios(args, console)?;
    let single = files.len() == 1;
    // Signals are heard beside the work.
    let signals = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::incomplete(format!("cannot start the asynchronous runtime: {error}"))
        })?;
    let interrupt = signals.block_on(async { interrupt::token() });
    let patience = Patience::until(&interrupt);
    let scored = files.iter().map(|file| {
        if interrupt.is_cancelled() {
            left_out(file, run)
        } else {
            compare_file(file, &root, single, &scenarios, (args, &patience))
        }
    });
    let mut results: Vec<ScenarioResult> = scored.collect();
    let interrupted = interrupt.is_cancelled();
    results.sort_by(|a, b| a.id.cmp(&b.id));
    number_repeated(&mut results);
    let runs = Arc::new(Runs::create(Path::new(RUNS), started_at)?);
    let suite = SuiteResult {
        run_id: runs.id().to_owned(),
        command: "compare".to_owned(),
        mcp_eval: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        duration_ms: started.elapsed().as_secs_f64() * 1000.0,
        git: git::stamp(
            Path::new("."),
            &[&root, Path::new("reports"), Path::new(".mcp-eval")],
        ),
        interrupted,
        selected: files.len(),
        scenarios: results,
    };
    let telling = Telling {
        format: args.execute.printed.format,
        pages: !args.execute.no_report,
        output: args.output.as_deref(),
        threshold: args.score.threshold,
        strict_statistics: false,
    };
    let files =
        suite.scenarios.iter().map(|it| Files {
            current: it.current.as_ref().map(|_| PathBuf::from(&it.path)),
            baseline: it.baseline.as_ref().zip(it.comparison.as_ref()).map(
                |(baseline, comparison)| {
                    accepted_file(&root, &baseline.scenario, comparison.variant, single)
                },
            ),
            container_log: None,
            attempts: Vec::new(),
        });
    let files = files.collect();
    finish::finish(&Finished { suite, runs, files }, &telling, output, console)
}

/// Tells several runs of one scenario apart.
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

/// The trajectories that a file or folder holds.
fn trajectory_files(run: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !run.is_dir() {
        // One file that cannot be read is a wrong argument; one of many is an error among results.
        store::load(run).map_err(|error| Failure {
            exit: Exit::Usage,
            ..error.into()
        })?;
        return Ok(vec![run.to_owned()]);
    }
    // The folder of a run holds the runs in a folder of their own.
    let current = run.join("current");
    let run = if current.is_dir() { &current } else { run };
    let mut files = Vec::new();
    for entry in WalkDir::new(run).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            Failure::incomplete(format!("cannot read {}: {error}", run.display()))
        })?;
        let path = entry.path();
        // In the folder of a baseline, what lies beside it are its variants and what nobody has accepted.
        let is_beside = path.file_name() != Some("baseline.json".as_ref())
            && path.with_file_name("baseline.json").exists();
        if entry.file_type().is_file() && path.extension() == Some("json".as_ref()) && !is_beside {
            files.push(entry.into_path());
        }
    }
    if files.is_empty() {
        return Err(Failure::incomplete(format!(
            "{} holds no trajectories",
            run.display()
        )));
    }
    Ok(files)
}

/// The scenarios whose rules apply, by id. Nobody has to have them for an offline comparison, but what the user names must be valid.
fn known_scenarios(
    args: &CompareArgs,
    console: Console,
) -> Result<HashMap<String, Scenario>, Failure> {
    let scenarios = if !args.select.are_default() {
        select::select(&args.select, console)?
    } else if Path::new("scenarios").is_dir() {
        let (scenarios, findings) = select::load(&args.select);
        let errors = findings.iter().filter(|it| it.is_error()).count();
        if errors > 0 {
            console.note(&format!(
                "note: {} in scenarios/, whose rules do not apply here (`mcp-eval validate` shows them)",
                select::plural(errors, "error")
            ));
        }
        scenarios
    } else {
        Vec::new()
    };
    Ok(scenarios
        .into_iter()
        .map(|it| (it.id.clone(), it))
        .collect())
}

fn compare_file(
    file: &Path,
    root: &Path,
    single: bool,
    scenarios: &HashMap<String, Scenario>,
    (args, patience): (&CompareArgs, &Patience),
) -> ScenarioResult {
    let mut current = match store::load(file) {
        Ok(current) => current,
        Err(error) => return broken(file, None, &error),
    };
    score::mark_breaches(&mut current);
    let mut accepted = match accepted(root, &current.scenario, single) {
        Ok(accepted) if accepted.is_empty() => {
            let missing = format!(
                "no baseline of `{}` in {}",
                current.scenario,
                root.display()
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
        Ending::Interrupted => Some((Status::Interrupted, "the run was interrupted".to_owned())),
        Ending::Error { message, .. } => Some((Status::Error, message.clone())),
    };
    if let Some((status, message)) = unfinished {
        return unscored(file, &current, status, problem(message));
    }
    let scenario = scenarios.get(&current.scenario);
    if let Err(problem) = replay::bind(&mut accepted, scenario) {
        return unscored(file, &current, Status::Error, problem);
    }
    let own = scenario.map(|it| it.scoring.clone()).unwrap_or_default();
    let rules = scoring(&args.score).over(&own);
    let open = ScenarioResult {
        description: scenario.and_then(|it| it.description.clone()),
        tags: scenario.map(|it| it.tags.clone()).unwrap_or_default(),
        ..stored(file, &current, Status::Error)
    };
    let current = Arc::new(current);
    judge(
        open.clone(),
        scenario,
        &accepted,
        current,
        (&rules, patience),
        args.allow_changed,
    )
    .unwrap_or(open)
}

/// The accepted trajectories: of a file, of the folder of one baseline, or of a folder of baselines.
fn accepted(root: &Path, scenario: &str, single: bool) -> Result<Vec<Trajectory>, StoreError> {
    if root.is_file() {
        let accepted = store::load(root)?;
        replay::check_learned(root, &accepted)?;
        return Ok(vec![accepted]);
    }
    let mut baselines = Baselines::new(root);
    let mut accepted = replay::load(&baselines, scenario)?;
    if accepted.is_empty() && single {
        baselines = Baselines::of_one_scenario(root);
        accepted = replay::load(&baselines, scenario)?;
    }
    ci::mend(&baselines, scenario, accepted.first());
    Ok(accepted)
}

/// The file one of the accepted trajectories came from.
fn accepted_file(root: &Path, scenario: &str, variant: usize, single: bool) -> PathBuf {
    if root.is_file() {
        return root.to_owned();
    }
    let mut baselines = Baselines::new(root);
    if single && !baselines.path(scenario).exists() {
        baselines = Baselines::of_one_scenario(root);
    }
    baselines.variant_path(scenario, variant)
}

fn stored(file: &Path, current: &Trajectory, status: Status) -> ScenarioResult {
    let path = file.display().to_string();
    ScenarioResult {
        duration_ms: current.duration_ms,
        ..ScenarioResult::new(&current.scenario, &current.name, path, status)
    }
}

fn unscored(file: &Path, current: &Trajectory, status: Status, problem: Problem) -> ScenarioResult {
    ScenarioResult {
        problem: Some(problem),
        current: Some(Arc::new(current.clone())),
        ..stored(file, current, status)
    }
}

/// The result of a trajectory that an interruption kept from being looked at. It is named by its place, for nobody has read it.
fn left_out(file: &Path, run: &Path) -> ScenarioResult {
    let place = file.strip_prefix(run).unwrap_or(file);
    let place = match place.parent() {
        Some(folder) if place.ends_with("baseline.json") => folder.to_owned(),
        _ => place.with_extension(""),
    };
    let name = place.to_string_lossy().into_owned();
    ScenarioResult {
        status: Status::Interrupted,
        ..unread(file, name, problem("not scored: interrupted before"))
    }
}

fn broken(file: &Path, current: Option<Trajectory>, error: &StoreError) -> ScenarioResult {
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
